/*
 * last-seat: one seat, two agents, and no data race.
 *
 * Each agent asks under the lock whether the seat is free, and sells it under the lock.  Both
 * may ask before either sells.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seats = 1;

static int is_free(void)
{
	pthread_mutex_lock(&lock);
	int yes = seats > 0;
	pthread_mutex_unlock(&lock);
	return yes;
}

static void sell(void)
{
	pthread_mutex_lock(&lock);
	seats--;
	pthread_mutex_unlock(&lock);
}

static void *agent(void *unused)
{
	if (is_free())
		sell();
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, agent, NULL);
	pthread_create(&b, NULL, agent, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("seats %d\n", seats);
	return seats < 0;
}
