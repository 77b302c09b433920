/* counter, fixed: one critical section holds the whole increment. */
#include <pthread.h>
#include <stdio.h>

struct counter {
	pthread_mutex_t lock;
	int hits;
	int fast;
};

static struct counter counter = { .lock = PTHREAD_MUTEX_INITIALIZER };

void counter_hit(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	c->hits++;
	c->fast++;
	pthread_mutex_unlock(&c->lock);
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
