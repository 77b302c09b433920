/*
 * reversals.h - from a run to the schedules of others: for each operation whose outcome depends
 * on the order, and each other outcome (a reversal), the maximal prefixes of the run
 * that permit it.
 *
 * A read and each other write it may read from; a wait and each signal it may miss; an access
 * and the free of its block by another thread; a step of a specified object and each set of
 * steps it may not commute with; a try or timed operation; the waiter woken by a signal; the
 * last thread at a barrier; where a signal's handler runs; and the continuation of threads cut
 * off by the end of the run.
 */
#ifndef HEDDLE_REVERSALS_H
#define HEDDLE_REVERSALS_H

#include "engine/commute/linear/linear_trace.h"
#include "engine/explore/runs/history.h"
#include "engine/predict/smt/smt.h"

enum reversal_kind {
	REVERSAL_READ,    /* other: the write read from (NONE: initial value) */
	REVERSAL_WAIT,    /* other: the signal missed, or not yet given */
	REVERSAL_USE,     /* other: the free or destruction that was before */
	REVERSAL_ALIVE,   /* other: the free or destruction that now comes after */
	REVERSAL_CALL,    /* other: a call that it does not commute with and now comes before */
	REVERSAL_RETURNS, /* a call of an object viewed by results; text: the results */
	REVERSAL_FAILS,   /* a try; other: the acquire of the holder (NONE: count 0) */
	REVERSAL_SUCCEEDS,  /* a try that failed */
	REVERSAL_TIMEOUT,   /* a wake: the time is up before a signal */
	REVERSAL_SPURIOUS,  /* a wake (event, or NONE: not in this run; then other: the wait):
	                     * it comes without a signal, though the wait has no time limit */
	REVERSAL_SIGNALLED, /* a wake that had timed out is signalled */
	REVERSAL_WOKEN,     /* a wake (event, or NONE: not in this run); other: its signal */
	REVERSAL_LAST,      /* departure from a barrier, as last thread or not */
	REVERSAL_ONCE,    /* the caller runs a once-function that was done; other: its begin in
	                   * this run */
	REVERSAL_STUCK,   /* no thread can continue; event: NONE */
	REVERSAL_IDLE,    /* no thread but by looking once more, which may be without effect;
	                   * event: NONE; parts: the class, then the prefix of each thread that
	                   * looks, with this look (0: not known) */
	REVERSAL_GOES_ON, /* the thread continues beyond the run; event: NONE; other: an event
	                   * excluded, or NONE */
	REVERSAL_HANDLED, /* the receipt of a signal: its handler runs after other events of its
	                   * thread than in the run */
	REVERSAL_SENT,    /* a signal is sent before the end of its thread, or after it */
	REVERSAL_LATER, /* the thread continues, and the handler of a signal, which is its next
	                 * event, runs later or never; event: NONE; other: the receipt */
	REVERSAL_FINAL, /* the end; other: the last write of a differing variable */
	REVERSAL_HISTORY, /* calls and returns in an order that makes a history that is not
	                   * linearizable; known by its schedule alone */
	REVERSAL_RACE,    /* an access of one thread, and at once a conflicting one of another;
	                   * other: the first of the two */
	REVERSAL_EARLY, /* a use of an object that another thread may not have initialised yet;
	                 * other: the event that is not to have come; text: of struct early */
	REVERSAL_PERMUTED, /* no reversal: a run with threads that are alike in each other's
	                    * place; parts: the number of what each does then (explore_alike.c)
	                    */
	REVERSAL_KINDS
};

struct reversal {
	enum reversal_kind kind;
	uint32_t event;   /* the next event, its thread's last; NONE: not in this run */
	uint32_t other;   /* see enum reversal_kind */
	uint32_t thread;  /* its thread */
	uint64_t seen;    /* REVERSAL_READ: number of the value it will see (history.h) */
	const char *text; /* see enum reversal_kind; of a read of a counter (reach_private.h):
	                   * the value; or NULL */
	GArray *sequence; /* uint32_t: the reordering before it, without the event */
	struct thread_prefix *parts; /* required prefixes; the event's thread first */
	uint32_t parts_count;
	uint64_t before; /* number of that thread's history before the event; 0: not known */
};

/* Copies the parts of the reversal that it keeps; false ends the search. */
typedef bool reversal_taker(void *context, const struct reversal *reversal);

/* A use of an object after another thread has initialised it, which is no event: a schedule in
 * which `after`, the first step that the initialisation precedes (NONE: none), has not come is
 * one in which it has not, either. */
struct early {
	uint32_t use, after;
	char *text; /* owned: what is not explored then */
};

struct awaits;
struct pasts;
struct reversal_limits {
	double seconds; /* for one query of the solver */
	/* By thread: number of steps shared with the parent run, whose  reversals are known:
	 * reversals within are skipped. NULL: none. */
	const uint32_t *common;
	const bool *ended;   /* by thread: the parent did no more steps there */
	const bool *goes_on; /* by thread: it had not ended; or NULL */
	uint32_t ender;      /* the thread that ended the program, or NONE */
	bool stuck;          /* no thread could continue */
	uint32_t end;  /* last event of the ending thread, when nothing need follow it; NONE:
	                * others could continue */
	uint32_t tail; /* from here on that thread's events are invisible to others, which
	                * continue before it; NONE: after all of it */
	const GPtrArray *finals; /* char *: variables whose last writes matter when all threads
	                          * ended; or NULL */
	uint32_t preemptions;    /* bound on preemptions before a reversal; NONE: none. Only the
	                          * search over states obeys it */
	uint32_t spurious; /* bound on spurious wake-ups of a schedule. Only the search over
	                    * states makes any */
	/* Look for states in which two threads stand before conflicting accesses
	 * (REVERSAL_RACE)? Only the search over all states does. */
	bool races;
	/* struct early: is there a schedule in which the use comes early (REVERSAL_EARLY)? One
	 * is passed for each. Or NULL. */
	const GArray *early;
	/* By thread: a look that does not occur as in the run, since it ends a round in vain
	 * (awaits.h); NONE: none. Or NULL. Only the search over states obeys it. */
	const uint32_t *stops;
	/* A thread whose look has no effect waits; `states`: of the run, by event. */
	const struct awaits *awaits;
	const uint64_t *states;
	/* A longer past is not continued (pasts.h). Only the search over states obeys it. */
	const struct pasts *pasts;
	int64_t deadline; /* for the whole search (g_get_monotonic_time); 0: none */
	const struct progress *progress;
};
static inline bool reversals_out_of_time(const struct reversal_limits *l)
{
	return l->deadline != 0 && g_get_monotonic_time() > l->deadline;
}

/* The search for the reversals of a run; each is passed to `take`. */
struct reversals;
/* Borrows the history and `limits`. */
struct reversals *reversals_new(const struct history *h, const struct reversal_limits *limits,
                                reversal_taker *take, void *context);
void reversals_free(struct reversals *r);
/* By search over states. True: all reversals were passed, late ones first; else none, since the
 * run has more than `most` states, or some, since the search was stopped. */
bool reversals_by_states(struct reversals *r, uint32_t most);
/* By random walks through the states: some reversals, each after the maximal prefix found.
 * The walks examine a thread's next step `looks` times (0.1 microseconds each). Deterministic
 * in the seed. */
void reversals_by_walks(struct reversals *r, uint64_t seed, uint64_t looks);
/* By the solver: the reversals of the next operation with any, late ones first. False when no
 * operation is left. Synchronisation behaves as in the run. */
bool reversals_by_solver(struct reversals *r, struct smt *smt);
/* Is there a schedule with the same outcomes as the run in which the history of the
 * invocations is not linearizable (engine/commute/linear/linear_trace.h)? LINEAR_NO: *sequence,
 * borrowed until the next search: that schedule, with each call as late and each return as
 * early as possible. */
enum linear_answer reversals_linear(struct reversals *r, const struct linear_part *part,
                                    uint32_t most, const GArray **sequence);
/* Data races in the schedules of the run's class, by the search over states, whatever ends
 * their waits (docs/completeness.md, "Data races"). */
enum reversals_races {
	RACES_UNKNOWN, /* it does not know all of them */
	RACES_PASSED,  /* where there is one, a pair of sites that races was passed
	                * (REVERSAL_RACE)
	                */
	RACES_NONE,
};
enum reversals_races reversals_races(const struct reversals *r);
/* Was the search stopped by `take`, cancellation or time? */
bool reversals_stopped(const struct reversals *r);
/* Were queries undecided, or maximal prefixes dropped beyond a bound? */
bool reversals_unanswered(const struct reversals *r);
/* Were there additions whose result the code does not use to memory whose value is not known in
 * every order? */
bool reversals_uncounted(const struct reversals *r);
/* Is there an order in which a signal is sent again before the first one's handler runs, so
 * that they may arrive as one? */
bool reversals_merge(const struct reversals *r);
/* Was a reversal left out because it needs more preemptions than the bound? */
bool reversals_bounded(const struct reversals *r);

#endif
