/*
 * graph.h - the conflict graph of all units of work (Marathon, corollary 1), built online in
 * one pass over the trace.
 *
 * New edges enter open units only. So a component that no open unit reaches can get no new
 * cycle. Online, the strong components and a topological order of them are maintained under
 * insertion (topology.h). A component without open units and without incoming edges is passed
 * to the collector of cycles and removed, and perhaps its successors after it: memory is
 * bounded by the open units and the components reachable from them.
 *
 * Post mortem, only single units without incoming edges are removed during the pass, when they
 * have ended (the paper's section 4.2), and the graph is kept.
 */
#ifndef HEDDLE_ATOMIC_GRAPH_H
#define HEDDLE_ATOMIC_GRAPH_H

#include "engine/atomic/model.h"

/* A node. */
struct unit {
	uint32_t name; /* string; NONE: a single access outside of units */
	uint32_t thread;
	uint32_t begin, end; /* events; end NONE: open */
	uint32_t entering;   /* number of incoming edges */
	uint32_t out;        /* first outgoing edge, or NONE */
	bool ended, dropped;
};

/* An edge. */
struct conflict {
	uint32_t from, to; /* units; from NONE: unused */
	uint32_t set, variable;
	uint32_t events[2];
	uint32_t next; /* the next edge out of `from` */
};

struct conflict_counts {
	uint64_t units, conflicts; /* created in total */
	uint32_t largest;          /* most units at a time */
	uint64_t accesses;         /* to members of sets, counted by variable and set */
	uint64_t depths;           /* sum of the open scopes at each */
	uint32_t deepest;
};

struct conflict_graph {
	bool cut;          /* the deadline passed before the last event */
	GArray *units;     /* struct unit; dropped ones are reused */
	GArray *conflicts; /* struct conflict */
	struct conflict_counts counts;
};

/* An access to one variable of one set. */
struct unit_use {
	uint32_t unit, event, set, variable;
};

struct graph_options {
	/* Order of the events: a reordering of (a subset of) the trace; NULL: the trace. */
	const uint32_t *sequence;
	size_t length;
	/* Receives a struct unit_use for every access to a set; no unit is dropped then. NULL:
	 * not wanted. */
	GArray *uses;
	/* Online: called with the units of a finished component of more than one unit before
	 * they are dropped. Not with `uses`. NULL: post mortem. */
	void (*settle)(void *context, const struct conflict_graph *g, const uint32_t *units,
	               uint32_t count);
	void *context;
	const struct progress *progress;
	gint64 deadline; /* of effort_microseconds, at which it stops (graph.cut); 0: none */
};

/* NULL when cancelled.  `options` may be NULL. */
struct conflict_graph *conflict_graph_new(const struct trace *t,
                                          const struct atomic_model *model,
                                          const struct graph_options *options);
void conflict_graph_free(struct conflict_graph *graph);

#endif
