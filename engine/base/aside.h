/*
 * aside.h - a piece of work on another thread, beside what the caller does meanwhile.
 */
#ifndef HEDDLE_ASIDE_H
#define HEDDLE_ASIDE_H

#include "engine/base/base.h"

struct aside;
/* Begins the work. NULL where there is one processor, or no thread can be made: the caller then
 * does the work itself. The two must not write what the other one reads. */
struct aside *aside_begin(void (*work)(void *context), void *context);
/* Waits for its end, and frees it; NULL is allowed. */
void aside_end(struct aside *aside);

/* For tests, which meet other interleavings so: microseconds by which the work begins later,
 * and by which its caller goes on later. Initially 0. */
extern uint32_t aside_work_delay, aside_caller_delay;

#endif
