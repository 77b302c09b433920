/*
 * hidden-by-a-set: two critical sections that look as if their order mattered.  (Figure 3.1
 * of Sun's thesis.)
 *
 * The reader uses the record and then adds 1 to the set.  The cleaner frees the record when
 * 42 is in the set, which it is from the beginning.  Both sections touch the set's memory,
 * so every analysis of reads and writes takes them for ordered; that 1 was added makes no
 * difference to 42.
 */
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
static struct set done;
static int *record;

static void *reader(void *unused)
{
	int *seen = malloc(sizeof *seen);
	*seen = *record;
	pthread_mutex_lock(&lock);
	set_add(&done, 1);
	pthread_mutex_unlock(&lock);
	return seen;
}

static void *cleaner(void *unused)
{
	pthread_mutex_lock(&lock);
	if (set_contains(&done, 42))
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
