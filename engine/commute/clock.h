/*
 * clock.h - happens-before for commutativity races: the walk of engine/order, in which
 * synchronisation inside the scope of an invocation on a specified object adds no edge
 * (semantics.md, "Commutativity race"). With these edges the lock inside every library would
 * hide every such race.
 */
#ifndef HEDDLE_COMMUTE_CLOCK_H
#define HEDDLE_COMMUTE_CLOCK_H

#include "engine/commute/model.h"

/* Pass every event in trace order: _before, then _after. */
struct scope_clocks;
/* NULL when cancelled. */
struct scope_clocks *scope_clocks_new(const struct model *m, const struct progress *progress);
void scope_clocks_free(struct scope_clocks *c);
/* Joins the edges into `event`; its thread's clock is then the event's vector clock. */
void scope_clocks_before(struct scope_clocks *c, uint32_t event);
/* The thread's vector clock, until scope_clocks_after. */
uint32_t scope_clocks_of(const struct scope_clocks *c, uint32_t thread);
/* The vector clock at the CALL of the thread's innermost open invocation, at its RET. */
uint32_t scope_clocks_call(const struct scope_clocks *c, uint32_t thread);
/* One more than the last event of another thread in such a clock; 0: none. */
uint32_t scope_clocks_time(const struct scope_clocks *c, uint32_t clock, uint32_t thread);
/* Open or close the event's scope. */
void scope_clocks_after(struct scope_clocks *c, uint32_t event);

/* Instance of the thread's innermost open invocation on a specified object, or NONE. */
uint32_t scope_clocks_inside(const struct scope_clocks *c, uint32_t thread);

#endif
