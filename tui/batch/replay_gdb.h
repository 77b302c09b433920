/*
 * replay_gdb.h - gdb at the pair: attached to the program that stands there, in the thread and
 * the frame of the first access, without the recording runtime's own frames in its backtraces.
 */
#ifndef HEDDLE_REPLAY_GDB_H
#define HEDDLE_REPLAY_GDB_H

#include "engine/trace/trace.h"

struct gdb_stop {
	const struct trace *trace; /* borrowed */
	uint32_t pair[2];          /* the events it stands before; NONE: none */
};
/* Run gdb until it is left; `context` is a struct gdb_stop (plan_follow's callback). */
void gdb_at_pair(void *context, pid_t pid);

#endif
