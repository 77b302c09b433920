/*
 * check_merge.h - several reports of `heddle check` as one.
 */
#ifndef HEDDLE_CHECK_MERGE_H
#define HEDDLE_CHECK_MERGE_H

#include "tui/batch/report_file.h"

/* `parts`: struct report_file *.  The same finding of several stands once, with the runs of
 * all; it is complete of a kind where each part is.  The caller's. */
struct report_file *checks_merge(const GPtrArray *parts);

#endif
