/*
 * order_private.h - what the files of engine/order share: walks that are kept.
 */
#ifndef HEDDLE_ORDER_PRIVATE_H
#define HEDDLE_ORDER_PRIVATE_H

#include "engine/order/causality.h"

/* Walk a whole trace and keep it; `forced` (struct forced_edge, by `to`) or NULL.  NULL when
 * cancelled. */
struct causality *causality_walk(struct trace *t, enum order_kind kind, const GArray *forced,
                                 const struct progress *progress);
/* CP: walks until there are no more edges. */
struct causality *cp_walk(struct trace *t, const struct progress *progress);
/* The stretch that an event lies in, or NULL where its thread knows nothing yet. */
const struct stretch *causality_stretch(const struct causality *c, uint32_t event);

#endif
