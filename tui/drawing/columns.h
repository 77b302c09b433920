/*
 * columns.h - text by the columns that it takes on a screen: measured, padded, wrapped at
 * words.  Knows no screen: what is printed to a pipe is laid out the same.
 */
#ifndef HEDDLE_COLUMNS_H
#define HEDDLE_COLUMNS_H

#include "engine/base/base.h"

/* One character of `text` as it is drawn: its bytes taken, the rune (or 0 and `escape` with
 * "\xHH") and its columns. */
struct drawn {
	int bytes, columns;
	uint32_t rune;
	char escape[5];
};
struct drawn text_next(const char *text);

/* Columns that the text takes. */
int text_columns(const char *text);
/* Append `text`, blanks up to column `width`, and one more. */
void append_padded(GString *out, const char *text, int width);
/* Append `text` in lines of `width` columns, broken at blanks; the first begins at column
 * `indent` (what stands there is in `out` already), the others are indented so far. */
void append_wrapped(GString *out, const char *text, int indent, int width);

#endif
