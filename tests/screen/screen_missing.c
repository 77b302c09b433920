/*
 * screen_missing.c - code that was not recorded (barrier pairs), in every view that shows it:
 * a box of a library hands a letter from one thread to another, and a counter besides races.
 * The findings are made by hand; what M asks anew is decided.
 */
#include "tests/support/tui.h"

#include "tui/explorer/export.h"
#include "tui/explorer/screen/screen.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The receiver is inside of the library while the sender writes, and waits there. */
static const char courier[] =
        "#! heddle 1\n"
        "main|fork(T1)|courier.c:45\n"
        "main|fork(T2)|courier.c:46\n"
        "T2|miss(box_take@libparcels.so,*box)|courier.c:31\n"
        "T1|w(letter->text)=42|courier.c:23\n"
        "T1|r(stamps)=0|courier.c:24\n"
        "T1|w(stamps)=1|courier.c:24\n"
        "T1|miss(box_put@libparcels.so,*box,*letter)|courier.c:25\n"
        "T1|back(box_put@libparcels.so)|courier.c:25\n"
        "T2|back(box_take@libparcels.so)|courier.c:31\n"
        "T2|r(letter->text)=42|courier.c:33\n"
        "main|w(stamps)=9|courier.c:47\n"
        "main|miss(box_free@libparcels.so,*crate,*crate.lid)|courier.c:48\n"
        "main|back(box_free@libparcels.so)|courier.c:48\n";
enum { TEXT = 3, STAMPS = 5, READ = 9, RESET = 10 };

static struct finding *race(uint32_t first, uint32_t second, const char *variable,
                            const struct session *s, const uint32_t *witness, guint count)
{
	struct finding *f = finding_new(FINDING_DATA_RACE, first, second);
	uint32_t v = session_find_variable(s, variable);
	f->verdict = VERDICT_RACE;
	f->count = 1;
	f->counted_all = true;
	f->by = "shb";
	f->variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(f->variables, v);
	f->witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_vals(f->witness, witness, count);
	return f;
}

static struct finding *stamps(const struct session *s)
{
	static const uint32_t witness[] = { 0, 1, 3, 4, STAMPS, RESET };
	return race(STAMPS, RESET, "stamps", s, witness, G_N_ELEMENTS(witness));
}

static struct finding *letter(const struct session *s)
{
	static const uint32_t witness[] = { 0, 1, 2, 8, TEXT, READ };
	return race(TEXT, READ, "letter->text", s, witness, G_N_ELEMENTS(witness));
}

static void give(struct app *app, struct finding *const *findings, guint count,
                 enum analysis analysis)
{
	struct report *report = report_new(app->session->trace, analysis_word(analysis));
	for (guint i = 0; i < count; i++)
		report_add(report, findings[i]);
	report->complete = true;
	session_add_report(app->session, report, analysis, analysis == ANALYSIS_AUTO);
	app_refresh(app);
}

static struct app *open_courier(const struct tui_options *options)
{
	struct app *app = tui_open(courier, options);
	const struct session *s = app->session;
	give(app, (struct finding *[]){ letter(s), stamps(s) }, 2, ANALYSIS_AUTO);
	give(app, (struct finding *[]){ stamps(s) }, 1, ANALYSIS_RDIT);
	return app;
}

static const struct {
	const char *name, *keys;
	struct tui_options options;
} pictures[] = {
	{ "missing-findings", "", { 0 } },
	{ "missing-findings-counted", "M", { 0 } },
	{ "missing-findings-ascii", "", { .ascii = true } },
	{ "missing-trace", "T", { 0 } },
	{ "missing-trace-inside", "T 6 G", { .rows = 30, .columns = 150 } },
	{ "missing-order-hb", "o", { 0 } },
	{ "missing-order-counted", "o M", { 0 } },
	{ "missing-order-unordered", "M k o", { 0 } },
	{ "missing-closure", "o M m", { 0 } },
	{ "missing-witness", "w", { 0 } },
	{ "missing-witness-counted", "M w", { 0 } },
	{ "missing-witness-race", "M k w", { 0 } },
	{ "missing-story", "I", { .rows = 36, .columns = 80 } },
	{ "missing-story-counted", "I M", { .rows = 36, .columns = 80 } },
};

START_TEST(picture)
{
	tui_picture(open_courier(&pictures[_i].options), pictures[_i].keys, pictures[_i].name);
}
END_TEST

/* M comes and goes: what each view says is that of the state it is in, and no entry is lost. */
START_TEST(counting_can_be_taken_back)
{
	struct app *app = open_courier(NULL);
	tui_keys(app, "w");
	ck_assert(tui_shows(app, "both are about to happen: they race"));
	tui_keys(app, "M");
	ck_assert(tui_shows(app, "proved impossible"));
	ck_assert(!tui_shows(app, "they race"));
	tui_keys(app, "M");
	ck_assert(tui_shows(app, "both are about to happen: they race"));
	tui_keys(app, "v");
	ck_assert(strstr(app->message, "accepts") || tui_shows(app, "checked"));
	ck_assert_uint_eq(app->session->entries->len, 2);
	tui_close(app);
}
END_TEST

/* The scheduler holds threads to the order of missing code where that counts, and only there:
 * T2 may not come back from its call before T1 was in its own. */
START_TEST(the_scheduler_knows_missing_code)
{
	static const char *const keys[] = { "w p", "M w p" };
	for (int missing = 0; missing < 2; missing++) {
		struct app *app = open_courier(NULL);
		tui_keys(app, keys[missing]);
		while (!tui_shows(app, "your schedule: 0 events"))
			tui_keys(app, "u");
		tui_keys(app, "Enter Enter Tab Tab Enter"); /* both threads begin; T2 calls */
		ck_assert(tui_shows(app, missing ? "✗ T2 8 back" : "✓ T2 8 back"));
		tui_close(app);
	}
}
END_TEST

/* A witness that was asked for with missing code says so in its file. */
START_TEST(a_witness_says_what_it_is_under)
{
	struct app *app = open_courier(NULL);
	char *path = g_strdup_printf("%s/heddle-missing-%d.wit", g_get_tmp_dir(),
	                             (int)getpid()),
	     *line = g_strconcat("export ", path, NULL), *text = NULL;
	tui_keys(app, "j M");
	tui_command(app, line);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert(strstr(text, "#! under missing\n") != NULL);
	g_free(text);
	tui_keys(app, "M");
	tui_command(app, line);
	tui_keys(app, "y"); /* over the first */
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert(strstr(text, "#! under") == NULL);
	g_free(text);
	remove(path);
	g_free(line);
	g_free(path);
	tui_close(app);
}
END_TEST

/* A trace without such calls has no M. */
START_TEST(without_missing_code_there_is_nothing_to_count)
{
	struct app *app = tui_open("T1|w(x)|a.c:1\nT2|w(x)|a.c:2\n", NULL);
	ck_assert(!tui_shows(app, "missing code"));
	tui_keys(app, "M");
	ck_assert_str_eq(app->message,
	                 "this recording has no calls into code that was not recorded");
	ck_assert(!app->session->missing);
	tui_close(app);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("screens of missing code");
	TCase *c = tcase_create("views");
	tcase_add_loop_test(c, picture, 0, G_N_ELEMENTS(pictures));
	tcase_add_test(c, counting_can_be_taken_back);
	tcase_add_test(c, the_scheduler_knows_missing_code);
	tcase_add_test(c, a_witness_says_what_it_is_under);
	tcase_add_test(c, without_missing_code_there_is_nothing_to_count);
	suite_add_tcase(suite, c);
	return tui_run(suite);
}
