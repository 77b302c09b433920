/*
 * merge_behind.h - which racy reads the impossible findings of shards rest on.
 */
#ifndef HEDDLE_MERGE_BEHIND_H
#define HEDDLE_MERGE_BEHIND_H

#include "tui/batch/reports/report_file.h"

/* In a report joined from shards: replaces each finding's "reads" by "behind", those that are
 * in a race of any shard (engine/predict/behind.h does the same in a whole report). */
void merge_behind(struct report_file *all);
/* Shares make no note on pairs behind racy reads (report_note_behind), as none has all races:
 * says so where the report of the whole might have one. */
void merge_note_behind(struct report_file *all);

#endif
