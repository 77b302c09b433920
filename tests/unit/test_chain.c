/*
 * test_chain.c - the order over chains against plain reachability on a matrix, with and without
 * an order below.
 */
#include "engine/order/chain.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

enum { CHAINS = 4, LENGTH = 9, NODES = CHAINS * LENGTH };

static bool reach[NODES][NODES], below[NODES][NODES];

static void matrix_close(bool m[NODES][NODES])
{
	for (int k = 0; k < NODES; k++)
		for (int i = 0; i < NODES; i++)
			for (int j = 0; j < NODES; j++)
				m[i][j] |= m[i][k] && m[k][j];
}

static void matrix_clear(bool m[NODES][NODES])
{
	for (int i = 0; i < NODES; i++)
		for (int j = 0; j < NODES; j++)
			m[i][j] = i / LENGTH == j / LENGTH && i <= j;
}

static uint32_t below_successor(const void *context, uint32_t i, uint32_t p, uint32_t j)
{
	for (uint32_t q = 0; q < LENGTH; q++) {
		if (below[i * LENGTH + p][j * LENGTH + q])
			return q;
	}
	return NONE;
}

static uint32_t below_predecessors(const void *context, uint32_t j, uint32_t q, uint32_t i)
{
	uint32_t count = 0;

	for (uint32_t p = 0; p < LENGTH; p++) {
		if (below[i * LENGTH + p][j * LENGTH + q])
			count = p + 1;
	}
	return count;
}

static bool same(const struct chain_graph *g)
{
	bool good = true;

	for (uint32_t a = 0; a < NODES; a++) {
		for (uint32_t b = 0; b < NODES; b++)
			good &= chain_reaches(g, a / LENGTH, a % LENGTH, b / LENGTH,
			                      b % LENGTH) == reach[a][b];
		for (uint32_t j = 0; j < CHAINS; j++) {
			uint32_t first = NONE, count = 0;

			for (uint32_t q = LENGTH; q-- > 0;) {
				if (reach[a][j * LENGTH + q])
					first = q;
			}
			for (uint32_t q = 0; q < LENGTH; q++) {
				if (reach[j * LENGTH + q][a])
					count = q + 1;
			}
			good &= chain_successor(g, a / LENGTH, a % LENGTH, j) == first;
			good &= chain_predecessors(g, a / LENGTH, a % LENGTH, j) == count;
		}
	}
	return good;
}

/* Returns how many edges were refused because of a cycle. */
static int run(bool with_base, uint32_t seed)
{
	const struct chain_base base = { NULL, below_successor, below_predecessors };
	GRand *random = g_rand_new_with_seed(seed);
	int refused = 0;

	matrix_clear(below);
	for (int i = 0; with_base && i < 8; i++) {
		uint32_t a = g_rand_int_range(random, 0, NODES);
		uint32_t b = g_rand_int_range(random, 0, NODES);

		/* by position, so that there is no cycle */
		if (a % LENGTH < b % LENGTH)
			below[a][b] = true;
	}
	matrix_close(below);
	memcpy(reach, below, sizeof(reach));
	struct chain_graph *g = chain_graph_new(CHAINS, with_base ? &base : NULL);
	ck_assert(same(g));
	for (int i = 0; i < 30; i++) {
		uint32_t a = g_rand_int_range(random, 0, NODES);
		uint32_t b = g_rand_int_range(random, 0, NODES);
		bool cycle = reach[b][a];

		if (a / LENGTH == b / LENGTH)
			continue;
		ck_assert_int_eq(
		        chain_insert(g, a / LENGTH, a % LENGTH, b / LENGTH, b % LENGTH, NULL),
		        !cycle);
		refused += cycle;
		if (!cycle) {
			reach[a][b] = true;
			matrix_close(reach);
		}
		ck_assert(same(g));
	}
	chain_graph_clear(g);
	memcpy(reach, below, sizeof(reach));
	ck_assert(same(g));
	chain_graph_free(g);
	g_rand_free(random);
	return refused;
}

static void run_all(bool with_base)
{
	int refused = 0;

	for (uint32_t seed = 1; seed <= 40; seed++)
		refused += run(with_base, seed);
	ck_assert_int_gt(refused, 40);
}

START_TEST(stairs_agree_with_a_matrix)
{
	run_all(false);
}
END_TEST

START_TEST(stairs_above_an_order)
{
	run_all(true);
}
END_TEST

START_TEST(changes_name_the_pairs)
{
	struct chain_graph *g = chain_graph_new(3, NULL);
	GArray *changes = g_array_new(FALSE, FALSE, sizeof(struct chain_change));

	ck_assert(chain_insert(g, 0, 5, 1, 2, changes));
	ck_assert_uint_eq(changes->len, 1);
	g_array_set_size(changes, 0);
	/* from chain 2 to chain 0 before the edge above: two pairs change */
	ck_assert(chain_insert(g, 2, 1, 0, 4, changes));
	ck_assert_uint_eq(changes->len, 2);
	/* nothing new, nothing changed; and a cycle is refused */
	g_array_set_size(changes, 0);
	ck_assert(chain_insert(g, 2, 0, 1, 3, changes));
	ck_assert(!chain_insert(g, 1, 2, 2, 1, changes));
	ck_assert_uint_eq(changes->len, 0);
	g_array_unref(changes);
	chain_graph_free(g);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("chain");
	TCase *tests = tcase_create("order over chains");

	tcase_add_test(tests, stairs_agree_with_a_matrix);
	tcase_add_test(tests, stairs_above_an_order);
	tcase_add_test(tests, changes_name_the_pairs);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
