/*
 * atomic.h - atomic-set serializability: the distinct cycles of the conflict graph.
 */
#ifndef HEDDLE_ATOMIC_H
#define HEDDLE_ATOMIC_H

#include "engine/atomic/graph.h"
#include "engine/finding.h"

/*
 * For every edge on a cycle one shortest cycle through it; cycles of the same code (units'
 * names and variables) are one finding with a count.  At most `limit` findings (0: all),
 * shortest first; a note says what was left out.
 */
void atomic_cycles(const struct trace *t, const struct atomic_model *m,
                   const struct conflict_graph *g, uint64_t limit, struct report *report);

/* The whole analysis of what happened.  NULL when cancelled; the caller owns the report. */
struct report *atomic_find(const struct trace *t, const struct atomic_model *m, uint64_t limit,
                           const struct progress *progress);

#endif
