/*
 * screen_no_return.c - the point of no return of a failing run, from the exploration beside it:
 * in the story, in the lanes, in the witness, by its key; and calls and returns of a witness
 * that tell nothing have no row.
 */
#include "tests/support/tui.h"
#include "tui/explorer/exploration/return_point.h"

#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

/* The last seat is sold twice: T2 looks while T1, who has looked, has not sold yet. */
#define BEGIN \
	"#! heddle 1\n" \
	"main|fork(T1)|s.c:1\n" \
	"main|fork(T2)|s.c:2\n" \
	"T1|enter(sell)|s.c:3\n" \
	"T1|acq(m)|s.c:10\n" \
	"T1|r(seats)=1|s.c:11\n" \
	"T1|rel(m)|s.c:12\n" \
	"T2|enter(sell)|s.c:3\n"
static const char failing[] = BEGIN "T2|acq(m)|s.c:10\n"
                                    "T2|r(seats)=1|s.c:11\n"
                                    "T2|rel(m)|s.c:12\n"
                                    "T2|acq(m)|s.c:14\n"
                                    "T2|r(seats)=1|s.c:15\n"
                                    "T2|w(seats)=0|s.c:15\n"
                                    "T2|rel(m)|s.c:17\n"
                                    "T1|acq(m)|s.c:14\n"
                                    "T1|r(seats)=0|s.c:15\n"
                                    "T1|w(seats)=-1|s.c:15\n"
                                    "T1|rel(m)|s.c:17\n"
                                    "T1|w(done)=1|s.c:18\n"
                                    "T2|r(done)=1|s.c:19\n";
static const char other[] = BEGIN "T1|acq(m)|s.c:14\n"
                                  "T2|acq(k)|s.c:10\n"
                                  "T1|w(done)=1|s.c:18\n"
                                  "T2|r(done)=1|s.c:19\n";
static const char tree_text[] =
        "{\"program\": \"./seats\", \"executions\": 2, \"states\": 2, \"complete\": true, "
        "\"gaps\": [], \"races\": [],\n"
        "\"errors\": [{\"kind\": \"check\", \"status\": 0, \"story\": \"two sold\", "
        "\"run\": 1, \"trace\": \"seats.run1.hdl\",\n"
        "\"point-of-no-return\": {\"run\": 1, \"passing-run\": 0, \"every\": %s,\n"
        "\"passes\": {\"thread\": \"T1\", \"operation\": \"unlock m\", \"location\": "
        "\"s.c:12\", \"event\": 5},\n"
        "\"fails\": {\"thread\": \"T2\", \"operation\": \"lock m\", \"location\": "
        "\"s.c:10\", \"event\": 7},\n"
        "\"instead\": {\"thread\": \"T1\", \"operation\": \"lock m\", \"location\": "
        "\"s.c:14\", \"event\": 7}}}],\n"
        "\"runs\": [{\"run\": 0, \"parent\": null, \"end\": \"exit\"}, {\"run\": 1, "
        "\"parent\": 0, \"end\": \"check\", \"trace\": \"seats.run1.hdl\"}]}\n";

struct folder {
	char *path, *tree, *trace;
};

static struct folder make_folder(bool every)
{
	char *text = g_strdup_printf(tree_text, every ? "true" : "false");
	struct folder f = { .path = g_dir_make_tmp("heddle-XXXXXX", NULL) };

	f.tree = g_build_filename(f.path, "seats", NULL);
	f.trace = g_build_filename(f.path, "seats.run1.hdl", NULL);
	ck_assert(g_file_set_contents(f.tree, text, -1, NULL));
	ck_assert(g_file_set_contents(f.trace, failing, -1, NULL));
	g_free(text);
	return f;
}

static void remove_folder(struct folder *f)
{
	g_remove(f->tree);
	g_remove(f->trace);
	g_rmdir(f->path);
	g_free(f->tree);
	g_free(f->trace);
	g_free(f->path);
}

static struct app *open_beside(const struct folder *f, const char *text,
                               const struct tui_options *options)
{
	struct app *app = tui_open(text, options);
	char *command = g_strconcat("exploration ", f->tree, NULL);

	tui_command(app, command);
	tui_keys(app, "q");
	g_free(command);
	return app;
}

static void ck_says(struct app *app, const char *words)
{
	char *screen = tui_words(app);
	ck_assert_msg(strstr(screen, words) != NULL, "not \"%s\" in:\n%s", words, screen);
	g_free(screen);
}

static void ck_says_not(struct app *app, const char *words)
{
	char *screen = tui_words(app);
	ck_assert_msg(strstr(screen, words) == NULL, "\"%s\" in:\n%s", words, screen);
	g_free(screen);
}

static const struct tui_options large = { .rows = 60, .columns = 160, .analyse = true };

START_TEST(the_key_goes_to_the_last_chance_and_then_to_the_point)
{
	struct folder f = make_folder(true);
	struct app *app = open_beside(&f, failing, &large);

	tui_keys(app, "|");
	ck_assert_uint_eq(app->session->event, 5);
	ck_says(app, "unlock m ✓ the last chance to end well");
	ck_says(app, "✗ from here on every schedule fails lock m");
	ck_says(app, "✓ the last chance: T1's lock m (s.c:14) ends well");
	tui_keys(app, "|");
	ck_assert_uint_eq(app->session->event, 7);
	ck_says(app, "✗ from here on every schedule fails; in its place T1's lock m (s.c:14) "
	             "ends well");
	tui_keys(app, "|");
	ck_assert_uint_eq(app->session->event, 5);
	tui_close(app);
	remove_folder(&f);
}
END_TEST

/* A thread without further events has ended only where the end of the run cannot have cut it
 * off. */
START_TEST(a_thread_that_the_end_cut_off_has_not_ended)
{
	static const char cut[] = "#! heddle 1\n"
	                          "%s"
	                          "main|fork(T1)|a.c:1\n"
	                          "T1|w(x)=1|a.c:2\n"
	                          "main|w(y)=1|a.c:3\n"
	                          "main|w(z)=1|a.c:4\n";
	static const struct {
		const char *note, *says;
	} ends[] = { { "", "T1 has ended" },
		     { "#! note recording-end signal 6\n", "T1 does no more in this run" },
		     { "#! note recording-end exit 0\n", "T1 does no more in this run" } };
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		char *text = g_strdup_printf(cut, ends[i].note);
		struct app *app = tui_open(text, &large);
		tui_command(app, "3");
		tui_keys(app, "S");
		ck_says(app, ends[i].says);
		tui_close(app);
		g_free(text);
	}
}
END_TEST

START_TEST(the_story_tells_both_places_and_the_difference)
{
	struct folder f = make_folder(true);
	struct app *app = open_beside(&f, failing, &large);

	tui_command(app, "pair 18 19");
	tui_keys(app, "I");
	ck_says(app, "How it ends: two sold");
	ck_says(app, "The last chance: after T1's unlock m in sell s.c:12 it can still end "
	             "well.");
	ck_says(app, "The point of no return: after T2's lock m in sell s.c:10 every schedule "
	             "fails.");
	ck_says(app, "The difference: here this run goes on with T2's lock m in sell s.c:10; "
	             "one that ends well goes on with T1's lock m (s.c:14).");
	ck_says(app, "T1 is about to go on with lock m in sell s.c:14");
	ck_says(app, "T2 is about to go on with seats reads 1 in sell s.c:11, holds m");
	tui_close(app);
	remove_folder(&f);
}
END_TEST

START_TEST(what_was_not_run_in_every_order_is_not_promised)
{
	struct folder f = make_folder(false);
	struct app *app = open_beside(&f, failing, &large);

	tui_keys(app, "|");
	tui_keys(app, "|");
	ck_says(app, "✗ from here on no schedule that was run ends well; in its place");
	ck_says_not(app, "every schedule fails");
	tui_close(app);
	remove_folder(&f);
}
END_TEST

/* Another run of the same program, with other events before the point. */
START_TEST(another_run_has_no_point)
{
	struct folder f = make_folder(true);
	struct app *app = open_beside(&f, other, &large);

	ck_assert_ptr_null(app->session->point);
	tui_keys(app, "T |");
	ck_says(app, "no point of no return is known");
	tui_close(app);
	remove_folder(&f);
}
END_TEST

START_TEST(the_witness_has_a_row_at_the_point)
{
	struct folder f = make_folder(true);
	struct app *app = open_beside(&f, failing, &large);

	tui_command(app, "pair 18 19");
	tui_keys(app, "w");
	char *screen = tui_screen(app, false);
	ck_assert_msg(strstr(screen, "from here on every schedule fails") != NULL, "%s",
	              screen);
	g_free(screen);
	ck_says(app, "the last chance: from here on every schedule fails");
	tui_keys(app, "|"); /* to that row: the state is the one before the point */
	ck_assert_uint_eq(app_view(app), VIEW_WITNESS);
	ck_says(app, "after step 7 of 20");
	ck_says(app,
	        "above, the run can still end well, with T1's lock m (s.c:14) next; below, every "
	        "schedule fails");
	tui_keys(app, "|"); /* and on, to the run */
	ck_assert_uint_eq(app_view(app), VIEW_TRACE);
	tui_close(app);
	remove_folder(&f);
}
END_TEST

/* The page that a finding is written to tells it, too. */
START_TEST(the_page_tells_it)
{
	struct folder f = make_folder(true);
	struct app *app = open_beside(&f, failing, &large);
	char *page = g_build_filename(f.path, "page.html", NULL), *text = NULL;
	char *command = g_strconcat("export ", page, NULL);

	tui_command(app, command);
	ck_assert(g_file_get_contents(page, &text, NULL, NULL));
	ck_assert_msg(strstr(text, "The point of no return: after T2&apos;s lock m in sell"),
	              "%.2000s", text);
	g_remove(page);
	g_free(text);
	g_free(page);
	g_free(command);
	tui_close(app);
	remove_folder(&f);
}
END_TEST

/* A wrapper of a lock, a library's function, and one of one's own round several steps. */
static const char calls[] = "#! heddle 1\n"
                            "main|fork(T1)|s.c:1\n"
                            "main|fork(T2)|s.c:2\n"
                            "T1|enter(worker)|s.c:3\n"
                            "T1|w(a)=1|s.c:4\n"
                            "T1|enter(my_lock)|s.c:5\n"
                            "T1|acq(m)|lock.c:2\n"
                            "T1|leave(my_lock)|lock.c:3\n"
                            "T1|enter(std::swap<int>)|s.c:6\n"
                            "T1|r(x)=1|/usr/include/c++/14/bits/move.h:20\n"
                            "T1|w(x)=2|/usr/include/c++/14/bits/move.h:21\n"
                            "T1|leave(std::swap<int>)|/usr/include/c++/14/bits/move.h:22\n"
                            "T1|enter(both)|s.c:7\n"
                            "T1|r(y)=1|s.c:20\n"
                            "T1|w(y)=2|s.c:21\n"
                            "T1|leave(both)|s.c:22\n"
                            "T1|enter(nothing)|s.c:8\n"
                            "T1|leave(nothing)|s.c:30\n"
                            "T1|w(done)=1|s.c:10\n"
                            "T1|rel(m)|s.c:11\n"
                            "T2|acq(m)|s.c:38\n"
                            "T2|rel(m)|s.c:39\n"
                            "T2|r(done)=1|s.c:40\n";
static const struct tui_options narrow = { .rows = 50, .columns = 100 };

START_TEST(calls_that_tell_little_have_no_row)
{
	static const char *const left_out[] = { "enter my_lock", "leave my_lock", "swap",
		                                "enter nothing", "leave nothing" };
	struct app *app = tui_open(calls, &narrow);

	tui_command(app, "pair 17 21");
	tui_keys(app, "w g");
	ck_says(app, "6 rows left out: _");
	ck_says(app, "enter worker");
	ck_says(app, "enter both");
	ck_says(app, "leave both");
	for (size_t i = 0; i < G_N_ELEMENTS(left_out); i++)
		ck_says_not(app, left_out[i]);
	tui_keys(app, "_");
	for (size_t i = 0; i < G_N_ELEMENTS(left_out); i++)
		ck_says(app, left_out[i]);
	ck_says_not(app, "rows left out");
	tui_keys(app, "_");
	tui_command(app, "set witness-calls all"); /* from now on */
	tui_keys(app, "w");
	ck_says(app, "enter my_lock");
	tui_command(app, "set witness-calls some");
	tui_keys(app, "w");
	ck_says_not(app, "enter my_lock");
	tui_close(app);
}
END_TEST

/* Where both are about to happen the foot says so in the program's terms, with the places. */
START_TEST(the_claim_is_a_sentence)
{
	struct app *app = tui_open(calls, &narrow);

	tui_command(app, "pair 17 21");
	tui_keys(app, "w");
	ck_says(app, "T1 is about to write done at s.c:10; T2 is about to read it at s.c:40: "
	             "nothing orders the two");
	ck_says_not(app, "come next");
	tui_keys(app, "k"); /* elsewhere there is nothing to claim */
	ck_says_not(app, "nothing orders the two");
	tui_close(app);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("screen_no_return");
	TCase *tests = tcase_create("screen");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, the_key_goes_to_the_last_chance_and_then_to_the_point);
	tcase_add_test(tests, a_thread_that_the_end_cut_off_has_not_ended);
	tcase_add_test(tests, the_story_tells_both_places_and_the_difference);
	tcase_add_test(tests, what_was_not_run_in_every_order_is_not_promised);
	tcase_add_test(tests, another_run_has_no_point);
	tcase_add_test(tests, the_witness_has_a_row_at_the_point);
	tcase_add_test(tests, the_page_tells_it);
	tcase_add_test(tests, calls_that_tell_little_have_no_row);
	tcase_add_test(tests, the_claim_is_a_sentence);
	suite_add_tcase(suite, tests);
	return tui_run(suite);
}
