/*
 * tui.c - the explorer without a terminal: see tui.h.
 */
#include "tests/support/tui.h"

#include "tests/support/suite.h"
#include "tui/explorer/commands/command_line.h"

#include <check.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tui_wait(struct app *app)
{
	while (!jobs_idle(&app->jobs)) {
		struct pollfd fd = { .fd = app->jobs.wake[0], .events = POLLIN };
		ck_assert_msg(poll(&fd, 1, 60000) > 0, "the work beside the screen hangs");
		app_collect(app);
	}
}

struct app *tui_open(const char *text, const struct tui_options *options)
{
	struct error error = { 0 };
	struct trace *trace = trace_from_text("test.txt", text, strlen(text), NULL, &error);
	ck_assert_msg(trace != NULL, "%s: %s", error.where, error.what);
	struct app_options app_options = {
		.rows = options && options->rows ? options->rows : 24,
		.columns = options && options->columns ? options->columns : 80,
		.ascii = options && options->ascii,
		.quiet_start = true,
	};
	struct session *session = session_new(trace);
	g_free(session->notes_path);
	session->notes_path =
	        g_strdup_printf("%s/heddle-test-%d.notes", g_get_tmp_dir(), (int)getpid());
	remove(session->notes_path);
	session->specs = specs_open(NULL, &error);
	ck_assert_msg(session->specs != NULL, "%s: %s", error.where, error.what);
	struct app *app = app_new(session, &app_options);
	if (options && options->analyse)
		app_start_work(app);
	else
		app_start_index(app);
	tui_wait(app);
	return app;
}

void tui_close(struct app *app)
{
	remove(app->session->notes_path);
	app_free(app);
}

void tui_keys(struct app *app, const char *keys)
{
	char **names = g_strsplit(keys, " ", -1);
	for (char **name = names; *name; name++) {
		if (**name == '\0')
			continue;
		int key = key_from_name(*name);
		ck_assert_msg(key != KEYCODE_NONE, "no such key: %s", *name);
		app_draw(app);
		app_key(app, key);
		tui_wait(app);
	}
	g_strfreev(names);
}

void tui_command(struct app *app, const char *line)
{
	commands_run(app, line);
	tui_wait(app);
}

void tui_type(struct app *app, const char *text)
{
	for (; *text; text = g_utf8_next_char(text))
		app_key(app, (int)g_utf8_get_char(text));
	tui_wait(app);
}

char *tui_screen(struct app *app, bool styles)
{
	GString *out = g_string_new(NULL);
	app_draw(app);
	grid_dump(&app->grid, styles, out);
	return g_string_free(out, FALSE);
}

char *tui_words(struct app *app)
{
	char *screen = tui_screen(app, false);
	GString *out = g_string_new(NULL);
	char **words = g_strsplit_set(screen, " \n", -1);
	for (char **w = words; *w; w++)
		if (**w)
			g_string_append_printf(out, "%s%s", out->len ? " " : "", *w);
	g_strfreev(words);
	g_free(screen);
	return g_string_free(out, FALSE);
}

bool tui_shows(struct app *app, const char *text)
{
	char *screen = tui_screen(app, false);
	bool found = strstr(screen, text) != NULL;
	g_free(screen);
	return found;
}

void tui_golden(struct app *app, const char *name)
{
	char *screen = tui_screen(app, true), *wanted = NULL;
	char *path = g_strdup_printf("tests/screen/golden/%s.txt", name);
	const char *mode = getenv("GOLDEN");
	if (mode && strcmp(mode, "update") == 0) {
		ck_assert(g_file_set_contents(path, screen, -1, NULL));
	} else {
		ck_assert_msg(g_file_get_contents(path, &wanted, NULL, NULL),
		              "%s is missing: make golden writes it", path);
		bool same = strcmp(screen, wanted) == 0;
		if (!same) /* too long for a message of Check */
			fprintf(stderr, "-- %s: expected\n%s-- found\n%s", path, wanted,
			        screen);
		ck_assert_msg(same, "%s differs", path);
	}
	g_free(path);
	g_free(wanted);
	g_free(screen);
}

void tui_picture(struct app *app, const char *keys, const char *name)
{
	tui_keys(app, keys);
	g_free(app->message);
	app->message = NULL;
	tui_golden(app, name);
	tui_close(app);
}

int tui_run(Suite *suite)
{
	char *home = g_dir_make_tmp("heddle-test-XXXXXX", NULL);
	g_setenv("HOME", home, TRUE);
	g_setenv("XDG_STATE_HOME", home, TRUE);
	g_setenv("XDG_CONFIG_HOME", home, TRUE);
	g_setenv("INPUTRC", "/dev/null", TRUE);
	int failed = suite_run(suite);
	char *state = g_build_filename(home, "heddle", NULL);
	g_rmdir(state);
	g_free(state);
	g_rmdir(home);
	g_free(home);
	return failed;
}
