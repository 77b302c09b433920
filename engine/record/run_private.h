/*
 * run_private.h - shared by the two ways to run a program: to start it (run.c) and to fork its
 * runs from a server (server.c).
 */
#ifndef HEDDLE_RUN_PRIVATE_H
#define HEDDLE_RUN_PRIVATE_H

#include <signal.h>
#include <sys/wait.h>

#include "engine/record/record.h"

enum { RUN_WATCHDOG = 300 }; /* milliseconds, unless an option says otherwise */

/* launch.c */
/* The config and the plan as a file of memory, or -1. */
int run_config_file(const struct record_options *o, const struct log_config *config,
                    struct error *error);
/* A descriptor number that the process is unlikely to use, the same in every run; 0: ours. */
int run_high_descriptor(pid_t pid);
/* The environment of this process with what the runtime needs, and in `config` what it
 * restores; `fd`: the config's descriptor. Owned by the caller. */
char **run_environment(const struct record_options *o, struct log_config *config, int fd,
                       const char *runtime, bool clang_name);
/* Start the program (record_check_program's path) with the runtime; the fields of the config
 * that depend on the process are filled in.  `buffer`: the descriptor that becomes
 * config.buffer. */
bool run_launch(struct record_options *o, const char *path, bool clang_name, int buffer,
                pid_t *pid, struct error *error);

/* joined.c */
/* Answer the process that o->joined is: it becomes the recorded program, as by run_launch. */
bool run_join(struct record_options *o, bool clang_name, int buffer, struct error *error);
/* Wait for its end, or where it became another program, or for its answer (LOG_AWAITS). */
void run_await_joined(struct record_options *o, struct record_result *result);

/* log_file.c */
/* Opens the log for reading and writing; follows no link. A descriptor, or -1 and errno. */
int record_open_log(const char *path);
/* Create the log with its header's page, which the runtime maps.  `path` gets a number where
 * the file exists.  False when it cannot be created or the disk is full. */
bool run_make_log(char *path, size_t room, struct error *error);
/* Memory for the log's chunks, config->buffer_chunks; -1 and `error`. */
int run_make_buffer(struct log_config *config, struct error *error);
/* Write the chunks that were not full when the program ended.  Returns 0 or an errno. */
int run_write_rest(const struct log_config *config, int buffer);

/* passing.c: signals to this process between begin and end are kept, to be passed to the
 * program.
 */
enum { PASSED_ON = 4 };
struct passing {
	struct sigaction old[PASSED_ON];
};
void run_begin_passing(struct passing *p);
/* Sets the program that gets the signals, including those that came before its start; 0: it
 * has ended. */
void run_pass_to(pid_t pid);
void run_end_passing(const struct passing *p);
/* The last signal to pass on that this process got since run_begin_passing, or 0. */
int run_signal(void);
/* How many of these came when the program had ended. */
int run_late_signals(void);

/* The program's end, as by waitpid. */
static inline void run_take_status(struct record_result *result, int status)
{
	result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* server.c: forks a run from the loaded process; false: it has to be started anew. */
bool record_server_fork(struct record_server *s, struct record_options *o, int buffer,
                        pid_t *pid, struct record_result *result);
/* Becomes readable when its end, or the server's, has come. */
int record_server_socket(const struct record_server *s);
bool record_server_ended(struct record_server *s, int *status);

#endif
