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
	const struct witness *witness; /* without a claim and pair: a recorded order */
	struct plan *plan;
	char **argv;
	const char *address; /* "-", PORT, HOST:PORT or a path */
	unsigned first;      /* first thread of the pair: 1 or 2; 0: stop there only */
	unsigned timeout;    /* seconds: until a client connects, and for a way back; 0:
	                      * unlimited */
};

/* An address that `option` can serve; false and `error` otherwise. */
bool replay_address_check(const char *option, const char *address, struct error *error);

/* Wait for one client at an address; `invitation` says on standard error where ("waiting for
 * gdb: target remote"). With "-" the client has standard input and output, and the program
 * writes to standard error. False and `error` when none came within `timeout` seconds. */
bool replay_client(const char *address, const char *invitation, unsigned timeout, int *in,
                   int *out, struct error *error);

/* Serves until the debugger leaves; returns the exit status. */
int replay_serve(const struct replay_server *r);

#endif
