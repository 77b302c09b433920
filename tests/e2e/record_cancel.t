#!/bin/bash
# record: a thread that is cancelled at once ends at its next step, and not inside of the
# recorder.  Time limits are guards alone.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
$HEDDLE cc -w -g -O1 "$root/tests/e2e/programs/cancelled.c" -o cancelled -pthread
for how in 0 1 2 3 4 5 6; do
	want="1 1"
	[ $how = 4 ] || [ $how = 6 ] && want="1 11"
	for seed in 1 2 3; do
		run timeout 300 $HEDDLE record -q --seed $seed -o c.hdl -- ./cancelled $how
		is "$status $out" "0 $want" "way $how, seed $seed"
	done
	run timeout 300 $HEDDLE replay --trace c.hdl -- ./cancelled $how
	like "$err" "each thread does and sees what it did in the recording" "and replayed, way $how"
done
done_testing
