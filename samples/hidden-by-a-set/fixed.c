/* hidden-by-a-set, fixed: the cleaner waits for what the reader adds. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct set {
	int count, members[16];
};

static __attribute__((noinline, noclone)) bool set_contains(struct set *s, int v)
{
	for (int i = 0; i < s->count; i++)
		if (s->members[i] == v)
			return true;
	return false;
}

static __attribute__((noinline, noclone)) bool set_add(struct set *s, int v)
{
	if (set_contains(s, v))
		return false;
	s->members[s->count++] = v;
	return true;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct set done;
static int *record;

static void *reader(void *unused)
{
	int *seen = malloc(sizeof *seen);
	*seen = *record;
	pthread_mutex_lock(&lock);
	set_add(&done, 1);
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return seen;
}

static void *cleaner(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!set_contains(&done, 1))
		pthread_cond_wait(&changed, &lock);
	free(record);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t t1, t2;
	void *seen;

	set_add(&done, 42);
	record = malloc(sizeof *record);
	*record = 7;
	pthread_create(&t1, NULL, reader, NULL);
	pthread_create(&t2, NULL, cleaner, NULL);
	pthread_join(t1, &seen);
	pthread_join(t2, NULL);
	printf("%d\n", *(int *)seen == 7 ? 7 : 0);
	return 0;
}
