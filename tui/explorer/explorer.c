/*
 * explorer.c - connects the application with the terminal: input, output, suspending, lending
 * the terminal to a replay; runs scripts without a terminal.
 */
#include "tui/explorer/explorer.h"

#include "engine/base/child.h"
#include "engine/base/input.h"
#include "tui/explorer/commands/command_line.h"
#include "tui/explorer/guide.h"
#include "tui/explorer/tool_reports.h"
#include "tui/explorer/messages.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/wait.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 500 }; /* milliseconds for searches to stop when the user quits */

enum { STATUS_GOOD = 0, STATUS_BAD = 2 };

static bool is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* -- scripts ------------------------------------------------------------------------ */

/* Runs a script. Every line is a command; blank lines and # are skipped. Stops at the first
 * failure. Begins when the index is complete, so that the output does not depend on timing. */
static bool run_script(struct app *app, const char *path, struct error *error)
{
	size_t length;
	g_autofree char *text = input_text(path, "script", &length, error);
	if (text == NULL)
		return false;
	if (strlen(text) != length)
		return error_set(error, place_line(path, 0).text,
		                 "a script has commands of the command line, one a line",
		                 "expected text, found a NUL byte");
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	bool good = true;
	app->scripted = true;
	while (!session_has(app->session, INDEX_ALL) && !jobs_idle(&app->jobs))
		app_await(app);
	for (guint i = 0; lines[i] && good && !app->quit; i++) {
		char *line = g_strstrip(lines[i]);
		if (*line == ':')
			line++;
		if (*line == '\0' || *line == '#')
			continue;
		g_free(app->message);
		app->message = NULL;
		commands_run(app, line);
		app_collect(app);
		if (app->message && app->message_is_error)
			good = error_set(error, place_line(path, i + 1).text, NULL, "%s",
			                 app->message);
	}
	app->scripted = false;
	return good;
}

/* -- the terminal -------------------------------------------------------------------- */

/* For lessons: a failed replay does not count. */
static void note_replay(struct app *app, int status)
{
	enum { FAILED = 125 };
	if (app->guide == NULL || !app->guide->replaying)
		return;
	app->guide->replaying = false;
	app->guide->replayed =
	        status != -1 && !(WIFEXITED(status) && (WEXITSTATUS(status) == FAILED ||
	                                                WEXITSTATUS(status) == FAILED + 2));
	guide_notice(app);
}

static void run_program(struct app *app)
{
	char **words = app->after;
	app->after = NULL;
	screen_lend();
	if (!app->after_is_heddle) {
		g_autofree char *command = child_spelt(words);
		printf("\n$ %s\n", command);
	}
	fflush(stdout);
	int status = child_run(words, false);
	note_replay(app, status);
	int code = status < 0          ? -1
	           : WIFEXITED(status) ? WEXITSTATUS(status)
	                               : 128 + WTERMSIG(status);
	if (!app->after_is_heddle || code != 0) {
		g_autofree char *prompt = g_strdup_printf(
		        "\n[ended with status %d; any key goes back to heddle] ", code);
		screen_await_key(prompt);
	}
	app->after_is_heddle = false;
	screen_take_back();
	g_strfreev(words);
}

static void after_key(struct app *app)
{
	if (app->clipboard->len) {
		screen_copy(app->clipboard->str, app->clipboard->len);
		g_string_truncate(app->clipboard, 0);
	}
	if (app->redraw)
		screen_redraw();
	if (app->suspend)
		screen_suspend();
	if (app->after)
		run_program(app);
	if (app->redraw || app->suspend) {
		int rows, columns;
		screen_size(&rows, &columns);
		app_resize(app, rows, columns);
	}
	app->redraw = app->suspend = false;
}

static void terminal_loop(struct app *app)
{
	int rows, columns;
	screen_size(&rows, &columns);
	app_resize(app, rows, columns);
	while (!app->quit) {
		app_draw(app);
		screen_show(&app->grid);
		int key = screen_key(app->jobs.wake[0]);
		switch (key) {
		case KEYCODE_WAKE:
			app_collect(app);
			break;
		case KEYCODE_RESIZE: {
			bool small = app_too_small(app);
			screen_size(&rows, &columns);
			app_resize(app, rows, columns);
			/* curses reports the new size before the keys typed at the old one */
			if (small && !app_too_small(app))
				screen_drop_keys();
			break;
		}
		case KEYCODE_MOUSE: {
			struct screen_click click = screen_mouse();
			app_mouse(app, click.row, click.column, click.button);
			break;
		}
		case KEYCODE_END_OF_INPUT:
			app->quit = true;
			break;
		default:
			app_key(app, key);
		}
		after_key(app);
	}
}

/* -- terminal and scripts ------------------------------------------------------------------ */

static bool load_report(struct app *app, const char *path, struct error *error)
{
	GArray *races = tool_report_read(path, error);
	if (races == NULL)
		return false;
	app->session->reported = tool_report_locate(app->session->trace, races);
	tool_report_free(races);
	return true;
}

/* Begin at the first race of the report that has a pair in the trace; in a lesson, the student
 * goes there. */
static bool begin_at_report(struct app *app, const char *path, struct error *error)
{
	struct session *s = app->session;
	if (!load_report(app, path, error))
		return false;
	if (app->guide)
		return true;
	for (guint i = 1; i <= s->reported->len; i++) {
		if (!session_ask_reported(s, i))
			continue;
		app->reported = i;
		app_go(app, VIEW_SOURCE);
		app_goto(app, s->pair[0], false);
		app_say(app, SAYS_REPORTED_FIRST, i, s->reported->len,
		        s->reported->len > 1 ? AND_LISTS_REPORTED : "");
		return true;
	}
	app_say(app, SAYS_NONE_REPORTED, s->reported->len, plural(s->reported->len));
	return true;
}

static bool begin_at(struct app *app, const struct explorer_options *options,
                     struct error *error)
{
	if (options->report && !begin_at_report(app, options->report, error))
		return false;
	if (options->at) {
		uint32_t event = session_parse_event(app->session, options->at, error);
		if (event == NONE)
			return false;
		app_go(app, VIEW_TRACE);
		app_goto(app, event, false);
	}
	return true;
}

static struct specs *open_specs(const struct trace *t, const GPtrArray *given,
                                struct error *error)
{
	g_autoptr(GPtrArray) recorded = trace_recorded_specs(t);
	g_autoptr(GPtrArray) paths = specs_choose(given, recorded, NULL);
	return specs_open(paths, error);
}

/* Lessons refer to findings, so wait for them before the first step, within limits. */
static void await_findings(struct app *app)
{
	gint64 end = g_get_monotonic_time() + 5 * G_USEC_PER_SEC;
	while (!jobs_idle(&app->jobs)) {
		gint64 left = (end - g_get_monotonic_time()) / 1000;
		struct pollfd fd = { .fd = app->jobs.wake[0], .events = POLLIN };
		if (left <= 0 || poll(&fd, 1, (int)left) < 0)
			return;
		app_collect(app);
	}
}

static struct app *make_app(struct trace *trace, struct specs *specs,
                            const struct explorer_options *options,
                            const struct app_options *app_options)
{
	struct session *session = session_new(trace);
	session->executable = g_strdup(options->executable);
	if (options->notes) {
		g_free(session->notes_path);
		session->notes_path = g_strdup(options->notes);
	}
	session->specs = specs;
	struct app *app = app_new(session, app_options);
	app->guide = options->guide;
	app->tree_path = g_strdup(options->tree);
	if (options->say)
		app_say(app, "%s", options->say);
	return app;
}

/* Size of a virtual screen from an environment variable; invalid numbers are ignored. */
static int size_of(const char *variable, int normal)
{
	enum { MOST = 4096 };
	const char *text = getenv(variable);
	gint64 size;
	return text && g_ascii_string_to_signed(text, 10, 1, MOST, &size, NULL) ? (int)size
	                                                                        : normal;
}

int explorer_run(struct trace *trace, const struct explorer_options *options,
                 struct error *error)
{
	struct config config = { 0 };
	struct app_options app_options = { .rows = USUAL_ROWS, .columns = USUAL_COLUMNS };
	bool headless = options->script && (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO));
	if (options->executable && access(options->executable, X_OK) < 0) {
		error_set(error, options->executable, "give the program that was recorded",
		          "--exe: cannot be run: %s", g_strerror(errno));
		trace_close(trace);
		return STATUS_BAD;
	}
	struct specs *specs = open_specs(trace, options->specifications, error);
	if (specs == NULL || !config_load(&config, error) ||
	    (!headless && !screen_open(&config.screen, error))) {
		if (specs)
			specs_free(specs);
		config_release(&config);
		trace_close(trace);
		return STATUS_BAD;
	}
	app_options.ascii = config.ascii || !is_utf8();
	if (headless) {
		app_options.rows = size_of("LINES", USUAL_ROWS);
		app_options.columns = size_of("COLUMNS", USUAL_COLUMNS);
	}
	struct app *app = make_app(trace, specs, options, &app_options);
	config_apply_keys(&config, app);
	line_start();
	bool good = (options->notes == NULL || session_load_notes(app->session, error)) &&
	            begin_at(app, options, error);
	if (good && options->script)
		good = run_script(app, options->script, error);
	if (good && options->guide)
		await_findings(app);
	if (good && !headless)
		terminal_loop(app);
	line_end();
	if (!headless)
		screen_close();
	/* All is saved. Searches stop within moments and their threads are joined; but a call
	 * of the solver may take long, so then exit without it. */
	if (good && options->guide == NULL && !jobs_end(&app->jobs, PATIENCE))
		_exit(STATUS_GOOD);
	app_free(app);
	config_release(&config);
	return good ? STATUS_GOOD : STATUS_BAD;
}

/* -- playing a lesson ---------------------------------------------------------------- */

static void work_off(struct app *app)
{
	commands_run(app, "wait");
	app_draw(app);
}

/* Run the command of a replay without its output. */
static void run_silently(struct app *app)
{
	char **words = app->after;
	app->after = NULL;
	note_replay(app, child_run(words, true));
	g_strfreev(words);
}

static bool refuse_step(const struct guide *g, const struct lesson_step *s, struct error *error,
                        const char *what, const char *about)
{
	return error_set(error, place_line(g->lesson->path, s->line).text, NULL,
	                 "step %u, '%s': %s%s%s", g->step + 1, s->title, what,
	                 about ? ": " : "", about ? about : "");
}

static bool play_task(struct app *app, const struct lesson_step *s, struct error *error)
{
	struct guide *g = app->guide;
	if (s->task == NULL)
		return true;
	bool mended = g->changed && lesson_step_mends(s); /* these keys have been pressed,
	                                                   * and only once */
	if (checks_failing(app, s->checks) == NULL && !mended)
		return refuse_step(g, s, error, "the task is done before any key", NULL);
	g_autofree char *press = g_strconcat("press ", s->keys, NULL);
	if (!mended)
		commands_run(app, press);
	if (app->message && app->message_is_error)
		return refuse_step(g, s, error, "the keys are refused", app->message);
	if (app->quit)
		return g->wish != GUIDE_NOTHING ||
		       refuse_step(g, s, error, "the keys leave the explorer", NULL);
	work_off(app);
	if (app->after)
		run_silently(app);
	guide_notice(app);
	if (g->done)
		return true;
	if (g->wrong)
		return refuse_step(g, s, error, "the fix is not right", g->wrong);
	const struct lesson_check *failing = checks_failing(app, s->checks);
	return refuse_step(g, s, error, "the keys do not do it; this does not hold",
	                   failing ? failing->text : "?");
}

static bool play_step(struct app *app, const struct lesson_step *s, struct error *error)
{
	struct guide *g = app->guide;
	const struct lesson_check *failing = checks_failing(app, s->facts);
	if (failing)
		return refuse_step(g, s, error, "this is not so in the recording",
		                   failing->text);
	if (s->question) {
		guide_answer(app, s->answer);
		if (!g->done && strchr(s->answer, '|')) {
			g_autofree char *one = g_strndup(s->answer, strcspn(s->answer, "|"));
			guide_answer(app, g_strstrip(one));
		}
		if (!g->done)
			return refuse_step(g, s, error, "its answer is refused", s->answer);
	}
	return play_task(app, s, error);
}

bool explorer_play(struct trace *trace, const struct explorer_options *options,
                   struct error *error)
{
	struct app_options app_options = { .rows = USUAL_ROWS, .columns = USUAL_COLUMNS };
	struct specs *specs = open_specs(trace, options->specifications, error);
	if (specs == NULL) {
		trace_close(trace);
		return false;
	}
	struct app *app = make_app(trace, specs, options, &app_options);
	struct guide *g = options->guide;
	bool good = true;
	app->scripted = true;
	good = options->report == NULL || load_report(app, options->report, error);
	work_off(app);
	while (good && !g->finished && !app->quit) {
		good = play_step(app, g->lesson->steps->pdata[g->step], error);
		if (good && !app->quit) {
			app_request(app, REQUEST_LESSON_ON, 0);
			work_off(app);
		}
	}
	app_free(app);
	return good;
}
