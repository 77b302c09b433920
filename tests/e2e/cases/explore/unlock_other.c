/* T1 unlocks a mutex that it does not hold: where another thread holds it, that lets a third one in, and an update of x
 * is lost.  Which order that takes is not explored, so the exploration is not complete. */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *unlock(void *p)
{
	pthread_mutex_unlock(&m);
	return p;
}
static void *add(void *p)
{
	pthread_mutex_lock(&m);
	int v = x;
	x = v + 1;
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, unlock, 0);
	pthread_create(&u, 0, add, 0);
	add(0);
	pthread_join(t, 0);
	return pthread_join(u, 0);
}

//: explore
//= exit 1
//= errors lock-misuse@unlock_other.c:8
//= complete no
//~ said a thread unlocks what it does not hold
