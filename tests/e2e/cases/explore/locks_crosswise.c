/* A deadlock and the rest, from each first run. */
#include "two_threads.h"

static pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *a, pthread_mutex_t *b)
{
	pthread_mutex_lock(a);
	pthread_mutex_lock(b);
	pthread_mutex_unlock(b);
	pthread_mutex_unlock(a);
}
static void one(void) { both(&m, &k); }
static void two(void) { both(&k, &m); }
static int result(void) { return 0; }

//: explore --seed {0,1,2,3,4,5}
//= exit 1
//~ errors ^deadlock@[^ ]*$
//= states 2
//= complete yes
