/* ways.c - a run that ends in the way that its argument names. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t b;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s;
static pthread_t main_thread;
static const char *way;

static int is(const char *name)
{
	return strcmp(way, name) == 0;
}

static void *thread(void *unused)
{
	struct timespec at;
	if (is("condition")) {
		pthread_mutex_lock(&m);
		pthread_cond_wait(&c, &m);
		pthread_mutex_unlock(&m);
	} else if (is("semaphore")) {
		sem_wait(&s);
	} else if (is("barrier")) {
		pthread_barrier_wait(&b);
	} else if (is("join") || is("join-handler")) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	} else if (is("joins")) {
		pthread_join(main_thread, NULL);
	} else if (is("writer")) {
		pthread_rwlock_wrlock(&rw);
		pthread_rwlock_unlock(&rw);
	} else if (is("orphan")) {
		pthread_mutex_lock(&m);
	} else if (is("timed")) {
		pthread_mutex_lock(&n);
		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_sec++;
		if (pthread_mutex_timedlock(&m, &at) == 0)
			pthread_mutex_unlock(&m);
		pthread_mutex_unlock(&n);
	} else if (is("poll")) {
		pthread_mutex_lock(&m);
		pthread_cond_wait(&c, &m);
		pthread_mutex_unlock(&m);
	}
	return unused;
}

static void handler(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	pthread_t t;
	way = argc > 1 ? argv[1] : "";
	main_thread = pthread_self();
	pthread_barrier_init(&b, NULL, 2);
	sem_init(&s, 0, 0);
	if (strstr(way, "handler") || is("pause"))
		signal(SIGUSR1, handler);
	if (is("self") || is("self-handler")) {
		pthread_mutex_lock(&m);
		pthread_mutex_lock(&m);
	}
	if (is("abort"))
		abort();
	if (is("join") || is("join-handler"))
		pthread_mutex_lock(&m);
	if (is("timed"))
		pthread_mutex_lock(&m);
	if (is("writer"))
		pthread_rwlock_rdlock(&rw);
	pthread_create(&t, NULL, thread, NULL);
	if (is("timed")) {
		pthread_mutex_trylock(&n);
		pthread_mutex_unlock(&n);
		pthread_mutex_unlock(&m);
	}
	if (is("pause"))
		pause();
	pthread_join(t, NULL);
	if (is("orphan"))
		pthread_mutex_lock(&m);
	return is("status") ? 3 : 0;
}
