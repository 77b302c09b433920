/*
 * lifetimes.h - uses after the end of life: accesses to freed blocks, operations on objects
 * destroyed or in freed blocks, double frees, uses of another thread's stack when that thread
 * has ended, or the function whose variable it is has returned (frames.h).
 *
 * The order of a use and an end is an outcome like a value read: both are explored, and a run
 * with the end first is an error.
 */
#ifndef HEDDLE_LIFETIMES_H
#define HEDDLE_LIFETIMES_H

#include "engine/trace/trace.h"

struct lifetimes;
/* `t` is indexed and must outlive it. */
struct lifetimes *lifetimes_new(struct trace *t);
void lifetimes_free(struct lifetimes *l);

enum { MOST_LIFETIME_ENDS = 2 };
/* Events that end the life of the block or object that `event` uses, before or after it;
 * returns their number. */
unsigned lifetimes_ends(const struct lifetimes *l, uint32_t event,
                        uint32_t ends[MOST_LIFETIME_ENDS]);
/* Does the event end a thread, or a function, whose local variables another thread uses? */
bool lifetimes_ends_stack(const struct lifetimes *l, uint32_t event);
/* The first of them if before the event; else NONE. */
uint32_t lifetimes_ended(const struct lifetimes *l, uint32_t event);

/* Does `later` come after the end of what `use` uses, by its own thread's order? */
bool lifetimes_apart(const struct lifetimes *l, uint32_t use, uint32_t later);
/* Bit set by event: reads of local variables after their functions returned. They see what
 * later functions left there, so that no order follows from it. NULL: there are none. Lives as
 * long as `l`. */
const uint64_t *lifetimes_unobserved(const struct lifetimes *l);
/* Does the run use a local variable after its function returned? */
bool lifetimes_any_return(const struct lifetimes *l);

/* A wait pending at the end of the run for an object destroyed or freed before: a use that
 * takes no effect. */
struct ended_wait {
	uint32_t want, end;
};
/* All such waits of a run; the caller unrefs the array. */
GArray *lifetimes_ended_waits(const struct lifetimes *l);
/* Does `event` end the object that `thread` (NONE: any) waits for at the end of the run?
 * Without it the thread might have continued. */
bool lifetimes_ends_wait(const struct lifetimes *l, uint32_t event, uint32_t thread);

#endif
