/*
 * chain.h - an incremental partial order over a few chains: a directed acyclic graph over
 * one chain for each thread, kept transitively closed while edges are inserted.
 *
 * For each pair of chains (i, j) it keeps, by position in chain i, the least position of
 * chain j that is reached: minima over a suffix (Pavlogiannis, "Fast, Sound, and
 * Effectively Complete Dynamic Race Prediction", appendix A).  Two representations: a
 * Fenwick tree for each pair, whose size is that of the chain, and a staircase (the
 * positions alone where the suffix minimum changes, sorted), whose size is that of the
 * edges: what the sparse segment trees of "CSSTs" (ASPLOS 2024) are after.  Queries are
 * logarithmic in both; an insertion costs that for each pair of chains.
 *
 * A fixed partial order can lie below (struct chain_base): then only what the inserted
 * edges add is stored.  Knows nothing of events.
 */
#ifndef HEDDLE_CHAIN_H
#define HEDDLE_CHAIN_H

#include "engine/base/base.h"

/* What is below, if anything; positions as in the graph. */
struct chain_base {
	const void *context;
	/* The least position of chain `j` that is after (i, position), or NONE. */
	uint32_t (*successor)(const void *context, uint32_t i, uint32_t position, uint32_t j);
	/* One more than the greatest position of chain `i` that is before (j, position); 0. */
	uint32_t (*predecessors)(const void *context, uint32_t j, uint32_t position,
	                         uint32_t i);
};

enum chain_kind { CHAIN_FENWICK, CHAIN_STAIRS };

struct chain_graph;
/* `lengths` are needed for CHAIN_FENWICK alone; `base` may be NULL, and is copied. */
struct chain_graph *chain_graph_new(enum chain_kind kind, uint32_t chains,
                                    const uint32_t *lengths, const struct chain_base *base);
void chain_graph_free(struct chain_graph *g);
/* Forget every edge; keeps the memory. */
void chain_graph_clear(struct chain_graph *g);

/*
 * The least position of chain `j` that is reached from (i, position), NONE where there is
 * none; in its own chain, the position itself.
 */
uint32_t chain_successor(const struct chain_graph *g, uint32_t i, uint32_t position,
                         uint32_t j);
/* How many events of chain `i` reach (j, position); in its own chain, those before it and
 * itself. */
uint32_t chain_predecessors(const struct chain_graph *g, uint32_t j, uint32_t position,
                            uint32_t i);
/* Is (i, p) before (j, q), or the same? */
bool chain_reaches(const struct chain_graph *g, uint32_t i, uint32_t p, uint32_t j, uint32_t q);

/* For each pair of chains that an insertion has changed. */
struct chain_change {
	uint32_t i, j; /* chains */
	uint32_t p, q; /* what is at or before (i, p) now reaches (j, q) */
};
/*
 * Insert (i, p) -> (j, q).  False when that would close a cycle (nothing is changed).
 * The changed pairs are appended to `changes` (GArray of struct chain_change; may be NULL).
 */
bool chain_insert(struct chain_graph *g, uint32_t i, uint32_t p, uint32_t j, uint32_t q,
                  GArray *changes);

#endif
