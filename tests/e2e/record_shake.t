#!/bin/bash
# heddle shake and doctor.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
$HEDDLE cc -O1 "$programs/race.c" -o race -pthread
$HEDDLE cc -O1 "$programs/assert.c" -o assert -pthread
$HEDDLE cc -O1 "$programs/deadlock.c" -o deadlock -pthread

run $HEDDLE shake -n 5 --strategy rr -- ./race
is "$status" 0 "one outcome: nothing found"
like "$out" "5 x +exit status 5 .*--strategy rr --seed 1 +balance 45" "with its count, status, seed and last line"
run $HEDDLE shake -n 60 -- ./assert
is "$status" 1 "two outcomes: found"
like "$out" "signal 6" "the failing one"
again=$(printf '%s\n' "$out" | sed -n 's/.*signal 6.*\(--strategy .*--seed [0-9]*\).*/\1/p' | head -1)
run $HEDDLE record -q $again -o again.hdl -- ./assert
is "$status" 134 "its seed makes it come again: $again"
run $HEDDLE shake -n 3 --format json -- ./deadlock
is "$status" 1 "deadlocks are found"
is "$(json '$d->{outcomes}[0]{end}')" "deadlock" "JSON: how it ended"
is "$(json '$d->{runs}')" 3 "JSON: how many runs"
is "$(json '$d->{outcomes}[0]{count}')" 3 "JSON: how often"
is "$(json '$d->{outcomes}[0]{seed}')" 1 "JSON: the seed"
run $HEDDLE shake -- ./missing
is "$status" 2 "a missing program"
like "$err" "missing" "is named"
run $HEDDLE shake
is "$status" 2 "no program"
run $HEDDLE doctor
is "$status" 0 "doctor is content here"
like "$out" "ok +heddle record" "it has recorded something"
run env CC=no-such-compiler $HEDDLE doctor
is "$status" 1 "without a compiler it is not"
like "$out" "MISSING +C compiler" "and says what is missing"
done_testing
