/*
 * projection.h - a trace without the accesses that no reordering can turn, for the analyses
 * that decide pairs: of most recordings a small part.
 *
 * A variable is dropped with all of its accesses when these are plain and each two conflicting
 * ones, and each one and the free of its block, are ordered by program order, must-order and
 * the observations of variables that are kept. Every correct reordering of the projection keeps
 * that order, so a dropped read sees the same write in it as in the trace, once each dropped
 * access stands before the next kept event of its thread (projection_lift). Hence the two have
 * the same correct reorderings, up to the place of dropped accesses, the same orders on kept
 * events, and the same races: a race has an unordered pair, so its variable is kept.
 *
 * Kept is also the first access of each thread to a block that another thread has allocated,
 * with its variable: it stands for the order after the allocation. Kept are all events that are
 * no accesses, but for entries and exits of functions; a dropped event at the end of a
 * must-order edge stays as an inert one. Variables, objects, threads and locations are the
 * trace's; ids of events are not.
 */
#ifndef HEDDLE_PROJECTION_H
#define HEDDLE_PROJECTION_H

#include "engine/trace/trace.h"

struct projection {
	struct trace *trace; /* owned */
	struct trace *whole; /* borrowed */
	uint32_t *event;     /* by event of `trace`: its event in `whole`, ascending */
	/* private: by thread, its events in `whole`, consecutively: all from `turned_from` to
	 * `turned` and some before */
	GArray **turns; /* or NULL */
	uint32_t turned_from, turned;
};

/* Another pass, which shares the blocks that the one for the projection decodes: told to go up
 * to the event `end`, again and again; false when cancelled. */
struct beside {
	bool (*pass)(void *context, uint64_t end, const struct progress *progress);
	void *context;
};
/* Number of events from which a projection pays for its passes over the trace. */
enum { PROJECTION_LEAST = 1 << 18 };
/* `suspects`: the variables that can have a race (bit set), or NULL: not known. `beside` may be
 * NULL, and need not be told anything. NULL for a
 * trace of fewer than `least` events, of which more than half would be kept (`least` 0: of
 * any size, however many), or not of a sequentially consistent run; *cancelled then is true
 * when the progress callback cancelled. `t` must outlive it. */
struct projection *projection_new(struct trace *t, const uint64_t *suspects, uint64_t least,
                                  const struct beside *beside, const struct progress *progress,
                                  bool *cancelled);
void projection_free(struct projection *p); /* NULL is allowed */
/* Closes its trace: from now on the projection only lifts. */
void projection_decided(struct projection *p);
/* A sequence of the trace for one of the projection (a correct reordering, the last `pair`
 * events last): with the dropped events of each thread before its next kept one. Both begin
 * with the first *recorded events of their traces, which are not in them. Owned by the caller.
 */
GArray *projection_lift(struct projection *p, const GArray *sequence, guint pair,
                        uint32_t *recorded);

#endif
