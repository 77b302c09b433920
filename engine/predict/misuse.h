/*
 * misuse.h - calls that broke the rules of a lock, condition, semaphore or barrier, as the
 * recording notes them (the operation misuse).  They happened; what follows them is undefined.
 */
#ifndef HEDDLE_MISUSE_H
#define HEDDLE_MISUSE_H

#include "engine/finding.h"

/* The words for a rule of the trace ("unlock-by-other"): how it was broken. */
const char *misuse_text(const char *rule);

/* Is this misuse, an event of `t`, a use of what was destroyed? */
bool misuse_of_destroyed(const struct trace *t, uint32_t misuse);

/*
 * Adds findings of kind lock-misuse with the verdict happened, one for each rule, object and
 * place with its count (with `each`, one for each event).  `second` is the misuse, `first` the
 * event that makes it one (the acquire of the holder, the destruction), or the misuse itself
 * where the trace shows none; `note` says what is wrong.
 */
void misuse_add(const struct trace *t, bool each, struct report *report);

#endif
