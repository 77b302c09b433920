/* merge-sort, fixed: asked and taken in one critical section. */
#include <pthread.h>
#include <stdio.h>

struct helpers {
	pthread_mutex_t lock;
	int left;
	int taken;
};

static struct helpers helpers = { .lock = PTHREAD_MUTEX_INITIALIZER, .left = 3 };

int helpers_take(struct helpers *h)
{
	pthread_mutex_lock(&h->lock);
	int any = h->left > 0;
	if (any) {
		h->left--;
		h->taken++;
	}
	pthread_mutex_unlock(&h->lock);
	return any;
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
