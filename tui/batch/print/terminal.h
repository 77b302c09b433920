/*
 * terminal.h - reports on a terminal: lines are broken between words, headings are coloured by
 * their verdict, and places are followed by their line of source. Into a pipe or a file a
 * report goes as it is, so that each sentence stays on one line for grep.
 */
#ifndef HEDDLE_TERMINAL_H
#define HEDDLE_TERMINAL_H

#include <stdint.h>
#include <stdio.h>

/* From now on lines of standard output, and of standard error, are laid out, each where it is a
 * terminal. NO_COLOR and TERM=dumb are honoured. */
void terminal_begin(void);

/* The columns of the terminal that standard output is; 0: it is none. */
unsigned terminal_columns(void);

/* From now on findings on standard output have lines of source, if it is a terminal: of files
 * that are no newer than the trace. `trace`: its path, or NULL for a program that has just run.
 */
void excerpts_begin(const char *trace);
void excerpts_end(void);
/* Prints the line of source of a place, below it; nothing without excerpts_begin, or when it is
 * not known. */
void excerpt_print(const char *file, uint32_t line, FILE *out);

#endif
