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
/* Write incomplete characters and flush both streams. False and errno when standard output
 * failed. */
bool streams_finish(void);
/* Standard output without escapes, for curses. */
FILE *streams_terminal(void);
/* Data for a pipe or file is written unchanged; on a terminal it is escaped. */
void streams_put_data(const char *bytes, size_t length);

#endif
