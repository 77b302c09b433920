/*
 * joining.h - how a process below `heddle record --children` joins the recording: what the
 * program (stub/join.h) and the recorder (joined.c) say to each other.
 *
 * The environment variable HEDDLE_CHILDREN is the path of a socket, at which the recorder
 * listens. A program that was built for recording, and is not recorded yet, asks there before
 * any code of its own runs (stub/preinit.c, runtime/core/init.c), and starts itself once more
 * with the runtime: the same process, with the arguments, the descriptors and the environment
 * that it has, so that who started it sees no difference. Where the recorder is gone, or
 * declines, it goes on as it is.
 */
#ifndef HEDDLE_JOINING_H
#define HEDDLE_JOINING_H

#include <stdint.h>

#define JOINING_ENVIRONMENT "HEDDLE_CHILDREN"
#define JOINING_RECORDED    "HEDDLE_RECORD" /* LOG_ENVIRONMENT: the program is recorded */

/* A request is one byte; the recorder learns the rest from the system. */
enum joining_request {
	JOINING_PROGRAM = 'p', /* waits for an answer */
	JOINING_LIBRARY = 'l', /* has loaded instrumented code, too late to be recorded; waits
	                        * for the connection's end */
	JOINING_FORKED = 'k',  /* a child by fork of a recorded program, which goes on in it:
	                        * waits  for an answer */
	JOINING_FAILED = 'f',  /* after an answer: the program cannot be started again */
};

/* The answer, with descriptors of the config, the log's memory and the environment: strings,
 * each with its end; for a child by fork the log in its place. No answer: it is not recorded.
 */
enum { JOINING_DESCRIPTORS = 3 };
struct joining_answer {
	uint32_t variables; /* number of strings */
	int32_t config;     /* the numbers that the first two descriptors get */
	int32_t buffer;
	uint32_t unused;
	uint64_t bytes; /* of the environment */
};

#endif
