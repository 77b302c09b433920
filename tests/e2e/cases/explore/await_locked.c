/* Three threads look under a lock until it is so, however often; then each adds 1: six orders. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ready, n;
static void *run(void *p)
{
	for (;;) {
		pthread_mutex_lock(&m);
		if (ready)
			break;
		pthread_mutex_unlock(&m);
	}
	n++;
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, run, 0);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	assert(n == 3);
	return 0;
}

//: explore
//= exit 0
//= states 6
//= complete yes
//= errors
//: explore --seed 2
//= states 6
//= complete yes
