/*
 * prose.c - see prose.h.
 */
#include "tui/explorer/words/prose.h"

#include "tui/explorer/words/chain.h"

#include <string.h>

enum {
	MARGIN = 2,
	WIDEST = 110
}; /* columns: one at each side; longer lines are hard to read */

static void row_clear(void *data)
{
	struct prose_row *row = data;
	g_free(row->gutter);
	g_free(row->text);
}

GArray *prose_new(void)
{
	GArray *prose = g_array_new(FALSE, FALSE, sizeof(struct prose_row));
	g_array_set_clear_func(prose, row_clear);
	return prose;
}

static const struct prose_row *row_at(const GArray *prose, uint64_t i)
{
	return &g_array_index(prose, struct prose_row, i);
}

void prose_add(GArray *prose, enum style style, uint32_t event, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	struct prose_row row = { style, NULL, g_strdup_vprintf(format, ap), event };
	va_end(ap);
	g_array_append_val(prose, row);
}

/* Steps of a proof or a path, each on its own. */
static void prose_add_steps(GArray *prose, const struct session *s, const GArray *steps)
{
	for (guint i = 0; i < steps->len; i++) {
		const struct step *step = &g_array_index(steps, struct step, i);
		g_autoptr(GString) text = g_string_new(NULL);
		describe_step(s, step, text);
		prose_add(prose, STYLE_TEXT, step->to, "  %s", text->str);
	}
}

void prose_add_chain(GArray *prose, const struct session *s, const GArray *steps, int columns)
{
	g_autoptr(GArray) rows = chain_rows(s, steps, columns);
	if (rows == NULL) {
		prose_add_steps(prose, s, steps);
		return;
	}
	for (guint i = 0; i < rows->len; i++) {
		struct chain_row *row = &g_array_index(rows, struct chain_row, i);
		struct prose_row added = { row->is_event ? STYLE_TEXT
			                   : row->across ? STYLE_KEY
			                                 : STYLE_DIM,
			                   g_strdup(row->gutter), g_strdup(row->text),
			                   row->event };
		g_array_append_val(prose, added);
	}
}

/* A closure's cycle in lanes, or a solver's core as constraints. */
void prose_add_proof(GArray *prose, const struct session *s, const struct proof *proof,
                     int columns, const char *needs)
{
	const GArray *steps = proof ? proof->cycle.steps : NULL;
	if (steps == NULL || steps->len == 0)
		return;
	prose_add(prose, STYLE_TEXT, NONE, "%s would need all of this:", needs);
	if (chain_is_ring(steps)) {
		uint32_t first = g_array_index(steps, struct step, 0).from;
		prose_add_chain(prose, s, steps, columns);
		prose_add(prose, STYLE_NONE, first, "and so %u before itself: a circle.",
		          first);
	} else {
		prose_add_steps(prose, s, steps);
		prose_add(prose, STYLE_NONE, NONE,
		          "and that goes round in a circle, or contradicts itself.");
	}
}

/* -- on the screen ------------------------------------------------------------------- */

static int indent_of(const struct prose_row *row)
{
	int blanks = (int)strspn(row->text, " ");
	return blanks + (row->gutter ? 1 + text_columns(row->gutter) : 0);
}

/* Width of a number such as "12. ", the indentation of further lines. */
static int hang_of(const char *text)
{
	int digits = (int)strspn(text, "0123456789");
	return digits && text[digits] == '.' && text[digits + 1] == ' ' ? digits + 2 : 0;
}

static void append_lines(const struct prose_row *row, int columns, GString *out)
{
	const char *text = row->text + strspn(row->text, " ");
	int hang = hang_of(text);
	g_string_append_len(out, text, hang);
	append_wrapped(out, text + hang, hang,
	               MAX(MIN(columns, WIDEST) - indent_of(row), hang + 8));
}

static int height_of(const struct prose_row *row, int columns)
{
	int height = 0;
	g_autoptr(GString) text = g_string_new(NULL);
	append_lines(row, columns, text);
	for (const char *c = text->str; *c; c++)
		height += *c == '\n';
	return height;
}

void prose_fit(const GArray *prose, struct list *l, int rows, int columns)
{
	list_fit(l, prose->len, rows);
	if (prose->len == 0)
		return;
	int above = 0;
	uint64_t top = l->cursor;
	for (;; top--) { /* leave as many rows above the cursor as fit */
		above += height_of(row_at(prose, top), columns - MARGIN);
		if (top == 0 || above > rows)
			break;
	}
	if (above > rows)
		top = MIN(top + 1, l->cursor);
	l->top = MAX(l->top, top);
}

static int draw_row(const struct prose_row *row, struct pane p, int at)
{
	g_autoptr(GString) text = g_string_new(NULL);
	append_lines(row, p.columns - MARGIN, text);
	if (row->gutter)
		pane_text(p, at, 2, STYLE_TEXT, row->gutter);
	g_auto(GStrv) lines = g_strsplit(g_strchomp(text->str), "\n", -1);
	for (char **line = lines; *line; line++)
		pane_text(p, at++, 1 + indent_of(row), row->style, *line);
	at += lines[0] == NULL; /* an empty paragraph has one line */
	return at;
}

void prose_draw(const GArray *prose, const struct list *l, struct pane p)
{
	int row = 0;
	uint64_t i = l->top;
	for (; row < p.rows && i < prose->len; i++) {
		int first = row;
		row = draw_row(row_at(prose, i), p, row);
		if (i == l->cursor)
			pane_highlight(p, first, ATTR_REVERSE);
	}
	if (i < prose->len || row > p.rows)
		pane_text(p, p.rows - 1, p.columns - 8, STYLE_DIM, "… more");
}

void prose_select(const GArray *prose, struct list *l, int row, int columns)
{
	for (uint64_t i = l->top; i < prose->len && row >= 0; i++) {
		row -= height_of(row_at(prose, i), columns - MARGIN);
		if (row < 0)
			l->cursor = i;
	}
}

/* The event of the paragraph under the cursor, or NONE. */
static uint32_t prose_event(const GArray *prose, const struct list *l)
{
	return prose->len ? row_at(prose, l->cursor)->event : NONE;
}

/* -- as text ------------------------------------------------------------------------ */

static void append_ascii(const char *text, GString *out)
{
	while (*text) {
		struct drawn c = text_next(text);
		if (c.rune == 0)
			g_string_append(out, c.escape);
		else
			g_string_append_c(
			        out, (char)(c.rune < 0x80 ? c.rune : rune_to_ascii(c.rune)));
		text += c.bytes;
	}
}

static void print_row(const struct prose_row *row, int columns, GString *out)
{
	int blanks = (int)strspn(row->text, " "), indent = indent_of(row);
	const char *text = row->text + blanks;
	int hang = hang_of(text);
	g_autoptr(GString) line = g_string_new(NULL);
	if (row->gutter)
		g_string_append_printf(line, "%s ", row->gutter);
	g_string_append_printf(line, "%*s", *text ? blanks : 0, "");
	g_string_append_len(line, text, hang);
	append_wrapped(line, text + hang, indent + hang, MAX(columns, indent + hang + 20));
	g_string_append(out, g_strchomp(line->str)); /* no trailing blanks */
	g_string_append_c(out, '\n');
}

void prose_print(const GArray *prose, int columns, bool ascii, GString *out)
{
	g_autoptr(GString) page = g_string_new(NULL);
	for (guint i = 0; i < prose->len; i++)
		print_row(row_at(prose, i), columns, page);
	if (ascii) {
		g_auto(GStrv) lines = g_strsplit(page->str, "\n", -1);
		for (char **line = lines; *line; line++) {
			append_ascii(*line, out);
			g_string_append(out, line[1] ? "\n" : "");
		}
	} else {
		g_string_append_len(out, page->str, (gssize)page->len);
	}
}

bool prose_request(struct app *app, const GArray *prose, struct list *list,
                   enum request request, uint64_t count)
{
	uint32_t event;

	switch (request) {
	case REQUEST_ENTER:
		event = prose_event(prose, list);
		if (event != NONE) {
			app_go(app, VIEW_TRACE);
			app_goto(app, event, false);
		}
		return true;
	default:
		return list_request(list, request, count);
	}
}
