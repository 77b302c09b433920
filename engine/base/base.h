/*
 * base.h - what every file may use: our own faults, errors for users, progress.
 *
 * The library never prints and never exits.  A fault of the user or of the input fills
 * in a struct error, which only the program's main prints; a fault of our own is BUG(),
 * which aborts.  Memory, strings, arrays and hash tables are GLib's (GArray, GString,
 * GHashTable, g_new); running out of memory aborts, as GLib does.
 */
#ifndef HEDDLE_BASE_H
#define HEDDLE_BASE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fault of our own: prints file and line, aborts.  Stays on in releases. */
#define BUG(...) heddle_bug(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(condition) \
	do { \
		if (G_UNLIKELY(condition)) \
			heddle_bug(__FILE__, __LINE__, "%s", #condition); \
	} while (0)
_Noreturn void heddle_bug(const char *file, int line, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* "None" for every 32-bit id: events, threads, variables, ... */
#define NONE UINT32_MAX

/* The truth of a condition or formula some of whose values may be unknown. */
enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

/*
 * A message for the user: which place, what is wrong there (what was expected, what was
 * found), and what to do.  Printed by main as "heddle: WHERE: WHAT; REMEDY".
 */
struct error {
	char where[256];  /* file (its last component at least) and line or offset; may be "" */
	char what[768];   /* one sentence without a full stop */
	char remedy[384]; /* what to do; may be "" */
};

/*
 * Fill in `error` (which may be NULL) and return false, so that a caller can write
 * `return error_set(...)`.  `remedy` may be NULL.  Control bytes are escaped.
 */
bool error_set(struct error *error, const char *where, const char *remedy, const char *format,
               ...) __attribute__((format(printf, 4, 5)));
/* A "FILE:LINE" for `where` (line 0: the file alone), in a static-size buffer. */
struct place {
	char text[256];
};
struct place place_line(const char *path, uint64_t line);
struct place place_offset(const char *path, uint64_t offset);

/*
 * Long work reports its progress and can be stopped: tick returns false when the user
 * has cancelled.  A NULL progress is allowed everywhere.  Call at most every few
 * thousand events.
 */
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

/*
 * Is this a character that one does not see, or that turns text round: a control character of
 * the upper half, a bidirectional control, another format character, a line separator, a blank
 * of no width?  With it two names look alike, or a line reads as another.
 */
bool text_hidden(gunichar c);
/* Append `text` to `out` with the bytes of control characters, of hidden ones and of what is no
 * UTF-8 as \xHH. */
void append_escaped(GString *out, const char *text, size_t length);

/*
 * Write a whole file or leave the old one untouched (temporary file beside it, fsync,
 * rename).  False and `error` on failure.
 */
bool file_write_whole(const char *path, const void *bytes, size_t length, struct error *error);

#endif
