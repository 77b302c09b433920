/* pthread-demo-datarace: two threads increment one counter under a lock, LB times each. */
#include "counter.h"
#include <assert.h>
#ifndef LB
#define LB 20
#endif
static struct counter total = { PTHREAD_MUTEX_INITIALIZER, 0 };
static void *work(void *unused)
{
	for (int i = 0; i < LB; i++)
		counter_inc(&total);
	return unused;
}
int main(void)
{
	pthread_t other;
	pthread_create(&other, NULL, work, NULL);
	work(NULL);
	pthread_join(other, NULL);
	assert(counter_read(&total) == 2 * LB);
	return 0;
}
