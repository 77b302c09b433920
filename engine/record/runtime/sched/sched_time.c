/*
 * sched_time.c - controlled mode: time is virtual.  It advances with the events and jumps to
 * the earliest deadline when nothing else can run.  It catches up with real time only while
 * everybody really waits.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sched_private.h"

uint64_t sched_real_now(void)
{
	struct timespec time = { 0 }; /* its page is the process's own: one_thread.h */
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

uint64_t virtual_now(void) /* nanoseconds since the start of the recording */
{
	return rt.controlled ? sched.virtual_time : sched_real_now() - sched.start_time;
}

void sched_tick(uint64_t nanoseconds)
{
	sched.virtual_time += nanoseconds;
}

void sched_catch_up(void)
{
	uint64_t now = sched_real_now() - sched.start_time;
	if (now > sched.virtual_time)
		sched.virtual_time = now;
}

/* ---- deadlines ---- */

/* Has the process a child that it has not waited for? (One may run beside others that have
 * ended.) */
static bool has_child(void)
{
	return rt.header->happened & LOG_FORKED &&
	       raw_syscall(SYS_waitid, P_ALL, 0, 0, WEXITED | WNOHANG | WNOWAIT, 0, 0) == 0;
}

uint64_t sched_real_time_left(const struct thread *t)
{
	if (rt.replay || rt.inputs == INPUTS_GIVEN || rt.config.flags & LOG_EXPLORE ||
	    !(rt.async_handlers || rt.timers || has_child()))
		return 0;
	uint64_t now = sched_real_now() - sched.start_time;
	return t->sched.deadline > now ? t->sched.deadline - now : 0;
}

struct thread *sched_earliest(void)
{
	struct thread *best = NULL;
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->sched.state == STATE_BLOCKED && t->sched.timed &&
		    (!best || t->sched.deadline < best->sched.deadline ||
		     (t->sched.deadline == best->sched.deadline &&
		      t->sched.since < best->sched.since)))
			best = t;
	}
	return best;
}

void sched_fire(struct thread *t)
{
	if (t->sched.deadline > sched.virtual_time)
		sched.virtual_time = t->sched.deadline;
	t->sched.timed_out = true;
	sched_make_ready(t);
}

void sched_fire_due(void)
{
	if (rt.replay || rt.config.flags & LOG_EXPLORE) /* the plan, or the explorer, decides */
		return;
	sched_lock();
	uint64_t now = sched.virtual_time, soonest = UINT64_MAX;
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->sched.state != STATE_BLOCKED || !t->sched.timed)
			continue;
		if (t->sched.deadline <= now)
			sched_fire(t);
		else if (t->sched.deadline < soonest)
			soonest = t->sched.deadline;
	}
	sched.soonest = soonest;
	sched_unlock();
}

/*
 * Sleepers wake at their deadline in virtual time, and when all other threads spin, since these
 * may wait for a sleeper.  A wait with a time limit ends early in that way only after long
 * spinning.
 */
void sched_wake_sleepers(const struct thread *t)
{
	sched_lock();
	struct thread *s = sched_earliest();
	bool spins = t->poll.spins >= SPIN_LIMIT && sched_all_wait(t);
	bool outside = sched.outside || sched.files || (s && sched_real_time_left(s) > 0);
	if (spins && outside)
		sched_catch_up();
	if (s && (s->sched.deadline <= sched.virtual_time || (spins && !outside)) &&
	    (s->sched.reason == FOR_SLEEP || (spins && t->poll.patience >= 1024)))
		sched_fire(s);
	sched_unlock();
}
