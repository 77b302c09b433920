/*
 * clock.h - happens-before for commutativity races: vector clocks in one pass over the trace,
 * as in engine/order, except that synchronisation inside the scope of an invocation on a
 * specified object adds no edge (semantics.md, "Commutativity race"). With these edges the lock
 * inside every library would hide every such race.
 */
#ifndef HEDDLE_COMMUTE_CLOCK_H
#define HEDDLE_COMMUTE_CLOCK_H

#include "engine/commute/model.h"

struct scope_clocks;
/* Requires the must-order of the trace's index. Pass every event in trace order: _before, then
 * _after. */
struct scope_clocks *scope_clocks_new(const struct model *m);
void scope_clocks_free(struct scope_clocks *c);
/* Join the edges into `event`; its thread's clock is then the event's vector clock. An event of
 * thread u at epoch n happens before it when n <= clock[u]. */
void scope_clocks_before(struct scope_clocks *c, uint32_t event);
const uint32_t *scope_clocks_of(const struct scope_clocks *c, uint32_t thread);
/* The component of such a clock for a thread. */
uint32_t scope_clocks_time(const struct scope_clocks *c, const uint32_t *clock,
                           uint32_t thread);
/* The thread's own component. */
uint32_t scope_clocks_epoch(const struct scope_clocks *c, uint32_t thread);
/* Record the edges out of `event`. */
void scope_clocks_after(struct scope_clocks *c, uint32_t event);
/* The vector clock at the CALL of the thread's innermost open invocation. Valid at its RET,
 * before scope_clocks_after. */
const uint32_t *scope_clocks_call(const struct scope_clocks *c, uint32_t thread);

/* Instance of the thread's innermost open invocation on a specified object, or NONE. */
uint32_t scope_clocks_inside(const struct scope_clocks *c, uint32_t thread);

#endif
