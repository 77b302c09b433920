/*
 * effort.h - budget of the enumeration of pairs: work beyond linear counts against `--budget`.
 *
 * Deciding a pair has its own bound (m2_bound, smt_query_solve); this one is for enumerating
 * pairs of classes and accesses, and places covered by a proof. In steps of some tens of
 * nanoseconds; the first ones are free, so that results for usual traces do not depend on the
 * machine.
 */
#ifndef HEDDLE_EFFORT_H
#define HEDDLE_EFFORT_H

#include "engine/base/base.h"

struct effort {
	uint64_t work, next_look; /* steps so far; next reading of the clock */
	double began;             /* processor time of this thread, unless paused */
	double spent, budget;     /* seconds, after the free steps */
	uint64_t free_work;
	bool paused, over;
};

/* For a trace of `events` events: 8 million steps plus 4 for each event are free. */
struct race_options;
void effort_init(struct effort *effort, uint64_t events, const struct race_options *options);
void effort_look(struct effort *effort);
/* Cost of a query to an order on a long trace, in steps. */
enum { EFFORT_QUESTION = 4 };
/* Count steps; false when the budget is spent. */
static inline bool effort_more(struct effort *effort, uint64_t steps)
{
	effort->work += steps;
	if (G_UNLIKELY(effort->work >= effort->next_look))
		effort_look(effort);
	return !effort->over;
}
/* Exclude time spent by other parts. */
void effort_pause(struct effort *effort);
void effort_resume(struct effort *effort);

/* Processor seconds of this thread, so that load on the machine costs no verdict. */
double effort_clock(void);
static inline gint64 effort_microseconds(void)
{
	return (gint64)(effort_clock() * G_USEC_PER_SEC);
}
/* The deadline in effort_microseconds, `seconds` from now; 0 seconds: none (0),
 * negative: already over. */
static inline gint64 effort_deadline(double seconds)
{
	if (seconds < 0)
		return G_MININT64;
	return seconds > 0 ? effort_microseconds() + (gint64)(seconds * G_USEC_PER_SEC) : 0;
}

#endif
