/* figure1b, fixed: x is written under l by both. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, y, z;

static void *first(void *unused)
{
	pthread_mutex_lock(&l);
	x = 1;
	y = 1;
	pthread_mutex_unlock(&l);
	return NULL;
}

static void *second(void *unused)
{
	pthread_mutex_lock(&l);
	pthread_mutex_lock(&m);
	z = 1;
	pthread_mutex_unlock(&m);
	y = 2;
	pthread_mutex_unlock(&l);
	return NULL;
}

static void *third(void *unused)
{
	pthread_mutex_lock(&m);
	int seen = z;
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&l);
	x = seen;
	pthread_mutex_unlock(&l);
	return NULL;
}

int main(void)
{
	pthread_t t1, t2, t3;
	pthread_create(&t1, NULL, first, NULL);
	pthread_create(&t2, NULL, second, NULL);
	pthread_create(&t3, NULL, third, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	pthread_join(t3, NULL);
	printf("x %d, y %d, z %d\n", x, y, z);
	return 0;
}
