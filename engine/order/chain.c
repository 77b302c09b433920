/*
 * chain.c - see chain.h.
 */
#include "engine/order/chain.h"
#include "engine/base/hash.h"
#include "engine/base/search.h"
#include "engine/order/wide_clocks.h"

#include <string.h>

/* Step of a staircase: positions up to `p` reach `q`; both ascend. */
struct step_up {
	uint32_t p, q;
};

struct stairs {
	struct step_up *steps;
	uint32_t count, room;
};

struct chain_graph {
	uint32_t chains;
	struct chain_base base;
	struct stairs *stairs;  /* at i * chains + j for the pair (i, j); with many chains
	                         * NULL */
	GHashTable *far_stairs; /* with many chains (clocks_wide): by pair that has edges */
	const uint32_t *focus;  /* chains that edges are kept for; NULL: all */
	uint32_t focus_count;
	GArray *touched;             /* uint64_t: pairs with edges */
	uint32_t *before, *after;    /* scratch, by chain */
	uint32_t *sources, *targets; /* scratch: chains with such a position */
};

static void stairs_free(void *stairs)
{
	g_free(((struct stairs *)stairs)->steps);
	g_free(stairs);
}

/* The staircase of a pair, created at its first use. */
static struct stairs *stairs_make(const struct chain_graph *g, uint64_t pair)
{
	if (g->stairs != NULL)
		return &g->stairs[pair];
	struct stairs *s = g_hash_table_lookup(g->far_stairs, (gpointer)pair);
	if (s == NULL) {
		s = g_new0(struct stairs, 1);
		g_hash_table_insert(g->far_stairs, (gpointer)pair, s);
	}
	return s;
}

/* The staircase of a pair; an empty one if it has none. */
static const struct stairs *stairs_of(const struct chain_graph *g, uint64_t pair)
{
	static const struct stairs none;

	if (g->stairs != NULL)
		return &g->stairs[pair];
	const struct stairs *s = g_hash_table_lookup(g->far_stairs, (gpointer)pair);
	return s != NULL ? s : &none;
}

struct chain_graph *chain_graph_new(uint32_t chains, const struct chain_base *base)
{
	struct chain_graph *g = g_new0(struct chain_graph, 1);
	g->chains = chains;
	if (base != NULL)
		g->base = *base;
	if (chains < clocks_wide)
		g->stairs = g_new0(struct stairs, (size_t)chains * chains + 1);
	else
		g->far_stairs = g_hash_table_new_full(hash_pointer, NULL, NULL, stairs_free);
	g->before = g_new(uint32_t, chains + 1);
	g->after = g_new(uint32_t, chains + 1);
	g->sources = g_new(uint32_t, chains + 1);
	g->targets = g_new(uint32_t, chains + 1);
	g->touched = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return g;
}

void chain_graph_free(struct chain_graph *g)
{
	if (g == NULL)
		return;
	if (g->far_stairs != NULL)
		g_hash_table_destroy(g->far_stairs);
	for (size_t i = 0; g->stairs != NULL && i < (size_t)g->chains * g->chains; i++)
		g_free(g->stairs[i].steps);
	g_free(g->stairs);
	g_array_unref(g->touched);
	g_free(g->sources);
	g_free(g->targets);
	g_free(g->before);
	g_free(g->after);
	g_free(g);
}

void chain_graph_clear(struct chain_graph *g)
{
	for (guint i = 0; i < g->touched->len; i++)
		stairs_make(g, g_array_index(g->touched, uint64_t, i))->count = 0;
	g_array_set_size(g->touched, 0);
}

void chain_graph_focus(struct chain_graph *g, const uint32_t *chains, uint32_t count)
{
	g->focus = g->far_stairs != NULL ? chains : NULL;
	g->focus_count = count;
}

/* -- staircases --------------------------------------------------------------------------- */

/* First step with p >= position. */
static uint32_t stairs_at(const struct stairs *s, uint32_t position)
{
	return search_end(i, 0, s->count, s->steps[i].p < position);
}

static uint32_t stairs_minimum(const struct stairs *s, uint32_t position)
{
	uint32_t i = stairs_at(s, position);

	return i < s->count ? s->steps[i].q : NONE;
}

/* Number of positions with a minimum of at most `q`. */
static uint32_t stairs_reaching(const struct stairs *s, uint32_t q)
{
	uint32_t low = search_end(i, 0, s->count, s->steps[i].q <= q);
	return low == 0 ? 0 : s->steps[low - 1].p + 1;
}

static void stairs_set(struct stairs *s, uint32_t p, uint32_t q)
{
	uint32_t end = stairs_at(s, p), begin = end;

	/* The new step covers those at or below p that reach no less. */
	if (end < s->count && s->steps[end].p == p)
		end++;
	while (begin > 0 && s->steps[begin - 1].q >= q)
		begin--;
	if (begin == end && s->count == s->room) {
		s->room = s->room == 0 ? 8 : 2 * s->room;
		s->steps = g_renew(struct step_up, s->steps, s->room);
	}
	memmove(s->steps + begin + 1, s->steps + end, (s->count - end) * sizeof(*s->steps));
	s->count = s->count - (end - begin) + 1;
	s->steps[begin] = (struct step_up){ p, q };
}

/* -- the order ---------------------------------------------------------------------------- */

static uint32_t added_successor(const struct chain_graph *g, uint32_t i, uint32_t p, uint32_t j)
{
	size_t pair = (size_t)i * g->chains + j;

	return stairs_minimum(stairs_of(g, pair), p);
}

uint32_t chain_successor(const struct chain_graph *g, uint32_t i, uint32_t p, uint32_t j)
{
	if (i == j)
		return p;
	uint32_t added = added_successor(g, i, p, j);
	if (g->base.successor == NULL)
		return added;
	uint32_t below = g->base.successor(g->base.context, i, p, j);
	return MIN(added, below);
}

uint32_t chain_predecessors(const struct chain_graph *g, uint32_t j, uint32_t q, uint32_t i)
{
	size_t pair = (size_t)i * g->chains + j;

	if (i == j)
		return q + 1;
	uint32_t added = stairs_reaching(stairs_of(g, pair), q);
	if (g->base.predecessors == NULL)
		return added;
	uint32_t below = g->base.predecessors(g->base.context, j, q, i);
	return MAX(added, below);
}

bool chain_reaches(const struct chain_graph *g, uint32_t i, uint32_t p, uint32_t j, uint32_t q)
{
	if (i == j)
		return p <= q;
	return chain_predecessors(g, j, q, i) > p;
}

static void set_pair(struct chain_graph *g, const struct chain_change *c)
{
	uint64_t pair = (uint64_t)c->i * g->chains + c->j;
	struct stairs *stairs = stairs_make(g, pair);

	if (stairs->count == 0)
		g_array_append_val(g->touched, pair);
	stairs_set(stairs, c->p, c->q);
}

/* Everything up to (i, p) now reaches everything from (j, q) on. */
static void insert_all(struct chain_graph *g, uint32_t i, uint32_t p, uint32_t j, uint32_t q,
                       GArray *changes)
{
	uint32_t sources = 0, targets = 0;
	uint32_t count = g->focus != NULL ? g->focus_count : g->chains;

	for (uint32_t n = 0; n < count; n++) {
		uint32_t k = g->focus != NULL ? g->focus[n] : n;

		g->before[k] = chain_predecessors(g, i, p, k);
		g->after[k] = chain_successor(g, j, q, k);
		if (g->before[k] > 0)
			g->sources[sources++] = k;
		if (g->after[k] != NONE)
			g->targets[targets++] = k;
	}
	for (uint32_t a = 0; a < sources; a++) {
		for (uint32_t b = 0; b < targets; b++) {
			struct chain_change change = { g->sources[a], g->targets[b],
				                       g->before[g->sources[a]] - 1,
				                       g->after[g->targets[b]] };

			if (change.i == change.j ||
			    added_successor(g, change.i, change.p, change.j) <= change.q)
				continue;
			set_pair(g, &change);
			if (changes != NULL)
				g_array_append_val(changes, change);
		}
	}
}

bool chain_insert(struct chain_graph *g, uint32_t i, uint32_t p, uint32_t j, uint32_t q,
                  GArray *changes)
{
	if (chain_reaches(g, j, q, i, p))
		return false;
	if (chain_reaches(g, i, p, j, q))
		return true;
	insert_all(g, i, p, j, q, changes);
	return true;
}
