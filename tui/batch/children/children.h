/*
 * children.h - `heddle record --children`: a command runs, and each instrumented program below
 * it is recorded in a process of its own, which attends to that one alone (attendant).
 *
 * children_run is the entry; then children_tell and children_report say what came of it. While
 * the command runs nothing is printed: tests compare standard error.
 */
#ifndef HEDDLE_CHILDREN_H
#define HEDDLE_CHILDREN_H

#include "engine/record/joined.h"

#include <stdio.h>

/* What came of a process, written by its attendant. */
struct attended {
	uint32_t ended; /* it has ended, and its trace is made */
	uint32_t done;  /* the rest is there */
	uint32_t kept;  /* there is a trace, or without traces its accesses were compared */
	uint32_t findings;
	uint32_t misused; /* without a trace: a lock, thread or the heap */
	uint64_t events;
	int32_t status, signal;  /* as struct record_result has them */
	uint32_t forked;         /* it is a child by fork */
	uint32_t unwanted;       /* which became another program at once: it is not listed */
	uint32_t answer;         /* the exit status that it got in place of 0; or 0 */
	uint32_t unseen, became; /* it was killed; it became another program */
};

/* A process that asked to be recorded. */
struct child_process {
	char *name;   /* of its program, and a number; owned */
	char *output; /* its trace, or NULL: none is wanted; owned */
	char *notes;  /* what its attendant has to say, lines; owned, NULL while it runs */
	char *report; /* its findings as record_live_report has them, or ""; owned, as notes */
	int ended_by; /* the signal that ended the attendant, or 0 */
	bool left;    /* it went on when the command had ended */
	struct attended attended;
	/* While it runs. */
	pid_t pid, attendant;
	struct attended *shared;
	int again, notes_file, report_file;
};

struct children {
	char **argv;        /* the command; borrowed, as are these */
	const char *folder; /* for the traces; made where there is none; NULL: no traces */
	/* Called in the attendant: records the process. `output`: its trace, or NULL; `report`:
	 * takes its findings. */
	void (*record)(void *context, struct joined *j, const char *output, FILE *report,
	               struct attended *to);
	void *context;
	/* Results. */
	GPtrArray *processes; /* struct child_process; by their beginnings */
	GHashTable *late;     /* files of programs that loaded instrumented code too late */
	int status;           /* as the command's: exit status, or 128 + signal */
	int interrupted;      /* a signal that came while the traces were made, or 0 */
};

/* False and `error` when the command could not be started. */
bool children_run(struct children *c, struct error *error);
void children_release(struct children *c);

/* Prints on standard error what was recorded and what not, and the findings. `quiet`: only
 * findings and what went wrong. `again`: the options that make a run once more, or NULL: traces
 * are kept. Returns the number of findings of all processes, and of processes with misuse. */
guint children_tell(const struct children *c, bool quiet, const char *again);
/* Writes the findings of all as a JSON report. */
void children_report(const struct children *c, FILE *out);

#endif
