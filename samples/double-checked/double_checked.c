/*
 * double-checked: ready is seen before what it promises.
 *
 * The first look at `ready` is not locked, and `ready` is written before the value.
 */
#include <pthread.h>
#include <stdio.h>

struct config {
	pthread_mutex_t lock;
	int ready;
	int value;
};

static struct config config = { .lock = PTHREAD_MUTEX_INITIALIZER };
static int seen[2];

int config_get(struct config *c)
{
	if (!c->ready) {
		pthread_mutex_lock(&c->lock);
		if (!c->ready) {
			c->ready = 1;
			c->value = 42;
		}
		pthread_mutex_unlock(&c->lock);
	}
	return c->value;
}

static void *reader_a(void *unused)
{
	seen[0] = config_get(&config);
	return NULL;
}

static void *reader_b(void *unused)
{
	seen[1] = config_get(&config);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, reader_a, NULL);
	pthread_create(&threads[1], NULL, reader_b, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d\n", seen[0], seen[1]);
	return 0;
}
