/*
 * sync_private.h - declarations of the files sync_*.c: POSIX's and C11's own objects.
 *
 * In controlled mode locks and semaphores are taken by the real try-call, so that their state
 * is the one that the C library knows; a thread that must wait waits in our scheduler. In free
 * mode the real call does it all and the event is written after an acquire and before a
 * release.
 */
#ifndef HEDDLE_SYNC_PRIVATE_H
#define HEDDLE_SYNC_PRIVATE_H

#include <limits.h>

#include "engine/record/runtime/core/rt.h"

static inline unsigned one_or_all(void)
{
	return rt.replay ? UINT_MAX : 1; /* the plan says which thread comes first */
}

/* Beyond sequential consistency a try may fail for a lock that is free again, where nothing
 * orders the two: then the plan says so. */
static inline bool told_to_fail(const struct thread *t, enum log_tag tag)
{
	const struct log_step *s = rt.memory ? replay_step(t) : NULL;
	return s && s->tag == tag;
}

static inline bool valid_time(const struct timespec *at)
{
	return at->tv_nsec >= 0 && at->tv_nsec < 1000000000;
}

/* Before an initialisation. It is no event, but other threads' events have places before and
 * after it, which the plan knows by the events of its thread. NULL: not recorded. */
static inline struct thread *before_init(void)
{
	struct thread *t = recording();
	if (t)
		plan_point(t);
	return t;
}

/* Notes an initialisation, or its refusal. `t` may be NULL: not recorded. Returns `status`, of
 * the C library's call. */
static inline int initialised(void *object, int status, struct thread *t, uintptr_t pc)
{
	if (t && status == 0)
		log_init(t, object, pc);
	else if (t && status == EINVAL)
		misused(t, MISUSE_INVALID_VALUE, pc, object);
	return status;
}

/* Notes a destruction. A witness may destroy an object that a thread holds; the C library's
 * refusal, which POSIX leaves open, must not end the replay. `flags`: enum log_object_flag. */
static inline int destroyed(void *object, int status, unsigned flags, struct thread *t,
                            uintptr_t pc)
{
	if (t && (status == 0 || (rt.replay && status == EBUSY)))
		log_object(t, LOG_DESTROY, flags, pc, object);
	return status;
}

/* sync_marks.c: for an object without such fields: 0, one more than the number of the thread
 * that holds it, or MARK_DESTROYED. An object's initialisation sets 0. */
enum { MARK_DESTROYED = 0xffff };
unsigned sync_mark(const volatile void *object);
/* False: another address may have overwritten the object's mark. */
bool sync_mark_known(const volatile void *object);
void sync_set_mark(const volatile void *object, unsigned mark);
/* Before the call of this kind on such an object: is it misuse?  `held`: the lock is locked, by
 * any thread; `waited`: a thread waits for it.  The second last forgets its holder. */
void sync_check_alive(struct thread *t, const volatile void *object, uintptr_t pc);
void sync_check_lock(struct thread *t, const volatile void *lock, bool may_fail, uintptr_t pc);
void sync_check_unlock(struct thread *t, const volatile void *lock, bool held, uintptr_t pc);
void sync_check_destroy(struct thread *t, const volatile void *object, bool waited,
                        uintptr_t pc);

/* sync_mutex.c: the caller releases it; reported, when it may not. */
void mutex_check_unlock(struct thread *t, const pthread_mutex_t *m, uintptr_t pc);
/* sync_mutex.c: will the C library refuse to release it, since its kind has an owner, which is
 * another thread or none? Exact in free mode, too: only the thread itself makes itself the
 * owner. */
bool mutex_refuses_unlock(const struct thread *t, const pthread_mutex_t *m);

/* sync_mutex.c: take it, after the scheduling point; 0, EOWNERDEAD or an error. */
/* The end of virtual time's wait by the real CLOCK_MONOTONIC, for calls that step aside. */
struct timespec time_outside(uint64_t deadline);
int mutex_take(struct thread *t, pthread_mutex_t *m, bool timed, uint64_t deadline,
               uintptr_t pc);

/* sync_mutex.c, sync_rwlock.c: the program's calls, which return to `pc`, in one by an ENTRY.
 */
int mutex_lock_within(pthread_mutex_t *m, bool tries, uintptr_t pc);
int mutex_unlock_within(pthread_mutex_t *m, uintptr_t pc);
int rw_lock_within(pthread_rwlock_t *l, bool write, bool tries, uintptr_t pc);
int rw_unlock_within(pthread_rwlock_t *l, uintptr_t pc);

/* sync_cond.c: for a condition, or an object modelled as one. Sleeps as one of its waiters
 * (sync.condition, since the wait was written) until a signal comes, true, or the time is up,
 * false. Then the thread no longer waits. */
bool condition_sleep(struct thread *t, const void *c, bool timed, uint64_t deadline,
                     uintptr_t pc);
bool condition_wake(struct thread *t, const void *c, uintptr_t pc);
/* Writes the signal, and wakes. `flags`: enum log_object_flag. */
void condition_signal(struct thread *t, const void *c, bool all, unsigned flags, uintptr_t pc);

/* threads.c: a handle was written by the call that returns to `pc`: the write, which other
 * threads may see; none on the thread's own stack. */
void thread_wrote_handle(struct thread *t, const void *handle, uintptr_t pc);

/* cxx_threads.c: the caller of a function of POSIX threads that returns to `pc`: where that is
 * in std::thread, std::thread's. */
uintptr_t cxx_caller(uintptr_t pc);

#endif
