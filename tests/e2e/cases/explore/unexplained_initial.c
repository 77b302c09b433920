/* Static data that only code which is not recorded writes: its first value differs from run to run. */
#include <pthread.h>
static int x, order;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *p)
{
	__asm__ volatile("movl $5, %0" : "=m"(x));
	pthread_mutex_lock(&m);
	order = 1;
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	pthread_mutex_lock(&m);
	int seen = order;
	pthread_mutex_unlock(&m);
	int got = x;
	pthread_join(t, 0);
	return seen + got;
}
//: explore
//= complete no
//~ said x, read at unexplained_initial.c:20, has another value than in other runs, and no recorded write: code that is not
