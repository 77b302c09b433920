/* figure1a, fixed: the read is inside the critical section. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *first(void *unused)
{
	pthread_mutex_lock(&l);
	x = 1;
	pthread_mutex_unlock(&l);
	return NULL;
}

static void *second(void *unused)
{
	int seen;
	pthread_mutex_lock(&l);
	x = 2;
	seen = x;
	pthread_mutex_unlock(&l);
	printf("x is %d\n", seen);
	return NULL;
}

int main(void)
{
	pthread_t t1, t2;
	pthread_create(&t1, NULL, first, NULL);
	pthread_create(&t2, NULL, second, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
