/*
 * flips.h - from one run to the schedules of others: for each operation whose outcome depends
 * on the order, and each other outcome, the largest parts of the run after which it happens
 * so.
 *
 * A read and each other write that it may see; a wait and each signal that it may miss; an
 * access and the free of its block by another thread; a step of a specified object and each
 * set of those that it may not commute with; a try or an operation with a time limit; which
 * waiter a signal wakes; which thread is the last at a barrier; and where the run ended
 * before a thread did, that thread going on.
 */
#ifndef HEDDLE_FLIPS_H
#define HEDDLE_FLIPS_H

#include "engine/explore/history.h"
#include "engine/predict/smt/smt.h"

enum flip_kind {
	FLIP_READ,     /* other: the write that it sees (NONE: nobody's) */
	FLIP_WAIT,     /* other: the signal missed, or not yet given */
	FLIP_USE,      /* other: the free or destruction that was before */
	FLIP_ALIVE,    /* other: the free or destruction that now comes after */
	FLIP_CALL,     /* other: a call that it does not commute with and now comes before */
	FLIP_RETURNS,  /* a call, of an object that is looked at by results; text: what */
	FLIP_FAILS,    /* a try; other: the acquire of who has the lock (NONE: no count left) */
	FLIP_SUCCEEDS, /* a try that failed */
	FLIP_TIMEOUT,  /* a wake: the time is up before anybody signals */
	FLIP_SIGNALLED, /* a wake whose time was up: it is signalled */
	FLIP_WOKEN,     /* a wake (event: or NONE, not in this run); other: what wakes it */
	FLIP_LAST,      /* a departure from a barrier, of its last thread or no longer */
	FLIP_ONCE,    /* a once-function that had been run: its caller runs it; other: where it
	               * began in this run */
	FLIP_STUCK,   /* nobody can go on; event: NONE */
	FLIP_GOES_ON, /* the thread, beyond what the run has of it; event: NONE; other: what is
	               * not there yet, or NONE */
	FLIP_FINAL,   /* the end; other: the last write of a variable that differs */
	FLIP_KINDS
};

struct flip {
	enum flip_kind kind;
	uint32_t event;   /* what comes next, its thread's last; NONE: not in this run */
	uint32_t other;   /* see enum flip_kind */
	uint32_t thread;  /* whose */
	const char *text; /* see enum flip_kind, or NULL */
	GArray *sequence; /* uint32_t: the reordering before it, without the event */
	struct part
	        *parts; /* what a run must begin with to have it; the event's thread first */
	uint32_t parts_count;
};

/* Takes what it wants from the flip; false ends the search. */
typedef bool flip_taker(void *context, const struct flip *flip);

struct flip_limits {
	double seconds;         /* for one question */
	const uint32_t *common; /* by thread: so many steps are as in the run that this one was
	                         * derived from, whose flips are known: what lies within them
	                         * is left out.  NULL: nothing is */
	const bool *ended;      /* by thread: that run did nothing more there */
	const bool *goes_on;    /* by thread: it had not come to its end; or NULL */
	uint32_t ender;         /* the thread that ended the program, or NONE */
	bool stuck;             /* nobody could go on */
	uint32_t end;           /* the last event of the thread that ended the program, when
	                         * nothing need come after it; NONE: others could still go on */
	uint32_t tail; /* from here on that thread did nothing that others could see: they go
	                * on before it; NONE: they go on after all of it */
	const GPtrArray *finals; /* char *: variables whose last writes matter, where every
	                          * thread came to its end; or NULL */
	int64_t deadline;        /* of everything (g_get_monotonic_time); 0: none */
	const struct progress *progress;
};
static inline bool flips_out_of_time(const struct flip_limits *l)
{
	return l->deadline != 0 && g_get_monotonic_time() > l->deadline;
}

/* The search for the reversals of one run: each is given to `take`, by one of the ways below.
 */
struct reversals;
/* Borrows the history and `limits`. */
struct reversals *reversals_new(const struct history *h, const struct flip_limits *limits,
                                flip_taker *take, void *context);
void reversals_free(struct reversals *r);
/* By the search over states.  True: it gave every one, late ones first; else it gave none,
 * since the run has more than `most` states or it was stopped. */
bool reversals_by_states(struct reversals *r, uint32_t most);
/* By a few walks through the states, which take about as long as some runs: some reversals,
 * each after the largest prefix that a walk had.  The same for the same seed. */
void reversals_by_walks(struct reversals *r, uint64_t seed);
/* By the solver: those of the next operation that has any, late ones first.  False when no
 * operation is left.  What synchronisation does is as it was in the run. */
bool reversals_by_solver(struct reversals *r, struct smt *smt);
/* `take` ended the search, it was cancelled, or its time was up. */
bool reversals_stopped(const struct reversals *r);
/* Some question stayed without an answer, or a reversal had more largest prefixes than are
 * looked at. */
bool reversals_unanswered(const struct reversals *r);

#endif
