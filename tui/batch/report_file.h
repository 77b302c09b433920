/*
 * report_file.h - a report that a command wrote with --format json, read again: for `merge`,
 * `diff` and --baseline.  The witnesses, nearly all of a large report, stay text in the file;
 * everything else is JSON values.
 */
#ifndef HEDDLE_REPORT_FILE_H
#define HEDDLE_REPORT_FILE_H

#include "engine/base/input.h"
#include "tui/batch/print.h"

#include <jansson.h>

struct filed_finding {
	json_t *fields;   /* owned; "witness" is the number of its events */
	const char *text; /* as it stands in the file */
	size_t length;
};

struct report_file {
	char *name;        /* the last component of its path; owned */
	json_t *head;      /* all but the findings; owned */
	GArray *findings;  /* struct filed_finding */
	struct input file; /* empty when it is a report of our own */
	char *text;        /* or NULL; owned, by free */
	GPtrArray *rewritten; /* texts of findings that `merge` changed; owned, or NULL */
};

/* Does the file begin as JSON does?  (A trace does not.) */
bool report_file_is(const char *path);
/* NULL and `error` when it cannot be read or is no report. */
struct report_file *report_file_open(const char *path, struct error *error);
/* The same from a report in memory, as it would be printed. */
struct report_file *report_file_of(const struct report *report,
                                   const struct print_options *options);
/* The same of a report as a JSON value, one of our own. */
struct report_file *report_file_of_json(const char *name, const json_t *report);
void report_file_free(struct report_file *r);

/* A member that is a string, or "". */
const char *json_word(const json_t *object, const char *key);
/* The last component of a path. */
const char *base_name(const char *path);
/* Is the finding one that counts, neither impossible nor unknown? */
bool filed_is_found(const json_t *finding);

/* A finding as text; each line after the first is indented. */
void print_filed(const json_t *finding, FILE *out);

#endif
