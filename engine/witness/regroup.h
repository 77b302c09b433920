/*
 * regroup.h - reordering of long witnesses for fewer context switches, in about linear time.
 */
#ifndef HEDDLE_REGROUP_H
#define HEDDLE_REGROUP_H

#include "engine/trace/trace.h"

/*
 * Reorder the events before the last `fixed`, keeping the order of conflicting ones: accesses
 * of a variable (unless both read), operations on one synchronisation object (unless both
 * shared), forks, joins, messages, lives of blocks. True when `events` (uint32_t) now has fewer
 * switches; otherwise it is unchanged. Other rules, such as barrier pairs, are not considered:
 * check the result.
 */
bool witness_regroup(const struct trace *t, GArray *events, uint32_t fixed);
/* Context switches of a sequence. */
uint32_t witness_count_switches(const struct trace *t, const uint32_t *events, uint32_t length);

#endif
