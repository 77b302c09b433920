/*
 * flow.h - an event of a trace that is still being made, for analyses that take each once, in
 * order, and keep no trace.
 */
#ifndef HEDDLE_FLOW_H
#define HEDDLE_FLOW_H

#include "engine/trace/event.h"
#include "engine/trace/trace.h"

/* An invocation: the name of its object's type ("": unknown) and of its method, arguments (ACT,
 * CALL) and results (ACT, RET). Borrowed. */
struct flow_call {
	const char *type, *method;
	const struct value *values; /* with strings of the caller's numbering */
	uint32_t arguments, results;
};

struct flow_event {
	enum op op;
	uint8_t flags;   /* as an event's */
	uint32_t thread; /* all numbers are those of the trace, as far as it is known */
	uint32_t number; /* of the event: ascending */
	uint32_t target; /* by the operation's operand kind; of an access unused */
	/* The block that an access or an operation on an object lies in, or NONE. */
	uint32_t block;
	int32_t count;  /* of a semaphore: its first count */
	uint64_t point; /* of an access: the caller's number of its place in the program */
	/* Of an access: the variables that it covers, borrowed. */
	const uint32_t *variables;
	uint32_t variables_count;
	const struct flow_call *call; /* of an ACT, CALL or RET; or NULL */
	/* For EDC, by the specifications (engine/commute/live_calls.h): of a CALL, whether its
	 * object has one; of an ACT or RET the method and the items touched, borrowed. */
	bool specified;
	uint32_t method, items_count;
	const uint32_t *items;
};

/* Accesses of one thread, neither atomic nor inert, in the order of their numbers, without
 * another event of the trace between them but calls and returns. One that covers several
 * variables is there once for each of them, and only the first has the block. */
struct flow_access {
	uint64_t point;
	uint32_t number, variable; /* these and the block as in flow_event */
	struct flow_kind {
		uint32_t block, op; /* OP_READ or OP_WRITE */
	} of;
};
struct flow_run {
	uint32_t thread, count;
	const struct flow_access *at; /* borrowed */
};

#endif
