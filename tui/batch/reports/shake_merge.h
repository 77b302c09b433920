/*
 * shake_merge.h - the reports of shares of `heddle shake` as one.
 */
#ifndef HEDDLE_SHAKE_MERGE_H
#define HEDDLE_SHAKE_MERGE_H

#include "tui/batch/command.h"
#include "tui/batch/reports/report_file.h"

/* Prints the table, or the report, of all; returns the exit status. `reports` (struct
 * report_file *) are of shares that belong together. */
int shake_merge(const GPtrArray *reports, enum output_format format);

#endif
