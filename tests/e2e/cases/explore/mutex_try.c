/* A try of a lock: both outcomes. */
#include "two_threads.h"

static void one(void)
{
	if (pthread_mutex_trylock(&m) == 0) {
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

//: explore {,--seed 3}
//= exit 1
//= errors exit-status=1
//= states 2
//= complete yes
