/*
 * test_hostile_explorer.c - the explorer on a trace of unknown origin: its notes name a
 * program, and nothing of them is run unasked or passed to a shell; no file is written over
 * unasked.
 */
#include "tests/support/tui.h"
#include "tests/support/suite.h"
#include "engine/record/recorded.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RACE "main|fork(T1)|a.c:1\nmain|fork(T2)|a.c:2\nT1|w(x)=1|a.c:3\nT2|w(x)=2|a.c:4\n"

static char *folder, *previous;

static void enter_folder(void)
{
	previous = g_get_current_dir();
	folder = g_dir_make_tmp("heddle-hostile-XXXXXX", NULL);
	ck_assert(folder != NULL && chdir(folder) == 0);
}

static void leave_folder(void)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir)))
		g_remove(name);
	g_dir_close(dir);
	ck_assert(chdir(previous) == 0);
	g_rmdir(folder);
	g_free(folder);
	g_free(previous);
}

/* The trace lies in the current folder, where the replay's witness goes. */
static struct app *open_noted(const char *command)
{
	char *text =
	        g_strdup_printf("#! heddle 1\n#! note recording-command %s\n" RACE, command);
	struct app *app = tui_open(text, &(struct tui_options){ .analyse = true });
	g_free(text);
	g_free(app->session->trace->path);
	app->session->trace->path = g_strdup("t.txt");
	return app;
}

/* The words of the program that would run, joined by '|'. */
static char *program_of(const struct app *app)
{
	guint i = 0;
	while (app->after[i] && strcmp(app->after[i], "--") != 0)
		i++;
	ck_assert(app->after[i] != NULL);
	return g_strjoinv("|", app->after + i + 1);
}

static const struct {
	const char *command, *words;
} commands[] = {
	{ "./bank; echo PWNED > pwned; true", "./bank;|echo|PWNED|>|pwned;|true" },
	{ "$(touch pwned)", "$(touch|pwned)" },
	{ "`touch pwned` && ./bank", "`touch|pwned`|&&|./bank" },
	{ "'./my bank' 3 'a b'", "./my bank|3|a b" },
	{ "./bank | sh", "./bank|||sh" },
};

START_TEST(recorded_command_is_words_and_asked_about)
{
	struct app *app = open_noted(commands[_i].command);
	tui_keys(app, "w r");
	ck_assert_msg(app->question != NULL, "no question before '%s' is run",
	              commands[_i].command);
	ck_assert(app->after == NULL);
	ck_assert(tui_shows(app, "This trace was not recorded on this machine."));
	tui_keys(app, "n");
	ck_assert(app->question == NULL && app->after == NULL);
	tui_keys(app, "r Enter"); /* only y is a yes */
	ck_assert(app->question == NULL && app->after == NULL);
	tui_keys(app, "r y");
	ck_assert(app->after != NULL);
	char *words = program_of(app);
	ck_assert_str_eq(words, commands[_i].words);
	g_free(words);
	tui_close(app);
	ck_assert(!g_file_test("pwned", G_FILE_TEST_EXISTS));
}
END_TEST

START_TEST(own_recording_is_run_at_once)
{
	char *mine[] = { "/bin/true", "3", NULL }, *other[] = { "/bin/true", "4", NULL };
	recorded_remember(mine);
	ck_assert(recorded_here(mine));
	ck_assert(!recorded_here(other));
	struct app *app = open_noted("/bin/true 3");
	tui_keys(app, "w r");
	ck_assert(app->question == NULL && app->after != NULL);
	tui_close(app);
	app = open_noted("/bin/true 4");
	tui_keys(app, "w r");
	ck_assert(app->question != NULL && app->after == NULL);
	tui_close(app);
}
END_TEST

/* A registry that others can write says nothing. */
START_TEST(foreign_registry_is_not_believed)
{
	char *mine[] = { "/bin/true", "5", NULL };
	char *path = g_build_filename(g_get_user_state_dir(), "heddle", "recorded", NULL);
	recorded_remember(mine);
	ck_assert(recorded_here(mine));
	ck_assert_int_eq(g_chmod(path, 0666), 0);
	ck_assert(!recorded_here(mine));
	ck_assert_int_eq(g_chmod(path, 0600), 0);
	ck_assert(recorded_here(mine));
	g_remove(path);
	g_free(path);
}
END_TEST

START_TEST(typed_program_is_run_at_once)
{
	struct app *app = open_noted("rm -rf /");
	tui_keys(app, "w");
	tui_command(app, "replay --gdb './my program' \"a b\" $HOME");
	ck_assert(app->question == NULL && app->after != NULL);
	char *all = g_strjoinv("|", app->after);
	ck_assert(strstr(all, "|replay|--gdb|--witness|") != NULL);
	char *words = program_of(app);
	ck_assert_str_eq(words, "./my program|a b|$HOME");
	g_free(words);
	g_free(all);
	tui_command(app, "replay 'unfinished");
	ck_assert(app->message_is_error);
	tui_close(app);
}
END_TEST

START_TEST(command_too_long_to_read_is_not_asked_about)
{
	char *blanks = g_strnfill(2000, 'a');
	struct app *app = open_noted(blanks);
	tui_keys(app, "w r");
	ck_assert(app->question == NULL && app->after == NULL && app->message_is_error);
	tui_close(app);
	g_free(blanks);
	app = open_noted("./bank 'unfinished");
	tui_keys(app, "w r");
	ck_assert(app->question == NULL && app->after == NULL && app->message_is_error);
	tui_close(app);
}
END_TEST

static char *content(const char *path)
{
	char *text = NULL;
	ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "no file %s", path);
	return text;
}

START_TEST(nothing_is_written_over_unasked)
{
	struct app *app = open_noted("./bank");
	tui_keys(app, "w");
	ck_assert(g_file_set_contents("mine.wit", "precious", -1, NULL));
	ck_assert(g_file_set_contents("test.txt-2-3.wit", "precious", -1, NULL));
	/* a name of our own: another one is taken */
	tui_command(app, "export");
	ck_assert(tui_shows(app, "test.txt-2-3.2.wit"));
	tui_command(app, "export"); /* the same content: the same file */
	ck_assert(tui_shows(app, "test.txt-2-3.2.wit"));
	char *text = content("test.txt-2-3.wit");
	ck_assert_str_eq(text, "precious");
	g_free(text);
	/* a replay's witness likewise */
	tui_command(app, "replay ./bank");
	char *all = g_strjoinv("|", app->after);
	ck_assert_msg(strstr(all, "test.txt-2-3.2.wit") != NULL, "%s", all);
	g_free(all);
	tui_command(app, "save-screen mine.wit");
	ck_assert(app->question != NULL);
	tui_keys(app, "n");
	/* a name that was given: a question */
	tui_command(app, "export mine.wit");
	ck_assert(app->question != NULL);
	tui_keys(app, "n");
	text = content("mine.wit");
	ck_assert_str_eq(text, "precious");
	g_free(text);
	tui_command(app, "export mine.wit");
	tui_keys(app, "y");
	text = content("mine.wit");
	ck_assert(g_str_has_prefix(text, "#! heddle-witness"));
	g_free(text);
	tui_close(app);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hostile_explorer");
	TCase *tc = tcase_create("explorer");
	tcase_add_checked_fixture(tc, enter_folder, leave_folder);
	tcase_add_loop_test(tc, recorded_command_is_words_and_asked_about, 0,
	                    G_N_ELEMENTS(commands));
	tcase_add_test(tc, own_recording_is_run_at_once);
	tcase_add_test(tc, foreign_registry_is_not_believed);
	tcase_add_test(tc, typed_program_is_run_at_once);
	tcase_add_test(tc, command_too_long_to_read_is_not_asked_about);
	tcase_add_test(tc, nothing_is_written_over_unasked);
	suite_add_tcase(suite, tc);
	return tui_run(suite);
}
