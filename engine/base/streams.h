/*
 * streams.h - standard output and standard error that escape control characters themselves, so
 * that no caller can forget to. Names, source lines and messages come from untrusted files.
 */
#ifndef HEDDLE_STREAMS_H
#define HEDDLE_STREAMS_H

#include "engine/base/base.h"

#include <stdio.h>

/* From now on stdout and stderr write control characters and invalid UTF-8 as \xHH, and hidden
 * characters (text_hidden) as \uHHHH, which is the same character in JSON. Line ends and tabs
 * are kept. */
void streams_guard(void);
/* The same for a text that goes to a file; owned by the caller. */
char *streams_guarded(const char *text);
/* From now on each whole line of stdout (or stderr), escaped and without its end, is written as
 * `lay_out` appends it: a terminal's layout. Call after streams_guard. */
typedef void stream_layout(GString *out, const char *line, size_t length);
void streams_lay_out(int fd, stream_layout *lay_out);
/* Write incomplete characters and flush both streams. False and errno when standard output
 * failed. */
bool streams_finish(void);
/* Standard output without escapes, for curses. */
FILE *streams_terminal(void);
/* Data for a pipe or file is written unchanged; on a terminal it is escaped. */
void streams_put_data(const char *bytes, size_t length);

#endif
