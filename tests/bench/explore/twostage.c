/* N threads set two values under two locks, one after the other; one thread looks between. */
#include <assert.h>
#include <pthread.h>
#ifndef N
#define N 20
#endif
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int one, two;
static void *set(void *p)
{
	pthread_mutex_lock(&first);
	one = 1;
	pthread_mutex_unlock(&first);
	pthread_mutex_lock(&second);
	two = one + 1;
	pthread_mutex_unlock(&second);
	return p;
}
static void *check(void *p)
{
	pthread_mutex_lock(&first);
	int x = one;
	pthread_mutex_unlock(&first);
	if (x == 0)
		return p;
	pthread_mutex_lock(&second);
	int y = two;
	pthread_mutex_unlock(&second);
	assert(y == x + 1);
	return p;
}
int main(void)
{
	pthread_t t[N + 1];
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], 0, set, 0);
	pthread_create(&t[N], 0, check, 0);
	for (int i = 0; i <= N; i++)
		pthread_join(t[i], 0);
	return 0;
}
