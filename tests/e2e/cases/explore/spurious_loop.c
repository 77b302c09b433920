/* A wait in a loop, which spurious wake-ups do no harm (without: spurious_wake.c). */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, data;
static void *produce(void *p) { pthread_mutex_lock(&m); data = 42; ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return p; }
static void *consume(void *p)
{
	pthread_mutex_lock(&m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	int d = data;
	pthread_mutex_unlock(&m);
	assert(d == 42);
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, produce, 0);
	pthread_create(&b, 0, consume, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}

//: explore --spurious 2
//= exit 0
//= complete yes
//= states 6
//: check
//= exit 0
//= $d->{exploration}{"spurious-wakeup"}?1:0 1
