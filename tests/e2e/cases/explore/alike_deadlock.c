/* The thread that comes first takes the locks in another order. How many were joined by then makes no class. */
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static atomic_int n;
static void *both(void *u)
{
	int first = atomic_fetch_add(&n, 1) == 0;
	pthread_mutex_lock(&m[first]);
	pthread_mutex_lock(&m[!first]);
	pthread_mutex_unlock(&m[!first]);
	pthread_mutex_unlock(&m[first]);
	return u;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, both, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: explore
//= complete yes
//= states 30
//= outcomes 0 deadlock
//: explore --symmetry
//= complete yes
//= states 5
//= $d->{"stand-for"} 30
//= outcomes 0 deadlock
//- said told apart
