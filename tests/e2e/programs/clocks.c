/* Time as the program sees it: by a clock, a wait that times out, and a long sleep. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long seconds(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec;
}

int main(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_condattr_t attributes;
	pthread_cond_t c;
	struct timespec at;
	long begin = seconds(CLOCK_MONOTONIC), today = time(NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&c, &attributes);
	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += 20;
	pthread_mutex_lock(&m);
	int status = pthread_cond_timedwait(&c, &m, &at);
	pthread_mutex_unlock(&m);
	printf("%d, %ld s\n", status, seconds(CLOCK_MONOTONIC) - begin);
	sleep(3600);
	printf("%ld s, %d\n", seconds(CLOCK_MONOTONIC) - begin, time(NULL) - today >= 3600);
	printf("began at %ld\n", begin);
	return 0;
}
