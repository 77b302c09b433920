/*
 * run_private.h - what starting a program (run.c) and the server that forks its runs
 * (server.c) share.
 */
#ifndef HEDDLE_RUN_PRIVATE_H
#define HEDDLE_RUN_PRIVATE_H

#include <signal.h>

#include "engine/record/record.h"

enum { RUN_WATCHDOG = 300 }; /* milliseconds, unless it is said */

/* The config and the plan as a file of memory, or -1. */
int run_config_file(const struct record_options *o, const struct log_config *config,
                    struct error *error);
/* Start the program (record_check_program's path) with the runtime; what of the config that
 * decides is filled in.  `buffer`: what config.buffer shall be there. */
bool run_launch(struct record_options *o, const char *path, bool clang_name, int buffer,
                pid_t *pid, struct error *error);

/* The log, to be read and written; no link is followed.  A descriptor, or -1 and errno. */
int record_open_log(const char *path);

/* Memory for the log's chunks, config->buffer_chunks; -1 and `error`. */
int run_make_buffer(struct log_config *config, struct error *error);
/* Signals to this process between the two are kept, to be passed to the program. */
enum { PASSED_ON = 4 };
struct passing {
	struct sigaction old[PASSED_ON];
};
void run_begin_passing(struct passing *p);
void run_end_passing(const struct passing *p);
int run_told(void); /* the last one, or 0 */
/* The program's end, as by waitpid. */
void run_take_status(struct record_result *result, int status);

/* server.c: fork a run from the loaded process; false: it has to be started anew. */
bool record_server_fork(struct record_server *s, struct record_options *o, int buffer,
                        pid_t *pid, struct record_result *result);
/* Readable when its end, or the server's, has come. */
int record_server_socket(const struct record_server *s);
bool record_server_ended(struct record_server *s, int *status);

#endif
