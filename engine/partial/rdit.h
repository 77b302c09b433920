/*
 * rdit.h - uninstrumented code as barrier pairs (RDIT, section 4): must-orders for
 * synchronisation that may be inside a call that was not recorded.
 */
#ifndef HEDDLE_RDIT_H
#define HEDDLE_RDIT_H

#include "engine/trace/index.h"

/*
 * The must-orders of rule MUST_MISSING (struct must_edge, owned by the caller). Two barrier
 * pairs with a common address, and a barrier pair and an access to one of its addresses, keep
 * the order of their events; reduced to edges that, with program order, imply the rest. An
 * address means the variable of that name and names that continue it (`p` for `p.f`, `p[i]`,
 * `p+N`; `*p`, a heap block in recordings, for `p->f` and `p[i]`), and for the
 * synchronisation object of that name. NULL when cancelled.
 */
GArray *rdit_edges(struct trace *t, const struct progress *progress);

/* A view of the trace with these edges added to its must-orders, usable in any analysis.
 * Borrows everything else. `parts` of the index are made in the trace first; further ones when
 * trace_need asks for them. trace_view_free before trace_close. NULL when cancelled. */
struct trace *trace_view_missing(struct trace *t, unsigned parts,
                                 const struct progress *progress);
void trace_view_free(struct trace *view);

#endif
