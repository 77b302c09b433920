/* test_layout.c - the layout of reports on a terminal (tui/batch/print/layout.h). */
#include "tests/support/suite.h"
#include "tui/batch/print/layout.h"

#include <check.h>
#include <string.h>

static GString *laid;

static const char *lay_out(unsigned columns, bool colour, const char *line)
{
	struct terminal_style style = { columns, colour };
	g_string_truncate(laid, 0);
	terminal_lay_out(&style, laid, line, strlen(line));
	return laid->str;
}

static void set_up(void)
{
	laid = g_string_new(NULL);
}
static void tear_down(void)
{
	g_string_free(laid, TRUE);
}

START_TEST(short_lines_stay)
{
	const char *const lines[] = { "", "   ", "T1 reads x", "note: x",
		                      "1234567890123456789012345678901234567890" };
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		ck_assert_str_eq(lay_out(40, false, lines[i]), lines[i]);
}
END_TEST

START_TEST(lines_are_broken_between_words)
{
	ck_assert_str_eq(
	        lay_out(40, false, "    T1 writes acct.balance (bank.c:23) while T2 reads it"),
	        "    T1 writes acct.balance (bank.c:23)\n      while T2 reads it");
	ck_assert_str_eq(
	        lay_out(40, false, "note: one two three four five six seven eight nine"),
	        "note: one two three four five six seven\n      eight nine");
	/* exactly at the last column, and one more */
	ck_assert_str_eq(lay_out(40, false, "123456789 123456789 123456789 123456789 x"),
	                 "123456789 123456789 123456789 123456789\n  x");
	ck_assert_str_eq(lay_out(40, false, "123456789 123456789 123456789 1234567890 x"),
	                 "123456789 123456789 123456789 1234567890\n  x");
}
END_TEST

START_TEST(long_words_and_narrow_terminals)
{
	static const char word[] = "/a/path/that/is/much/longer/than/a/line/of/the/terminal.c";
	g_autofree char *line = g_strdup_printf("at %s twice %s", word, word);
	g_autofree char *broken = g_strdup_printf("at\n  %s\n  twice\n  %s", word, word);
	ck_assert_str_eq(lay_out(40, false, word), word);
	ck_assert_str_eq(lay_out(40, false, line), broken);
	ck_assert_str_eq(lay_out(1, false, line), broken); /* as 40 columns */
	ck_assert_str_eq(lay_out(0, false, line), line);
}
END_TEST

START_TEST(columns_are_counted_not_bytes)
{
	/* 19 letters of two bytes each; 19 characters of two columns each */
	static const char narrow[] = "äääääääääääääääääää",
	                  wide[] = "漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢";
	g_autofree char *fits = g_strdup_printf("%s %s", narrow, narrow);
	g_autofree char *long_one = g_strdup_printf("%s %s", wide, wide);
	g_autofree char *broken = g_strdup_printf("%s\n  %s", wide, wide);
	ck_assert_str_eq(lay_out(40, false, fits), fits);
	ck_assert_str_eq(lay_out(40, false, long_one), broken);
}
END_TEST

START_TEST(commands_stay_whole_and_excerpts_are_cut)
{
	static const char command[] =
	        "    heddle replay --witness check.1.wit -- ./a-program-with-a-name",
	                  excerpt[] = "           | if (a_long_condition && another_one)";
	ck_assert_str_eq(lay_out(40, false, command), command);
	ck_assert_str_eq(lay_out(40, false, excerpt),
	                 "           | if (a_long_condition && ano");
}
END_TEST

START_TEST(headings_are_coloured_by_verdict)
{
	ck_assert_str_eq(lay_out(0, true, "race: data-race  on x"),
	                 "\033[1;31mrace: \033[m\033[1mdata-race  on x\033[m");
	ck_assert_str_eq(lay_out(0, true, "new: race: x"),
	                 "new: \033[1;31mrace: \033[m\033[1mx\033[m");
	ck_assert_str_eq(lay_out(0, true, "    race: x"), "    race: x");
	ck_assert_str_eq(lay_out(0, false, "race: x"), "race: x");
	/* colours take no column */
	ck_assert_str_eq(lay_out(40, true, "note: one two three four five six seven eight"),
	                 "\033[2mnote: \033[mone two three four five six seven\n      eight");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("layout");
	TCase *c = tcase_create("layout");
	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, short_lines_stay);
	tcase_add_test(c, lines_are_broken_between_words);
	tcase_add_test(c, long_words_and_narrow_terminals);
	tcase_add_test(c, columns_are_counted_not_bytes);
	tcase_add_test(c, commands_stay_whole_and_excerpts_are_cut);
	tcase_add_test(c, headings_are_coloured_by_verdict);
	suite_add_tcase(s, c);
	return suite_run(s);
}
