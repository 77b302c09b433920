/*
 * edc.h - what the events of a trace touch and what clashes, for the order EDC
 * (engine/order/edc.c): memory accesses, and the access points of invocations.
 */
#ifndef HEDDLE_COMMUTE_EDC_H
#define HEDDLE_COMMUTE_EDC_H

#include "engine/commute/model.h"
#include "engine/order/order.h"

/*
 * EDC of the model's trace.  Accesses inside the scopes of invocations on specified objects
 * touch nothing.  Invocations that are compared pair by pair (not ECL) touch a thing of
 * their own each, which clashes with those of the ones that they do not commute with.  NULL
 * when cancelled.
 */
struct edc;
struct edc *edc_new(struct model *m, bool bounded, const struct progress *progress);
void edc_free(struct edc *e);
const struct order *edc_order(const struct edc *e); /* borrowed */
/* The order alone, for who only asks it; owned by the caller. */
struct order *edc_order_new(struct model *m, const struct progress *progress);

struct edc_options {
	bool pairs_events;
	bool bounded;
};
/*
 * OVPredict's report (the thesis's algorithm 2): pairs that do not commute and that EDC does
 * not order, the second's own edges left out; of two under one lock, those whose critical
 * sections it does not order either, as seen at the second's release.  Candidates all.
 * NULL and `error` on failure.
 */
struct report *edc_find(struct model *m, const struct edc_options *options,
                        const struct progress *progress, struct error *error);
/* Does EDC order the pair in that sense?  (e1 before e2 in the trace.) */
bool edc_orders_pair(const struct edc *e, uint32_t e1, uint32_t e2);

#endif
