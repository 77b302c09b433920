#!/bin/bash
# heddle explore: the data races of random programs, against all their interleavings
# (programs/random_oracle.c SEED races).  Whatever is read is the same, so that often one run is all, and a
# race needs another post, signal or arrival to end a wait.  HEDDLE_SYNC_PROGRAMS=N: so many programs,
# HEDDLE_SYNC_FIRST=N: the first seed.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1
${CC:-cc} -O2 "$programs/random_oracle.c" -o oracle
$HEDDLE cc -g -O1 "$programs/random_sync.c" -o sync -pthread
lines=$(grep -n 'site [0-9] ' "$programs/random_sync.c" | sed 's|^\([0-9]*\):.* site \([0-9]\) .*|\1=>\2,|' | tr -d '\n')
first=${HEDDLE_SYNC_FIRST:-1}
open=0 searched=0
for seed in $(seq "$first" $((first + ${HEDDLE_SYNC_PROGRAMS:-40} - 1))); do
	./oracle "$seed" races >expected || continue # too large to be searched here
	read -ra arguments <expected
	rm -f log
	run timeout 600 "$HEDDLE" explore --budget 500 --format json --seed $((seed % 3)) -- ./sync log "${arguments[@]}"
	gaps=$(json 'join "; ", @{$d->{gaps}}')
	left=$(json 'scalar @{$d->{"races-open"} // []}')
	found=$(json 'my %of = ('"$lines"'); join "\n", sort map { "race " . join " ", sort map { /:(\d+)/; $of{$1} // $_ } @{$_->{locations}} } @{$d->{races}}')
	missing=$(grep race expected | sort | comm -23 - <(sort <<<"$found") | tr '\n' ' ')
	wrong=$(sort <<<"$found" | grep race | comm -13 <(grep race expected | sort) - | tr '\n' ' ')
	if [ -n "$gaps" ] || [ "$left" != 0 ]; then
		open=$((open + 1)) missing= # it says so
	fi
	is "missing: $missing wrong: $wrong" "missing:  wrong: " "random program $seed: ${arguments[*]}"
	searched=$((searched + 1))
done
[ -n "$HEDDLE_SYNC_PROGRAMS" ] || is $((10 * open < searched)) 1 "$open of $searched programs are left open"
done_testing
