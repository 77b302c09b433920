/*
 * functions.h - what the debug information says of the functions that a trace shows: which
 * structures their parameters point to, and who may call them.
 */
#ifndef HEDDLE_ATOMIC_FUNCTIONS_H
#define HEDDLE_ATOMIC_FUNCTIONS_H

#include "engine/atomic/places.h"

struct atomic_parameter { /* that points to a structure */
	const char *name;
	const char *type; /* as in struct atomic_place; interned there */
};

struct atomic_function {
	GArray *parameters; /* struct atomic_parameter; NULL: none */
	bool known;         /* the debug information has it */
	bool open;          /* external linkage, or its address is taken */
};

struct atomic_functions {
	struct atomic_function *at; /* by string: functions that are entered in the trace */
	uint64_t count;
	bool any; /* something was known */
};
struct atomic_functions *atomic_functions_new(const struct trace *t, struct atomic_places *p);
void atomic_functions_free(struct atomic_functions *f);
/* How many parameters of a function point to a `type`. */
guint atomic_function_takes(const struct atomic_function *f, const char *type);

/*
 * Calls of the C library that a recording shows as frames: "poll@libc".  A frame of one says
 * where a thread may sleep, waits for input, or runs a handler.
 */
enum atomic_call {
	CALL_OTHER,
	CALL_SLEEP, /* sleep, usleep, nanosleep, ... */
	CALL_POLL,  /* poll, select, epoll_wait, ... */
	CALL_INPUT, /* read, recv, accept, ... where they may block */
	CALL_HANDLE /* signal handlers and exit handlers run inside it */
};
enum atomic_call atomic_call_named(const char *name);

#endif
