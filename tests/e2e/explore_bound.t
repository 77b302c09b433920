#!/bin/bash
# heddle explore --bound preemptions=N: what interleavings with so few preemptions reach is reached.  Random
# programs (programs/random_oracle.c) with a bound of 0, 1 and 2, against all interleavings within it, counted by their
# definition.  HEDDLE_SYNC_PROGRAMS=N: so many programs, HEDDLE_SYNC_FIRST=N: the first seed.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1

${CC:-cc} -O2 "$programs/random_oracle.c" -o oracle
$HEDDLE cc -g -O1 "$programs/random_sync.c" -o sync -pthread

# Outcomes beyond the bound may be among the runs; others may not be missing.
compare() { # SEED BOUND
	rm -f log
	run timeout 600 "$HEDDLE" explore --budget 500 --format json --bound "preemptions=$2" -- ./sync log "${arguments[@]}"
	uses=$(json 'scalar grep { $_->{kind} eq "use-after-free" } @{$d->{errors}}')
	wrong=$(
		perl "$programs/random_compare.pl" within log "$uses" | grep ^missed
		perl "$programs/random_compare.pl" all log "$uses" | grep ^impossible
	)
	is "$(json '$d->{bound}{complete} ? "" : join "; ", @{$d->{gaps}}') $wrong" " " \
		"random program $1 with at most $2 preemptions: ${arguments[*]}"
	[ "$(json '$d->{complete} ? 1 : 0')" = 0 ] || whole=$((whole + 1))
	executions=$((executions + $(json '$d->{executions}')))
}

first=${HEDDLE_SYNC_FIRST:-1}
whole=0
seeds=$(seq "$first" $((first + ${HEDDLE_SYNC_PROGRAMS:-12} - 1)))
# 60073: a thread that did nothing in a run is not there before it is created
[ -n "${HEDDLE_SYNC_FIRST:-}${HEDDLE_SYNC_PROGRAMS:-}" ] || seeds+=" 60073"
for seed in $seeds; do
	[ $((seed % 4)) != 0 ] || continue # those with loops that wait, whose steps are not counted
	if ! ./oracle "$seed" >all || [ "$(wc -l <all)" -gt 120 ]; then
		continue # too large to be searched here
	fi
	read -ra arguments <all
	for bound in 0 1 2; do
		executions=0
		! ./oracle "$seed" "$bound" >within || compare "$seed" "$bound"
		echo "# $executions executions, $(($(wc -l <all) - 1)) outcomes, $(($(wc -l <within) - 1)) within $bound"
	done
done
is "$((whole > 0))$((whole < count))" 11 "some programs need no more preemptions, some do"

# The words, refusals, shares and parts.
cat >two.c <<'EOF'
#include <pthread.h>
static int x, y;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void add(int *v, int n)
{
	pthread_mutex_lock(&m);
	*v += n;
	pthread_mutex_unlock(&m);
}
static int get(int *v)
{
	pthread_mutex_lock(&m);
	int n = *v;
	pthread_mutex_unlock(&m);
	return n;
}
static void *other(void *unused)
{
	(void)unused;
	add(&x, 1);
	add(&y, 1);
	return 0;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	int a = get(&x);
	int b = get(&x);
	int c = get(&y);
	pthread_join(t, 0);
	return a == 0 && b == 1 && c == 0; /* other stops main once, and main stops other */
}
EOF
$HEDDLE cc -g -O1 two.c -o two -pthread
for bound in 0 1 2; do
	run "$HEDDLE" explore --bound preemptions=$bound --format json -- ./two
	is "$status $(json 'join ",", $d->{complete} ? 1 : 0, $d->{bound}{complete} ? 1 : 0, $d->{bound}{preemptions}, scalar @{$d->{errors}}')" \
		"$([ $bound = 2 ] && echo 1 || echo 3) 0,1,$bound,$((bound == 2))" "a failure that needs two preemptions, with at most $bound"
done
run "$HEDDLE" explore --bound preemptions=1 -- ./two
like "$out" "complete for schedules with at most 1 preemption$" "the promise names the bound"
like "$out" "schedules with more preemptions were left out [(]--bound[)]" "and what it leaves out"
run "$HEDDLE" explore --bound preemptions=9 -- ./two
like "$out" "complete for this input" "without an ending that needs more the promise is whole"

# A lock with a limit in time waits, so a switch away from it is no preemption; a try goes on at once.
cat >timed.c <<'EOF'
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s;
static int x, early;
static void *other(void *unused)
{
	struct timespec at;
	(void)unused;
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += 1;
	(void)at;
	pthread_mutex_lock(&n);
	int seen = x;
	pthread_mutex_unlock(&n);
	if (TAKE)
		return 0;
	GIVE;
	early = seen == 0;
	return 0;
}
int main(void)
{
	pthread_t t;
	sem_init(&s, 0, 0);
	BEGIN;
	pthread_create(&t, 0, other, 0);
	pthread_mutex_lock(&n);
	x = 1;
	pthread_mutex_unlock(&n);
	END;
	pthread_join(t, 0);
	return early;
}
EOF
found_with() { # TAKE GIVE BEGIN END WANTED NAME: the least bound with which the failure is found
	local bound=0
	$HEDDLE cc -g -O1 "-DTAKE=$1" "-DGIVE=$2" "-DBEGIN=$3" "-DEND=$4" timed.c -o timed -pthread
	while run "$HEDDLE" explore --bound preemptions=$bound --format json -- ./timed && [ "$status" != 1 ] && [ $bound -lt 3 ]; do
		bound=$((bound + 1))
	done
	is "$bound" "$5" "$6"
}
lock='pthread_mutex_lock(&m)' unlock='pthread_mutex_unlock(&m)'
found_with 'pthread_mutex_timedlock(&m,&at)' "$unlock" "$lock" "$unlock" 1 "a mutex with a limit in time"
found_with 'pthread_mutex_trylock(&m)' "$unlock" "$lock" "$unlock" 2 "a try of it"
lock='pthread_rwlock_wrlock(&l)' unlock='pthread_rwlock_unlock(&l)'
found_with 'pthread_rwlock_timedrdlock(&l,&at)' "$unlock" "$lock" "$unlock" 1 "a reader-writer lock with a limit in time"
found_with 'pthread_rwlock_timedwrlock(&l,&at)' "$unlock" "$lock" "$unlock" 1 "the same, to write"
found_with 'pthread_rwlock_tryrdlock(&l)' "$unlock" "$lock" "$unlock" 2 "a try of it"
found_with 'sem_timedwait(&s,&at)' '(void)0' '(void)0' 'sem_post(&s)' 1 "a semaphore with a limit in time"
found_with 'sem_trywait(&s)' '(void)0' '(void)0' 'sem_post(&s)' 2 "a try of it"

for share in 1 2; do
	"$HEDDLE" explore --bound preemptions=2 --format json --shard $share/2 -- ./two >part$share 2>/dev/null
done
run "$HEDDLE" merge --format json part1 part2
is "$(json 'join ",", $d->{bound}{preemptions}, $d->{bound}{complete} ? 1 : 0, scalar @{$d->{errors}}')" "2,1,1" "shares are joined"
run "$HEDDLE" merge --lenient --format json part1
is "$(json '$d->{bound}{complete} ? 1 : 0')" 0 "where one is missing the bound is not covered"

run "$HEDDLE" explore --bound preemptions=1 --resume state -- ./two
run "$HEDDLE" explore --bound preemptions=1 --resume state -- ./two
like "$out" "complete for schedules with at most 1 preemption$" "the state of an exploration keeps what was left out"
run "$HEDDLE" explore --bound preemptions=2 --resume state -- ./two
is "$status" 2 "another bound is another exploration"
for wrong in preemptions preemptions= preemptions=-1 preemptions=x preemptions=101 delays=1 ""; do
	run "$HEDDLE" explore --bound "$wrong" -- ./two
	is "$status" 2 "--bound '$wrong' is refused"
done
run "$HEDDLE" explore --bound preemptions=1 --memory tso -- ./two
is "$status" 2 "--bound goes without --memory"
done_testing
