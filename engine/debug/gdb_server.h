/*
 * gdb_server.h - serves one client of gdb's remote serial protocol with a replayed run, which
 * it may go through forward and backward.
 *
 * Forward packets go to gdbserver (inferior.h), with the threads renamed by the runtime's
 * numbers, so that a thread keeps its name however often the program is run again; "bs" and
 * "bc" are done by travel.h. A client's bytes are not trusted: a malformed or unknown packet
 * never reaches gdbserver.
 */
#ifndef HEDDLE_GDB_SERVER_H
#define HEDDLE_GDB_SERVER_H

#include "engine/debug/travel.h"

struct gdb_server {
	struct travel travel; /* travel.f filled in by the caller: see travel_open */
	int in, out;          /* the client */
	unsigned timeout;     /* seconds for a way back; 0: none */
	/* Append the answer to "monitor COMMAND", for the user. */
	void (*monitor)(void *context, struct gdb_server *s, const char *command, GString *out);
	/* A thread's name in the recording, or NULL; owned by the callee. */
	const char *(*thread_name)(void *context, uint32_t number);
	void *context;
	/* Said to the client with its next stop. */
	GString *notes;
	bool turn; /* the pair is to be turned when it goes on */

	/* The server's own. */
	GString *bytes, *packet;
	bool silent; /* no acknowledgements */
	bool lost;   /* gdbserver or the program */
	char last_stop[600];
	GString *sent;
	uint32_t general;    /* Hg: the runtime's number, or above */
	uint32_t stepping;   /* Hc */
	GHashTable *symbols; /* the client's answers to qSymbol */
	char *signals[2];    /* QPassSignals, QProgramSignals */
	uint64_t runs;     /* the value of travel.runs when gdbserver was last given all this */
	GArray *strangers; /* int: gdbserver's threads that the runtime does not know */
};

/* Until the client leaves.  False and `error` when the program or gdbserver is lost. */
bool gdb_server_run(struct gdb_server *s, struct error *error);
void gdb_server_release(struct gdb_server *s);

#endif
