#!/bin/bash
# Every sample, recorded under several seeds: what its file `expect` names is found, with a
# checked witness; its fixed version comes out clean under the same analyses.
#
# A line of `expect`: COMMAND KIND [VARIABLE].  What `races`, `commute` (order violations) and
# `rd2` (commutativity races) predict must come out of every recording; `atomic` lists what
# happened, and some schedule must show it.
. tests/e2e/lib.sh

found='scalar grep { $_->{kind} eq q(KIND) && (q(VARIABLE) eq "" || grep { $_ eq q(VARIABLE) } @{$_->{variables}}) && $_->{verdict} =~ /race|happened|candidate/ } @{$d->{findings}}'

# record VERSION SEED STRATEGY: records $scratch/VERSION, with the folder's bind lines
record() {
	local spec=()
	for file in "$folder"/*.spec; do
		[ -e "$file" ] && spec+=(--spec "$file")
	done
	run "$HEDDLE" record -q --seed "$2" --strategy "$3" "${spec[@]}" -o "$scratch/$1.hdl" -- "$scratch/$1"
}
# report COMMAND VERSION: the report as JSON in $out
report() {
	case $1 in
	commute) run "$HEDDLE" commute "$scratch/$2.hdl" --analysis cov --format json ;;
	rd2) run "$HEDDLE" commute "$scratch/$2.hdl" --format json ;;
	atomic) run "$HEDDLE" atomic "$scratch/$2.hdl" --all --format json ;;
	*) run "$HEDDLE" "$1" "$scratch/$2.hdl" --format json ;;
	esac
}
# finds COMMAND KIND VARIABLE: in the buggy version's recording
finds() {
	report "$1" buggy
	local expression=${found//KIND/$2}
	[ "$(json "${expression//VARIABLE/$3}")" != 0 ]
}

predicted() { # what must come out of every recording
	for seed in 1 2 3; do
		record buggy $seed random
		while read -r command kind variable; do
			[ "$command" = atomic ] && continue
			finds "$command" "$kind" "$variable"
			ok $? "$name, seed $seed: $kind $variable by $command"
		done <"$folder/expect"
		record fixed $seed random
		is "$status" 0 "$name's fix runs, seed $seed"
		while read -r command _; do
			report "$command" fixed
			is "$status" 0 "$name's fix, seed $seed: nothing by $command"
		done <"$folder/expect"
	done
}

happens() { # what some schedule must show
	local seed shown=1
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
		record buggy $seed noise
		finds atomic atomic-set-violation "" && shown=0 && break
	done
	ok $shown "$name: atomic-set-violation by atomic (noise, seed $seed)"
	for seed in 1 2; do
		record fixed $seed noise
		report atomic fixed # --all lists pairs that may be meant as one, as candidates
		is "$(json 'scalar grep { $_->{verdict} ne "candidate" } @{$d->{findings}}')" 0 "$name's fix, noise, seed $seed: nothing by atomic"
	done
}

for expect in samples/*/expect; do
	folder=${expect%/expect}
	name=${folder#samples/}
	run "$HEDDLE" cc -g -O1 "$(ls "$folder"/*.c | grep -v '/fixed\.c$')" -o "$scratch/buggy" -pthread
	is "$status" 0 "$name builds"
	run "$HEDDLE" cc -g -O1 "$folder/fixed.c" -o "$scratch/fixed" -pthread
	is "$status" 0 "$name's fix builds"
	if grep -qv '^atomic' "$expect"; then predicted; fi
	if grep -q '^atomic' "$expect"; then happens; fi
done
# The patterns of the Marathon paper's ConTest kernels.
for name in account airline bounded-buffer bubble-sort critical-section double-checked linked-list \
	lottery manager merge-sort ping-pong pipeline producer-consumer shop suns-account; do
	grep -q '^atomic atomic-set-violation' "samples/$name/expect"
	ok $? "$name is among the samples for atomic sets"
done
done_testing
