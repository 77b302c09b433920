/*
 * suppressions.h - findings that a project has decided about: ThreadSanitizer's suppression
 * files and the marks of the explorer (TRACE.notes). A suppressed finding stays in JSON and
 * SARIF, with the line that suppresses it, is left out of the text, and does not count for the
 * exit status.
 *
 * A line of a suppression file is TYPE:PATTERN; '#' begins a comment. PATTERN is a part of a
 * function's name, of a source file's path, of a library's name or, for races, of a
 * variable's name; '*' is any text, '^' the beginning, '$' the end. Types and the findings
 * they suppress are in a table of suppressions.c; every kind of finding is a type of its own
 * as well.
 *
 * In a notes file, findings marked benign or duplicate are suppressed.
 */
#ifndef HEDDLE_SUPPRESSIONS_H
#define HEDDLE_SUPPRESSIONS_H

#include "engine/finding.h"

struct json_t;
struct suppressions;

/* Read the files (char *), of either form. NULL and `error` when one is damaged. */
struct suppressions *suppressions_open(const GPtrArray *paths, struct error *error);
void suppressions_free(struct suppressions *s);
/* Add those that the trace was recorded with (`record --suppressions`); *s may be NULL, and
 * stays so if the trace has none. Damaged lines, of a foreign trace, are passed over. */
void suppressions_add_recorded(struct suppressions **s, const struct trace *t);
/* The files' text as `record` keeps it, owned by the caller; NULL and `error` when one is
 * damaged or not a list of lines. */
char *suppressions_text(const GPtrArray *paths, struct error *error);

/* The line that suppresses the finding, with its place: "race:deposit (tsan.supp:3)", owned
 * by `s`; NULL when no line does, also for NULL `s`. */
const char *suppressions_find(const struct suppressions *s, const struct trace *t,
                              const struct finding *f);
/* suppressions_find for a finding of a report, by the functions and files of its "sites" and
 * "stacks". */
const char *suppressions_find_filed(const struct suppressions *s, enum finding_kind kind,
                                    const struct json_t *fields);
#endif
