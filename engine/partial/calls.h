/*
 * calls.h - the calls of uninstrumented code in a trace (barrier pairs, RDIT): which call a
 * thread is in at an event, and the common addresses by which two events keep their order.
 */
#ifndef HEDDLE_CALLS_H
#define HEDDLE_CALLS_H

#include "engine/trace/index.h"

/* -- addresses -------------------------------------------------------------------------- */

/* The addresses that a call may reach, as indices of the trace's values. */
struct event_list missing_reach(const struct trace *t, uint32_t miss);
/* The text of an address, borrowed from the trace; NULL: the value is no address. */
const char *missing_address(const struct trace *t, uint32_t value);

/* Call `visit` for each address that contains `name`: for `p.f[1]` itself, `p.f` and `p`; for
 * `p->f` and `p[i]` also `*p`, the name of a heap block in recordings. `whole`: it is the name
 * itself. The text is valid during the call only. */
void missing_name_within(const char *name,
                         void (*visit)(const char *address, bool whole, void *context),
                         void *context);

/* -- calls by thread ---------------------------------------------------------------------- */

struct missing_calls;

/* Requires INDEX_THREADS and INDEX_MATCH; one pass. NULL: no calls. Four bytes for each
 * outermost call. */
struct missing_calls *missing_calls_new(const struct trace *t);
void missing_calls_free(struct missing_calls *calls); /* may be NULL */
/* The outermost call that `thread` is in at the time of `event` (of any thread), ends included:
 * its `miss`, or NONE. Binary search. */
uint32_t missing_calls_at(const struct missing_calls *calls, const struct trace *t,
                          uint32_t thread, uint32_t event);
/* The innermost call around `event`, ends included. */
uint32_t missing_calls_inside(const struct missing_calls *calls, const struct trace *t,
                              uint32_t event);
/* Number of outermost calls of the thread that begin before `event`. */
uint64_t missing_calls_before(const struct missing_calls *calls, uint32_t thread,
                              uint32_t event);
uint64_t missing_calls_of(const struct missing_calls *calls, uint32_t thread);

/* -- the reason why two events keep their order ------------------------------------------- */

struct missing_reason {
	uint32_t calls[2];   /* `miss` of the call around each event; NONE: itself an access */
	const char *address; /* a common address; borrowed from the trace */
	uint32_t more;       /* number of further common addresses */
};

/* The common address behind a must-order of rule MUST_MISSING; false when barrier pairs do not
 * order the two events directly. Time: the addresses of their calls. */
bool missing_reason(const struct missing_calls *calls, const struct trace *t, uint32_t before,
                    uint32_t after, struct missing_reason *reason);
/* "box_put@l.so (10) and box_take@l.so (28) may both touch *box and 1 more" */
void missing_reason_append(const struct trace *t, const struct missing_reason *reason,
                           uint32_t before, uint32_t after, GString *out);
/* The condition under which the two are free: "box_put@l.so (10) and box_take@l.so (28), which
 * may both touch *box and 1 more, do not synchronise". */
void missing_condition_append(const struct trace *t, const struct missing_reason *reason,
                              uint32_t before, uint32_t after, GString *out);

#endif
