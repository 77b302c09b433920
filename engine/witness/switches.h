/*
 * switches.h - the context switches of a witness, and the reason for each.
 */
#ifndef HEDDLE_SWITCHES_H
#define HEDDLE_SWITCHES_H

#include "engine/witness/witness.h"

enum switch_reason {
	SWITCH_OPTIONAL,
	SWITCH_READS, /* a read of the old thread must see another thread's write first */
	SWITCH_WRITE, /* a write must wait until a read has seen the old value */
	SWITCH_LOCK,  /* a lock must become free */
	SWITCH_MUST,  /* a must-order */
	SWITCH_END,   /* the old thread has reached its event of the pair, or its end */
};
struct context_switch {
	uint32_t at; /* index: events[at - 1] and events[at] are of two threads */
	enum switch_reason reason;
	uint32_t waits;   /* the old thread's next event, which is not enabled; or NONE */
	uint32_t because; /* the other thread's event that it waits for; or NONE */
};
/* "optional", "read", "write", "lock", "must-order", "end" */
const char *switch_word(enum switch_reason reason);
/* GArray of struct context_switch, owned by the caller. */
GArray *witness_switches(const struct trace *t, const struct witness *w);
/* Append the reason in the user's names: which read must see which write, which lock, which
 * order. */
void witness_append_reason(const struct trace *t, const struct context_switch *s, GString *out);

#endif
