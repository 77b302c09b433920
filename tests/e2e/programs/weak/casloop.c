/* Counters by a load and compare-and-exchange, in the ways in which people write it. -DTHREADS=N;
 * -DAGAIN: loaded in each round; -DCOUNTED: a failed round counts; -DWEAK: no update at all. */
#include <pthread.h>
#include <stdatomic.h>

#ifndef THREADS
#define THREADS 2
#endif
static atomic_int x;
static int failed[THREADS];

static void *add(void *p)
{
	int e;
#ifdef WEAK
	e = atomic_load_explicit(&x, memory_order_relaxed);
	atomic_store_explicit(&x, e + 1, memory_order_relaxed);
#elif defined AGAIN
	do
		e = atomic_load_explicit(&x, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&x, &e, e + 1, memory_order_acq_rel,
	                                              memory_order_relaxed));
#else
	e = atomic_load_explicit(&x, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&x, &e, e + 1, memory_order_acq_rel,
	                                              memory_order_relaxed)) {
#ifdef COUNTED
		*(int *)p += 1;
#endif
	}
#endif
	return p;
}

int main(void)
{
	pthread_t t[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], 0, add, &failed[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], 0);
	return x != THREADS;
}
