/*
 * export.h - traces for other programs to read: Perfetto's timeline, and a table (CSV). Neither
 * can be read back. Both put bytes into a writer (base/file.h), which the caller ends.
 */
#ifndef HEDDLE_EXPORT_H
#define HEDDLE_EXPORT_H

#include "engine/base/file.h"
#include "engine/finding.h"

/*
 * A Perfetto trace, for ui.perfetto.dev or trace_processor. A track for each thread; critical
 * sections, waits, units, calls and functions are slices, all other events instants. Sections
 * that overlap without nesting have tracks of their own below the thread's. Flows lead from a
 * write to the reads of other threads that see it, and along the must-order between threads
 * (creation, join, wake-up, message). The findings (of `report`, or NULL) are instants on a
 * track of their own and at their events. Time is not recorded: the N-th event is at N
 * microseconds.
 */
void export_perfetto(struct trace *t, const struct report *report, struct file_writer *file);
/* Comma-separated values (RFC 4180), a header line first: event, thread, op, operand, value,
 * location, function. */
void export_csv(const struct trace *t, struct file_writer *file);

#endif
