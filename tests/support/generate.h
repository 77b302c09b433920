/*
 * generate.h - the trace of a made-up program of any length, for benchmarks: threads that
 * access their own variables, read shared ones, and access variables guarded by locks, now
 * and then without the lock.
 *
 * Threads run in bursts, chosen at random. Outside of critical sections 8 in 100 steps want a
 * lock (those with small numbers more often), else 7 in 10 accesses are to variables of the
 * thread's own, the rest are reads of shared ones that the first thread has partly written
 * before it forked the others, and one in a thousand of these touches a guarded variable
 * without its lock: those are the races. Inside, up to twelve accesses to the variables that
 * the lock guards; sections nest up to three deep, in the order of the locks. Three in ten
 * accesses of variables that are not read by all are writes. Names of locations are numbers,
 * as STD wants them.
 */
#ifndef HEDDLE_TESTS_GENERATE_H
#define HEDDLE_TESTS_GENERATE_H

#include "engine/trace/trace.h"

struct generate_shape {
	uint64_t events; /* approximate number */
	uint32_t threads, locks, variables, seed;
	bool careful; /* no access without its lock: no race */
};
#define GENERATE_SHAPE ((struct generate_shape){ 10 * 1000 * 1000, 8, 64, 20 * 1000, 1 })

/* The trace, for the caller to close; a shape that cannot be is clamped. */
struct trace *generate_trace(struct generate_shape shape);
/* The same as a binary trace, written while it is made: for lengths that do not fit memory. */
void generate_file(struct generate_shape shape, const char *path);

#endif
