/*
 * chain.h - an incremental partial order over few chains: a directed acyclic graph with one
 * chain for each thread, kept transitively closed while edges are inserted.
 *
 * For each pair of chains (i, j) it keeps, by position in chain i, the least position of chain
 * j that is reached, as minima over a suffix (Pavlogiannis, "Fast, Sound, and Effectively
 * Complete Dynamic Race Prediction", appendix A), in a staircase: the sorted positions at which
 * the minimum changes. Memory is of the number of edges, as in the sparse segment trees of
 * "CSSTs" (ASPLOS 2024). Queries are logarithmic; an insertion costs that for each pair of
 * chains.
 *
 * A fixed partial order may lie below (struct chain_base): then only edges beyond it are
 * stored. Positions are plain numbers, not events.
 */
#ifndef HEDDLE_CHAIN_H
#define HEDDLE_CHAIN_H

#include "engine/base/base.h"

/* The fixed order under the edges; positions as in the graph. */
struct chain_base {
	const void *context;
	/* The least position of chain `j` that is after (i, position), or NONE. */
	uint32_t (*successor)(const void *context, uint32_t i, uint32_t position, uint32_t j);
	/* One more than the greatest position of chain `i` that is before (j, position); 0:
	 * none. */
	uint32_t (*predecessors)(const void *context, uint32_t j, uint32_t position,
	                         uint32_t i);
};

struct chain_graph;
/* `base` may be NULL, and is copied. */
struct chain_graph *chain_graph_new(uint32_t chains, const struct chain_base *base);
void chain_graph_free(struct chain_graph *g);
/* Remove every edge; keeps the memory. */
void chain_graph_clear(struct chain_graph *g);

/* With many chains: keep edges between these chains only (borrowed), so that an insertion costs
 * their number. Reachability among other chains is not found then. No effect with few. */
void chain_graph_focus(struct chain_graph *g, const uint32_t *chains, uint32_t count);

/* Least position of chain `j` that is reached from (i, position), or NONE; for i == j the
 * position itself. */
uint32_t chain_successor(const struct chain_graph *g, uint32_t i, uint32_t position,
                         uint32_t j);
/* Number of positions of chain `i` that reach (j, position); for i == j those before it and
 * itself. */
uint32_t chain_predecessors(const struct chain_graph *g, uint32_t j, uint32_t position,
                            uint32_t i);
/* Is (i, p) before or equal to (j, q)? */
bool chain_reaches(const struct chain_graph *g, uint32_t i, uint32_t p, uint32_t j, uint32_t q);

/* A pair of chains changed by an insertion. */
struct chain_change {
	uint32_t i, j; /* chains */
	uint32_t p, q; /* positions up to (i, p) now reach (j, q) */
};
/* Insert (i, p) -> (j, q). False, without a change, when it would close a cycle. Changed pairs
 * are appended to `changes` (struct chain_change; may be NULL). */
bool chain_insert(struct chain_graph *g, uint32_t i, uint32_t p, uint32_t j, uint32_t q,
                  GArray *changes);

#endif
