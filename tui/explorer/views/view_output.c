/*
 * view_output.c - programs that run beside the screen (output.h): the result, then the
 * output, of two runs beside each other; below, the source of the place in the selected line.
 */
#include "tui/explorer/output.h"
#include "tui/explorer/messages.h"

#include "engine/base/editor.h"

#include <inttypes.h>
#include <string.h>

enum { HEAD_ROWS = 2, SOURCE_ROWS = 7, SOURCE_FROM = 18 };

struct line {
	char *texts[2]; /* owned; [1]: the second side's, or NULL */
	enum style style;
	char *file; /* owned: file of a place in it, or NULL */
	unsigned number;
};
struct output_view {
	struct list list;
	GArray *lines; /* struct line */
	GRegex *place;
	guint revision;
	const struct output *of;
	int columns;
	bool at_end; /* the cursor follows the output */
};

static void line_clear(void *data)
{
	struct line *line = data;
	g_free(line->texts[0]);
	g_free(line->texts[1]);
	g_free(line->file);
}

static void *output_open(struct app *app)
{
	struct output_view *v = g_new0(struct output_view, 1);
	v->lines = g_array_new(FALSE, FALSE, sizeof(struct line));
	g_array_set_clear_func(v->lines, line_clear);
	v->place = g_regex_new("([^\\s:()\\[\\]\"'<>,]+\\.[A-Za-z][A-Za-z0-9+]*):([1-9][0-9]*)",
	                       G_REGEX_OPTIMIZE, 0, NULL);
	return v;
}

static void output_close(void *state)
{
	struct output_view *v = state;
	g_array_unref(v->lines);
	g_regex_unref(v->place);
	g_free(v);
}

/* -- lines ---------------------------------------------------------------------------------- */

/* A line as a screen shows it: tabs as blanks, a progress bar in its last state. */
static char *clean(const char *text)
{
	const char *last = strrchr(text, '\r');
	GString *out = g_string_new(NULL);
	if (last && last[1] == '\0') {
		g_autofree char *cut = g_strndup(text, (gsize)(last - text));
		g_string_free(out, TRUE);
		return clean(cut);
	}
	for (const char *p = last ? last + 1 : text; *p;) {
		gsize length = strcspn(p, "\t");
		append_escaped(out, p, length);
		p += length;
		if (*p == '\t') {
			g_string_append_printf(out, "%*s", 8 - text_columns(out->str) % 8, "");
			p++;
		}
	}
	return g_string_free(out, FALSE);
}

static void find_place(const struct output_view *v, struct line *line)
{
	GMatchInfo *match;
	for (int i = 0; i < 2 && line->file == NULL && line->texts[i]; i++) {
		if (g_regex_match(v->place, line->texts[i], 0, &match)) {
			g_autofree char *number = g_match_info_fetch(match, 2);
			line->file = g_match_info_fetch(match, 1);
			line->number = (unsigned)g_ascii_strtoull(number, NULL, 10);
		}
		g_match_info_free(match);
	}
}

/* Pieces of at most `width` columns, broken at a blank where one is near; owned by the caller.
 */
static GPtrArray *pieces(const char *text, int width)
{
	GPtrArray *all = g_ptr_array_new();
	GString *piece = g_string_new(NULL);
	int columns = 0;
	while (*text) {
		struct drawn d = text_next(text);
		if (columns + d.columns > width) {
			const char *blank = strrchr(piece->str, ' ');
			gsize end = blank ? (gsize)(blank - piece->str) : 0;
			if (end < piece->len / 2) /* no blank near the end */
				end = piece->len;
			g_ptr_array_add(all, g_strndup(piece->str, end));
			g_string_erase(piece, 0, (gssize)MIN(end + 1, piece->len));
			columns = text_columns(piece->str);
		}
		g_string_append_len(piece, text, (gssize)d.bytes);
		columns += d.columns;
		text += d.bytes;
	}
	g_ptr_array_add(all, g_string_free(piece, FALSE));
	return all;
}

static bool is_ours(const char *text)
{
	return g_str_has_prefix(text, "heddle:") || g_str_has_prefix(text, "    #");
}

static enum style style_of(const char *text)
{
	return is_ours(text) || *text == '$' ? STYLE_DIM
	       : strstr(text, "error")       ? STYLE_ERROR
	                                     : STYLE_TEXT;
}

/* Adds the two texts (the second may be NULL) as rows; all pieces of a line have its place. */
static void add_line(struct output_view *v, const char *left, const char *right, int width,
                     enum style style)
{
	struct line whole = { { (char *)left, (char *)right }, style, NULL, 0 };
	if (*left != '$') /* a command is no message */
		find_place(v, &whole);
	g_autoptr(GPtrArray) a = pieces(left, width), b = right ? pieces(right, width) : NULL;
	for (guint i = 0; i < MAX(a->len, b ? b->len : 0); i++) {
		struct line line = { .style = style, .number = whole.number };
		line.texts[0] = g_strdup(i < a->len ? a->pdata[i] : "");
		line.texts[1] = b ? g_strdup(i < b->len ? b->pdata[i] : "") : NULL;
		line.file = g_strdup(whole.file);
		g_array_append_val(v->lines, line);
	}
	g_ptr_array_set_free_func(a, g_free);
	if (b)
		g_ptr_array_set_free_func(b, g_free);
	g_free(whole.file);
}

/* The beginning of replay's warnings about standard output and error, which are pipes of the
 * explorer's here. */
static const char our_pipes[] = "heddle: standard ";

static char **lines_of(const GString *text)
{
	char **lines = g_strsplit(text->str, "\n", -1);
	guint count = g_strv_length(lines);
	if (count && *lines[count - 1] == '\0') {
		g_free(lines[count - 1]);
		lines[count - 1] = NULL;
	}
	guint kept = 0;
	for (char **line = lines; *line; line++) {
		char *given = *line;
		if (!g_str_has_prefix(given, our_pipes))
			lines[kept++] = clean(given);
		g_free(given);
	}
	lines[kept] = NULL;
	return lines;
}

static void lay_out(struct output_view *v, const struct output *o, int columns)
{
	g_auto(GStrv) result = lines_of(o->result), a = lines_of(o->sides[0].text),
	              b = o->count > 1 ? lines_of(o->sides[1].text) : NULL;
	guint in_a = g_strv_length(a), in_b = b ? g_strv_length(b) : 0;
	int width = MAX(b ? (columns - 3) / 2 : columns - 2, 8);
	g_array_set_size(v->lines, 0);
	for (char **line = result; *line; line++)
		add_line(v, *line, NULL, columns - 2,
		         **line == ' ' ? STYLE_TEXT : STYLE_HEADING);
	if (v->lines->len)
		add_line(v, "", b ? "" : NULL, width, STYLE_TEXT);
	for (guint i = 0; i < MAX(in_a, in_b); i++) {
		const char *left = i < in_a ? a[i] : "", *right = i < in_b ? b[i] : "";
		add_line(v, left, b ? right : NULL, width, b ? STYLE_TEXT : style_of(left));
	}
}

static const struct line *line_at(const struct output_view *v, uint64_t i)
{
	return i < v->lines->len ? &g_array_index(v->lines, struct line, i) : NULL;
}

static const struct source_file *file_of(const struct app *app, const struct line *line)
{
	const struct source_file *file =
	        line && line->file ? sources_get((struct sources *)&app->sources, line->file)
	                           : NULL;
	return file && file->lines && line->number <= file->lines->len ? file : NULL;
}

/* The next line, from `from` on, with a place in a file that exists; or NONE. */
static uint32_t next_place(const struct app *app, const struct output_view *v, uint64_t from,
                           int direction, bool errors)
{
	for (uint64_t i = from; i < v->lines->len; i += (uint64_t)(int64_t)direction) {
		const struct line *line = line_at(v, i);
		if (file_of(app, line) && (!errors || line->style == STYLE_ERROR))
			return (uint32_t)i;
	}
	return NONE;
}

/* While it runs, the cursor is at the end; then at the first error, else the first place. */
static void place_cursor(const struct app *app, struct output_view *v, const struct output *o)
{
	if (o->running) {
		v->list.cursor = v->lines->len ? v->lines->len - 1 : 0;
		return;
	}
	uint32_t at = o->failed ? next_place(app, v, 0, 1, true) : NONE;
	if (at == NONE)
		at = next_place(app, v, 0, 1, false);
	v->list.cursor = at != NONE ? at : 0;
	v->list.top = 0;
}

static int source_rows(int rows)
{
	return rows >= SOURCE_FROM ? SOURCE_ROWS : 0;
}

static void output_fit(struct app *app, void *state, int rows, int columns)
{
	struct output_view *v = state;
	const struct output *o = app->output;
	if (o == NULL)
		return;
	bool news = v->revision != o->revision || v->of != o;
	if (news || v->columns != columns) {
		lay_out(v, o, columns);
		v->columns = columns;
	}
	if (news)
		place_cursor(app, v, o);
	v->revision = o->revision;
	v->of = o;
	list_fit(&v->list, v->lines->len, MAX(rows - HEAD_ROWS - source_rows(rows), 1));
}

/* -- drawing -------------------------------------------------------------------------------- */

static void draw_end(struct pane p, int row, const struct output_side *side, bool running)
{
	g_autoptr(GString) text = g_string_new(side->title ? side->title : "");
	g_string_append_printf(text, "%s%s", text->len ? ": " : "",
	                       side->end ? side->end
	                       : running ? "runs"
	                                 : "not run");
	pane_text(p, row, 1, side->end && side->failed ? STYLE_ERROR : STYLE_KEY, text->str);
}

static void draw_place(const struct app *app, const struct line *line, struct pane p)
{
	const struct source_file *file = file_of(app, line);
	char title[256];
	if (file)
		g_snprintf(title, sizeof title, " %s:%u ", line->file, line->number);
	pane_rule(p, 0, file ? title : NULL);
	for (int r = 1; file && r < p.rows; r++) {
		int64_t number = (int64_t)line->number - (p.rows - 1) / 2 + r - 1;
		if (number < 1 || number > file->lines->len)
			continue;
		bool here = number == line->number;
		pane_format(p, r, 1, here ? STYLE_HERE : STYLE_TEXT, "%s%5" PRId64 "  %s",
		            here ? "▸" : " ", number, (char *)file->lines->pdata[number - 1]);
	}
}

static void output_draw(const struct app *app, const void *state, struct pane p)
{
	const struct output_view *v = state;
	const struct output *o = app->output;
	if (o == NULL) {
		pane_paragraph(
		        p, 1, 1, STYLE_TEXT,
		        "Nothing has been run yet. `c` on a finding runs both orders of it, in "
		        "the trace the recorded schedule; `:rebuild COMMAND` builds the program "
		        "anew, records it again and compares.");
		return;
	}
	int source = source_rows(p.rows), half = 0;
	if (o->count > 1)
		half = split_at(app, SPLIT_OUTPUT, p.columns, (p.columns - 1) / 2, 12, 12);
	pane_text(p, 0, 1, STYLE_HEADING, o->title);
	draw_end(half ? pane_part(p, 1, 0, 1, half) : p, half ? 0 : 1, &o->sides[0],
	         o->running);
	if (half)
		draw_end(pane_part(p, 1, half + 1, 1, -1), 0, &o->sides[1], o->running);
	struct pane body = pane_part(p, HEAD_ROWS, 0, p.rows - HEAD_ROWS - source, -1);
	if (half)
		split_border(body, SPLIT_OUTPUT, half, true);
	for (int r = 0; r < body.rows && v->list.top + (uint64_t)r < v->lines->len; r++) {
		const struct line *line = line_at(v, v->list.top + (uint64_t)r);
		bool two = half && line->texts[1];
		pane_text(two ? pane_part(body, r, 0, 1, half) : body, two ? 0 : r, 1,
		          two ? style_of(line->texts[0]) : line->style, line->texts[0]);
		if (two) {
			pane_rune(body, r, half, STYLE_DIM, 0x2502);
			pane_text(pane_part(body, r, half + 1, 1, -1), 0, 1,
			          style_of(line->texts[1]), line->texts[1]);
		}
		if (v->list.top + (uint64_t)r == v->list.cursor)
			pane_highlight(body, r, ATTR_REVERSE);
	}
	if (source)
		draw_place(app, line_at(v, v->list.cursor),
		           pane_part(p, p.rows - source, 0, source, -1));
}

/* -- keys ----------------------------------------------------------------------------------- */

static void edit_place(struct app *app, const struct output_view *v)
{
	const struct line *line = line_at(v, v->list.cursor);
	const struct source_file *file = file_of(app, line);
	if (file == NULL) {
		app_say(app, SAYS_NO_PLACE_IN_LINE);
		return;
	}
	app_run_after(app, editor_words(file->path, line->number));
	app->after_is_heddle = true; /* no message around it */
}

static void step_place(struct app *app, struct output_view *v, int direction)
{
	uint32_t at = next_place(app, v, v->list.cursor + (uint64_t)(int64_t)direction,
	                         direction, false);
	if (at == NONE)
		app_say(app, SAYS_NO_OTHER_PLACE);
	else
		v->list.cursor = at;
}

static void open_recording(struct app *app)
{
	if (app->output == NULL || app->output->trace == NULL) {
		app_say(app, SAYS_NO_RECORDING);
		return;
	}
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	app_run_after(app, output_words(self ? self : "heddle", "open", "--",
	                                app->output->trace, NULL));
	app->after_is_heddle = true;
}

static bool output_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct output_view *v = state;
	switch (request) {
	case REQUEST_NEXT:
	case REQUEST_PREVIOUS:
		step_place(app, v, request == REQUEST_NEXT ? 1 : -1);
		return true;
	case REQUEST_VISUAL:
		edit_place(app, v);
		return true;
	case REQUEST_ENTER:
		open_recording(app);
		return true;
	default:
		return list_request(&v->list, request, count);
	}
}

static bool output_offers(const struct app *app, const void *state, enum request request)
{
	const struct output_view *v = state;
	if (request == REQUEST_VISUAL)
		return file_of(app, line_at(v, v->list.cursor)) != NULL;
	return true;
}

static void output_select(struct app *app, void *state, int row, int column, bool again)
{
	struct output_view *v = state;
	if (row >= HEAD_ROWS && row - HEAD_ROWS < v->list.rows &&
	    v->list.top + (uint64_t)(row - HEAD_ROWS) < v->lines->len)
		v->list.cursor = v->list.top + (uint64_t)(row - HEAD_ROWS);
	if (again)
		edit_place(app, v);
}

static void output_copy(const struct app *app, const void *state, GString *out)
{
	const struct output_view *v = state;
	const struct line *line = line_at(v, v->list.cursor);
	if (line)
		g_string_append_printf(out, "%s%s%s", line->texts[0],
		                       line->texts[1] ? " | " : "",
		                       line->texts[1] ? line->texts[1] : "");
}

const struct view_ops output_view = {
	.title = "Output",
	.open = output_open,
	.close = output_close,
	.fit = output_fit,
	.draw = output_draw,
	.request = output_request,
	.offers = output_offers,
	.select = output_select,
	.copy = output_copy,
};
