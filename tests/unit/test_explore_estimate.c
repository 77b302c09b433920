/*
 * test_explore_estimate.c - how many classes a partly explored tree is said to have.
 */
#include "engine/explore/estimate.h"
#include "tests/support/suite.h"

#include <check.h>

enum { MOST = 5000 };
static struct estimate_node nodes[MOST];
static uint32_t count;

/* A tree of `depth` levels below with `branching` children a node, of which `taken` were taken.
 */
static void grow(uint32_t parent, int depth, uint32_t branching, uint32_t taken)
{
	uint32_t own = count++;
	nodes[own] = (struct estimate_node){ .parent = parent,
		                             .waiting = depth > 0 ? branching - taken : 0 };
	for (uint32_t i = 0; i < taken && depth > 0; i++)
		grow(own, depth - 1, branching, taken);
}

static struct explore_estimate estimate_of(double taken)
{
	return explore_estimate(nodes, count, taken);
}

START_TEST(a_whole_tree_has_its_size)
{
	count = 0;
	grow(NONE, 4, 3, 3);
	struct explore_estimate e = estimate_of(1);
	ck_assert_uint_eq(e.classes, 121);
	ck_assert(e.low == 121 && e.high == 121);
	nodes[count - 1].redundant = true;
	ck_assert_uint_eq(estimate_of(1).classes, 120);
}
END_TEST

START_TEST(a_regular_tree_is_known_by_one_of_its_paths)
{
	count = 0;
	grow(NONE, 4, 3, 1);
	ck_assert_uint_eq(estimate_of(1).classes, 121);
	/* half of the pending nodes are covered when taken */
	ck_assert_uint_eq(estimate_of(0.5).classes, 31);
}
END_TEST

/* The children of the root have 1 and 9 classes; two more are waiting. */
START_TEST(the_spread_is_that_of_the_siblings)
{
	count = 0;
	grow(NONE, 0, 0, 0);
	nodes[0].waiting = 2;
	grow(0, 0, 0, 0);
	grow(0, 1, 8, 8);
	struct explore_estimate e = estimate_of(1);
	ck_assert(e.classes > e.low && e.classes < e.high);
	ck_assert_uint_eq(e.low, 13);
	ck_assert_uint_eq(e.high, 29);
}
END_TEST

START_TEST(what_has_no_sibling_is_like_others_at_its_depth)
{
	count = 0;
	grow(NONE, 0, 0, 0);
	grow(0, 2, 2, 2);
	grow(0, 0, 0, 0);
	nodes[count - 1].waiting = 2;
	ck_assert_uint_eq(estimate_of(1).classes, 15);
}
END_TEST

/* Two nodes at one depth: one has a child of 1 class and a pending child, the other a child
 * of 9. */
START_TEST(what_waits_is_like_any_at_its_depth)
{
	count = 0;
	grow(NONE, 0, 0, 0);
	grow(0, 1, 2, 1);
	uint32_t other = count;
	grow(0, 0, 0, 0);
	grow(other, 1, 8, 8);
	struct explore_estimate e = estimate_of(1);
	ck_assert_uint_eq(e.low, 14);
	ck_assert_uint_eq(e.high, 22);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("size of the tree");
	TCase *c = tcase_create("estimate");

	tcase_add_test(c, a_whole_tree_has_its_size);
	tcase_add_test(c, a_regular_tree_is_known_by_one_of_its_paths);
	tcase_add_test(c, the_spread_is_that_of_the_siblings);
	tcase_add_test(c, what_has_no_sibling_is_like_others_at_its_depth);
	tcase_add_test(c, what_waits_is_like_any_at_its_depth);
	suite_add_tcase(s, c);
	return suite_run(s);
}
