/*
 * test_notes.c - the file of marks, notes and bookmarks: a damaged or foreign one is refused
 * and left as it is, two explorers of one trace keep each other's marks, and entries of a
 * later version stay.
 */
#include "tests/support/tui.h"
#include "tests/support/suite.h"
#include "tui/lesson/lesson.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RACES \
	"main|fork(T1)|a.c:1\nmain|fork(T2)|a.c:2\nT1|w(x)=1|a.c:3\nT2|w(x)=2|a.c:4\n" \
	"T1|w(y)=1|a.c:5\nT2|w(y)=2|a.c:6\n"

static char *path;

static void name_file(void)
{
	path = g_strdup_printf("%s/heddle-kept-%d.notes", g_get_tmp_dir(), (int)getpid());
	g_remove(path);
}

static void remove_file(void)
{
	g_remove(path);
	g_free(path);
}

static struct app *open_kept(void)
{
	struct error e;
	struct app *app =
	        tui_open("#! heddle 1\n" RACES, &(struct tui_options){ .analyse = true });
	g_remove(app->session->notes_path);
	g_free(app->session->notes_path);
	app->session->notes_path = g_strdup(path);
	(void)session_load_notes(app->session, &e);
	tui_keys(app, "g");
	return app;
}

/* Unlike tui_close, leaves the file. */
static void leave(struct app *app)
{
	app_free(app);
}

static char *content(void)
{
	char *text = NULL;
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	return text;
}

static void write_file(const char *text)
{
	ck_assert(g_file_set_contents(path, text, -1, NULL));
}

static const char *const refused[] = {
	"<<<<<<< HEAD\n{\"heddle-notes\": 1, \"findings\": []}\n",
	"{\"heddle-notes\": 1, \"findings\": [],}",
	"{\"heddle-notes\": 2, \"findings\": []}",
	"{\"heddle-notes\": \"1\", \"findings\": []}",
	"{\"findings\": []}",
	"{\"heddle-notes\": 1, \"findings\": {}}",
	"{\"heddle-notes\": 1, \"bookmarks\": 7}",
	"[1, 2]",
	"my shopping list\n",
	"{\"heddle-notes\": 1} and more",
	"{\"heddle-notes\": 1, \"findings\": [\"\xff\"]}",
};

START_TEST(what_is_no_notes_is_left_alone)
{
	struct error e = { 0 };
	write_file(refused[_i]);
	struct app *app = open_kept();
	ck_assert(!session_load_notes(app->session, &e));
	ck_assert(strstr(e.remedy, "--notes") != NULL);
	tui_command(app, "bookmark here");
	ck_assert_msg(app->message_is_error, "a bookmark was written into: %s", refused[_i]);
	tui_command(app, "triage real");
	ck_assert(app->message_is_error);
	tui_keys(app, "t");
	ck_assert(app->message_is_error);
	leave(app);
	char *text = content();
	ck_assert_str_eq(text, refused[_i]);
	g_free(text);
}
END_TEST

START_TEST(pipes_and_folders_are_refused)
{
	struct error e;
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	struct app *app = open_kept();
	ck_assert(!session_load_notes(app->session, &e));
	ck_assert(!session_save_notes(app->session, &e));
	leave(app);
	g_remove(path);
	ck_assert_int_eq(g_mkdir(path, 0700), 0);
	app = open_kept();
	ck_assert(!session_load_notes(app->session, &e));
	ck_assert(!session_save_notes(app->session, &e));
	leave(app);
	g_rmdir(path);
}
END_TEST

START_TEST(an_empty_file_is_a_beginning)
{
	write_file("");
	struct app *app = open_kept();
	tui_command(app, "triage real");
	ck_assert(!app->message_is_error);
	leave(app);
	char *text = content();
	ck_assert(strstr(text, "\"real\"") != NULL);
	g_free(text);
}
END_TEST

START_TEST(unknown_keys_stay)
{
	struct app *app = open_kept();
	const struct entry *entry = session_selected(app->session);
	ck_assert(entry != NULL);
	char *own = g_strdup_printf(
	        "{\"heddle-notes\": 1, \"team\": {\"name\": \"blue\"}, \"findings\": ["
	        "{\"finding\": \"%s\", \"mark\": \"later\", \"ticket\": 17}, "
	        "{\"finding\": \"gone\", \"mark\": \"fixed\", \"by\": \"me\"}, 5], "
	        "\"bookmarks\": [{\"event\": 1, \"name\": \"b\", \"colour\": \"red\"}, "
	        "{\"event\": 99999, \"name\": \"far\"}]}",
	        entry->key);
	leave(app);
	write_file(own);
	app = open_kept();
	tui_command(app, "note a reason");
	ck_assert(!app->message_is_error);
	tui_command(app, "bookmark here");
	ck_assert(!app->message_is_error);
	leave(app);
	char *text = content();
	static const char *const kept[] = { "blue",           "later",   "\"ticket\": 17",
		                            "\"by\": \"me\"", "\"red\"", "\"far\"",
		                            "a reason",       "here",    "gone" };
	for (size_t i = 0; i < G_N_ELEMENTS(kept); i++)
		ck_assert_msg(strstr(text, kept[i]) != NULL, "%s is lost: %s", kept[i], text);
	g_free(text);
	g_free(own);
}
END_TEST

static bool has_bookmark(const struct app *app, const char *name)
{
	const GArray *all = app->session->bookmarks;
	for (guint i = 0; i < all->len; i++)
		if (strcmp(g_array_index(all, struct bookmark, i).name, name) == 0)
			return true;
	return false;
}

START_TEST(two_explorers_keep_each_others_marks)
{
	struct app *one = open_kept(), *two = open_kept();
	ck_assert_uint_ge(one->session->entries->len, 2);
	session_select(one->session, 0);
	session_select(two->session, 1);
	one->session->event = 2;
	two->session->event = 3;
	tui_command(one, "bookmark first");
	tui_command(two, "bookmark second");
	tui_command(one, "triage real because");
	tui_command(two, "triage benign");
	ck_assert(has_bookmark(two, "first"));
	leave(one);
	leave(two);
	one = open_kept();
	ck_assert(has_bookmark(one, "first") && has_bookmark(one, "second"));
	const struct entry *a = one->session->entries->pdata[0],
	                   *b = one->session->entries->pdata[1];
	ck_assert_int_eq(a->triage, TRIAGE_REAL);
	ck_assert_str_eq(a->note, "because");
	ck_assert_int_eq(b->triage, TRIAGE_BENIGN);
	/* A mark that one explorer removes, the other does not restore. */
	two = open_kept();
	one->session->event = 2;
	tui_keys(one, "T *");
	session_select(one->session, 0);
	tui_command(one, "triage none");
	tui_command(one, "note");
	session_select(two->session, 1);
	tui_command(two, "triage fixed");
	ck_assert(!has_bookmark(two, "first"));
	leave(one);
	leave(two);
	char *text = content();
	ck_assert(strstr(text, "\"first\"") == NULL && strstr(text, "\"real\"") == NULL);
	ck_assert(strstr(text, "\"second\"") != NULL && strstr(text, "\"fixed\"") != NULL);
	g_free(text);
}
END_TEST

/* The progress in lessons is another such file. */
START_TEST(damaged_progress_stays)
{
	struct error e = { 0 };
	struct lesson_progress progress = { .step = 2 };
	char *file = g_build_filename(g_get_user_state_dir(), "heddle", "lessons.json", NULL);
	ck_assert(lesson_progress_save("one", progress, &e));
	ck_assert_uint_eq(lesson_progress_load("one").step, 2);
	ck_assert(g_file_set_contents(file, "{\"one\": <<<<", -1, NULL));
	ck_assert(!lesson_progress_save("two", progress, &e));
	ck_assert(strstr(e.remedy, "left as it is") != NULL);
	ck_assert_uint_eq(lesson_progress_load("one").step, 0);
	char *text = NULL;
	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	ck_assert_str_eq(text, "{\"one\": <<<<");
	g_remove(file);
	g_free(text);
	g_free(file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("notes");
	TCase *tc = tcase_create("notes");
	tcase_add_checked_fixture(tc, name_file, remove_file);
	tcase_add_loop_test(tc, what_is_no_notes_is_left_alone, 0, G_N_ELEMENTS(refused));
	tcase_add_test(tc, pipes_and_folders_are_refused);
	tcase_add_test(tc, an_empty_file_is_a_beginning);
	tcase_add_test(tc, unknown_keys_stay);
	tcase_add_test(tc, two_explorers_keep_each_others_marks);
	tcase_add_test(tc, damaged_progress_stays);
	suite_add_tcase(suite, tc);
	return tui_run(suite);
}
