/* After its failed try a loop reads memory that another thread writes in some runs alone: in the others it is constant,
 * and the read no look. The run that writes it makes all begin again. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static int give_up;
static atomic_int rare;
static void *hold(void *p)
{
	pthread_mutex_lock(&n);
	pthread_mutex_unlock(&n);
	return p;
}
static void *stop(void *p)
{
	if (rare) {
		pthread_mutex_lock(&m);
		give_up = 1;
		pthread_mutex_unlock(&m);
	}
	return p;
}
static void *make_rare(void *p)
{
	rare = 1;
	return p;
}
int main(void)
{
	pthread_t t[3];
	int end = 0;
	pthread_create(&t[0], 0, hold, 0);
	pthread_create(&t[1], 0, stop, 0);
	pthread_create(&t[2], 0, make_rare, 0);
	for (;;) {
		pthread_mutex_lock(&m);
		if (pthread_mutex_trylock(&n) == 0)
			break;
		end = give_up;
		pthread_mutex_unlock(&m);
		if (end)
			break;
	}
	assert(!end);
	pthread_mutex_unlock(&n);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: explore --seed {0,1,2,3,4,5}
//= exit 1
//= errors signal@await_constant_written.c:45
//= complete yes
