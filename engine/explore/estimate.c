/*
 * estimate.c - see estimate.h.
 *
 * The size of a search tree from the part that was seen (Knuth, Estimating the efficiency of
 * backtrack programs, Mathematics of Computation 29, 1975; for parts instead of single paths:
 * Kilby, Slaney, Thiebaux, Walsh, Estimating search tree size, AAAI 2006): a child that was
 * not taken yet has the size of some node at its depth. (A sibling would be a worse model:
 * the schedules below it are already executed, so a pending sibling does not lead to them.)
 * Which one is drawn at random, many times, from the leaves up; the mean is the estimate, and
 * the spread are the values that one in ten draws is below, and above.
 */
#include "engine/explore/estimate.h"
#include "engine/base/hash.h"
#include "engine/base/random.h"

#include <stdlib.h>

enum { DRAWS = 200 };

struct tree {
	const struct estimate_node *nodes;
	uint32_t count, depths;
	uint32_t *by_depth;               /* nodes */
	uint32_t *depth_begin;            /* by depth: its first in by_depth */
	uint32_t *children, *child_begin; /* by node: its first in `children` */
	double *size;                     /* by node, in classes */
	double taken;
	uint64_t random;
};

/* Sort nodes 0 .. count - 1 by key: `begin` has keys + 1 entries. */
static void sort_by(const uint32_t *key, uint32_t count, uint32_t keys, uint32_t *begin,
                    uint32_t *sorted)
{
	for (uint32_t i = 0; i < count; i++)
		if (key[i] != NONE)
			begin[key[i] + 1]++;
	for (uint32_t k = 0; k < keys; k++)
		begin[k + 1] += begin[k];
	uint32_t *next = g_memdup2(begin, sizeof *begin * (keys + 1));
	for (uint32_t i = 0; i < count; i++)
		if (key[i] != NONE)
			sorted[next[key[i]]++] = i;
	g_free(next);
}

static void tree_begin(struct tree *t)
{
	uint32_t n = t->count;
	uint32_t *depth = g_new0(uint32_t, n + 1), *parent = g_new0(uint32_t, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		parent[i] = t->nodes[i].parent;
		depth[i] = parent[i] == NONE ? 0 : depth[parent[i]] + 1;
		t->depths = MAX(t->depths, depth[i] + 1);
	}
	t->by_depth = g_new0(uint32_t, n + 1);
	t->depth_begin = g_new0(uint32_t, t->depths + 2);
	t->children = g_new0(uint32_t, n + 1);
	t->child_begin = g_new0(uint32_t, n + 2);
	t->size = g_new0(double, n + 1);
	sort_by(depth, n, t->depths, t->depth_begin, t->by_depth);
	sort_by(parent, n, n, t->child_begin, t->children);
	g_free(depth);
	g_free(parent);
}

static void tree_end(struct tree *t)
{
	g_free(t->by_depth);
	g_free(t->depth_begin);
	g_free(t->children);
	g_free(t->child_begin);
	g_free(t->size);
}

static uint32_t below(struct tree *t, uint32_t n)
{
	return (uint32_t)((random_next(&t->random) >> 32) * n >> 32);
}

/* The size of a child of a node at `depth`, for a schedule that was not taken yet. */
static double draw_child(struct tree *t, uint32_t depth)
{
	if (depth + 1 == t->depths)
		return 1;
	uint32_t from = t->depth_begin[depth + 1], count = t->depth_begin[depth + 2] - from;
	return t->size[t->by_depth[from + below(t, count)]];
}

/* The size of the whole tree, in one draw. */
static double draw_tree(struct tree *t)
{
	double sum = 0;
	for (uint32_t d = t->depths; d-- > 0;)
		for (uint32_t i = t->depth_begin[d]; i < t->depth_begin[d + 1]; i++) {
			uint32_t node = t->by_depth[i];
			double size = !t->nodes[node].redundant;
			for (uint32_t c = t->child_begin[node]; c < t->child_begin[node + 1];
			     c++)
				size += t->size[t->children[c]];
			if (t->nodes[node].waiting > 0)
				size += t->nodes[node].waiting * t->taken * draw_child(t, d);
			t->size[node] = size;
			sum += t->nodes[node].parent == NONE ? size : 0;
		}
	return sum;
}

static int by_number(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static uint64_t whole(double number)
{
	return (uint64_t)(MIN(number, (double)ESTIMATE_MOST) + 0.5);
}

struct explore_estimate explore_estimate(const struct estimate_node *nodes, uint32_t count,
                                         double taken)
{
	struct tree t = {
		.nodes = nodes, .count = count, .taken = taken, .random = HASH_FACTOR
	};
	double draws[DRAWS], sum = 0;
	tree_begin(&t);
	for (int i = 0; i < DRAWS; i++)
		sum += draws[i] = draw_tree(&t);
	tree_end(&t);
	qsort(draws, DRAWS, sizeof *draws, by_number);
	return (struct explore_estimate){ .classes = whole(sum / DRAWS),
		                          .low = whole(draws[DRAWS / 10]),
		                          .high = whole(draws[DRAWS - 1 - DRAWS / 10]) };
}
