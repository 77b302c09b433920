/*
 * report_merge.h - the reports of shards joined into the report of the whole.
 */
#ifndef HEDDLE_REPORT_MERGE_H
#define HEDDLE_REPORT_MERGE_H

#include "tui/batch/report_file.h"

/*
 * `parts` (struct report_file *): reports of shards of one run of `races` or `explore`, in any
 * order.  Refused when they are of different traces, analyses or options, when a shard is there
 * twice, or, but for `lenient`, when one is missing (the result is not complete then).  The
 * result borrows the findings' text from the parts and is to be freed before them; NULL and
 * `error` on failure.
 */
struct report_file *reports_merge(const GPtrArray *parts, bool lenient, struct error *error);

/* Is it a report of `check`?  Any of these are merged, of whatever runs: their findings into
 * one list, the runs behind each other. */
bool report_file_is_check(const struct report_file *r);

/* Is it a report of `explore`?  (Then there are no findings, but errors and races.) */
bool report_file_is_exploration(const struct report_file *r);

#endif
