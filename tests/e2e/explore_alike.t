#!/bin/bash
# heddle explore --symmetry: random programs, some of whose threads run the same, against all their interleavings
# (programs/random_oracle.c), up to which of these threads does what; and the number of classes that those that were run
# stand for, against those of an exploration that tells all threads apart.  HEDDLE_SYNC_PROGRAMS=N: so many
# programs, HEDDLE_SYNC_FIRST=N: the first seed, HEDDLE_SYNC_EVERY=N: each Nth seed.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1

${CC:-cc} -O2 "$programs/random_oracle.c" -o oracle
$HEDDLE cc -g -O1 -DALIKE "$programs/random_sync.c" -o sync -pthread
first=${HEDDLE_SYNC_FIRST:-1}
every=${HEDDLE_SYNC_EVERY:-1}
chosen=${HEDDLE_SYNC_FIRST:-}${HEDDLE_SYNC_PROGRAMS:-}

explored() { # SEED OPTION...: sets `gaps`, and `classes`, those that its classes stand for
	rm -f log
	run timeout 1300 "$HEDDLE" explore --budget $((($1 % 16) ? 1200 : 20)) --format json --seed $(($1 % 3)) "${@:2}" -- ./sync log "${arguments[@]}"
	gaps=$(json '$d->{complete} ? "complete" : join "; ", @{$d->{gaps}}')
	classes=$(json '$d->{"stand-for"} // $d->{states}')
	states=$(json '$d->{states}')
}

saved=0
for seed in $(seq "$first" "$every" $((first + every * (${HEDDLE_SYNC_PROGRAMS:-24} - 1)))); do
	if ! ./oracle "$seed" alike >expected || [ "$(wc -l <expected)" -gt 200 ]; then
		continue # too large to be searched here
	fi
	read -ra arguments <expected
	explored "$seed"
	# where an exploration without symmetry has no end, or does not see one, neither has this one
	[ "$gaps" = complete ] || continue
	all=$classes
	explored "$seed" --symmetry
	uses=$(json 'scalar grep { $_->{kind} eq "use-after-free" } @{$d->{errors}}')
	compared=$(perl "$programs/random_compare.pl" expected log "$uses" alike)
	is "$gaps $compared" "complete " "random program $seed: ${arguments[*]}"
	saved=$((saved + classes - states))
	# exchanges that keep what they read, uses after free, aborts: which of their runs count depends on the order;
	# additions whose result is not used tell runs apart with --symmetry alone
	[[ "${arguments[*]}" == *[MV!]* || "${arguments[*]}" =~ a[01][19]|\& ]] || is "$classes" "$all" "random program $seed: $states for as many classes as without symmetry"
done
[ -n "$chosen" ] || is "$((saved > 0))" 1 "some classes stand for others"
done_testing
