#!/bin/bash
# heddle check where a thread waits for another by looking again and again: by atomics, tries, yields or sleeps. Each race's
# two orders go on from the pair to the program's end, so the thread that looks in vain must give way.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >look.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
static atomic_int step;
static volatile int flag;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_t other;
static int data, tries;
#define HOLD(lock, unlock) \
	static void begin(void) { lock; } \
	static void end(void) { unlock; }
#if defined TRYLOCK
HOLD(pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
static void wait(void) { while (pthread_mutex_trylock(&mutex)) tries++; pthread_mutex_unlock(&mutex); }
#elif defined SPIN_TRYLOCK
HOLD(pthread_spin_lock(&spin), pthread_spin_unlock(&spin))
static void wait(void) { while (pthread_spin_trylock(&spin)) ; pthread_spin_unlock(&spin); }
#elif defined TRYRDLOCK
HOLD(pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
static void wait(void) { while (pthread_rwlock_tryrdlock(&rwlock)) ; pthread_rwlock_unlock(&rwlock); }
#else
HOLD(, flag = 1)
#if defined LOAD
static void wait(void) { while (step != 2) ; }
#elif defined COUNTED
static void wait(void) { while (step != 2) tries++; }
#elif defined VOLATILE
static void wait(void) { while (!flag) ; }
#elif defined EXCHANGE
static void wait(void) { int seen; do seen = 2; while (!atomic_compare_exchange_strong(&step, &seen, 3)); }
#elif defined ADDITION
static void wait(void) { while (atomic_fetch_add(&step, 0) != 2) ; }
#elif defined YIELD
static void wait(void) { while (step != 2) sched_yield(); }
#elif defined SLEEP
static void wait(void) { while (step != 2) nanosleep(&(struct timespec){ 0, 1000 }, NULL); }
#elif defined TRYJOIN
static void wait(void) { while (pthread_tryjoin_np(other, NULL)) ; }
#endif
#endif
static void *writer(void *unused)
{
	begin();
	step = 1;
	data = 1;
	end();
	step = 2;
	return unused;
}
int main(void)
{
	pthread_spin_init(&spin, 0);
	pthread_create(&other, NULL, writer, NULL);
	while (step < 1)
		sched_yield();
	int seen = data;
	wait();
#ifndef TRYJOIN
	pthread_join(other, NULL);
#endif
	return seen > 1;
}
C
for kind in TRYLOCK SPIN_TRYLOCK TRYRDLOCK LOAD COUNTED VOLATILE EXCHANGE ADDITION YIELD SLEEP TRYJOIN; do
	"$HEDDLE" cc -D$kind -g -O1 look.c -o look -pthread
	run "$HEDDLE" check --budget 60 --format json -- ./look
	is "$(json 'join " ", map { $_->{harm} } grep { ($_->{variable} // "") eq "data" } @{$d->{findings}}')" same \
		"$kind: after the race's two orders the program ends alike"
done
done_testing
