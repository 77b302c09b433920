#!/bin/bash
# heddle explore -o FILE: the traces that are kept are those that the report names, and each finding's run is
# among them, whatever the options, also where the exploration has begun again.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cases=$PWD/tests/e2e/cases/explore
cd "$scratch" || exit 1
${CC:-cc} -O2 "$programs/random_oracle.c" -o oracle
$HEDDLE cc -g -O1 "$programs/random_sync.c" -o sync -pthread

keeps() { # NAME EXPLORE...: OPTIONS -- PROGRAM ARGS
	local name=$1
	shift
	rm -f kept kept.*
	run timeout 300 "$HEDDLE" explore --runs 60 --budget 200 --format json -o kept "$@"
	is "$(json 'my %t = map { $_->{trace} => 1 } grep { $_->{trace} } @{$d->{runs}}; join " ", sort keys %t')" \
		"$(printf '%s\n' kept.run*.hdl | sort | tr '\n' ' ' | sed 's/ $//')" "$name: what is kept is what the report names"
	is "$(json 'my @e = @{$d->{errors}}; my @r = @{$d->{races}};
		join " ", (map { $_->{trace} // "none" } @e[0 .. ($#e < 15 ? $#e : 15)], @r[0 .. ($#r < 7 ? $#r : 7)])')" \
		"$(json 'my @e = @{$d->{errors}}; my @r = @{$d->{races}};
		join " ", (map { "kept.run$_->{run}.hdl" } @e[0 .. ($#e < 15 ? $#e : 15)], @r[0 .. ($#r < 7 ? $#r : 7)])')" \
		"$name: each finding has its run"
	races=$((races + $(json 'scalar @{$d->{races}}')))
	late=$((late + $(json 'scalar grep { $_->{run} > 0 } @{$d->{races}}')))
	again=$((again + $(json '$d->{abandoned} > 0 ? 1 : 0')))
}
races=0 late=0 again=0
for seed in 24 61000001 62000001 63000001 1100234; do
	./oracle "$seed" >expected && [ "$(wc -l <expected)" -le 60 ] || continue
	read -ra arguments <expected
	keeps "$seed" -- ./sync log "${arguments[@]}"
	keeps "$seed with a bound" --bound preemptions=2 -- ./sync log "${arguments[@]}"
	keeps "$seed with spurious wake-ups" --spurious 1 -- ./sync log "${arguments[@]}"
done
for model in tso rc11; do
	$HEDDLE cc -g -O1 "$cases/late_race.c" -o late -pthread
	keeps "$model" --memory $model -- ./late
done
$HEDDLE cc -g -O1 -DN=4 -DLATE "$programs/turns.c" -o turns -pthread
keeps "again with kernel threads" -- ./turns
is "$((late > 0)) $((again > 0))" "1 1" "races after the first run, and explorations that begin again, were among them"
run "$HEDDLE" explore -o kept -- ./late
like "$out" "first in run 1
    heddle kept.run1.hdl" "the report says how to open the run of a race"
run "$HEDDLE" races kept.run1.hdl
is "$status" 1 "which shows it"
run "$HEDDLE" info kept.run1.hdl
like "$out" "recording-end +exit 0" "and how it ended"
done_testing
