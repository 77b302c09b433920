#!/bin/bash
# Files that are no files: pipes without another end, devices, folders, full disks, as inputs and
# outputs of options. One message with the place and what to do, exit 2; nothing hangs, nothing is
# reported as written that is not.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
printf "#! heddle 1\nT1|w(x)|a.c:1\nT2|w(x)|b.c:1\n" >t.txt
mkfifo pipe
mkdir folder

# refused NAME REGEX COMMAND...
refused() {
	local name=$1 regex=$2
	shift 2
	run timeout -k 1 300 "$@"
	is "$status" 2 "$name: exit status"
	like "$err" "^heddle: $regex.*; " "$name: the place, and what to do"
	is "$(printf '%s\n' "$err" | wc -l)" 1 "$name: one line"
}

# standard output that cannot be written: the text of a trace, too
for c in "convert t.txt - --to text" "convert t.txt - --to std" "convert t.txt - --to csv" "convert t.txt - --to perfetto" \
	"filter t.txt -o -" "races t.txt" "info t.txt"; do
	timeout 300 "$HEDDLE" $c >/dev/full 2>err </dev/null
	is $? 2 "a full disk behind standard output: $c"
	like "$(tail -n 1 err)" 'No space left on device; make room' "is said"
	timeout 300 "$HEDDLE" $c >&- 2>err </dev/null
	is $? 2 "standard output closed: $c"
done

# inputs that would never end
for f in pipe /dev/zero folder; do
	refused "what a program should print: $f" "$f: cannot open the output: " \
		"$HEDDLE" check --expect $f --budget 1 --runs 1 -- /bin/true
	refused "the state of an exploration: $f" "$f: cannot open the state: " \
		"$HEDDLE" explore --resume $f --budget 1 -- /bin/true
	refused "a kept report: $f" "(/dev/)?${f##*/}: is no report" "$HEDDLE" races t.txt --resume $f
	refused "suppressions: $f" "$f: cannot open the suppression file: " \
		"$HEDDLE" races t.txt --suppressions $f
done
refused "a specification without a name" "races: --spec needs FILE, found ''" "$HEDDLE" races t.txt --spec ""
cp t.txt ./-odd.txt
run "$HEDDLE" races --resume=-kept.json -- -odd.txt
is "$status" 1 "names that begin with '-'"
run "$HEDDLE" races -j 2 -- -odd.txt
is "$status" 1 "also of shares"
refused "no analyses" "compare: --analyses needs A,B" "$HEDDLE" compare t.txt --analyses=
run "$HEDDLE" record -o "" -- true
is "$status" 125 "a recording without a name: nothing is run"
printf 'next\0next\n' >nul
refused "a script with a NUL byte" "nul: expected text, found a NUL byte" \
	"$HEDDLE" open t.txt --script nul
refused "a kept report in a folder that is not there" "none/r.json: cannot write the file" \
	"$HEDDLE" races t.txt --resume none/r.json

run env TMPDIR="$PWD/none" "$HEDDLE" explore --budget 1 -- /bin/true
is "$status" 2 "no folder for the recordings of runs"
like "$err" "^heddle: .*none.*: .*; set TMPDIR to a folder with room$" "is named, with the remedy"

# A trace that comes from a pipe cannot be read twice: a kept report would be another trace's.
for options in "--resume r.json" "-j 2"; do
	run bash -c "cat t.txt | timeout 300 '$HEDDLE' races - $options"
	is "$status" 2 "a trace from standard input with $options"
	like "$err" "^heddle: standard input: cannot be read more than once.*; write the trace to a file" "is refused"
	run bash -c "timeout 300 '$HEDDLE' races <(cat t.txt) $options"
	is "$status" 2 "and from a pipe of the shell"
done
[ ! -e r.json ]
ok $? "nothing is written"

# A kept report is of these files, not of files that had these names.
printf 'race:a.c\n' >known
run "$HEDDLE" races t.txt --suppressions known --resume kept.json
is "$status" 0 "a report is kept, its race suppressed"
printf 'race:nowhere.c\n' >known
run "$HEDDLE" races t.txt --suppressions known --resume kept.json
is "$status" 2 "with another list of suppressions it is another report"
like "$err" "kept.json: is no report of this command with these options and inputs" "and is said so"

# Names of specifications that a witness's header could not hold
printf '#! object o dict\nT|act(o.put,1,2)=nil|a\nU|act(o.put,1,3)=2|b\n' >calls.txt
for name in 'a,b.spec' $'a\nb.spec' 'a b\x41.spec' 'a:b.spec' 'values'; do
	cp "$root/specs/dict.spec" "$name"
	rm -f w.wit
	run "$HEDDLE" witness calls.txt 0 1 --spec "$name" -o w.wit
	is "$status" 1 "a witness by the specification $(printf %q "$name")"
	run "$HEDDLE" verify calls.txt w.wit
	is "$status" 0 "is accepted by it"
	is "$out" "accepted: a correct reordering of 2 events" "and finds the file again"
done

# an exploration whose tree cannot be written: its report is printed, and its traces are named
"$HEDDLE" cc -g -O1 "$root/samples/last-seat/last_seat.c" -o last_seat -pthread
ln -s /dev/full tree
run "$HEDDLE" explore -o tree -- ./last_seat
is "$status" 2 "an exploration on a full disk"
like "$out" "last_seat: 1 finding in 4 runs" "its report is printed"
like "$err" "^heddle: /dev/full: cannot write the file: No space left on device; make room or choose another place; no part of this file is left; the traces of 2 runs are kept, tree.run0.hdl the first$" \
	"and what is kept is said"
is "$(ls tree.run*)" "$(printf 'tree.run0.hdl\ntree.run1.hdl')" "it is"
ln -s /dev/full full.run1.hdl
run "$HEDDLE" explore -o full -- ./last_seat
is "$status" 2 "a trace of it that cannot be written"
like "$err" "^heddle: /dev/full: cannot write the file: No space left on device; .*; the trace full.run0.hdl is kept$" \
	"what is kept is said, too"

# the longest name that a file can have
long=$(printf 'n%.0s' $(seq 250)).txt
run "$HEDDLE" convert t.txt "$long"
is "$status" 0 "an output with a name of 254 bytes"
is "$(grep -c w "$long")" 2 "is written"
is "$(ls -A | grep -c '^\.heddle-')" 0 "and nothing is left beside it"
done_testing
