/*
 * cone.h - the cone of a pair of events: their causal pasts (order/past.h), extended by the
 * releases of critical sections that other threads would leave open.
 *
 * Critical sections (trace/lock_sections.h) are listed once for a trace, then read-only. A
 * prefix is a number of events of a thread; a cone is a prefix of each thread. Source:
 * semantics.md, "M2"; Pavlogiannis, POPL 2020, section 4.
 */
#ifndef HEDDLE_CONE_H
#define HEDDLE_CONE_H

#include "engine/order/past.h"
#include "engine/trace/lock_sections.h"

/* An access after the free of its block in the recording. */
struct late_access {
	uint32_t access, free;
};

struct cones;
/* NULL when cancelled. */
struct cones *cones_new(struct trace *t, const struct progress *progress);
void cones_free(struct cones *c);

/* Causal pasts with the trace's pairing, and with the observations of failed tries;
 * borrowed. */
const struct past *cones_past(const struct cones *c);

/* The critical sections of a lock, by thread. */
const struct lock_user *cones_lock(const struct cones *c, uint32_t object, uint32_t *count);
const struct lock_section *cones_section(const struct cones *c, uint32_t index);
/* Number of a user's sections that begin before a position of its thread. */
uint32_t cones_begun(const struct cones *c, const struct lock_user *use, uint32_t position);
/* Sections (indices) left open by a prefix of a thread, outermost first: in `into` (uint32_t),
 * whose contents are replaced. Returns its elements. */
const uint32_t *cones_open(const struct cones *c, uint32_t thread, uint32_t prefix,
                           GArray *into);

/* Events that a failed try observed (trace/tries.h), which must come before it in addition to
 * rule 4's. */
struct event_list cones_tried(const struct cones *c, uint32_t event);
/* Accesses after their block's free; usually none. */
const GArray *cones_late(const struct cones *c);

/* The cone of a pair: a prefix by thread (threads_count entries); `extended`: the last rule
 * (releases of other threads' acquires) added events; `exact`: false when the cone has events
 * whose rule M2 only approximates. */
struct cone {
	uint32_t *prefix;
	bool extended, exact;
};
/* Has the trace approximated events? */
bool cones_approximate(const struct cones *c);
void cone_make(const struct cones *c, uint32_t e1, uint32_t e2, struct cone *cone);
/* Close prefixes again after the caller extended some: under the causal order, and releases of
 * threads other than p1 and p2. */
void cone_close(const struct cones *c, uint32_t p1, uint32_t p2, struct cone *cone);

#endif
