#!/bin/bash
# heddle explore: programs each of which fails in one outcome of an operation that another order
# alone brings: an initial value, one of two wakers, who holds a lock at a failed try, who runs a
# once-function or a static's initialiser, a barrier's serial thread, a semaphore's count, how a
# wait with a time limit ends.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs/outcomes
cd "$scratch" || exit 1

for file in "$programs"/*; do
	name=$(basename "${file%.*}")
	compile=cc
	[ "${file##*.}" = cc ] && compile=c++
	$HEDDLE $compile -g -O1 "$file" -o "$name" -pthread
	for seed in 0 1; do
		run timeout 200 "$HEDDLE" explore --budget 100 --format json --seed $seed -- "./$name"
		is "$status $(json '($d->{complete} ? 1 : 0)." ".join ",", map { "$_->{kind} $_->{status}" } @{$d->{errors}}')" \
			"1 1 signal 6" "$name: the failing outcome is found, first run $seed"
	done
done
done_testing
