/* The end of a thread releases the robust mutexes that it holds, also one that it has locked twice and one that
 * inherits priorities: what the next owner accesses is ordered after it. An unlock that is refused (EPERM) releases
 * nothing, and a wait with a mutex that is not held does not wait. */
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t m[3];
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int x[3], sum;
static void *die(void *p)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&m[i]);
		x[i] = 1;
	}
	pthread_mutex_lock(&m[1]);
	return p;
}
static void *unlock(void *p)
{
	for (int i = 0; i < 3; i++)
		if (pthread_mutex_unlock(&m[i]) != EPERM || pthread_cond_wait(&c, &m[i]) != EPERM)
			*(volatile char *)0 = 0;
	return p;
}
static void *next(void *p)
{
	for (int i = 0; i < 3; i++) {
		if (pthread_mutex_lock(&m[i]) == EOWNERDEAD)
			pthread_mutex_consistent(&m[i]);
		sum += x[i];
		pthread_mutex_unlock(&m[i]);
	}
	return p;
}
int main(void)
{
	pthread_t t, u, v;
	for (int i = 0; i < 3; i++) {
		pthread_mutexattr_t a;
		pthread_mutexattr_init(&a);
		pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
		pthread_mutexattr_settype(&a, i == 1 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
		pthread_mutexattr_setprotocol(&a, i == 2 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
		pthread_mutex_init(&m[i], &a);
	}
	pthread_create(&t, 0, die, 0);
	pthread_create(&u, 0, unlock, 0);
	pthread_create(&v, 0, next, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	pthread_join(v, 0);
	return 0;
}

//: record -o t0.hdl @
//= exit 0
//- err release|another thread held
//: record --mode free -o t1.hdl @
//= exit 0
//- err release|another thread held
//: races {t0,t1}.hdl --analysis hb
//= racy 
//- said locks changed holders
//: replay --trace t0.hdl @
//= exit 0
