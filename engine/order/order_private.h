/*
 * order_private.h - walks with edges from several passes, shared by the files of engine/order.
 */
#ifndef HEDDLE_ORDER_PRIVATE_H
#define HEDDLE_ORDER_PRIVATE_H

#include "engine/order/causality.h"

/* CP: repeated walks to the fixed point. NULL when cancelled. */
struct causality *cp_walk(struct trace *t, const struct progress *progress);

/* EDC's edges from critical sections (struct forced_edge by `to`); NULL when cancelled.
 * `sections`: as of order_new_edc. */
GArray *edc_edges(struct trace *t, const struct order_touches *touches, GHashTable *sections,
                  const struct progress *progress);

#endif
