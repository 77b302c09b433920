/*
 * lifetimes.h - memory and synchronisation objects that a run uses after their end: accesses
 * of a freed block, operations on an object that was destroyed or whose block was freed, a
 * second free, and accesses of the stack of a thread that was joined.
 *
 * Whether a use comes before or after the end is an outcome of it, as a read's value is: both
 * are explored, and a run in which the end came first is an error whatever else it does.
 */
#ifndef HEDDLE_LIFETIMES_H
#define HEDDLE_LIFETIMES_H

#include "engine/trace/trace.h"

struct lifetimes;
/* Of a trace, which must outlive it; indexes it. */
struct lifetimes *lifetimes_new(struct trace *t);
void lifetimes_free(struct lifetimes *l);

enum { MOST_LIFETIME_ENDS = 2 };
/* Events of which each ends what `event` uses, before it or after it; returns how many. */
unsigned lifetimes_ends(const struct lifetimes *l, uint32_t event,
                        uint32_t ends[MOST_LIFETIME_ENDS]);
/* The first of them, when it comes before the event; else NONE. */
uint32_t lifetimes_ended(const struct lifetimes *l, uint32_t event);

/* A wait that had not ended with the run, for an object that was destroyed or freed before: a
 * use of it, though not an event that takes effect. */
struct ended_wait {
	uint32_t want, end;
};
/* All of a run; the caller unrefs the array. */
GArray *lifetimes_ended_waits(const struct lifetimes *l);
/* Does `event` end what `thread` (NONE: any) waits for at the end of the run?  Without it the
 * thread might have gone on. */
bool lifetimes_ends_wait(const struct lifetimes *l, uint32_t event, uint32_t thread);

#endif
