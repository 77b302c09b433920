/*
 * sched_wait.c - controlled mode: threads that wait for an object, a deadline or a
 * descriptor, and their wake-ups.
 */
#include <limits.h>
#include <poll.h>
#include <sys/syscall.h>

#include "sched_private.h"

/* Has a handler run that would have ended the wait? */
static bool run_before(struct thread *t)
{
	bool before = t->signals.interrupted;
	t->signals.interrupted = false;
	handlers_run(t);
	bool ran = t->signals.interrupted;
	t->signals.interrupted |= before;
	return ran;
}

/*
 * A wait whose time has passed already takes a microsecond, and each further one without
 * another wait between twice as long, up to a millisecond: a thread that makes one after the
 * other looks again and again until some time has come.
 */
static void pass_time(struct thread *t, bool passed)
{
	enum { NANOSECONDS = 1000, DOUBLED = 10 };
	if (passed && t->sched.passed < DOUBLED)
		t->sched.passed++;
	else if (!passed)
		t->sched.passed = 0;
	if (passed)
		sched_tick((uint64_t)NANOSECONDS << (t->sched.passed - 1));
}

bool sched_block(struct thread *t, enum log_wait reason, const void *object, bool timed,
                 uint64_t deadline)
{
	log_value(t);
	sched_end_cancelled(t);
	if (unlikely(rt.async_handlers) && run_before(t))
		return true;
	sched_lock();
	if (!(rt.config.flags & LOG_EXPLORE))
		pass_time(t, timed && deadline <= sched.virtual_time);
	if (sched_cancelled(&t->sched) &&
	    (reason == FOR_CONDITION || reason == FOR_SLEEP || reason == FOR_THREAD ||
	     reason == FOR_SEMAPHORE || reason == FOR_FILE)) {
		sched_unlock();
		return true;
	}
	t->sched.state = STATE_BLOCKED;
	t->sched.reason = reason;
	t->sched.object = object;
	t->sched.timed = timed;
	t->sched.timed_out = false;
	t->sched.deadline = deadline;
	t->sched.since = ++sched.order;
	if (timed) {
		sched.timed++;
		if (deadline < sched.soonest)
			sched.soonest = deadline;
	}
	if (reason == FOR_FILE)
		sched.files++;
	while (t->sched.state != STATE_RUNNING) {
		struct thread *next = sched_choose(t, true);
		if (next == t) {
			t->sched.state = STATE_RUNNING;
			sched.ready--;
			sched.holder = t;
			break;
		}
		sched_hand_over(next);
		sched_wait_turn(t);
		if (!rt.on)
			return true;
		sched_lock();
	}
	t->sched.reason = FOR_NOTHING;
	t->sched.object = NULL;
	bool in_time = !t->sched.timed_out;
	t->sched.timed_out = false; /* for this wait: the next one must not miss a signal */
	sched_unlock();
	sched_end_cancelled(t);
	if (unlikely(rt.async_handlers))
		handlers_run(t);
	return in_time;
}

/* Makes threads that wait for `object` ready; returns their number. The caller holds the
 * token. */
unsigned sched_wake(const void *object, enum log_wait reason, unsigned most)
{
	unsigned woken = 0;
	sched_lock();
	while (woken < most) {
		struct thread *best = NULL;
		uint32_t n = 0, lot = 0;
		if (most == 1 && !rt.replay && !sched_in_order()) {
			/* any waiter may be the one */
			for (unsigned i = 0; i < sched.live_count; i++)
				if (sched.live[i]->sched.state == STATE_BLOCKED &&
				    sched.live[i]->sched.object == object &&
				    sched.live[i]->sched.reason == reason)
					n++;
			lot = sched_draw(n);
			n = 0;
		}
		for (unsigned i = 0; i < sched.live_count; i++) {
			struct thread *t = sched.live[i];
			if (t->sched.state != STATE_BLOCKED || t->sched.object != object ||
			    t->sched.reason != reason)
				continue;
			if (rt.replay) {
				if (!best || replay_turn(t->id) < replay_turn(best->id))
					best = t;
			} else if (lot) {
				if (n++ == lot)
					best = t;
			} else if (!best || t->sched.since < best->sched.since) {
				best = t;
			}
		}
		if (!best)
			break;
		if (reason == FOR_FUTEX)
			best->sync.woken = true;
		sched_make_ready(best);
		woken++;
	}
	sched_unlock();
	return woken;
}

unsigned sched_waiters(const void *object, enum log_wait reason)
{
	unsigned n = 0;
	for (unsigned i = 0; i < sched.live_count; i++) {
		const struct thread *t = sched.live[i];
		n += reason == FOR_CONDITION
		             ? t->sync.condition == object && !t->sync.woken
		             : t->sched.state == STATE_BLOCKED && t->sched.reason == reason &&
		                       t->sched.object == object;
	}
	return n;
}

unsigned sched_at_barrier(const void *barrier)
{
	unsigned n = 0;
	for (unsigned i = 0; i < sched.live_count; i++)
		n += sched.live[i]->sync.barrier == barrier;
	return n;
}

void sched_open_barrier(const void *barrier)
{
	sched_lock();
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->sync.barrier != barrier)
			continue;
		t->sync.barrier = NULL;
		if (t->sched.state == STATE_BLOCKED && t->sched.reason == FOR_BARRIER)
			sched_make_ready(t);
	}
	sched_unlock();
}

/* A thread waits for a condition from its `wait` event on, even while it has not yet come to
 * give up the mutex and block (replay may let others run in between). Returns the thread to
 * wake; NULL: none waits. */
static struct thread *waiter_of(const void *condition)
{
	struct thread *best = NULL;
	uint32_t n = 0;
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->sync.condition != condition || t->sync.woken ||
		    (t->sched.state == STATE_READY && t->sched.timed_out && !memory_states))
			continue;
		n++;
		if (rt.replay ? !best || replay_wake_turn(t->id) < replay_wake_turn(best->id)
		    : sched_in_order() ? !best || t->sched.since < best->sched.since
		                       : sched_draw(n) == 0)
			best = t;
	}
	return best;
}

struct thread *sched_waiter(const void *condition, uint32_t planned)
{
	sched_lock();
	struct thread *best = waiter_of(condition);
	for (unsigned i = 0; best && i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->id == planned && t->sync.condition == condition && !t->sync.woken)
			best = t;
	}
	sched_unlock();
	return best;
}

static void wake_waiter(struct thread *t)
{
	t->sync.woken = true;
	if (t->sched.state == STATE_BLOCKED && t->sched.reason == FOR_CONDITION)
		sched_make_ready(t);
}

void sched_wake_waiter(struct thread *t)
{
	sched_lock();
	wake_waiter(t);
	sched_unlock();
}

void sched_signal(const void *condition, unsigned most)
{
	sched_lock();
	struct thread *t;
	for (unsigned woken = 0; woken < most && (t = waiter_of(condition)); woken++)
		wake_waiter(t);
	sched_unlock();
}

void sched_cancel(struct thread *t)
{
	sched_lock();
	t->sched.cancelled = true;
	if (t->sched.state == STATE_BLOCKED && sched_cancelled(&t->sched) &&
	    (t->sched.reason == FOR_CONDITION || t->sched.reason == FOR_SLEEP ||
	     t->sched.reason == FOR_THREAD || t->sched.reason == FOR_SEMAPHORE ||
	     t->sched.reason == FOR_FILE || t->sched.cancel_at_once))
		sched_make_ready(t);
	sched_unlock();
}

/* ---- descriptors ---- */

bool sched_files_ready(struct thread *t)
{
	for (unsigned i = 0; i < t->sched.fd_count; i++)
		t->sched.fds[i].revents = 0;
	struct timespec zero = { 0, 0 };
	return syscall(SYS_ppoll, t->sched.fds, t->sched.fd_count, &zero, NULL, 0) != 0;
}

void sched_wake_signalled(void)
{
	__atomic_store_n(&sched.signalled, false, __ATOMIC_SEQ_CST);
	if (!replay_lets_go()) /* the plan says when */
		return;
	for (unsigned i = 0; i < sched.live_count; i++)
		if (sched.live[i]->sched.state == STATE_BLOCKED &&
		    sched.live[i]->signals.arrived)
			sched_make_ready(sched.live[i]);
}

void sched_poll_files(void)
{
	for (unsigned i = 0; sched.files && i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->sched.state == STATE_BLOCKED && t->sched.reason == FOR_FILE &&
		    sched_files_ready(t)) {
			t->sched.files_came = true;
			sched_make_ready(t);
		}
	}
}

bool sched_wait_files(struct thread *t, struct pollfd *fds, unsigned count, bool timed,
                      uint64_t deadline)
{
	t->sched.fds = fds;
	t->sched.fd_count = count;
	bool ready;
	do {
		t->sched.files_came = false;
		ready = sched_files_ready(t) || sched_block(t, FOR_FILE, fds, timed, deadline);
		/* others that waited for them, too, may have come first */
	} while (ready && t->sched.files_came && rt.on && !sched_files_ready(t));
	t->sched.fd_count = 0;
	return ready;
}
