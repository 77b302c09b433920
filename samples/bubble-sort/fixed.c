/* bubble-sort, fixed: compared and swapped in one critical section. */
#include <pthread.h>
#include <stdio.h>

#define LENGTH 4

struct array {
	pthread_mutex_t lock;
	int at[LENGTH];
};

static struct array array = { .lock = PTHREAD_MUTEX_INITIALIZER, .at = { 4, 3, 2, 1 } };

void array_settle(struct array *a, int i)
{
	pthread_mutex_lock(&a->lock);
	int left = a->at[i], right = a->at[i + 1];
	if (left > right) {
		a->at[i] = right;
		a->at[i + 1] = left;
	}
	pthread_mutex_unlock(&a->lock);
}

static void *sorter(void *unused)
{
	for (int i = 0; i < 3; i++)
		array_settle(&array, i);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, sorter, NULL);
	pthread_create(&threads[1], NULL, sorter, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d %d %d\n", array.at[0], array.at[1], array.at[2], array.at[3]);
	return 0;
}
