/*
 * publish: a message that is announced too softly.
 *
 * The writer fills in the message and then sets an atomic flag; the reader looks at the flag
 * and then at the message.  A relaxed flag is never torn, but it promises nothing about the
 * message: the reader may see the flag without it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int message;
static atomic_int ready;
static int seen = -1;

static void *writer(void *unused)
{
	message = 42;
	atomic_store_explicit(&ready, 1, memory_order_relaxed);
	return NULL;
}

static void *reader(void *unused)
{
	if (atomic_load_explicit(&ready, memory_order_relaxed))
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
