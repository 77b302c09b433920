/*
 * test_explore_worklist.c - pending schedules: keys, once each, last in first out or by chance.
 */
#include "engine/explore/worklist.h"
#include "tests/support/suite.h"

#include <check.h>

static struct pending *pending_of(uint32_t parent)
{
	struct pending *p = g_new0(struct pending, 1);
	plan_init(&p->plan);
	p->parent = parent;
	return p;
}

/* Takes all of `count`, and frees them; their numbers are in `order`. */
static void take_all(struct worklist *w, bool by_chance, uint32_t count, uint32_t *order)
{
	for (uint32_t i = 0; i < count; i++) {
		struct pending *p = worklist_take(w, by_chance);
		ck_assert_ptr_nonnull(p);
		order[i] = p->parent;
		pending_free(p);
	}
	ck_assert_ptr_null(worklist_take(w, by_chance));
}

static void add_all(struct worklist *w, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		worklist_add(w, pending_of(i));
}

START_TEST(the_last_is_first)
{
	struct worklist *w = worklist_new(0);
	uint32_t order[5];
	add_all(w, 5);
	ck_assert_uint_eq(worklist_length(w), 5);
	take_all(w, false, 5, order);
	for (uint32_t i = 0; i < 5; i++)
		ck_assert_uint_eq(order[i], 4 - i);
	worklist_free(w);
}
END_TEST

/* Each is taken once; one seed gives one order, and not the one without chance. */
START_TEST(chance_is_reproducible_and_loses_none)
{
	enum { MANY = 50 };
	uint32_t first[MANY], again[MANY], other[MANY];
	uint32_t *orders[] = { first, again, other };
	for (int i = 0; i < 3; i++) {
		struct worklist *w = worklist_new(i == 2 ? 8 : 7);
		bool seen[MANY] = { false };
		add_all(w, MANY);
		take_all(w, true, MANY, orders[i]);
		for (int k = 0; k < MANY; k++) {
			ck_assert(!seen[orders[i][k]]);
			seen[orders[i][k]] = true;
		}
		worklist_free(w);
	}
	ck_assert_mem_eq(first, again, sizeof first);
	ck_assert_mem_ne(first, other, sizeof first);
}
END_TEST

/* The order of the parts but the first makes no difference; whose step comes next does. */
START_TEST(a_schedule_is_entered_once)
{
	struct worklist *w = worklist_new(0);
	struct thread_prefix parts[] = { { 1, 0, 1, 10 }, { 2, 0, 2, 20 }, { 3, 0, 3, 30 } };
	struct thread_prefix turned[] = { { 1, 0, 1, 10 }, { 3, 0, 3, 30 }, { 2, 0, 2, 20 } };
	struct thread_prefix another[] = { { 2, 0, 2, 20 }, { 1, 0, 1, 10 }, { 3, 0, 3, 30 } };
	ck_assert(worklist_enter(w, worklist_key(parts, 3, REVERSAL_GOES_ON)));
	ck_assert(!worklist_enter(w, worklist_key(turned, 3, REVERSAL_GOES_ON)));
	ck_assert(worklist_enter(w, worklist_key(another, 3, REVERSAL_GOES_ON)));
	ck_assert(worklist_enter(w, worklist_key(parts, 2, REVERSAL_GOES_ON)));
	worklist_clear(w);
	ck_assert(worklist_enter(w, worklist_key(parts, 3, REVERSAL_GOES_ON)));
	worklist_free(w);
}
END_TEST

/* A schedule that comes to a state and one that ends there are two, although the number of the
 * class is the sum of the prefixes. */
START_TEST(an_end_is_not_the_way_to_it)
{
	struct worklist *w = worklist_new(0);
	struct thread_prefix way[] = { { 1, 10, 1 }, { 2, 20, 2 } };
	struct thread_prefix end[] = { { 0, 30, 0 } };
	ck_assert(worklist_enter(w, worklist_key(way, 2, REVERSAL_READ)));
	ck_assert(worklist_enter(w, worklist_key(end, 1, REVERSAL_STUCK)));
	ck_assert(worklist_enter(w, worklist_key(end, 1, REVERSAL_IDLE)));
	ck_assert(!worklist_enter(w, worklist_key(end, 1, REVERSAL_IDLE)));
	worklist_free(w);
}
END_TEST

/* Whether all look for ever is asked when no other schedule is left, and is no estimate of
 * classes to come. */
START_TEST(idle_ones_are_last)
{
	struct worklist *w = worklist_new(0);
	uint32_t order[4];
	for (uint32_t i = 0; i < 4; i++) {
		struct pending *p = pending_of(i);
		p->kind = i % 2 == 1 ? REVERSAL_IDLE : REVERSAL_READ;
		worklist_add(w, p);
	}
	ck_assert_uint_eq(worklist_length(w), 4);
	ck_assert_uint_eq(worklist_ready(w), 2);
	uint32_t counts[4] = { 0 };
	worklist_count(w, counts);
	ck_assert_mem_eq(counts, ((const uint32_t[]){ 1, 0, 1, 0 }), sizeof counts);
	take_all(w, false, 4, order);
	ck_assert_mem_eq(order, ((const uint32_t[]){ 2, 0, 3, 1 }), sizeof order);
	worklist_free(w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pending schedules");
	TCase *c = tcase_create("worklist");

	tcase_add_test(c, the_last_is_first);
	tcase_add_test(c, chance_is_reproducible_and_loses_none);
	tcase_add_test(c, a_schedule_is_entered_once);
	tcase_add_test(c, an_end_is_not_the_way_to_it);
	tcase_add_test(c, idle_ones_are_last);
	suite_add_tcase(s, c);
	return suite_run(s);
}
