/*
 * test_explore_run_list.c - lists of runs beside sorted arrays: members, and walks from any
 * run.
 */
#include "engine/explore/runs/run_list.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glib.h>

enum { LISTS = 60, MOST = 3000, ASKED = 400 };

/* Does the walk from `from` give the elements of the array from there on? */
static void compare_from(const struct run_list *list, const GArray *runs, uint32_t from)
{
	guint i = 0;
	while (i < runs->len && g_array_index(runs, uint32_t, i) < from)
		i++;
	struct run_at at = run_list_from(list, from);
	ck_assert_uint_eq(at.left, runs->len - i);
	ck_assert(run_list_has(list, from) ==
	          (i < runs->len && g_array_index(runs, uint32_t, i) == from));
	for (; at.left > 0; run_at_next(&at))
		ck_assert_uint_eq(at.run, g_array_index(runs, uint32_t, i++));
	ck_assert_uint_eq(i, runs->len);
}

START_TEST(a_list_is_as_an_array)
{
	GRand *random = g_rand_new_with_seed(5);
	for (int n = 0; n < LISTS; n++) {
		GArray *runs = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		struct run_list list = { 0 };
		guint length = (guint)g_rand_int_range(random, 0, n % 3 == 0 ? 4 : MOST);
		gint32 gap = 1 << g_rand_int_range(random, 0, 20);
		uint32_t run = (uint32_t)g_rand_int_range(random, 0, gap + 1);
		for (guint i = 0; i < length; i++) {
			g_array_append_val(runs, run);
			run_list_add(&list, run);
			ck_assert_uint_eq(run_list_last(&list), run);
			run += 1 + (uint32_t)g_rand_int_range(random, 0, gap);
		}
		ck_assert_uint_eq(list.count, length);
		for (int i = 0; i < ASKED && length > 0; i++) {
			gint32 at = g_rand_int_range(random, 0, (gint32)length);
			uint32_t near = g_array_index(runs, uint32_t, at);
			compare_from(&list, runs, near + (uint32_t)(i % 3) - (near > 0));
		}
		compare_from(&list, runs, 0);
		compare_from(&list, runs, run);
		run_list_clear(&list);
		g_array_unref(runs);
	}
	g_rand_free(random);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lists of runs");
	TCase *c = tcase_create("run_list");

	tcase_add_test(c, a_list_is_as_an_array);
	suite_add_tcase(s, c);
	return suite_run(s);
}
