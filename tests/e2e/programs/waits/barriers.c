#include "waits.h"

static pthread_barrier_t bar;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t s;
static pthread_t helper;
static int ready;

/* Meets the other with a lock that the other needs to get there. */
static void *meets_locked(void *arg)
{
	LOCK(a);
	BUG(, UNLOCK(a);)
	pthread_barrier_wait(&bar);
	BUG(UNLOCK(a);, )
	return arg;
}
static void *locks_and_meets(void *arg)
{
	LOCK(a);
	UNLOCK(a);
	pthread_barrier_wait(&bar);
	return arg;
}

/* Gets there only by a signal that may be lost. */
static void *waits_and_meets(void *arg)
{
	LOCK(a);
	BUG(, while (!ready))
	pthread_cond_wait(&cond, &a);
	UNLOCK(a);
	pthread_barrier_wait(&bar);
	return arg;
}
static void *signals_and_meets(void *arg)
{
	LOCK(a);
	ready = 1;
	pthread_cond_signal(&cond);
	UNLOCK(a);
	pthread_barrier_wait(&bar);
	return arg;
}

/* Takes one of two units to get there, and gives it back behind the barrier. */
static void *takes_and_meets(void *arg)
{
	sem_wait(&s);
	BUG(, sem_post(&s);)
	pthread_barrier_wait(&bar);
	BUG(sem_post(&s);, )
	return arg;
}
static void *borrows_and_meets(void *arg)
{
	sem_wait(&s);
	sem_post(&s);
	pthread_barrier_wait(&bar);
	return arg;
}

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void *reads_and_meets(void *arg)
{
	pthread_rwlock_rdlock(&rw);
	BUG(, pthread_rwlock_unlock(&rw);)
	pthread_barrier_wait(&bar);
	BUG(pthread_rwlock_unlock(&rw);, )
	return arg;
}
static void *writes_and_meets(void *arg)
{
	pthread_rwlock_wrlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_barrier_wait(&bar);
	return arg;
}

static void *meets(void *arg)
{
	pthread_barrier_wait(&bar);
	return arg;
}

/* Joined before it is met: in every run. */
static void joined(void)
{
	pthread_barrier_init(&bar, NULL, 2);
	pthread_create(&helper, NULL, meets, NULL);
	BUG(pthread_join(helper, NULL); meets(NULL);, meets(NULL); pthread_join(helper, NULL);)
}

/* Two come once, one twice, to a barrier of two: where the two meet, the third stays alone. */
static void *meets_twice(void *arg)
{
	pthread_barrier_wait(&bar);
	BUG(pthread_barrier_wait(&bar);, )
	return arg;
}
static void odd(void)
{
	pthread_barrier_init(&bar, NULL, BUG(2, 3));
	run(meets, meets_twice, meets);
}

#define OF(name, n, x, y, z) \
	static void name(void) \
	{ \
		pthread_barrier_init(&bar, NULL, n); \
		sem_init(&s, 0, 1); \
		run(x, y, z); \
	}
OF(locked, 2, locks_and_meets, meets_locked, NULL)
OF(lost, 2, waits_and_meets, signals_and_meets, NULL)
OF(unit, 2, borrows_and_meets, takes_and_meets, NULL)
OF(reader, 2, writes_and_meets, reads_and_meets, NULL)
OF(three, 3, meets_locked, locks_and_meets, meets)

static const struct way ways[] = {
	{ "locked", .whole = locked }, { "lost", .whole = lost },     { "unit", .whole = unit },
	{ "reader", .whole = reader }, { "three", .whole = three },   { "joined", .whole = joined },
	{ "odd", .whole = odd },       { 0 },
};
