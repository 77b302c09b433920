/*
 * screen_lessons.c - every lesson that ships, played to its end on the real binary in a
 * terminal emulator: by the keys that the lesson itself names, its answers typed, the fixed
 * version taken, until the finding is gone.  What the pane can do beside that: hints, wrong
 * answers, back, hidden, on a wide screen, without colour and UTF-8, the student's editor.
 */
#include "tests/support/pty.h"
#include "tui/explorer/screen/keys.h"
#include "tui/lesson/lesson.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder; /* a home of our own */
static GPtrArray *lessons;

static void set_up(void)
{
	folder = g_dir_make_tmp("heddle-lessons-XXXXXX", NULL);
	const char *names[] = { "HOME",           "XDG_STATE_HOME", "XDG_CONFIG_HOME",
		                "XDG_CACHE_HOME", "XDG_DATA_HOME",  "TMPDIR" };
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		g_setenv(names[i], folder, TRUE);
	g_setenv("INPUTRC", "/dev/null", TRUE);
	lessons = lessons_all();
}

static void tear_down(void)
{
	char *quoted = g_shell_quote(folder);
	char *command = g_strdup_printf("rm -rf %s", quoted);
	ck_assert_int_eq(system(command), 0);
	g_free(command);
	g_free(quoted);
	g_free(folder);
	g_ptr_array_unref(lessons);
}

static struct pty *begin(const char *name, const struct pty_options *options)
{
	const char *arguments[] = { "lesson", name, NULL };
	return pty_start(options, arguments);
}

/* "── 3/7 The lost update" or "── 3/7 ✓ The lo…": the pane's heading. */
static void wait_for_step(struct pty *p, const struct lesson *l, guint i, bool done)
{
	char *heading = g_strdup_printf("── %u/%u %s%.4s", i + 1, l->steps->len,
	                                done ? "✓ " : "", l->title);
	pty_wait_for(p, heading);
	g_free(heading);
}

static void send_keys(struct pty *p, const char *keys)
{
	char **names = g_strsplit(keys, " ", -1);
	bool line = false; /* a command or a text to find is typed */
	for (char **n = names; *n; n++) {
		char text[8] = { 0 };
		int key = key_from_name(*n);
		if (**n == '\0')
			continue;
		ck_assert_msg(key > 0 && key < 0x110000, "the test cannot type '%s'", *n);
		text[g_unichar_to_utf8((gunichar)key, text)] = '\0';
		pty_send(p, text);
		line = strcmp(*n, ":") == 0 || strcmp(*n, "/") == 0 ||
		       (line && strcmp(*n, "Enter") != 0);
		if (!line && strcmp(*n, "r") == 0) { /* the program has the terminal */
			pty_wait_for(p, "any key goes back to heddle");
			pty_send(p, "\r");
		}
	}
	g_strfreev(names);
}

static void answer(struct pty *p, const char *text)
{
	pty_send(p, "!");
	pty_wait_for(p, "answer:");
	pty_send(p, text);
	pty_send(p, "\r");
}

static void play_step(struct pty *p, const struct lesson *l, guint i)
{
	const struct lesson_step *s = l->steps->pdata[i];
	if (s->question || s->task)
		wait_for_step(p, l, i, false);
	if (s->question) {
		char *one = g_strndup(s->answer, strcspn(s->answer, "|"));
		answer(p, one);
		g_free(one);
	}
	if (s->task)
		send_keys(p, s->keys);
	wait_for_step(p, l, i, true);
}

START_TEST(is_played_to_its_end)
{
	const struct lesson *l = lessons->pdata[_i];
	struct pty *p = begin(l->name, NULL);
	for (guint i = 0; i < l->steps->len; i++) {
		play_step(p, l, i);
		pty_send(p, "f");
	}
	pty_wait_for(p, "the lesson is finished");
	pty_send(p, ":quit\r");
	if (pty_wait_or_end(p, "Enter goes on to it, q ends:"))
		pty_send(p, "q\r");
	ck_assert_int_eq(pty_finish(p), 0);
	ck_assert(!pty_is_alternate(p));
	ck_assert(pty_is_cooked(p));
	pty_end(p);
	ck_assert_msg(lesson_progress_load(l->name).finished, "%s", l->name);
	GDir *dir = g_dir_open(folder, 0, NULL); /* TMPDIR: nothing is left behind */
	for (const char *name; (name = g_dir_read_name(dir));)
		ck_assert_msg(!g_str_has_prefix(name, "heddle-lesson-"), "%s is left", name);
	g_dir_close(dir);
}
END_TEST

static void leave(struct pty *p)
{
	pty_send(p, ":quit\r");
	if (pty_wait_or_end(p, "Enter goes on to it, q ends:"))
		pty_send(p, "q\r");
	ck_assert_int_eq(pty_finish(p), 0);
	pty_end(p);
}

START_TEST(wrong_answers_and_hints)
{
	struct pty *p = begin("lost-update", NULL);
	pty_wait_for(p, "1/7 The lost update");
	answer(p, "-20");
	pty_wait_for(p, "'-20' is not it");
	pty_send(p, "f");
	pty_wait_for(p, "not answered yet");
	pty_send(p, "i");
	pty_wait_for(p, "hint: ");
	answer(p, "-40");
	pty_wait_for(p, "✓ right.");
	pty_send(p, "f");
	pty_wait_for(p, "2/7 The lost update");
	pty_send(p, "ii");
	pty_wait_for(p, "the keys are s");
	pty_send(p, "i");
	pty_wait_for(p, "no more hints");
	pty_send(p, "U");
	pty_wait_for(p, "1/7 The lost update");
	leave(p);
	struct lesson_progress progress = lesson_progress_load("lost-update");
	ck_assert_uint_eq(progress.wrong, 1);
	ck_assert_uint_eq(progress.hints, 2 + 1); /* step 2 has one before its keys */
	ck_assert_uint_eq(progress.skipped, 0);
	p = begin("lost-update", NULL); /* it goes on counting */
	pty_wait_for(p, "1/7 The lost update");
	answer(p, "0");
	pty_wait_for(p, "'0' is not it");
	leave(p);
	ck_assert_uint_eq(lesson_progress_load("lost-update").wrong, 2);
}
END_TEST

START_TEST(goes_on_where_it_was_left)
{
	struct pty *p = begin("two-locks", NULL);
	pty_wait_for(p, "1/6 Two locks are no lock");
	pty_send(p, "fff");
	pty_wait_for(p, "2/6 Two locks are no lock");
	leave(p);
	ck_assert_uint_eq(lesson_progress_load("two-locks").skipped, 1);
	p = begin("two-locks", NULL);
	pty_wait_for(p, "2/6 Two locks are no lock");
	leave(p);
	const char *arguments[] = { "lesson", "two-locks", "--restart", NULL };
	p = pty_start(NULL, arguments);
	pty_wait_for(p, "1/6 Two locks are no lock");
	pty_send(p, "f");
	pty_wait_for(p, "not done yet");
	pty_send(p, "i");
	leave(p);
	ck_assert_uint_eq(lesson_progress_load("two-locks").skipped, 0);
	ck_assert_uint_eq(lesson_progress_load("two-locks").hints, 1);
}
END_TEST

START_TEST(the_pane_hides_and_grows)
{
	struct pty *p = begin("two-locks", NULL);
	pty_wait_for(p, "1/6 Two locks are no lock");
	pty_wait_for(p, "seen by");
	pty_send(p, "L");
	pty_wait_without(p, "seen by");
	pty_send(p, "L");
	pty_wait_without(p, "Two locks are no lock");
	pty_wait_for(p, "L lesson");
	pty_send(p, "L");
	pty_wait_for(p, "1/6 Two locks are no lock");
	pty_resize(p, 50, 160); /* beside the view */
	pty_wait_for(p, "│ 1/6 Two locks are no lock");
	pty_wait_for(p, "Everything is locked");
	leave(p);
}
END_TEST

START_TEST(without_colour_and_signs)
{
	struct pty_options options = { .environment = { "NO_COLOR=1", "LC_ALL=C" } };
	struct pty *p = begin("two-locks", &options);
	pty_wait_for(p, "-- 1/6 Two locks are no lock");
	pty_wait_for(p, "> Press s");
	pty_send(p, "s");
	pty_wait_for(p, "1/6 + Two locks are no lock");
	ck_assert(!pty_has_colour(p));
	for (const char *c = pty_screen(p); *c; c++)
		ck_assert_msg((unsigned char)*c < 0x80, "%s", pty_screen(p));
	leave(p);
}
END_TEST

/* The student's own change, by an editor: here one that takes the fixed version. */
START_TEST(the_student_edits)
{
	const struct lesson *l = lesson_find("two-locks", NULL);
	char *editor = g_strdup_printf("EDITOR=cp %s/fixed.c", l->folder);
	struct pty_options options = { .environment = { "VISUAL", editor } };
	struct pty *p = begin("two-locks", &options);
	pty_wait_for(p, "1/6 Two locks are no lock");
	pty_send(p, "ffffffffffff");
	pty_wait_for(p, "6/6 Two locks are no lock");
	pty_send(p, "E");
	pty_wait_for(p, "6/6 ✓ Two locks are no lock");
	leave(p);
	g_free(editor);
	lesson_free((struct lesson *)l);
}
END_TEST

/* An editor that takes +LINE is opened where the selected finding is. */
START_TEST(the_editor_is_at_the_line)
{
	char *home = g_dir_make_tmp("heddle-editor-XXXXXX", NULL);
	char *path = g_build_filename(home, "vi", NULL);
	const char script[] = "#!/bin/sh\necho opened \"$1\"\nexit 3\n";
	ck_assert(g_file_set_contents(path, script, -1, NULL) && chmod(path, 0700) == 0);
	char *editor = g_strconcat("EDITOR=", path, NULL);
	struct pty_options options = { .environment = { "VISUAL", editor } };
	struct pty *p = begin("two-locks", &options);
	pty_wait_for(p, "1/6 Two locks are no lock");
	pty_send(p, "ffffffffffff");
	pty_wait_for(p, "6/6 Two locks are no lock");
	pty_send(p, "E");
	pty_wait_for(p, "any key goes back"); /* after the message, which may be on two lines */
	ck_assert_msg(strstr(pty_screen(p), "opened +16") != NULL, "%s", pty_screen(p));
	pty_send(p, "\r");
	pty_wait_for(p, "6/6 Two locks are no lock");
	leave(p);
	ck_assert(unlink(path) == 0 && rmdir(home) == 0);
	g_free(editor);
	g_free(path);
	g_free(home);
}
END_TEST

/* The explored runs lie in the student's folder, not in the current one. */
START_TEST(an_execution_is_opened)
{
	struct pty *p = begin("all-schedules", NULL);
	pty_wait_for(p, "1/6 All schedules");
	pty_send(p, "Xn\r");
	pty_wait_for(p, "heddle  last_seat.explored.run1.hdl");
	pty_wait_for(p, "Findings");
	pty_send(p, "q");
	pty_wait_for(p, "Exploration");
	leave(p);
}
END_TEST

/* A change that does not compile: the compiler's words, and the old recording again. */
START_TEST(a_change_that_does_not_compile)
{
	struct pty_options options = { .environment = { "VISUAL",
		                                        "EDITOR=sh -c 'echo oops >$0'" } };
	struct pty *p = begin("two-locks", &options);
	pty_wait_for(p, "1/6 Two locks are no lock");
	pty_send(p, "E");
	pty_wait_for(p, "any key goes back to the lesson");
	ck_assert(strstr(pty_screen(p), "failed with status") != NULL);
	ck_assert(strstr(pty_screen(p), "oops") != NULL);
	pty_send(p, "\r");
	pty_wait_for(p, "1/6 Two locks are no lock");
	leave(p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lessons");
	TCase *c = tcase_create("lessons");
	GPtrArray *all = lessons_all(); /* for their number; each test reads its own */
	int count = (int)all->len;
	g_ptr_array_unref(all);
	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, is_played_to_its_end, 0, MAX(count, 1));
	tcase_add_test(c, wrong_answers_and_hints);
	tcase_add_test(c, goes_on_where_it_was_left);
	tcase_add_test(c, the_pane_hides_and_grows);
	tcase_add_test(c, without_colour_and_signs);
	tcase_add_test(c, the_student_edits);
	tcase_add_test(c, the_editor_is_at_the_line);
	tcase_add_test(c, an_execution_is_opened);
	tcase_add_test(c, a_change_that_does_not_compile);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
