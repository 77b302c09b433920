/* A thread that is cancelled at once (PTHREAD_CANCEL_ASYNCHRONOUS) in different loops. Prints
 * whether it was cancelled, and how many of its clean-up handlers ran. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int started;
static int how, count, cleaned;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void sleeps(void) { for (;;) sleep(1); }
static void counts(void) { cleaned += 10; }
static void clean(void *u) { (void)u, cleaned++; }

static void *work(void *u)
{
	int old;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	pthread_cleanup_push(clean, NULL);
	started = 1;
	switch (how) {
	case 0: for (;;) sleep(1);
	case 1: for (;;) count++;
	case 2: for (;;);
	case 3: for (;;) sched_yield();
	case 4: /* it may not be before it says so */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		sleep(1);
		cleaned += 10;
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
		for (;;) pause();
	case 6: /* in a once-function, which is then not done */
		pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
		pthread_once(&once, sleeps);
		break;
	case 5: /* in a wait that is no cancellation point */
		pthread_mutex_lock(&m);
		pthread_mutex_lock(&m);
	}
	pthread_cleanup_pop(0);
	return u;
}

int main(int argc, char **argv)
{
	pthread_t t;
	void *result;
	how = argc > 1 ? atoi(argv[1]) : 0;
	pthread_create(&t, NULL, work, NULL);
	while (!started) usleep(1000);
	pthread_cancel(t);
	pthread_join(t, &result);
	if (how == 6) pthread_once(&once, counts);
	printf("%d %d\n", result == PTHREAD_CANCELED, cleaned);
	return 0;
}
