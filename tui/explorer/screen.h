/*
 * screen.h - the terminal: puts a grid on it, reads keys from it.
 */
#ifndef HEDDLE_SCREEN_H
#define HEDDLE_SCREEN_H

#include "tui/explorer/grid.h"
#include "engine/base/base.h"

/* Which colours to use; AUTO looks at NO_COLOR and at the terminal. */
enum colour_mode { COLOUR_AUTO, COLOUR_NONE, COLOUR_8, COLOUR_256 };

struct screen_options {
	enum colour_mode colours;
	bool mouse;
	/* by style: another colour of 256 from the configuration, or -2 */
	short custom[STYLE_COUNT];
};

/* Take the terminal over. False and `error` for one that cannot show a screen. From here to
 * screen_close the terminal is restored on every way out: exit, signal, crash. */
bool screen_open(const struct screen_options *options, struct error *error);
void screen_close(void);
void screen_size(int *rows, int *columns);
void screen_show(const struct grid *grid);
void screen_redraw(void); /* draw everything again the next time */
/*
 * Wait for a key, or for a byte in `wake_fd` (KEYCODE_WAKE).  Returns a code point or an
 * enum special_key; KEYCODE_RESIZE and KEYCODE_MOUSE tell the rest through screen_size and
 * screen_mouse.
 */
int screen_key(int wake_fd);
struct screen_click {
	int row, column, button; /* 1 a click, 2 a double click, 4 and 5 the wheel */
};
struct screen_click screen_mouse(void);
/* To the shell and back (Ctrl-Z). */
void screen_suspend(void);
/* Give the terminal to a program and take it back. */
void screen_lend(void);
void screen_take_back(void);
/* On a terminal that curses does not have: forget what was typed, say `prompt`, and wait for
 * any key, so that a program's words can be read before they are gone. */
void screen_await_key(const char *prompt);
/* Put text on the terminal's clipboard by OSC 52. */
void screen_copy(const char *text, size_t length);

#endif
