/* A ticket lock. -DWEAK: it is unlocked by a relaxed store. */
#include <pthread.h>
#include <stdatomic.h>

#ifdef WEAK
#define UNLOCK memory_order_relaxed
#else
#define UNLOCK memory_order_release
#endif
#ifndef THREADS
#define THREADS 2
#endif

static atomic_int next, serving, count;

static void *add(void *arg)
{
	int me = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
	while (atomic_load_explicit(&serving, memory_order_acquire) != me)
		;
	int seen = atomic_load_explicit(&count, memory_order_relaxed);
	atomic_store_explicit(&count, seen + 1, memory_order_relaxed);
	atomic_store_explicit(&serving, me + 1, UNLOCK);
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
