/*
 * tasks.h - an exploration divided over machines, in rounds.
 *
 * The state of an exploration (checkpoint.h) is divided into tasks. One file, the base, has
 * the state before the division; each task has an even share of the pending schedules, and
 * later its additions. A task is explored like any state (`explore --resume TASK`), for as
 * long as its budget lasts, by any machine that has the base beside it, and again after it
 * was killed. The join of all tasks of a division is one state again: the base counts once,
 * and so does a class that several tasks met. The schedules then pending can be divided anew,
 * so that a task with much work is shared by all in the next round.
 */
#ifndef HEDDLE_TASKS_H
#define HEDDLE_TASKS_H

#include "engine/explore/explore.h"

enum { MOST_TASKS = 100000 };

/* A state without its program; tasks_free. */
struct tasks;

/* Is the file the state of an exploration? */
bool tasks_are(const char *path);
/* The join of files (char *): all tasks of one division, once each, or else a single state.
 * The base, which is read from beside the first of the tasks, may be among them.
 * With `lenient` tasks may be missing, which is a reason for incompleteness. NULL and `error`.
 */
struct tasks *tasks_join(const GPtrArray *paths, bool lenient, struct error *error);
/* Writes the state as one file, from which the exploration can be resumed. */
bool tasks_keep(struct tasks *tasks, const char *path, struct error *error);
/* Write it as PREFIX.base and PREFIX.1 to PREFIX.COUNT; files that exist are never
 * overwritten. */
bool tasks_divide(struct tasks *tasks, const char *prefix, uint32_t count, struct error *error);
void tasks_free(struct tasks *tasks);

/* Number of schedules and runs left to process; number of all runs; was there an error? */
uint64_t tasks_left(const struct tasks *tasks);
uint64_t tasks_runs(const struct tasks *tasks);
bool tasks_failed(const struct tasks *tasks);
/* The rest is owned by the tasks. Makes the report of the join, after which they can neither
 * be kept nor divided: */
const struct explore_report *tasks_report(struct tasks *tasks);
const char *tasks_program(const struct tasks *tasks);
/* The exploration's options, as text. */
const char *tasks_options(const struct tasks *tasks);
/* The bound on preemptions. False: none. */
bool tasks_bounded(const struct tasks *tasks, uint32_t *preemptions);
/* The bound on spurious wake-ups. */
uint32_t tasks_spurious(const struct tasks *tasks);

#endif
