/* No thread waits: that all look for ever at once is out of the question by the runs of the classes themselves, so no
 * other run is made. (Three threads that store and load, as GenMC's JLT.) */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static void *one(void *p)
{
	atomic_store(&x, 1);
	(void)atomic_load(&y);
	(void)atomic_load(&x);
	return p;
}
static void *two(void *p)
{
	atomic_store(&x, 2);
	(void)atomic_load(&x);
	return p;
}
static void *three(void *p)
{
	atomic_store(&y, 3);
	return p;
}
int main(void)
{
	pthread_t t[3];
	void *(*const run[3])(void *) = { one, two, three };
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, run[i], 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: explore
//= exit 0
//= states 6
//= executions 6
//= complete yes
