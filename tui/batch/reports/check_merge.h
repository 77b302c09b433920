/*
 * check_merge.h - several reports of `heddle check` as one.
 */
#ifndef HEDDLE_CHECK_MERGE_H
#define HEDDLE_CHECK_MERGE_H

#include "tui/batch/reports/report_file.h"

/* Merges the reports of `parts` (struct report_file *). Equal findings become one, with the
 * runs of all; the result is complete for a kind if each part is. The caller's. */
struct report_file *checks_merge(const GPtrArray *parts);

#endif
