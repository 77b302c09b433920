/*
 * layout.h - the layout of one line of a report on a terminal: broken between words, with the
 * verdict of a heading in colour.
 */
#ifndef HEDDLE_PRINT_LAYOUT_H
#define HEDDLE_PRINT_LAYOUT_H

#include <glib.h>

#include <stdbool.h>

struct terminal_style {
	unsigned columns; /* longer lines are broken; 0: none is */
	bool colour;
};
/* Appends a line, which has no end, as the style wants it. A command stays whole, to be copied;
 * a line that begins with EXCERPT_MARK is cut at the last column. */
void terminal_lay_out(const struct terminal_style *style, GString *out, const char *line,
                      size_t length);

/* Appends the text, broken between words at so many columns. The first line has `used` of them
 * already, the others begin with `indent` blanks. */
void text_break(GString *out, const char *at, const char *end, unsigned columns, unsigned used,
                size_t indent);

/* Before a line of source. */
#define EXCERPT_MARK "           | "

#endif
