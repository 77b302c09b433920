/*
 * need.h - which memory model a part of a run needs.
 *
 * A run under TSO or RC11 can show values that no sequentially consistent run has, and most of
 * its parts show none: the events that two accesses rest on, put into another order, may be a
 * run of a stronger model. A search over the orders of that part decides it.
 */
#ifndef HEDDLE_MEMORY_NEED_H
#define HEDDLE_MEMORY_NEED_H

#include "engine/trace/weak.h"

/* The causal past of the `count` events of `of`, with themselves: by program order, creation
 * and join, reads-from, and the order of the library's operations on one object; with the
 * arrivals (FLUSH) of its stores up to the last of `of`. In the trace's order; uint32_t, owned
 * by the caller. */
GArray *run_past(const struct trace *t, const uint32_t *of, size_t count);

/* The reads and stores of such a sequence that need a row in a witness: loads that do not see
 * the last store before them, and stores that are not last in modification order (struct
 * weak_source); owned by the caller. */
GArray *run_sources(const struct trace *t, const GArray *events);

enum reorder_result { REORDER_NONE, REORDER_FOUND, REORDER_OPEN };
/*
 * Can the events of a past be put into an order that is a run of WEAK_SC or WEAK_TSO, the
 * library's operations on one object in the trace's order? Each load sees the store that it
 * saw, or `by_value`: one that left the value that it saw. FOUND: *order is one, without
 * arrivals (uint32_t, owned by the caller). NONE: none exists. OPEN: too many states.
 */
enum reorder_result run_reorder(const struct trace *t, const GArray *events,
                                enum weak_model model, bool by_value, GArray **order);

#endif
