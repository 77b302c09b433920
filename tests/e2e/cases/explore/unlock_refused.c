/* T1 unlocks an error-checking mutex that it does not hold, and waits for a condition with it: both are refused
 * (EPERM), so nothing comes of them, and the exploration is complete. */
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t m;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int x;
static void *unlock(void *p)
{
	if (pthread_mutex_unlock(&m) != EPERM)
		x = -1;
	if (pthread_cond_wait(&c, &m) != EPERM)
		x = -2;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&m, &a);
	pthread_create(&t, 0, unlock, 0);
	pthread_mutex_lock(&m);
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	return x;
}

//: explore
//= exit 1
//= statuses 0
//~ errors ^lock-misuse@unlock_refused.c:10 .*lock-misuse@unlock_refused.c:12
//= complete yes
