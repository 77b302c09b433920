/*
 * regroup.h - the same events with fewer context switches, in about linear time: for witnesses
 * that are too long to try moves one by one.
 */
#ifndef HEDDLE_REGROUP_H
#define HEDDLE_REGROUP_H

#include "engine/trace/trace.h"

/*
 * Order the events before the last `fixed` anew, so that whatever conflicts in them keeps its
 * order (accesses of a variable unless both read; operations on one lock, condition, ..., unless
 * both are in shared mode; forks, joins, messages, lives of blocks).  True when `events` (GArray
 * of uint32_t) has fewer switches now; it is otherwise left alone.  Judges nothing: what missing
 * code orders, say, is not looked at, and the checker has the last word.
 */
bool witness_regroup(const struct trace *t, GArray *events, uint32_t fixed);
/* Context switches of a sequence. */
uint32_t witness_count_switches(const struct trace *t, const uint32_t *events, uint32_t length);

#endif
