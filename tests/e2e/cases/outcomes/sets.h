/* What the programs of this folder share.  All outcomes that each can have (its exit status, or how it
 * gets stuck) were found by hand; where an exploration is not complete it says why. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define L(m)     pthread_mutex_lock(&m)
#define U(m)     pthread_mutex_unlock(&m)
#define TH(name) static void *name(void *p)
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int x, y, a, b, r, s;
static pthread_t T[8];
static int N;
static struct timespec in(int sec)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += sec;
	return t;
}
static void go(void *(*f)(void *))
{
	pthread_create(&T[N], 0, f, (void *)(long)(N + 1));
	N++;
}
static void join(void)
{
	while (N > 0)
		pthread_join(T[--N], 0);
}
#define ID ((int)(long)p)
