/*
 * prop_topology.c - incremental components and order against the naive ones (the closure of
 * the edges), on random sequences of edges, with components removed on the way.
 */
#include "engine/atomic/topology.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MOST 28 /* vertices */

/* Check's own assertions write to a pipe each time; these are asked millions of times. */
#define NEED(condition) \
	do { \
		if (!(condition)) \
			ck_abort_msg("seed %u: %s", current_seed, #condition); \
	} while (0)
static uint32_t current_seed;

struct naive {
	bool there[MOST], held[MOST];
	bool edge[MOST][MOST], reach[MOST][MOST];
	int count;
};

static void close_over(struct naive *n)
{
	memcpy(n->reach, n->edge, sizeof n->reach);
	for (int k = 0; k < n->count; k++)
		for (int i = 0; i < n->count; i++)
			for (int j = 0; n->reach[i][k] && j < n->count; j++)
				n->reach[i][j] |= n->reach[k][j];
}

static bool same(const struct naive *n, int a, int b)
{
	return a == b || (n->reach[a][b] && n->reach[b][a]);
}

static bool is_over(const struct naive *n, int v)
{
	for (int i = 0; i < n->count; i++) {
		if (!n->there[i])
			continue;
		if (same(n, i, v) ? n->held[i] : n->reach[i][v])
			return false;
	}
	return true;
}

static int size_of(const struct naive *n, int v)
{
	int size = 0;
	for (int i = 0; i < n->count; i++)
		size += n->there[i] && same(n, i, v);
	return size;
}

static void compare_ring(struct topology *t, const struct naive *n, int v)
{
	uint32_t at = (uint32_t)v;
	int size = 0;
	do {
		NEED(n->there[at] && same(n, (int)at, v));
		at = topology_next_in_component(t, at);
		size++;
	} while (at != (uint32_t)v && size <= MOST);
	NEED(size == size_of(n, v));
	NEED(topology_component_size(t, topology_component(t, at)) == (uint32_t)size);
}

static void compare(struct topology *t, struct naive *n)
{
	for (int a = 0; a < n->count; a++) {
		if (!n->there[a])
			continue;
		uint32_t component = topology_component(t, (uint32_t)a);
		compare_ring(t, n, a);
		for (int b = 0; b < n->count; b++) {
			if (!n->there[b])
				continue;
			bool one = component == topology_component(t, (uint32_t)b);
			bool before = topology_before(t, (uint32_t)a, (uint32_t)b);
			NEED(one == same(n, a, b));
			NEED(one || !n->edge[a][b] || before);
			NEED(one || before != topology_before(t, (uint32_t)b, (uint32_t)a));
		}
	}
}

static void add_edge(struct topology *t, struct naive *n, int a, int b)
{
	bool cycle = !same(n, a, b) && n->reach[b][a];
	NEED(topology_add_edge(t, (uint32_t)a, (uint32_t)b) == cycle);
	n->edge[a][b] = a != b;
	close_over(n);
}

static void remove_component(struct topology *t, struct naive *n, int v)
{
	GArray *ends = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	bool gone[MOST], told[MOST] = { false };
	for (int i = 0; i < n->count; i++)
		gone[i] = n->there[i] && same(n, i, v);
	topology_remove(t, topology_component(t, (uint32_t)v), ends);
	for (guint i = 0; i < ends->len; i++)
		told[g_array_index(ends, uint32_t, i)] = true;
	for (int i = 0; i < n->count; i++) {
		bool entered = false;
		for (int j = 0; j < n->count; j++)
			entered |= gone[j] && n->edge[j][i];
		/* of a component that several edges enter, only some may be reported */
		NEED(!told[i] || (entered && !gone[i]));
		bool any = !entered || gone[i];
		for (int j = 0; j < n->count; j++)
			any |= told[j] && same(n, i, j);
		NEED(any);
	}
	for (int i = 0; i < n->count; i++) {
		for (int j = 0; gone[i] && j < n->count; j++)
			n->edge[i][j] = n->edge[j][i] = false;
		if (gone[i])
			n->there[i] = n->held[i] = false;
	}
	close_over(n);
	g_array_free(ends, TRUE);
}

static void add_vertex(struct topology *t, struct naive *n, int v)
{
	topology_add(t, (uint32_t)v);
	n->there[v] = n->held[v] = true;
}

struct tally {
	int cycles, edges, removed;
};

static void run(uint32_t seed, struct tally *tally)
{
	GRand *rand = g_rand_new_with_seed(current_seed = seed);
	struct topology *t = topology_new();
	struct naive *n = g_new0(struct naive, 1);
	n->count = g_rand_int_range(rand, 2, MOST + 1);
	int removing = g_rand_int_range(rand, 0, 3), steps = g_rand_int_range(rand, 5, 90);
	for (int v = 0; v < n->count; v++)
		add_vertex(t, n, v);
	for (int i = 0; i < steps; i++) {
		int a = g_rand_int_range(rand, 0, n->count),
		    b = g_rand_int_range(rand, 0, n->count);
		if (!n->there[a]) {
			add_vertex(t, n, a);
		} else if (g_rand_int_range(rand, 0, 6) < removing) {
			if (n->held[a])
				topology_unhold(t, (uint32_t)a);
			n->held[a] = false;
			bool over = topology_removable(t, topology_component(t, (uint32_t)a));
			NEED(over == is_over(n, a));
			tally->removed += over;
			if (over)
				remove_component(t, n, a);
		} else if (n->there[b]) {
			tally->cycles += !same(n, a, b) && n->reach[b][a];
			tally->edges++;
			add_edge(t, n, a, b);
		}
		compare(t, n);
	}
	topology_free(t);
	g_free(n);
	g_rand_free(rand);
}

START_TEST(as_the_closure_has_it)
{
	const char *more = g_getenv("HEDDLE_TRACES"), *first = g_getenv("HEDDLE_SEED");
	uint32_t runs = more ? (uint32_t)strtoul(more, NULL, 10) : 6000;
	uint32_t seed = first ? (uint32_t)strtoul(first, NULL, 10) : 1;
	struct tally tally = { 0 };
	for (uint32_t i = 0; i < runs; i++)
		run(seed + i, &tally);
	/* The sequences must try every outcome. */
	ck_assert_int_gt(tally.cycles, (int)runs);
	ck_assert_int_gt(tally.edges, 10 * (int)runs);
	ck_assert_int_gt(tally.removed, (int)runs);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("incremental components against their definition");
	TCase *c = tcase_create("topology");
	tcase_add_test(c, as_the_closure_has_it);
	suite_add_tcase(s, c);
	return suite_run(s);
}
