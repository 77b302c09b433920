/*
 * sched_threads.c - the birth and the end of threads, as the scheduler sees them; the
 * program's calls are in threads.c.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sched_private.h"

/*
 * The number of a new thread. A thread of the plan is identified by its place among its
 * parent's children, whatever the order in which two parents create theirs; any other gets a
 * number beyond those of the plan.
 */
static uint32_t number_of(const struct thread *parent)
{
	if (parent == NULL && rt.thread_count == 0) {
		rt.thread_count = rt.config.thread_count > 1 ? rt.config.thread_count : 1;
		return 0;
	}
	rt.several = true;
	__atomic_fetch_add(&rt.unjoined, 1, __ATOMIC_RELAXED);
	uint32_t planned =
	        parent ? replay_child(parent->id, parent->life.children) : UINT32_MAX;
	if (planned == UINT32_MAX)
		return __atomic_fetch_add(&rt.thread_count, 1, __ATOMIC_RELAXED);
	return planned;
}

static struct thread *retired_first, *retired_last; /* under lock */

/* Under lock. */
static void retire(struct thread *t)
{
	/* a thread that replay still has input for keeps its number */
	if (t->sched.state == STATE_DONE && !t->life.lends && !t->life.retired &&
	    !t->input.end && t->id) {
		t->life.retired = true;
		rt.threads[t->id] = NULL;
		rt.repeated += t->repeated;
		if (retired_last)
			retired_last->life.next_retired = t;
		else
			retired_first = t;
		retired_last = t;
	}
}

void thread_retire(struct thread *t)
{
	sched_lock();
	retire(t);
	sched_unlock();
}

static bool is_gone(pid_t tid)
{
	return rt.one_thread ||
	       syscall(SYS_tgkill, rt.header ? rt.header->pid : syscall(SYS_getpid), tid, 0) !=
	               0;
}

/* Reuses the memory of a retired thread; its pages for frames and missing calls stay with
 * it. */
static struct thread *from_retired(void)
{
	sched_lock();
	struct thread *t = retired_first;
	if (t && is_gone(t->life.tid)) {
		retired_first = t->life.next_retired;
		retired_last = retired_first ? retired_last : NULL;
	} else {
		t = NULL;
	}
	sched_unlock();
	if (!t)
		return NULL;
	struct frame *frames = t->frames;
	uint64_t *covered = t->covered;
	uint32_t *before = t->shadow.before;
	struct reach *reach = t->missing.reach;
	struct region *regions = t->missing.regions;
	struct kept_arrival *arrivals = t->signals.arrivals;
	struct held_signal *held = t->signals.held;
	struct buffer *buffer = t->memory.buffer;
	memset(t, 0, offsetof(struct thread, seen));
	t->frames = frames;
	t->covered = covered;
	t->shadow.before = before;
	t->missing.reach = reach;
	t->missing.regions = regions;
	t->signals.arrivals = arrivals;
	t->signals.held = held;
	t->memory.buffer = buffer;
	return t;
}

static struct thread *from_pages(void)
{
	struct thread *t = rt_pages(sizeof(*t));
	struct frame *frames = rt_pages((MAX_FRAMES + 1) * sizeof(*frames));
	if (!t || !frames)
		return NULL;
	t->frames = frames + 1;
	if (rt.filter_variables && !(t->covered = rt_pages(COVERED_SIZE)))
		return NULL;
	return t;
}

struct thread *thread_new(struct thread *parent)
{
	uint32_t id = number_of(parent);
	if (id >= MAX_THREADS)
		return NULL;
	struct thread *t = from_retired();
	if (!t)
		t = from_pages();
	if (!t)
		return NULL;
	t->id = id;
	t->life.parent = parent ? parent->id : UINT32_MAX;
	t->budget = t->drawn = sched_draw_budget();
	t->stream = rt.controlled ? &rt.stream : &t->own;
	t->own.thread = id;
	t->own.last = id;
	t->sched.state = STATE_READY;
	t->unusual = 1;
	t->callback_at = UINT32_MAX;
	t->unwritten = rt.filter_commute;
	if (!rt.controlled || rt.filter) {
		t->epoch = 1;
		t->todo |= TODO_EPOCHS;
		if (rt.filter_variables) {
			t->todo |= TODO_COVERED;
			t->looked_and = UINT64_MAX;
			if (rt.shadow && !shadow_thread(t))
				return NULL;
			covered_renew(t);
		} else {
			rt_populate(t->seen, sizeof(t->seen));
		}
	}
	sched_draw_priority(t);
	sched_events_born(t, parent);
	if (parent)
		parent->life.children++;
	sched_lock();
	rt.threads[id] = t;
	if (sched.live_count < MAX_THREADS)
		sched.live[sched.live_count++] = t;
	if (parent)
		sched.ready++;
	else {
		t->sched.state = STATE_RUNNING;
		sched.holder = t;
	}
	sched_unlock();
	return t;
}

/* The thread could not be created after all. */
void thread_forget(struct thread *t)
{
	sched_lock();
	if (t->sched.state == STATE_READY)
		sched.ready--;
	sched_bury(t);
	sched_unlock();
	thread_retire(t);
}

void sched_start(struct thread *t)
{
	if (rt.controlled)
		sched_wait_turn(t);
}

/* ---- the end ---- */

void sched_bury(struct thread *t)
{
	t->sched.state = STATE_DONE;
	for (unsigned i = 0; i < sched.live_count; i++)
		if (sched.live[i] == t) {
			for (; i + 1 < sched.live_count; i++)
				sched.live[i] = sched.live[i + 1];
			sched.live_count--;
			break;
		}
	for (unsigned i = 0; rt.controlled && i < sched.live_count; i++) {
		struct thread *other = sched.live[i];
		if (other->sched.state == STATE_BLOCKED && other->sched.reason == FOR_THREAD &&
		    other->sched.object == t)
			sched_make_ready(other);
	}
}

void sched_wait_gone(void)
{
	pid_t tid = sched.leaving;
	if (!tid)
		return;
	sched.leaving = 0;
	for (int i = 0; i < 2000; i++) {
		if (syscall(SYS_tgkill, rt.header ? rt.header->pid : syscall(SYS_getpid), tid,
		            0) != 0)
			return;
		if (i < 50) {
			syscall(SYS_sched_yield);
		} else {
			struct timespec pause = { 0, 50000 };
			syscall(SYS_nanosleep, &pause, NULL);
		}
	}
}

void sched_adopt(struct thread *t)
{
	if (!rt.controlled)
		return;
	sched_lock();
	bool chosen = t->sched.state != STATE_READY;
	if (!chosen) {
		sched.ready--;
		t->sched.state = STATE_OUTSIDE;
		sched.outside++;
	}
	sched_unlock();
	if (chosen)
		sched_wait_turn(t);
	else
		sched_rejoin(t);
}

bool sched_await_birth(uint32_t id)
{
	static const uint64_t starting = 2000000000; /* ns: the C library creates it */
	const struct timespec pause = { .tv_nsec = 1000000 };
	const uint64_t remaining = id < MAX_THREADS ? timers_remaining() : 0;
	const uint64_t until = sched_real_now() + remaining + starting;
	if (!remaining)
		return false;
	while (!__atomic_load_n(&rt.threads[id], __ATOMIC_ACQUIRE) && sched_real_now() < until)
		raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
	return __atomic_load_n(&rt.threads[id], __ATOMIC_ACQUIRE) != NULL;
}

/* In an exploration a thread of a pool that has no work is at its end, unless it is given some.
 */
static void note_rest(const struct thread *t, bool goes_on)
{
	if (rt.config.flags & LOG_EXPLORE && rt.on)
		log_fact(LOG_ENDED, goes_on, t->id, NULL, 0);
}

void sched_park(struct thread *t, struct thread *next)
{
	if (rt.one_thread)
		one_thread_refuse();
	log_value(t);
	note_rest(t, false);
	t->gate |= GATE_INSIDE;
	sched_lock();
	t->sched.state = STATE_OUTSIDE; /* but not counted: no thread waits for it */
	t->openmp.parked = true;
	sched_hand_over(next ? next : sched_choose(t, false));
}

void sched_unpark(struct thread *t)
{
	sched_lock();
	if (t->openmp.parked) {
		t->openmp.parked = false;
		t->sched.state = STATE_READY;
		sched.ready++;
	}
	sched_unlock();
}

void sched_await_unpark(struct thread *t)
{
	sched_wait_turn(t);
	t->gate &= ~GATE_INSIDE;
	t->unusual = 1;
	note_rest(t, true);
}

void sched_leave_park(struct thread *t)
{
	sched_lock();
	t->openmp.parked = false;
	sched.outside++;
	sched_unlock();
	sched_rejoin(t);
	t->gate &= ~GATE_INSIDE;
	note_rest(t, true);
}

void sched_expect(int more)
{
	sched_lock();
	sched.outside += (unsigned)more;
	sched_unlock();
}

/*
 * In three of four schedules the thread sleeps, as its next step cuts the others off: with a
 * strategy that prefers it, or few steps left, they would hardly ever come to their end. It
 * wakes when all of them wait, or have gone on for long, as those of a server do. An
 * exploration has no sleep of its own: there the strategy alone decides.
 */
void sched_linger(struct thread *t)
{
	enum { LONG = 1000000 }; /* virtual nanoseconds: ten thousand scheduling points */
	const struct log_config *c = &rt.config;
	if (sched_alone())
		return;
	bool always = c->strategy == STRATEGY_PAUSE && c->seed < LOG_PAUSES;
	if (c->flags & LOG_EXPLORE) {
		if (c->strategy == STRATEGY_PAUSE)
			sched_lower(t);
	} else if (always || sched_draw(4) != 0) {
		sched_block(t, FOR_SLEEP, NULL, true, virtual_now() + LONG);
	}
}

void sched_end(struct thread *t)
{
	if (unlikely(rt.memory))
		memory_end(t);
	if (rt.config.flags & LOG_EXPLORE && rt.on)
		log_fact(LOG_ENDED, 0, t->id, NULL, 0);
	sched_lock();
	sched_bury(t);
	if (t->life.detached)
		retire(t);
	if (!rt.controlled) {
		sched_unlock();
		return;
	}
	if (t->id != 0 && !rt.one_thread)
		sched.leaving = t->life.tid;
	if (sched.live_count == 0) {
		sched.holder = NULL;
		sched_unlock();
		return;
	}
	sched_hand_over(sched_choose(t, false));
}
