/*
 * lost-wakeup: the flag is looked at before the lock is taken.
 *
 * When the signal comes between the look and the wait, nobody is waiting yet, the signal
 * is lost, and the waiter sleeps for ever.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;
static int data;

static void *producer(void *unused)
{
	data = 42;
	ready = 1; /* not under the lock */
	pthread_mutex_lock(&lock);
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *consumer(void *unused)
{
	if (!ready) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
	}
	printf("data %d\n", data);
	return NULL;
}

int main(void)
{
	pthread_t t1, t2;
	pthread_create(&t1, NULL, consumer, NULL);
	pthread_create(&t2, NULL, producer, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
