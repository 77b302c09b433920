/* A lock is tried, but not the one under which a thread looks: its looks in vain are left out all the same. */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
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
	if (!pthread_mutex_trylock(&other))
		pthread_mutex_unlock(&other);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	return 0;
}

//: explore --seed {0,1}
//= exit 0
//= states 1
//= complete yes
