/*
 * pipeline: a stage overwrites what the next has not taken.
 *
 * stage_pass() sees an empty place and fills it in the next critical section.
 */
#include <pthread.h>
#include <stdio.h>

struct stage {
	pthread_mutex_t lock;
	int full;
	int item;
	int passed;
};

static struct stage stage = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int stage_full(struct stage *s)
{
	pthread_mutex_lock(&s->lock);
	int full = s->full;
	pthread_mutex_unlock(&s->lock);
	return full;
}

int stage_pass(struct stage *s, int item)
{
	if (stage_full(s))
		return 0;
	pthread_mutex_lock(&s->lock);
	s->item = item;
	s->full = 1;
	s->passed++;
	pthread_mutex_unlock(&s->lock);
	return 1;
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
