/*
 * screen_reach.c - `:reach COND at PLACE`: a schedule, a proof, or an honest "unknown".
 */
#include "tests/support/tui.h"

#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* deposit and report each take m; the report reads the balance after it. */
static const char bank[] = "#! heddle 1\n"
                           "main|fork(T1)|b.c:1\n"
                           "main|fork(T2)|b.c:2\n"
                           "T1|acq(m)|b.c:10\n"
                           "T1|w(audit)=1|b.c:11\n"
                           "T1|r(balance)=100|b.c:12\n"
                           "T1|w(balance)=150|b.c:12\n"
                           "T1|rel(m)|b.c:13\n"
                           "T2|acq(m)|b.c:20\n"
                           "T2|w(audit)=0|b.c:21\n"
                           "T2|rel(m)|b.c:22\n"
                           "T2|r(balance)=150|b.c:23\n"
                           "T2|w(late)|b.c:24\n";

static const struct {
	const char *asked, *says[3];
} questions[] = {
	{ "balance == 150 at b.c:23",
	  { "✓ balance == 150 at b.c:23: it is so in this very run",
	    "T2 comes to b.c:23, and there balance is 150 (written by T1, b.c:12)",
	    "`goto 10` goes there" } },
	{ "balance == 100 at b.c:23",
	  { "there is such an order of this run", "balance is 100",
	    "The independent checker accepts this order." } },
	{ "audit == 1 && balance == 100 at b.c:23",
	  { "there is such an order", "audit is 1 (written by T1, b.c:11), balance is 100",
	    "T1, b.c:10 to b.c:11: lock m, audit 0 → 1" } },
	{ "balance < 0 at b.c:23",
	  { "✗ balance < 0 at b.c:23: impossible, in any order of this run",
	    "(1 visit of the place asked)", "not covered" } },
	{ "audit == 0 at b.c:12", /* the lock keeps it */
	  { "✗ audit == 0 at b.c:12: impossible", "would need all of this", "lock m" } },
	{ "balance == 150 && thread == T1 at b.c:23", { "impossible" } },
	{ "late == 1 at b.c:3", { "no event is recorded at 'b.c:3'" } },
	{ "balance == 1", { "expected COND at FILE:LINE" } },
	{ "1 < 2 at b.c:23", { "the condition names no variable" } },
	{ "late == 1 at b.c:24",
	  { "? late == 1 at b.c:24: unknown", "does not have the variable's value" } },
};

START_TEST(a_question_is_answered)
{
	struct app *app = tui_open(bank, NULL);
	char *line = g_strdup_printf("reach %s", questions[_i].asked);
	tui_command(app, line);
	char *screen = tui_words(app);
	for (size_t k = 0; k < G_N_ELEMENTS(questions[_i].says) && questions[_i].says[k]; k++)
		ck_assert_msg(strstr(screen, questions[_i].says[k]) != NULL,
		              "%s: not \"%s\" in:\n%s", line, questions[_i].says[k], screen);
	g_free(screen);
	g_free(line);
	tui_close(app);
}
END_TEST

static void shows(struct app *app, const char *text)
{
	char *screen = tui_words(app);
	ck_assert_msg(strstr(screen, text) != NULL, "not \"%s\" in:\n%s", text, screen);
	g_free(screen);
}

/* The answer is a witness like others: walked, judged, written; no view fails on it. */
START_TEST(an_order_is_walked)
{
	struct app *app = tui_open(bank, &(struct tui_options){ .analyse = true });
	tui_command(app, "reach audit == 1 && balance == 100 at b.c:23");
	shows(app, "w walks it, c runs the program along it");
	tui_keys(app, "w");
	shows(app, "✓ checked");
	shows(app, "here the condition holds");
	shows(app, "values balance 100 audit 1");
	shows(app, "balance reads 100"); /* not the 150 of the recording */
	tui_keys(app, "v");
	shows(app, "the independent checker accepts this schedule");
	char *path = g_strdup_printf("%s/heddle-reach-%d.wit", g_get_tmp_dir(), (int)getpid());
	char *line = g_strdup_printf("export %s", path), *text;
	g_remove(path);
	tui_command(app, line);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert(strstr(text,
	                 "#! kind reach\n#! pair 10\n#! condition audit == 1 && balance == "
	                 "100\n"));
	g_remove(path);
	tui_keys(app, "k k - j p j Enter Esc o h c d x m s I S T w C Y X F j w");
	ck_assert(
	        !tui_shows(app, "here the condition holds")); /* another finding is selected */
	g_free(text);
	g_free(line);
	g_free(path);
	tui_close(app);
}
END_TEST

/* Also where the recording itself is the order, and for a place that waits. */
START_TEST(the_recording_is_an_order)
{
	struct app *app = tui_open(bank, &(struct tui_options){ .analyse = true });
	tui_command(app, "reach balance == 150 at b.c:23");
	tui_keys(app, "w");
	shows(app, "2 switches, both needed");
	shows(app, "here the condition holds");
	tui_command(app, "reach audit == 1 at b.c:20");
	tui_keys(app, "w");
	shows(app, "here the condition holds");
	shows(app, "lock m");
	tui_close(app);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reach");
	TCase *c = tcase_create("reach");
	tcase_add_loop_test(c, a_question_is_answered, 0, G_N_ELEMENTS(questions));
	tcase_add_test(c, an_order_is_walked);
	tcase_add_test(c, the_recording_is_an_order);
	suite_add_tcase(suite, c);
	return tui_run(suite);
}
