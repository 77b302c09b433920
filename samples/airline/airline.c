/*
 * airline: the last seat is sold twice.
 *
 * Whether a seat is free is asked in one critical section, and the seat is sold in another.
 */
#include <pthread.h>
#include <stdio.h>

struct flight {
	pthread_mutex_t lock;
	int free;
	int sold;
};

static struct flight flight = { .lock = PTHREAD_MUTEX_INITIALIZER, .free = 4 };

static int flight_free(struct flight *f)
{
	pthread_mutex_lock(&f->lock);
	int free = f->free;
	pthread_mutex_unlock(&f->lock);
	return free;
}

static void flight_sell(struct flight *f)
{
	pthread_mutex_lock(&f->lock);
	f->free--;
	f->sold++;
	pthread_mutex_unlock(&f->lock);
}

void flight_book(struct flight *f)
{
	if (flight_free(f) > 0)
		flight_sell(f);
}

static void *agent(void *unused)
{
	for (int i = 0; i < 3; i++)
		flight_book(&flight);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, agent, NULL);
	pthread_create(&threads[1], NULL, agent, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d sold, %d free\n", flight.sold, flight.free);
	return 0;
}
