/* Two locks in two orders, forced into a deadlock by a barrier. */
#include <pthread.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *other(void *unused)
{
	pthread_mutex_lock(&right);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&left);
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, other, NULL);
	pthread_mutex_lock(&left);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&right);
	return 0;
}
