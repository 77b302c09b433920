/* Two threads take two locks from both sides, without waiting for one while they hold the other: which of them comes
 * first is all that counts. With an argument also a third thread that tries one of them once: it may see it held for a
 * moment, so each round of the others counts. */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void take(pthread_mutex_t *first, pthread_mutex_t *second)
{
	for (;;) {
		pthread_mutex_lock(first);
		if (pthread_mutex_trylock(second) == 0)
			return;
		pthread_mutex_unlock(first);
	}
}
static void *one(void *p)
{
	take(&m, &n);
	x = 1;
	pthread_mutex_unlock(&n);
	pthread_mutex_unlock(&m);
	return p;
}
static void *two(void *p)
{
	take(&n, &m);
	x = 2;
	pthread_mutex_unlock(&m);
	pthread_mutex_unlock(&n);
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t, u;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	int seen = argc > 1 && pthread_mutex_trylock(&n) != 0;
	if (argc > 1 && !seen)
		pthread_mutex_unlock(&n);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return seen ? 7 : x == 0;
}

//: explore --final x --seed {0,1}
//= exit 0
//= states 2
//= complete yes
//= errors
//: explore --runs 300 --format json @ third
//= exit 1
//= complete no
//= errors exit-status=7
