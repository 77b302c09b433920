/*
 * checkpoint.h - the state of an exploration in a file, from which another process goes on
 * (--resume): runs and errors so far, the classes found, and the pending schedules.
 *
 * Of a division into tasks (tasks.h) one file, the base, has the whole state before the
 * division; a task's file names it by its check sum, and has the task's pending schedules and
 * its additions.
 *
 * A file is read only if it is of this exploration (program, arguments, specifications and
 * options that decide what is explored); anything else in its place is refused, and stays.
 */
#ifndef HEDDLE_CHECKPOINT_H
#define HEDDLE_CHECKPOINT_H

#include "engine/explore/explore_private.h"

enum checkpoint_kind { CHECKPOINT_STATE, CHECKPOINT_BASE, CHECKPOINT_TASK, CHECKPOINT_KINDS };

/* A file: this, and a zstd frame of an archive (engine/base/archive.h). A state's archive
 * begins with the exploration's identity; before that, a base's has a number of its own, a
 * task's the task_origin. */
struct checkpoint_header {
	char magic[19]; /* "heddle exploration\n" */
	uint8_t version;
	uint32_t byte_order;
	uint64_t kind;   /* enum checkpoint_kind */
	uint64_t length; /* of the frame */
	uint8_t sum[32]; /* SHA-256 of the frame */
};

/* Identity of the explored input: program, arguments and options. Owned by the caller; NULL and
 * `error` when the program or a specification cannot be read. */
char *checkpoint_identity(const struct explore_options *options, struct error *error);

/* Does the file begin as a state? */
bool checkpoint_is(const char *path);
/* A file that has been checked as a whole; checkpoint_close. NULL and `error`. */
struct checkpoint;
struct checkpoint *checkpoint_open(const char *path, struct error *error);
void checkpoint_close(struct checkpoint *c); /* may be NULL */
const char *checkpoint_path(const struct checkpoint *c);
enum checkpoint_kind checkpoint_kind(const struct checkpoint *c);
/* For a task: its base's name and sum, its number, and whether it began anew; for a base: its
 * own sum. */
const struct task_origin *checkpoint_task(const struct checkpoint *c);
/* Opens the base of a task that is no whole state by itself, so that it can be loaded;
 * otherwise does nothing. */
bool checkpoint_follow(struct checkpoint *c, struct error *error);
/* The base of a task: as checkpoint_open. */
struct checkpoint *checkpoint_base(const struct checkpoint *task, struct error *error);
/* Takes over the environment, on which the beginning of the stack depends, and so the
 * program's pointers. After checkpoint_follow. */
bool checkpoint_inherit(const struct checkpoint *c, struct error *error);
/* Read all, after checkpoint_follow, into a new exploration; where that has an identity, only
 * if the state has the same. Of a base, x->origin is its contents. */
bool checkpoint_load(const struct checkpoint *c, struct exploration *x, struct error *error);
/* Reads only a task's additions, into a new exploration of no runs, or of as many empty ones
 * as the base has; `base`: that of the base. */
bool checkpoint_load_added(const struct checkpoint *task, const struct task_origin *base,
                           struct exploration *x, struct error *error);

/* Write the state, or the task (x->origin), to a file, whole or not at all. */
bool checkpoint_store(struct exploration *x, const char *path, struct error *error);
/* Writes the base of a division; then x is based on it. */
bool checkpoint_store_base(struct exploration *x, const char *path, struct error *error);

#endif
