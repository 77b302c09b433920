/* one sets a flag under a lock and fails; two fails when it sees the flag */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int flag;
static void *one(void *p)
{
	pthread_mutex_lock(&m); flag = 1; pthread_mutex_unlock(&m);
	assert(!"one");
	return p;
}
static void *two(void *p)
{
	pthread_mutex_lock(&m); int f = flag; pthread_mutex_unlock(&m);
	assert(!f);
	return p;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(t, 0, one, 0);
	pthread_create(t + 1, 0, two, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}

//: explore {,--seed 1,--seed 5}
//= errors signal@flag_then_fail.c:15 signal@flag_then_fail.c:9
//= complete yes
