/* pipeline, fixed: seen empty and filled in one critical section. */
#include <pthread.h>
#include <stdio.h>

struct stage {
	pthread_mutex_t lock;
	int full;
	int item;
	int passed;
};

static struct stage stage = { .lock = PTHREAD_MUTEX_INITIALIZER };

int stage_pass(struct stage *s, int item)
{
	pthread_mutex_lock(&s->lock);
	int empty = !s->full;
	if (empty) {
		s->item = item;
		s->full = 1;
		s->passed++;
	}
	pthread_mutex_unlock(&s->lock);
	return empty;
}

static void *feeder(void *unused)
{
	for (int i = 0; i < 2; i++)
		stage_pass(&stage, i);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, feeder, NULL);
	pthread_create(&threads[1], NULL, feeder, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d passed\n", stage.passed);
	return 0;
}
