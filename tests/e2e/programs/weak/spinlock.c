/*
 * Spin locks: -DSWAP by exchange, -DLOOK by exchange, then looking until it is free; else by
 * compare-and-exchange. -DWEAK: it is locked by a relaxed operation.
 */
#include <pthread.h>
#include <stdatomic.h>

#ifdef WEAK
#define LOCK memory_order_relaxed
#else
#define LOCK memory_order_acquire
#endif
#ifndef THREADS
#define THREADS 2
#endif

static atomic_int locked, count;

static void lock(void)
{
#if defined SWAP
	while (atomic_exchange_explicit(&locked, 1, LOCK))
		;
#elif defined LOOK
	while (atomic_exchange_explicit(&locked, 1, LOCK))
		while (atomic_load_explicit(&locked, memory_order_relaxed))
			;
#else
	int expected = 0;
	while (!atomic_compare_exchange_weak_explicit(&locked, &expected, 1, LOCK,
	                                              memory_order_relaxed))
		expected = 0;
#endif
}

static void *add(void *arg)
{
	lock();
	int seen = atomic_load_explicit(&count, memory_order_relaxed);
	atomic_store_explicit(&count, seen + 1, memory_order_relaxed);
	atomic_store_explicit(&locked, 0, memory_order_release);
	return arg;
}

int main(void)
{
	pthread_t t[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return atomic_load(&count) != THREADS;
}
