/*
 * columns.h - text measured in screen columns: width, padding, wrapping. Independent of any
 * screen, so that pipes get the same layout.
 */
#ifndef HEDDLE_COLUMNS_H
#define HEDDLE_COLUMNS_H

#include "engine/base/base.h"

/* A character of `text` as displayed: its bytes, the rune (or 0, and `escape` with "\xHH"), its
 * columns. */
struct drawn {
	int bytes, columns;
	uint32_t rune;
	char escape[5];
};
struct drawn text_next(const char *text);

/* Width of the text in columns. */
int text_columns(const char *text);
/* Append `text`, blanks up to column `width`, and one more. */
void append_padded(GString *out, const char *text, int width);
/* Append `text` in lines of `width` columns, broken at blanks. The first line starts at column
 * `indent` (its prefix is in `out` already), the others are indented to it. */
void append_wrapped(GString *out, const char *text, int indent, int width);

#endif
