/*
 * pointers.h - recorded writes of pointers to blocks, from which ownership is inferred.
 */
#ifndef HEDDLE_ATOMIC_POINTERS_H
#define HEDDLE_ATOMIC_POINTERS_H

#include "engine/trace/trace.h"

/* Call `note`, in trace order, for every write of an address in a live block (in a text trace,
 * of the block's name): `variable` now points to `block`. */
void atomic_pointers(const struct trace *t,
                     void (*note)(void *context, uint32_t variable, uint32_t block),
                     void *context);

#endif
