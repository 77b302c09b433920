/*
 * grid.h - the screen as an array of cells, for views to draw into and tests to read.
 *
 * A cell is a code point, a style (its meaning, styles.def) and attributes. A pane is a
 * rectangle of the grid that clips. Control bytes and invalid UTF-8 become \xHH; with `ascii`
 * every symbol becomes its ASCII replacement. Independent of curses, traces and views.
 */
#ifndef HEDDLE_GRID_H
#define HEDDLE_GRID_H

#include "tui/drawing/columns.h"

enum attribute { ATTR_BOLD = 1, ATTR_REVERSE = 2, ATTR_UNDERLINE = 4 };

enum style {
#define STYLE(name, word, letter, colour, basic, attributes) STYLE_##name,
#include "tui/explorer/styles.def"
#undef STYLE
	STYLE_COUNT
};
struct style_info {
	const char *word;
	char letter;
	short colour, basic; /* colour of 256, of 8; -1: the terminal's default */
	uint8_t attributes;
};
extern const struct style_info style_table[STYLE_COUNT];
static inline enum style style_of_thread(uint32_t thread)
{
	return (enum style)(STYLE_THREAD0 + thread % 8);
}

struct cell {
	uint32_t rune; /* code point; 0: right half of a wide character */
	uint8_t style;
	uint8_t attributes; /* in addition to the style's */
};

enum mouse_button {
	MOUSE_PRESSED = 1,
	MOUSE_DOUBLE, /* and up again */
	MOUSE_MOVED,  /* while it is down */
	MOUSE_WHEEL_UP,
	MOUSE_WHEEL_DOWN,
	MOUSE_RELEASED,
	MOUSE_CLICKED /* down and up again, reported as one */
};

/* A line between two parts of a pane that the mouse can drag (split.h). */
struct border {
	int which; /* enum split */
	bool upright;
	int row, column, length; /* of the line */
	int begin, total;        /* extent of the pane along the border's movement, in
	                          * columns when upright, else rows */
};
enum { BORDERS = 8 };

struct grid {
	int rows, columns;
	bool ascii;
	struct border borders[BORDERS]; /* that were drawn */
	int border_count;
	struct cell *cells;            /* owned */
	int cursor_row, cursor_column; /* -1: no cursor */
};
void grid_init(struct grid *grid, int rows, int columns, bool ascii);
void grid_release(struct grid *grid);
void grid_resize(struct grid *grid, int rows, int columns);
void grid_clear(struct grid *grid);
static inline struct cell *grid_at(const struct grid *grid, int row, int column)
{
	return &grid->cells[row * grid->columns + column];
}
/* Append the text, one line per row, without trailing blanks; with `styles` also the letters of
 * the styles (upper row marks: '*' for reverse). */
void grid_dump(const struct grid *grid, bool styles, GString *out);
/* Append the screen as an SVG (grid_svg.c). */
void grid_svg(const struct grid *grid, GString *out);
/* The ASCII replacement of a code point ('?' if none). */
uint32_t rune_to_ascii(uint32_t rune);

/* Passed by value; borrows the grid. */
struct pane {
	struct grid *grid;
	int row, column, rows, columns;
};
struct pane pane_whole(struct grid *grid);
/* A part of a pane, clipped to it; rows or columns -1: up to its end. */
struct pane pane_part(struct pane pane, int row, int column, int rows, int columns);
/* Write text; returns the column after it (beyond the pane when clipped). Text clipped by the
 * pane ends in "…". */
int pane_text(struct pane pane, int row, int column, enum style style, const char *text);
int pane_format(struct pane pane, int row, int column, enum style style, const char *format,
                ...) __attribute__((format(printf, 5, 6)));
/* pane_text in `width` columns; returns column + width. */
int pane_field(struct pane pane, int row, int column, int width, enum style style,
               const char *text);
/* pane_text right-aligned in `width` columns. */
int pane_field_right(struct pane pane, int row, int column, int width, enum style style,
                     const char *text);
void pane_rune(struct pane pane, int row, int column, enum style style, uint32_t rune);
/* A horizontal line with an optional title; a vertical line. */
void pane_rule(struct pane pane, int row, const char *title);
void pane_bar(struct pane pane, int column);
/* Set attributes on a whole row. */
void pane_highlight(struct pane pane, int row, enum attribute attribute);
/* Wrap text at words into rows from `row` on; returns the row after it. */
int pane_paragraph(struct pane pane, int row, int column, enum style style, const char *text);

/* A scrollable list: cursor, first visible row. */
struct list {
	uint64_t cursor, top, count;
	int rows;
};
/* Move the cursor into the list and scroll to it. */
void list_fit(struct list *list, uint64_t count, int rows);

#endif
