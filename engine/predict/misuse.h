/*
 * misuse.h - calls that violate the rules of a lock, condition, semaphore, barrier or thread,
 * or have arguments that are refused, as recorded (operation misuse). They happened; behaviour
 * afterwards is undefined, but where the C library refuses the call.
 */
#ifndef HEDDLE_MISUSE_H
#define HEDDLE_MISUSE_H

#include "engine/finding.h"

/* Text for a rule of the trace ("unlock-by-other"). */
const char *misuse_text(const char *rule);

/* Is this misuse, an event of `t`, a use of an object that was destroyed or freed? */
bool misuse_of_ended(const struct trace *t, uint32_t misuse);

/* The same by its text (misuse_text, or a finding's note). */
bool misuse_uses_ended(const char *text);

/* Does this misuse, an event of `t`, release a lock that its thread does not hold? False where
 * the C library refused. */
bool misuse_unlocks(const struct trace *t, uint32_t misuse);

/* Add findings of kind lock-misuse, verdict happened, one for each rule, object and place with
 * a count (with `each`, one per event). `second` is the misuse, `first` its cause (the holder's
 * acquire, the destruction, the free), or the misuse itself if unknown; `note` is the
 * explanation. */
void misuse_add(const struct trace *t, bool each, struct report *report);

#endif
