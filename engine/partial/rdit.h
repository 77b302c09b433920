/*
 * rdit.h - missing code as barrier pairs (RDIT, section 4): what a call whose inside was not
 * recorded may have synchronised, as must-orders.
 */
#ifndef HEDDLE_RDIT_H
#define HEDDLE_RDIT_H

#include "engine/trace/index.h"

/*
 * The must-orders of rule MUST_MISSING (GArray of struct must_edge, owned by the caller):
 * for two barrier pairs with a common address, and for a barrier pair and an access to an
 * address of its D, all their events together keep their order in the trace; reduced to
 * what, with program order, implies the rest.  An address of D stands for the variable of
 * that name and what continues it (`p` for `p.f`, `p[i]`, `p+N`; `*p`, as recordings name heap
 * blocks, for `p->f` and `p[i]`), and for the lock,
 * condition or semaphore of that name.  NULL when cancelled.
 */
GArray *rdit_edges(struct trace *t, const struct progress *progress);

/*
 * The trace with these edges among its must-orders: a view, to be given to any analysis.
 * It borrows all else from the trace, whose index is built whole first; trace_view_free
 * before trace_close.  NULL when cancelled.
 */
struct trace *trace_view_missing(struct trace *t, const struct progress *progress);
void trace_view_free(struct trace *view);

#endif
