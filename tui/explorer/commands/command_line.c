/*
 * command_line.c - the screen's last line by readline in callback mode.
 *
 * readline keeps its state in globals, so the explorer's only global variables are here: input
 * bytes, matches, and the app with the open line.
 */
#include "tui/explorer/commands/command_line.h"

#include "tui/explorer/guide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <readline/history.h>
#include <readline/readline.h>

enum { HISTORY_KEPT = 500 };

static struct {
	struct app *app; /* the app with the open line, or NULL */
	enum line_kind kind;
	unsigned char bytes[64];
	unsigned first, count; /* ring of unread bytes */
	GPtrArray *matches;    /* char *, owned: completions shown above the line */
	bool ready;
	char *history_path;
	FILE *nowhere;
} line;

static const char *const prompts[] = { [LINE_COMMAND] = ":",
	                               [LINE_FIND] = "/",
	                               [LINE_NOTE] = "note: ",
	                               [LINE_ANSWER] = "answer: " };

/* -- callbacks of readline ----------------------------------------------------------------- */

static int get_byte(FILE *stream)
{
	if (line.count == 0)
		return EOF;
	int byte = line.bytes[line.first];
	line.first = (line.first + 1) % sizeof line.bytes;
	line.count--;
	return byte;
}

static int has_byte(void)
{
	return line.count > 0;
}

static void draw_nothing(void)
{
}

static void prepare_nothing(int meta)
{
}

static void show_matches(char **matches, int count, int longest)
{
	g_ptr_array_set_size(line.matches, 0);
	for (int i = 1; i <= count; i++)
		g_ptr_array_add(line.matches, g_strdup(matches[i]));
}

static void close_line(void)
{
	rl_callback_handler_remove();
	line.app->line_open = false;
	line.app = NULL;
	line.count = 0;
	g_ptr_array_set_size(line.matches, 0);
}

static void run_line(struct app *app, enum line_kind kind, const char *text)
{
	struct session *s = app->session;
	switch (kind) {
	case LINE_COMMAND:
		commands_run(app, text);
		break;
	case LINE_FIND:
		if (app_view(app) == VIEW_FINDINGS) {
			findings_view.search(app, app->states[VIEW_FINDINGS], text, 1);
			break;
		}
		g_free(s->wanted);
		s->wanted = g_strdup(text);
		if (*text)
			app_request(app, REQUEST_FIND_NEXT, 0);
		break;
	case LINE_ANSWER:
		guide_answer(app, text);
		break;
	case LINE_NOTE: {
		struct entry *entry = session_selected(s);
		struct error e;
		if (entry == NULL)
			break;
		g_free(entry->note);
		entry->note = *text ? g_strdup(text) : NULL;
		if (!session_save_notes(s, &e))
			app_complain(app, &e);
		break;
	}
	}
}

static void take_line(char *text)
{
	struct app *app = line.app;
	enum line_kind kind = line.kind;
	close_line();
	if (text == NULL)
		return;
	if (*text && kind == LINE_COMMAND) {
		HIST_ENTRY *last =
		        history_length ? history_get(history_base + history_length - 1) : NULL;
		if (last == NULL || strcmp(last->line, text) != 0)
			add_history(text);
	}
	run_line(app, kind, text);
	free(text);
}

static char **complete(const char *text, int start, int end)
{
	rl_attempted_completion_over = 1;
	if (line.app == NULL || line.kind == LINE_NOTE || line.kind == LINE_ANSWER)
		return NULL;
	g_autoptr(GPtrArray) words =
	        commands_complete(line.app, line.kind == LINE_FIND ? "find " : rl_line_buffer,
	                          line.kind == LINE_FIND ? 5 : start, text);
	char **matches = NULL;
	if (words->len) { /* readline's form: the common prefix, then the words; malloc'd */
		matches = calloc(words->len + 2, sizeof *matches);
		size_t common = strlen(words->pdata[0]);
		for (guint i = 0; i < words->len; i++) {
			const char *word = words->pdata[i], *first = words->pdata[0];
			size_t same = 0;
			while (same < common && word[same] == first[same])
				same++;
			common = same;
			if (words->len > 1)
				matches[i + 1] = strdup(word);
		}
		matches[0] = strndup(words->pdata[0], common);
	}
	rl_completion_append_character = '\0';
	return matches;
}

/* -- the line ----------------------------------------------------------------------- */

void line_start(void)
{
	g_autofree char *folder = g_build_filename(g_get_user_state_dir(), "heddle", NULL);
	g_mkdir_with_parents(folder, 0700);
	line.history_path = g_build_filename(folder, "history", NULL);
	using_history();
	stifle_history(HISTORY_KEPT);
	read_history(line.history_path);
}

void line_end(void)
{
	if (line.app)
		close_line();
	if (line.history_path)
		write_history(line.history_path);
	g_free(line.history_path);
	line.history_path = NULL;
}

static void prepare(void)
{
	if (line.ready)
		return;
	line.ready = true;
	line.matches = g_ptr_array_new_with_free_func(g_free);
	line.nowhere = fopen("/dev/null", "w+");
	rl_readline_name = "heddle";
	rl_instream = rl_outstream = line.nowhere;
	rl_catch_signals = 0;
	rl_catch_sigwinch = 0;
	rl_change_environment = 0;
	rl_prep_term_function = prepare_nothing;
	rl_deprep_term_function = draw_nothing;
	rl_redisplay_function = draw_nothing;
	rl_getc_function = get_byte;
	rl_input_available_hook = has_byte;
	rl_completion_display_matches_hook = show_matches;
	rl_attempted_completion_function = complete;
	rl_basic_word_break_characters = " \t";
	rl_completer_word_break_characters = (char *)" \t";
	rl_variable_bind("show-all-if-ambiguous", "on");
	rl_variable_bind("bell-style", "none");
	rl_variable_bind("enable-bracketed-paste", "off");
}

void line_open(struct app *app, enum line_kind kind, const char *beginning)
{
	prepare();
	if (line.app)
		close_line();
	line.app = app;
	line.kind = kind;
	app->line_open = true;
	rl_callback_handler_install("", take_line);
	rl_insert_text(beginning);
}

static void feed(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length && line.count < sizeof line.bytes; i++)
		line.bytes[(line.first + line.count++) % sizeof line.bytes] =
		        (unsigned char)bytes[i];
	while (line.count && line.app)
		rl_callback_read_char();
}

static const struct {
	int key;
	const char *bytes;
} sequences[] = {
	{ KEYCODE_UP, "\033[A" },      { KEYCODE_DOWN, "\033[B" }, { KEYCODE_RIGHT, "\033[C" },
	{ KEYCODE_LEFT, "\033[D" },    { KEYCODE_HOME, "\001" },   { KEYCODE_END, "\005" },
	{ KEYCODE_BACKSPACE, "\177" }, { KEYCODE_DELETE, "\004" },
};

/* Applies the filter of the findings while the user types. */
static void narrow(struct app *app)
{
	if (line.app == app && line.kind == LINE_FIND && app_view(app) == VIEW_FINDINGS)
		findings_view.search(app, app->states[VIEW_FINDINGS], rl_line_buffer, 1);
}

static void take_key(struct app *app, int key);

void line_key(struct app *app, int key)
{
	if (line.app == NULL)
		return;
	bool filters = line.kind == LINE_FIND && app_view(app) == VIEW_FINDINGS;
	take_key(app, key);
	if (line.app)
		narrow(app);
	else if (filters && key == KEYCODE_ESC)
		app_request(app, REQUEST_BACK, 0); /* clears it */
}

static void take_key(struct app *app, int key)
{
	g_ptr_array_set_size(line.matches, 0);
	bool empty = rl_end == 0;
	if (key == KEYCODE_ESC || key == 3 || (key == KEYCODE_BACKSPACE && empty) ||
	    (key == 4 && empty)) {
		close_line();
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(sequences); i++) {
		if (sequences[i].key == key) {
			feed(sequences[i].bytes, strlen(sequences[i].bytes));
			return;
		}
	}
	char bytes[8];
	if (key > 0 && key < 0x110000 && key != 26)
		feed(bytes, (size_t)g_unichar_to_utf8((gunichar)key, bytes));
}

/* -- drawing ------------------------------------------------------------------------ */

static void draw_matches(struct pane body)
{
	int widest = 1;
	for (guint i = 0; i < line.matches->len; i++)
		widest = MAX(widest, text_columns(line.matches->pdata[i]));
	int per_row = MAX(body.columns / (widest + 2), 1);
	int rows = MIN((int)(line.matches->len + per_row - 1) / per_row, MIN(8, body.rows - 1));
	struct pane box = pane_part(body, body.rows - rows - 1, 0, rows + 1, -1);
	for (int r = 0; r < box.rows; r++)
		for (int c = 0; c < box.columns; c++)
			pane_rune(box, r, c, STYLE_TEXT, ' ');
	pane_rule(box, 0, "completions");
	for (guint i = 0; i < line.matches->len && (int)i / per_row < rows; i++)
		pane_field(box, 1 + (int)i / per_row, (int)i % per_row * (widest + 2),
		           widest + 1, STYLE_TEXT, line.matches->pdata[i]);
}

void line_draw(const struct app *app, struct pane row, struct pane body)
{
	if (line.app != app)
		return;
	int at = pane_text(row, 0, 0, STYLE_KEY, prompts[line.kind]);
	if (rl_display_prompt && *rl_display_prompt) /* readline's search of the history */
		at = pane_text(row, 0, at, STYLE_DIM, rl_display_prompt);
	g_autofree char *before = g_strndup(rl_line_buffer, (gsize)rl_point);
	int cursor = text_columns(before);
	struct pane field = pane_part(row, 0, at, 1, -1);
	int room = field.columns - 2;
	const char *visible = rl_line_buffer;
	while (cursor > room && *visible) { /* scroll sideways */
		struct drawn d = text_next(visible);
		visible += d.bytes;
		cursor -= d.columns;
	}
	pane_text(field, 0, 0, STYLE_TEXT, visible);
	row.grid->cursor_row = row.row;
	row.grid->cursor_column = MIN(field.column + cursor, row.grid->columns - 1);
	if (line.matches->len)
		draw_matches(body);
}
