/*
 * two-locks: every access is locked, and every clerk has a lock of his own.
 *
 * A lock keeps out who takes the same one.  These two never wait for each other.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static int served;

static void *left_clerk(void *unused)
{
	pthread_mutex_lock(&left);
	served++;
	pthread_mutex_unlock(&left);
	return NULL;
}

static void *right_clerk(void *unused)
{
	pthread_mutex_lock(&right);
	served++;
	pthread_mutex_unlock(&right);
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
