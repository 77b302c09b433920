/*
 * child.h - starts another program with an argument vector, without a shell: names from traces
 * cannot be interpreted as commands.
 */
#ifndef HEDDLE_CHILD_H
#define HEDDLE_CHILD_H

#include "engine/base/base.h"

/* Run argv[0] (searched in PATH when it has no slash) and wait for its end. SIGINT and SIGQUIT
 * are ignored meanwhile; the child gets them. `silent`: discard its output. Returns the status
 * of waitpid, or -1 and errno when it could not be started. */
int child_run(char *const *argv, bool silent);
/* A program that runs beside the caller, with nothing to read and no terminal. */
struct capture {
	const char *folder; /* to run in; NULL: the current one */
	unsigned seconds;   /* it is ended after this time; 0: never */
	/* Called with its output and errors as they come, of at most CAPTURE_MOST bytes. */
	void (*said)(void *context, const char *bytes, size_t length);
	void *context;
	bool stopped, timed_out; /* results: why it was ended */
	uint64_t unsaid;         /* result: bytes beyond CAPTURE_MOST */
};
enum { CAPTURE_MOST = 1 << 20 };
/* Run argv to its end, or to that of `progress`: then it and the processes that it made are
 * ended. Returns the status of waitpid, or -1 and errno when it could not be started. */
int child_capture(char *const *argv, struct capture *capture, const struct progress *progress);
/* The command line as a shell would accept it, for display; owned by the caller. */
char *child_spelt(char *const *argv);

#endif
