#include "waits.h"
#include <threads.h>

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER, other = PTHREAD_COND_INITIALIZER;
static int ready, served;

/* Waits for the signal, not for what it tells. */
static void *awaits(void *arg)
{
	LOCK(a);
	BUG(, while (!ready))
	pthread_cond_wait(&cond, &a);
	UNLOCK(a);
	return arg;
}
static void *signals(void *arg)
{
	LOCK(a);
	ready = 1;
	pthread_cond_signal(&cond);
	UNLOCK(a);
	return arg;
}
static void *broadcasts(void *arg)
{
	LOCK(a);
	ready = 1;
	pthread_cond_broadcast(&cond);
	UNLOCK(a);
	return arg;
}

/* Looks at the flag under the lock; who sets it holds none. */
static void *looks(void *arg)
{
	LOCK(a);
	while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
		pthread_cond_wait(&cond, &a);
	UNLOCK(a);
	return arg;
}
static void *sets_apart(void *arg)
{
	BUG(, LOCK(a);)
	__atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
	pthread_cond_signal(&cond);
	BUG(, UNLOCK(a);)
	return arg;
}

/* A lock around the wait is not given up by it. */
static void *nested(void *arg)
{
	BUG(LOCK(b);, )
	LOCK(a);
	while (!ready)
		pthread_cond_wait(&cond, &a);
	UNLOCK(a);
	BUG(UNLOCK(b);, )
	return arg;
}
static void *readies_after_b(void *arg)
{
	LOCK(b);
	UNLOCK(b);
	return signals(arg);
}

/* Two rounds; the second signal may come before the second wait. */
static void *twice(void *arg)
{
	LOCK(a);
	for (int i = 1; i <= 2; i++)
		BUG(, while (ready < i))
		pthread_cond_wait(&cond, &a);
	UNLOCK(a);
	return arg;
}
static void *signals_twice(void *arg)
{
	for (int i = 1; i <= 2; i++) {
		LOCK(a);
		ready = i;
		pthread_cond_signal(&cond);
		UNLOCK(a);
	}
	return arg;
}

/* Each wakes the other one, and waits without a look. */
static void *ping(void *arg)
{
	LOCK(a);
	pthread_cond_signal(&other);
	BUG(, while (!served))
	pthread_cond_wait(&cond, &a);
	UNLOCK(a);
	return arg;
}
static void *pong(void *arg)
{
	LOCK(a);
	served = 1;
	pthread_cond_signal(&cond);
	UNLOCK(a);
	return arg;
}

/* One signal, taken by either of two that wait without a look; a second one comes only when
 * the first has been served. */
static void *either(void *arg)
{
	LOCK(a);
	BUG(, while (!ready))
	pthread_cond_wait(&cond, &a);
	BUG(, ready--;)
	UNLOCK(a);
	return arg;
}
static void *two_signals(void *arg)
{
	for (int i = 0; i < 2; i++) {
		LOCK(a);
		ready++;
		pthread_cond_signal(&cond);
		UNLOCK(a);
	}
	return arg;
}

static mtx_t m11;
static cnd_t c11;
static void *awaits_c11(void *arg)
{
	mtx_lock(&m11);
	BUG(, while (!ready))
	cnd_wait(&c11, &m11);
	mtx_unlock(&m11);
	return arg;
}
static void *signals_c11(void *arg)
{
	mtx_lock(&m11);
	ready = 1;
	cnd_signal(&c11);
	mtx_unlock(&m11);
	return arg;
}
static void of_c11(void)
{
	mtx_init(&m11, mtx_plain);
	cnd_init(&c11);
	run(awaits_c11, signals_c11, NULL);
}

/* Holds a lock that the signaller needs, and waits for it by a condition of another lock. */
static void *holds_b(void *arg)
{
	LOCK(b);
	BUG(, UNLOCK(b);)
	LOCK(a);
	while (!ready)
		pthread_cond_wait(&cond, &a);
	UNLOCK(a);
	BUG(UNLOCK(b);, )
	return arg;
}
static void *signals_with_b(void *arg)
{
	LOCK(b);
	LOCK(a);
	served = 1;
	UNLOCK(a);
	UNLOCK(b);
	return signals(arg);
}

/* Joined with the lock held that the woken thread takes again. */
static pthread_t helper;
static void joined(void)
{
	pthread_create(&helper, NULL, nested, NULL);
	LOCK(a);
	ready = 1;
	pthread_cond_signal(&cond);
	BUG(pthread_join(helper, NULL); UNLOCK(a);, UNLOCK(a); pthread_join(helper, NULL);)
}

static const struct way ways[] = {
	{ "lost", { awaits, signals } },
	{ "lost_broadcast", { awaits, broadcasts } },
	{ "two_waiters", { awaits, awaits, broadcasts } },
	{ "flag_apart", { looks, sets_apart } },
	{ "nested", { nested, readies_after_b } },
	{ "twice", { twice, signals_twice } },
	{ "ping", { ping, pong } },
	{ "either", { either, either, two_signals } },
	{ "c11", .whole = of_c11 },
	{ "holds_other", { signals_with_b, holds_b } },
	{ "joined", .whole = joined },
	{ 0 },
};
