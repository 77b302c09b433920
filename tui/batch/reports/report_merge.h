/*
 * report_merge.h - merges reports of shards into the whole report.
 */
#ifndef HEDDLE_REPORT_MERGE_H
#define HEDDLE_REPORT_MERGE_H

#include "tui/batch/reports/report_file.h"

/*
 * `parts` (struct report_file *) are reports of shards of one run of `races` or `explore`, in
 * any order; or whole reports of several traces (traces_merge.h). Refused of shards: different
 * traces, analyses or options, duplicate shards, and, unless `lenient`, missing ones (the
 * result is then incomplete). The result borrows text from the parts and must be freed before
 * them; NULL and `error` on failure.
 */
struct report_file *reports_merge(const GPtrArray *parts, bool lenient, struct error *error);

/* Do the parts belong together, once each, as reports_merge requires? Without `lenient` all
 * must be there. */
bool reports_fit(const GPtrArray *parts, bool lenient, struct error *error);
/* Is it a share of `shake`? */
bool report_file_is_shake(const struct report_file *r);
/* Is it a report of `check`? Such reports are merged whatever their runs: the lists of findings
 * are joined and the runs renumbered. */
bool report_file_is_check(const struct report_file *r);

/* Is it a report of `explore`, with errors and races instead of findings? */
bool report_file_is_exploration(const struct report_file *r);

#endif
