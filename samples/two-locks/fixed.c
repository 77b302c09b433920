/* two-locks, fixed: both clerks take the same lock. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;
static int served;

static void *left_clerk(void *unused)
{
	pthread_mutex_lock(&counter);
	served++;
	pthread_mutex_unlock(&counter);
	return NULL;
}

static void *right_clerk(void *unused)
{
	pthread_mutex_lock(&counter);
	served++;
	pthread_mutex_unlock(&counter);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, left_clerk, NULL);
	pthread_create(&b, NULL, right_clerk, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("served %d\n", served);
	return 0;
}
