/* Treiber's stack; nodes are not used again.  -DWEAK: push is relaxed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef WEAK
#define PUSH memory_order_relaxed
#else
#define PUSH memory_order_release
#endif

struct node {
	atomic_int value;
	_Atomic(struct node *) next;
};
static struct node nodes[4];
static _Atomic(struct node *) top;
static int wrong;

static void push(struct node *n, int value)
{
	atomic_store_explicit(&n->value, value, memory_order_relaxed);
	struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
	do
		atomic_store_explicit(&n->next, old, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&top, &old, n, PUSH,
	                                              memory_order_relaxed));
}

static void pop(void)
{
	struct node *n = atomic_load_explicit(&top, memory_order_acquire);
	while (n) {
		struct node *next = atomic_load_explicit(&n->next, memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(&top, &n, next, memory_order_acq_rel,
		                                          memory_order_acquire)) {
			if (atomic_load_explicit(&n->value, memory_order_relaxed) == 0)
				wrong = 1;
			return;
		}
	}
}

static void *pusher(void *arg)
{
	struct node *mine = arg;
	push(&mine[0], 1);
	push(&mine[1], 2);
	return NULL;
}

static void *popper(void *arg)
{
	pop();
	pop();
	return arg;
}

int main(void)
{
	pthread_t a, b, c;
	pthread_create(&a, NULL, pusher, &nodes[0]);
	pthread_create(&b, NULL, pusher, &nodes[2]);
	pthread_create(&c, NULL, popper, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pthread_join(c, NULL);
	return wrong;
}
