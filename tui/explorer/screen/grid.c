/*
 * grid.c - cells, panes and text: see grid.h.
 */
#include "tui/explorer/screen/grid.h"

#include <string.h>
#include <wchar.h>

const struct style_info style_table[STYLE_COUNT] = {
#define STYLE(name, word, letter, colour, basic, attributes) \
	{ word, letter, colour, basic, attributes },
#include "tui/explorer/styles.def"
#undef STYLE
};

/* Symbols used by the explorer with ASCII replacements, one column each. */
static const struct {
	uint32_t rune;
	char ascii;
} stand_ins[] = {
	{ 0x2500, '-' }, { 0x2501, '=' }, { 0x2502, '|' },  { 0x2503, '|' }, { 0x250c, '+' },
	{ 0x2510, '+' }, { 0x2513, '+' }, { 0x2514, '+' },  { 0x2518, '+' }, { 0x251b, '+' },
	{ 0x250f, '+' }, { 0x2517, '+' }, { 0x251c, '+' },  { 0x2524, '+' }, { 0x252c, '+' },
	{ 0x2534, '+' }, { 0x253c, '+' }, { 0x2190, '=' },  { 0x2191, '^' }, { 0x2192, '>' },
	{ 0x2193, 'v' }, { 0x21c4, '~' }, { 0x21e2, '>' },  { 0x25b8, '>' }, { 0x25c2, '<' },
	{ 0x25b2, '^' }, { 0x25bc, 'v' }, { 0x25cf, '*' },  { 0x25cb, 'o' }, { 0x2713, '+' },
	{ 0x2717, 'x' }, { 0x00b7, '.' }, { 0x2026, '~' },  { 0x27e8, '<' }, { 0x27e9, '>' },
	{ 0x2013, '-' }, { 0x2014, '-' }, { 0x2591, ':' },  { 0x2588, '#' }, { 0x2260, '!' },
	{ 0x201c, '"' }, { 0x201d, '"' }, { 0x2019, '\'' }, { 0x2605, '*' }, { 0x25c6, '@' },
};

uint32_t rune_to_ascii(uint32_t rune)
{
	if (rune < 0x7f)
		return rune;
	for (size_t i = 0; i < G_N_ELEMENTS(stand_ins); i++)
		if (stand_ins[i].rune == rune)
			return stand_ins[i].ascii;
	return '?';
}

/* -- the grid ----------------------------------------------------------------------- */

void grid_init(struct grid *grid, int rows, int columns, bool ascii)
{
	*grid = (struct grid){ .ascii = ascii };
	grid_resize(grid, rows, columns);
}

void grid_release(struct grid *grid)
{
	g_free(grid->cells);
	grid->cells = NULL;
}

void grid_resize(struct grid *grid, int rows, int columns)
{
	grid->rows = MAX(rows, 1);
	grid->columns = MAX(columns, 1);
	grid->cells = g_renew(struct cell, grid->cells, (gsize)grid->rows * grid->columns);
	grid_clear(grid);
}

void grid_clear(struct grid *grid)
{
	for (int i = 0; i < grid->rows * grid->columns; i++)
		grid->cells[i] = (struct cell){ .rune = ' ', .style = STYLE_TEXT };
	grid->cursor_row = grid->cursor_column = -1;
	grid->border_count = 0;
}

static void dump_styles(const struct grid *grid, int row, GString *out)
{
	for (int c = 0; c < grid->columns; c++) {
		const struct cell *cell = grid_at(grid, row, c);
		char letter = style_table[cell->style].letter;
		if (cell->attributes & ATTR_REVERSE)
			letter = letter == '.' ? '*' : letter;
		else if (cell->rune == ' ')
			letter = ' ';
		g_string_append_c(out, letter);
	}
}

static void trim_line(GString *out, gsize begin)
{
	while (out->len > begin && out->str[out->len - 1] == ' ')
		g_string_truncate(out, out->len - 1);
	g_string_append_c(out, '\n');
}

void grid_dump(const struct grid *grid, bool styles, GString *out)
{
	for (int r = 0; r < grid->rows; r++) {
		gsize begin = out->len;
		for (int c = 0; c < grid->columns; c++)
			if (grid_at(grid, r, c)->rune)
				g_string_append_unichar(out, grid_at(grid, r, c)->rune);
		trim_line(out, begin);
	}
	for (int r = 0; styles && r < grid->rows; r++) {
		if (r == 0)
			g_string_append(out, "-- styles\n");
		gsize begin = out->len;
		dump_styles(grid, r, out);
		trim_line(out, begin);
	}
}

/* -- panes -------------------------------------------------------------------------- */

struct pane pane_whole(struct grid *grid)
{
	return (struct pane){ grid, 0, 0, grid->rows, grid->columns };
}

struct pane pane_part(struct pane p, int row, int column, int rows, int columns)
{
	row = CLAMP(row, 0, MAX(p.rows, 0));
	column = CLAMP(column, 0, MAX(p.columns, 0));
	if (rows < 0 || rows > p.rows - row)
		rows = p.rows - row;
	if (columns < 0 || columns > p.columns - column)
		columns = p.columns - column;
	return (struct pane){ p.grid, p.row + row, p.column + column, rows, columns };
}

void pane_rune(struct pane p, int row, int column, enum style style, uint32_t rune)
{
	if (row < 0 || row >= p.rows || column < 0 || column >= p.columns)
		return;
	struct cell *cell = grid_at(p.grid, p.row + row, p.column + column);
	cell->rune = p.grid->ascii ? rune_to_ascii(rune) : rune;
	cell->style = style;
}

static void put_drawn(struct pane p, int row, int column, enum style style,
                      const struct drawn *d)
{
	if (d->rune == 0) {
		for (int i = 0; i < d->columns; i++)
			pane_rune(p, row, column + i, style, d->escape[i]);
		return;
	}
	if (d->columns == 0)
		return;
	if (d->columns == 2 && p.grid->ascii) {
		pane_rune(p, row, column, style, '?');
		pane_rune(p, row, column + 1, style, '?');
		return;
	}
	pane_rune(p, row, column, style, d->rune);
	if (d->columns == 2 && row >= 0 && row < p.rows && column + 1 < p.columns)
		*grid_at(p.grid, p.row + row, p.column + column + 1) =
		        (struct cell){ .rune = 0, .style = style };
}

int pane_text(struct pane p, int row, int column, enum style style, const char *text)
{
	while (*text) {
		struct drawn d = text_next(text);
		if (column + d.columns > p.columns) {
			if (column <= p.columns && p.columns > 0)
				pane_rune(p, row, MIN(column, p.columns - 1), style, 0x2026);
			return p.columns + 1;
		}
		put_drawn(p, row, column, style, &d);
		column += d.columns;
		text += d.bytes;
	}
	return column;
}

int pane_format(struct pane p, int row, int column, enum style style, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_autofree char *text = g_strdup_vprintf(format, ap);
	va_end(ap);
	column = pane_text(p, row, column, style, text);
	return column;
}

int pane_field(struct pane p, int row, int column, int width, enum style style,
               const char *text)
{
	pane_text(pane_part(p, row, column, 1, MAX(width, 0)), 0, 0, style, text);
	return column + width;
}

int pane_field_right(struct pane p, int row, int column, int width, enum style style,
                     const char *text)
{
	int blank = width - text_columns(text);
	pane_field(p, row, column + MAX(blank, 0), width - MAX(blank, 0), style, text);
	return column + width;
}

void pane_rule(struct pane p, int row, const char *title)
{
	for (int c = 0; c < p.columns; c++)
		pane_rune(p, row, c, STYLE_RULE, 0x2500);
	if (title && *title) {
		g_autofree char *spaced = g_strdup_printf(" %s ", title);
		pane_text(p, row, 2, STYLE_HEADING, spaced);
	}
}

void pane_bar(struct pane p, int column)
{
	for (int r = 0; r < p.rows; r++)
		pane_rune(p, r, column, STYLE_RULE, 0x2502);
}

void pane_highlight(struct pane p, int row, enum attribute attribute)
{
	for (int c = 0; row >= 0 && row < p.rows && c < p.columns; c++)
		grid_at(p.grid, p.row + row, p.column + c)->attributes |= attribute;
}

int pane_paragraph(struct pane p, int row, int column, enum style style, const char *text)
{
	int at = column;
	while (*text) {
		if (*text == '\n') {
			row++;
			at = column;
			text++;
			continue;
		}
		gsize length = strcspn(text, " \n");
		g_autofree char *word = g_strndup(text, length);
		int width = text_columns(word);
		if (at > column && at + width > p.columns) {
			row++;
			at = column;
		}
		at = pane_text(p, row, at, style, word);
		text += length;
		while (*text == ' ') {
			text++;
			at++;
		}
	}
	return row + 1;
}

void list_fit(struct list *l, uint64_t count, int rows)
{
	l->count = count;
	l->rows = MAX(rows, 1);
	if (count == 0) {
		l->cursor = l->top = 0;
		return;
	}
	l->cursor = MIN(l->cursor, count - 1);
	if (l->cursor < l->top)
		l->top = l->cursor;
	if (l->cursor >= l->top + l->rows)
		l->top = l->cursor - l->rows + 1;
	uint64_t last_top = count > (uint64_t)l->rows ? count - l->rows : 0;
	l->top = MIN(l->top, last_top);
}
