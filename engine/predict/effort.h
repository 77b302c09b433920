/*
 * effort.h - a bound on looking for pairs: what is more than linear in the trace counts
 * against `--budget`.
 *
 * Deciding a pair has a bound of its own (m2_bound, smt_query_solve); this is for what comes
 * before: going through pairs of classes, of accesses, of places that a proof covers.  In
 * steps of some tens of nanoseconds; the first ones are free, so that the result for a trace
 * of ordinary shape does not depend on the machine.
 */
#ifndef HEDDLE_EFFORT_H
#define HEDDLE_EFFORT_H

#include "engine/base/base.h"

struct effort {
	uint64_t work, next_look; /* steps so far; when the clock is read next */
	double began;             /* of this thread's processor time; when not paused */
	double spent, budget;     /* seconds, after the free steps */
	uint64_t free_work;
	bool paused, over;
};

/* For a trace of so many events: eight million steps and four for each of them are free. */
struct race_options;
void effort_init(struct effort *effort, uint64_t events, const struct race_options *options);
void effort_look(struct effort *effort);
/* What a question to an order over a long trace costs, in steps. */
enum { EFFORT_QUESTION = 4 };
/* Count steps; false once the budget is over. */
static inline bool effort_more(struct effort *effort, uint64_t steps)
{
	effort->work += steps;
	if (G_UNLIKELY(effort->work >= effort->next_look))
		effort_look(effort);
	return !effort->over;
}
/* In between, somebody else's time is spent. */
void effort_pause(struct effort *effort);
void effort_resume(struct effort *effort);

/* Seconds of this thread's processor time, so that a busy machine costs no verdict. */
double effort_clock(void);
static inline gint64 effort_microseconds(void)
{
	return (gint64)(effort_clock() * G_USEC_PER_SEC);
}
/* When so many seconds from now are over, in effort_microseconds, for work that looks at the
 * clock itself; 0 seconds: never (0), negative: they are already. */
static inline gint64 effort_deadline(double seconds)
{
	if (seconds < 0)
		return G_MININT64;
	return seconds > 0 ? effort_microseconds() + (gint64)(seconds * G_USEC_PER_SEC) : 0;
}

#endif
