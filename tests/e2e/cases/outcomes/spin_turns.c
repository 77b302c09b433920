/* Threads that wait for each other in a loop, in ways that the scheduler recognises (atomics, yields) and in ways that
 * it does not (plain memory under a lock, tries): no strategy lets two of them run for ever while the third, which
 * they wait for, could go on. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 3, ROUNDS = 3 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn;
static int plain, count;

static void *by_atomic(void *p)
{
	long me = (long)p;
	for (int i = 0; i < ROUNDS; i++) {
		while (atomic_load(&turn) != me) {
#if WAY == 2
			sched_yield();
#elif WAY == 3
			usleep(10);
#endif
		}
		count++;
		atomic_store(&turn, (me + 1) % N);
	}
	return p;
}

static void *by_lock(void *p)
{
	long me = (long)p;
	for (int i = 0; i < ROUNDS;) {
#if WAY == 5
		if (pthread_mutex_trylock(&m))
			continue;
#else
		pthread_mutex_lock(&m);
#endif
		if (plain == me) {
			count++;
			plain = (me + 1) % N;
			i++;
		}
		pthread_mutex_unlock(&m);
	}
	return p;
}

int main(void)
{
	pthread_t t[N];
	for (long i = 0; i < N; i++)
		pthread_create(&t[i], 0, WAY < 4 ? by_atomic : by_lock, (void *)i);
	for (long i = 0; i < N; i++)
		pthread_join(t[i], 0);
	printf("%d\n", count);
	return count != N * ROUNDS;
}
//: build -DWAY={1,2,3,4,5}
//: shake --runs 120 --timeout 60
//= scalar(@{$d->{outcomes}}) 1
//= $d->{outcomes}[0]{line} 9
//: shake --runs 1 --timeout 60 --strategy turns --turns 0:0,0:4,3:1,2:1,1:2,0:11 --seed 0
//= $d->{outcomes}[0]{line} 9
//: shake --runs 1 --timeout 60 --strategy turns --turns 0:0,0:4,3:1,2:1,1:1,2:19 --seed 0
//= $d->{outcomes}[0]{line} 9
//: shake --runs 1 --timeout 60 --strategy turns --turns 3:24,0:11,3 --seed 0
//= $d->{outcomes}[0]{line} 9
//: shake --runs 1 --timeout 60 --strategy turns --turns 2:54,0:10,2 --seed 0
//= $d->{outcomes}[0]{line} 9
//: shake --runs 1 --timeout 60 --strategy turns --turns 2:117,0:10 --seed 0
//= $d->{outcomes}[0]{line} 9
