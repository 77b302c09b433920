/* late_waits.c - waits whose time has passed already, in a loop until a second has passed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *waits(void *kind)
{
	const struct timespec past = { .tv_sec = 1 };
	double end = seconds() + 1;
	long rounds = 0;
	pthread_mutex_lock(&m);
	for (; seconds() < end; rounds++) {
		if (strcmp(kind, "condition") == 0)
			pthread_cond_timedwait(&c, &m, &past);
		else if (strcmp(kind, "semaphore") == 0)
			sem_timedwait(&s, &past);
		else
			usleep(0);
	}
	pthread_mutex_unlock(&m);
	printf("%s: %ld\n", (char *)kind, rounds);
	return NULL;
}

int main(int n, char **words)
{
	pthread_t t;
	pthread_create(&t, NULL, waits, words[1]);
	return pthread_join(t, NULL);
}
