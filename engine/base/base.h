/*
 * base.h - errors, progress and escapes, for every file.
 *
 * The library never prints and never exits. User and input errors fill in a struct error, which
 * only main prints; internal errors are BUG(), which aborts. Memory, strings, arrays and hash
 * tables are GLib's, which aborts when memory runs out.
 */
#ifndef HEDDLE_BASE_H
#define HEDDLE_BASE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Internal error: prints file and line, aborts. Also in releases. */
#define BUG(...) heddle_bug(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(condition) \
	do { \
		if (G_UNLIKELY(condition)) \
			heddle_bug(__FILE__, __LINE__, "%s", #condition); \
	} while (0)
_Noreturn void heddle_bug(const char *file, int line, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* No such id, for all 32-bit ids. */
#define NONE UINT32_MAX

/* Kleene's three truth values, for conditions with unknown operands. */
enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

/* A message for the user, printed by main as "heddle: WHERE: WHAT; REMEDY". */
struct error {
	char where[256];  /* file (at least its base name) and line or offset; may be "" */
	char what[768];   /* expected and actual value: one sentence without a full stop */
	char remedy[384]; /* advice for the user; may be "" */
	bool cancelled;   /* no failure: the progress callback said stop */
};

/* Fill in `error` (may be NULL) and return false, for `return error_set(...)`. `remedy` may be
 * NULL. Control characters are escaped. */
bool error_set(struct error *error, const char *where, const char *remedy, const char *format,
               ...) __attribute__((format(printf, 4, 5)));
/* Marks the error of work that its progress callback stopped; returns false. */
bool error_cancelled(struct error *error);
/* From now on memory that runs out ends the process with this status, after one message. */
void memory_end_with(int status);
/* Called before that message, from any thread: restores the terminal. NULL: nothing. */
void memory_end_first(void (*restore)(void));
/* "FILE:LINE" as the `where` of an error (line 0: the file alone). */
struct place {
	char text[256];
};
struct place place_line(const char *path, uint64_t line);
struct place place_offset(const char *path, uint64_t offset);

/* The ending of a counted noun: "1 pair", "2 pairs". */
static inline const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Progress of long work, which the user can cancel: tick then returns false. NULL is allowed
 * everywhere. Call it at most once in some thousand events. */
struct progress {
	bool (*tick)(void *context, double fraction, const char *what);
	void *context;
};
static inline bool progress_tick(const struct progress *progress, double fraction,
                                 const char *what)
{
	return progress == NULL || progress->tick == NULL ||
	       progress->tick(progress->context, fraction, what);
}

/* Is the character invisible, or does it change the direction of text? (Control characters
 * above ASCII, bidirectional controls, other format characters, line separators, zero-width
 * blanks.) With such a character two names may look alike. */
bool text_hidden(gunichar c);
/* Append `text` with control and hidden characters and invalid UTF-8 as \xHH. */
void append_escaped(GString *out, const char *text, size_t length);

/* Write a file whole or leave the old one untouched (file.h). False and `error` on failure. */
bool file_write_whole(const char *path, const void *bytes, size_t length, struct error *error);

#endif
