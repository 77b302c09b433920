/* Publication: a node is filled and published by a pointer.  -DWEAK: by a relaxed store. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef WEAK
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_release
#endif

static struct node {
	atomic_int value;
} node;
static _Atomic(struct node *) published;
static int wrong;

static void *writer(void *arg)
{
	atomic_store_explicit(&node.value, 42, memory_order_relaxed);
	atomic_store_explicit(&published, &node, PUBLISH);
	return arg;
}

static void *reader(void *arg)
{
	struct node *n = atomic_load_explicit(&published, memory_order_acquire);
	wrong = n && atomic_load_explicit(&n->value, memory_order_relaxed) != 42;
	return arg;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return wrong;
}
