/* qw2004 (variant): LB threads use a device, main stops it.  Who begins counts itself in, but
 * only while the device is not being stopped; who counts the last one out lets the stop come
 * to its end, after which nobody may be inside. */
#include "counter.h"
#include <assert.h>
#ifndef LB
#define LB 10
#endif
static struct counter pending = { PTHREAD_MUTEX_INITIALIZER, 1 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int stopping, stopped;
static int get(int *flag)
{
	pthread_mutex_lock(&m);
	int value = *flag;
	pthread_mutex_unlock(&m);
	return value;
}
static void set(int *flag)
{
	pthread_mutex_lock(&m);
	*flag = 1;
	pthread_mutex_unlock(&m);
}
static void *use(void *unused)
{
	if (get(&stopping))
		return unused;
	counter_inc(&pending);
	if (!get(&stopping))
		assert(!get(&stopped));
	counter_dec(&pending);
	return unused;
}
int main(void)
{
	pthread_t users[LB];
	for (int i = 0; i < LB; i++)
		pthread_create(&users[i], NULL, use, NULL);
	set(&stopping);
	counter_dec(&pending);
	for (int i = 0; i < LB; i++)
		pthread_join(users[i], NULL);
	assert(counter_read(&pending) == 0);
	set(&stopped);
	return 0;
}
