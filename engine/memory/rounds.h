/*
 * rounds.h - rounds of loops that wait: iterations of a thread that changed nothing.
 *
 * A round begins with an atomic access and ends where the thread begins an access in the same
 * state (the runtime's: registers, stack and operands) without having changed memory between.
 * A thread that reads the same would make it again, and one that leaves it out does nothing
 * else later: loads and fences that are left out of an execution graph leave it consistent, and
 * so do updates that write what they read. (Kokologiannakis, Ren, Vafeiadis: Dynamic partial
 * order reductions for spinloops, FMCAD 2021, decides it on the program's code.)
 */
#ifndef HEDDLE_MEMORY_ROUNDS_H
#define HEDDLE_MEMORY_ROUNDS_H

#include "engine/trace/trace.h"

/* Did the update write the value it read? */
bool memory_writes_the_same(const struct trace *t, const struct event *x);

struct memory_rounds {
	/* By event: is it in a round? */
	bool *in_vain;
	/* By event with which a round ends, as its thread is in the same state again: the
	 * first event of the round; else NONE. */
	uint32_t *first;
};
/* Is a plain access an event of the graph? */
typedef bool memory_shared(const void *context, uint32_t event);
/* Does the event leave memory and other threads unchanged? */
bool memory_changes_nothing(const struct trace *t, uint32_t event, memory_shared *shared,
                            const void *context);
/* `states`: by event, the state that its thread begins it in; 0: not known. A round may write
 * plainly to its thread's own stack, which is part of the state, except to `shared` memory.
 * `updates`: rounds with updates are none `in_vain`, but have their `first`. `sections`: a
 * round may begin with an acquire, and have whole critical sections. */
void memory_rounds_init(struct memory_rounds *r, const struct trace *t, const uint64_t *states,
                        memory_shared *shared, const void *context, bool updates,
                        const bool *sections);
/* Does it enter a critical section, or leave one? */
bool memory_is_section(const struct event *x);
void memory_rounds_release(struct memory_rounds *r);

#endif
