#!/bin/bash
# heddle explore: a lock or semaphore that a thread may use before another one initialises it, which undoes what was
# done to it.  Not where nothing but the initialisation lets the others know of it.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1
$HEDDLE cc -g -O1 "$programs/early.c" -o early -pthread

for how in late locked renewed posted; do
	for options in "" "--seed 3" "--memory tso" "--memory rc11" "--bound preemptions=2"; do
		# shellcheck disable=SC2086
		run timeout 120 "$HEDDLE" explore --format json $options -- ./early $how
		is "$(json '$d->{complete} ? 1 : 0')" 0 "$how $options: not complete"
		is "$(json 'scalar grep { /^[ms] may be used before main initialises it at early\.c:\d+: / } @{$d->{gaps}}')" 1 \
			"$how $options: the reason"
	done
done
run timeout 120 "$HEDDLE" explore --format json -- ./early late
is "$(json 'join " ", sort map { $_->{kind} } @{$d->{errors}}')" "lock-misuse lock-misuse signal" \
	"the late initialisation opens the lock"
like "$out" 'T1 uses m before main initialises it at early\.c:[0-9]+"' "the misuse: who, what, where"
run timeout 120 "$HEDDLE" explore --format json -- ./early renewed
like "$out" 'Assertion `x == 0' "a destruction and an initialisation open the lock"
run timeout 120 "$HEDDLE" explore --format json -- ./early posted
like "$out" '"kind": "blocked"' "a post before the initialisation is lost"

for how in zeroed assigned; do
	for options in "" "--seed 3" "--memory rc11" "--bound preemptions=2"; do
		# shellcheck disable=SC2086
		run timeout 120 "$HEDDLE" explore --format json $options -- ./early $how
		is "$(json '$d->{complete} ? 1 : 0')" 0 "$how $options: not complete"
		like "$(json 'join "\n", @{$d->{gaps}}')" 'm may be used while main writes over it at early\.c:[0-9]+: ' \
			"$how $options: the reason"
		like "$out" 'uses m, which main writes over at early\.c:[0-9]+, and nothing orders the two' "$how $options: the misuse"
	done
done

for how in once first published again; do
	for options in "" "--seed 3" "--memory rc11"; do
		# shellcheck disable=SC2086
		run timeout 120 "$HEDDLE" explore --format json $options -- ./early $how
		is "$(json '($d->{complete} ? 1 : 0) . @{$d->{errors}}')" 10 "$how $options: complete, no finding"
	done
done
done_testing
