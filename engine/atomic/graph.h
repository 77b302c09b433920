/*
 * graph.h - the conflict graph of all units of work (Marathon, corollary 1), built on line
 * in one pass over the trace.
 *
 * A unit that has ended and that no edge enters can never be on a cycle: new edges enter
 * only open units.  It is dropped at once, and what that frees after it, so that memory
 * follows the open units and the cycles, not the trace.
 */
#ifndef HEDDLE_ATOMIC_GRAPH_H
#define HEDDLE_ATOMIC_GRAPH_H

#include "engine/atomic/model.h"

struct unit {          /* a node */
	uint32_t name; /* string; NONE: an access outside of any unit */
	uint32_t thread;
	uint32_t begin, end; /* events; end NONE while it is open */
	uint32_t entering;   /* edges into it */
	uint32_t out;        /* its first edge, NONE: none */
	bool ended, dropped;
};

struct conflict {          /* an edge */
	uint32_t from, to; /* units; from NONE: a free place */
	uint32_t set, variable;
	uint32_t events[2];
	uint32_t next; /* the next edge out of `from` */
};

struct conflict_graph {
	GArray *units;                       /* struct unit; dropped ones stay as free places */
	GArray *conflicts;                   /* struct conflict */
	uint64_t unit_count, conflict_count; /* ever made */
	uint32_t largest;                    /* most units at one time */
};

struct unit_use { /* an access, by each of its variables and sets */
	uint32_t unit, event, set, variable;
};

struct graph_options {
	/* The order of the events: a reordering of (some of) the trace; NULL: the trace. */
	const uint32_t *sequence;
	size_t length;
	/* struct unit_use, appended for every access of a set; no unit is dropped then.  NULL:
	 * not wanted. */
	GArray *uses;
	/*
	 * Units that no open unit reaches, `settled` by unit, can be on no cycle that is not
	 * there already: they are shown here, and then dropped.  NULL: they are kept.
	 */
	void (*settle)(void *context, const struct conflict_graph *g, const bool *settled);
	void *context;
	uint32_t sweep_least; /* units before settled ones are looked for; 0: the default */
	const struct progress *progress;
};

/* NULL when cancelled.  `options` may be NULL. */
struct conflict_graph *conflict_graph_new(const struct trace *t,
                                          const struct atomic_model *model,
                                          const struct graph_options *options);
void conflict_graph_free(struct conflict_graph *graph);

#endif
