/* ping-pong, fixed: seen and hit in one critical section. */
#include <pthread.h>
#include <stdio.h>

struct court {
	pthread_mutex_t lock;
	int ball;
	int hits;
	int misses;
};

static struct court court = { .lock = PTHREAD_MUTEX_INITIALIZER, .ball = 1 };

void court_hit(struct court *c)
{
	pthread_mutex_lock(&c->lock);
	if (c->ball)
		c->hits++;
	else
		c->misses++;
	c->ball = !c->ball;
	pthread_mutex_unlock(&c->lock);
}

static void *player(void *unused)
{
	for (int i = 0; i < 3; i++)
		court_hit(&court);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, player, NULL);
	pthread_create(&threads[1], NULL, player, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d hits, %d misses\n", court.hits, court.misses);
	return 0;
}
