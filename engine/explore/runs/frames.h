/*
 * frames.h - the functions of a thread that have returned, and the last steps before their
 * returns: after that step the function's local variables may be gone at any time.
 *
 * Which call of a function an address of a stack belongs to depends on when another thread
 * learns it: it is the innermost call, of those that had not returned at the last event of the
 * stack's thread in the causal past of the use (order/past.h), whose frame begins above the
 * address. A later call at the same place of the stack cannot have given the address to it.
 */
#ifndef HEDDLE_FRAMES_H
#define HEDDLE_FRAMES_H

#include "engine/order/past.h"
#include "engine/trace/trace.h"

/* The calls of one thread. */
struct frames;
/* `t` has its index by threads, and must outlive it. `stack`: the address of the block of the
 * thread's stack. */
struct frames *frames_new(const struct trace *t, uint32_t thread, uint64_t stack);
void frames_free(struct frames *f);

/* Has a function returned whose frame begins above the address? Without one, no use of it comes
 * after a return. */
bool frames_may_end(const struct frames *f, uint64_t address);
/* The end of the frame that holds the address when `use` happens, an event of another thread:
 * the last event with an effect of the stack's thread in the function. NONE: the function has
 * not returned, or it is not known whether something let it wait for `use`. */
uint32_t frames_end(const struct frames *f, const struct past *past, uint32_t use,
                    uint64_t address);

/*
 * The accesses whose value is a pointer to a local variable of a function that another one of
 * its thread called, a bit by event; NULL: there are none. Owned by the caller.
 *
 * Two calls of such a function may have the variable at the same address, one after the other:
 * that the values are equal does not make a read of the one a read of the other.
 */
uint64_t *frames_pointers(const struct trace *t);

#endif
