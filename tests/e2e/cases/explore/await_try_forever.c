/* One tries, again and again, what the other holds until it has what the first one holds. */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *one(void *p)
{
	pthread_mutex_lock(&m);
	while (pthread_mutex_trylock(&n))
		;
	x++;
	pthread_mutex_unlock(&n);
	pthread_mutex_unlock(&m);
	return p;
}
static void *two(void *p)
{
	pthread_mutex_lock(&n);
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
	pthread_mutex_unlock(&n);
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return 0;
}

//: explore --seed {0,1}
//= exit 1
//= complete yes
//~ errors ^deadlock@
//~ out T1 waits for lock n, which it tries to take again and again, held by T2
