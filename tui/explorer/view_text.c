/*
 * view_text.c - two views of lines: what a command printed, and the keys of a view.
 */
#include "tui/explorer/app.h"

#include "tui/explorer/command_line.h"

#include <string.h>

struct text_state {
	struct list list; /* its cursor is the top line */
	char **lines;     /* NULL-terminated, owned */
};

static void *text_open(struct app *app)
{
	return g_new0(struct text_state, 1);
}

static void text_close(void *state)
{
	struct text_state *v = state;
	g_strfreev(v->lines);
	g_free(v);
}

static void set_lines(struct text_state *v, const char *text)
{
	g_strfreev(v->lines);
	v->lines = g_strsplit(text, "\n", -1);
	guint count = g_strv_length(v->lines);
	while (count && *v->lines[count - 1] == '\0')
		count--;
	v->list.count = count;
	v->list.cursor = v->list.top = 0;
}

static void text_show(struct app *app, void *state)
{
	set_lines(state, app->text->str);
}

static void text_fit(struct app *app, void *state, int rows, int columns)
{
	struct text_state *v = state;
	v->list.rows = MAX(rows - 1, 1);
	uint64_t last =
	        v->list.count > (uint64_t)v->list.rows ? v->list.count - v->list.rows : 0;
	v->list.cursor = v->list.top = MIN(v->list.cursor, last);
}

static void text_draw(const struct app *app, const void *state, struct pane p)
{
	const struct text_state *v = state;
	if (app->text_title)
		pane_text(p, 0, 1, STYLE_HEADING, app->text_title);
	for (int r = 1; r < p.rows && v->list.top + r - 1 < v->list.count; r++)
		pane_text(p, r, 1, STYLE_TEXT, v->lines[v->list.top + r - 1]);
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

/* The view that help is about: the one below it. */
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
		if (!(info->views & 1u << view) || is_common != common)
			continue;
		GString *keys = g_string_new(NULL);
		bindings_keys(&app->bindings, (enum request)r, keys);
		g_string_append_printf(out, "  %-16s ", keys->str);
		append_wrapped(out, info->help, 19, app->grid.columns - 2);
		g_string_free(keys, TRUE);
	}
}

static void help_show(struct app *app, void *state)
{
	enum view_kind view = asked_about(app);
	GString *text = g_string_new(NULL);
	g_string_append_printf(text, "In %s (a number before a key repeats it: 10n)\n",
	                       view_table[view]->title);
	append_requests(app, view, false, text);
	g_string_append(text, "\nEverywhere\n");
	append_requests(app, view, true, text);
	g_string_append(
	        text,
	        "\nSigns: ✓ race, with a witness that was checked   ✗ proved impossible   "
	        "? undecided\n       · candidate   – not seen   … not asked yet   "
	        "● happened in this run\n\nCommands: `:help` lists them.\n");
	set_lines(state, text->str);
	g_string_free(text, TRUE);
}

static void help_draw(const struct app *app, const void *state, struct pane p)
{
	const struct text_state *v = state;
	for (int r = 0; r < p.rows && v->list.top + r < v->list.count; r++) {
		const char *text = v->lines[v->list.top + r];
		if (g_str_has_prefix(text, "  ") && strlen(text) > 19) {
			char *keys = g_strndup(text + 2, 16);
			pane_text(p, r, 2, STYLE_KEY, keys);
			pane_text(p, r, 19, STYLE_TEXT, text + 19);
			g_free(keys);
		} else {
			pane_text(p, r, 1, *text == ' ' ? STYLE_TEXT : STYLE_HEADING, text);
		}
	}
	if (v->list.top + p.rows < v->list.count)
		pane_text(p, p.rows - 1, p.columns - 8, STYLE_DIM, "… more");
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
