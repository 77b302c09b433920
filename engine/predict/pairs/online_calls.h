/*
 * online_calls.h - calls of objects with a specification, and waits and signals, of a program
 * that is running: those that clash in an item and that EDC leaves unordered. Of each item,
 * thread and place the last call is kept.
 */
#ifndef HEDDLE_ONLINE_CALLS_H
#define HEDDLE_ONLINE_CALLS_H

#include "engine/order/clocks.h"
#include "engine/predict/pairs/online_items.h"
#include "engine/predict/pairs/online_turns.h"

struct online_calls;
/* All borrowed. */
struct online_calls *online_calls_new(const struct online_sink *sink, struct clocks *clocks,
                                      struct online_items *items, struct online_turns *turns);
void online_calls_free(struct online_calls *s); /* NULL is allowed */
/* A CALL. */
void online_calls_begin(struct online_calls *s, const struct flow_event *x);
/* A call takes effect: RET, ACT, or an operation on a condition; before the event's own edges
 * from critical sections. `held`: edc_sections_held of its thread. */
void online_calls_effect(struct online_calls *s, const struct flow_event *x,
                         struct edc_held *held);
/* The object of the innermost open call of the thread that has a specification, or NONE. */
uint32_t online_calls_scope(const struct online_calls *s, uint32_t thread);
void online_calls_mark(const struct online_calls *s); /* clocks_mark */

#endif
