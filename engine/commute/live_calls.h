/*
 * live_calls.h - invocations of a program that is running, through its specifications: the
 * items of EDC (predict/pairs/online.h) that they touch.
 *
 * Only pairs of methods with a condition in ECL have items, and only invocations of declared
 * methods whose values are all known: the others wait for the trace, as objects without a
 * type do.
 */
#ifndef HEDDLE_LIVE_CALLS_H
#define HEDDLE_LIVE_CALLS_H

#include "engine/commute/language/eval.h"
#include "engine/predict/pairs/online.h"

struct live_calls;
/* `specs` and `online` are borrowed; `texts`: finds strings in the numbering of the events'
 * values, which must not change. */
struct live_calls *
live_calls_new(const struct specs *specs, struct online *online,
               int64_t (*find)(void *context, const char *text, size_t length), void *context);
void live_calls_free(struct live_calls *l); /* NULL is allowed */
/* Adds the specification's data to an ACT, CALL or RET; each is passed once, in order. */
void live_calls_event(struct live_calls *l, struct flow_event *x);
/* Is this order of the two part of the question? (online_sink.asks) */
bool live_calls_ask(const struct live_calls *l, const struct online_call *first,
                    const struct online_call *second);

#endif
