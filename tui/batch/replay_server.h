/*
 * replay_server.h - heddle replay --gdb-server: waits for a debugger, serves it with the run
 * (engine/debug), and answers its "monitor heddle" commands.
 */
#ifndef HEDDLE_REPLAY_SERVER_H
#define HEDDLE_REPLAY_SERVER_H

#include "engine/record/plan.h"
#include "engine/witness/witness.h"

struct replay_server {
	const struct trace *trace;
	const struct witness *witness; /* claim and pair of none: a recorded order */
	struct plan *plan;
	char **argv;
	const char *address; /* "-", PORT, HOST:PORT or a path */
	unsigned first;      /* of the pair: 1 or 2; 0: it only stops there */
	unsigned timeout;    /* seconds: for the client to come, and for a way back; 0: none */
};

/* An address that can be served; false and `error` otherwise. */
bool replay_address_check(const char *address, struct error *error);

/* Until the debugger leaves; the exit status. */
int replay_serve(const struct replay_server *r);

#endif
