/*
 * order_private.h - what the files of engine/order share: walks that are kept.
 */
#ifndef HEDDLE_ORDER_PRIVATE_H
#define HEDDLE_ORDER_PRIVATE_H

#include "engine/order/causality.h"

/* CP: walks until there are no more edges. */
struct causality *cp_walk(struct trace *t, const struct progress *progress);

#endif
