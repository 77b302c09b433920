#!/bin/bash
# Points of no return of an exploration in parts: the part that ends it executes the runs of earlier ones once
# more, be they of one process, of jobs, or of joined tasks, and finds what one part alone finds.
. tests/e2e/lib.sh
samples=$PWD/samples
cd "$scratch" || exit 1
cat >mode.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *m, pthread_mutex_t *n)
{
	pthread_mutex_lock(m);
	pthread_mutex_lock(n);
	pthread_mutex_unlock(n);
	pthread_mutex_unlock(m);
}
static void *one(void *p)
{
	if (access("changed", F_OK) == 0)
		both(&b, &a);
	both(&a, &b);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, one, 0);
	both(&b, &a);
	pthread_join(t, 0);
	return 0;
}
C
# Each error: kind, is it of every continuation, and the places before and after the point.
points() {
	json 'join "; ", sort map { my $p = $_->{"point-of-no-return"};
		join " ", $_->{kind}, $p ? ($p->{every} ? "every" : "some", $p->{passes} ? $p->{passes}{operation} . " " . $p->{passes}{location} : "-",
			$p->{fails}{operation}, $p->{fails}{location}) : "none" } @{$d->{errors}}'
}
explore() { run "$HEDDLE" explore --budget 0 --format json "$@" -- $program; }
for source in "$samples"/last-seat/last_seat.c "$samples"/lost-wakeup/lost_wakeup.c "$samples"/lock-order/lock_order.c mode.c; do
	name=$(basename "$source" .c) program=./program
	$HEDDLE cc -g -O1 "$source" -o program -pthread
	rm -rf state* round* jobs
	explore
	whole="$status $(json '$d->{states}') $(points)"
	like "$whole" " every " "$name has a point ($whole)"
	parts=0 made=0 runs=0
	while [ $parts -lt 60 ]; do
		parts=$((parts + 1))
		explore --resume state --runs 1
		[ "$(json '$d->{complete} ? 1 : 0')" = 0 ] || break
		unlike "$(points)" " every" "$name: part $parts does not end it, and does not speak for every continuation"
	done
	is "$status $(json '$d->{states}') $(points)" "$whole" "$name: in $parts parts"
	explore --resume state
	is "$(json '$d->{executions}') $(points)" "$(json '$d->{states} + $d->{redundant}') ${whole#* * }" "$name: the end, asked for again, counts nothing"
	explore --resume jobs -j 2
	is "$status $(json '$d->{states}') $(points | grep -o ' every ' | wc -l)" "${whole%% *} $(cut -d' ' -f2 <<<"$whole") $(grep -o ' every ' <<<"$whole" | wc -l)" \
		"$name: by two jobs"
	explore --resume round0.1 --runs 1
	for round in 1 2 3 4 5 6 7 8 9; do
		"$HEDDLE" merge round$((round - 1)).* --tasks 2 -o round$round >report
		grep -q 'schedules are left' report || break
		for task in round$round.[12]; do
			explore --resume $task --runs 3
		done
	done
	run "$HEDDLE" merge round$((round - 1)).* -o joined$name --format json
	is "$(points | grep -c every)" 0 "$name: a join has no program"
	explore --resume joined$name
	is "$status $(json '$d->{states}') $(points | grep -o ' every ' | wc -l)" "${whole%% *} $(cut -d' ' -f2 <<<"$whole") $(grep -o ' every ' <<<"$whole" | wc -l)" \
		"$name: of joined tasks"
done
touch changed
explore --resume state
is "$(json '$d->{states}') $(points)" "$(cut -d' ' -f2 <<<"$whole") deadlock none" "runs that do otherwise by now tell nothing"
done_testing
