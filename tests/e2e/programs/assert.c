/* A reader that takes the flag for the data: fails when it comes between the two writes. */
#include <assert.h>
#include <pthread.h>
#include <time.h>
static int data, ready;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long now;
static void *writer(void *unused)
{
	pthread_mutex_lock(&m);
	now = time(NULL);
	pthread_mutex_unlock(&m);
	ready = 1;
	data = 42;
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, writer, NULL);
	int seen = ready;
	int value = data;
	assert(!seen || value == 42);
	pthread_join(thread, NULL);
	return 0;
}
