/*
 * clock.h - happens-before for commutativity races: vector clocks in one pass over the
 * trace, as engine/order has them, but that synchronisation inside the scope of an
 * invocation on a specified object adds no edge (semantics.md, "Commutativity race"): else
 * the lock inside every library would hide every such race.
 */
#ifndef HEDDLE_COMMUTE_CLOCK_H
#define HEDDLE_COMMUTE_CLOCK_H

#include "engine/commute/model.h"

struct scope_clocks;
/* Needs the must-order of the trace's index.  Events are then passed in trace order. */
struct scope_clocks *scope_clocks_new(const struct model *m);
void scope_clocks_free(struct scope_clocks *c);
/*
 * Take in what happens before `event`; then the clock of its thread is the event's own.
 * An event `e` of thread u with epoch n is before it when n <= clock[u].
 */
void scope_clocks_before(struct scope_clocks *c, uint32_t event);
const uint32_t *scope_clocks_of(const struct scope_clocks *c, uint32_t thread);
/* Its own entry. */
uint32_t scope_clocks_epoch(const struct scope_clocks *c, uint32_t thread);
/* Pass on what `event` orders. */
void scope_clocks_after(struct scope_clocks *c, uint32_t event);
/* The clock at the CALL of the innermost invocation of the thread that is still open; for
 * use at its RET, before scope_clocks_after. */
const uint32_t *scope_clocks_call(const struct scope_clocks *c, uint32_t thread);

/* The instance of the innermost open invocation of the thread on a specified object, or
 * NONE. */
uint32_t scope_clocks_inside(const struct scope_clocks *c, uint32_t thread);

#endif
