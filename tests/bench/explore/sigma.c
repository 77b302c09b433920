/* sigma: every thread adds its mark at the place that a shared index names; main moves the
 * index on between two threads, so that they may all see the last place.  LB threads. */
#include <assert.h>
#include <pthread.h>
#ifndef LB
#define LB 16
#endif
static volatile int place;
static volatile int marks[LB + 1];
static void *mark(void *unused)
{
	marks[place] = 1;
	return unused;
}
int main(void)
{
	pthread_t threads[LB];
	int sum = 0;
	for (int i = 0; i < LB; i++) {
		place++;
		pthread_create(&threads[i], NULL, mark, NULL);
	}
	for (int i = 0; i < LB; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i <= LB; i++)
		sum += marks[i];
	assert(sum == LB);
	return 0;
}
