/* two_threads.h - two threads, which run one() and two(); main returns result(). */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int got;

static void one(void);
static void two(void);
static int result(void);

static void *first(void *p) { one(); return p; }
static void *second(void *p) { two(); return p; }

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, first, 0);
	pthread_create(&u, 0, second, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return result();
}
