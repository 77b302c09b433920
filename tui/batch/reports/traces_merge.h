/*
 * traces_merge.h - the reports of several traces, as of a suite's processes, as one: each
 * finding once, with the traces that have it.
 */
#ifndef HEDDLE_TRACES_MERGE_H
#define HEDDLE_TRACES_MERGE_H

#include "tui/batch/reports/report_file.h"

/*
 * `parts` (struct report_file *) are whole reports of one analysis and its options, of whatever
 * traces. Findings of the same kind and places are one; the first with the best verdict stays,
 * and gets `key` ("traces"): the names of the parts that have it. `name` stands for the trace.
 * The result borrows text from the parts and must be freed before them; NULL and `error` on
 * failure.
 */
struct report_file *traces_merge(const GPtrArray *parts, const char *name, const char *key,
                                 struct error *error);

#endif
