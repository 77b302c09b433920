#!/bin/bash
# A file that a command is told to write: one of its kind is replaced, nothing else is lost, and that is
# said before the work is done.
. tests/e2e/lib.sh
sample=$PWD/samples/bank/bank.c
cd "$scratch" || exit 1
$HEDDLE cc -g -O1 "$sample" -o program -pthread
cat >ran.c <<'C'
#include <fcntl.h>
int main(void)
{
	return open("ran.log", O_WRONLY | O_CREAT, 0600) < 0;
}
C
$HEDDLE cc -g -O1 ran.c -o ran -pthread
"$HEDDLE" record -q -o trace.hdl -- ./program >/dev/null
pair=$("$HEDDLE" races trace.hdl --format json | perl -MJSON::PP -0777 -e 'my $f = decode_json(<STDIN>)->{findings}[0]; print "$f->{first} $f->{second}"')
"$HEDDLE" explore --runs 1 --resume state -- ./ran >/dev/null
rm -f ran.log

kinds=(trace text std csv perfetto witness tree graph svg state)
declare -A command=(
	[trace]="record -q -o FILE -- ./ran" [text]="convert trace.hdl FILE --to text" [std]="filter trace.hdl -o FILE --to std"
	[csv]="convert trace.hdl FILE --to csv" [perfetto]="convert trace.hdl FILE --to perfetto" [witness]="witness trace.hdl $pair -o FILE"
	[tree]="explore --runs 2 -o FILE -- ./ran" [graph]="graph trace.hdl -o FILE" [svg]="graph trace.hdl -o FILE.svg" [state]="merge state -o FILE"
)
write() { # KIND FILE
	run "$HEDDLE" ${command[$1]//FILE/$2}
}
of() { [ "$1" = svg ] && echo "$2.svg" || echo "$2"; }
for kind in "${kinds[@]}"; do
	write $kind own
	[ "$status" -le 3 ] && [ "$status" != 2 ] && [ -s "$(of $kind own)" ]
	ok $? "$kind: is written"
	mv "$(of $kind own)" $kind.own
	cp $kind.own "$(of $kind again)"
	: >"$(of $kind empty)"
	for file in again empty; do
		write $kind $file
		is "$((status == 2)) $(head -c 6 "$(of $kind $file)" | cksum)" "0 $(head -c 6 $kind.own | cksum)" "$kind: $file is replaced"
	done
done
rm -f again* empty* ran.log
for kind in "${kinds[@]}"; do
	for other in program "$sample" "$root/LICENSE" "${kinds[@]}"; do
		case "$kind $other" in
		"$kind $kind" | "graph svg" | "svg graph" | trace\ text | trace\ std | text\ trace | text\ std | std\ trace | std\ text) continue ;;
		esac
		file=$(of $kind other)
		[ -e "$other.own" ] && cp "$other.own" "$file" || cp "$other" "$file"
		before=$(cksum <"$file")
		write $kind other
		is "$status $(cksum <"$file")" "2 $before" "$kind: ${other##*/} is not overwritten"
	done
	like "$err" "^heddle: $file: is no .*, and would be overwritten; name another file, or delete this one" "... with the reason"
done
[ ! -e ran.log ]
ok $? "the program was not run for nothing"
run "$HEDDLE" explore --runs 3 -j 2 -o other -- ./ran
is "$status" 2 "nor by jobs"
for kind in text csv graph; do
	write $kind /dev/null
	is "$status" 0 "$kind: what is no file is written to"
done

# a file of another user's, of which this one cannot see what it is
as=()
[ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
mkdir theirs && printf '#! heddle 1\nT|w(x)|1\n' >theirs/t.txt && cp theirs/t.txt theirs/closed.txt && chmod 000 theirs/closed.txt
chmod 755 "$scratch" && chmod 777 theirs
if "${as[@]}" "$HEDDLE" --version >/dev/null 2>&1; then
	run "${as[@]}" "$HEDDLE" convert theirs/t.txt theirs/closed.txt
	is "$status" 2 "a file that cannot be read is not overwritten"
	like "$err" "closed.txt: would be overwritten, and whether it is a trace is not known: Permission denied; name another file" "and why is said"
	run "${as[@]}" "$HEDDLE" info theirs/closed.txt
	is "$status" 2 "nor read"
	like "$err" "closed.txt: cannot open the trace: Permission denied; name a trace that you can read" "which is said"
else
	skip "a file that cannot be read" "another user cannot run $HEDDLE"
fi
done_testing
