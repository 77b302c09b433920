/*
 * sync.c - mutexes, conditions, reader-writer locks, spin locks, barriers, semaphores,
 * once and the guards of C++ statics; POSIX and C11.
 *
 * In controlled mode locks and semaphores are taken by the real try-call, so that their
 * state is what the C library thinks it is; who must wait waits in our scheduler.
 * Conditions and barriers are modelled whole.  In free mode the real call does it all and
 * the event is written after an acquire and before a release.
 */
#include <limits.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "rt.h"

static unsigned one_or_all(void)
{
	return rt.replay ? UINT_MAX : 1; /* the plan says who comes first */
}

/* Virtual nanoseconds of an absolute time of a clock. */
uint64_t deadline_of(clockid_t clock, const struct timespec *at)
{
	struct timespec now;
	clock_now(clock, &now);
	int64_t left = (at->tv_sec - now.tv_sec) * 1000000000ll + at->tv_nsec - now.tv_nsec;
	if (at->tv_sec - now.tv_sec > 1 << 30)
		left = (1ll << 30) * 1000000000ll;
	return virtual_now() + (left > 0 ? left : 0);
}

static bool valid_time(const struct timespec *at)
{
	return at->tv_nsec >= 0 && at->tv_nsec < 1000000000;
}

/* ---- mutexes ---- */

/* Is it held by a thread of another process?  Only that process can give it back. */
static bool held_outside(const pthread_mutex_t *m)
{
	enum { SHARED = 128 }; /* of glibc's kinds: between processes */
	if (!(m->__data.__kind & SHARED))
		return false;
	int owner = m->__data.__owner;
	for (uint32_t i = 0; i < rt.thread_count && i < MAX_THREADS; i++)
		if (rt.threads[i] && rt.threads[i]->tid == owner)
			return false;
	return true;
}

/* The scheduler steps aside while the other process has it. */
static int mutex_await(struct thread *t, pthread_mutex_t *m, bool timed, uint64_t deadline)
{
	struct timespec at;
	sched_leave(t);
	int status;
	if (timed) {
		uint64_t now = virtual_now(), left = deadline > now ? deadline - now : 0;
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &at); /* not the virtual one */
		left += (uint64_t)at.tv_nsec;
		at.tv_sec += (time_t)(left / 1000000000);
		at.tv_nsec = (long)(left % 1000000000);
		status = REAL(pthread_mutex_clocklock)(m, CLOCK_MONOTONIC, &at);
	} else {
		status = REAL(pthread_mutex_lock)(m);
	}
	sched_rejoin(t);
	return status;
}

/* The lock itself, after the scheduling point; 0, EOWNERDEAD or an error. */
static int mutex_take(struct thread *t, pthread_mutex_t *m, bool timed, uint64_t deadline,
                      uintptr_t pc)
{
	for (;;) {
		int status = REAL(pthread_mutex_trylock)(m);
		if (status != EBUSY)
			return status;
		if ((m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK &&
		    m->__data.__owner == t->tid)
			return EDEADLK;
		t->pc = pc;
		if (held_outside(m))
			return mutex_await(t, m, timed, deadline);
		if (!sched_block(t, FOR_MUTEX, m, timed, deadline))
			return ETIMEDOUT;
		if (!rt.on)
			return REAL(pthread_mutex_lock)(m);
	}
}

static int mutex_lock(pthread_mutex_t *m, const struct timespec *at, clockid_t clock,
                      uintptr_t pc)
{
	struct thread *t = recording();
	int status;
	if (!t)
		return at ? REAL(pthread_mutex_clocklock)(m, clock, at)
		          : REAL(pthread_mutex_lock)(m);
	sched_point(t);
	if (!rt.controlled) {
		status = at ? REAL(pthread_mutex_clocklock)(m, clock, at)
		            : REAL(pthread_mutex_lock)(m);
	} else {
		if (at && !valid_time(at)) {
			status = REAL(pthread_mutex_trylock)(m);
			if (status == EBUSY)
				return EINVAL;
		} else {
			status = mutex_take(t, m, at != NULL, at ? deadline_of(clock, at) : 0,
			                    pc);
		}
		plan_point(t);
	}
	if (status == 0 || status == EOWNERDEAD)
		(at ? log_try : log_sync)(t, LOG_ACQ, pc, m);
	else if (status == ETIMEDOUT)
		log_sync(t, LOG_TRYFAIL, pc, m);
	return status;
}

static int mutex_trylock(pthread_mutex_t *m, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_mutex_trylock)(m);
	sched_point(t);
	int status = REAL(pthread_mutex_trylock)(m);
	if (status == 0 || status == EOWNERDEAD)
		log_try(t, LOG_ACQ, pc, m);
	else if (status == EBUSY)
		log_sync(t, LOG_TRYFAIL, pc, m);
	return status;
}

static int mutex_unlock(pthread_mutex_t *m, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t) {
		int status = REAL(pthread_mutex_unlock)(m);
		rt.poke = 1;
		return status;
	}
	plan_point(t);
	if (!rt.controlled) {
		log_sync(t, LOG_REL, pc, m);
		return REAL(pthread_mutex_unlock)(m);
	}
	if (t->pending)
		log_fill(t);
	int status = REAL(pthread_mutex_unlock)(m);
	if (status == 0) {
		log_sync(t, LOG_REL, pc, m);
		sched_wake(m, FOR_MUTEX, one_or_all());
	}
	return status;
}

/* A witness may destroy what somebody holds; that the C library refuses it (POSIX says
 * nothing) must not end the replay. */
static int destroy(void *object, int status, struct thread *t, uintptr_t pc)
{
	if (t && (status == 0 || (rt.replay && status == EBUSY)))
		log_sync(t, LOG_DESTROY, pc, object);
	return status;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	return mutex_lock(m, NULL, 0, CALLER());
}
EXPORT int __pthread_mutex_lock(pthread_mutex_t *m);
int __pthread_mutex_lock(pthread_mutex_t *m)
{
	return mutex_lock(m, NULL, 0, CALLER());
}
EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *at)
{
	return mutex_lock(m, at, CLOCK_REALTIME, CALLER());
}
EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
                                   const struct timespec *at)
{
	return mutex_lock(m, at, clock, CALLER());
}
EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	return mutex_trylock(m, CALLER());
}
EXPORT int __pthread_mutex_trylock(pthread_mutex_t *m);
int __pthread_mutex_trylock(pthread_mutex_t *m)
{
	return mutex_trylock(m, CALLER());
}
EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	return mutex_unlock(m, CALLER());
}
EXPORT int __pthread_mutex_unlock(pthread_mutex_t *m);
int __pthread_mutex_unlock(pthread_mutex_t *m)
{
	return mutex_unlock(m, CALLER());
}
EXPORT int pthread_mutex_destroy(pthread_mutex_t *m)
{
	struct thread *t = recording();
	if (t)
		plan_point(t);
	return destroy(m, REAL(pthread_mutex_destroy)(m), t, CALLER());
}

EXPORT int mtx_lock(mtx_t *m)
{
	return mutex_lock((pthread_mutex_t *)m, NULL, 0, CALLER()) ? thrd_error : thrd_success;
}
EXPORT int mtx_timedlock(mtx_t *m, const struct timespec *at)
{
	int status = mutex_lock((pthread_mutex_t *)m, at, CLOCK_REALTIME, CALLER());
	return status == 0 ? thrd_success : status == ETIMEDOUT ? thrd_timedout : thrd_error;
}
EXPORT int mtx_trylock(mtx_t *m)
{
	int status = mutex_trylock((pthread_mutex_t *)m, CALLER());
	return status == 0 ? thrd_success : status == EBUSY ? thrd_busy : thrd_error;
}
EXPORT int mtx_unlock(mtx_t *m)
{
	return mutex_unlock((pthread_mutex_t *)m, CALLER()) ? thrd_error : thrd_success;
}
EXPORT void mtx_destroy(mtx_t *m)
{
	struct thread *t = recording();
	if (t)
		plan_point(t);
	destroy(m, REAL(pthread_mutex_destroy)((pthread_mutex_t *)m), t, CALLER());
}

/* ---- conditions ---- */

#define REAL_CONDITION(name) \
	({ \
		static __typeof__(name) *real_; \
		if (!real_) \
			real_ = (__typeof__(name) *)dlvsym(RTLD_NEXT, #name, "GLIBC_2.3.2"); \
		real_; \
	})

static int free_wait(struct thread *t, pthread_cond_t *c, pthread_mutex_t *m,
                     const struct timespec *at, clockid_t clock, uintptr_t pc)
{
	log_sync(t, LOG_WAIT, pc, c);
	log_sync(t, LOG_REL, pc, m);
	int status = !at          ? REAL_CONDITION(pthread_cond_wait)(c, m)
	             : clock >= 0 ? REAL(pthread_cond_clockwait)(c, m, clock, at)
	                          : REAL_CONDITION(pthread_cond_timedwait)(c, m, at);
	log_sync(t, LOG_WAKE, pc, c);
	log_sync(t, LOG_ACQ, pc, m);
	return status;
}

/* clock -1: the condition's own. */
static int cond_wait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *at,
                     clockid_t clock, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t)
		return !at          ? REAL_CONDITION(pthread_cond_wait)(c, m)
		       : clock >= 0 ? REAL(pthread_cond_clockwait)(c, m, clock, at)
		                    : REAL_CONDITION(pthread_cond_timedwait)(c, m, at);
	if (!rt.controlled)
		return free_wait(t, c, m, at, clock, pc);
	if (at && !valid_time(at))
		return EINVAL;
	sched_point(t);
	if (t->cancelled)
		pthread_testcancel();
	uint64_t deadline = 0;
	if (at)
		deadline = deadline_of(clock >= 0              ? clock
		                       : c->__data.__wrefs & 2 ? CLOCK_MONOTONIC
		                                               : CLOCK_REALTIME,
		                       at);
	t->condition = c;
	t->woken = false;
	(at ? log_try : log_sync)(t, LOG_WAIT, pc, c);
	plan_point(t);
	int status = REAL(pthread_mutex_unlock)(m);
	if (status) {
		t->condition = NULL;
		return status;
	}
	log_sync(t, LOG_REL, pc, m);
	sched_wake(m, FOR_MUTEX, one_or_all());
	t->pc = pc;
	bool signalled = true;
	while (!t->woken && signalled && !t->cancelled && rt.on)
		signalled = sched_block(t, FOR_CONDITION, c, at != NULL, deadline);
	signalled |= t->woken;
	t->condition = NULL;
	plan_point(t);
	log_sync(t, LOG_WAKE, pc, c);
	plan_point(t);
	int relock = mutex_take(t, m, false, 0, pc);
	if (relock == 0 || relock == EOWNERDEAD)
		log_sync(t, LOG_ACQ, pc, m);
	if (t->cancelled)
		pthread_testcancel();
	return relock ? relock : signalled ? 0 : ETIMEDOUT;
}

static int cond_signal(pthread_cond_t *c, bool all, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t)
		return all ? REAL_CONDITION(pthread_cond_broadcast)(c)
		           : REAL_CONDITION(pthread_cond_signal)(c);
	sched_point(t);
	log_sync(t, all ? LOG_BROADCAST : LOG_SIGNAL, pc, c);
	if (!rt.controlled)
		return all ? REAL_CONDITION(pthread_cond_broadcast)(c)
		           : REAL_CONDITION(pthread_cond_signal)(c);
	sched_signal(c, all ? UINT_MAX : 1);
	return 0;
}

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return cond_wait(c, m, NULL, -1, CALLER());
}
EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                  const struct timespec *at)
{
	return cond_wait(c, m, at, -1, CALLER());
}
EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
                                  const struct timespec *at)
{
	return cond_wait(c, m, at, clock, CALLER());
}
EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	return cond_signal(c, false, CALLER());
}
EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	return cond_signal(c, true, CALLER());
}
EXPORT int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attributes)
{
	return REAL_CONDITION(pthread_cond_init)(c, attributes);
}
EXPORT int pthread_cond_destroy(pthread_cond_t *c)
{
	struct thread *t = recording();
	if (t)
		plan_point(t);
	return destroy(c, REAL_CONDITION(pthread_cond_destroy)(c), t, CALLER());
}

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	return cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m, NULL, -1, CALLER())
	               ? thrd_error
	               : thrd_success;
}
EXPORT int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *at)
{
	int status = cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m, at, -1, CALLER());
	return status == 0 ? thrd_success : status == ETIMEDOUT ? thrd_timedout : thrd_error;
}
EXPORT int cnd_signal(cnd_t *c)
{
	return cond_signal((pthread_cond_t *)c, false, CALLER());
}
EXPORT int cnd_broadcast(cnd_t *c)
{
	return cond_signal((pthread_cond_t *)c, true, CALLER());
}
EXPORT void cnd_destroy(cnd_t *c)
{
	struct thread *t = recording();
	if (t)
		plan_point(t);
	destroy(c, REAL_CONDITION(pthread_cond_destroy)((pthread_cond_t *)c), t, CALLER());
}

/* ---- reader-writer locks ---- */

static int rw_lock(pthread_rwlock_t *l, bool write, bool try_only, const struct timespec *at,
                   clockid_t clock, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || !rt.controlled) {
		int status;
		if (try_only)
			status = write ? REAL(pthread_rwlock_trywrlock)(l)
			               : REAL(pthread_rwlock_tryrdlock)(l);
		else if (at)
			status = write ? REAL(pthread_rwlock_clockwrlock)(l, clock, at)
			               : REAL(pthread_rwlock_clockrdlock)(l, clock, at);
		else
			status = write ? REAL(pthread_rwlock_wrlock)(l)
			               : REAL(pthread_rwlock_rdlock)(l);
		if (t && status == 0)
			log_sync(t, write ? LOG_ACQ : LOG_RACQ, pc, l);
		else if (t && (status == EBUSY || status == ETIMEDOUT))
			log_sync(t, LOG_TRYFAIL, pc, l);
		return status;
	}
	sched_point(t);
	int status;
	for (;;) {
		status = write ? REAL(pthread_rwlock_trywrlock)(l)
		               : REAL(pthread_rwlock_tryrdlock)(l);
		if (status != EBUSY)
			break;
		if (try_only)
			break;
		if (l->__data.__cur_writer == t->tid)
			return EDEADLK;
		t->pc = pc;
		if (!sched_block(t, write ? FOR_WRITE_LOCK : FOR_READ_LOCK, l, at != NULL,
		                 at ? deadline_of(clock, at) : 0)) {
			status = ETIMEDOUT;
			break;
		}
	}
	if (status == 0)
		(try_only || at ? log_try : log_sync)(t, write ? LOG_ACQ : LOG_RACQ, pc, l);
	else if (status == EBUSY || status == ETIMEDOUT)
		log_sync(t, LOG_TRYFAIL, pc, l);
	return status;
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	return rw_lock(l, false, false, NULL, 0, CALLER());
}
EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	return rw_lock(l, true, false, NULL, 0, CALLER());
}
EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	return rw_lock(l, false, true, NULL, 0, CALLER());
}
EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	return rw_lock(l, true, true, NULL, 0, CALLER());
}
EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *at)
{
	return rw_lock(l, false, false, at, CLOCK_REALTIME, CALLER());
}
EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *at)
{
	return rw_lock(l, true, false, at, CLOCK_REALTIME, CALLER());
}
EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
                                      const struct timespec *at)
{
	return rw_lock(l, false, false, at, clock, CALLER());
}
EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
                                      const struct timespec *at)
{
	return rw_lock(l, true, false, at, clock, CALLER());
}
EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	struct thread *t = recording();
	if (!t) {
		int status = REAL(pthread_rwlock_unlock)(l);
		rt.poke = 1;
		return status;
	}
	plan_point(t);
	log_sync(t, l->__data.__cur_writer == t->tid ? LOG_REL : LOG_RREL, CALLER(), l);
	int status = REAL(pthread_rwlock_unlock)(l);
	if (rt.controlled) {
		sched_wake(l, FOR_READ_LOCK, UINT_MAX);
		sched_wake(l, FOR_WRITE_LOCK, UINT_MAX);
	}
	return status;
}
EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	struct thread *t = recording();
	if (t)
		plan_point(t);
	return destroy(l, REAL(pthread_rwlock_destroy)(l), t, CALLER());
}

/* ---- spin locks ---- */

EXPORT int pthread_spin_lock(pthread_spinlock_t *l)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_spin_lock)(l);
	sched_point(t);
	int status;
	if (!rt.controlled) {
		status = REAL(pthread_spin_lock)(l);
	} else {
		while ((status = REAL(pthread_spin_trylock)(l)) == EBUSY) {
			t->pc = CALLER();
			sched_block(t, FOR_SPIN, (const void *)l, false, 0);
		}
	}
	if (status == 0)
		log_sync(t, LOG_ACQ, CALLER(), (const void *)l);
	return status;
}
EXPORT int pthread_spin_trylock(pthread_spinlock_t *l)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_spin_trylock)(l);
	sched_point(t);
	int status = REAL(pthread_spin_trylock)(l);
	if (status == 0)
		log_try(t, LOG_ACQ, CALLER(), (const void *)l);
	else
		log_sync(t, LOG_TRYFAIL, CALLER(), (const void *)l);
	return status;
}
EXPORT int pthread_spin_unlock(pthread_spinlock_t *l)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_spin_unlock)(l);
	plan_point(t);
	log_sync(t, LOG_REL, CALLER(), (const void *)l);
	int status = REAL(pthread_spin_unlock)(l);
	if (rt.controlled)
		sched_wake((const void *)l, FOR_SPIN, one_or_all());
	return status;
}
EXPORT int pthread_spin_destroy(pthread_spinlock_t *l)
{
	struct thread *t = recording();
	if (t)
		plan_point(t);
	return destroy((void *)l, REAL(pthread_spin_destroy)(l), t, CALLER());
}

/* ---- barriers ---- */

EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_barrier_wait)(b);
	uintptr_t pc = CALLER();
	sched_point(t);
	log_sync(t, LOG_ARRIVE, pc, b);
	int status = 0;
	if (!rt.controlled) {
		status = REAL(pthread_barrier_wait)(b);
	} else {
		unsigned count = ((const unsigned *)b)[2]; /* glibc: in, round, count */
		if (sched_waiting(b, FOR_BARRIER) + 1 >= count) {
			sched_wake(b, FOR_BARRIER, UINT_MAX);
			status = PTHREAD_BARRIER_SERIAL_THREAD;
		} else {
			t->pc = pc;
			sched_block(t, FOR_BARRIER, b, false, 0);
		}
	}
	plan_point(t);
	log_sync(t, LOG_DEPART, pc, b);
	return status;
}
EXPORT int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attributes,
                                unsigned count)
{
	return REAL(pthread_barrier_init)(b, attributes, count);
}
EXPORT int pthread_barrier_destroy(pthread_barrier_t *b)
{
	struct thread *t = recording();
	if (t)
		plan_point(t);
	return destroy(b, REAL(pthread_barrier_destroy)(b), t, CALLER());
}

/* ---- semaphores ---- */

EXPORT int sem_init(sem_t *s, int shared, unsigned value)
{
	struct thread *t = recording();
	int status = REAL(sem_init)(s, shared, value);
	if (t && status == 0)
		log_event(t, LOG_SEMAPHORE, 0, CALLER(), (uintptr_t)s, value, 2);
	return status;
}
EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
	__builtin_va_list list;
	__builtin_va_start(list, flags);
	unsigned mode = __builtin_va_arg(list, unsigned);
	unsigned value = __builtin_va_arg(list, unsigned);
	__builtin_va_end(list);
	struct thread *t = recording();
	sem_t *s = t ? INSIDE(t, REAL(sem_open)(name, flags, mode, value))
	             : REAL(sem_open)(name, flags, mode, value);
	int now;
	if (t && s != SEM_FAILED && REAL(sem_getvalue)(s, &now) == 0)
		log_event(t, LOG_SEMAPHORE, 0, CALLER(), (uintptr_t)s, now, 2);
	return s;
}
static int sem_take(sem_t *s, bool try_only, const struct timespec *at, clockid_t clock,
                    uintptr_t pc)
{
	struct thread *t = recording();
	int status;
	if (t)
		sched_point(t);
	if (!t || !rt.controlled) {
		status = try_only ? REAL(sem_trywait)(s)
		         : at     ? REAL(sem_clockwait)(s, clock, at)
		                  : REAL(sem_wait)(s);
	} else {
		while ((status = REAL(sem_trywait)(s)) != 0 && errno == EAGAIN && !try_only) {
			if (at && !valid_time(at)) {
				errno = EINVAL;
				break;
			}
			t->pc = pc;
			if (!sched_block(t, FOR_SEMAPHORE, s, at != NULL,
			                 at ? deadline_of(clock, at) : 0)) {
				errno = ETIMEDOUT;
				break;
			}
			if (t->cancelled)
				pthread_testcancel();
		}
	}
	if (t && status == 0)
		(try_only || at ? log_try : log_sync)(t, LOG_TAKE, pc, s);
	else if (t && (errno == EAGAIN || errno == ETIMEDOUT)) {
		int error = errno;
		log_sync(t, LOG_TAKETRYFAIL, pc, s);
		errno = error;
	}
	return status;
}
EXPORT int sem_wait(sem_t *s)
{
	return sem_take(s, false, NULL, 0, CALLER());
}
EXPORT int sem_trywait(sem_t *s)
{
	return sem_take(s, true, NULL, 0, CALLER());
}
EXPORT int sem_timedwait(sem_t *s, const struct timespec *at)
{
	return sem_take(s, false, at, CLOCK_REALTIME, CALLER());
}
EXPORT int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *at)
{
	return sem_take(s, false, at, clock, CALLER());
}
EXPORT int sem_post(sem_t *s)
{
	struct thread *t = recording();
	if (!t) {
		int status = REAL(sem_post)(s);
		rt.poke = 1; /* a signal handler may do this */
		return status;
	}
	sched_point(t);
	log_sync(t, LOG_POST, CALLER(), s);
	int status = REAL(sem_post)(s);
	if (rt.controlled)
		sched_wake(s, FOR_SEMAPHORE, one_or_all());
	return status;
}
EXPORT int sem_destroy(sem_t *s)
{
	struct thread *t = recording();
	if (t)
		plan_point(t);
	return destroy(s, REAL(sem_destroy)(s), t, CALLER());
}

/* ---- once, and the guards of C++ statics: a message from who ran it to who comes later ----
 */

enum { ONCE_SLOTS = 1 << 14 };
struct once {
	const void *key;
	bool running, done;
	uint64_t message;
};
static struct once onces[ONCE_SLOTS];

static struct once *once_of(const void *key)
{
	unsigned i = ((uintptr_t)key >> 2) * 2654435761u % ONCE_SLOTS;
	for (unsigned k = 0; k < ONCE_SLOTS; k++, i = (i + 1) % ONCE_SLOTS) {
		const void *none = NULL;
		if (onces[i].key == key ||
		    __atomic_compare_exchange_n(&onces[i].key, &none, key, false,
		                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    none == key)
			return &onces[i];
	}
	return NULL;
}

/* Its memory has been used again, for another one. */
static void once_anew(struct once *o)
{
	o->done = false;
	o->message = 0;
}

/* True when the caller has to do it; else it has been done, and the message is received. */
static bool once_enter(struct thread *t, struct once *o, uintptr_t pc)
{
	while (o->running) {
		t->pc = pc;
		if (rt.controlled) {
			sched_block(t, FOR_ONCE, o->key, false, 0);
		} else {
			struct timespec pause = { 0, 100000 };
			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		}
	}
	if (o->message) { /* who tried in vain is before who tries next, too */
		plan_point(t);
		log_event(t, LOG_RCV, 0, pc, o->message, 0, 1);
	}
	if (o->done)
		return false;
	o->running = true;
	return true;
}

static void once_leave(struct thread *t, struct once *o, bool done, uintptr_t pc)
{
	plan_point(t);
	o->message = __atomic_add_fetch(&rt.messages, 1, __ATOMIC_RELAXED);
	log_event(t, LOG_SND, 0, pc, o->message, 0, 1);
	o->done = done;
	o->running = false;
	if (rt.controlled)
		sched_wake(o->key, FOR_ONCE, UINT_MAX);
}

/* A routine of C++ that throws leaves without having done it.  Its frames are taken down by the
 * program's unwinder; a program without one has no exceptions, and the runtime brings none. */
__asm__(".weak __gcc_personality_v0\n.weak _Unwind_Resume");
struct once_run {
	struct thread *thread;
	struct once *once;
	bool done;
	uintptr_t pc;
};
static void once_end(struct once_run *r)
{
	once_leave(r->thread, r->once, r->done, r->pc);
}

static int run_once(pthread_once_t *control, void (*routine)(void), uintptr_t pc)
{
	struct thread *t = recording();
	struct once *o = t ? once_of(control) : NULL;
	if (!o || (*control == 2 && !o->done)) /* 2: done before we looked (glibc) */
		return REAL(pthread_once)(control, routine);
	if (o->done && *control == 0)
		once_anew(o);
	sched_point(t);
	if (!rt.controlled) { /* the real one keeps others out while it runs */
		bool first = *control != 2;
		int status = REAL(pthread_once)(control, routine);
		if (first && !o->done)
			once_leave(t, o, true, pc);
		else if (o->done)
			log_event(t, LOG_RCV, 0, pc, o->message, 0, 1);
		return status;
	}
	if (!once_enter(t, o, pc))
		return 0;
	__attribute__((cleanup(once_end))) struct once_run run = { t, o, false, pc };
	int status = REAL(pthread_once)(control, routine);
	run.done = true;
	return status;
}

EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
	return run_once(control, routine, CALLER());
}
EXPORT void call_once(once_flag *control, void (*routine)(void))
{
	run_once((pthread_once_t *)control, routine, CALLER());
}

/* GLib's once-initialisation: a word that is no longer 0, tested inline. */
EXPORT int g_once_init_enter(uintptr_t *word);
int g_once_init_enter(uintptr_t *word)
{
	static int (*real)(uintptr_t *);
	struct thread *t = recording();
	struct once *o = t ? once_of(word) : NULL;
	if (!o) {
		if (!real)
			real = (int (*)(uintptr_t *))rt_next("g_once_init_enter");
		return real(word);
	}
	if (__atomic_load_n(word, __ATOMIC_ACQUIRE)) {
		if (o->done) {
			plan_point(t);
			log_event(t, LOG_RCV, 0, CALLER(), o->message, 0, 1);
		}
		return 0;
	}
	o->done = false; /* else its memory has been used again */
	sched_point(t);
	return once_enter(t, o, CALLER());
}
EXPORT void g_once_init_leave(uintptr_t *word, uintptr_t value);
void g_once_init_leave(uintptr_t *word, uintptr_t value)
{
	static void (*real)(uintptr_t *, uintptr_t);
	struct thread *t = recording();
	struct once *o = t ? once_of(word) : NULL;
	if (!o || !o->running) {
		if (!real)
			real = (void (*)(uintptr_t *, uintptr_t))rt_next("g_once_init_leave");
		real(word, value);
		return;
	}
	plan_point(t);
	log_access(t, LOG_AWRITE, 3, CALLER(), word, 3, true, value);
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	once_leave(t, o, true, CALLER());
}

/* What g_once() calls while its `status` is not yet 2, which it tests inline. */
struct g_once {
	int status;
	void *result;
};
EXPORT void *g_once_impl(struct g_once *once, void *(*make)(void *), void *argument);
void *g_once_impl(struct g_once *once, void *(*make)(void *), void *argument)
{
	enum { READY = 2 };
	struct thread *t = recording();
	struct once *o = t ? once_of(once) : NULL;
	if (!o)
		return REAL(g_once_impl)(once, make, argument);
	if (o->done && __atomic_load_n(&once->status, __ATOMIC_ACQUIRE) != READY)
		once_anew(o);
	sched_point(t);
	if (once_enter(t, o, CALLER())) {
		once->result = make(argument);
		plan_point(t);
		log_access(t, LOG_AWRITE, 3, CALLER(), &once->status, 2, true, READY);
		__atomic_store_n(&once->status, READY, __ATOMIC_RELEASE);
		once_leave(t, o, true, CALLER());
	}
	return once->result;
}

EXPORT int __cxa_guard_acquire(uint64_t *guard);
int __cxa_guard_acquire(uint64_t *guard)
{
	static int (*real)(uint64_t *);
	struct thread *t = recording();
	struct once *o = t ? once_of(guard) : NULL;
	if (!o) {
		if (!real)
			real = (int (*)(uint64_t *))rt_next("__cxa_guard_acquire");
		return real(guard);
	}
	if (__atomic_load_n((char *)guard, __ATOMIC_ACQUIRE)) {
		if (o->done) {
			plan_point(t);
			log_event(t, LOG_RCV, 0, CALLER(), o->message, 0, 1);
		}
		return 0;
	}
	sched_point(t);
	return once_enter(t, o, CALLER());
}
EXPORT void __cxa_guard_release(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard)
{
	static void (*real)(uint64_t *);
	struct thread *t = recording();
	struct once *o = t ? once_of(guard) : NULL;
	if (!o || !o->running) {
		if (!real)
			real = (void (*)(uint64_t *))rt_next("__cxa_guard_release");
		real(guard);
		return;
	}
	/* The inline test of the guard's first byte is an acquiring load of this store. */
	plan_point(t);
	log_access(t, LOG_AWRITE, 3, CALLER(), guard, 0, true, 1);
	__atomic_store_n((char *)guard, 1, __ATOMIC_RELEASE);
	once_leave(t, o, true, CALLER());
}
EXPORT void __cxa_guard_abort(uint64_t *guard);
void __cxa_guard_abort(uint64_t *guard)
{
	static void (*real)(uint64_t *);
	struct thread *t = recording();
	struct once *o = t ? once_of(guard) : NULL;
	if (!o || !o->running) {
		if (!real)
			real = (void (*)(uint64_t *))rt_next("__cxa_guard_abort");
		real(guard);
		return;
	}
	once_leave(t, o, false, CALLER());
}
