/* misuse.c - breaks the rule of locks that its argument names, or none. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static const char *way;

static int is(const char *name)
{
	return strcmp(way, name) == 0;
}

static void *other(void *unused)
{
	if (is("other"))
		pthread_mutex_unlock(&m);
	if (is("rw-other"))
		pthread_rwlock_unlock(&rw);
	if (is("legal"))
		sem_post(&s);
	return unused;
}

/* Recursive, static, made again after its destruction, robust, posted by another: all allowed. */
static void legal(void)
{
	pthread_mutexattr_t kind;
	pthread_mutex_t r;
	static pthread_mutex_t zero;
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	for (int i = 0; i < 2; i++) {
		pthread_mutex_init(&r, &kind);
		pthread_mutex_lock(&r);
		pthread_mutex_lock(&r);
		pthread_mutex_unlock(&r);
		pthread_mutex_unlock(&r);
		pthread_mutex_destroy(&r);
	}
	pthread_mutex_lock(&zero);
	if (pthread_mutex_trylock(&zero) == 0)
		abort();
	pthread_mutex_unlock(&zero);
	pthread_mutex_destroy(&m);
	m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_wrlock(&rw);
	pthread_rwlock_unlock(&rw);
	sem_wait(&s);
}

int main(int argc, char **argv)
{
	pthread_t t;
	pthread_mutexattr_t kind;
	way = argc > 1 ? argv[1] : "";
	sem_init(&s, 0, 0);
	if (is("other"))
		pthread_mutex_lock(&m);
	if (is("rw-other"))
		pthread_rwlock_wrlock(&rw);
	pthread_create(&t, NULL, other, NULL);
	if (is("legal"))
		legal();
	pthread_join(t, NULL);
	if (is("not-held"))
		pthread_mutex_unlock(&m);
	if (is("wait")) {
		struct timespec at = { 1, 0 };
		pthread_cond_timedwait(&c, &m, &at);
	}
	if (is("twice")) {
		pthread_mutex_lock(&m);
		pthread_mutex_lock(&m);
	}
	if (is("checked")) {
		pthread_mutexattr_init(&kind);
		pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
		pthread_mutex_init(&m, &kind);
		pthread_mutex_lock(&m);
		if (pthread_mutex_lock(&m) == EDEADLK)
			pthread_mutex_unlock(&m);
	}
	if (is("locked")) {
		pthread_mutex_lock(&m);
		pthread_mutex_destroy(&m);
	}
	if (is("destroyed")) {
		pthread_mutex_destroy(&m);
		pthread_mutex_lock(&m);
	}
	if (is("signalled")) {
		pthread_cond_destroy(&c);
		pthread_cond_signal(&c);
	}
	if (is("garbage")) {
		pthread_mutex_t *g = malloc(sizeof *g);
		memset(g, 0x5c, sizeof *g);
		pthread_mutex_trylock(g);
		free(g);
	}
	return 0;
}
