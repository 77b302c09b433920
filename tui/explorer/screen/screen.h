/*
 * screen.h - the terminal: shows a grid, reads keys.
 */
#ifndef HEDDLE_SCREEN_H
#define HEDDLE_SCREEN_H

#include "tui/explorer/screen/grid.h"
#include "engine/base/base.h"

/* AUTO uses NO_COLOR and the terminal's capabilities. */
enum colour_mode { COLOUR_AUTO, COLOUR_NONE, COLOUR_8, COLOUR_256 };

struct screen_options {
	enum colour_mode colours;
	bool mouse;
	/* by style: a configured colour of 256, or -2 */
	short custom[STYLE_COUNT];
};

/* Initialise the terminal. False and `error` when it cannot show a screen. Until screen_close
 * it is restored on exit, signal and crash. */
bool screen_open(const struct screen_options *options, struct error *error);
void screen_close(void);
void screen_size(int *rows, int *columns);
void screen_show(const struct grid *grid);
void screen_redraw(void); /* makes the next refresh redraw everything */
/* Wait for a key, or for a byte in `wake_fd` (KEYCODE_WAKE). Returns a code point or an enum
 * special_key; after KEYCODE_RESIZE see screen_size, after KEYCODE_MOUSE screen_mouse. */
int screen_key(int wake_fd);
void screen_drop_keys(void); /* drops keys typed so far */
struct screen_click {
	int row, column, button; /* enum mouse_button */
};
struct screen_click screen_mouse(void);
/* Suspend to the shell (Ctrl-Z). */
void screen_suspend(void);
/* Give the terminal to a program, and take it back. */
void screen_lend(void);
void screen_take_back(void);
/* While the terminal is lent: discard typed input, print `prompt`, and wait for a key, so that
 * a program's output can be read. */
void screen_await_key(const char *prompt);
/* Copy text to the terminal's clipboard by OSC 52. */
void screen_copy(const char *text, size_t length);

#endif
