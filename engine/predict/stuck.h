/*
 * stuck.h - threads blocked forever in a recording, by its wants. A cycle of waits is a
 * deadlock that happened; without a cycle threads are stuck.
 */
#ifndef HEDDLE_STUCK_H
#define HEDDLE_STUCK_H

#include "engine/finding.h"

/*
 * Findings with verdict happened, owned by the caller; empty without wants.
 *
 * Kind deadlock: a cycle of threads, each waiting for a lock held by the next or for its end,
 * with at least one lock; `requests` are its wants in this order from the earliest, `waits` the
 * same, followed by other threads that wait for the cycle. Kind stuck, at most one: all waits
 * without a cycle. If there is a cycle, unrelated waits (e.g. for a condition that a thread of
 * the cycle would have signalled) are added to the first.
 */
GPtrArray *stuck_find(const struct trace *t);

#endif
