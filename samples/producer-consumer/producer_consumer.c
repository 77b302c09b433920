/*
 * producer-consumer: the ring and its count disagree.
 *
 * The index moves in one critical section, the count in another.
 */
#include <pthread.h>
#include <stdio.h>

#define ROOM 8

struct ring {
	pthread_mutex_t lock;
	int items[ROOM];
	int tail;
	int count;
};

static struct ring ring = { .lock = PTHREAD_MUTEX_INITIALIZER };
static int wrong;

void ring_add(struct ring *r, int item)
{
	pthread_mutex_lock(&r->lock);
	r->items[r->tail++ % ROOM] = item;
	pthread_mutex_unlock(&r->lock);
	pthread_mutex_lock(&r->lock);
	r->count++;
	pthread_mutex_unlock(&r->lock);
}

int ring_right(struct ring *r)
{
	pthread_mutex_lock(&r->lock);
	int right = r->tail == r->count;
	pthread_mutex_unlock(&r->lock);
	return right;
}

static void *producer(void *unused)
{
	for (int i = 0; i < 3; i++)
		ring_add(&ring, i);
	return NULL;
}

static void *consumer(void *unused)
{
	for (int i = 0; i < 3; i++)
		wrong += !ring_right(&ring);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, producer, NULL);
	pthread_create(&threads[1], NULL, consumer, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d items\n", ring.count);
	return 0;
}
