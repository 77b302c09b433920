/* A wait with a time limit, which is up or not. */
#include "two_threads.h"

static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, late;
static void one(void)
{
	struct timespec at;
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += 5;
	pthread_mutex_lock(&m);
	while (!ready && !late)
		late = pthread_cond_timedwait(&c, &m, &at) == ETIMEDOUT;
	pthread_mutex_unlock(&m);
}
static void two(void)
{
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}
static int result(void) { return late; }

//: explore
//= exit 1
//= errors exit-status=1
//= complete yes
