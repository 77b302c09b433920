/* test_strategy.c - the options printed for a run describe its strategy. */
#include "engine/record/strategy.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

/* The turns of the line, as strategy_append prints them. */
static GArray *read_back(const struct strategy *s)
{
	GString *line = g_string_new(NULL);
	GArray *turns = g_array_new(FALSE, FALSE, sizeof(struct log_turn));
	struct error error = { 0 };
	strategy_append(s, line);
	char *text = strstr(line->str, "--turns ");
	ck_assert_ptr_nonnull(text);
	text += strlen("--turns ");
	*strchr(text, ' ') = '\0';
	ck_assert(strategy_read_turns(text, turns, &error));
	g_string_free(line, TRUE);
	return turns;
}

START_TEST(turns_come_again)
{
	struct log_turn made[] = { { 0, 12 }, { 2, 5 }, { 1, UINT32_MAX } };
	struct strategy s = { .kind = STRATEGY_TURNS,
		              .seed = 7,
		              .turns = g_array_new(FALSE, FALSE, sizeof *made) };
	g_array_append_vals(s.turns, made, G_N_ELEMENTS(made));
	GArray *again = read_back(&s);
	ck_assert_uint_eq(again->len, G_N_ELEMENTS(made));
	for (guint i = 0; i < again->len; i++) {
		const struct log_turn *t = &g_array_index(again, struct log_turn, i);
		ck_assert_uint_eq(t->thread, made[i].thread);
		ck_assert_uint_eq(t->until, made[i].until);
	}
	g_array_unref(again);
	strategy_release(&s);
}
END_TEST

/* An option cannot be empty: a turn that is over before its first event takes its place. */
START_TEST(no_turns_are_turns_that_are_over)
{
	struct strategy s = { .kind = STRATEGY_TURNS,
		              .seed = 7,
		              .turns = g_array_new(FALSE, FALSE, sizeof(struct log_turn)) };
	GArray *again = read_back(&s);
	for (guint i = 0; i < again->len; i++)
		ck_assert_uint_eq(g_array_index(again, struct log_turn, i).until, 0);
	g_array_unref(again);
	strategy_release(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("strategies");
	TCase *c = tcase_create("options");

	tcase_add_test(c, turns_come_again);
	tcase_add_test(c, no_turns_are_turns_that_are_over);
	suite_add_tcase(s, c);
	return suite_run(s);
}
