/*
 * replay_gdb.h - starts gdb on a program that stands at the pair, in thread and frame of the
 * first access, with the runtime's frames hidden.
 */
#ifndef HEDDLE_REPLAY_GDB_H
#define HEDDLE_REPLAY_GDB_H

#include "engine/trace/trace.h"

struct gdb_stop {
	const struct trace *trace; /* borrowed */
	uint32_t pair[2];          /* the events before which it stands; NONE: none */
};
/* Run gdb until the user leaves it; `context` is a struct gdb_stop (plan_follow's callback). */
void gdb_at_pair(void *context, pid_t pid);

#endif
