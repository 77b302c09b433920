/*
 * edc.h - the input of the order EDC (engine/order/edc.c) from a trace and its specifications:
 * memory accesses and access points, and the report of pairs that EDC leaves unordered.
 */
#ifndef HEDDLE_COMMUTE_EDC_H
#define HEDDLE_COMMUTE_EDC_H

#include "engine/commute/model.h"
#include "engine/order/order.h"

/* EDC of the model's trace; NULL and `error` on failure. Accesses inside the scope of an
 * invocation on a specified object are no items. Where a pair of methods is not ECL, each
 * invocation is an item of its own, which clashes with those that it does not commute with. */
struct edc;
struct edc *edc_new(struct model *m, bool bounded, const struct progress *progress,
                    struct error *error);
void edc_free(struct edc *e);
const struct order *edc_order(const struct edc *e); /* borrowed */
/* The order alone; owned by the caller. */
struct order *edc_order_new(struct model *m, const struct progress *progress,
                            struct error *error);

struct edc_options {
	bool pairs_events;
	bool bounded;
};
/*
 * OVPredict's report (algorithm 2 of the thesis): pairs that do not commute and that EDC leaves
 * unordered without the second's own edges. A pair under one lock is only reported if its
 * critical sections are unordered, too, as of the second's release. All are candidates. NULL
 * and `error` on failure.
 */
struct report *edc_find(struct model *m, const struct edc_options *options,
                        const struct progress *progress, struct error *error);
/* Is the pair ordered by EDC in this sense? `events`: the events at which the two begin, the
 * first one first; `ends`: those at which they take effect. */
bool edc_orders_pair(const struct edc *e, const uint32_t events[2], const uint32_t ends[2]);

#endif
