/*
 * pointers.h - which recorded writes stored a pointer into which block: who owns what.
 */
#ifndef HEDDLE_ATOMIC_POINTERS_H
#define HEDDLE_ATOMIC_POINTERS_H

#include "engine/trace/trace.h"

/*
 * Calls `note` for every write (in trace order) of a value that is the address of a byte in a
 * block that is alive there, or, in a text trace, the block's name: `variable` now points to
 * `block`.
 */
void atomic_pointers(const struct trace *t,
                     void (*note)(void *context, uint32_t variable, uint32_t block),
                     void *context);

#endif
