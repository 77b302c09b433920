/* The data structures' workloads: every thread asks once or twice (seekers), or the threads
 * change the structure and the last one asks (MIXED). */
#include "structures.h"
static struct set set = { PTHREAD_MUTEX_INITIALIZER, NULL };
static struct table table = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct classes classes = { .lock = PTHREAD_MUTEX_INITIALIZER };
#if defined SET
static void ask(int i)
{
	set_contains(&set, i % 2);
}
static void change(int i)
{
	set_add(&set, i);
}
#elif defined TABLE
static void ask(int i)
{
	table_get(&table, i % 2);
}
static void change(int i)
{
	table_put(&table, i % 3, i + 1);
}
#else
static void ask(int i)
{
	classes_find(&classes, N + i);
}
static void change(int i)
{
	classes_unite(&classes, i, (i + 1) % N);
}
#endif
static void *work(void *which)
{
	int i = (int)(long)which;
#ifdef MIXED
	if (i < N - 1)
		change(i);
	else
#endif
		ask(i);
	return NULL;
}
int main(void)
{
	pthread_t threads[N];
	set_add(&set, 0);
	table_put(&table, 0, 1);
	for (int i = 0; i < 2 * N + 2; i++)
		classes.parent[i] = i > N ? i - 1 : i; /* a chain, to be compressed */
	for (long i = 0; i < N; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
