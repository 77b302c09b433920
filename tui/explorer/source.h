/*
 * source.h - source files of a trace, cached as lines.
 */
#ifndef HEDDLE_SOURCE_H
#define HEDDLE_SOURCE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct source_file {
	char *path;       /* NULL when not found */
	GPtrArray *lines; /* char *, owned, tabs expanded; NULL when not found */
	int64_t modified; /* seconds since 1970 */
	bool newer;       /* modified after the recording: lines may have moved */
};
struct sources {
	GHashTable *files;  /* by recorded path */
	GPtrArray *folders; /* char *, owned: search path */
	int64_t recorded;   /* time of the recording, seconds since 1970; 0: unknown */
};
/* Searches the trace's folder and the current one. */
void sources_init(struct sources *s, const char *trace_path);
void sources_release(struct sources *s);
/* Search this folder first, too. */
void sources_add_folder(struct sources *s, const char *folder);
/* Files may have changed: they are read again. */
void sources_forget(struct sources *s);
/* A line without indentation; borrowed, NULL when not found. */
const char *sources_line(struct sources *s, const char *recorded, uint32_t line);
/* The text of the line that is named "FILE:LINE"; NULL: unknown. Borrowed. */
const char *sources_place(struct sources *s, const char *place);
/* Never NULL, but `lines` may be. */
const struct source_file *sources_get(struct sources *s, const char *recorded);

#endif
