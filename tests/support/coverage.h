/*
 * coverage.h - which features the random traces of a property test had: `make soak` adds them
 * up over all tests and prints them.  Counts are appended to the file $HEDDLE_COVERAGE when the
 * process ends, as lines of a name, a tab and a number; without it nothing is kept.
 */
#ifndef HEDDLE_TESTS_COVERAGE_H
#define HEDDLE_TESTS_COVERAGE_H

#include "engine/trace/trace.h"

/* Counts the features of a trace, and hands it back (NULL is allowed). */
struct trace *coverage_trace(struct trace *t);
/* Counts anything else: witnesses, mutants. `name` is a literal. */
void coverage_add(const char *name, uint64_t count);

#endif
