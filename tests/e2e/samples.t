#!/bin/bash
# Every sample, recorded under several seeds: what its file `expect` names is found, with a
# checked witness; its fixed version comes out clean under the same analyses.
#
# A line of `expect`: COMMAND KIND [VARIABLE].
. tests/e2e/lib.sh

# report COMMAND TRACE: the report as JSON in $out
report() {
	case $1 in
	commute) run "$HEDDLE" commute "$2" --analysis cov --format json ;;
	*) run "$HEDDLE" "$1" "$2" --format json ;;
	esac
}
found='scalar grep { $_->{kind} eq q(KIND) && (q(VARIABLE) eq "" || grep { $_ eq q(VARIABLE) } @{$_->{variables}}) && $_->{verdict} =~ /race|happened/ } @{$d->{findings}}'

for expect in samples/*/expect; do
	folder=${expect%/expect}
	name=${folder#samples/}
	buggy=$(ls "$folder"/*.c | grep -v '/fixed\.c$' | head -1)
	run "$HEDDLE" cc -g -O1 "$buggy" -o "$scratch/buggy" -pthread
	is "$status" 0 "$name builds"
	run "$HEDDLE" cc -g -O1 "$folder/fixed.c" -o "$scratch/fixed" -pthread
	is "$status" 0 "$name's fix builds"
	for seed in 1 2 3; do
		run "$HEDDLE" record --seed $seed -o "$scratch/buggy.hdl" -- "$scratch/buggy"
		while read -r command kind variable; do
			report "$command" "$scratch/buggy.hdl"
			expression=${found//KIND/$kind}
			like "$(json "${expression//VARIABLE/$variable}")" '^[1-9]' \
				"$name, seed $seed: $kind $variable by $command"
		done <"$expect"
		run "$HEDDLE" record --seed $seed -o "$scratch/fixed.hdl" -- "$scratch/fixed"
		is "$status" 0 "$name's fix runs, seed $seed"
		while read -r command _; do
			report "$command" "$scratch/fixed.hdl"
			is "$status" 0 "$name's fix, seed $seed: nothing by $command"
		done <"$expect"
	done
done
done_testing
