/*
 * merge_behind.h - which racy reads the impossible findings of shards rest on.
 */
#ifndef HEDDLE_MERGE_BEHIND_H
#define HEDDLE_MERGE_BEHIND_H

#include "tui/batch/report_file.h"

/* Of a report joined of shards: each finding's "reads" become "behind", those of them that are
 * in a race of any shard (engine/predict/behind.h has the same of a whole report). */
void merge_behind(struct report_file *all);

#endif
