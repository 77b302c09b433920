/*
 * once.h - the two messages of a once-function in a recording (trace.h, MESSAGE_BEGINS): one is
 * sent where a thread begins to run it, the other, which later callers receive, where it ends.
 */
#ifndef HEDDLE_ONCE_H
#define HEDDLE_ONCE_H

#include "engine/trace/trace.h"

/* Does the event send the first of the two? */
bool once_begins_at(const struct trace *t, uint32_t event);
/* By message that ends a once-function: the event that sends the first of the two; NONE for
 * other messages. Owned by the caller (g_free). */
uint32_t *once_begins(const struct trace *t);
/* By message: does it end a once-function? Owned by the caller (g_free). */
bool *once_messages(const struct trace *t);

#endif
