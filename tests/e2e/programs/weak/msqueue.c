/* The queue of Michael and Scott: one thread puts a value in, another takes it out. -DWEAK:
 * a node is linked by a relaxed operation. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef WEAK
#define LINK memory_order_relaxed
#else
#define LINK memory_order_release
#endif

static struct node {
	_Atomic(struct node *) next;
	atomic_int value;
} nodes[2];
static _Atomic(struct node *) head = &nodes[0], tail = &nodes[0];
static int wrong;

static void put(struct node *n, int value)
{
	atomic_store_explicit(&n->value, value, memory_order_relaxed);
	for (;;) {
		struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
		struct node *next = atomic_load_explicit(&last->next, memory_order_acquire);
		if (next == NULL &&
		    atomic_compare_exchange_strong_explicit(&last->next, &next, n, LINK,
		                                            memory_order_relaxed)) {
			atomic_compare_exchange_strong_explicit(&tail, &last, n, LINK,
			                                        memory_order_relaxed);
			return;
		}
		atomic_compare_exchange_strong_explicit(&tail, &last, next, LINK,
		                                        memory_order_relaxed);
	}
}

/* 0: it is empty. */
static int take(void)
{
	for (;;) {
		struct node *first = atomic_load_explicit(&head, memory_order_acquire);
		struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
		struct node *next = atomic_load_explicit(&first->next, memory_order_acquire);
		if (next == NULL)
			return 0;
		if (first == last)
			atomic_compare_exchange_strong_explicit(
			        &tail, &last, next, memory_order_release, memory_order_relaxed);
		int value = atomic_load_explicit(&next->value, memory_order_relaxed);
		if (atomic_compare_exchange_strong_explicit(
		            &head, &first, next, memory_order_release, memory_order_relaxed))
			return value != 7 ? -1 : value;
	}
}

static void *putter(void *arg)
{
	put(&nodes[1], 7);
	return arg;
}

static void *taker(void *arg)
{
	wrong = take() < 0;
	return arg;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, putter, NULL);
	pthread_create(&b, NULL, taker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return wrong;
}
