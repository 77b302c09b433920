/*
 * report_file.h - reads reports written with --format json, for `merge`, `diff` and --baseline.
 * Their findings have the shape of finding_json.h. Witnesses stay text in the file, since they
 * are most of a large report.
 */
#ifndef HEDDLE_REPORT_FILE_H
#define HEDDLE_REPORT_FILE_H

#include "engine/base/input.h"
#include "tui/batch/print/print.h"

#include <jansson.h>

struct filed_finding {
	json_t *fields;   /* owned; "witness" is its number of events */
	const char *text; /* its text in the file */
	size_t length;
};

struct report_file {
	char *name;           /* base name; owned */
	json_t *head;         /* all but the findings; owned */
	GArray *findings;     /* struct filed_finding */
	struct input file;    /* empty for a report from memory */
	char *text;           /* or NULL; owned, by free */
	GPtrArray *rewritten; /* texts of findings that `merge` changed; owned, or NULL */
};

/* Does the file begin like JSON, as no trace does? */
bool report_file_is(const char *path);
/* NULL and `error` when it cannot be read or is no report. */
struct report_file *report_file_open(const char *path, struct error *error);
/* From a report in memory, as it would be printed. */
struct report_file *report_file_of(const struct report *report,
                                   const struct print_options *options);
/* report_file_of for a report as a JSON value, one of our own. */
struct report_file *report_file_of_json(const char *name, const json_t *report);
void report_file_free(struct report_file *r);

/* Is the finding neither impossible, nor unknown, nor suppressed? */
bool filed_is_found(const json_t *finding);
bool filed_is_suppressed(const json_t *finding);

#endif
