/* publish, fixed: the store releases the message, the load acquires it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int message;
static atomic_int ready;
static int seen = -1;

static void *writer(void *unused)
{
	message = 42;
	atomic_store_explicit(&ready, 1, memory_order_release);
	return NULL;
}

static void *reader(void *unused)
{
	if (atomic_load_explicit(&ready, memory_order_acquire))
		seen = message;
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("seen %d\n", seen);
	return 0;
}
