/*
 * sync_cond.c - conditions, of POSIX and C11; see sync_private.h.  In controlled mode they are
 * modelled whole: no thread ever waits in the C library's.
 */
#include <dlfcn.h>
#include <limits.h>
#include <threads.h>

#include "engine/record/runtime/libc/libc.h"
#include "sync_private.h"

INTERPOSED(pthread_cond_wait, pthread_cond_timedwait, pthread_cond_clockwait,
           pthread_cond_signal, pthread_cond_broadcast, pthread_cond_init, pthread_cond_destroy,
           cnd_wait, cnd_timedwait, cnd_signal, cnd_broadcast, cnd_destroy, cnd_init);

#define REAL_CONDITION(name) \
	({ \
		static __typeof__(name) *real_; \
		if (!real_) \
			real_ = (__typeof__(name) *)dlvsym(RTLD_NEXT, #name, "GLIBC_2.3.2"); \
		real_; \
	})

/* The C library marks a condition that is destroyed. */
static bool cond_dead(const pthread_cond_t *c)
{
	return c->__data.__wrefs & 4;
}

static void log_cond(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                     pthread_cond_t *c)
{
	if (cond_dead(c))
		misused(t, MISUSE_USE_DESTROYED, pc, c);
	log_object(t, tag, flags | (cond_dead(c) ? LOG_DEAD : 0), pc, c);
}

static int free_wait(struct thread *t, pthread_cond_t *c, pthread_mutex_t *m,
                     const struct timespec *at, clockid_t clock, uintptr_t pc)
{
	bool refused = (at && !valid_time(at)) || mutex_refuses_unlock(t, m);
	if (at && !valid_time(at))
		misused(t, MISUSE_INVALID_TIME, pc, c);
	mutex_check_unlock(t, m, pc);
	if (!refused) {
		log_cond(t, LOG_WAIT, 0, pc, c);
		log_sync(t, LOG_REL, pc, m);
	}
	int status = !at          ? REAL_CONDITION(pthread_cond_wait)(c, m)
	             : clock >= 0 ? REAL(pthread_cond_clockwait)(c, m, clock, at)
	                          : REAL_CONDITION(pthread_cond_timedwait)(c, m, at);
	if (refused)
		return status;
	log_object(t, LOG_WAKE, status == ETIMEDOUT ? LOG_TRY : 0, pc, c);
	if (status == 0 || status == ETIMEDOUT || status == EOWNERDEAD)
		log_sync(t, LOG_ACQ, pc, m);
	return status;
}

bool condition_sleep(struct thread *t, const void *c, bool timed, uint64_t deadline,
                     uintptr_t pc)
{
	bool in_time = true;
	t->sched.pc = pc;
	while (!t->sync.woken && in_time && !sched_cancelled(&t->sched) && rt.on)
		in_time = sched_block(t, FOR_CONDITION, c, timed, deadline);
	return in_time || t->sync.woken;
}

bool condition_wake(struct thread *t, const void *c, uintptr_t pc)
{
	t->sync.condition = NULL;
	plan_point(t);
	log_object(t, LOG_WAKE, t->sync.woken ? 0 : LOG_TRY, pc, c);
	return t->sync.woken;
}

/* Can a process beside this one signal it? */
static bool signalled_outside(const pthread_cond_t *c)
{
	enum { SHARED = 1 }; /* glibc's bit */
	return c->__data.__wrefs & SHARED && memory_outside(c);
}

/* The scheduler steps aside until a thread of any process has signalled it. The mutex is free
 * meanwhile: threads that wait for it try again. */
static int cond_await(struct thread *t, pthread_cond_t *c, pthread_mutex_t *m, bool timed,
                      uint64_t deadline, uintptr_t pc)
{
	struct timespec at = timed ? time_outside(deadline) : (struct timespec){ 0 };
	log_cond(t, LOG_WAIT, timed ? LOG_TRY : 0, pc, c);
	plan_point(t);
	log_sync(t, LOG_REL, pc, m);
	rt.poke = 1;
	sched_leave(t);
	int status = timed ? REAL(pthread_cond_clockwait)(c, m, CLOCK_MONOTONIC, &at)
	                   : REAL_CONDITION(pthread_cond_wait)(c, m);
	sched_rejoin(t);
	plan_point(t);
	log_object(t, LOG_WAKE, LOG_TRY, pc, c);
	plan_point(t);
	if (status == 0 || status == ETIMEDOUT || status == EOWNERDEAD)
		log_sync(t, LOG_ACQ, pc, m);
	child_brought(t, c, pc);
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
	if (at && !valid_time(at)) {
		misused(t, MISUSE_INVALID_TIME, pc, c);
		return EINVAL;
	}
	if (mutex_refuses_unlock(t, m)) { /* no wait, and no event */
		mutex_check_unlock(t, m, pc);
		return REAL(pthread_mutex_unlock)(m);
	}
	sched_point_at(t, c);
	if (sched_cancelled(&t->sched))
		pthread_testcancel();
	uint64_t deadline = 0;
	if (at)
		deadline = deadline_of(clock >= 0              ? clock
		                       : c->__data.__wrefs & 2 ? CLOCK_MONOTONIC
		                                               : CLOCK_REALTIME,
		                       at);
	mutex_check_unlock(t, m, pc);
	if (signalled_outside(c))
		return cond_await(t, c, m, at != NULL, deadline, pc);
	t->sync.condition = c;
	t->sync.woken = false;
	log_cond(t, LOG_WAIT, at ? LOG_TRY : 0, pc, c);
	plan_point(t);
	int status = REAL(pthread_mutex_unlock)(m);
	if (status) {
		t->sync.condition = NULL;
		return status;
	}
	log_sync(t, LOG_REL, pc, m);
	sched_wake(m, FOR_MUTEX, one_or_all());
	bool signalled = condition_sleep(t, c, at != NULL, deadline, pc);
	condition_wake(t, c, pc);
	plan_point(t);
	int relock = mutex_take(t, m, false, 0, pc);
	if (relock == 0 || relock == EOWNERDEAD)
		log_sync(t, LOG_ACQ, pc, m);
	if (sched_cancelled(&t->sched))
		pthread_testcancel();
	return relock ? relock : signalled || !at ? 0 : ETIMEDOUT;
}

void condition_signal(struct thread *t, const void *c, bool all, unsigned flags, uintptr_t pc)
{
	struct thread *woken = NULL;
	if (memory_states && !all) {
		const struct log_step *s = replay_step(t);
		bool planned = s && s->tag == LOG_SIGNAL && s->reads >= STEP_STORE;
		woken = sched_waiter(c, planned ? s->reads - STEP_STORE : UINT32_MAX);
		memory_tell(t, woken ? woken->id + 1 : 0);
	}
	log_object(t, all ? LOG_BROADCAST : LOG_SIGNAL, flags, pc, c);
	if (!rt.controlled)
		return;
	if (all || !memory_states)
		sched_signal(c, all ? UINT_MAX : 1);
	else if (woken)
		sched_wake_waiter(woken);
}

static int cond_signal(pthread_cond_t *c, bool all, uintptr_t pc)
{
	struct thread *t = recording();
	if (t) {
		sched_point_at(t, c);
		if (cond_dead(c))
			misused(t, MISUSE_USE_DESTROYED, pc, c);
		condition_signal(t, c, all, cond_dead(c) ? LOG_DEAD : 0, pc);
		if (rt.controlled && !signalled_outside(c))
			return 0;
	}
	return all ? REAL_CONDITION(pthread_cond_broadcast)(c)
	           : REAL_CONDITION(pthread_cond_signal)(c);
}

int interposed_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return cond_wait(c, m, NULL, -1, CALLER());
}
int interposed_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                      const struct timespec *at)
{
	return cond_wait(c, m, at, -1, CALLER());
}
int interposed_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
                                      const struct timespec *at)
{
	return cond_wait(c, m, at, clock, CALLER());
}
int interposed_pthread_cond_signal(pthread_cond_t *c)
{
	return cond_signal(c, false, CALLER());
}
int interposed_pthread_cond_broadcast(pthread_cond_t *c)
{
	return cond_signal(c, true, CALLER());
}
int interposed_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attributes)
{
	struct thread *t = before_init();
	return initialised(c, REAL_CONDITION(pthread_cond_init)(c, attributes), t, CALLER());
}
static int cond_destroy(pthread_cond_t *c, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t)
		return REAL_CONDITION(pthread_cond_destroy)(c);
	plan_point(t);
	unsigned flags = cond_dead(c) ? LOG_DEAD : 0;
	if (flags)
		misused(t, MISUSE_USE_DESTROYED, pc, c);
	else if (rt.controlled && sched_waiters(c, FOR_CONDITION) > 0)
		misused(t, MISUSE_DESTROY_WAITED, pc, c);
	int status = REAL_CONDITION(pthread_cond_destroy)(c);
	return destroyed(c, status, flags | (cond_dead(c) ? LOG_MARKED : 0), t, pc);
}
int interposed_pthread_cond_destroy(pthread_cond_t *c)
{
	return cond_destroy(c, CALLER());
}

int interposed_cnd_wait(cnd_t *c, mtx_t *m)
{
	return cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m, NULL, -1, CALLER())
	               ? thrd_error
	               : thrd_success;
}
int interposed_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *at)
{
	int status = cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m, at, -1, CALLER());
	return status == 0 ? thrd_success : status == ETIMEDOUT ? thrd_timedout : thrd_error;
}
int interposed_cnd_signal(cnd_t *c)
{
	return cond_signal((pthread_cond_t *)c, false, CALLER());
}
int interposed_cnd_broadcast(cnd_t *c)
{
	return cond_signal((pthread_cond_t *)c, true, CALLER());
}
void interposed_cnd_destroy(cnd_t *c)
{
	cond_destroy((pthread_cond_t *)c, CALLER());
}
int interposed_cnd_init(cnd_t *c)
{
	struct thread *t = before_init();
	int status = REAL(cnd_init)(c);
	initialised(c, status == thrd_success ? 0 : ENOMEM, t, CALLER());
	return status;
}
