/*
 * sched.c - controlled mode: one thread of the program runs at a time, the holder of the
 * token.  Here it is handed over.  The choice of the next thread: sched_strategy.c; waiting
 * threads: sched_wait.c; no runnable thread: sched_stuck.c; virtual time: sched_time.c; birth
 * and end of threads: sched_threads.c; a holder that does not come back: sched_watchdog.c.
 *
 * A thread gives the token up at scheduling points (before synchronisation, and after a drawn
 * number of plain accesses), when it blocks on something that the runtime models, when it
 * goes into a blocking call, and at its end. The choice of the next thread depends only on
 * the seed and on the program's steps, never on the machine's clock; so one seed gives one
 * run, unless the world outside (files, sockets) answers differently.
 *
 * No thread is woken while sched.lock is held, and none spins.
 */
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

#include "sched_private.h"

struct scheduler sched;

__thread struct thread *me = &nobody;
struct thread nobody = { .gate = GATE_FOREIGN, .todo = TODO_NOBODY };

/* ---- handing over ---- */

void sched_hand_over(struct thread *next)
{
	if (unlikely(rt.memory))
		memory_view(next);
	sched.holder = next;
	sched.turns++;
	sched.turn_start = sched.steps;
	if (next && rt.header)
		rt.header->holder = next->id;
	if (next && next->sched.state == STATE_READY) {
		next->sched.state = STATE_RUNNING;
		sched.ready--;
	}
	sched_unlock();
	if (next) {
		__atomic_store_n(&next->sched.go, 1, __ATOMIC_RELEASE);
		if (!rt.one_thread)
			futex_wake(&next->sched.go, 1);
	}
}

/* A signal has come to a thread that waits while all others are outside: only a waiting
 * thread can pass the token to it. */
static void serve_signals(struct thread *t)
{
	sched_lock();
	if (sched.holder == NULL && sched.signalled) {
		sched_catch_up();
		sched_wake_signalled();
	}
	if (sched.holder == NULL && sched.ready)
		sched_hand_over(sched_choose_ready(t));
	else
		sched_unlock();
}

void sched_wait_turn(struct thread *t)
{
	const uint64_t soon = 1000000, most = rt.config.watchdog_ms * 1000000ull;
	struct look seen = { .turns = UINT64_MAX };
	uint64_t pause = soon; /* time until the next look at the holder */
	t->gate |= GATE_WAITING;
	if (rt.one_thread)
		contexts_wait(t);
	while (!__atomic_load_n(&t->sched.go, __ATOMIC_ACQUIRE)) {
		if (!rt.on)
			break;
		futex_wait(&t->sched.go, 0, pause);
		if (unlikely(t->signals.arrived))
			serve_signals(t);
		if (!__atomic_load_n(&t->sched.go, __ATOMIC_ACQUIRE))
			pause = sched_watchdog(&seen) ? soon : 2 * pause;
		pause = pause < most ? pause : most;
	}
	t->gate &= ~GATE_WAITING;
	if (!rt.on)
		return;
	t->sched.go = 0;
	t->unusual = 1;             /* others have written to the log */
	if (t->lives != rt.lives) { /* what it has accessed may be another block by now */
		t->lives = rt.lives;
		log_afresh(t);
	}
	sched_wait_gone();
}

/* Let `next` run and come back when it is t's turn again; t is ready.  Under lock. */
static void switch_to(struct thread *t, struct thread *next)
{
	if (next == t) {
		t->sched.state = STATE_RUNNING;
		sched_unlock();
		return;
	}
	sched_hand_over(next);
	sched_wait_turn(t);
}

/* Chooses the next thread by chance, which may be t. */
static void give_way(struct thread *t)
{
	sched_lock();
	if (sched.signalled)
		sched_wake_signalled();
	if (sched.files)
		sched_poll_files();
	if (sched.ready == 0) {
		sched_unlock();
		return;
	}
	t->sched.state = STATE_READY;
	sched.ready++;
	struct thread *next = sched_choose_ready(t);
	if (next == t)
		sched.ready--;
	switch_to(t, next);
}

/* The lowest thread but t that can go on, does not wait by looking, and is at this end. Under
 * lock. */
static struct thread *lowest_other(const struct thread *t, enum end_of_run end)
{
	struct thread *lowest = NULL;
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *u = sched.live[i];
		if (u != t && u->sched.state == STATE_READY && u->sched.end == end &&
		    !memory_waits_on(u) && (lowest == NULL || u->id < lowest->id))
			lowest = u;
	}
	return lowest;
}

void sched_outlast(struct thread *t, bool fails)
{
	t->sched.end = fails ? END_FAILS : END_GOOD;
	while (rt.on) {
		sched_lock();
		struct thread *next = lowest_other(t, END_NONE);
		if (next == NULL && sched.timed) {
			sched_fire(sched_earliest());
			next = lowest_other(t, END_NONE);
		}
		if (next == NULL && !fails)
			next = lowest_other(t, END_FAILS);
		if (next == NULL) {
			sched_log_blocked();
			sched_unlock();
			return;
		}
		t->sched.state = STATE_READY;
		sched.ready++;
		switch_to(t, next);
	}
}

/* Run `next` instead of `t` (replay); false when it cannot run now. */
bool sched_force(struct thread *t, struct thread *next, bool fire_timeout)
{
	sched_lock();
	if (next->sched.state == STATE_BLOCKED && replay_runs_handler(next->id))
		sched_make_ready(next);
	else if (next->sched.state == STATE_BLOCKED && !sched_release_futex(next) &&
	         fire_timeout)
		sched_end_wait(next);
	if (next->sched.state == STATE_BLOCKED && next->sched.reason == FOR_FILE &&
	    sched_files_ready(next)) {
		next->sched.files_came = true;
		sched_make_ready(next);
	}
	if ((next->sched.state == STATE_OUTSIDE && !next->sched.spins) ||
	    (next->sched.state == STATE_BLOCKED && next->sched.reason == FOR_FILE)) {
		for (int i = 0; i < 500 && next->sched.state != STATE_READY; i++)
			sched_idle();
	}
	if (next->sched.state != STATE_READY) {
		sched_unlock();
		return false;
	}
	t->sched.state = STATE_READY;
	sched.ready++;
	switch_to(t, next);
	return true;
}

void sched_lowest(struct thread *t)
{
	struct thread *lowest = t;
	sched_lock();
	for (unsigned i = 0; i < sched.live_count; i++)
		if (sched.live[i]->sched.state == STATE_READY && sched.live[i]->id < lowest->id)
			lowest = sched.live[i];
	t->sched.state = STATE_READY;
	sched.ready++;
	if (lowest == t)
		sched.ready--;
	switch_to(t, lowest);
}

/* ---- scheduling points ---- */

/* Counts the accesses since the last time as steps. */
static void count_steps(struct thread *t)
{
	int32_t used = t->drawn - (t->budget > 0 ? t->budget : 0);
	/* under weak memory long looks take time, or a wait with a limit would never end */
	bool long_looked = rt.memory != LOG_SC && t->poll.spins > 64;
	if (used == 0 && (rt.config.flags & LOG_EXPLORE || sched_each_event() || long_looked))
		used = 1; /* after a look, or by the strategy, the thread came here at once */
	t->drawn = t->budget > 0 ? t->budget : 0;
	t->counted += used;
	if (!sched_alone())
		sched.accesses += used;
	sched.steps += used;
	sched.virtual_time += 5ull * used;
	if (rt.header)
		rt.header->steps = sched.steps;
}

uint64_t sched_steps(void)
{
	return sched.steps;
}

/* Is it in an invocation that random switches must not interrupt? */
static bool stays_whole(const struct thread *t)
{
	return rt.config.flags & LOG_EXPLORE && (t->calls.open_count || t->calls.told_calls);
}

/* The thread has begun an invocation and done nothing since, and a random choice was made
 * just before it. A switch here would let the same operations come in between, next to an
 * open invocation instead of before it, which is a weaker test of linearizability. */
static bool just_decided(const struct thread *t)
{
	return t->calls.open_count && t->calls.begun == t->ordinal && t->drawn == t->budget;
}

/* A thread that has taken a lock for its next look releases it before it gives way: else two
 * threads that each try what the other holds, in turn, would go on for ever, and one that
 * waits for the lock would never find it free. */
static bool releases_first(const struct thread *t)
{
	enum { SECTION = 1000 }; /* most steps */
	return memory_looks_within(t) && sched.steps - sched.turn_start < SECTION;
}

/* Does the thread wait in a loop? By strategy first the lowest thread would otherwise run on,
 * within an invocation, too, where it would look for ever. A thread that is alone waits for
 * no other: its repetition is a loop of another kind. */
static bool waits_by_looking(struct thread *t)
{
	bool explores = rt.config.flags & LOG_EXPLORE;
	if (memory_states && memory_waits(t))
		sched_end_if_idle(t);
	bool waits = !sched_alone() && !releases_first(t) &&
	             (rt.config.strategy == STRATEGY_FIRST ||
	              (explores && rt.config.strategy == STRATEGY_PAUSE)) &&
	             ((explores ? memory_waits(t)
	                        : poll_spins(t) || sched.steps - sched.turn_start > SPINNING) ||
	              poll_cycles(t));
	if (waits && rt.config.strategy == STRATEGY_PAUSE)
		sched_lower(t);
	return waits;
}

/* Ends an explored run that has reached its limit of steps. */
static void cut_long_run(void)
{
	if (!(rt.config.flags & LOG_EXPLORE) || !rt.config.steps ||
	    sched.steps <= rt.config.steps)
		return;
	rt_finish(LOG_CUT);
	rt_die(SIGKILL);
}

void sched_point_slow(struct thread *t)
{
	sched_end_cancelled(t);
	if (rt.replay) {
		replay_point(t);
		if (rt.replay)
			return;
	}
	bool decided = just_decided(t);
	count_steps(t);
	cut_long_run();
	sched.virtual_time += 100;
	sched.steps++;
	if (rt.config.strategy == STRATEGY_PCT)
		sched_change_point(t);
	if (sched.timed && sched.virtual_time >= sched.soonest)
		sched_fire_due();
	if (sched.ready == 0 && !sched.signalled && (sched.files == 0 || sched.steps % 16)) {
		if (unlikely(memory_states) && memory_waits(t))
			sched_end_if_idle(t);
		sched_event_alone(t);
		return;
	}
	if (waits_by_looking(t)) {
		give_way(t);
		return;
	}
	if (rt.config.strategy == STRATEGY_FIRST || stays_whole(t) ||
	    (rt.config.strategy == STRATEGY_RANDOM && (decided || next_random() >> 40 & 1)))
		return;
	give_way(t);
}

void sched_access(struct thread *t)
{
	log_value(t);
	sched_end_cancelled(t);
	if (!rt.controlled) {
		t->budget = INT32_MAX;
		return;
	}
	if (rt.replay) {
		replay_point(t);
		if (rt.replay) {
			t->budget = 0;
			return;
		}
	}
	/* strategy first preempts only threads that wait or run very long, and none that just
	 * followed a plan */
	bool preempt = rt.config.strategy != STRATEGY_FIRST || t->drawn == sched_first_budget();
	t->budget = 0;
	count_steps(t);
	cut_long_run();
	if (rt.config.strategy == STRATEGY_PCT)
		sched_change_point(t);
	t->budget = t->drawn = sched_draw_budget();
	if (sched.timed && sched.virtual_time >= sched.soonest)
		sched_fire_due();
	if (looks_count()) {
		poll_settle(t);
		if (poll_spins(t)) {
			t->budget = t->drawn = sched_spin_budget(t);
			sched_lower(t);
		}
		if (sched.timed)
			sched_wake_sleepers(t);
	} else if (rt.memory != LOG_SC && !(rt.config.flags & LOG_EXPLORE) && poll_spins(t)) {
		/* its next look may see another value without a write, but need not */
		sched_lower(t);
	}
	bool chance = !sched_each_event() || sched_is_chance(t);
	if (!chance && !(rt.config.flags & LOG_EXPLORE))
		return; /* most accesses of a long run: the quick way */
	preempt = waits_by_looking(t) || (preempt && !stays_whole(t));
	if (!chance)
		return;
	if (preempt && (sched.ready || sched.files || sched.signalled))
		give_way(t);
	else
		sched_event_alone(t);
}

/* Has the thread given way many times in a row, and no other could run? Before, it may have to
 * look once more at what others did before they came to wait. */
static bool yields_alone(struct thread *t)
{
	enum { MANY = 8 };
	if (t->poll.yield_turns != sched.turns)
		t->poll.yields = 0;
	t->poll.yield_turns = sched.turns;
	return ++t->poll.yields > MANY;
}

/* The program itself says that it has nothing to do now, or spins. */
void sched_yield_point(struct thread *t, bool lower)
{
	sched_end_cancelled(t);
	if (rt.replay) {
		if (t->poll.repeats)
			return;
		replay_pause(t);
		if (rt.replay)
			return;
	}
	sched.virtual_time += 1000;
	sched.steps++;
	if (lower &&
	    (rt.config.strategy == STRATEGY_PCT || rt.config.strategy == STRATEGY_PAUSE))
		sched_lower(t);
	if (sched_yields_later(t))
		return;
	if (sched.timed)
		sched_wake_sleepers(t);
	sched_lock();
	if (sched.signalled)
		sched_wake_signalled();
	if (sched.files)
		sched_poll_files();
	if (sched.ready == 0 && sched.timed && !sched.files && !sched.outside &&
	    yields_alone(t)) {
		/* It waits for a sleeping thread to act. */
		struct thread *s = sched_earliest();
		if (s && s->sched.reason == FOR_SLEEP && sched_real_time_left(s) == 0)
			sched_fire(s);
	}
	if (sched.ready == 0) {
		sched_unlock();
		if (sched.outside || sched.files)
			syscall(SYS_sched_yield);
		return;
	}
	struct thread *next = sched_choose_ready(t);
	t->sched.state = STATE_READY;
	sched.ready++;
	switch_to(t, next);
}

bool sched_let_others(struct thread *t)
{
	if (sched.ready == 0)
		return false;
	sched_yield_point(t, true);
	return true;
}

/* ---- blocking calls ---- */

static void leave(struct thread *t)
{
	t->gate |= GATE_OUTSIDE;
	if (!rt.controlled)
		return;
	if (rt.one_thread)
		one_thread_refuse();
	sched_lock();
	t->sched.state = STATE_OUTSIDE;
	sched.outside++;
	sched_hand_over(sched_choose(t, false));
	t->signals.away = true;
	BARRIER();
}

void sched_leave(struct thread *t)
{
	log_value(t);
	if (unlikely(rt.memory))
		memory_call(t);
	if (t->signals.held_count)
		order_matters("a signal to a thread that waits in a call");
	held_run_all(t);
	leave(t);
	/* a signal from now on ends the call, or runs its handler there */
	while (rt.controlled && t->signals.arrived && !replay_strict()) {
		sched_rejoin(t);
		leave(t);
	}
}

void sched_leave_for(struct thread *t, struct pollfd *fds, unsigned count)
{
	sched_leave(t);
	if (!rt.controlled)
		return;
	sched_lock();
	t->sched.fds = fds;
	t->sched.fd_count = count;
	sched_unlock();
}

void sched_look_outside(void)
{
	if (!rt.controlled)
		return;
	sched_lock();
	if (!sched.holder && !sched.idling && !sched.ready && rt.on)
		sched_end_if_stuck(NULL);
	sched_unlock();
}

void sched_rejoin(struct thread *t)
{
	t->sched.fd_count = 0;
	t->signals.away = false;
	BARRIER();
	if (!rt.controlled) {
		t->gate &= ~GATE_OUTSIDE;
		return;
	}
	sched_lock();
	if (!rt.on) {
		t->gate &= ~(GATE_OUTSIDE | GATE_STOLEN);
		sched_unlock();
		return;
	}
	sched_make_ready(t);
	t->sched.spins = false;
	if (sched.holder == NULL) {
		t->sched.state = STATE_RUNNING;
		sched.ready--;
		sched.holder = t;
		if (rt.header)
			rt.header->holder = t->id;
		if (unlikely(rt.memory))
			memory_view(t);
		sched.turns++;
		sched_catch_up();
		sched_unlock();
		sched_wait_gone();
	} else {
		bool wake = sched.idling;
		sched.idle = 1;
		sched_unlock();
		if (wake)
			futex_wake(&sched.idle, 1);
		sched_wait_turn(t);
	}
	t->gate &= ~(GATE_OUTSIDE | GATE_STOLEN);
	t->unusual = 1;
	if (unlikely(t->signals.arrived))
		handlers_run(t);
}

/* A plan has the lock's events in their order, and does not stop inside of it: a lock must be
 * given up before another thread's turn comes. Only a thread that spins there gives way. */
static void quiet_step(struct thread *t)
{
	enum { SPINS = 1000 };
	if (rt.replay && t->gate & GATE_OWN && ++t->own_steps % SPINS != 0)
		return;
	if (--t->budget < 0) {
		sched_about(&t->sched, NULL, 0, false);
		sched_access(t);
	}
}

/* A hook of a thread whose gate is not open: may it record after all? */
bool hook_slow(struct thread *t)
{
	if ((t->gate & ~GATE_QUIET) == GATE_STOLEN)
		sched_rejoin(t);
	if ((t->gate & ~GATE_IGNORE) == 0)
		return true;
	if ((t->gate & ~GATE_QUIET) == 0)
		quiet_step(t);
	return false;
}

/* The program's own accesses that no record can hold are told in the header. */
bool hook_slow_atomic(struct thread *t)
{
	if (hook_slow(t))
		return true;
	if (t == &nobody && rt.on)
		rt_happened(LOG_UNKNOWN_THREAD);
	else if (t->gate & GATE_OUTSIDE)
		rt_happened(LOG_UNHELD);
	return false;
}

bool hook_slow_access(struct thread *t)
{
	if (!hook_slow_atomic(t))
		return false;
	if (!(t->gate & GATE_IGNORE))
		return true;
	quiet_step(t);
	return false;
}

/* ---- beginning and end ---- */

/* From now on all threads run freely (the recording has ended). */
void sched_detach_all(void)
{
	for (uint32_t i = 0; i < MAX_THREADS && i < rt.thread_count; i++) {
		struct thread *t = rt.threads[i];
		if (!t)
			continue;
		if (unlikely(rt.memory))
			memory_left(t);
		t->gate |= GATE_OFF;
	}
}

void sched_begin_again(void)
{
	sched_init();
	me->budget = me->drawn = sched_draw_budget();
	sched_draw_priority(me);
	sched_events_born(me, NULL);
}

void sched_init(void)
{
	sched.start_time = sched_real_now();
	sched.virtual_time = 0;
	sched.soonest = UINT64_MAX;
	sched_strategy_init();
}
