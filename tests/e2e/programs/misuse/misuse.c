/* misuse.c - breaks the rule of locks that its argument names, or none. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s, s2;
static pthread_barrier_t b;
static pthread_spinlock_t spin;
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
	if (is("spin-other"))
		pthread_spin_unlock(&spin);
	if (is("cond-waited")) {
		pthread_mutex_lock(&m);
		sem_post(&s);
		pthread_cond_wait(&c, &m);
		pthread_mutex_unlock(&m);
	}
	if (is("sem-waited")) {
		sem_post(&s);
		sem_wait(&s2);
	}
	if (is("barrier-waited")) {
		sem_post(&s);
		pthread_barrier_wait(&b);
	}
	if (is("legal")) {
		pthread_barrier_wait(&b);
		sem_post(&s);
	}
	return unused;
}

/* A stack's and a block's memory has another mutex each time. */
static void undestroyed(void)
{
	pthread_mutex_t local, *block = malloc(sizeof *block);
	pthread_mutex_init(&local, NULL);
	pthread_mutex_lock(&local);
	pthread_mutex_unlock(&local);
	pthread_mutex_init(block, NULL);
	pthread_mutex_lock(block);
	pthread_mutex_unlock(block);
	free(block);
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
	undestroyed();
	undestroyed();
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
	for (int i = 0; i < 2; i++) {
		pthread_spin_lock(&spin);
		if (pthread_spin_trylock(&spin) == 0)
			abort();
		pthread_spin_unlock(&spin);
		pthread_spin_destroy(&spin);
		pthread_spin_init(&spin, 0);
		sem_destroy(&s2);
		sem_init(&s2, 0, 1);
		sem_wait(&s2);
	}
	pthread_barrier_wait(&b);
	sem_wait(&s);
	pthread_barrier_destroy(&b);
	pthread_barrier_init(&b, NULL, 1);
	pthread_barrier_wait(&b);
	sem_destroy(&s);
}

/* With a thread that waits, or comes to wait, for what is destroyed; it never ends. */
static void waited(void)
{
	sem_wait(&s);
	pthread_mutex_lock(&m); /* the other waits for the condition when this is free */
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 1000; i++)
		sched_yield();
	if (is("cond-waited"))
		pthread_cond_destroy(&c);
	if (is("sem-waited"))
		sem_destroy(&s2);
	if (is("barrier-waited"))
		pthread_barrier_destroy(&b);
	exit(0);
}

/* Objects that say nothing of themselves. */
static void mute(void)
{
	if (is("spin-not-held"))
		pthread_spin_unlock(&spin);
	if (is("spin-destroyed")) {
		pthread_spin_destroy(&spin);
		pthread_spin_lock(&spin);
	}
	if (is("spin-locked")) {
		pthread_spin_lock(&spin);
		pthread_spin_destroy(&spin);
	}
	if (is("spin-twice")) {
		pthread_spin_lock(&spin);
		pthread_spin_lock(&spin);
	}
	if (is("sem-destroyed")) {
		sem_destroy(&s);
		sem_post(&s);
	}
	if (is("sem-garbage")) {
		memset(&s, 0x5c, sizeof s);
		sem_trywait(&s);
	}
	if (is("barrier-destroyed")) {
		pthread_barrier_destroy(&b);
		pthread_barrier_init(&b, NULL, 1);
		pthread_barrier_wait(&b);
		pthread_barrier_destroy(&b);
		pthread_barrier_wait(&b);
	}
	if (is("sem-again"))
		sem_init(&s, 0, 1);
	if (is("barrier-again"))
		pthread_barrier_init(&b, NULL, 1);
	if (is("rw-garbage")) {
		memset(&rw, 0x5c, sizeof rw);
		pthread_rwlock_tryrdlock(&rw);
	}
}

int main(int argc, char **argv)
{
	pthread_t t;
	pthread_mutexattr_t kind;
	way = argc > 1 ? argv[1] : "";
	sem_init(&s, 0, 0);
	sem_init(&s2, 0, 0);
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&b, NULL, 2);
	if (is("spin-other"))
		pthread_spin_lock(&spin);
	if (is("other"))
		pthread_mutex_lock(&m);
	if (is("rw-other"))
		pthread_rwlock_wrlock(&rw);
	pthread_create(&t, NULL, other, NULL);
	if (is("legal"))
		legal();
	if (strstr(way, "-waited"))
		waited();
	pthread_join(t, NULL);
	mute();
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
	if (is("again")) {
		pthread_mutex_t *g = malloc(2 * sizeof *g);
		for (int i = 0; i < 3; i++)
			pthread_mutex_init(&g[i % 2], NULL);
		free(g);
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
