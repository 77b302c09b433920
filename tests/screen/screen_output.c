/*
 * screen_output.c - what runs beside the screen: its lines and places, a failed build's first
 * error, Ctrl-C, and the build command that is kept for a folder. Programs along a schedule:
 * tests/e2e/rebuild.t.
 */
#include "tests/support/tui.h"
#include "tui/explorer/commands/command_line.h"
#include "tui/explorer/output.h"
#include "tui/explorer/settings.h"

#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static const char plain[] = "#! heddle 1\nmain|fork(T1)|s.c:1\nmain|w(x)=1|s.c:2\n"
                            "T1|w(x)=2|s.c:3\n";
static char *folder, *home;

static void make_folder(void)
{
	home = g_get_current_dir();
	folder = g_dir_make_tmp("heddle-output-XXXXXX", NULL);
	ck_assert(chdir(folder) == 0);
	ck_assert(g_file_set_contents("prog.c", "one\ntwo\nthree\nfour\nfive\n", -1, NULL));
}

static void remove_folder(void)
{
	g_remove("prog.c");
	ck_assert(chdir(home) == 0);
	g_rmdir(folder);
	g_free(folder);
	g_free(home);
}

static void shows(struct app *app, const char *text)
{
	char *screen = tui_words(app);
	ck_assert_msg(strstr(screen, text) != NULL, "not \"%s\" in:\n%s", text, screen);
	g_free(screen);
}

START_TEST(a_failed_build_leads_to_its_first_error)
{
	struct app *app = tui_open(plain, NULL);
	tui_command(app, "rebuild echo prog.c:2:1: note: beginning; printf 'prog.c:4:3: "
	                 "error: no\\tgood\\nnowhere.c:1:1: error: too\\n'; exit 3");
	shows(app, "exit status 3");
	shows(app, "The build failed: n goes to the next place, V opens it in the editor.");
	shows(app, "prog.c:4:3: error: no good"); /* the tab is blanks */
	shows(app, "▸ 4 four");                   /* the first error's place, not the note's */
	tui_keys(app, "b");
	shows(app, "▸ 2 two");
	tui_keys(app, "n n"); /* the last has no file */
	shows(app, "no other line names a place");
	ck_assert(app->after == NULL);
	tui_keys(app, "V");
	ck_assert(app->after != NULL);
	guint words = g_strv_length(app->after);
	ck_assert_str_eq(strrchr(app->after[words - 1], '/') + 1, "prog.c");
	tui_close(app);
}
END_TEST

START_TEST(a_build_is_stopped)
{
	struct app *app = tui_open(plain, NULL);
	commands_run(app, "rebuild echo begun; sleep 1000");
	for (int i = 0; i < 2000 && !tui_shows(app, "begun "); i++) {
		g_usleep(5000);
		app_collect(app);
		if (strstr(app->output->sides[0].text->str, "begun\n"))
			break;
	}
	commands_run(app, "rebuild true");
	ck_assert(app->message_is_error && strstr(app->message, "is still under way"));
	app_request(app, REQUEST_STOP, 0);
	tui_wait(app);
	shows(app, "stopped");
	shows(app, "The build did not come to its end.");
	tui_keys(app, "F O"); /* and is kept */
	shows(app, "begun");
	tui_close(app);
}
END_TEST

/* Without one, a command is asked for; a trace or another folder has none. */
START_TEST(the_command_is_kept_for_its_folder)
{
	struct app *app = tui_open(plain, NULL);
	commands_run(app, "rebuild");
	ck_assert(app->message_is_error &&
	          strstr(app->message, "no build command is kept for this folder"));
	tui_command(app, "rebuild echo 'a = [b]'");
	shows(app, "a = [b]");
	shows(app, "The trace does not name a program to record again");
	tui_command(app, "rebuild");
	shows(app, "a = [b]");
	char *kept = settings_build(folder), *other = settings_build("/");
	ck_assert_str_eq(kept, "echo 'a = [b]'");
	ck_assert(other == NULL);
	g_free(kept);
	tui_close(app);
}
END_TEST

/* Control characters, lines longer than the screen, and of progress its last state. */
START_TEST(what_is_said_is_text)
{
	struct app *app = tui_open(plain, &(struct tui_options){ .columns = 60 });
	tui_command(app, "rebuild printf '\\033[31mred\\n10%%\\r90%%\\r\\n'; head -c 100 "
	                 "/dev/zero | tr '\\0' x; echo END");
	shows(app, "\\x1B[31mred");
	shows(app, "90%");
	ck_assert(!tui_shows(app, "10%\\x0D"));
	shows(app, "END");
	tui_close(app);
}
END_TEST

START_TEST(nothing_has_run_yet)
{
	struct app *app = tui_open(plain, &(struct tui_options){ .analyse = true });
	tui_keys(app, "O");
	shows(app, "Nothing has been run yet.");
	tui_keys(app, "j G n b Enter y V c"); /* and no key fails there */
	ck_assert(app->message_is_error && app->output == NULL);
	tui_close(app);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("output");
	TCase *c = tcase_create("output");
	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, make_folder, remove_folder);
	tcase_add_test(c, a_failed_build_leads_to_its_first_error);
	tcase_add_test(c, a_build_is_stopped);
	tcase_add_test(c, the_command_is_kept_for_its_folder);
	tcase_add_test(c, what_is_said_is_text);
	tcase_add_test(c, nothing_has_run_yet);
	suite_add_tcase(suite, c);
	return tui_run(suite);
}
