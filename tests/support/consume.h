/*
 * consume.h - everything that a reader of a trace may do with it, for fuzzers: every name,
 * value and index is followed.  A table that leads nowhere ends the process (by BUG, or the
 * sanitizers).
 */
#ifndef HEDDLE_TESTS_CONSUME_H
#define HEDDLE_TESTS_CONSUME_H

#include "engine/trace/trace.h"

void consume_trace(struct trace *t);
/* The trace as text loads again, and then as the same text. */
void consume_again(const struct trace *t);

#endif
