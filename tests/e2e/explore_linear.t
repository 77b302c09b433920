#!/bin/bash
# heddle explore --linearizable: random programs whose objects are right or wrong, against all their
# interleavings and all orders of their invocations (programs/linear_oracle.c): the objects with a
# history that is not linearizable are found, and no other. HEDDLE_LINEAR_PROGRAMS=N: so many programs,
# HEDDLE_LINEAR_FIRST=N: the first seed.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1

${CC:-cc} -O2 "$programs/linear_oracle.c" -o oracle
$HEDDLE cc -g -O1 "$programs/random_linear.c" -o linear -pthread
first=${HEDDLE_LINEAR_FIRST:-1}
for seed in $(seq "$first" $((first + ${HEDDLE_LINEAR_PROGRAMS:-40} - 1))); do
	./oracle "$seed" >expected || continue # too large to be searched here
	read -ra arguments <expected
	run timeout 300 "$HEDDLE" explore --budget 100 --format json --seed $((seed % 3)) \
		--spec "$programs/random_linear.spec" --linearizable -- ./linear "${arguments[@]}"
	is "$(json '(join " ", sort keys %{{ map { ($_->{story} =~ /^([a-z]+)1 is not linearizable/ ? $1 : $_->{kind}) => 1 } @{$d->{errors}} }}) || "none"'
		) $(json '$d->{complete} ? "complete" : join "; ", @{$d->{gaps}}')" \
		"$(tail -1 expected) complete" "random program $seed: ${arguments[*]}"
done
done_testing
