#!/bin/bash
# The explorer and the reports promise no more than was looked at: missing code, how the run ended,
# units that there were none of, and of what a report is complete.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
export COLUMNS=100 LINES=30

# build NAME [FLAGS...]
build() {
	local name=$1
	shift
	"$HEDDLE" cc -g -O1 "$@" "$programs/$name.c" -o "$(basename "$name")" -pthread
}
# look TRACE [COMMAND...]: the explorer's screen then, in $out
look() {
	local trace=$1
	shift
	rm -f screen.txt
	printf '%s\n' wait "$@" "save-screen screen.txt" >look.script
	run timeout 300 "$HEDDLE" open "$trace" --script look.script
	out=$(cat screen.txt)
}

make -s -C "$root/samples/courier" HEDDLE="$HEDDLE" OUT="$scratch" || exit 1
run "$HEDDLE" record -q -o courier.hdl -- ./courier
look courier.hdl
like "$out" "1 can happen, 1 maybe" "explorer: what missing code may order is no race yet"
like "$out" "race .*stamps" "the counter is one"
like "$out" "maybe +░ data race .*letter" "the letter is a candidate"
look courier.hdl "filter letter" "press j"
like "$(tr '\n' ' ' <<<"$out" | tr -s ' ')" "A race only if .*box_put@libparcels.so.*box_take@libparcels.so.*may both touch" \
	"the calls are named"
look courier.hdl "filter letter" "press w" wait
like "$out" "both are about to happen: they race" "its witness can be looked at"
look courier.hdl "filter letter" "press w" wait "view findings"
like "$out" "maybe +░ data race .*letter" "and that settles nothing"
run "$HEDDLE" diff courier.hdl courier.hdl --format json
is "$(json 'join " ", sort map { "$_->{variable}:$_->{verdict}" } @{$d->{findings}}')" \
	"letter#2->text:candidate stamps:race" "diff: the same verdicts"

"$HEDDLE" cc -g -O1 -I"$root/samples/courier" "$programs/handed_on.c" -o handed_on -L. -lparcels \
	-Wl,-rpath,"$scratch" -pthread
run "$HEDDLE" record -q -o h.hdl -- ./handed_on
run "$HEDDLE" deadlocks h.hdl
like "$out" "^candidate: deadlock" "deadlocks: missing code may order the requests"
like "$out" "a deadlock only if .*libparcels" "by these calls"
like "$out" "1 of these are candidates" "and the last line counts them"
run "$HEDDLE" deadlocks h.hdl --missing
is "$status" 0 "--missing leaves it out"
like "$out" "0 findings .* complete: in all reorderings of this run .*no deadlock" "complete, of deadlocks"

build stuck/dead_now
run timeout 300 "$HEDDLE" record -q -o now.hdl -- ./dead_now
look now.hdl
like "$(head -1 <<<"$out")" "now.hdl  deadlock" "the first line says that the run ended in a deadlock"
build stuck/ways
run timeout 300 "$HEDDLE" record -q -o w.hdl -- ./ways condition
look w.hdl
like "$(head -1 <<<"$out")" "w.hdl  stuck" "or stuck"
build stale_sum
run "$HEDDLE" explore -o tree --check "sum == 2" -- ./stale_sum
like "$out" "complete for this input: whatever the schedule" "explore: complete for this input"
look tree.run1.hdl
like "$(head -1 <<<"$out")" "tree.run1.hdl  check failed" "or with a failed check"
look tree.run0.hdl "filter none-such"
run "$HEDDLE" races tree.run1.hdl
like "$out" "complete: in all reorderings of this run in which every read sees what it saw, no data race" \
	"races: complete says of what"
run "$HEDDLE" races courier.hdl
like "$out" "saw, no other data race" "no other, where there are some"

build seats
run "$HEDDLE" record -q -o seats.hdl --seed 6 -- ./seats
look seats.hdl "view graph"
out=$(tr '\n' ' ' <<<"$out" | tr -s ' ')
like "$out" "which is no promise" "conflict graph: without units no promise"
like "$out" "as the compiler inlined them" "and why there were none"
like "$out" "nothing was checked" "and that nothing was checked"
unlike "$out" "one unit after the other" "no word of a serial order"
done_testing
