/*
 * half-published: one half of a handshake.
 *
 * The writer fills in a price and publishes it with a store that releases. The reader looks at the
 * flag with a relaxed load: it sees the flag, and nothing makes it see the price.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int price;
static atomic_int published;
static int paid = -1;

static void *writer(void *unused)
{
	price = 30;
	atomic_store_explicit(&published, 1, memory_order_release);
	return NULL;
}

static void *reader(void *unused)
{
	if (atomic_load_explicit(&published, memory_order_relaxed))
		paid = price;
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("paid %d\n", paid);
	return 0;
}
