#!/bin/bash
# heddle explore: runs with far too many states to be planned at once.  The error is found after few
# executions, long before all of the first run's reversals could be planned; and the report says that
# runs were not planned to the end.
. tests/e2e/lib.sh
programs=$PWD/tests/bench/explore
cd "$scratch" || exit 1

for program in reorder twostage; do
	$HEDDLE cc -g -O1 -DN=30 "$programs/$program.c" -o $program -pthread
	for seed in 0 1; do
		run "$HEDDLE" explore --until-error --runs 40 --budget 120 --format json --seed $seed -- ./$program
		is "$(json '(grep { $_->{kind} eq "signal" } @{$d->{errors}}) ? "found" : "missed"')" found \
			"$program, 31 threads, seed $seed: the failed assertion"
		is "$(json '(grep { /not every other outcome/ } @{$d->{notes}}) && !$d->{complete} ? "said" : "not said"')" said \
			'... and that runs were not planned to the end'
	done
done
done_testing
