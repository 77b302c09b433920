/*
 * view_text.c - two views of lines: the output of a command, and the keys of a view. A line
 * "left TAB right" is a row of a table; long lines are wrapped to the screen's width.
 */
#include "tui/explorer/app.h"

#include <string.h>

struct text_state {
	struct list list;  /* cursor: the top line */
	char *text;        /* owned: unwrapped; see lay_out */
	char **lines;      /* NULL-terminated, owned: `text` in `columns` */
	int columns, left; /* `left`: column of the second part, or 0 */
};

static void *text_open(struct app *app)
{
	return g_new0(struct text_state, 1);
}

static void text_close(void *state)
{
	struct text_state *v = state;
	g_strfreev(v->lines);
	g_free(v->text);
	g_free(v);
}

static void set_text(struct text_state *v, const char *text)
{
	g_free(v->text);
	v->text = g_strdup(text);
	v->columns = 0; /* forces layout */
	v->list.cursor = v->list.top = 0;
}

/* Column of the second part of lines with a tab: right of most first parts, not of the
 * longest. */
static int left_column(char *const *given)
{
	enum { WIDEST = 26 };
	int left = 0;
	for (; *given; given++) {
		const char *tab = strchr(*given, '\t');
		if (tab == NULL)
			continue;
		g_autofree char *text = g_strndup(*given, tab - *given);
		left = MAX(left, MIN(text_columns(text), WIDEST) + 2);
	}
	return left;
}

/* Wrap a line: "left TAB right", or text. */
static void lay_out_line(const char *line, int left, int width, GString *out)
{
	const char *tab = strchr(line, '\t');
	int indent = (int)strspn(line, " ");
	if (tab) {
		g_autofree char *text = g_strndup(line, tab - line);
		append_padded(out, text, left - 1);
		if (text_columns(text) >= left)
			g_string_append_printf(out, "\n%*s", left, "");
		append_wrapped(out, tab + 1, left, width);
	} else if (text_columns(line) <= width) {
		g_string_append_printf(out, "%s\n", line);
	} else {
		g_string_append_len(out, line, indent);
		append_wrapped(out, line + indent, indent, width);
	}
}

/* Wrap the text when the width has changed. */
static void lay_out(struct text_state *v, int columns)
{
	if (v->columns == columns || v->text == NULL)
		return;
	g_auto(GStrv) given = g_strsplit(v->text, "\n", -1);
	g_autoptr(GString) out = g_string_new(NULL);
	v->columns = columns;
	v->left = left_column(given);
	for (char **line = given; *line; line++)
		lay_out_line(*line, v->left, MAX(columns - 2, v->left + 8), out);
	g_strfreev(v->lines);
	v->lines = g_strsplit(out->str, "\n", -1);
	guint count = g_strv_length(v->lines);
	while (count && *v->lines[count - 1] == '\0')
		count--;
	v->list.count = count;
}

static void text_show(struct app *app, void *state)
{
	set_text(state, app->text->str);
}

static void text_fit(struct app *app, void *state, int rows, int columns)
{
	struct text_state *v = state;
	lay_out(v, columns);
	v->list.rows = MAX(rows - 1, 1);
	uint64_t last =
	        v->list.count > (uint64_t)v->list.rows ? v->list.count - v->list.rows : 0;
	v->list.cursor = v->list.top = MIN(v->list.cursor, last);
}

/* Draw "… more" if text remains below the `shown` lines. */
static void draw_more(const struct text_state *v, struct pane p, int shown)
{
	if (v->list.top + (uint64_t)shown < v->list.count)
		pane_text(p, p.rows - 1, p.columns - 8, STYLE_DIM, "… more");
}

static void text_draw(const struct app *app, const void *state, struct pane p)
{
	const struct text_state *v = state;
	if (app->text_title)
		pane_text(p, 0, 1, STYLE_HEADING, app->text_title);
	for (int r = 1; r < p.rows && v->list.top + r - 1 < v->list.count; r++)
		pane_text(p, r, 1, STYLE_TEXT, v->lines[v->list.top + r - 1]);
	draw_more(v, p, p.rows - 1);
}

static bool text_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct text_state *v = state;
	if (request == REQUEST_ENTER)
		return app_leave(app);
	return list_request(&v->list, request, count);
}

static void text_copy(const struct app *app, const void *state, GString *out)
{
	g_string_append(out, app->text->str);
}

const struct view_ops text_view = {
	.title = "Answer",
	.open = text_open,
	.close = text_close,
	.show = text_show,
	.fit = text_fit,
	.draw = text_draw,
	.request = text_request,
	.copy = text_copy,
};

/* -- help --------------------------------------------------------------------------- */

/* The view to explain: the one below. */
static enum view_kind asked_about(const struct app *app)
{
	return app->depth > 1 ? app->stack[app->depth - 2] : VIEW_FINDINGS;
}

static void append_requests(const struct app *app, enum view_kind view, bool common,
                            GString *out)
{
	for (int r = 1; r < REQUEST_COUNT; r++) {
		const struct request_info *info = &request_table[r];
		bool is_common = (info->views | IN_ORDER) == ANYWHERE;
		bool is_lesson = r >= REQUEST_LESSON_ON && r <= REQUEST_LESSON_RECORD;
		if (!(info->views & 1u << view) || is_common != common ||
		    (is_lesson && app->guide == NULL))
			continue;
		g_autoptr(GString) keys = g_string_new(NULL);
		bindings_keys(&app->bindings, (enum request)r, keys);
		g_string_append_printf(out, "  %s\t%s\n", keys->str, info->help);
	}
}

static void help_show(struct app *app, void *state)
{
	enum view_kind view = asked_about(app);
	g_autoptr(GString) text = g_string_new(NULL);
	g_string_append_printf(text, "In %s (a number before a key repeats it: 10n)\n",
	                       app->views[view]->title);
	append_requests(app, view, false, text);
	g_string_append(text, "\nEverywhere\n");
	append_requests(app, view, true, text);
	g_string_append(
	        text,
	        "\nSigns: ✓ race, with a witness that was checked   ✗ proved impossible   "
	        "? undecided\n       · candidate   – not seen   … not asked yet   "
	        "● happened in this run\n"
	        "       ░ inside of code that was not recorded\n\nCommands: `:help` lists "
	        "them.\n");
	set_text(state, text->str);
}

static void help_draw(const struct app *app, const void *state, struct pane p)
{
	const struct text_state *v = state;
	for (int r = 0; r < p.rows && v->list.top + r < v->list.count; r++) {
		const char *text = v->lines[v->list.top + r];
		if (g_str_has_prefix(text, "  ") && (int)strlen(text) > v->left) {
			g_autofree char *keys = g_strndup(text, v->left);
			pane_text(p, r, 0, STYLE_KEY, keys);
			pane_text(p, r, v->left, STYLE_TEXT, text + v->left);
		} else {
			pane_text(p, r, 1, *text == ' ' ? STYLE_TEXT : STYLE_HEADING, text);
		}
	}
	draw_more(v, p, p.rows);
}

static bool help_request(struct app *app, void *state, enum request request, uint64_t count)
{
	if (request == REQUEST_HELP)
		return app_leave(app);
	return text_request(app, state, request, count);
}

static void help_fit(struct app *app, void *state, int rows, int columns)
{
	text_fit(app, state, rows + 1, columns);
}

const struct view_ops help_view = {
	.title = "Keys",
	.open = text_open,
	.close = text_close,
	.show = help_show,
	.fit = help_fit,
	.draw = help_draw,
	.request = help_request,
};
