/*
 * screen_weak.c - runs under a memory model on the screen: where a value came from, which store
 * was passed over and why, store buffers, modification order, and what is not asked of such a
 * run.
 */
#include "tests/support/tui.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Message passing, all relaxed: T2 sees the flag and not the message. */
static const char passing[] = "#! heddle 1\n"
                              "#! note memory rc11\n"
                              "#! reads 5 -\n"
                              "main|fork(T1)|m.c:1\n"
                              "main|fork(T2)|m.c:2\n"
                              "T1|aw4(text)=1;rlx|m.c:31\n"
                              "T1|aw4(flag)=1;rlx|m.c:32\n"
                              "T2|ar4(flag)=1;rlx|m.c:40\n"
                              "T2|ar4(text)=0;rlx|m.c:41\n";
/* The store publishes, the load does not acquire. */
static const char released[] = "#! heddle 1\n"
                               "#! note memory rc11\n"
                               "#! reads 3 -\n"
                               "T1|aw4(text)=1;rlx|m.c:31\n"
                               "T1|aw4(flag)=1;rel|m.c:32\n"
                               "T2|ar4(flag)=1;rlx|m.c:40\n"
                               "T2|ar4(text)=0;rlx|m.c:41\n";
/* 2+2W: a store that stands before one that came earlier. */
static const char overtaken[] = "#! heddle 1\n"
                                "#! note memory rc11\n"
                                "#! after 3 -\n"
                                "#! reads 4 0\n"
                                "T1|aw4(x)=1;rlx|w.c:1\n"
                                "T1|aw4(y)=2;rlx|w.c:2\n"
                                "T2|aw4(y)=1;rlx|w.c:3\n"
                                "T2|aw4(x)=2;rlx|w.c:4\n"
                                "T2|ar4(x)=1;rlx|w.c:5\n";
/* Store buffering lets both into the section. */
static const char buffering[] = "#! heddle 1\n"
                                "#! note memory tso\n"
                                "A|w4(e)=1|a.c:1\n"
                                "B|w4(e)=2|b.c:1\n"
                                "A|flush(0)|a.c:1\n"
                                "B|flush(1)|b.c:1\n"
                                "A|aw4(x)=1;rlx|a.c:2\n"
                                "A|ar4(y)=0;rlx|a.c:3\n"
                                "A|w4(d)=1|a.c:4\n"
                                "B|aw4(y)=1;rlx|b.c:2\n"
                                "B|ar4(x)=0;rlx|b.c:3\n"
                                "B|w4(d)=2|b.c:4\n"
                                "A|flush(4)|a.c:2\n"
                                "A|flush(6)|a.c:4\n"
                                "B|flush(7)|b.c:2\n"
                                "B|flush(9)|b.c:4\n";

static void shows(struct app *app, const char *text)
{
	char *screen = tui_words(app);
	ck_assert_msg(strstr(screen, text) != NULL, "not \"%s\" in:\n%s", text, screen);
	g_free(screen);
}

static struct app *analysed(const char *text)
{
	return tui_open(text, &(struct tui_options){ .analyse = true, .columns = 110 });
}

START_TEST(a_value_that_was_not_published)
{
	struct app *app = analysed(passing);
	shows(app, "No data race in this run by the happens-before of what its loads read");
	tui_keys(app, "T");
	tui_command(app, "goto 5");
	shows(app, "● reads from the initial value, not 1 by T1 (m.c:31)");
	tui_command(app, "goto 3");
	shows(app, "○ read by 4 T2 flag reads 1");
	tui_command(app, "goto 2");
	ck_assert(!tui_shows(app, "○ read by")); /* nobody saw it */
	tui_command(app, "goto 5");
	tui_picture(app, "S", "weak-rc11");
}
END_TEST

/* The order of an access is left unsaid where it is the default, that of a fence is not. */
START_TEST(a_fence_has_its_order)
{
	struct app *app = analysed("#! heddle 1\n"
	                           "main|fence(seq_cst)|m.c:1\n"
	                           "main|fence(acq)|m.c:2\n"
	                           "main|w(x)=1|m.c:3\n");
	tui_keys(app, "T");
	shows(app, "fence seq_cst");
	shows(app, "fence acq");
	tui_close(app);
}
END_TEST

START_TEST(a_load_that_does_not_acquire)
{
	struct app *app = analysed(released);
	tui_command(app, "goto 3");
	tui_keys(app, "S");
	shows(app, "why: T2's load of flag (m.c:40) is relaxed: does not acquire line 31");
	shows(app, "against it: acquire at m.c:40 or such fences");
	tui_close(app);
}
END_TEST

START_TEST(a_store_that_was_overtaken)
{
	struct app *app = analysed(overtaken);
	tui_command(app, "goto 3");
	tui_keys(app, "S");
	shows(app, "x in modification order (rc11)");
	shows(app, "▸ 2 by T2 (w.c:4)");
	shows(app, "it stands before 1 by T1 (w.c:1), which came earlier");
	tui_command(app, "goto 4"); /* it sees the last one of that order */
	shows(app, "● 1 by T1 (w.c:1) T2 reads it");
	ck_assert(!tui_shows(app, "why:") && !tui_shows(app, "passed over"));
	tui_close(app);
}
END_TEST

START_TEST(stores_that_wait)
{
	struct app *app = analysed(buffering);
	tui_command(app, "goto 10");
	tui_keys(app, "S");
	shows(app, "x ← 1 rlx arrives");
	shows(app, "A ▸ d = 1 (a.c:4)");
	tui_command(app, "goto 13");
	shows(app, "A empty B empty");
	tui_command(app, "goto 8");
	tui_picture(app, "", "weak-tso");
}
END_TEST

START_TEST(a_race_that_needs_it)
{
	struct app *app = analysed(buffering);
	shows(app, "2 can happen");
	shows(app, "It needs no weak memory: a sequentially consistent run has it, too.");
	tui_keys(app, "j");
	shows(app, "seen by hb ✓");
	shows(app,
	      "no sequentially consistent run has these values, store buffers (tso) give them");
	tui_keys(app, "I G");
	shows(app, "store buffers (tso) give them");
	tui_keys(app, "w");
	shows(app, "--memory tso · ✓ checked");
	tui_keys(app, "v");
	shows(app, "accepts");
	char *path = g_strdup_printf("%s/heddle-weak-%d.wit", g_get_tmp_dir(), (int)getpid());
	char *line = g_strdup_printf("export %s", path), *text;
	g_remove(path);
	tui_command(app, line);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert(strstr(text, "#! kind c11-race\n#! pair 6 9\n#! memory tso\n") != NULL);
	g_remove(path);
	g_free(text);
	g_free(line);
	g_free(path);
	tui_picture(app, "g", "weak-witness");
}
END_TEST

/* Everything about other schedules is refused in words, and no view fails. */
START_TEST(what_is_not_asked)
{
	struct app *app = analysed(buffering);
	tui_keys(app, "j w p");
	shows(app,
	      "other schedules are not known of a run that is not sequentially consistent");
	tui_command(app, "reach d == 1 at b.c:4");
	shows(app, "other schedules are not known of");
	tui_keys(app, "o c");
	shows(app, "happens-before (h) alone is known of it");
	tui_keys(app, "m x x h");
	shows(app, "6 and 9 are ordered by");
	tui_keys(app, "S x");
	shows(app, "other orders are not known of");
	tui_command(app, "pair 4 8");
	tui_keys(app, "w");
	shows(app, "no race in this run");
	tui_command(app, "analyse");
	tui_keys(app, "F j k s T [ ] { } n b S w - n p o I C Y X O F M = Esc q");
	tui_close(app);
}
END_TEST

/* What an exploration under a model covers is not schedules. */
START_TEST(an_exploration)
{
	static const char tree[] =
	        "{\"program\": \"./mp\", \"memory\": \"rc11\", \"complete\": true, "
	        "\"executions\": 1, \"states\": 1, \"runs\": [{\"run\": 0, \"parent\": null, "
	        "\"end\": \"exit\", \"status\": 0}]}";
	char *path = g_strdup_printf("%s/heddle-weak-%d.tree", g_get_tmp_dir(), (int)getpid());
	char *line = g_strdup_printf("exploration %s", path);
	ck_assert(g_file_set_contents(path, tree, -1, NULL));
	struct app *app = analysed(passing);
	tui_command(app, line);
	shows(app, "Whatever loads read under rc11, this input behaves as one of these runs.");
	tui_close(app);
	g_remove(path);
	g_free(line);
	g_free(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("weak");
	TCase *c = tcase_create("weak");
	tcase_add_test(c, a_value_that_was_not_published);
	tcase_add_test(c, a_fence_has_its_order);
	tcase_add_test(c, a_load_that_does_not_acquire);
	tcase_add_test(c, a_store_that_was_overtaken);
	tcase_add_test(c, stores_that_wait);
	tcase_add_test(c, a_race_that_needs_it);
	tcase_add_test(c, what_is_not_asked);
	tcase_add_test(c, an_exploration);
	suite_add_tcase(suite, c);
	return tui_run(suite);
}
