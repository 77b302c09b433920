/*
 * grid_svg.c - the screen as a picture: an SVG with its text, colours and attributes, for
 * documents.
 */
#include "tui/explorer/screen/grid.h"

enum { CELL_WIDTH = 8, CELL_HEIGHT = 17, BASELINE = 13, MARGIN = 8 };

static const char ink[] = "#d8d8d8", paper[] = "#16181d";

/* A colour of the terminals' 256: the cube from 16 on, the greys from 232 on. */
static void append_colour(GString *out, int colour)
{
	static const int levels[] = { 0, 95, 135, 175, 215, 255 };
	static const char *const basic[] = { "#000000", "#cd3131", "#0dbc79", "#e5e510",
		                             "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5",
		                             "#666666", "#f14c4c", "#23d18b", "#f5f543",
		                             "#3b8eea", "#d670d6", "#29b8db", "#ffffff" };
	if (colour < 0)
		g_string_append(out, ink);
	else if (colour < 16)
		g_string_append(out, basic[colour]);
	else if (colour < 232)
		g_string_append_printf(out, "#%02x%02x%02x", levels[(colour - 16) / 36],
		                       levels[(colour - 16) / 6 % 6],
		                       levels[(colour - 16) % 6]);
	else
		g_string_append_printf(out, "#%02x%02x%02x", 8 + 10 * (colour - 232),
		                       8 + 10 * (colour - 232), 8 + 10 * (colour - 232));
}

static unsigned attributes_of(const struct cell *cell)
{
	return cell->attributes | style_table[cell->style].attributes;
}

static bool same_look(const struct cell *a, const struct cell *b)
{
	return style_table[a->style].colour == style_table[b->style].colour &&
	       attributes_of(a) == attributes_of(b);
}

static void append_rune(GString *out, uint32_t rune)
{
	if (rune == '&')
		g_string_append(out, "&amp;");
	else if (rune == '<')
		g_string_append(out, "&lt;");
	else if (rune == '>')
		g_string_append(out, "&gt;");
	else
		g_string_append_unichar(out, rune);
}

/* Cells [from, to) of a row, which look the same. */
static void append_run(const struct grid *grid, int row, int from, int to, GString *out)
{
	const struct cell *cell = grid_at(grid, row, from);
	unsigned attributes = attributes_of(cell);
	bool reverse = attributes & ATTR_REVERSE, blank = true;
	int x = MARGIN + from * CELL_WIDTH, y = MARGIN + row * CELL_HEIGHT;
	for (int c = from; c < to; c++)
		blank &= grid_at(grid, row, c)->rune == ' ' || grid_at(grid, row, c)->rune == 0;
	if (reverse) {
		g_string_append_printf(
		        out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"", x, y,
		        (to - from) * CELL_WIDTH, CELL_HEIGHT);
		append_colour(out, style_table[cell->style].colour);
		g_string_append(out, "\"/>\n");
	}
	if (blank)
		return;
	g_string_append_printf(out, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"", x,
	                       y + BASELINE, (to - from) * CELL_WIDTH);
	if (reverse)
		g_string_append(out, paper);
	else
		append_colour(out, style_table[cell->style].colour);
	g_string_append_printf(
	        out, "\"%s%s>", attributes & ATTR_BOLD ? " font-weight=\"bold\"" : "",
	        attributes & ATTR_UNDERLINE ? " text-decoration=\"underline\"" : "");
	for (int c = from; c < to; c++)
		if (grid_at(grid, row, c)->rune)
			append_rune(out, grid_at(grid, row, c)->rune);
	g_string_append(out, "</text>\n");
}

void grid_svg(const struct grid *grid, GString *out)
{
	int width = 2 * MARGIN + grid->columns * CELL_WIDTH;
	int height = 2 * MARGIN + grid->rows * CELL_HEIGHT;
	g_string_append_printf(
	        out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
	        "viewBox=\"0 0 %d %d\" font-family=\"DejaVu Sans Mono, Menlo, "
	        "Consolas, monospace\" font-size=\"13\" xml:space=\"preserve\">\n"
	        "<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"%s\"/>\n",
	        width, height, width, height, width, height, paper);
	for (int r = 0; r < grid->rows; r++) {
		int from = 0;
		for (int c = 1; c <= grid->columns; c++) {
			if (c < grid->columns &&
			    same_look(grid_at(grid, r, from), grid_at(grid, r, c)))
				continue;
			append_run(grid, r, from, c, out);
			from = c;
		}
	}
	g_string_append(out, "</svg>\n");
}
