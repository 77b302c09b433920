/*
 * merge-sort: more helpers than there are.
 *
 * A sorter asks whether a helper is left, and takes one in the next critical section.
 */
#include <pthread.h>
#include <stdio.h>

struct helpers {
	pthread_mutex_t lock;
	int left;
	int taken;
};

static struct helpers helpers = { .lock = PTHREAD_MUTEX_INITIALIZER, .left = 3 };

static int helpers_left(struct helpers *h)
{
	pthread_mutex_lock(&h->lock);
	int left = h->left;
	pthread_mutex_unlock(&h->lock);
	return left;
}

int helpers_take(struct helpers *h)
{
	if (helpers_left(h) == 0)
		return 0;
	pthread_mutex_lock(&h->lock);
	h->left--;
	h->taken++;
	pthread_mutex_unlock(&h->lock);
	return 1;
}

static void *sorter(void *unused)
{
	for (int i = 0; i < 3; i++)
		helpers_take(&helpers);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, sorter, NULL);
	pthread_create(&threads[1], NULL, sorter, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d taken, %d left\n", helpers.taken, helpers.left);
	return 0;
}
