/*
 * test_wide_clocks.c - clocks as trees (engine/order/wide_clocks.h) against plain vectors:
 * joins, the tables as they grow, and sweeps, after which marked trees are as before, and the
 * nodes of others are used again.
 */
#include "engine/order/wide_clocks.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 700, CLOCKS = 24, STEPS = 4000, PER_SWEEP = 500 };

struct clock {
	uint32_t root;
	uint32_t plain[THREADS];
};

struct world {
	struct wide_nodes nodes;
	struct clock clocks[CLOCKS];
	GRand *random;
	uint32_t time;
};

static void world_init(struct world *w, uint32_t seed)
{
	memset(w, 0, sizeof *w);
	wide_init(&w->nodes, THREADS);
	w->random = g_rand_new_with_seed(seed);
}

static void world_release(struct world *w)
{
	wide_release(&w->nodes);
	g_rand_free(w->random);
}

static uint32_t below(struct world *w, uint32_t limit)
{
	return (uint32_t)g_rand_int_range(w->random, 0, (gint32)limit);
}

static void step(struct world *w)
{
	struct clock *a = &w->clocks[below(w, CLOCKS)], *b = &w->clocks[below(w, CLOCKS)];
	uint32_t thread = below(w, THREADS);

	if (below(w, 8) == 0) {
		a->root = wide_join(&w->nodes, a->root, b->root);
		for (uint32_t u = 0; u < THREADS; u++)
			a->plain[u] = MAX(a->plain[u], b->plain[u]);
	} else if (below(w, 200) == 0) { /* a clock that is given up */
		memset(a, 0, sizeof *a);
	} else {
		w->time++;
		a->root = wide_set(&w->nodes, a->root, thread, w->time);
		a->plain[thread] = MAX(a->plain[thread], w->time);
	}
}

/* One number: Check writes each assertion to a file. */
static uint32_t differences(const struct world *w)
{
	uint32_t wrong = 0;

	for (uint32_t c = 0; c < CLOCKS; c++) {
		for (uint32_t u = 0; u < THREADS; u++)
			wrong += wide_time(&w->nodes, w->clocks[c].root, u) !=
			         w->clocks[c].plain[u];
	}
	return wrong;
}

static void sweep(struct world *w)
{
	wide_sweep_begin(&w->nodes);
	for (uint32_t c = 0; c < CLOCKS; c++)
		wide_mark(&w->nodes, w->clocks[c].root);
	wide_sweep_end(&w->nodes);
}

START_TEST(trees_are_vectors)
{
	struct world w;
	uint32_t first = 0;

	world_init(&w, (uint32_t)_i);
	for (uint32_t i = 1; i <= STEPS; i++) {
		step(&w);
		if (i % PER_SWEEP != 0)
			continue;
		ck_assert_uint_eq(differences(&w), 0);
		sweep(&w);
		ck_assert_uint_eq(differences(&w), 0);
		if (first == 0)
			first = w.nodes.count;
	}
	/* nodes of clocks that are gone are used again */
	ck_assert_uint_lt(w.nodes.count, 4 * first);
	world_release(&w);
}
END_TEST

START_TEST(tables_grow)
{
	struct world w;

	world_init(&w, 1);
	for (uint32_t i = 0; i < 2 * STEPS; i++)
		step(&w);
	ck_assert_uint_gt(w.nodes.count, 1 << 10);
	ck_assert_uint_eq(differences(&w), 0);
	world_release(&w);
}
END_TEST

/* Equal trees are one node, also when a sweep has come between. */
START_TEST(equal_trees_are_one)
{
	struct wide_nodes n;
	wide_init(&n, THREADS);
	uint32_t a = wide_set(&n, wide_set(&n, 0, 3, 5), 600, 7);
	uint32_t gone = wide_set(&n, 0, 9, 9);
	ck_assert_uint_ne(a, gone);
	wide_sweep_begin(&n);
	wide_mark(&n, a);
	wide_sweep_end(&n);
	ck_assert_uint_eq(wide_set(&n, wide_set(&n, 0, 600, 7), 3, 5), a);
	ck_assert_uint_eq(wide_join(&n, a, wide_set(&n, 0, 3, 4)), a);
	wide_release(&n);
}
END_TEST

START_TEST(joins_into_a_vector)
{
	struct world w;
	uint32_t to[THREADS] = { 0 };

	world_init(&w, 2);
	for (uint32_t i = 0; i < STEPS; i++)
		step(&w);
	uint32_t since = 0, wrong = 0;
	for (uint32_t c = 0; c < CLOCKS; c++) {
		wide_join_into(&w.nodes, w.clocks[c].root, since, to);
		since = wide_join(&w.nodes, since, w.clocks[c].root);
	}
	for (uint32_t u = 0; u < THREADS; u++)
		wrong += to[u] != wide_time(&w.nodes, since, u);
	ck_assert_uint_eq(wrong, 0);
	world_release(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("wide clocks");
	TCase *c = tcase_create("wide clocks");
	tcase_add_loop_test(c, trees_are_vectors, 0, 8);
	tcase_add_test(c, tables_grow);
	tcase_add_test(c, equal_trees_are_one);
	tcase_add_test(c, joins_into_a_vector);
	suite_add_tcase(s, c);
	return suite_run(s);
}
