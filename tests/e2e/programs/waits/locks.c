#include "waits.h"

#define PAIR(name, x, y) \
	static void *name(void *arg) \
	{ \
		LOCK(x); \
		LOCK(y); \
		UNLOCK(y); \
		UNLOCK(x); \
		return arg; \
	}
PAIR(ab, a, b)
PAIR(ba, BUG(b, a), BUG(a, b))
PAIR(bc, b, c)
PAIR(ca, BUG(c, a), BUG(a, c))

static void *gated(void *arg)
{
	BUG(, LOCK(gate);)
	pthread_mutex_lock(arg ? &a : &b);
	pthread_mutex_lock(arg ? &b : &a);
	UNLOCK(a);
	UNLOCK(b);
	BUG(, UNLOCK(gate);)
	return arg;
}
static void *gated_ab(void *arg)
{
	return gated("");
}

static void *three(void *arg)
{
	LOCK(b);
	LOCK(c);
	BUG(LOCK(a); UNLOCK(a);, )
	UNLOCK(c);
	UNLOCK(b);
	BUG(, LOCK(a); UNLOCK(a);)
	return arg;
}

/* The lock is never given back; who comes first has luck. */
static void *keeps(void *arg)
{
	LOCK(a);
	BUG(, UNLOCK(a);)
	return arg;
}
static void *passes(void *arg)
{
	LOCK(a);
	UNLOCK(a);
	return arg;
}

static void again(void)
{
	LOCK(a);
	BUG(LOCK(a);, )
	UNLOCK(a);
}

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void *reader(void *arg)
{
	BUG(pthread_rwlock_rdlock(&rw); LOCK(a);, LOCK(a); pthread_rwlock_rdlock(&rw);)
	UNLOCK(a);
	pthread_rwlock_unlock(&rw);
	return arg;
}
static void *writer(void *arg)
{
	LOCK(a);
	pthread_rwlock_wrlock(&rw);
	pthread_rwlock_unlock(&rw);
	UNLOCK(a);
	return arg;
}
static void *writes_first(void *arg)
{
	BUG(pthread_rwlock_wrlock(&rw); LOCK(a);, LOCK(a); pthread_rwlock_wrlock(&rw);)
	UNLOCK(a);
	pthread_rwlock_unlock(&rw);
	return arg;
}
static void *reads_second(void *arg)
{
	LOCK(a);
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_unlock(&rw);
	UNLOCK(a);
	return arg;
}

static pthread_spinlock_t p, q;
static void *spin_pq(void *arg)
{
	pthread_spin_lock(&p);
	pthread_spin_lock(&q);
	pthread_spin_unlock(&q);
	pthread_spin_unlock(&p);
	return arg;
}
static void *spin_qp(void *arg)
{
	pthread_spin_lock(BUG(&q, &p));
	pthread_spin_lock(BUG(&p, &q));
	pthread_spin_unlock(&p);
	pthread_spin_unlock(&q);
	return arg;
}
static void spins(void)
{
	pthread_spin_init(&p, 0);
	pthread_spin_init(&q, 0);
	run(spin_pq, spin_qp, NULL);
}

static pthread_mutex_t r;
static void *r_a(void *arg)
{
	LOCK(r);
	LOCK(r);
	LOCK(a);
	UNLOCK(a);
	UNLOCK(r);
	UNLOCK(r);
	return arg;
}
static void *a_r(void *arg)
{
	BUG(LOCK(a); LOCK(r);, LOCK(r); LOCK(a);)
	UNLOCK(r);
	UNLOCK(a);
	return arg;
}
static void recursive(void)
{
	pthread_mutexattr_t kind;
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&r, &kind);
	run(r_a, a_r, NULL);
}

static const struct way ways[] = {
	{ "crosswise", { ab, ba } },
	{ "ring", { ab, bc, ca } },
	{ "gate", { gated, gated_ab } },
	{ "three", { ab, three } },
	{ "kept", { passes, keeps } },
	{ "again", .whole = again },
	{ "reader", { reader, writer } },
	{ "writer", { writes_first, reads_second } },
	{ "spin", .whole = spins },
	{ "recursive", .whole = recursive },
	{ 0 },
};
