/*
 * cone.h - what a pair of events needs before it: the causal order of a trace (program
 * order, must-order, reads-from) as sparse vector clocks, the critical sections that a
 * prefix leaves open, and the cone of a pair.
 *
 * Made once for a trace, in one pass, and only read afterwards.  Positions are indexes in
 * a thread's list of events; a prefix is a number of events of a thread; a cone is a prefix
 * for each thread.  Source: semantics.md, "M2"; Pavlogiannis, POPL 2020, section 4.
 */
#ifndef HEDDLE_CONE_H
#define HEDDLE_CONE_H

#include "engine/finding.h"
#include "engine/order/chain.h"
#include "engine/trace/index.h"

/* A critical section. */
struct section {
	uint32_t acquire, release; /* events; release NONE when it never ends */
	uint32_t p, q;             /* positions of the two; q NONE */
	bool exclusive;
};

/* What a thread does with one lock: its critical sections in program order. */
struct lock_use {
	uint32_t thread;
	uint32_t first, count; /* a run of cones.sections */
};

struct must_waits { /* "wait before waker", where the wake is in */
	uint32_t wait, waker, wake;
};

struct late_access { /* an access that comes after the free of its block in the recording */
	uint32_t access, free;
};

struct cones;
/* NULL when cancelled. */
struct cones *cones_new(struct trace *t, const struct progress *progress);
void cones_free(struct cones *c);

/* The causal order, for chain.h; chains are threads. */
struct chain_base cones_order(const struct cones *c);
/* How many events of `thread` are before `event` in the causal order (or are it). */
uint32_t cones_before(const struct cones *c, uint32_t event, uint32_t thread);

/* The critical sections of a lock, by thread. */
const struct lock_use *cones_lock(const struct cones *c, uint32_t object, uint32_t *count);
const struct section *cones_section(const struct cones *c, uint32_t index);
/* The sections (indexes) that a prefix of a thread leaves open. */
const uint32_t *cones_open(const struct cones *c, uint32_t thread, uint32_t prefix,
                           uint32_t *count);

/* Events that a failed try observed (trace/tries.h), which it needs before it beside rule 4's.
 */
struct event_list cones_tried(const struct cones *c, uint32_t event);
/* Accesses after their block's free; usually none. */
const GArray *cones_late(const struct cones *c);

/*
 * The cone of a pair: a prefix for each thread, in `prefix` (threads_count entries), and
 * whether its last rule (the releases of other threads' acquires) has added something.
 * `exact` is false when it holds events whose rule M2 only approximates.
 */
struct cone {
	uint32_t *prefix;
	bool extended, exact;
};
/* Is there such an event anywhere? */
bool cones_approximate(const struct cones *c);
void cone_make(const struct cones *c, uint32_t e1, uint32_t e2, struct cone *cone);
/* Close a set of prefixes again after the caller has raised some: causal order, and the
 * releases of threads other than p1 and p2. */
void cone_close(const struct cones *c, uint32_t p1, uint32_t p2, struct cone *cone);

/*
 * The causal path from `from` to `to` (from before to): steps appended to `path`.
 */
void cones_path(const struct cones *c, uint32_t from, uint32_t to, struct path *path);

#endif
