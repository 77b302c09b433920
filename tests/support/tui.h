/*
 * tui.h - the explorer in the test's own process: a trace from text, keys and commands in,
 * the grid out; golden files.
 */
#ifndef HEDDLE_TESTS_TUI_H
#define HEDDLE_TESTS_TUI_H

#include "tui/explorer/app.h"

#include <check.h>

struct tui_options {
	int rows, columns; /* 0: 24 and 80 */
	bool ascii;
	bool analyse; /* start the analyses; otherwise only the index is built */
};
/* Waits until all work is done.  Marks go to a file of its own; tui_close removes it. */
struct app *tui_open(const char *text, const struct tui_options *options);
void tui_close(struct app *app);
/* Names of keys, blank-separated: "j Enter w". Waits for the work that they start. */
void tui_keys(struct app *app, const char *keys);
/* A line of the command line. */
void tui_command(struct app *app, const char *line);
/* Type text into the open command line, key by key. */
void tui_type(struct app *app, const char *text);
void tui_wait(struct app *app);
/* The drawn screen (owned by the caller). */
char *tui_screen(struct app *app, bool styles);
/* Its words with single blanks between them, wherever lines end (owned by the caller). */
char *tui_words(struct app *app);
bool tui_shows(struct app *app, const char *text);
/*
 * Compare with tests/screen/golden/NAME.txt (text, then styles); fails the test with both
 * when they differ.  With GOLDEN=update in the environment the file is written instead.
 */
void tui_golden(struct app *app, const char *name);
/* Presses the keys, compares as tui_golden, without a message, and closes it. */
void tui_picture(struct app *app, const char *keys, const char *name);
/* Run the suite (suite_run) with a home of its own: the reader's marks, history and
 * configuration are none of the tests' business. */
int tui_run(Suite *suite);

#endif
