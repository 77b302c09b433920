/*
 * grid.h - the screen as an array of cells that views draw into and tests read.
 *
 * A cell is a code point, a style (what it means, styles.def) and attributes.  Drawing goes
 * through a pane, a rectangle of the grid that clips.  Control bytes and bytes that are no
 * UTF-8 come out as \xHH, whoever forgot to escape them; with `ascii` every line-drawing
 * character and sign becomes its ASCII stand-in.  Knows nothing of curses, traces or views.
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
	short colour, basic; /* of 256, of 8; -1: the terminal's own */
	uint8_t attributes;
};
extern const struct style_info style_table[STYLE_COUNT];
static inline enum style style_of_thread(uint32_t thread)
{
	return (enum style)(STYLE_THREAD0 + thread % 8);
}

struct cell {
	uint32_t rune; /* code point; 0: the right half of a wide character */
	uint8_t style;
	uint8_t attributes; /* on top of the style's own */
};

struct grid {
	int rows, columns;
	bool ascii;
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
/* The text, a line a row, without trailing blanks; with `styles`, a second picture of the
 * style letters (upper row marks: '*' for reverse). */
void grid_dump(const struct grid *grid, bool styles, GString *out);
/* The ASCII stand-in of a code point that we draw with ('?' for what has none). */
uint32_t rune_to_ascii(uint32_t rune);

struct pane { /* by value; borrows the grid */
	struct grid *grid;
	int row, column, rows, columns;
};
struct pane pane_whole(struct grid *grid);
/* A part of a pane, clipped to it; rows or columns -1: to its end. */
struct pane pane_part(struct pane pane, int row, int column, int rows, int columns);
/* Write text at (row, column); returns the column after it (beyond the pane when it was
 * clipped).  Clipped text ends in "…" when the pane is at fault. */
int pane_text(struct pane pane, int row, int column, enum style style, const char *text);
int pane_format(struct pane pane, int row, int column, enum style style, const char *format,
                ...) __attribute__((format(printf, 5, 6)));
/* The same within `width` columns; returns column + width. */
int pane_field(struct pane pane, int row, int column, int width, enum style style,
               const char *text);
/* Right-aligned in `width` columns. */
int pane_field_right(struct pane pane, int row, int column, int width, enum style style,
                     const char *text);
void pane_rune(struct pane pane, int row, int column, enum style style, uint32_t rune);
/* A line across with an optional title; a line down. */
void pane_rule(struct pane pane, int row, const char *title);
void pane_bar(struct pane pane, int column);
/* Set attributes on a whole row. */
void pane_highlight(struct pane pane, int row, enum attribute attribute);
/* Wrap text at words into rows from `row` on; returns the row after the last. */
int pane_paragraph(struct pane pane, int row, int column, enum style style, const char *text);

/* A list on the screen: which row is at the top, where the cursor is. */
struct list {
	uint64_t cursor, top, count;
	int rows;
};
/* Keep the cursor inside, and inside what is seen. */
void list_fit(struct list *list, uint64_t count, int rows);

#endif
