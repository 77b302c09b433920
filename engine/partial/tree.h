/*
 * tree.h - TREE: removal of redundant accesses (semantics.md, "Barrier pairs (RDIT) and
 * redundant events").
 *
 * TREE_PAPER is the paper's rule: exact for locksets, may lose a pair of sites for
 * happens-before. TREE_SOUND (`--for hb|wcp`) keeps exactly the pairs of sites of HB and WCP.
 * Synchronisation, atomics, allocations and scopes are always kept.
 */
#ifndef HEDDLE_TREE_H
#define HEDDLE_TREE_H

#include "engine/trace/trace.h"

enum tree_rule { TREE_PAPER, TREE_SOUND };

/* Bit set of the events to keep (for trace_write), freed with g_free; *dropped: number of
 * others. NULL when cancelled. Linear; memory grows with the number of different (location,
 * variable, context). */
uint64_t *tree_filter(const struct trace *t, enum tree_rule rule, uint64_t *dropped,
                      const struct progress *progress);

#endif
