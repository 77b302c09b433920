/*
 * run_private.h - what starting a program (run.c) and the server that forks its runs
 * (server.c) share.
 */
#ifndef HEDDLE_RUN_PRIVATE_H
#define HEDDLE_RUN_PRIVATE_H

#include "engine/record/record.h"

/* The config and the plan as a file of memory, or -1. `shared`: with what all runs share. */
int run_config_file(const struct record_options *o, const struct log_config *config,
                    bool shared, struct error *error);
/* Start the program (record_check_program's path) with the runtime; what of the config that
 * decides is filled in.  `buffer`: what config.buffer shall be there. */
bool run_launch(struct record_options *o, const char *path, bool clang_name, int buffer,
                pid_t *pid, struct error *error);

/* The log, to be read and written; no link is followed.  A descriptor, or -1 and errno. */
int record_open_log(const char *path);

/* Memory for the log's chunks, config->buffer_chunks; -1 and `error`. */
int run_make_buffer(struct log_config *config, struct error *error);
/* server.c: fork a run; false: it has to be started anew. */
bool record_server_fork(struct record_server *s, struct record_options *o, int buffer,
                        pid_t *pid, struct record_result *result);
/* Readable when its end, or the server's, has come. */
int record_server_socket(const struct record_server *s);
bool record_server_ended(struct record_server *s, int *status);

#endif
