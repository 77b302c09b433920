/* test_topology.c - the ordered list under dense insertion; orders and components by hand. */
#include "engine/atomic/labels.h"
#include "engine/atomic/topology.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>

static void assert_ascending(const struct labels *l, uint32_t count)
{
	uint32_t seen = 0, previous = NONE;
	for (uint32_t i = l->first; i != NONE; previous = i, i = l->items[i].next, seen++) {
		if (l->items[i].previous != previous ||
		    (previous != NONE && !labels_before(l, previous, i)))
			ck_abort_msg("item %u after %u", i, previous);
	}
	ck_assert_uint_eq(seen, count);
	ck_assert_uint_eq(l->last, previous);
}

START_TEST(always_at_one_place)
{
	/* each insertion halves the room at one place, at both ends and in the middle */
	for (int way = 0; way < 3; way++) {
		struct labels l;
		labels_init(&l);
		labels_append(&l, 0);
		labels_append(&l, 1);
		for (uint32_t i = 2; i < 3000; i++) {
			if (way == 0)
				labels_insert_after(&l, 0, i);
			else if (way == 1)
				labels_insert_before(&l, l.first, i);
			else
				labels_insert_before(&l, 1, i);
		}
		assert_ascending(&l, 3000);
		labels_release(&l);
	}
}
END_TEST

START_TEST(anywhere_and_away)
{
	struct labels l;
	GRand *rand = g_rand_new_with_seed(3);
	GArray *in = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	labels_init(&l);
	for (uint32_t i = 0; i < 20000; i++) {
		guint at = in->len ? (guint)g_rand_int_range(rand, 0, (gint32)in->len) : 0;
		if (in->len == 0)
			labels_append(&l, i);
		else if (i % 3 == 0)
			labels_insert_before(&l, g_array_index(in, uint32_t, at), i);
		else
			labels_insert_after(&l, g_array_index(in, uint32_t, at), i);
		g_array_append_val(in, i);
		if (i % 4 == 3) {
			labels_remove(&l, g_array_index(in, uint32_t, at));
			g_array_remove_index_fast(in, at);
		}
	}
	assert_ascending(&l, in->len);
	g_array_free(in, TRUE);
	g_rand_free(rand);
	labels_release(&l);
}
END_TEST

START_TEST(against_the_order)
{
	struct topology *t = topology_new();
	for (uint32_t i = 0; i < 4; i++)
		topology_add(t, i);
	/* 3 -> 2 -> 1 -> 0, each edge against the order so far */
	for (uint32_t i = 0; i < 3; i++)
		ck_assert(!topology_add_edge(t, i + 1, i));
	for (uint32_t i = 0; i < 3; i++)
		ck_assert(topology_before(t, i + 1, i));
	topology_free(t);
}
END_TEST

START_TEST(cycles_become_one)
{
	struct topology *t = topology_new();
	for (uint32_t i = 0; i < 6; i++)
		topology_add(t, i);
	ck_assert(!topology_add_edge(t, 0, 1));
	ck_assert(!topology_add_edge(t, 1, 2));
	ck_assert(!topology_add_edge(t, 2, 3));
	ck_assert(topology_add_edge(t, 2, 1));
	ck_assert_uint_eq(topology_component(t, 1), topology_component(t, 2));
	ck_assert_uint_ne(topology_component(t, 0), topology_component(t, 1));
	ck_assert(topology_before(t, 0, 2) && topology_before(t, 1, 3));
	ck_assert(!topology_add_edge(t, 4, 0));
	ck_assert(topology_add_edge(t, 3, 4));
	ck_assert_uint_eq(topology_component_size(t, topology_component(t, 4)), 5);
	ck_assert_uint_eq(topology_component(t, 0), topology_component(t, 3));
	ck_assert_uint_eq(topology_component_size(t, topology_component(t, 5)), 1);
	topology_free(t);
}
END_TEST

START_TEST(over_when_nobody_holds_or_enters_it)
{
	struct topology *t = topology_new();
	GArray *ends = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < 3; i++)
		topology_add(t, i);
	topology_add_edge(t, 0, 1);
	topology_add_edge(t, 1, 2);
	topology_add_edge(t, 2, 1);
	topology_unhold(t, 1);
	topology_unhold(t, 2);
	ck_assert(!topology_removable(t, topology_component(t, 1))); /* 0 enters it */
	ck_assert(!topology_removable(t, 0));                        /* held */
	topology_unhold(t, 0);
	ck_assert(topology_removable(t, 0));
	topology_remove(t, 0, ends);
	ck_assert_uint_eq(ends->len, 1);
	ck_assert_uint_eq(g_array_index(ends, uint32_t, 0), 1);
	ck_assert(topology_removable(t, topology_component(t, 2)));
	topology_remove(t, topology_component(t, 2), ends);
	ck_assert_uint_eq(ends->len, 1); /* its own edges lead nowhere else */
	g_array_free(ends, TRUE);
	topology_free(t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("incremental topological order");
	TCase *c = tcase_create("topology");
	tcase_add_test(c, always_at_one_place);
	tcase_add_test(c, anywhere_and_away);
	tcase_add_test(c, against_the_order);
	tcase_add_test(c, cycles_become_one);
	tcase_add_test(c, over_when_nobody_holds_or_enters_it);
	suite_add_tcase(s, c);
	return suite_run(s);
}
