/*
 * flips.h - from one run to the schedules of others: for each read and each other write that
 * it may see, each wait and each signal that it may miss, each access and the free of its block
 * by another thread, each step of a specified object and each set of those that it may not
 * commute with, the largest parts of the run after which it happens so.
 */
#ifndef HEDDLE_FLIPS_H
#define HEDDLE_FLIPS_H

#include "engine/explore/history.h"
#include "engine/predict/smt.h"

struct flip {
	uint32_t event;   /* what comes next, its thread's last */
	uint32_t other;   /* the write that it sees (NONE: nobody's); the signal missed, or not
	                   * yet given; the free that was before; of a call, one that it does
	                   * not commute with and now comes before */
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
	const bool *ended; /* by thread: that run did nothing more there */
	const struct progress *progress;
};
/*
 * Gives every flip of a run to `take`, beginning with late events.  False when some question
 * stayed without an answer, or a flip had more largest parts than are looked at; *stopped
 * when `take` ended it or it was cancelled.
 */
bool flips_find(const struct history *h, struct smt *smt, const struct flip_limits *limits,
                flip_taker *take, void *context, bool *stopped);

#endif
