/*
 * screen_words.c - what the explorer says, says it in the program's terms: threads, variables,
 * lines and locks; the words of the analyses are one key away.
 */
#include "tests/support/tui.h"

#include <check.h>
#include <string.h>

/* main makes two threads; T1 writes under m, T2 reads flag, then takes m. */
static const char program[] = "#! heddle 1\n"
                              "main|fork(T1)|s.c:1\n"
                              "main|fork(T2)|s.c:2\n"
                              "T1|enter(worker)|s.c:9\n"
                              "T1|acq(m)|s.c:10\n"
                              "T1|w(total)=150|s.c:11\n"
                              "T1|w(flag)=1|s.c:12\n"
                              "T1|rel(m)|s.c:13\n"
                              "T2|r(flag)=1|s.c:20\n"
                              "T2|acq(m)|s.c:21\n"
                              "T2|rel(m)|s.c:22\n"
                              "T2|w(total)=7|s.c:23\n"
                              "main|join(T1)|s.c:3\n";

/* Be the scheduler from the first step, press the keys; the thread of the last one is refused.
 */
static struct app *schedule(const char *keys)
{
	struct app *app = tui_open(program, NULL);
	tui_command(app, "pair 4 10");
	tui_keys(app, "w p");
	tui_keys(app, keys);
	return app;
}

/* The words of the screen without the bars between its parts. */
static char *words_of(struct app *app)
{
	char *screen = tui_words(app);
	char **parts = g_strsplit(screen, "│ ", -1);
	g_free(screen);
	screen = g_strjoinv("", parts);
	g_strfreev(parts);
	return screen;
}

static void ck_says(struct app *app, const char *words)
{
	char *screen = words_of(app);
	ck_assert_msg(strstr(screen, words) != NULL, "not \"%s\" in:\n%s", words, screen);
	g_free(screen);
}

START_TEST(a_refusal_names_the_step_that_has_to_come_first)
{
	static const struct {
		const char *keys, *says;
	} refusals[] = {
		{ "j", "T1 has not been created yet. First: main create T1 (s.c:1)." },
		{ "Enter Enter",
		  "main waits for the end of T1. First: T1 unlock m (worker s.c:13)." },
		{ "Enter Enter j j", "T2 would read the initial value; in the "
		                     "recording it read T1's 1. First: T1 flag ← 1 "
		                     "(worker s.c:12)." },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
		struct app *app = schedule(refusals[i].keys);
		ck_says(app, refusals[i].says);
		char *screen = tui_words(app);
		ck_assert_msg(strstr(screen, "rule ") == NULL, "%s", screen);
		g_free(screen);
		tui_keys(app, "Enter"); /* the rule is one key away */
		ck_says(app, "not now: rule ");
		tui_close(app);
	}
}
END_TEST

START_TEST(a_lock_names_its_holder)
{
	struct app *app = schedule("Enter Enter j Enter Enter Enter Enter j Enter");
	ck_says(app, "T2 waits for m, which T1 holds. First: T1 unlock m (worker s.c:13).");
	tui_close(app);
}
END_TEST

/* A proof says what it means first; how it was made stands below. */
START_TEST(a_proof_says_first_what_it_means)
{
	struct app *app = tui_open(program, &(struct tui_options){ .rows = 40 });
	tui_command(app, "pair 4 10");
	tui_keys(app, "w");
	char *screen = tui_words(app);
	const char *first = strstr(screen, "✗ proved impossible, in any order of this run");
	const char *last = strstr(screen, "Proof: ");
	ck_assert_msg(first && last && first < last, "%s", screen);
	g_free(screen);
	tui_close(app);
}
END_TEST

/* -- my code: the place is the user's line that called the library -------------------------- */

static void ck_says_not(struct app *app, const char *words)
{
	char *screen = words_of(app);
	ck_assert_msg(strstr(screen, words) == NULL, "\"%s\" in:\n%s", words, screen);
	g_free(screen);
}

/* shared_ptr's swap in Lazy::set, its copy in Lazy::get, both inlined from the library's
 * header. */
static const char library[] =
        "#! heddle 1\n"
        "main|fork(T1)|/home/me/cfg.cpp:90\n"
        "main|fork(T2)|/home/me/cfg.cpp:91\n"
        "T1|enter(Lazy<int>::set)|/home/me/cfg.cpp:92\n"
        "T1|enter(std::swap<int*>)|/home/me/cfg.cpp:31\n"
        "T1|w(defaults.value_._M_ptr)=1|/usr/include/c++/14/bits/move.h:206\n"
        "T1|leave(std::swap<int*>)|/usr/include/c++/14/bits/move.h:207\n"
        "T1|leave(Lazy<int>::set)|/home/me/cfg.cpp:32\n"
        "T2|enter(Lazy<int>::get)|/home/me/cfg.cpp:93\n"
        "T2|enter(std::__shared_ptr::__shared_ptr)|/home/me/cfg.cpp:35\n"
        "T2|r(defaults.value_._M_ptr)=1|/usr/include/c++/14/bits/shared_ptr_base.h:1522\n"
        "T2|leave(std::__shared_ptr::__shared_ptr)|/usr/include/c++/14/bits/shared_ptr_base.h:1523\n"
        "T2|leave(Lazy<int>::get)|/home/me/cfg.cpp:36\n";

START_TEST(a_place_is_in_the_users_own_file)
{
	struct app *app =
	        tui_open(library, &(struct tui_options){ .columns = 118, .analyse = true });
	ck_says(app, "Lazy<…>::set cfg.cpp:31 ⇄ Lazy<…>::get :35");
	ck_says(app, "defaults.value_ ");
	ck_says_not(app, "move.h");
	ck_says_not(app, "_M_ptr");
	tui_keys(app, "I");
	ck_says(app, "T1 (Lazy<…>::set) writes defaults.value_ in Lazy<…>::set cfg.cpp:31");
	ck_says_not(app, "move.h");
	tui_keys(app, "F Enter");
	ck_says(app, "T1 Lazy<…>::set Lazy<…>::set cfg.cpp:31");
	ck_says(app, "inside of std::swap<…>");
	tui_command(app, "just-my-code off");
	tui_keys(app, "F");
	ck_says(app, "move.h:206");
	ck_says(app, "defaults.value_._M_ptr");
	tui_keys(app, "+");
	ck_says(app, "cfg.cpp:31 ⇄");
	tui_keys(app, "/"); /* a filter finds the exact place, too */
	tui_type(app, "move.h");
	tui_keys(app, "Enter");
	ck_says(app, "cfg.cpp:31 ⇄");
	tui_close(app);
}
END_TEST

START_TEST(patterns_say_what_is_mine)
{
	struct app *app = tui_open(library, &(struct tui_options){ .analyse = true });
	tui_command(app, "set mine */move.h");
	ck_says(app, "move.h:206 ⇄");
	ck_says(app, "cfg.cpp:35");
	tui_command(app, "set mine?");
	ck_says(app, "mine = */move.h");
	tui_command(app, "set mine ");
	tui_command(app, "set mine=");
	ck_says(app, "cfg.cpp:31 ⇄");
	tui_command(app, "set just-my-code perhaps");
	ck_assert(app->message_is_error);
	ck_says(app, "just-my-code: expected on|off");
	tui_command(app, "set nothing on");
	ck_says(app, "there is no setting 'nothing'");
	tui_command(app, "set?");
	ck_says(app, "palette = standard");
	tui_close(app);
}
END_TEST

/* -- the list ------------------------------------------------------------------------------- */

static const char three_races[] = "#! heddle 1\n"
                                  "main|fork(T1)|s.c:1\n"
                                  "main|fork(T2)|s.c:2\n"
                                  "T1|w(alpha)=1|s.c:10\n"
                                  "T1|w(beta)=1|s.c:11\n"
                                  "T1|w(gamma)=1|s.c:12\n"
                                  "T2|w(alpha)=2|s.c:20\n"
                                  "T2|w(beta)=2|s.c:21\n"
                                  "T2|w(gamma)=2|s.c:22\n";

START_TEST(the_filter_narrows_while_one_types)
{
	struct app *app = tui_open(three_races, &(struct tui_options){ .analyse = true });
	tui_keys(app, "/");
	tui_type(app, "be");
	ck_assert(app->line_open);
	ck_says(app, "filter: be (1 of 3)");
	ck_says_not(app, "s.c:10 ⇄");
	tui_type(app, "tx");
	ck_says(app, "filter: betx (0 of 3)");
	tui_keys(app, "Backspace Enter");
	ck_assert(!app->line_open);
	ck_says(app, "filter: bet (1 of 3)");
	tui_keys(app, "Esc");
	ck_says(app, "s.c:10 ⇄");
	ck_says_not(app, "filter:");
	tui_keys(app, "/");
	tui_type(app, "gamma");
	tui_keys(app, "Esc"); /* while one types, too */
	ck_assert(!app->line_open);
	ck_says_not(app, "filter:");
	tui_close(app);
}
END_TEST

START_TEST(several_are_marked_at_once)
{
	struct app *app = tui_open(three_races, &(struct tui_options){ .analyse = true });
	tui_keys(app, "g x x");
	ck_says(app, "2 picked");
	tui_command(app, "triage benign a statistic");
	ck_says(app, "2 findings marked benign");
	for (guint i = 0; i < 3; i++) {
		const struct entry *entry = app->session->entries->pdata[i];
		ck_assert_int_eq(entry->triage, i < 2 ? TRIAGE_BENIGN : TRIAGE_NONE);
		ck_assert_int_eq(entry->note != NULL, i < 2);
	}
	tui_keys(app, "Esc"); /* lets them go */
	ck_says(app, "no finding is picked any more");
	tui_keys(app, "A t");
	ck_says(app, "3 findings marked");
	tui_close(app);
}
END_TEST

START_TEST(sorting_the_other_way_round)
{
	struct app *app = tui_open(three_races, &(struct tui_options){ .analyse = true });
	tui_keys(app, "> >"); /* by variable */
	char *screen = words_of(app);
	ck_assert(strstr(screen, "alpha 1") < strstr(screen, "gamma 1"));
	g_free(screen);
	tui_keys(app, "<");
	screen = words_of(app);
	ck_assert_msg(strstr(screen, "alpha 1") > strstr(screen, "gamma 1"), "%s", screen);
	ck_assert(strstr(screen, "sorted by variable, the last first") != NULL);
	g_free(screen);
	tui_close(app);
}
END_TEST

/* -- what the analyses cover ----------------------------------------------------------------- */

/* The last line has the condition under which they are complete, as reports have it. */
START_TEST(the_last_line_says_what_is_covered)
{
	static const struct tui_options analyse = { .columns = 120, .analyse = true };
	static const struct {
		const char *text, *covers;
	} runs[] = {
		{ "T1|w(x)|a.c:1\nT2|w(x)|a.c:2\n",
		  "1 data race; complete for reorderings with the same reads" },
		{ "#! heddle 1\nT1|w(x)|a.c:1\nT1|post(s)|a.c:2\nT2|post(s)|a.c:3\n"
		  "T3|take(s)|a.c:4\nT3|w(y)|a.c:5\nT2|w(y)|a.c:6\n",
		  "1 data race; complete for reorderings with the same reads and wake-ups" },
		/* of all kinds, where there are others than data races */
		{ "T1|w(x)|a.c:1\nT2|w(x)|a.c:2\nT1|acq(m)|a.c:3\nT1|acq(n)|a.c:4\n"
		  "T1|rel(n)|a.c:5\nT1|rel(m)|a.c:6\nT2|acq(n)|a.c:7\nT2|acq(m)|a.c:8\n"
		  "T2|rel(m)|a.c:9\nT2|rel(n)|a.c:10\n",
		  "2 findings: 1 data race, 1 deadlock; data races complete for reorderings with "
		  "the same reads" },
	};
	struct app *app = tui_open(runs[_i].text, &analyse);
	ck_assert_ptr_nonnull(app->message);
	ck_assert_str_eq(app->message, runs[_i].covers);
	tui_close(app);
}
END_TEST

/* -- variables of a library ------------------------------------------------------------------ */

START_TEST(the_trace_leaves_out_a_librarys_own_variables)
{
	struct app *app = tui_open("T1|w(x)=1|a.c:1\nT1|w(queue._M_start)=2|a.c:2\n"
	                           "T1|w(queue._M_last->size)=3|a.c:2\nT1|w(y)=4|a.c:3\n",
	                           NULL);
	tui_keys(app, "T");
	ck_says(app, "library variables are left out: +");
	ck_says(app, "queue->size");
	ck_says_not(app, "queue ");
	tui_keys(app, "Down"); /* over it */
	ck_assert_uint_eq(app->session->event, 2);
	tui_keys(app, "+");
	ck_says(app, "queue._M_start");
	ck_says_not(app, "left out");
	tui_keys(app, "+");
	/* not one that is watched */
	tui_command(app, "display queue._M_start");
	tui_keys(app, "T");
	ck_says_not(app, "left out");
	tui_close(app);
}
END_TEST

/* -- what a thread does next ---------------------------------------------------------------- */

/* Where the source line is the end of a scope, the operation says what is done there. */
START_TEST(a_brace_says_what_is_done)
{
#define BANK "tests/screen/source/bank.c"
	static const struct tui_options analyse = { .columns = 100, .analyse = true };
	struct app *app = tui_open("T1|acq(m)|" BANK ":14\nT1|w(x)|" BANK ":15\nT1|rel(m)|" BANK
	                           ":18\nT2|acq(k)|" BANK ":23\nT2|r(x)|" BANK ":24\n",
	                           &analyse);
	tui_keys(app, "w n n n n n n n n");
	char *words = tui_words(app);
	ck_assert_msg(strstr(words, "bank.c:18 } unlock m") != NULL, "%s", words);
	g_free(words);
	tui_close(app);
#undef BANK
}
END_TEST

/* A finding that happened needs no witness; its two waits are said with their threads. */
START_TEST(what_happened_names_its_threads)
{
	static const struct tui_options analyse = { .columns = 100, .analyse = true };
	struct app *app = tui_open("#! heddle 1\nmain|fork(T1)|a.c:1\nT1|acq(m)|a.c:2\n"
	                           "T1|wait(c)|a.c:3\nT1|rel(m)|a.c:3\n"
	                           "main|want(T1)|a.c:4\nT1|want(c)|a.c:3\n",
	                           &analyse);
	tui_keys(app, "w");
	char *words = tui_words(app);
	const char *waits =
	        "4 main stands waiting for the end of T1 and 5 T1 stands waiting for c";
	ck_assert_msg(strstr(words, waits) != NULL, "%s", words);
	g_free(words);
	tui_close(app);
}
END_TEST

/* -- the bar of views ----------------------------------------------------------------------- */

START_TEST(the_bar_of_views_is_always_there)
{
	static const struct {
		int rows, columns;
		const char *keys, *bar;
	} bars[] = {
		{ 24, 80, "",
		  "F findings T trace s source S state w witness o order I story C graph" },
		{ 24, 80, "X",
		  "F findings T trace s source S state w witness o order I story C graph Y X runs" },
		{ 40, 120, "T", "o order I story C graph Y calls X runs" },
		{ 15, 60, "w", "F findings T trace s source S state w witness o I C Y X" },
		{ 24, 80, "?", "F findings T trace" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(bars); i++) {
		struct tui_options options = { .rows = bars[i].rows,
			                       .columns = bars[i].columns,
			                       .analyse = true };
		struct app *app = tui_open(three_races, &options);
		tui_keys(app, bars[i].keys);
		ck_says(app, bars[i].bar);
		tui_close(app);
	}
	struct app *app = tui_open(three_races, &(struct tui_options){ .analyse = true });
	app_draw(app);
	app_mouse(app, 1, 13, 1); /* T trace */
	ck_assert_int_eq(app_view(app), VIEW_TRACE);
	tui_close(app);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("words");
	TCase *c = tcase_create("words");
	tcase_add_test(c, a_refusal_names_the_step_that_has_to_come_first);
	tcase_add_test(c, a_lock_names_its_holder);
	tcase_add_test(c, a_proof_says_first_what_it_means);
	tcase_add_test(c, a_place_is_in_the_users_own_file);
	tcase_add_test(c, patterns_say_what_is_mine);
	tcase_add_test(c, the_filter_narrows_while_one_types);
	tcase_add_test(c, several_are_marked_at_once);
	tcase_add_test(c, sorting_the_other_way_round);
	tcase_add_loop_test(c, the_last_line_says_what_is_covered, 0, 3);
	tcase_add_test(c, the_trace_leaves_out_a_librarys_own_variables);
	tcase_add_test(c, a_brace_says_what_is_done);
	tcase_add_test(c, what_happened_names_its_threads);
	tcase_add_test(c, the_bar_of_views_is_always_there);
	suite_add_tcase(suite, c);
	return tui_run(suite);
}
