/*
 * calls.h - the missing calls of a trace (barrier pairs): which thread was inside of one when,
 * and what two events may both have touched there, so that they keep their order.
 */
#ifndef HEDDLE_CALLS_H
#define HEDDLE_CALLS_H

#include "engine/trace/index.h"

/* -- addresses -------------------------------------------------------------------------- */

/* The addresses of a missing call, as indexes of the trace's values. */
struct event_list missing_reach(const struct trace *t, uint32_t miss);
/* The text of one of them, borrowed from the trace; NULL: a value that is no address. */
const char *missing_address(const struct trace *t, uint32_t value);

/*
 * Calls `visit` with each address that `name` is or is a part of: of `p.f[1]` itself, `p.f`
 * and `p`; of `p->f` and `p[i]` also `*p`, as recordings name a heap block.  `whole`: it is
 * the name itself.  The text lasts for the call only.
 */
void missing_name_within(const char *name,
                         void (*visit)(const char *address, bool whole, void *context),
                         void *context);

/* -- where they are --------------------------------------------------------------------- */

struct missing_calls;

/* Needs INDEX_THREADS and INDEX_MATCH, and one pass; NULL when there are none.  Memory: four
 * bytes for each that lies in no other one. */
struct missing_calls *missing_calls_new(const struct trace *t);
void missing_calls_free(struct missing_calls *calls); /* NULL: nothing */
/* The outermost call that the thread is inside of at the time of `event` (which may be another
 * thread's), its two ends included: its `miss`, or NONE.  A binary search. */
uint32_t missing_calls_at(const struct missing_calls *calls, const struct trace *t,
                          uint32_t thread, uint32_t event);
/* The innermost call that the event itself lies in, its ends included. */
uint32_t missing_calls_inside(const struct missing_calls *calls, const struct trace *t,
                              uint32_t event);
/* How many outermost calls of the thread begin before `event`. */
uint64_t missing_calls_before(const struct missing_calls *calls, uint32_t thread,
                              uint32_t event);
uint64_t missing_calls_of(const struct missing_calls *calls, uint32_t thread);

/* -- why two events keep their order ---------------------------------------------------- */

struct missing_reason {
	uint32_t
	        calls[2]; /* the `miss` of the call that each lies in; NONE: itself an access */
	const char *address; /* what both may have touched; borrowed from the trace */
	uint32_t more;       /* how many addresses besides */
};

/* What a must-edge of rule MUST_MISSING rests on; false for two events that missing code does
 * not order by itself.  Costs the addresses of the calls that the two lie in. */
bool missing_reason(const struct missing_calls *calls, const struct trace *t, uint32_t before,
                    uint32_t after, struct missing_reason *reason);
/* "box_put@l.so (10) and box_take@l.so (28) may both touch *box and 1 more" */
void missing_reason_append(const struct trace *t, const struct missing_reason *reason,
                           uint32_t before, uint32_t after, GString *out);
/* The condition under which the two are free: "box_put@l.so (10) and box_take@l.so (28), which may
 * both touch *box and 1 more, do not synchronise". */
void missing_condition_append(const struct trace *t, const struct missing_reason *reason,
                              uint32_t before, uint32_t after, GString *out);

#endif
