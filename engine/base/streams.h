/*
 * streams.h - standard output and standard error that can be looked at on a terminal whatever
 * is printed.  Names, source lines and messages come out of files from anywhere; so that no
 * place that prints one can forget to escape it, the streams themselves do.
 */
#ifndef HEDDLE_STREAMS_H
#define HEDDLE_STREAMS_H

#include "engine/base/base.h"

#include <stdio.h>

/*
 * From now on stdout and stderr write control characters and bytes that are no UTF-8 as \xHH,
 * and characters that cannot be seen or turn the text round (text_hidden) as \uHHHH, which JSON
 * reads as the same character.  Line ends and tabs stay.
 */
void streams_guard(void);
/* The same for a text that goes to a file; the caller's. */
char *streams_guarded(const char *text);
/* What is held back of an unfinished character goes out; both are flushed.  False and errno
 * when standard output could not be written. */
bool streams_finish(void);
/* Standard output as it is: for curses, which writes to the terminal what it has made. */
FILE *streams_terminal(void);
/* Data for a pipe or a file, unchanged; on a terminal it is guarded as all else. */
void streams_put_data(const char *bytes, size_t length);

#endif
