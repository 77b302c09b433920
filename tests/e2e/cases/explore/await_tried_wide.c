/* A try tells that n is held, by a round that leads nowhere, has released k before, and fails for a moment's hold of m
 * that has to be over by then: rounds that release several locks after their last look count where one is tried. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER, m = PTHREAD_MUTEX_INITIALIZER;
static int flag, ready;
static void *b(void *p) /* releases k before n */
{
	for (;;) {
		pthread_mutex_lock(&k);
		int end = flag;
		if (end) {
			pthread_mutex_unlock(&k);
			return p;
		}
		pthread_mutex_lock(&n);
		if (pthread_mutex_trylock(&m) == 0) {
			pthread_mutex_unlock(&m);
			pthread_mutex_unlock(&n);
			pthread_mutex_unlock(&k);
			return p;
		}
		pthread_mutex_unlock(&k);
		pthread_mutex_unlock(&n);
	}
}
static void *d(void *p)
{
	for (;;) {
		pthread_mutex_lock(&m);
		int r = ready;
		pthread_mutex_unlock(&m);
		if (r)
			return p;
	}
}
static void *c(void *p)
{
	pthread_mutex_lock(&k);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_mutex_unlock(&m);
	flag = 1;
	pthread_mutex_unlock(&k);
	return p;
}
int main(void)
{
	pthread_t t, u, v;
	pthread_create(&t, 0, b, 0);
	pthread_create(&u, 0, c, 0);
	pthread_create(&v, 0, d, 0);
	pthread_mutex_lock(&k);
	int f = flag;
	pthread_mutex_unlock(&k);
	if (f) {
		int failed = pthread_mutex_trylock(&n);
		if (!failed)
			pthread_mutex_unlock(&n);
		assert(!failed);
	}
	pthread_join(t, 0);
	pthread_join(u, 0);
	pthread_join(v, 0);
	return 0;
}

//: explore --until-error --steps 400 --seed {0,1}
//= exit 1
//= complete no
//= errors signal@await_tried_wide.c:60
