/* A barrier that one schedule alone initialises a second time. */
#include <pthread.h>

static pthread_barrier_t b;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ready;

static void *reset(void *unused)
{
	pthread_mutex_lock(&m);
	int seen = ready;
	pthread_mutex_unlock(&m);
	if (seen)
		pthread_barrier_init(&b, NULL, 17);
	return unused;
}

int main(void)
{
	pthread_t t;
	pthread_barrier_init(&b, NULL, 2);
	pthread_create(&t, NULL, reset, NULL);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	return 0;
}

//: explore
//= exit 1
//= errors lock-misuse@init_twice.c:14
//= complete yes
//= executions 2
