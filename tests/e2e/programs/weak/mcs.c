/* An MCS lock: each thread waits at its own node. -DWEAK: the lock is handed on by a relaxed
 * store. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef WEAK
#define HAND_ON memory_order_relaxed
#else
#define HAND_ON memory_order_release
#endif
#ifndef THREADS
#define THREADS 2
#endif

static struct node {
	_Atomic(struct node *) next;
	atomic_int waits;
} nodes[THREADS];
static _Atomic(struct node *) tail;
static atomic_int count;

static void lock(struct node *me)
{
	atomic_store_explicit(&me->waits, 1, memory_order_relaxed);
	struct node *before = atomic_exchange_explicit(&tail, me, memory_order_acq_rel);
	if (before == NULL)
		return;
	atomic_store_explicit(&before->next, me, memory_order_release);
	while (atomic_load_explicit(&me->waits, memory_order_acquire))
		;
}

static void unlock(struct node *me)
{
	struct node *next = atomic_load_explicit(&me->next, memory_order_acquire);
	struct node *last = me;
	if (next == NULL &&
	    atomic_compare_exchange_strong_explicit(&tail, &last, NULL, memory_order_release,
	                                            memory_order_relaxed))
		return;
	while (next == NULL)
		next = atomic_load_explicit(&me->next, memory_order_acquire);
	atomic_store_explicit(&next->waits, 0, HAND_ON);
}

static void *add(void *arg)
{
	lock(arg);
	int seen = atomic_load_explicit(&count, memory_order_relaxed);
	atomic_store_explicit(&count, seen + 1, memory_order_relaxed);
	unlock(arg);
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, add, &nodes[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return atomic_load(&count) != THREADS;
}
