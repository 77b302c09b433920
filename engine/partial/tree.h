/*
 * tree.h - TREE: which accesses of a trace say nothing that kept ones have not said
 * (redundant events; semantics.md, "Barrier pairs (RDIT) and redundant events").
 *
 * Two rules.  TREE_PAPER is the paper's: exact for the lockset; for happens-before it may
 * lose a pair of sites.  TREE_SOUND (`--for hb|wcp`) loses no pair of sites of HB and WCP,
 * and makes none up.  Synchronisation, atomics, allocations, scopes are never left out.
 */
#ifndef HEDDLE_TREE_H
#define HEDDLE_TREE_H

#include "engine/trace/trace.h"

enum tree_rule { TREE_PAPER, TREE_SOUND };

/*
 * A bit for each event: 1 keeps it (for trace_write).  The caller frees it with g_free.
 * *dropped: how many bits are 0.  NULL when it was cancelled.  Linear; memory grows with
 * the number of different (location, variable, context).
 */
uint64_t *tree_filter(const struct trace *t, enum tree_rule rule, uint64_t *dropped,
                      const struct progress *progress);

#endif
