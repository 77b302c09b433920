/*
 * counter: an increment that is locked twice, and lost between.
 *
 * Every access is under the lock, so there is no data race at all; but another thread can
 * count between the two critical sections of `hit`, and its hit is overwritten.  A second
 * counter is not locked.
 */
#include <pthread.h>
#include <stdio.h>

struct counter {
	pthread_mutex_t lock;
	int hits;
	int fast; /* "nobody will notice" */
};

static struct counter counter = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int counter_get(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	int n = c->hits;
	pthread_mutex_unlock(&c->lock);
	return n;
}

static void counter_set(struct counter *c, int n)
{
	pthread_mutex_lock(&c->lock);
	c->hits = n;
	pthread_mutex_unlock(&c->lock);
}

void counter_hit(struct counter *c)
{
	counter_set(c, counter_get(c) + 1);
	c->fast++;
}

static void *visitor(void *unused)
{
	for (int i = 0; i < 3; i++)
		counter_hit(&counter);
	return NULL;
}

int main(void)
{
	pthread_t visitors[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&visitors[i], NULL, visitor, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(visitors[i], NULL);
	printf("%d hits, %d fast\n", counter.hits, counter.fast);
	return counter.hits == 6 ? 0 : 1;
}
