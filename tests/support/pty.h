/*
 * pty.h - the real binary in a terminal emulator (libvterm): its screen, its colours, and
 * whether it restores the terminal.
 *
 * Every wait is for a text or for the end of the program, never for a time; a wait that
 * takes over 45 seconds fails the test with the screen.
 */
#ifndef HEDDLE_TESTS_PTY_H
#define HEDDLE_TESTS_PTY_H

#include <stdbool.h>
#include <stddef.h>

struct pty;

struct pty_options {
	int rows, columns; /* 0: 24 and 80 */
	const char *shell; /* run this by a shell with job control; $HEDDLE is the binary */
	const char *environment[8]; /* "NAME=value" or "NAME" to unset; NULL-terminated */
};
/* Its path: $HEDDLE, or that of the build of the test (build/asan/heddle), or ./heddle; caller
 * frees. */
char *pty_binary(void);
/* Run pty_binary with these arguments, NULL-terminated. */
struct pty *pty_start(const struct pty_options *options, const char *const *arguments);
void pty_send(struct pty *p, const char *bytes);
/* Wait until the program has read all that was sent. */
void pty_wait_read(struct pty *p);
void pty_wait_for(struct pty *p, const char *text);
void pty_wait_without(struct pty *p, const char *text);
void pty_resize(struct pty *p, int rows, int columns);
/* The screen as text, trailing blanks cut; valid until the next call. */
const char *pty_screen(struct pty *p);
bool pty_has_colour(struct pty *p);   /* any cell with another than the default colour */
bool pty_has_reverse(struct pty *p);  /* any cell in reverse */
bool pty_is_alternate(struct pty *p); /* the alternate screen is shown */
bool pty_is_cooked(struct pty *p);    /* echo and line mode are on again */
void pty_signal(struct pty *p, int number);
int pty_pid(const struct pty *p);
/* Wait for the end: the exit status, or 128 + signal. */
/* Wait until the text is on the screen (true), or the program has ended. */
bool pty_wait_or_end(struct pty *p, const char *text);
int pty_finish(struct pty *p);
/* All bytes that the program wrote. */
const char *pty_output(struct pty *p, size_t *length);
void pty_end(struct pty *p); /* kills the program if it still runs */

#endif
