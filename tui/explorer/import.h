/*
 * import.h - reports of other tools: the pairs of source lines that ThreadSanitizer, Helgrind
 * or DRD name, found again in a trace.
 */
#ifndef HEDDLE_IMPORT_H
#define HEDDLE_IMPORT_H

#include "engine/trace/trace.h"

struct reported_frame {
	char *function, *file; /* owned; file may be NULL */
	uint32_t line;
};
struct reported_race {
	GArray *sides[2]; /* struct reported_frame, innermost first; the second may be empty */
};

/* Read a report (text of ThreadSanitizer, Helgrind or DRD, or Valgrind's XML).  GArray of
 * struct reported_race, ended with imported_free; NULL and `error` when the file cannot be
 * read or names no race. */
GArray *import_report(const char *path, struct error *error);
void imported_free(GArray *races);

/* Two conflicting accesses at the places of the race, or within three lines of them; false
 * when the trace has none. */
bool import_find(const struct trace *t, const struct reported_race *race, uint32_t pair[2]);

#endif
