/*
 * screen_odd.c - traces that no view may stumble over: empty, very many threads, names that are
 * not ASCII, accesses that cover several variables; and work that is stopped.
 */
#include "tests/support/tui.h"

#include <check.h>
#include <string.h>

START_TEST(empty_trace)
{
	struct app *app = tui_open("", NULL);
	static const char *const keys =
	        "j k Enter w Esc o Esc s Esc S Esc T j k g G n N v ] [ } % = q C q Y q";
	tui_keys(app, keys);
	ck_assert(!app->quit);
	tui_golden(app, "empty");
	tui_close(app);
}
END_TEST

/* Accesses that cover several variables, the writes among them: every event in every view. */
START_TEST(accesses_of_several_variables)
{
	struct app *app = tui_open("T1|w8(p)=1|a.c:1\nT1|w4(p+4)=2|a.c:2\nT2|r8(p)|b.c:1\n"
	                           "T2|rmw8(p)|b.c:2\nT1|r4(p)=1|a.c:3\nT1|w8(p)|a.c:4\n",
	                           NULL);
	ck_assert(app_trace(app)->events[0].flags & EVENT_WIDE);
	static const char *const views[] = { "T", "s", "S" };
	for (size_t v = 0; v < G_N_ELEMENTS(views); v++) {
		tui_keys(app, views[v]);
		app_goto(app, 0, false);
		for (uint32_t e = 0; e < 6; e++) {
			ck_assert_uint_eq(app->session->event, e);
			tui_keys(app, "N 5 B [ ] v ^");
			app_goto(app, e, false);
			g_free(tui_screen(app, false));
			tui_keys(app, "n");
		}
	}
	tui_close(app);
}
END_TEST

START_TEST(wide_and_combining_characters)
{
	struct app *app =
	        tui_open("T1|w(変数)=1|a.c:1\nT1|w(e\xcc\x81t\xc3\xa9)=2|a.c:2\n", NULL);
	tui_keys(app, "T");
	tui_golden(app, "wide-characters");
	tui_close(app);
}
END_TEST

/* What an empty list promises is what its reports promise. */
START_TEST(an_empty_list)
{
	static const char whole[] = "A|acq(m)|a.c:1\nA|w(x)=1|a.c:2\nA|rel(m)|a.c:3\n"
	                            "B|acq(m)|b.c:1\nB|r(x)=1|b.c:2\nB|rel(m)|b.c:3\n";
	struct tui_options options = { .analyse = true, .columns = 110 };
	struct app *app = tui_open(whole, &options);
	ck_assert(tui_shows(app, "nor in any reordering of it"));
	ck_assert(tui_shows(app, "Not found either: deadlocks, order violations"));
	ck_assert(!tui_shows(app, "deadlocks)"));
	tui_close(app);
	static const char filtered[] = "#! filtered\nA|w(x)=1|a.c:2\nB|w(y)=1|b.c:2\n";
	app = tui_open(filtered, &options);
	ck_assert(!tui_shows(app, "nor in any reordering of it"));
	ck_assert(tui_shows(app, "which is no promise: the trace was filtered"));
	tui_close(app);
}
END_TEST

START_TEST(many_threads_share_a_column)
{
	GString *text = g_string_new(NULL);
	for (int i = 0; i < 20; i++)
		g_string_append_printf(text, "thread-%d|w(x%d)=%d|a.c:%d\n", i, i % 3, i, i);
	struct app *app = tui_open(text->str, NULL);
	tui_keys(app, "T");
	tui_golden(app, "many-threads");
	tui_close(app);
	g_string_free(text, TRUE);
}
END_TEST

/* -- work that is stopped -------------------------------------------------------------- */

static bool until_stopped(struct job *job, const struct progress *progress, struct error *error)
{
	while (progress_tick(progress, 0, NULL))
		g_usleep(100);
	return error_cancelled(error);
}

static void count_stopped(struct job *job, bool good, const struct error *error)
{
	ck_assert(!good);
	++*(int *)job->data;
}

static void add_work(struct app *app, bool urgent, int *stopped)
{
	struct job *job = g_new0(struct job, 1);
	job->title = g_strdup("waiting for the end");
	job->run = until_stopped;
	job->done = count_stopped;
	job->data = stopped;
	job->urgent = urgent;
	jobs_add(&app->jobs, job);
}

/* EDC goes by the specifications: in one section each, two adds of one element are ordered, of
 * two elements they are not, though both are calls on one object. */
START_TEST(edc_goes_by_the_specifications)
{
	for (int value = 1; value <= 2; value++) {
		g_autofree char *text = g_strdup_printf(
		        "#! object s set\nT1|acq(m)|1\nT1|act(s.add,1)=true|2\nT1|rel(m)|3\n"
		        "T2|acq(m)|4\nT2|act(s.add,%d)=true|5\nT2|rel(m)|6\n",
		        value);
		struct app *app = tui_open(text, NULL);
		tui_command(app, "pair 1 4");
		tui_keys(app, "o");
		struct order *order = app->session->orders[0][ORDER_KIND_EDC];
		ck_assert(order != NULL);
		ck_assert_int_eq(order_ordered(order, 1, 4), value == 1);
		tui_close(app);
	}
}
END_TEST

/* C-c stops first what the reader waits for, then the rest. */
START_TEST(stopping)
{
	struct app *app = tui_open("T1|w(x)|a.c:1\nT2|w(x)|b.c:1\n", NULL);
	int asked = 0, others = 0;
	add_work(app, false, &others);
	add_work(app, true, &asked);
	app_key(app, 'c' - 'a' + 1);
	while (asked == 0)
		app_collect(app);
	ck_assert(strstr(app->message, "once more stops the analyses"));
	ck_assert_int_eq(others, 0);
	app_key(app, 'c' - 'a' + 1);
	tui_wait(app);
	ck_assert_int_eq(others, 1);
	app_key(app, 'c' - 'a' + 1);
	ck_assert_str_eq(app->message, "no work is under way; q leaves");
	tui_command(app, "analyse soon");
	ck_assert(app->message_is_error);
	ck_assert(strstr(app->message, "a number of seconds"));
	tui_command(app, "analyse 7");
	ck_assert(app->options.budget_total == 7);
	tui_wait(app);
	ck_assert(tui_shows(app, "1 can happen"));
	tui_close(app);
}
END_TEST

/* A long witness is compared with the recorded order by a job: keys and screen go on. */
START_TEST(a_long_witness)
{
	GString *text = g_string_new(NULL);
	for (int i = 0; i < 60000; i++)
		g_string_append_printf(text, "T1|w(own)=%d|a.c:2\n", i % 9);
	g_string_append(text, "T1|w(x)=1|a.c:1\nT1|acq(m)|a.c:3\nT1|rel(m)|a.c:4\n"
	                      "T2|acq(m)|b.c:1\nT2|rel(m)|b.c:2\nT2|r(x)=1|b.c:3\n");
	struct tui_options options = { .analyse = true };
	struct app *app = tui_open(text->str, &options);
	g_string_free(text, TRUE);
	app_key(app, 'w');
	ck_assert(tui_shows(app, "comparing the witness with the recorded order"));
	ck_assert(!jobs_idle(&app->jobs));
	app_key(app, 'c' - 'a' + 1); /* stops it, and w asks again */
	tui_wait(app);
	ck_assert(tui_shows(app, "it was stopped. w asks again") ||
	          tui_shows(app, "both are about to happen"));
	app_key(app, 'w');
	app_key(app, 's'); /* another view in the meantime */
	tui_wait(app);
	tui_keys(app, "w");
	ck_assert(tui_shows(app, "both are about to happen"));
	ck_assert(tui_shows(app, "checked"));
	tui_keys(app, "p v"); /* the checker, again; the cursor stays */
	ck_assert_str_ne(app->message, "");
	tui_close(app);
}
END_TEST

static void report_race_without_witness(struct app *app)
{
	struct report *report = report_new(app->session->trace, "auto");
	struct finding *f = finding_new(FINDING_DATA_RACE, 0, 5);
	f->verdict = VERDICT_RACE;
	f->count = 1;
	report_add(report, f);
	session_add_report(app->session, report, ANALYSIS_AUTO, true);
}

/* A report that left a witness out as too long: w makes it, and no later report takes it away,
 * not even where calls into code that was not recorded left the verdict open. */
START_TEST(a_witness_that_was_not_kept)
{
	static const char text[] = "T1|w(x)=1|a.c:1\nT1|acq(m)|a.c:3\nT1|rel(m)|a.c:4\n"
	                           "T2|acq(m)|b.c:1\nT2|rel(m)|b.c:2\nT2|r(x)=1|b.c:3\n";
	for (int opened = 0; opened < 2; opened++) {
		struct app *app = tui_open(text, NULL);
		report_race_without_witness(app);
		session_select(app->session, 0);
		tui_keys(app, "w");
		tui_wait(app);
		ck_assert(tui_shows(app, "both are about to happen"));
		struct finding *f = (struct finding *)session_finding(app->session);
		const GArray *witness = f->witness;
		ck_assert_ptr_nonnull(witness);
		if (opened) {
			f->verdict = VERDICT_CANDIDATE;
			f->missing = g_strdup("a call");
		}
		report_race_without_witness(app);
		app_refresh(app);
		tui_wait(app);
		ck_assert(tui_shows(app, "both are about to happen"));
		ck_assert_int_eq(session_finding(app->session)->verdict, VERDICT_RACE);
		ck_assert_ptr_eq(session_finding(app->session)->witness, witness);
		tui_close(app);
	}
}
END_TEST

/* A wait at the end of a witness is told as the place, the object, and the reason why it never
 * ends; the switch before it by the line that its thread waits at. */
START_TEST(a_witness_that_waits)
{
	static const struct {
		const char *trace, *words[3];
	} waits[] = {
		{ "main|fork(T1)|a.c:1\nT1|acq(m)|b.c:1\nmain|fork(T2)|a.c:2\n"
		  "T1|wait(c)|b.c:2\nT1|rel(m)|b.c:2\nT2|acq(m)|c.c:1\n"
		  "T2|signal(c)|c.c:2\nT2|rel(m)|c.c:3\nT1|wake(c)|b.c:2\n"
		  "T1|acq(m)|b.c:2\nT1|rel(m)|b.c:3\nmain|join(T1)|a.c:3\n",
		  { "T1 waits at b.c:2 for a signal of c: no thread will ever",
		    "needed: main takes no more steps", "here it waits, for ever" } },
		{ "T1|acq(a)|a.c:1\nT1|acq(b)|a.c:2\nT1|rel(b)|a.c:3\nT1|rel(a)|a.c:4\n"
		  "T2|acq(b)|b.c:5\nT2|acq(c)|b.c:6\nT2|rel(c)|b.c:7\nT2|rel(b)|b.c:8\n"
		  "T3|acq(c)|c.c:9\nT3|acq(a)|c.c:10\nT3|rel(a)|c.c:11\nT3|rel(c)|c.c:12\n",
		  { "T1 waits at a.c:2 for lock b, which T2 holds; T2 waits at b.c:6",
		    "needed: T3 waits at line 10",
		    "here they wait for each other, for ever" } },
		{ "main|fork(T1)|a.c:1\nT1|acq(m)|b.c:1\nT1|rel(m)|b.c:2\nmain|acq(m)|a.c:2\n"
		  "main|join(T1)|a.c:3\nmain|rel(m)|a.c:4\n",
		  { "main waits at a.c:3 for the", "T1 waits at b.c:1 for lock m",
		    "of T1: neither can go on" } },
	};
	struct tui_options options = { .analyse = true };
	for (size_t i = 0; i < G_N_ELEMENTS(waits); i++) {
		struct app *app = tui_open(waits[i].trace, &options);
		tui_wait(app);
		tui_keys(app, "w");
		tui_wait(app);
		for (size_t k = 0; k < G_N_ELEMENTS(waits[i].words); k++)
			ck_assert_msg(tui_shows(app, waits[i].words[k]), "%s",
			              waits[i].words[k]);
		tui_close(app);
	}
}
END_TEST

/* -- what is handed over on the way ------------------------------------------------------ */

static void note_race(void *context, const struct finding *race)
{
	ck_assert(race->verdict == VERDICT_RACE && race->witness != NULL);
	g_ptr_array_add(context, g_strdup_printf("%u %u", race->first, race->second));
}

START_TEST(races_are_told_as_they_are_found)
{
	struct app *app =
	        tui_open("T1|w(x)|a.c:1\nT1|acq(m)|a.c:2\nT1|w(y)|a.c:3\nT1|rel(m)|a.c:4\n"
	                 "T2|acq(m)|b.c:1\nT2|rel(m)|b.c:2\nT2|w(x)|b.c:3\nT2|r(y)|b.c:4\n",
	                 NULL);
	GPtrArray *told = g_ptr_array_new_with_free_func(g_free);
	struct race_options options;
	struct error error;
	race_options_init(&options);
	options.analysis = ANALYSIS_AUTO;
	options.found = note_race;
	options.found_context = told;
	struct report *report = races_find(app->session->trace, &options, NULL, &error);
	ck_assert(report && report->findings->len == 2);
	ck_assert_uint_eq(told->len, 2);
	for (guint i = 0; i < 2; i++) {
		const struct finding *f = report->findings->pdata[i];
		char *pair = g_strdup_printf("%u %u", f->first, f->second);
		ck_assert(g_ptr_array_find_with_equal_func(told, pair, g_str_equal, NULL));
		g_free(pair);
	}
	report_free(report);
	g_ptr_array_free(told, TRUE);
	tui_close(app);
}
END_TEST

static int news_until; /* so many items have come */

static bool hand_over_two(struct job *job, const struct progress *progress, struct error *error)
{
	job_hand_over(job, GINT_TO_POINTER(1));
	while (g_atomic_int_get(&news_until) < 1) /* what is handed over comes while it runs */
		g_usleep(100);
	job_hand_over(job, GINT_TO_POINTER(2));
	return true;
}

static void take_items(struct job *job, GPtrArray *items)
{
	for (guint i = 0; i < items->len; i++)
		ck_assert_int_eq(GPOINTER_TO_INT(items->pdata[i]), news_until + 1);
	g_atomic_int_add(&news_until, (gint)items->len);
}

static void all_has_come(struct job *job, bool good, const struct error *error)
{
	ck_assert(good && news_until == 2);
}

START_TEST(news_of_a_job)
{
	struct app *app = tui_open("T1|w(x)|a.c:1\n", NULL);
	struct job *job = g_new0(struct job, 1);
	job->title = g_strdup("telling");
	job->run = hand_over_two;
	job->news = take_items;
	job->done = all_has_come;
	jobs_add(&app->jobs, job);
	tui_wait(app);
	ck_assert_int_eq(news_until, 2);
	tui_close(app);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("odd");
	TCase *c = tcase_create("odd");
	tcase_add_test(c, empty_trace);
	tcase_add_test(c, accesses_of_several_variables);
	tcase_add_test(c, wide_and_combining_characters);
	tcase_add_test(c, many_threads_share_a_column);
	tcase_add_test(c, an_empty_list);
	tcase_add_test(c, stopping);
	tcase_add_test(c, a_long_witness);
	tcase_add_test(c, a_witness_that_was_not_kept);
	tcase_add_test(c, a_witness_that_waits);
	tcase_add_test(c, races_are_told_as_they_are_found);
	tcase_add_test(c, news_of_a_job);
	tcase_add_test(c, edc_goes_by_the_specifications);
	suite_add_tcase(suite, c);
	return tui_run(suite);
}
