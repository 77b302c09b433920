/*
 * two_waits.c: a thread waits twice with a time limit, another signals once.  The signal ends the
 * first wait, the second or neither.  -DGLIB: by GLib's condition.
 */
#include <stdio.h>

#ifdef GLIB
#include <glib.h>
static GMutex mutex;
static GCond condition;
#define LOCK()   g_mutex_lock(&mutex)
#define UNLOCK() g_mutex_unlock(&mutex)
#define SIGNAL() g_cond_signal(&condition)
static int wait(void)
{
	return g_cond_wait_until(&condition, &mutex, g_get_monotonic_time() + 1000);
}
#else
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
#define LOCK()   pthread_mutex_lock(&mutex)
#define UNLOCK() pthread_mutex_unlock(&mutex)
#define SIGNAL() pthread_cond_signal(&condition)
static int wait(void)
{
	static const struct timespec far = { 4000000000, 0 };
	return pthread_cond_timedwait(&condition, &mutex, &far) == 0;
}
#endif

static void *signal_once(void *argument)
{
	LOCK();
	SIGNAL();
	UNLOCK();
	return argument;
}

static int wait_twice(void)
{
	LOCK();
	int first = wait();
	int second = wait();
	UNLOCK();
	return 10 * first + second;
}

int main(void)
{
#ifdef GLIB
	GThread *other = g_thread_new("other", signal_once, NULL);
	int woken = wait_twice();
	g_thread_join(other);
#else
	pthread_t other;
	pthread_create(&other, 0, signal_once, 0);
	int woken = wait_twice();
	pthread_join(other, 0);
#endif
	printf("%d\n", woken);
	return 1 + woken;
}

//: explore --seed {0,1,2}
//= statuses 1 2 11
//= complete yes
