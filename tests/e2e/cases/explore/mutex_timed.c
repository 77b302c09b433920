/* A lock with a time limit: both outcomes. */
#include "two_threads.h"

static void one(void)
{
	struct timespec at = { 1, 0 };
	if (pthread_mutex_timedlock(&m, &at) == 0) {
		got = 1;
		pthread_mutex_unlock(&m);
	}
}
static void two(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
}
static int result(void) { return got != 1; }

//: explore
//= exit 1
//= errors exit-status=1
//= states 2
//= complete yes
