/*
 * job.h - background work: a thread with progress and cancellation.
 *
 * A job's `run` may use the trace and its own data, never the session; afterwards the screen's
 * thread is woken and calls `done`, which hands over the result.
 */
#ifndef HEDDLE_JOB_H
#define HEDDLE_JOB_H

#include "engine/base/base.h"

#include <signal.h>

struct job {
	char *title; /* owned: "looking for races" */
	/* Runs in a thread of its own. False with error->cancelled when stopped. */
	bool (*run)(struct job *job, const struct progress *progress, struct error *error);
	/* Runs in the screen's thread, after `run`; frees `data`. */
	void (*done)(struct job *job, bool good, const struct error *error);
	/* Runs in the screen's thread, during `run`, with the items that it handed over
	 * (ownership passes); after jobs.closing only frees them. NULL: none. */
	void (*news)(struct job *job, GPtrArray *items);
	void *data, *context;
	int detail;     /* for run and done: an analysis, an order */
	bool urgent;    /* the user waits for it: runs beside the current job */
	bool tells;     /* show its progress text with the title */
	bool exclusive; /* makes data that others use (the index): runs alone */
	/* private */
	GThread *thread;
	sigset_t blocked;                /* of the thread that started it */
	gint percent, stopped, finished; /* atomic */
	gint step;                       /* atomic: number of restarts of the percentage */
	char what[96];                   /* under jobs->mutex */
	GPtrArray *items; /* under jobs->mutex: handed over, not collected; or NULL */
	bool good;
	struct error error;
	struct jobs *jobs;
};

struct jobs {
	GPtrArray *running, *waiting; /* struct job *, owned */
	int wake[2];                  /* a pipe: a byte for each end or progress */
	bool closing;
	GMutex mutex;
};
/* Called by run: an item for `news`. */
void job_hand_over(struct job *job, void *item);
void jobs_init(struct jobs *jobs);
/* Stop all and wait; `done` discards results of stopped jobs. */
void jobs_release(struct jobs *jobs);
/* Stop all; true when all threads ended within the time, so that jobs_release does not wait. */
bool jobs_end(struct jobs *jobs, unsigned milliseconds);
/* Add a job (from g_new0; ownership passes). Jobs run in order, one at a time, urgent ones
 * beside them. */
void jobs_add(struct jobs *jobs, struct job *job);
/* When the pipe is readable: calls `done` of ended jobs, starts waiting ones. */
void jobs_collect(struct jobs *jobs);
void jobs_stop(struct jobs *jobs); /* cancel all jobs */
/* Cancel urgent jobs only; false without one. */
bool jobs_stop_urgent(struct jobs *jobs);
bool jobs_idle(const struct jobs *jobs);
/* "looking for races 34 %", or "" when idle. */
void jobs_describe(struct jobs *jobs, GString *out);

#endif
