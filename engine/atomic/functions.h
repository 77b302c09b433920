/*
 * functions.h - facts from the debug information about the functions in a trace: structures
 * that their parameters point to, and linkage.
 */
#ifndef HEDDLE_ATOMIC_FUNCTIONS_H
#define HEDDLE_ATOMIC_FUNCTIONS_H

#include "engine/atomic/places.h"

/* A parameter that is a pointer to a structure. */
struct atomic_parameter {
	const char *name;
	const char *type; /* as in struct atomic_place; interned */
};

struct atomic_function {
	GArray *parameters; /* struct atomic_parameter; NULL: none */
	bool known;         /* found in the debug information */
	bool open;          /* external linkage, or its address is taken */
};

struct atomic_functions {
	struct atomic_function *at; /* by string: functions entered in the trace */
	uint64_t count;
	bool any; /* at least one is known */
};
struct atomic_functions *atomic_functions_new(const struct trace *t, struct atomic_places *p);
void atomic_functions_free(struct atomic_functions *f);
/* Number of parameters that point to a `type`. */
guint atomic_function_takes(const struct atomic_function *f, const char *type);

/* Functions of the C library that appear as frames, such as "poll@libc": places where a thread
 * may sleep, block, or run a handler. */
enum atomic_call {
	CALL_OTHER,
	CALL_SLEEP, /* sleep, usleep, nanosleep, ... */
	CALL_POLL,  /* poll, select, epoll_wait, ... */
	CALL_INPUT, /* read, recv, accept, ... that may block */
	CALL_HANDLE /* runs signal or exit handlers */
};
enum atomic_call atomic_call_named(const char *name);

#endif
