/*
 * bounded-buffer: there was room when it looked.
 *
 * put() looks for room in one critical section and stores in the next one.
 */
#include <pthread.h>
#include <stdio.h>

#define ROOM 2

struct buffer {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int items[ROOM];
	int count;
};

static struct buffer buffer = { .lock = PTHREAD_MUTEX_INITIALIZER,
				.changed = PTHREAD_COND_INITIALIZER };

static int buffer_count(struct buffer *b)
{
	pthread_mutex_lock(&b->lock);
	int count = b->count;
	pthread_mutex_unlock(&b->lock);
	return count;
}

int buffer_put(struct buffer *b, int item)
{
	int count = buffer_count(b);
	if (count == ROOM)
		return 0;
	pthread_mutex_lock(&b->lock);
	b->items[count] = item;
	b->count = count + 1;
	pthread_mutex_unlock(&b->lock);
	return 1;
}

int buffer_get(struct buffer *b)
{
	int item = -1;
	pthread_mutex_lock(&b->lock);
	if (b->count > 0)
		item = b->items[--b->count];
	pthread_mutex_unlock(&b->lock);
	return item;
}

static void *producer(void *unused)
{
	for (int i = 0; i < 3; i++)
		buffer_put(&buffer, i);
	return NULL;
}

static void *consumer(void *unused)
{
	for (int i = 0; i < 3; i++)
		buffer_get(&buffer);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, producer, NULL);
	pthread_create(&threads[1], NULL, consumer, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d left\n", buffer.count);
	return 0;
}
