/* A try fails that only a round in vain of another thread lets fail, and its own loop ends by a later look, for which
 * that round has to end: rounds that take n count. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t p = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static atomic_int flag;
static void *look(void *q)
{
	for (;;) {
		pthread_mutex_lock(&n);
		int now = ready;
		pthread_mutex_unlock(&n);
		if (now)
			break;
	}
	flag = 1;
	return q;
}
static void *make_ready(void *q)
{
	pthread_mutex_lock(&p);
	pthread_mutex_lock(&n);
	ready = 1;
	pthread_mutex_unlock(&n);
	pthread_mutex_unlock(&p);
	return q;
}
int main(void)
{
	pthread_t t, u;
	int failed, end;
	pthread_create(&t, 0, look, 0);
	pthread_create(&u, 0, make_ready, 0);
	do {
		failed = 0;
		pthread_mutex_lock(&p);
		if (!ready) { /* so the other thread is not in its section */
			failed = pthread_mutex_trylock(&n);
			if (!failed)
				pthread_mutex_unlock(&n);
		}
		pthread_mutex_unlock(&p);
		end = flag;
	} while (!end);
	assert(!failed);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return 0;
}

//: explore --until-error --seed {0,1,2}
//= exit 1
//= complete no
//= errors signal@await_tried_late.c:47
