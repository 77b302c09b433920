/*
 * wide_clocks.h - vector clocks of many threads as persistent trees, which share equal parts;
 * clocks.h is their user.
 */
#ifndef HEDDLE_WIDE_CLOCKS_H
#define HEDDLE_WIDE_CLOCKS_H

#include "engine/base/base.h"

/* Number of threads from which clocks are trees; a variable for tests on small traces. */
extern uint32_t clocks_wide;
enum { WIDE_BITS = 4, WIDE_PARTS = 1 << WIDE_BITS };
/* The nodes of all trees, by index; 0 is the empty tree of every height. Immutable while in
 * use, and interned: equal trees are one node. */
struct wide_nodes {
	uint32_t (*of)[WIDE_PARTS]; /* nodes; of the lowest level times */
	uint32_t top;               /* shift of a thread number at the root */
	uint32_t count, capacity;
	uint32_t *slots, slots_count; /* nodes by hash, open addressing; 0: none */
	uint32_t *unused, unused_count;
	uint32_t sweep_at; /* number of nodes at which a sweep is due */
	uint8_t *marks;    /* during a sweep */
};

void wide_init(struct wide_nodes *w, uint32_t threads);
void wide_release(struct wide_nodes *w);
static inline uint32_t wide_time(const struct wide_nodes *w, uint32_t node, uint32_t thread)
{
	for (uint32_t shift = w->top; node != 0 && shift > 0; shift -= WIDE_BITS)
		node = w->of[node][thread >> shift & (WIDE_PARTS - 1)];
	return node == 0 ? 0 : w->of[node][thread & (WIDE_PARTS - 1)];
}
/* The tree with the larger components of both. */
uint32_t wide_join(struct wide_nodes *w, uint32_t a, uint32_t b);
/* The tree with at least this time for a thread. */
uint32_t wide_set(struct wide_nodes *w, uint32_t a, uint32_t thread, uint32_t time);
/* to[u] := the larger of to[u] and the tree's component, where `to` has at least those of the
 * tree `since`. Costs the difference of the two trees. */
void wide_join_into(const struct wide_nodes *w, uint32_t a, uint32_t since, uint32_t *to);
/* Free the nodes of all trees but those marked. */
void wide_sweep_begin(struct wide_nodes *w);
void wide_mark(struct wide_nodes *w, uint32_t root);
void wide_sweep_end(struct wide_nodes *w);

/* A clock for many questions in a row: an array, or a tree. Valid until the next clock is
 * made. */
struct clock_view {
	const uint32_t *times; /* NULL: a tree */
	const struct wide_nodes *nodes;
	uint32_t root;
};
static inline uint32_t view_time(struct clock_view v, uint32_t thread)
{
	return G_LIKELY(v.times != NULL) ? v.times[thread] : wide_time(v.nodes, v.root, thread);
}

#endif
