/*
 * command_line.h - the last line of the screen as an editor: readline in callback mode, of
 * which a process has one. It reads bytes given to it and never touches the terminal; app.c
 * draws its buffer.
 */
#ifndef HEDDLE_COMMAND_LINE_H
#define HEDDLE_COMMAND_LINE_H

#include "tui/explorer/app.h"

/* Open the line with a prompt and initial text; the result goes to commands_run, the search or
 * the note. */
void line_open(struct app *app, enum line_kind kind, const char *beginning);
/* Handle a key (as bytes for readline); Esc closes the line. */
void line_key(struct app *app, int key);
void line_draw(const struct app *app, struct pane last_row, struct pane body);
/* Load and save the history; call once. */
void line_start(void);
void line_end(void);

/* Run a command line (commands.c). */
void commands_run(struct app *app, const char *line);
/* Completions (char *, owned) of the word `text`, which begins at `start` of `line`. */
GPtrArray *commands_complete(const struct app *app, const char *line, int start,
                             const char *text);
/* The manual's table of commands. */
void commands_print_table(GString *out);

#endif
