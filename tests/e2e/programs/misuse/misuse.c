/* misuse.c - breaks the rule of locks, threads or the heap that its argument names, or none. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s, s2, never;
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

static void *nothing(void *unused)
{
	return unused;
}

static int run(void *unused)
{
	return unused != NULL;
}

/* A later thread may have the handle of one that was joined or detached; an overflow is left to
 * calloc; a wait ends by its limit in time. */
static void legal_calls(void)
{
	const struct timespec past = { 1, 999999999 };
	volatile size_t many = (size_t)-1;
	pthread_t t;
	thrd_t u;
	void *aligned = NULL;
	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, nothing, NULL);
		if (i == 1)
			pthread_detach(t);
		else
			pthread_join(t, NULL);
		thrd_create(&u, run, NULL);
		thrd_join(u, NULL);
	}
	pthread_mutex_lock(&m);
	pthread_mutex_timedlock(&m, &past);
	pthread_cond_timedwait(&c, &m, &past);
	pthread_mutex_unlock(&m);
	free(calloc(many, 2));
	if (posix_memalign(&aligned, 64, 3) == 0)
		free(aligned);
	free(aligned_alloc(16, 32));
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
	legal_calls();
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

/* Threads that are gone; `t` was joined. */
static void threads(pthread_t t)
{
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	if (is("join-self"))
		pthread_join(pthread_self(), NULL);
	if (is("join-twice"))
		pthread_join(t, NULL);
	if (is("thrd-join-twice"))
		thrd_join(t, NULL);
	if (is("join-detached") && pthread_create(&t, &a, nothing, NULL) == 0)
		pthread_join(t, NULL);
	if (is("detach-joined"))
		pthread_detach(t);
	if (is("thrd-detach-joined"))
		thrd_detach(t);
	if (is("cancel-joined"))
		pthread_cancel(t);
}

/* Arguments that are refused. */
static void arguments(void)
{
	const struct timespec none = { 1, 1000000000 };
	volatile size_t size = (size_t)-2, three = 3;
	void *p = NULL;
	if (is("barrier-of-none"))
		pthread_barrier_init(&b, NULL, 0);
	if (is("sem-large"))
		sem_init(&s, 0, INT_MAX + 1u);
	if (is("sem-overflow")) {
		sem_init(&never, 0, INT_MAX);
		sem_post(&never);
	}
	if (is("time-sem"))
		sem_timedwait(&s, &none);
	pthread_mutex_lock(&m);
	if (is("time-cond"))
		pthread_cond_timedwait(&c, &m, &none);
	if (is("time-mutex"))
		pthread_mutex_timedlock(&m, &none);
	pthread_mutex_unlock(&m);
	if (is("time-rw") && pthread_rwlock_timedrdlock(&rw, &none) == 0)
		pthread_rwlock_unlock(&rw);
	if (is("size"))
		p = malloc(size);
	if (is("align"))
		p = aligned_alloc(three, 9);
	if (is("posix-align") && posix_memalign(&p, three, 9) != 0)
		p = NULL;
	free(p);
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
	threads(t);
	arguments();
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
