/* sync_semaphore.c - POSIX semaphores, named and unnamed; see sync_private.h. */
#include <limits.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "engine/record/runtime/core/entry.h"
#include "sync_private.h"
#include "engine/record/runtime/libc/ranges.h"

INTERPOSED(sem_init, sem_open, sem_close, sem_wait, sem_timedwait, sem_clockwait, sem_post,
           sem_getvalue, sem_destroy);

ENTRY(sem_trywait)
int interposed_sem_trywait(sem_t *s) BEHIND(sem_trywait);

/* Does a thread wait for it? The C library keeps the number of waiters above the count. */
static bool sem_waited(const sem_t *s)
{
	uint64_t data = __atomic_load_n((const uint64_t *)s, __ATOMIC_RELAXED);
	return rt.controlled ? sched_waiters(s, FOR_SEMAPHORE) > 0
	                     : data >> 32 > (data & UINT32_MAX);
}

/* A kind other than the two valid ones: the memory's contents before, so the semaphore was
 * never initialised. */
static void check_use(struct thread *t, const sem_t *s, uintptr_t pc)
{
	enum { KIND = 2, PRIVATE = 0, SHARED = 128 };
	unsigned kind = ((const unsigned *)s)[KIND];
	if (kind != PRIVATE && kind != SHARED)
		misused(t, MISUSE_NEVER_INITIALISED, pc, s);
	else
		sync_check_alive(t, s, pc);
}

int interposed_sem_init(sem_t *s, int shared, unsigned value)
{
	struct thread *t = before_init();
	int status = REAL(sem_init)(s, shared, value);
	int error = errno;
	sync_set_mark(s, 0);
	if (t && status == 0)
		log_event(t, LOG_SEMAPHORE, LOG_MADE, CALLER(), (uintptr_t)s, value, 2);
	else if (t && error == EINVAL)
		misused(t, MISUSE_INVALID_VALUE, CALLER(), s);
	errno = error;
	return status;
}
sem_t *interposed_sem_open(const char *name, int flags, ...)
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
	if (s != SEM_FAILED)
		sync_set_mark(s, 0);
	if (t && s != SEM_FAILED && REAL(sem_getvalue)(s, &now) == 0)
		log_event(t, LOG_SEMAPHORE, 0, CALLER(), (uintptr_t)s, now, 2);
	return s;
}
/* A semaphore opened twice is at one address; its last close unmaps it, and the next one may
 * lie there. */
int interposed_sem_close(sem_t *s)
{
	struct thread *t = recording();
	uintptr_t page = (uintptr_t)s & ~4095ul;
	unsigned char present;
	int status = t ? INSIDE(t, REAL(sem_close)(s)) : REAL(sem_close)(s);
	if (t && status == 0 &&
	    raw_syscall(SYS_mincore, (long)page, 1, (long)&present, 0, 0, 0) == -ENOMEM)
		log_init(t, s, 0);
	return status;
}
/* Can a process beside this one post it?  A named one (sem_open) lies in a mapping of the C
 * library's. */
static bool posted_outside(const sem_t *s)
{
	enum { KIND = 2, SHARED = 128 };
	return ((const unsigned *)s)[KIND] == SHARED &&
	       (memory_outside(s) ||
	        (!memory_shared(s) && rt.header && rt.header->happened & LOG_FORKED));
}

/* The scheduler steps aside until a thread of any process has posted it. */
static int sem_await(struct thread *t, sem_t *s, bool timed, uint64_t deadline)
{
	struct timespec at = timed ? time_outside(deadline) : (struct timespec){ 0 };
	sched_leave(t);
	int status = timed ? REAL(sem_clockwait)(s, CLOCK_MONOTONIC, &at) : REAL(sem_wait)(s);
	int error = errno;
	sched_rejoin(t);
	errno = error;
	return status;
}

static int sem_take(sem_t *s, bool try_only, const struct timespec *at, clockid_t clock,
                    uintptr_t pc)
{
	struct thread *t = recording();
	const bool entered = try_only;
	const int before = errno;
	int status;
	if (t) {
		sched_point_at(t, s);
		check_use(t, s, pc);
	}
	if (!t || !rt.controlled) {
		status = try_only ? REAL(sem_trywait)(s)
		         : at     ? REAL(sem_clockwait)(s, clock, at)
		                  : REAL(sem_wait)(s);
	} else {
		int error = errno;
		t->signals.must_end = false;
		if ((try_only || at) && told_to_fail(t, LOG_TAKETRYFAIL)) {
			status = -1;
			errno = try_only ? EAGAIN : valid_time(at) ? ETIMEDOUT : EINVAL;
			try_only = true;
		} else {
			status = REAL(sem_trywait)(s);
		}
		for (; status != 0 && errno == EAGAIN && !try_only;
		     status = REAL(sem_trywait)(s)) {
			if (t->signals.must_end) {
				errno = EINTR;
				break;
			}
			if (at && !valid_time(at)) {
				errno = EINVAL;
				break;
			}
			t->sched.pc = pc;
			uint64_t deadline = at ? deadline_of(clock, at) : 0;
			if (posted_outside(s)) {
				status = sem_await(t, s, at != NULL, deadline);
				break;
			}
			if (!sched_block(t, FOR_SEMAPHORE, s, at != NULL, deadline)) {
				errno = ETIMEDOUT;
				break;
			}
			if (sched_cancelled(&t->sched))
				pthread_testcancel();
		}
		if (status == 0)
			errno = error;
	}
	if (t && entered && (status == 0 || errno == EAGAIN)) {
		int error = errno;
		memory_tries(t, s, FOR_SEMAPHORE, (uint64_t)(unsigned)before, status == 0);
		errno = error;
	}
	/* a count above 0 would have been taken */
	bool bad_time = status != 0 && errno == EINVAL && at && !valid_time(at);
	if (t && status == 0)
		log_object(t, LOG_TAKE, log_way(try_only, at != NULL), pc, s);
	else if (t && (errno == EAGAIN || errno == ETIMEDOUT || bad_time)) {
		int error = errno;
		if (bad_time)
			misused(t, MISUSE_INVALID_TIME, pc, s);
		log_object(t, LOG_TAKETRYFAIL, at && !bad_time ? LOG_TIMED : 0, pc, s);
		errno = error;
	}
	if (t && status == 0 && posted_outside(s))
		child_brought(t, NULL, pc);
	return status;
}
int interposed_sem_wait(sem_t *s)
{
	return sem_take(s, false, NULL, 0, CALLER());
}
int interposed_sem_trywait(sem_t *s)
{
	return sem_take(s, true, NULL, 0, CALLER());
}
int interposed_sem_timedwait(sem_t *s, const struct timespec *at)
{
	return sem_take(s, false, at, CLOCK_REALTIME, CALLER());
}
int interposed_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *at)
{
	return sem_take(s, false, at, clock, CALLER());
}
int interposed_sem_post(sem_t *s)
{
	struct thread *t = recording();
	if (!t) {
		int status = REAL(sem_post)(s);
		rt.poke = 1; /* a signal handler may do this */
		return status;
	}
	sched_point_at(t, s);
	check_use(t, s, CALLER());
	int count = 0;
	REAL(sem_getvalue)(s, &count);
	if (count >= SEM_VALUE_MAX - (int)MAX_THREADS) /* a take may have to come first */
		order_matters("a post of a semaphore near its greatest count");
	if (count == SEM_VALUE_MAX) {
		misused(t, MISUSE_POST_OVERFLOW, CALLER(), s);
		return REAL(sem_post)(s);
	}
	log_sync(t, LOG_POST, CALLER(), s);
	int status = REAL(sem_post)(s);
	if (rt.controlled)
		sched_wake(s, FOR_SEMAPHORE, one_or_all());
	return status;
}
/* A look at the count is a read of the semaphore, whose value comes from its posts and
 * takes. */
int interposed_sem_getvalue(sem_t *s, int *value)
{
	struct thread *t = recording();
	if (!t)
		return REAL(sem_getvalue)(s, value);
	sched_point_at(t, s);
	int status = REAL(sem_getvalue)(s, value);
	if (status == 0)
		log_access(t, LOG_AREAD, 1, CALLER(), s, 2, true, (unsigned)*value);
	if (status == 0)
		WRITES(value, sizeof *value);
	return status;
}
int interposed_sem_destroy(sem_t *s)
{
	struct thread *t = recording();
	if (t) {
		plan_point(t);
		sync_check_destroy(t, s, sem_waited(s), CALLER());
		sync_set_mark(s, MARK_DESTROYED);
	}
	return destroyed(s, REAL(sem_destroy)(s), 0, t, CALLER());
}
