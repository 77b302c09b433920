/* N threads each set a, then b, with no lock; one checks that both are set or neither is.  The
 * checker sees only one of them in few schedules, and planning has many threads to place. */
#include <assert.h>
#include <pthread.h>
#ifndef N
#define N 20
#endif
static volatile int a, b;
static void *set(void *p)
{
	a = 1;
	b = -1;
	return p;
}
static void *check(void *p)
{
	int x = a, y = b;
	assert((x == 0 && y == 0) || (x == 1 && y == -1));
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
