#!/bin/bash
# Files from somebody else: nothing in them reaches the terminal as it is, a shell, or memory
# that is not theirs; what cannot be read ends with one message.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# clean FILE NAME: no control byte but line ends and tabs, no character that is not seen or
# turns the text round.
clean() {
	perl -CSD -e 'local $/; $_ = <STDIN>; exit(/[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Cf}\x{2028}\x{2029}]/)' <"$1"
	ok $? "$2"
}
# prints NAME COMMAND...: what it prints is clean.
prints() {
	local name=$1
	shift
	timeout 300 "$@" >"$scratch/.printed" 2>&1 </dev/null
	clean "$scratch/.printed" "$name"
}

esc=$(printf '\033c\007') rlo=$(printf '\342\200\256') zero=$(printf '\342\200\213')
tag=$(printf '\363\240\200\201') c1=$(printf '\302\233') line=$(printf '\342\200\250')
for bad in "$esc" "$rlo" "$zero" "$tag" "$c1" "$line"; do
	shown=$(printf %s "$bad" | od -An -tx1 | tr -d ' \n')
	cat >source.c <<-C
	int x; /* $bad */
	void f(void) { x = 1; } /* $bad */
	void g(void) { x = 2; } /* $bad */
	C
	cat >t.txt <<-T
	#! heddle 1
	#! ob$bad y
	#! atomic-set S$bad x$bad y$bad
	#! note seed $bad
	main$bad|fork(A$bad)|source.c:1
	main$bad|fork(B$bad)|source.c:1
	A$bad|ubeg(u$bad,S$bad)|source.c:1
	A$bad|r(x$bad)=0|source.c:2
	B$bad|ubeg(v$bad,S$bad)|source.c:1
	B$bad|w(x$bad)=tok$bad|source.c:3
	B$bad|w(y$bad)=2|source.c:3
	B$bad|uend(v$bad)|f$bad.c:1
	A$bad|r(y$bad)=2|source.c:2
	A$bad|uend(u$bad)|
	A$bad|acq(l$bad)|
	A$bad|rel(l$bad)|
	T
	for c in info races "races --analysis lockset" compare atomic "atomic --sets" commute deadlocks graph \
		"explain 3 5" "explain 3 5 --story" "witness 3 5" filter; do
		set -- $c
		prints "$c with $shown" "$HEDDLE" "$1" t.txt "${@:2}"
	done
	for format in json sarif; do
		timeout 300 "$HEDDLE" races t.txt --format $format >out.$format 2>/dev/null
		clean out.$format "races as $format with $shown"
		out=$(cat out.$format)
		is "$(json 'ref $d')" HASH "and it is JSON"
	done
	"$HEDDLE" races t.txt --format json >report.json 2>/dev/null
	prints "merge with $shown" "$HEDDLE" merge report.json report.json
	prints "diff with $shown" "$HEDDLE" diff report.json report.json
	prints "a witness with $shown" "$HEDDLE" witness t.txt 3 5 -o w.wit
	printf '%s\n' "#! heddle-witness 1" "#! trace $bad -" "#! kind $bad" >bad.wit
	prints "a witness that is none, with $shown" "$HEDDLE" verify t.txt bad.wit
	printf 'spec %s {' "$bad" >bad.spec
	prints "a specification with $shown" "$HEDDLE" races t.txt --spec bad.spec
	printf '{"analysis": "%s", "findings": 3}' "$bad" >bad.json
	prints "a report with $shown" "$HEDDLE" merge bad.json
	prints "a command with $shown" "$HEDDLE" races t.txt --analysis "$bad"
	# a lesson
	mkdir -p lesson
	sed "s/^title: .*/title: t$bad/; s/^Two tellers/Two $bad tellers/; s/^hint: the key/hint: $bad the key/" \
		"$root/samples/account/lost-update.lesson" >lesson/l.lesson
	cp "$root"/samples/account/*.c lesson/
	prints "a lesson as text with $shown" "$HEDDLE" lesson lesson/l.lesson --text
	prints "as a worksheet with $shown" "$HEDDLE" lesson lesson/l.lesson --worksheet
	# data stays as it is where it is read by a program
	"$HEDDLE" convert t.txt - --to text 2>/dev/null | grep -qF "x$bad" || [ "$bad" = "$esc" ] || [ "$bad" = "$c1" ]
	ok $? "a converted trace keeps its names with $shown"
done

# the explorer: a screen as text
printf 'wait\nview findings\nsave-screen f.screen\nview trace\nsave-screen t.screen\nview source\nsave-screen s.screen\n' >script
run "$HEDDLE" open t.txt --script script -q
clean t.screen "the explorer's trace view"
clean s.screen "and its source view"

# exports are text that one prints
printf 'wait\nexport x.md\nexport x.dot\n' >script
run "$HEDDLE" open t.txt --script script -q
clean x.md "an export"

# notes: a pipe, and a file that is no notes
mkfifo pipe
printf 'bookmark b\n' >script
run timeout 300 "$HEDDLE" open t.txt --notes pipe --script script -q
is "$status" 2 "notes that are a pipe"
like "$err" "pipe.*expected notes of heddle" "are refused"
# the tree of an exploration beside a run's trace: a pipe
mkfifo tree
cp t.txt tree.run1.hdl
echo wait >waits
run timeout 300 "$HEDDLE" open tree.run1.hdl --script waits -q
is "$status" 0 "a run whose tree is a pipe opens"
echo "my list" >list
run timeout 300 "$HEDDLE" open t.txt --notes list --script script -q
is "$status" 2 "notes that are another file"
is "$(cat list)" "my list" "which stays as it is"
printf '<<<<<<< HEAD\n{"heddle-notes": 1, "findings": []}\n' >t.txt.notes
run timeout 300 "$HEDDLE" open t.txt --script script -q
is "$status" 2 "damaged notes beside the trace: a bookmark is refused"
is "$(head -c 7 t.txt.notes)" "<<<<<<<" "and they stay as they are"
rm t.txt.notes

# lessons that are no files
for f in /dev/zero pipe .; do
	run timeout 300 "$HEDDLE" lesson "$f" --check
	is "$status" 2 "a lesson that is $f"
done

# the configuration
mkdir -p "$XDG_CONFIG_HOME/heddle"
refused_config() {
	printf "$1" >"$XDG_CONFIG_HOME/heddle/config"
	run timeout 300 "$HEDDLE" open t.txt --script script -q
	is "$status" 2 "$2"
	like "$err" "config: .*; (mend|remove)" "with the place and what to do"
}
: >script
refused_config '[colours]\nrace = 20\377\n' "a colour that is no text"
refused_config '[colours]\nrace = \\q\n' "a colour with an escape that there is not"
refused_config '[keys]\nquit = \377\n' "a key that is no text"
refused_config '[screen]\ncolours = \377\n' "a number of colours that is no text"
refused_config '[screen]\nmouse = perhaps\n' "a flag that is none"
refused_config '[colors]\nrace = 20\n' "a section that there is not"
refused_config '[screen]\nmuose = true\n' "a key of the screen that there is not"
rm "$XDG_CONFIG_HOME/heddle/config"
ln -s config "$XDG_CONFIG_HOME/heddle/config"
run timeout 300 "$HEDDLE" open t.txt --script script -q
is "$status" 2 "a configuration that is a link to itself"
rm "$XDG_CONFIG_HOME/heddle/config"
for size in 99999999 -1 x 0 99999999999999999999; do
	run env LINES=$size COLUMNS=$size timeout 300 "$HEDDLE" open t.txt --script script -q
	is "$status" 0 "a screen of $size lines and columns"
done
mkfifo "$XDG_CONFIG_HOME/heddle/config"
run timeout 300 "$HEDDLE" open t.txt --script script -q
is "$status" 2 "a configuration that is a pipe"
rm "$XDG_CONFIG_HOME/heddle/config"

# a recorded command is no shell's: neither as the note has it, nor after a yes in a script
cat >shell.txt <<'T'
#! heddle 1
#! note recording-command ./bank; echo PWNED > pwned; true
main|fork(A)|1
main|fork(B)|1
A|w(x)=1|2
B|w(x)=2|3
T
printf 'wait\npress w r y\n' >script
run timeout 300 "$HEDDLE" open shell.txt --script script -q
printf 'wait\npress w\nreplay\npress y\n' >script
run timeout 300 "$HEDDLE" open shell.txt --script script -q
[ ! -e pwned ]
ok $? "a recorded command runs nothing in a script"
# marks of a trace whose folder is read-only: two traces of one name do not share them
as_user=
[ "$(id -u)" = 0 ] && as_user="setpriv --reuid=65534 --clear-groups"
chmod 755 "$scratch"
if $as_user test -x "$HEDDLE" && $as_user test -x "$scratch"; then
	mkdir -p one two state
	printf 'T|w(x)|1\nU|w(x)|2\n' | tee one/same.txt >two/same.txt
	printf 'wait\nbookmark b\n' >script
	chmod 777 state
	chmod 555 one two
	for folder in one two; do
		run env XDG_STATE_HOME="$scratch/state" $as_user timeout 300 "$HEDDLE" open $folder/same.txt --script script -q
		is "$status" 0 "a mark for a trace in the read-only folder $folder"
	done
	is "$(ls state/heddle | grep -c 'same.txt.notes$')" 2 "is kept, for each of the two by itself"
	chmod 755 one two
else
	skip "marks of traces in read-only folders" "another user cannot reach this folder"
fi
# -- memory that runs out is one message, and no crash. A sanitizer's own memory is above any such limit.
if (ulimit -v 250000; ASAN_OPTIONS= "$HEDDLE" --version) >/dev/null 2>&1; then
	seq -f "T%.0f|w(x)|1" 1500000 >"$scratch/threads.txt"
	: >empty.script
	for command in 'races --analysis hb' 'open --script empty.script'; do
		run bash -c 'ulimit -v 250000; exec timeout 300 "$0" "$@"' "$HEDDLE" $command "$scratch/threads.txt"
		is "$status$out" 2 "$command: out of memory"
		like "$err" '^heddle: out of memory: [0-9]+ bytes more are needed; raise the limit' "$command says so"
	done
fi
done_testing
