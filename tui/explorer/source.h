/*
 * source.h - the source files of a trace: finds them, keeps their lines.
 */
#ifndef HEDDLE_SOURCE_H
#define HEDDLE_SOURCE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct source_file {
	char *path;       /* where it was found; NULL when it was not */
	GPtrArray *lines; /* char *, owned, tabs as blanks; NULL when it was not found */
	int64_t modified; /* seconds since 1970 */
	bool newer;       /* changed after the trace was written: lines may have moved */
};
struct sources {
	GHashTable *files;  /* by recorded path */
	GPtrArray *folders; /* char *, owned: where to look */
	int64_t recorded;   /* when the trace was written, seconds since 1970; 0 unknown */
};
/* Looks in the trace's folder and in the current one. */
void sources_init(struct sources *s, const char *trace_path);
void sources_release(struct sources *s);
/* Look in this folder too, and first. */
void sources_add_folder(struct sources *s, const char *folder);
/* One line of a file, without its indentation; borrowed, NULL when it was not found. */
const char *sources_line(struct sources *s, const char *recorded, uint32_t line);
/* Never NULL; its `lines` may be. */
const struct source_file *sources_get(struct sources *s, const char *recorded);

#endif
