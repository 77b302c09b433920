/*
 * closing-time: two workers wait for the end of the day, and one of them is told.
 *
 * Both wait for `changed` until `closed` is set. main sets it and signals: that wakes one of the
 * two. The other waits for ever, where both were waiting already.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int closed, home;

static void *worker(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!closed)
		pthread_cond_wait(&changed, &lock);
	home++;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_mutex_lock(&lock);
	closed = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("home %d\n", home);
	return 0;
}
