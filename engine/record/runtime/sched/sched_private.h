/*
 * sched_private.h - shared by the scheduler's files. All functions here are for controlled
 * mode; "under lock" is sched_lock().
 */
#ifndef HEDDLE_SCHED_PRIVATE_H
#define HEDDLE_SCHED_PRIVATE_H

#include "engine/record/runtime/core/one_thread.h"
#include "engine/record/runtime/core/rt.h"

/* Steps without another thread's after which a thread is assumed to wait by spinning. */
enum { SPINNING = 20000 };

struct scheduler {
	volatile int lock;
	struct thread *volatile holder; /* NULL: all threads are outside */
	unsigned live_count;
	volatile unsigned ready;
	unsigned outside, files, timed;
	unsigned spun;       /* times the watchdog took the token from a thread that spins */
	uint64_t order;      /* of blocking */
	uint64_t steps;      /* scheduling points and accesses so far */
	uint64_t accesses;   /* while several threads existed, */
	uint64_t conflicts;  /* and those of them that may conflict: sched_is_chance */
	uint64_t turn_start; /* steps at the last hand-over */
	volatile uint64_t turns; /* hand-overs, for the watchdog */
	volatile int idle;       /* futex: raised by an event while the last thread idles */
	bool idling;
	volatile bool
	        signalled; /* handlers.c: a signal has come to a thread without the token */
	pid_t leaving;     /* an ended thread that the kernel has not removed yet */
	uint64_t virtual_time, start_time;
	uint64_t soonest; /* no waiting thread has an earlier deadline */
	/* pct */
	uint64_t change[64];
	unsigned changes;
	int64_t lowest;
	uint32_t intended; /* surw: the thread of the target's next event, + 1; 0: not drawn */
	uint64_t intended_start; /* and steps when it was drawn */
	/* turns: the number of turns that are over, and the steps when the last one was; the
	 * thread that went on last, + 1, and the steps when it began to */
	uint32_t turn, runner;
	uint64_t turn_over, runner_start;
	struct thread *live[MAX_THREADS];
};
extern struct scheduler sched __attribute__((visibility("hidden")));

static inline void sched_lock(void)
{
	int old = 0;
	if (__atomic_compare_exchange_n(&sched.lock, &old, 1, false, __ATOMIC_ACQUIRE,
	                                __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&sched.lock, 2, __ATOMIC_ACQUIRE))
		futex_wait(&sched.lock, 2, 0);
}

static inline void sched_unlock(void)
{
	if (__atomic_exchange_n(&sched.lock, 0, __ATOMIC_RELEASE) == 2)
		futex_wake(&sched.lock, 1);
}

/* ---- sched.c ---- */
/* Gives the token to `next`; under lock, which is released. */
void sched_hand_over(struct thread *next);
/* Sleep until t has the token (or is asked to idle). */
void sched_wait_turn(struct thread *t);

/* A blocked thread, or one outside, may continue; under lock. */
static inline void sched_make_ready(struct thread *t)
{
	if (t->sched.state == STATE_BLOCKED) {
		if (t->sched.timed)
			sched.timed--;
		if (t->sched.reason == FOR_FILE)
			sched.files--;
	} else if (t->sched.state == STATE_OUTSIDE) {
		sched.outside--;
	}
	t->sched.state = STATE_READY;
	sched.ready++;
}

/* ---- sched_strategy.c ---- */
static inline uint32_t sched_draw(uint32_t below)
{
	return below <= 1 ? 0 : (uint32_t)(next_random() >> 33) % below;
}
void sched_strategy_init(void);
/* Does the strategy leave no choice: the thread that waits longest is woken first? */
static inline bool sched_in_order(void)
{
	return rt.config.strategy == STRATEGY_RR || rt.config.strategy == STRATEGY_FIRST ||
	       rt.config.strategy == STRATEGY_TURNS || rt.config.strategy == STRATEGY_PAUSE;
}
int32_t sched_draw_budget(void);  /* accesses until the next chance to switch */
int32_t sched_first_budget(void); /* the budget under STRATEGY_FIRST */
void sched_change_point(struct thread *t);
/* Chooses one of the ready threads, of which at least one must exist; under lock. */
struct thread *sched_choose_ready(struct thread *current);
void sched_draw_priority(struct thread *t);  /* of a new thread */
void sched_lower(struct thread *t);          /* puts it behind all others */
bool sched_all_wait(const struct thread *t); /* do all other runnable threads spin? */
int32_t sched_spin_budget(struct thread *t);
bool sched_yields_later(struct thread *t);

/* ---- sched_events.c: strategies that decide before each event ---- */
struct thread *sched_choose_by_event(const struct thread *current); /* as sched_choose_ready */
/* Is the thread's next event a chance to switch? In long runs not each one is. */
bool sched_is_chance(const struct thread *t);
/* The thread makes its next event while no other is ready. */
void sched_event_alone(struct thread *t);
void sched_events_born(struct thread *t, const struct thread *parent); /* NULL: main */
int32_t sched_turns_budget(void);

/* ---- sched_shared.c ---- */
struct sched_word {
	uintptr_t word;        /* its address / 8 */
	uint32_t thread;       /* pause: + 1: the first that accessed it; 0: none */
	uint32_t user;         /* + 1: the first that accessed it while others existed; 0:
	                        * none */
	bool shared, changed;  /* pause */
	bool several, written; /* by threads beside `user`; while several existed */
};
/* Its slot, which may hold another word. */
struct sched_word *sched_word_at(uintptr_t word);
/* The next event may conflict with one of another thread: synchronisation, or memory that
 * several threads have accessed and one has written to. */
bool sched_may_conflict(const struct thread *t);

/* ---- sched_pause.c ---- */
void sched_pause_init(void);
void sched_pause_born(struct thread *t);  /* its priority */
void sched_pause_event(struct thread *t); /* at its next event, before another is chosen */

/* ---- sched_time.c ---- */
uint64_t sched_real_now(void); /* nanoseconds of the monotonic clock */
void sched_catch_up(void);
/*
 * A program that expects signals from outside (it has a handler, or has set a timer) or has a
 * child sleeps in real time: else its sleeps would end before the signal comes, or before the
 * child has done what it sleeps for. Nanoseconds of real time until the thread's deadline; 0
 * where time is virtual alone.
 */
uint64_t sched_real_time_left(const struct thread *t);
struct thread *sched_earliest(void); /* of waiting threads with a deadline, or NULL */
void sched_fire(struct thread *t);   /* its deadline has come */
/* Replay: ends the wait of a blocked thread whose turn it is, at its deadline or, where the
 * plan has a spurious wake-up, without one. */
void sched_end_wait(struct thread *t);
void sched_fire_due(void); /* makes every thread ready whose deadline virtual time has passed */
void sched_wake_sleepers(const struct thread *t);

/* ---- sched_wait.c ---- */
bool sched_files_ready(struct thread *t);
/* Makes threads ready to which a signal has come while they waited: their handlers run. */
void sched_wake_signalled(void);
void sched_poll_files(void); /* makes threads ready whose descriptors are ready */

/* ---- sched_stuck.c ---- */
/*
 * Chooses the thread that gets the token when `t` cannot continue; under lock. May wait, and
 * may return `t` itself. With `may_idle` false (t has to leave) it returns NULL, or a thread
 * that shall wait in its place and is still blocked.
 */
struct thread *sched_choose(struct thread *t, bool may_idle);
/* Waits for the environment: descriptors, threads in blocking calls, deadlines. */
void sched_idle(void);
/* Notes in the log what each thread waits for. Under lock. */
void sched_log_blocked(void);
bool sched_release_futex(struct thread *t);
/* Exploration: end the run when every thread polls memory for a value that no thread will
 * write. */
void sched_end_if_idle(struct thread *t);
/* No thread has the token, or its holder sleeps (`sleeper`), and none is ready: end the program
 * if that is a deadlock through channels of the process alone; under lock. */
void sched_end_if_stuck(const struct thread *sleeper);

/* ---- sched_watchdog.c ---- */
/* The state of the holder when a waiting thread last looked; initially with impossible
 * turns. */
struct look {
	uint64_t turns, events;
	uint64_t since; /* real time since which it has slept without waking */
	uint64_t runs;  /* number of its runs at that time, or 0 */
	uint64_t ticks; /* processor time at the first look that needed it, */
	bool timed;     /* and whether one has */
	uint64_t futex; /* the futex wait that the holder was in, or 0 */
};
/* Continues without a holder that sleeps in a call that is not modelled, spins in code that
 * is not instrumented, or has left by the system call alone. True: the next look will decide,
 * and should come soon. */
bool sched_watchdog(struct look *seen);

/* ---- sync/cancel.c ---- */
/* Ends a thread that is cancelled and has asked to end at once. */
void sched_end_cancelled(struct thread *t);

/* ---- sched_endless.c ---- */
/* Asks the holder, which has used `ticks` (10 ms) of processor time since its last event,
 * whether it is in a loop without end; then it comes to wait there (FOR_LOOP). Under lock. */
void endless_ask(const struct thread *h, uint64_t events, uint64_t ticks);
/* The handler of SIGTRAP by which it is asked. */
void endless_trap(int number, siginfo_t *info, void *context);

/* ---- sched_outside.c ---- */
/* The descriptors of the blocking call, without a time limit, in which /proc shows the thread;
 * any of them ends its wait.  Returns their number; 0: it is in no such call. */
unsigned sched_outside_waits(const struct thread *t, struct pollfd *fds, unsigned room);

/* ---- sched_threads.c ---- */
/* Is no other thread alive? */
static inline bool sched_alone(void)
{
	return sched.live_count <= 1;
}
void sched_bury(struct thread *t); /* removes it; under lock */
/* An ended thread still has its stack and caches to give back, at a time that depends on the
 * machine; so wait until the kernel has removed it. */
void sched_wait_gone(void);

#endif
