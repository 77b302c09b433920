/*
 * oracle_memory.h - all executions of a litmus program under a memory model, by trying every
 * value of every load, every store that it could come from and every modification order, and
 * judging each by the axioms as they are written. It shares no code with engine/memory/.
 */
#ifndef HEDDLE_TESTS_ORACLE_MEMORY_H
#define HEDDLE_TESTS_ORACLE_MEMORY_H

#include "tests/support/litmus.h"

/* At most this many events, initial stores included. */
enum { ORACLE_MEMORY_EVENTS = 48 };

/* Executions in which every lock is taken; calls `seen` with graph NULL for each. The number.
 */
uint64_t oracle_memory(const struct litmus *l, enum memory_model model, litmus_seen *seen,
                       void *context);

/* Do the axioms allow the graph as it stands, its rf and mo? Of loads, stores and fences alone.
 */
bool oracle_memory_allows(const struct memory_graph *g, enum memory_model model);

#endif
