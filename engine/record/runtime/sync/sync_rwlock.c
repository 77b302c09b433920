/* sync_rwlock.c - reader-writer locks and spin locks; see sync_private.h. */
#include <limits.h>

#include "engine/record/runtime/core/entry.h"
#include "sync_private.h"

INTERPOSED(pthread_rwlock_timedrdlock, pthread_rwlock_timedwrlock, pthread_rwlock_clockrdlock,
           pthread_rwlock_clockwrlock, pthread_rwlock_unlock, pthread_rwlock_init,
           pthread_rwlock_destroy, pthread_spin_unlock, pthread_spin_destroy,
           pthread_spin_init);

ENTRY(pthread_rwlock_rdlock)
ENTRY(pthread_rwlock_wrlock)
ENTRY(pthread_rwlock_tryrdlock)
ENTRY(pthread_rwlock_trywrlock)
ENTRY(pthread_spin_lock)
ENTRY(pthread_spin_trylock)
int interposed_pthread_rwlock_rdlock(pthread_rwlock_t *l) BEHIND(pthread_rwlock_rdlock);
int interposed_pthread_rwlock_wrlock(pthread_rwlock_t *l) BEHIND(pthread_rwlock_wrlock);
int interposed_pthread_rwlock_tryrdlock(pthread_rwlock_t *l) BEHIND(pthread_rwlock_tryrdlock);
int interposed_pthread_rwlock_trywrlock(pthread_rwlock_t *l) BEHIND(pthread_rwlock_trywrlock);
int interposed_pthread_spin_lock(pthread_spinlock_t *l) BEHIND(pthread_spin_lock);
int interposed_pthread_spin_trylock(pthread_spinlock_t *l) BEHIND(pthread_spin_trylock);

/* ---- reader-writer locks ---- */

/* The C library's destruction does nothing; the runtime marks the lock in bytes that
 * PTHREAD_RWLOCK_INITIALIZER sets to 0 and the library does not use. */
enum { RW_MARK = 0x64616564 };

static unsigned rw_dead(const pthread_rwlock_t *l)
{
	return l->__data.__pad4 == RW_MARK ? LOG_DEAD : 0;
}

enum { READERS_SHIFT = 3 }; /* in the C library's count of readers; its flags are below */

/* Has the lock never been initialised? The C library gives these fields no such value. */
static bool is_garbage(const pthread_rwlock_t *l)
{
	return (unsigned)l->__data.__shared > 1 ||
	       l->__data.__flags > PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

static void check_lock(struct thread *t, const pthread_rwlock_t *l, bool may_fail, uintptr_t pc)
{
	if (is_garbage(l))
		misused(t, MISUSE_NEVER_INITIALISED, pc, l);
	else if (rw_dead(l))
		misused(t, MISUSE_USE_DESTROYED, pc, l);
	else if (!may_fail && l->__data.__cur_writer == t->life.tid)
		misused(t, MISUSE_DOUBLE_LOCK, pc, l);
}

static void check_unlock(struct thread *t, const pthread_rwlock_t *l, uintptr_t pc)
{
	int writer = l->__data.__cur_writer;
	bool read = l->__data.__readers >> READERS_SHIFT != 0;
	if (is_garbage(l))
		misused(t, MISUSE_NEVER_INITIALISED, pc, l);
	else if (rw_dead(l))
		misused(t, MISUSE_USE_DESTROYED, pc, l);
	else if (writer != t->life.tid && (writer != 0 || !read))
		misused(t, writer ? MISUSE_UNLOCK_BY_OTHER : MISUSE_UNLOCK_NOT_HELD, pc, l);
}

/* Readers of some locks wait for a writer that waits; reorderings have it that readers share.
 */
static void note_kind(const pthread_rwlock_t *l, bool write)
{
	static bool noted;
	if (write || l->__data.__flags != PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
		return;
	order_matters("a reader-writer lock that lets a waiting writer go first");
	if (!__atomic_exchange_n(&noted, true, __ATOMIC_RELAXED))
		log_note("writer-first", "yes");
}

/* Does a reader wait for a writer that waits, though the lock is free for reading? The C
 * library would know the writer as one that has asked; here it waits in the scheduler. */
static bool writer_first(const pthread_rwlock_t *l, bool write)
{
	return !write && l->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP &&
	       l->__data.__readers >> READERS_SHIFT != 0 &&
	       sched_waiters(l, FOR_WRITE_LOCK) > 0;
}

static int rw_lock(pthread_rwlock_t *l, bool write, bool try_only, const struct timespec *at,
                   clockid_t clock, uintptr_t pc)
{
	struct thread *t = recording();
	if (t && at && !valid_time(at)) { /* refused even where the lock is free */
		misused(t, MISUSE_INVALID_TIME, pc, l);
		return EINVAL;
	}
	if (t && !rt.controlled) {
		check_lock(t, l, try_only || at, pc);
		note_kind(l, write);
	}
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
			log_object(t, write ? LOG_ACQ : LOG_RACQ,
			           rw_dead(l) | log_way(try_only, at != NULL), pc, l);
		else if (t && (status == EBUSY || status == ETIMEDOUT))
			log_object(t, LOG_TRYFAIL,
			           rw_dead(l) | (write ? 0 : LOG_SHARED) | (at ? LOG_TIMED : 0),
			           pc, l);
		return status;
	}
	sched_point_at(t, l);
	check_lock(t, l, try_only || at, pc);
	note_kind(l, write);
	int status = try_only ? EBUSY : ETIMEDOUT;
	while (!(try_only || at) || !told_to_fail(t, LOG_TRYFAIL)) {
		status = write                    ? REAL(pthread_rwlock_trywrlock)(l)
		         : writer_first(l, write) ? EBUSY
		                                  : REAL(pthread_rwlock_tryrdlock)(l);
		if (status != EBUSY)
			break;
		if (try_only)
			break;
		if (l->__data.__cur_writer == t->life.tid)
			return EDEADLK;
		t->sched.pc = pc;
		if (!sched_block(t, write ? FOR_WRITE_LOCK : FOR_READ_LOCK, l, at != NULL,
		                 at ? deadline_of(clock, at) : 0)) {
			status = ETIMEDOUT;
			if (write) /* readers waited for this writer */
				sched_wake(l, FOR_READ_LOCK, UINT_MAX);
			break;
		}
	}
	if (try_only && (status == 0 || status == EBUSY))
		memory_tries(t, l, write ? FOR_WRITE_LOCK : FOR_READ_LOCK, 0, status == 0);
	else if (status == 0 && !at)
		memory_acquires(t, l, write);
	if (status == 0)
		log_object(t, write ? LOG_ACQ : LOG_RACQ,
		           rw_dead(l) | log_way(try_only, at != NULL), pc, l);
	else if (status == EBUSY || status == ETIMEDOUT)
		log_object(t, LOG_TRYFAIL,
		           rw_dead(l) | (write ? 0 : LOG_SHARED) | (at ? LOG_TIMED : 0), pc, l);
	if (status == 0)
		child_brought(t, l, pc);
	return status;
}

int interposed_pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	return rw_lock(l, false, false, NULL, 0, CALLER());
}
int interposed_pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	return rw_lock(l, true, false, NULL, 0, CALLER());
}
int interposed_pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	return rw_lock(l, false, true, NULL, 0, CALLER());
}
int interposed_pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	return rw_lock(l, true, true, NULL, 0, CALLER());
}
int interposed_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *at)
{
	return rw_lock(l, false, false, at, CLOCK_REALTIME, CALLER());
}
int interposed_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *at)
{
	return rw_lock(l, true, false, at, CLOCK_REALTIME, CALLER());
}
int interposed_pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
                                          const struct timespec *at)
{
	return rw_lock(l, false, false, at, clock, CALLER());
}
int interposed_pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
                                          const struct timespec *at)
{
	return rw_lock(l, true, false, at, clock, CALLER());
}
int rw_lock_within(pthread_rwlock_t *l, bool write, bool tries, uintptr_t pc)
{
	return rw_lock(l, write, tries, NULL, 0, pc);
}

int rw_unlock_within(pthread_rwlock_t *l, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t) {
		int status = REAL(pthread_rwlock_unlock)(l);
		rt.poke = 1;
		return status;
	}
	plan_point(t);
	check_unlock(t, l, pc);
	memory_releases(t);
	log_object(t, l->__data.__cur_writer == t->life.tid ? LOG_REL : LOG_RREL, rw_dead(l),
	           pc, l);
	int status = REAL(pthread_rwlock_unlock)(l);
	if (rt.controlled) {
		sched_wake(l, FOR_READ_LOCK, UINT_MAX);
		sched_wake(l, FOR_WRITE_LOCK, UINT_MAX);
	}
	return status;
}

int interposed_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	return rw_unlock_within(l, CALLER());
}
int interposed_pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *attributes)
{
	struct thread *t = before_init();
	return initialised(l, REAL(pthread_rwlock_init)(l, attributes), t, CALLER());
}
int interposed_pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_rwlock_destroy)(l);
	plan_point(t);
	if (is_garbage(l))
		misused(t, MISUSE_NEVER_INITIALISED, CALLER(), l);
	else if (rw_dead(l))
		misused(t, MISUSE_USE_DESTROYED, CALLER(), l);
	else if (l->__data.__cur_writer || l->__data.__readers >> READERS_SHIFT)
		misused(t, MISUSE_DESTROY_LOCKED, CALLER(), l);
	unsigned flags = rw_dead(l) | LOG_MARKED;
	int status = REAL(pthread_rwlock_destroy)(l);
	if (status == 0)
		l->__data.__pad4 = RW_MARK;
	return destroyed(l, status, flags, t, CALLER());
}

/* ---- spin locks ---- */

enum {
	SPIN_FREE = 1
}; /* the C library's value; a held lock has 0 or less, and none has
    * more */

static void check_spin(struct thread *t, const volatile int *l, bool may_fail, uintptr_t pc)
{
	if (*l > SPIN_FREE)
		misused(t, MISUSE_NEVER_INITIALISED, pc, (const void *)l);
	else
		sync_check_lock(t, l, may_fail, pc);
}

int interposed_pthread_spin_lock(pthread_spinlock_t *l)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_spin_lock)(l);
	sched_point_at(t, (const volatile void *)l);
	check_spin(t, l, false, CALLER());
	int status;
	if (!rt.controlled) {
		status = REAL(pthread_spin_lock)(l);
	} else {
		while ((status = REAL(pthread_spin_trylock)(l)) == EBUSY) {
			t->sched.pc = CALLER();
			sched_block(t, FOR_SPIN, (const void *)l, false, 0);
		}
	}
	if (status == 0) {
		memory_acquires(t, l, true);
		log_sync(t, LOG_ACQ, CALLER(), (const void *)l);
		sync_set_mark(l, t->id + 1);
	}
	return status;
}
int interposed_pthread_spin_trylock(pthread_spinlock_t *l)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_spin_trylock)(l);
	sched_point_at(t, (const volatile void *)l);
	check_spin(t, l, true, CALLER());
	int status = told_to_fail(t, LOG_TRYFAIL) ? EBUSY : REAL(pthread_spin_trylock)(l);
	memory_tries(t, l, FOR_SPIN, 0, status == 0);
	if (status == 0) {
		log_try(t, LOG_ACQ, CALLER(), (const void *)l);
		sync_set_mark(l, t->id + 1);
	} else {
		log_sync(t, LOG_TRYFAIL, CALLER(), (const void *)l);
	}
	return status;
}
int interposed_pthread_spin_unlock(pthread_spinlock_t *l)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_spin_unlock)(l);
	plan_point(t);
	sync_check_unlock(t, l, *l != SPIN_FREE, CALLER());
	memory_releases(t);
	log_sync(t, LOG_REL, CALLER(), (const void *)l);
	int status = REAL(pthread_spin_unlock)(l);
	if (rt.controlled)
		sched_wake((const void *)l, FOR_SPIN, one_or_all());
	return status;
}
int interposed_pthread_spin_destroy(pthread_spinlock_t *l)
{
	struct thread *t = recording();
	if (t) {
		plan_point(t);
		sync_check_destroy(t, l, false, CALLER());
		if (sync_mark(l) != MARK_DESTROYED && *l != SPIN_FREE)
			misused(t, MISUSE_DESTROY_LOCKED, CALLER(), (const void *)l);
		sync_set_mark(l, MARK_DESTROYED);
	}
	return destroyed((void *)l, REAL(pthread_spin_destroy)(l), 0, t, CALLER());
}
int interposed_pthread_spin_init(pthread_spinlock_t *l, int shared)
{
	struct thread *t = before_init();
	sync_set_mark(l, 0);
	return initialised((void *)l, REAL(pthread_spin_init)(l, shared), t, CALLER());
}
