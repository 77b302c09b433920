/* lost-wakeup, fixed: the flag is set and tested under the lock, and tested again. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;
static int data;

static void *producer(void *unused)
{
	pthread_mutex_lock(&lock);
	data = 42;
	ready = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *consumer(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!ready)
		pthread_cond_wait(&changed, &lock);
	printf("data %d\n", data);
	pthread_mutex_unlock(&lock);
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
