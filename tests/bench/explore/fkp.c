/* fkp2013: LB threads increment a counter, one more asserts that it is not too large. */
#include "counter.h"
#include <assert.h>
#ifndef LB
#define LB 50
#endif
static struct counter x = { PTHREAD_MUTEX_INITIALIZER, 0 };
static void *check(void *unused)
{
	assert(counter_read(&x) <= LB);
	return unused;
}
static void *work(void *unused)
{
	counter_inc(&x);
	return unused;
}
int main(void)
{
	pthread_t reader, others[LB];
	pthread_create(&reader, NULL, check, NULL);
	for (int i = 0; i < LB; i++)
		pthread_create(&others[i], NULL, work, NULL);
	for (int i = 0; i < LB; i++)
		pthread_join(others[i], NULL);
	return pthread_join(reader, NULL);
}
