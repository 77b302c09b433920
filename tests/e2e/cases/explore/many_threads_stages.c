/* Forty threads do two stages, each under a lock of its own, and forty check between them: the check that comes between
 * two stages of one thread fails. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static int started, finished;
static void *does(void *p)
{
	pthread_mutex_lock(&one);
	started = 1;
	pthread_mutex_unlock(&one);
	pthread_mutex_lock(&two);
	finished = started + 1;
	pthread_mutex_unlock(&two);
	return p;
}
static void *checks(void *p)
{
	pthread_mutex_lock(&one);
	int seen = started;
	pthread_mutex_unlock(&one);
	if (seen == 0)
		return p;
	pthread_mutex_lock(&two);
	int end = finished;
	pthread_mutex_unlock(&two);
	assert(end == seen + 1);
	return p;
}
int main(void)
{
	enum { EACH = 40 };
	pthread_t t[2 * EACH];
	for (int i = 0; i < 2 * EACH; i++)
		pthread_create(&t[i], 0, i < EACH ? does : checks, 0);
	for (int i = 0; i < 2 * EACH; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: explore --until-error --budget 240
//= errors signal@many_threads_stages.c:27
//~ executions ^[1-4]?[0-9]$
