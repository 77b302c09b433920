#!/bin/bash
# heddle explore: operations whose outcome depends on the order, runs that end early, limits,
# shares.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

build() { run "$HEDDLE" cc -g -O1 "$1.c" -o "$1" -pthread; }
explore() { run "$HEDDLE" explore --budget 100 --format json "${@:2}" -- "./$1"; }
found() { json '"$d->{states} ".($d->{complete} ? "complete" : "open")'; }
ends() { json 'join ",", sort map { $_->{kind} . ($_->{kind} eq "exit-status" ? $_->{status} : "") } @{$d->{errors}}'; }
program() { # NAME HEAD ONE TWO END: two threads, what main returns
	cat >"$1.c" <<C
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int got;
$2
static void *one(void *p) { $3 return p; }
static void *two(void *p) { $4 return p; }
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, one, (void *)1);
	pthread_create(&u, 0, two, (void *)2);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return $5;
}
C
	build "$1"
}

lock='pthread_mutex_lock(&m);' unlock='pthread_mutex_unlock(&m);'
program try "" "if (pthread_mutex_trylock(&m) == 0) { got = 1; $unlock }" "$lock $unlock" "got != 1"
explore try
is "$(found) $(ends)" "2 complete exit-status1" "a try: both outcomes"
explore try --seed 3
is "$(found) $(ends)" "2 complete exit-status1" "from another first run"
program timed "static struct timespec at = { 1, 0 };" "if (pthread_mutex_timedlock(&m, &at) == 0) { got = 1; $unlock }" "$lock $unlock" "got != 1"
explore timed
is "$(found) $(ends)" "2 complete exit-status1" "a lock with a time limit"
program semaphore "static sem_t s;" "if (sem_trywait(&s) == 0) got = 1;" "sem_post(&s);" "got != 1"
explore semaphore
is "$(found) $(ends)" "2 complete exit-status1" "a semaphore's try"
program barrier "static pthread_barrier_t b = { .__size = { [8] = 2 } };" \
	"if (pthread_barrier_wait(&b)) got = 1;" "if (pthread_barrier_wait(&b)) got = 2;" "got"
explore barrier
is "$(found) $(ends)" "2 complete exit-status1,exit-status2" "a barrier's serial thread"
program timedwait "static struct timespec at; static int ready, late;" \
	"clock_gettime(CLOCK_REALTIME, &at); at.tv_sec += 5; $lock while (!ready && !late) late = pthread_cond_timedwait(&c, &m, &at) == ETIMEDOUT; $unlock" \
	"$lock ready = 1; pthread_cond_signal(&c); $unlock" "late"
explore timedwait
is "$(ends) $(json '$d->{complete}')" "exit-status1 true" "a wait with a time limit"

cat >waiters.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t waits, woken;
static int first;
static void *waiter(void *p)
{
	pthread_mutex_lock(&m);
	sem_post(&waits);
	pthread_cond_wait(&c, &m);
	if (first == 0)
		first = (int)(long)p;
	pthread_mutex_unlock(&m);
	sem_post(&woken);
	return p;
}
int main(void)
{
	pthread_t t[2];
	sem_init(&waits, 0, 0);
	sem_init(&woken, 0, 0);
	pthread_create(&t[0], 0, waiter, (void *)1);
	sem_wait(&waits); /* the first waits before the second begins */
	pthread_create(&t[1], 0, waiter, (void *)2);
	sem_wait(&waits);
	pthread_mutex_lock(&m);
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	sem_wait(&woken);
	int who = first;
	pthread_mutex_lock(&m);
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return who;
}
C
build waiters
explore waiters
is "$(ends)" exit-status1,exit-status2 "a signal may wake either waiter"

# What the end of a run cut off goes on in others.
program crash "" "if (got == 0) abort();" "got = 1;" "0"
for seed in 0 1 2 3; do
	explore crash --seed $seed
	is "$(json 'join ",", sort map { $_->{end} } grep { !$_->{redundant} } @{$d->{runs}}' | sed 's/\(signal,\)*signal/signal/') $(json '$d->{complete}')" \
		"exit,signal true" "the run that crashes and the one that does not, first run $seed"
done
program locks "static pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER;" \
	"$lock pthread_mutex_lock(&k); pthread_mutex_unlock(&k); $unlock" \
	"pthread_mutex_lock(&k); $lock $unlock pthread_mutex_unlock(&k);" "0"
for seed in 0 1 2 3 4 5; do
	explore locks --seed $seed
	is "$(found) $(ends)" "2 complete deadlock" "a deadlock and the rest, first run $seed"
done

# What is there at the end.
program final "static volatile int x, y;" "x = 1; y = 1;" "x = 2; y = 2;" "0"
explore final
is "$(json '$d->{states}')" 1 "nobody reads: one class"
explore final --final x
is "$(json '$d->{states}')" 2 "--final x: two"
explore final --final x,y
is "$(json '$d->{states}')" 4 "--final x,y: four"
explore final --check 'x == y || (x == 2 && y == 1)'
is "$(ends) $(json '$d->{errors}[0]{story}')" \
	"check x == y || (x == 2 && y == 1) does not hold: x = 1, y = 2" "--check"
explore final --check 'x * 2 >= y - 10 && !(x == 3)'
is "$(ends)" "" "--check that holds"
run "$HEDDLE" explore --check 'x = 1' -- ./final
is "$status" 2 "no condition"
for names in "" , x,,y "x, "; do
	run "$HEDDLE" explore --final "$names" -- ./final
	is "$status" 2 "--final '$names' names no variable"
done
run "$HEDDLE" explore --check 'x == 99999999999999999999' -- ./final
is "$status" 2 "a number of more than 64 bits"
like "$err" "64 bits" "which is said"
explore final --timeout inf --check 'x < 3'
is "$(ends) $(json '$d->{complete}')" " true" "a run may take as long as it likes"
explore final --check 'nobody == 1'
is "$(json '$d->{complete} ? 1 : 0')" 0 "a variable that nobody knows"

# Limits.
program spin "" "while (!got) ;" "got = 1;" "0"
explore spin --steps 30
like "$(found) $(ends)" '^[0-9]+ open cut$' "a spinning thread is cut, and the report is not complete"
explore crash --until-error
is "$(json '$d->{executions}')" 1 "--until-error"

# Shares, joined again.
program share "static void add(void) { $lock got++; $unlock }" "add(); add(); add();" "add(); add();" "0"
explore share
all=$(json '$d->{states}')
for i in 1 2 3; do
	explore share --shard $i/3
	printf '%s\n' "$out" >share$i.json
	is "$(json '$d->{shard}')" "$i/3" "share $i says which"
done
run "$HEDDLE" merge share1.json share2.json share3.json --format json
is "$(json '"$d->{states} $d->{complete}"')" "$all 1" "the shares have all $all classes"
run "$HEDDLE" explore --shard 4/3 -- ./share
is "$status" 2 "no such share"
done_testing
