/* Time is virtual: what a program does when its steps take long is not explored, and is said. */
#include <pthread.h>
#include <time.h>
static int x;
static void *work(void *p) { __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST); return p; }
int main(void)
{
	struct timespec from, to;
	pthread_t t;
	clock_gettime(CLOCK_MONOTONIC, &from);
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return to.tv_sec - from.tv_sec > 1000;
}
//: explore
//= complete yes
//= outcomes 0
//~ said reads a clock, which shows virtual time.*is not explored
