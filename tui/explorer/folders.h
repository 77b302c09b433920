/*
 * folders.h - findings grouped into folders: by variable, function, role of the threads, place,
 * or outcome.
 */
#ifndef HEDDLE_FOLDERS_H
#define HEDDLE_FOLDERS_H

#include "tui/explorer/session.h"

enum grouping {
	GROUPED_NOT,
	GROUPED_BY_VARIABLE,
	GROUPED_BY_FUNCTION,
	GROUPED_BY_THREAD,
	GROUPED_BY_PLACE,
	GROUPED_BY_OUTCOME,
	GROUPINGS
};
extern const char *const grouping_words[GROUPINGS]; /* "none", "variable", ... */

struct folder {
	char *name;      /* owned */
	GArray *members; /* int: indexes of session.entries; owned */
};
struct folders {
	enum grouping by;
	GArray *list;       /* struct folder */
	GHashTable *opened; /* char *, owned: names of folders that show their members */
	GArray *lines;      /* int: an index of session.entries, or -1 - index of a folder */
};
void folders_init(struct folders *f);
void folders_release(struct folders *f);
/* Group the entries in `shown` (int: indexes of session.entries); a folder is placed where
 * the first of its members would be. */
void folders_make(struct folders *f, const struct session *s, const GArray *shown);
/* The folder on that line; NULL: the line is a finding. */
const struct folder *folders_at(const struct folders *f, uint64_t line);
/* The finding on that line, for a folder its first: an index of session.entries. */
int folders_entry(const struct folders *f, uint64_t line);
/* The line of the entry, or of its folder while closed; `none` when it is not listed. */
uint64_t folders_line_of(const struct folders *f, int entry, uint64_t none);
bool folders_is_open(const struct folders *f, const struct folder *folder);
/* Open the folder of that line, or close it; returns the folder's line. False: no folder. */
bool folders_toggle(struct folders *f, const struct session *s, const GArray *shown,
                    uint64_t *line);

#endif
