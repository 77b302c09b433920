/*
 * shares_private.h - what the files of shares.h share: processes of heddle and their results
 * (shares_jobs.c), an exploration in rounds (shares_rounds.c), options (shares_options.c).
 */
#ifndef HEDDLE_SHARES_PRIVATE_H
#define HEDDLE_SHARES_PRIVATE_H

#include "tui/batch/shares/shares.h"

#include <sys/types.h>

enum { MOST_JOBS = 256 };

/* -- options (shares_options.c) ------------------------------------------------------------ */

/* -j; prints bad usage and exits with 2. */
unsigned shares_jobs_of(const struct arguments *a);
bool shares_is_exploration(const struct arguments *a);

/* -- processes (shares_jobs.c) ------------------------------------------------------------- */

struct share_jobs {
	const struct arguments *a;
	unsigned count;
	char *folder; /* of the reports; owned */
	pid_t *pids;  /* 0: not running; owned */
	bool until_error, signalled;
	bool balances;   /* when one has ended, the others are stopped */
	gint64 earliest; /* but not before this time */
	int worst;       /* exit status of a job that could not do its share, or 0 */
	bool *lost;      /* by job: it had no report when it was stopped; owned */
	const volatile int *interrupted;
};

void shares_jobs_begin(struct share_jobs *j, const struct arguments *a, unsigned count);
void shares_jobs_end(struct share_jobs *j);
/* Begins the command with the options that are not `replaced` (NULL-terminated);
 * shares_command_end adds the program. The words are the caller's. */
GPtrArray *shares_command_begin(const struct arguments *a, const char *const *replaced);
void shares_command_add(GPtrArray *words, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void shares_command_end(const struct arguments *a, GPtrArray *words);
/* Runs heddle with its standard output in a new file (NULL: ours); a negative number: errno. */
pid_t shares_start(GPtrArray *words, const char *output, bool quiet);
/* The exit status of a process; EXIT_OURS for a `pid` that is none. */
int shares_wait_for(pid_t pid);
/* The same as a job of `j`; takes `words`. */
void shares_start_job(struct share_jobs *j, unsigned job, GPtrArray *words, const char *report);
/* Waits until all have ended; after an error, or an interruption, they are stopped. */
void shares_wait_for_all(struct share_jobs *j);
/* Runs 'heddle merge' on files, in the format asked for; returns the exit status. */
int shares_merged(const GPtrArray *files, const char *format, const char *baseline,
                  const char *output);
/* Prints that the reports cannot be kept while the command runs; the exit status. */
int shares_no_room(struct error *error);

/* -- an exploration with a state (shares_rounds.c) ------------------------------------------ */

/* Were processes that explored parts of this state killed? `state` may be NULL. */
bool shares_has_tasks(const char *state);
/* Explores in rounds: the state is divided into tasks, one a process; when one has no more work
 * while others have, all are ended, joined and divided again. Returns the exit status. */
int shares_run_rounds(const struct arguments *a, const char *state);
/* The same with a state that is not kept. */
int shares_run_rounds_once(const struct arguments *a);

#endif
