/* A try fails while another thread looks, in vain, under that lock: as nobody else takes it before, its looks count. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static void *look(void *p)
{
	for (;;) {
		pthread_mutex_lock(&m);
		int now = ready;
		pthread_mutex_unlock(&m);
		if (now)
			return p;
	}
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, look, 0);
	int failed = pthread_mutex_trylock(&m);
	if (!failed)
		pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	assert(!failed);
	return 0;
}

//: explore
//= exit 1
//= complete no
//~ errors ^signal
