/*
 * inferior.h - one run of the replayed program under Debian's gdbserver, which does what a
 * debugger needs (registers, memory, breakpoints, threads); this file starts both, exchanges
 * packets with gdbserver, and passes the program's output on, each byte once however often it
 * is run again.
 *
 * The client's protocol and going back are not handled here. Every wait has a time limit
 * except the one for the client (inferior_resume without a deadline).
 */
#ifndef HEDDLE_INFERIOR_H
#define HEDDLE_INFERIOR_H

#include "engine/debug/packet.h"
#include "engine/record/layout.h"
#include "engine/record/plan_run.h"

/* The program's output to one descriptor. */
struct passed_output {
	int from;               /* the end that is read, or -1 */
	int to;                 /* where it goes */
	char *path;             /* of the other end; owned */
	int other;              /* the other end, held open */
	uint64_t passed, shown; /* bytes of this run; of all runs, which were passed on */
};

struct inferior {
	struct plan *plan;
	char **argv;
	unsigned first; /* of the pair: 1 or 2; 0: no pair */
	off_t input;    /* where standard input stood at first, or -1 */
	struct passed_output outputs[2];
	/* The part of the client's side that a run needs. */
	int client;           /* or -1 */
	GString *from_client; /* bytes that were read meanwhile */
	bool interrupted;     /* ^C has come, and is for the caller to reset */
	bool gone;            /* the client is */
	/* gdbserver. */
	pid_t server;
	int terminal, slave;
	GString *bytes, *reply;
	gint64 deadline; /* of inferior_resume (monotonic, microseconds), or 0 */
	bool late;       /* it has passed */
	struct plan_process process;
	volatile struct log_debug *debug; /* NULL: no process */
};

struct stop {
	char kind; /* 'T': stopped by a signal; 'W', 'X': ended; 0: nothing is known */
	int signal;
	int tid;
	uint64_t pc, sp;
	bool watch, reads; /* a watchpoint's, which is hit by reads, too */
	char text[512];    /* the packet, expanded */
};

/* Is gdbserver installed?  False and `error`. */
bool inferior_possible(struct error *error);
bool inferior_open(struct inferior *f, struct error *error);
void inferior_close(struct inferior *f);

/* Start the program anew; it waits before its first instruction of its own. */
bool inferior_start(struct inferior *f, struct error *error);

/* Send a packet and wait for the answer, in f->reply, expanded.  False when gdbserver does not
 * answer in time. */
bool inferior_ask(struct inferior *f, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
bool inferior_ask_bytes(struct inferior *f, const char *packet, size_t length);
/* inferior_ask for an answer that is "OK". */
bool inferior_ok(struct inferior *f, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* Let it run by a vCont packet and wait for its stop.  A ^C of the client stops it, as does the
 * deadline.  False: gdbserver or the client is gone. */
bool inferior_resume(struct inferior *f, const char *packet, struct stop *stop);

/* Memory of the stopped program; false when it cannot be read. */
bool inferior_read(const struct inferior *f, uint64_t address, void *bytes, size_t size);

/* Pass on the program's output so far. */
void inferior_drain(struct inferior *f);
/* From now on its output may differ from former runs' output. */
void inferior_show_again(struct inferior *f);

#endif
