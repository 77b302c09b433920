#!/bin/bash
# heddle explore --spurious N: waits for a condition that end without a signal.  Random programs
# (programs/random_oracle.c) with at most 1 and 2 of these, against all their interleavings.
# HEDDLE_SYNC_PROGRAMS=N: so many programs, HEDDLE_SYNC_FIRST=N: the first seed; from 63000000 on: two conditions.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1

${CC:-cc} -O2 "$programs/random_oracle.c" -o oracle
$HEDDLE cc -g -O1 "$programs/random_sync.c" -o sync -pthread

$HEDDLE cc -g -O1 -DALIKE "$programs/random_sync.c" -o alike -pthread

# compare SEED SPURIOUS NAME WITHIN PROGRAM OPTIONS: outcomes that are not in `expected` are wrong; none of those in the file
# WITHIN may be missing.  `parts`: the numbers of runs after which it is interrupted.
parts=
compare() {
	local seed=$1 spurious=$2 name=$3 within=$4 program=$5 runs uses compared
	shift 5
	rm -f log state
	for runs in $parts ""; do
		run timeout 600 "$HEDDLE" explore --budget 500 --format json --spurious "$spurious" "$@" ${runs:+--runs $runs} \
			${parts:+--resume state} -- "./$program" log "${arguments[@]}"
	done
	uses=$(json 'scalar grep { $_->{kind} eq "use-after-free" } @{$d->{errors}}')
	compared=$(
		perl "$programs/random_compare.pl" "$within" log "$uses" ${program/sync/} | grep ^missed
		perl "$programs/random_compare.pl" expected log "$uses" ${program/sync/} | grep -v ^missed
	)
	gaps=$(json '$d->{complete} || $d->{bound}{complete} ? "complete" : join "; ", @{$d->{gaps}}')
	# as in explore_random.t
	if [ -n "${HEDDLE_SYNC_FIRST:-}" ] && [ "$gaps" != complete ] && ! grep -qv '^missed' <<<"${compared:-missed}"; then
		skip "random program $seed" "not complete: $gaps"
		return
	fi
	is "$gaps $compared" "complete " "random program $seed with at most $spurious spurious wake-ups$name: ${arguments[*]}"
}
# The classes and errors, without the runs that showed them.
found() {
	json '"$d->{states} " . ($d->{complete} ? "complete" : "open") . join "; ", sort map { $_->{kind} } @{$d->{errors}}'
}
with_jobs() { # SEED: two jobs find what one finds (their runs' lines would be mixed in the log)
	run "$HEDDLE" explore --budget 500 --format json --spurious 1 -- ./sync log "${arguments[@]}"
	local whole="$status $(found)"
	[[ "$whole" != *use-after-free* ]] || return # which runs with one count depends on the order
	run "$HEDDLE" explore --budget 500 --format json --spurious 1 -j 2 -- ./sync log "${arguments[@]}"
	is "$status $(found)" "$whole" "random program $1 with at most 1 spurious wake-up, two jobs"
}

seed=${HEDDLE_SYNC_FIRST:-1}
left=${HEDDLE_SYNC_PROGRAMS:-10}
more=0
while [ "$left" -gt 0 ]; do
	seed=$((seed + 1))
	# those with waits, and without loops that look under a lock
	if [ $((seed % 8)) = 0 ] || ! ./oracle "$seed" spurious=1 >expected || [ "$(wc -l <expected)" -gt 100 ] ||
		! head -1 expected | grep -q '[cq][01]0'; then
		continue
	fi
	left=$((left - 1))
	./oracle "$seed" >without
	cmp -s without expected || more=$((more + 1))
	read -ra arguments <expected
	compare "$seed" 1 "" expected sync
	parts="2 5" compare "$seed" 1 ", in parts" expected sync
	with_jobs "$seed"
	[[ "${arguments[*]}" != *[mGADK][01]* ]] || for options in "" --results; do
		compare "$seed" 1 ", --spec $options" expected sync --spec "$programs/random_sync.spec" $options
	done
	[ $((seed % 4)) = 0 ] || ! ./oracle "$seed" spurious=1 1 >within || compare "$seed" 1 ", one preemption" within sync --bound preemptions=1
	! ./oracle "$seed" spurious=2 >expected || [ "$(wc -l <expected)" -gt 200 ] || compare "$seed" 2 "" expected sync
	if ./oracle "$seed" spurious=1 alike >expected && [ "$(wc -l <expected)" -le 100 ]; then
		read -ra arguments <expected
		compare "$seed" 1 ", threads that are alike" expected alike --symmetry
	fi
done
is "$((more > 0))" 1 "some programs have outcomes that need a spurious wake-up"

# Shares, and the state of an exploration.
$HEDDLE cc -g -O1 "$OLDPWD/tests/e2e/cases/explore/spurious_wake.c" -o wake -pthread
for share in 1 2; do
	"$HEDDLE" explore --spurious 1 --format json --shard $share/2 -- ./wake >part$share 2>/dev/null
done
run "$HEDDLE" merge part1 part2
like "$out" "complete for this input, with at most 1 spurious wake-up in a run, of waits without a time limit" "shares are joined, and the promise names the bound"
like "$out" "happened: assertion" "with what they found"
run "$HEDDLE" explore --spurious 1 --resume state --runs 1 -- ./wake
run "$HEDDLE" explore --spurious 1 --resume state -- ./wake
like "$out" "complete for this input, with at most 1 spurious wake-up in a run" "an exploration goes on"
run "$HEDDLE" explore --resume state -- ./wake
is "$status" 2 "without spurious wake-ups it is another exploration"

# The real program along such a run.
run "$HEDDLE" explore --spurious 1 -o kept -- ./wake
run "$HEDDLE" replay --trace kept.run3.hdl -- ./wake
like "$status $out$err" "Assertion .d == 42. failed" "a spurious wake-up is replayed"
like "$err$out" "each thread does and sees what it did in the recording" "as it was"
done_testing
