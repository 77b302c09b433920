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
		{ "Enter Enter j j", "T2 would read the value from the beginning; in the "
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

int main(void)
{
	Suite *suite = suite_create("words");
	TCase *c = tcase_create("words");
	tcase_add_test(c, a_refusal_names_the_step_that_has_to_come_first);
	tcase_add_test(c, a_lock_names_its_holder);
	tcase_add_test(c, a_proof_says_first_what_it_means);
	suite_add_tcase(suite, c);
	return tui_run(suite);
}
