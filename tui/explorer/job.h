/*
 * job.h - long work beside the screen: a thread, its progress, a way to stop it.
 *
 * A job's `run` works on the trace and on what it owns, never on the session; when it has
 * ended the screen's thread is woken and calls `done`, which hands the result over.
 */
#ifndef HEDDLE_JOB_H
#define HEDDLE_JOB_H

#include "engine/base/base.h"

struct job {
	char *title; /* owned: "looking for races" */
	/* In a thread of its own. False with error->what "cancelled" when it was stopped. */
	bool (*run)(struct job *job, const struct progress *progress, struct error *error);
	/* In the screen's thread, after run; frees `data`. */
	void (*done)(struct job *job, bool good, const struct error *error);
	/* In the screen's thread, while it runs: what run has handed over (the items are taken
	 * over); after jobs.closing, to free them.  NULL: it hands nothing over. */
	void (*news)(struct job *job, GPtrArray *items);
	void *data, *context;
	int detail;     /* for run and done: an analysis, an order */
	bool urgent;    /* the reader waits for it: runs beside the one that is at work */
	bool tells;     /* what it says of its progress is shown with the title */
	bool exclusive; /* makes what the others use (the index): nothing runs beside it */
	/* private */
	GThread *thread;
	gint percent, stopped, finished; /* atomic */
	char what[96];                   /* under jobs->mutex */
	GPtrArray *items;                /* the same: handed over, not collected; or NULL */
	bool good;
	struct error error;
	struct jobs *jobs;
};

struct jobs {
	GPtrArray *running, *waiting; /* struct job *, owned */
	int wake[2];                  /* a pipe: a byte when a job has ended or moved on */
	bool closing;
	GMutex mutex;
};
/* From run: an item for `news`. */
void job_hand_over(struct job *job, void *item);
void jobs_init(struct jobs *jobs);
/* Stops everything and waits for it; results of stopped jobs are thrown away by `done`. */
void jobs_release(struct jobs *jobs);
/* Stops everything; have all threads come to their end within so many milliseconds?  If so,
 * jobs_release does not wait. */
bool jobs_end(struct jobs *jobs, unsigned milliseconds);
/* Takes the job (from g_new0) over. Jobs run in the order added, one at a time; the urgent
 * ones beside them. */
void jobs_add(struct jobs *jobs, struct job *job);
/* Call when the pipe is readable: runs `done` of what has ended, starts what waits. */
void jobs_collect(struct jobs *jobs);
void jobs_stop(struct jobs *jobs); /* cancel all that runs or waits */
/* Cancel only what the reader waits for; false when there is nothing of the kind. */
bool jobs_stop_urgent(struct jobs *jobs);
bool jobs_idle(const struct jobs *jobs);
/* "looking for races 34 %", or "" when idle. */
void jobs_describe(struct jobs *jobs, GString *out);

#endif
