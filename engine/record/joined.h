/*
 * joined.h - a process that joins the recording of `heddle record --children`: the recorder's
 * side of joining.h. The recorder is not the process's parent: it learns of its end by a pidfd,
 * and of its exit status by the log's header.
 */
#ifndef HEDDLE_JOINED_H
#define HEDDLE_JOINED_H

#include "engine/base/base.h"
#include "engine/record/joining.h"

#include <sys/types.h>

struct joined {
	pid_t pid;
	pid_t parent;
	bool forked; /* a child by fork of a recorded process, which goes on with its log */
	int socket;  /* the connection, which ends when it has become the recorded program */
	int process; /* pidfd, or -1 where the system has none */
	/* A descriptor that can be read when the process has become another program, which has
	 * asked anew; or -1. */
	int again;
	char **argv; /* its program's file, then its arguments */
	char **environment;
	/* Set by record_run: the page of the log's header (struct log_header), shared with the
	 * process, which may wait there for joined_answer; NULL: there is none. */
	void *header;
	/* A file for joined_turn, or -1; how many have a turn at a time. */
	int turns;
	unsigned most;
	uint32_t *ended; /* set to 1 when the process has ended, or waits; or NULL */
};

/* Takes a connection, and hears its request. NULL: there is none that needs an answer, and it
 * is closed; then `*late` is the file of a program that has loaded instrumented code too late,
 * or NULL. Owned by the caller. */
struct joined *joined_take(int socket, char **late);
/* Its folder and environment become this process's. False: it has ended. */
bool joined_become(struct joined *j);
/* The status that the process ends with, if it waits for that. */
void joined_answer(struct joined *j, int status);
/* Closes the connection: a process that got no answer goes on unrecorded. */
void joined_free(struct joined *j);

#endif
