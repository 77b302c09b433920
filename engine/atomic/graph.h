/*
 * graph.h - the conflict graph of all units of work (Marathon, corollary 1), built on line
 * in one pass over the trace.
 *
 * New edges enter only open units.  So what no open unit reaches is over: it is on no cycle
 * but those that are there.  On line, strong components and their order are kept as edges
 * come (topology.h): a component without open units that no edge enters is over at once, and
 * then perhaps the next.  It is shown to whoever collects cycles, and dropped, so that memory
 * follows the open units and what they reach, not the trace.
 *
 * After the fact, only single units that have ended and that no edge enters are dropped on
 * the way (the paper's section 4.2), and the graph is there for whoever wants it.
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

struct conflict_counts {
	uint64_t units, conflicts; /* ever made */
	uint32_t largest;          /* most units at one time */
	uint64_t accesses;         /* to members of sets, by variable and set */
	uint64_t depths;           /* the sum of the open scopes at each */
	uint32_t deepest;
};

struct conflict_graph {
	bool cut; /* the deadline was over before the last event */
	GArray *units;     /* struct unit; dropped ones stay as free places */
	GArray *conflicts; /* struct conflict */
	struct conflict_counts counts;
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
	/* On line: shown the units of a component that is over, where they are more than one,
	 * before they are dropped.  Not with `uses`.  NULL: after the fact. */
	void (*settle)(void *context, const struct conflict_graph *g, const uint32_t *units,
	               uint32_t count);
	void *context;
	const struct progress *progress;
	gint64 deadline; /* of effort_microseconds, then it stops (graph.cut); 0: none */
};

/* NULL when cancelled.  `options` may be NULL. */
struct conflict_graph *conflict_graph_new(const struct trace *t,
                                          const struct atomic_model *model,
                                          const struct graph_options *options);
void conflict_graph_free(struct conflict_graph *graph);

#endif
