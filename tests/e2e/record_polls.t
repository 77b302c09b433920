#!/bin/bash
# Programs that wait by polling: they come to their end under every strategy, what they see again
# and again is counted and not written, one seed is one trace, and replay makes as many looks.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1

$HEDDLE cc -g -O1 "$programs/polls.c" -o polls -pthread || echo "# cannot build polls"
events() { $HEDDLE info --format json "$1" | sed -n 's/.*"events": \([0-9]*\),.*/\1/p' | head -1; }
repeated() { $HEDDLE info "$1" | sed -n 's/^ *recording-repeated *//p'; }

# each way of polling alone, for what a sleeper brings
for way in 0 1 2 3 4; do
	run timeout 300 $HEDDLE record -q --max-size 32 -o one.hdl -- ./polls $way
	is "$status $out" "0 1" "way $way: what the sleeper brings is seen"
	[ "$(events one.hdl)" -lt 1000 ]
	ok $? "way $way: few events"
done
run timeout 300 $HEDDLE record -q --max-size 2 -o bounded.hdl -- ./polls 3 3 3 3
[ "$(repeated bounded.hdl)" -gt 399000 ]
ok $? "looks that told nothing new are counted, in one record as long as nothing else is written"

for s in random pct noise rr; do
	run timeout 300 $HEDDLE record -q --max-size 32 --strategy $s -o one.hdl -- ./polls 0 1 2 3 4 3 0
	is "$status $out" "0 1" "all ways at once under $s"
	[ "$(events one.hdl)" -lt 100000 ]
	ok $? "few events under $s"
	run timeout 300 $HEDDLE record -q --strategy $s -o two.hdl -- ./polls 0 1 2 3 4 3 0
	cmp -s one.hdl two.hdl
	ok $? "one seed is one trace under $s"
	last=$(($(events one.hdl) - 3))
	run timeout 300 $HEDDLE replay --trace one.hdl --until $last -- ./polls 0 1 2 3 4 3 0
	like "$err" "it came to  main join" "replay follows it to its end under $s"
	like "$err" "exit status 0" "and the program ends as it did"
done

$HEDDLE convert one.hdl one.txt --to text
grep -q '^#! note recording-repeated [0-9]' one.txt
ok $? "the text format has the number of repetitions"

done_testing
