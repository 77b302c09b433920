/* bounded-buffer, fixed: one critical section, and a wait in a loop until there is room. */
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

int buffer_put(struct buffer *b, int item)
{
	pthread_mutex_lock(&b->lock);
	while (b->count == ROOM)
		pthread_cond_wait(&b->changed, &b->lock);
	b->items[b->count++] = item;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	return 1;
}

int buffer_get(struct buffer *b)
{
	pthread_mutex_lock(&b->lock);
	while (b->count == 0)
		pthread_cond_wait(&b->changed, &b->lock);
	int item = b->items[--b->count];
	pthread_cond_broadcast(&b->changed);
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
