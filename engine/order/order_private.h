/*
 * order_private.h - what the files of engine/order share: walks that are kept.
 */
#ifndef HEDDLE_ORDER_PRIVATE_H
#define HEDDLE_ORDER_PRIVATE_H

#include "engine/order/causality.h"

/* CP: walks until there are no more edges. */
struct causality *cp_walk(struct trace *t, const struct progress *progress);

/* EDC: the edges of its critical sections (GArray of struct forced_edge, by `to`). */
GArray *edc_edges(struct trace *t, const struct order_touches *touches,
                  const struct progress *progress);

#endif
