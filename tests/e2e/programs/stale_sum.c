/* stale_sum.c - every access is locked, and an update is lost all the same in some schedules. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *add(void *unused)
{
	pthread_mutex_lock(&m);
	int seen = sum;
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
	sum = seen + 1;
	pthread_mutex_unlock(&m);
	return NULL;
}

int main(void)
{
	pthread_t t, u;

	pthread_create(&t, NULL, add, NULL);
	pthread_create(&u, NULL, add, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
