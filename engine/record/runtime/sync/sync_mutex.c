/* sync_mutex.c - mutexes, of POSIX and C11; see sync_private.h. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <threads.h>

#include "engine/record/runtime/core/entry.h"
#include "sync_private.h"

INTERPOSED(pthread_mutex_init, pthread_mutex_timedlock, pthread_mutex_clocklock,
           pthread_mutex_unlock, pthread_mutex_destroy, mtx_timedlock, mtx_unlock, mtx_destroy,
           mtx_init);

ENTRY(pthread_mutex_lock)
ENTRY(mtx_lock)
ENTRY(pthread_mutex_trylock)
ENTRY(mtx_trylock)
int interposed_pthread_mutex_lock(pthread_mutex_t *m) BEHIND(pthread_mutex_lock);
int interposed_mtx_lock(mtx_t *m) BEHIND(mtx_lock);
int interposed_pthread_mutex_trylock(pthread_mutex_t *m) BEHIND(pthread_mutex_trylock);
int interposed_mtx_trylock(mtx_t *m) BEHIND(mtx_trylock);

/* Does a thread of another process hold it? Only that process can release it. */
static bool held_outside(const pthread_mutex_t *m)
{
	enum { SHARED = 128 }; /* flag in glibc's kinds: between processes */
	if (!(m->__data.__kind & SHARED))
		return false;
	int owner = m->__data.__owner;
	for (uint32_t i = 0; i < rt.thread_count && i < MAX_THREADS; i++)
		if (rt.threads[i] && rt.threads[i]->life.tid == owner)
			return false;
	return true;
}

struct timespec time_outside(uint64_t deadline)
{
	struct timespec at;
	uint64_t now = virtual_now(), left = deadline > now ? deadline - now : 0;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &at);
	left += (uint64_t)at.tv_nsec;
	at.tv_sec += (time_t)(left / 1000000000);
	at.tv_nsec = (long)(left % 1000000000);
	return at;
}

/* The scheduler steps aside while the other process has it. */
static int mutex_await(struct thread *t, pthread_mutex_t *m, bool timed, uint64_t deadline)
{
	struct timespec at;
	sched_leave(t);
	int status;
	if (timed) {
		at = time_outside(deadline);
		status = REAL(pthread_mutex_clocklock)(m, CLOCK_MONOTONIC, &at);
	} else {
		status = REAL(pthread_mutex_lock)(m);
	}
	sched_rejoin(t);
	return status;
}

int mutex_take(struct thread *t, pthread_mutex_t *m, bool timed, uint64_t deadline,
               uintptr_t pc)
{
	for (;;) {
		int status = REAL(pthread_mutex_trylock)(m);
		if (status != EBUSY)
			return status;
		if ((m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK &&
		    m->__data.__owner == t->life.tid)
			return EDEADLK;
		t->sched.pc = pc;
		if (held_outside(m))
			return mutex_await(t, m, timed, deadline);
		if (!sched_block(t, FOR_MUTEX, m, timed, deadline))
			return ETIMEDOUT;
		if (!rt.on)
			return REAL(pthread_mutex_lock)(m);
	}
}

/* The C library marks a mutex that is destroyed. */
static bool mutex_dead(const pthread_mutex_t *m)
{
	return m->__data.__kind == -1;
}

/*
 * Misuse is detected by the C library's fields of the mutex. Its owner is the thread's own
 * number only when that thread has it; so this is exact in free mode, too. With elision
 * (which must be switched on) it has no owner, and a robust mutex whose owner died has none
 * until it is repaired: these are not checked.
 */
enum { ELISION = 256, INCONSISTENT = 0x7ffffffe };

static bool tells_owner(const pthread_mutex_t *m)
{
	return !(m->__data.__kind & ELISION) && m->__data.__owner < INCONSISTENT;
}

/* Has the thread taken it, in this process or in the one that this is a child of? */
static bool is_owner(const struct thread *t, const pthread_mutex_t *m)
{
	int owner = m->__data.__owner;
	return owner == t->life.tid || (unlikely(t->life.former) && owner == t->life.former);
}

/* Has the mutex never been initialised? The C library sets no such bits in a kind. */
static bool is_garbage(const pthread_mutex_t *m)
{
	enum { KINDS = 0x7ff80000 | 0x3ff, TYPES = 0x7f, KNOWN = 0x73 };
	int kind = m->__data.__kind;
	return kind != -1 && ((kind & ~KINDS) || (kind & TYPES & ~KNOWN));
}

static void check_lock(struct thread *t, const pthread_mutex_t *m, bool may_fail, uintptr_t pc)
{
	enum { TYPE = 3 };
	if (is_garbage(m))
		misused(t, MISUSE_NEVER_INITIALISED, pc, m);
	else if (mutex_dead(m))
		misused(t, MISUSE_USE_DESTROYED, pc, m);
	else if (!may_fail && tells_owner(m) && m->__data.__lock != 0 && is_owner(t, m) &&
	         (m->__data.__kind & TYPE) != PTHREAD_MUTEX_RECURSIVE)
		misused(t, MISUSE_DOUBLE_LOCK, pc, m);
}

void mutex_check_unlock(struct thread *t, const pthread_mutex_t *m, uintptr_t pc)
{
	if (is_garbage(m))
		misused(t, MISUSE_NEVER_INITIALISED, pc, m);
	else if (mutex_dead(m))
		misused(t, MISUSE_USE_DESTROYED, pc, m);
	else if (tells_owner(m) && !is_owner(t, m))
		misused(t, m->__data.__lock ? MISUSE_UNLOCK_BY_OTHER : MISUSE_UNLOCK_NOT_HELD,
		        pc, m);
}

bool mutex_refuses_unlock(const struct thread *t, const pthread_mutex_t *m)
{
	enum { TYPE = 3, ROBUST = 16, INHERITS = 32 }; /* in glibc's kinds */
	int kind = m->__data.__kind, type = kind & TYPE;
	if (mutex_dead(m))
		return true;
	if (kind & (ROBUST | INHERITS)) /* whatever its type; the kernel has the owner, too */
		return (m->__data.__lock & FUTEX_TID_MASK) != t->life.tid;
	return (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK) &&
	       m->__data.__owner != t->life.tid;
}

static void check_destroy(struct thread *t, const pthread_mutex_t *m, uintptr_t pc)
{
	if (is_garbage(m))
		misused(t, MISUSE_NEVER_INITIALISED, pc, m);
	else if (mutex_dead(m))
		misused(t, MISUSE_USE_DESTROYED, pc, m);
	else if (tells_owner(m) && m->__data.__lock != 0)
		misused(t, MISUSE_DESTROY_LOCKED, pc, m);
}

/* The C library refuses such a mutex, which is a use of it all the same. */
static void log_refused(struct thread *t, pthread_mutex_t *m, uintptr_t pc)
{
	if (mutex_dead(m))
		log_object(t, LOG_TRYFAIL, LOG_DEAD, pc, m);
}

/* Does the thread have a recursive mutex, taken so many times or more? Then that it is taken
 * or released synchronises nothing (POSIX, "Memory Synchronization"). */
static void tell_again(struct thread *t, const pthread_mutex_t *m, unsigned times)
{
	enum { TYPE = 3 };
	if (unlikely(rt.memory) && (m->__data.__kind & TYPE) == PTHREAD_MUTEX_RECURSIVE &&
	    m->__data.__owner == t->life.tid && m->__data.__count >= times)
		memory_again(t);
}

/* The outcome of a lock or a try; `way`: log_way; `entered`: by an ENTRY. */
static int mutex_outcome(struct thread *t, pthread_mutex_t *m, int status, unsigned way,
                         bool entered, uintptr_t pc)
{
	if (entered && way && (status == 0 || status == EBUSY))
		memory_tries(t, m, FOR_MUTEX, 0, status == 0);
	else if (entered && status == 0)
		memory_acquires(t, m, true);
	if (status == EOWNERDEAD)
		order_matters(ROBUST_LEFT);
	if (status == 0 || status == EOWNERDEAD) {
		tell_again(t, m, 2);
		log_object(t, LOG_ACQ, way, pc, m);
		child_brought(t, m, pc);
	} else if (status == EBUSY || status == ETIMEDOUT)
		log_object(t, LOG_TRYFAIL, way & LOG_TIMED, pc, m);
	else
		log_refused(t, m, pc);
	return status;
}

static int mutex_lock(pthread_mutex_t *m, const struct timespec *at, clockid_t clock,
                      bool entered, uintptr_t pc)
{
	struct thread *t = recording();
	int status;
	if (!t && !at)
		child_locks(m, pc);
	if (!t)
		return at ? REAL(pthread_mutex_clocklock)(m, clock, at)
		          : REAL(pthread_mutex_lock)(m);
	sched_point_at(t, m);
	check_lock(t, m, at != NULL, pc);
	if (!rt.controlled) {
		status = at ? REAL(pthread_mutex_clocklock)(m, clock, at)
		            : REAL(pthread_mutex_lock)(m);
	} else {
		if (at && told_to_fail(t, LOG_TRYFAIL)) {
			status = valid_time(at) ? ETIMEDOUT : EINVAL;
		} else if (at && !valid_time(at)) {
			status = REAL(pthread_mutex_trylock)(m);
			if (status == EBUSY)
				status = EINVAL;
		} else {
			status = mutex_take(t, m, at != NULL, at ? deadline_of(clock, at) : 0,
			                    pc);
		}
		plan_point(t);
	}
	if (status == EINVAL && at && !valid_time(at) && !mutex_dead(m)) {
		misused(t, MISUSE_INVALID_TIME, pc, m);
		log_sync(t, LOG_TRYFAIL, pc, m); /* a free mutex would have been locked */
	}
	return mutex_outcome(t, m, status, log_way(false, at != NULL), entered, pc);
}

static int mutex_trylock(pthread_mutex_t *m, bool entered, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_mutex_trylock)(m);
	sched_point_at(t, m);
	check_lock(t, m, true, pc);
	int status = told_to_fail(t, LOG_TRYFAIL) ? EBUSY : REAL(pthread_mutex_trylock)(m);
	return mutex_outcome(t, m, status, LOG_TRY, entered, pc);
}

static int mutex_unlock(pthread_mutex_t *m, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t) {
		int status = REAL(pthread_mutex_unlock)(m);
		rt.poke = 1;
		return status;
	}
	bool refused = mutex_refuses_unlock(t, m);
	if (!refused) /* which is no event that a plan could have */
		plan_point(t);
	mutex_check_unlock(t, m, pc);
	if (!rt.controlled) {
		if (!refused)
			log_sync(t, LOG_REL, pc, m);
		return REAL(pthread_mutex_unlock)(m);
	}
	log_value(t);
	int status = REAL(pthread_mutex_unlock)(m);
	if (status == 0) {
		memory_releases(t);
		tell_again(t, m, 1);
		log_sync(t, LOG_REL, pc, m);
		sched_wake(m, FOR_MUTEX, one_or_all());
	}
	return status;
}

int mutex_lock_within(pthread_mutex_t *m, bool tries, uintptr_t pc)
{
	return tries ? mutex_trylock(m, true, pc) : mutex_lock(m, NULL, 0, true, pc);
}

int mutex_unlock_within(pthread_mutex_t *m, uintptr_t pc)
{
	return mutex_unlock(m, pc);
}

static int mutex_destroy(pthread_mutex_t *m, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_mutex_destroy)(m);
	plan_point(t);
	check_destroy(t, m, pc);
	unsigned flags = mutex_dead(m) ? LOG_DEAD : 0;
	int status = REAL(pthread_mutex_destroy)(m);
	return destroyed(m, status, flags | (mutex_dead(m) ? LOG_MARKED : 0), t, pc);
}

int interposed_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attributes)
{
	struct thread *t = before_init();
	return initialised(m, REAL(pthread_mutex_init)(m, attributes), t, CALLER());
}
EXPORT int __pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attributes);
int __pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attributes)
{
	return pthread_mutex_init(m, attributes);
}

int interposed_pthread_mutex_lock(pthread_mutex_t *m)
{
	return mutex_lock(m, NULL, 0, true, CALLER());
}
EXPORT int __pthread_mutex_lock(pthread_mutex_t *m);
int __pthread_mutex_lock(pthread_mutex_t *m)
{
	return mutex_lock(m, NULL, 0, false, CALLER());
}
int interposed_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *at)
{
	return mutex_lock(m, at, CLOCK_REALTIME, false, CALLER());
}
int interposed_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
                                       const struct timespec *at)
{
	return mutex_lock(m, at, clock, false, CALLER());
}
int interposed_pthread_mutex_trylock(pthread_mutex_t *m)
{
	return mutex_trylock(m, true, CALLER());
}
EXPORT int __pthread_mutex_trylock(pthread_mutex_t *m);
int __pthread_mutex_trylock(pthread_mutex_t *m)
{
	return mutex_trylock(m, false, CALLER());
}
int interposed_pthread_mutex_unlock(pthread_mutex_t *m)
{
	return mutex_unlock(m, CALLER());
}
EXPORT int __pthread_mutex_unlock(pthread_mutex_t *m);
int __pthread_mutex_unlock(pthread_mutex_t *m)
{
	return mutex_unlock(m, CALLER());
}
int interposed_pthread_mutex_destroy(pthread_mutex_t *m)
{
	return mutex_destroy(m, CALLER());
}
EXPORT int __pthread_mutex_destroy(pthread_mutex_t *m);
int __pthread_mutex_destroy(pthread_mutex_t *m)
{
	return mutex_destroy(m, CALLER());
}

int interposed_mtx_lock(mtx_t *m)
{
	return mutex_lock((pthread_mutex_t *)m, NULL, 0, true, CALLER()) ? thrd_error
	                                                                 : thrd_success;
}
int interposed_mtx_timedlock(mtx_t *m, const struct timespec *at)
{
	int status = mutex_lock((pthread_mutex_t *)m, at, CLOCK_REALTIME, false, CALLER());
	return status == 0 ? thrd_success : status == ETIMEDOUT ? thrd_timedout : thrd_error;
}
int interposed_mtx_trylock(mtx_t *m)
{
	int status = mutex_trylock((pthread_mutex_t *)m, true, CALLER());
	return status == 0 ? thrd_success : status == EBUSY ? thrd_busy : thrd_error;
}
int interposed_mtx_unlock(mtx_t *m)
{
	return mutex_unlock((pthread_mutex_t *)m, CALLER()) ? thrd_error : thrd_success;
}
void interposed_mtx_destroy(mtx_t *m)
{
	mutex_destroy((pthread_mutex_t *)m, CALLER());
}
int interposed_mtx_init(mtx_t *m, int kind)
{
	struct thread *t = before_init();
	int status = REAL(mtx_init)(m, kind);
	initialised(m, status == thrd_success ? 0 : ENOMEM, t, CALLER());
	return status;
}
