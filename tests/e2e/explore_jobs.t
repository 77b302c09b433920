#!/bin/bash
# heddle explore -j N: tasks explored at the same time; and the estimate of how many classes there are.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

turns=$root/tests/e2e/programs/turns.c
run "$HEDDLE" cc -g -O1 -DN=4 "$turns" -o four -pthread
run "$HEDDLE" cc -g -O1 -DN=5 "$turns" -o five -pthread
run "$HEDDLE" cc -g -O1 -DN=4 -DBUG "$turns" -o bug -pthread

run "$HEDDLE" explore -j 2 --format json -- ./four
is "$status $(json '"$d->{states} ".($d->{complete} ? "complete" : "open")')" "0 24 complete" "two jobs find all classes"
is "$(json 'exists $d->{estimate} ? "estimate" : exists $d->{shard} ? "shard" : "whole"')" whole "... as one report"
run "$HEDDLE" explore -j 3 -o tree -- ./four
is "$status" 0 "as text"
like "$out" '24 (runs, all|of them) different' "... with the sum"
is "$(perl -MJSON::PP -0777 -ne 'print JSON::PP->new->decode($_)->{states}' tree)" 24 "and the tree is kept"
run "$HEDDLE" explore -j 2 --format json -- ./bug
is "$status $(json '$d->{errors}[0]{kind}')" "1 signal" "an error that one job finds"
run "$HEDDLE" explore -j 2 --format sarif -- ./bug
is "$status $(json '$d->{runs}[0]{results}[0]{ruleId}')" "1 assertion" "as SARIF"
for i in 1 2; do "$HEDDLE" explore --shard $i/2 --format json -- ./bug >bug$i.json; done
run "$HEDDLE" merge bug1.json bug2.json --format sarif
is "$status $(json '$d->{runs}[0]{results}[0]{ruleId}')" "1 assertion" "shares that are merged as SARIF"
run "$HEDDLE" merge bug1.json bug2.json --format quickfix
like "$out" '^[^:]*turns.c:[0-9]+:' "... and as lines for editors"
run "$HEDDLE" explore -j 2 --until-error --format json -- ./bug
is "$status $(json '$d->{errors}[0]{kind}')" "1 signal" "ends all jobs with --until-error"
for bad in "-j 0" "-j 1000" "-j 2 --shard 1/2"; do
	run "$HEDDLE" explore $bad -- ./four
	is "$status" 2 "$bad is refused"
done
run "$HEDDLE" explore -j 2 -- ./nothing
is "$status" 2 "no program, no report"
like "$err" 'cannot run it' "... but the reason, once"

run "$HEDDLE" explore --format json --runs 60 -- ./five
is "$(json 'my $e = $d->{estimate}; my ($low, $high) = @{$e->{spread}}; $low <= $e->{classes} && $e->{classes} <= $high && $high > 60 ? "said" : "not"')" said \
	"an incomplete exploration says about how many classes there are"
run "$HEDDLE" explore --runs 60 -- ./five
like "$out" 'about [0-9]+ different runs in all' "as text"
like "$out" 'where runs part from each other: .*\(turns.c:[0-9]+\) in [0-9]+ of 60;' "with the places that these runs come from"
run "$HEDDLE" explore -j 2 --runs 60 --format json -- ./five
is "$(json '$d->{estimate}{classes} > 60 ? "said" : "not"')" said "of the jobs' join, too"
is "$(json '$d->{partings}[0]{runs} == grep({ ($_->{place} // "") eq $d->{partings}[0]{place} } @{$d->{runs}}) ? "counted" : "not"')" \
	counted "... and the places, over all runs"
run "$HEDDLE" explore --format json -- ./five
is "$(json '$d->{states}.(exists $d->{estimate} ? " estimate" : "")')" 120 "a complete one knows"

# Main returns, or a thread aborts, while others have not come to their end: how far these come is no class of
# its own, whoever meets which schedule first.  (Seeds of explore_random.t.)
${CC:-cc} -O2 "$root/tests/e2e/programs/random_oracle.c" -o oracle
run "$HEDDLE" cc -g -O1 "$root/tests/e2e/programs/random_sync.c" -o sync -pthread
for seed in 37 17; do
	read -ra arguments < <(./oracle $seed)
	counts=
	for options in "" "--seed 1" "--seed 2" "-j 2" "-j 3"; do
		run "$HEDDLE" explore --budget 0 --format json $options -- ./sync log "${arguments[@]}"
		counts+=" $(json '$d->{states}')"
	done
	like "$counts" '^ ([1-9][0-9]*)( \1)*$' "random program $seed: as many classes by any seed, and by jobs"
done
done_testing
