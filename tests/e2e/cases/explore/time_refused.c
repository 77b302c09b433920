/* A lock's limit in time with too many nanoseconds: refused where another thread holds the lock, and not looked at where
 * it is free: one class of three has the error. */
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *hold(void *unused)
{
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
	return unused;
}

int main(void)
{
	const struct timespec none = { 1, 1000000000 };
	pthread_t t;
	pthread_create(&t, NULL, hold, NULL);
	if (pthread_mutex_timedlock(&m, &none) == 0) {
		x++;
		pthread_mutex_unlock(&m);
	}
	return pthread_join(t, NULL);
}

//: explore
//= exit 1
//= statuses 0 0 0
//= errors lock-misuse@time_refused.c:22
//= complete yes
