/*
 * checkpoint.h - the state of an exploration in a file, from which another process goes on
 * (--resume): runs and errors so far, what is known of their classes, and the pending
 * schedules.
 *
 * A file is read only if it is of this exploration (program, arguments, specifications and
 * options that decide what is explored); anything else in its place is refused, and stays.
 */
#ifndef HEDDLE_CHECKPOINT_H
#define HEDDLE_CHECKPOINT_H

#include "engine/explore/explore_private.h"

/* A file: this, and a zstd frame of an archive (engine/base/archive.h), whose first text is the
 * exploration's identity. */
struct checkpoint_header {
	char magic[19]; /* "heddle exploration\n" */
	uint8_t version;
	uint32_t byte_order;
	uint64_t length; /* of the frame */
	uint8_t sum[32]; /* SHA-256 of the frame */
};

/* What the exploration is of; owned by the caller, NULL and `error` when the program or a
 * specification cannot be read. */
char *checkpoint_identity(const struct explore_options *options, struct error *error);
/* Does the file begin as a state? */
bool checkpoint_is(const char *path);
/* Take over the environment of the state in a file, if there is one: where the stack begins,
 * and so which pointers the program has, depends on it. */
bool checkpoint_inherit(const char *path, struct error *error);
/* Read a state, of whatever exploration, into a new one: x->identity says which. */
bool checkpoint_load(struct exploration *x, const char *path, struct error *error);
/* Write the state to a file, whole or not at all. */
bool checkpoint_store(struct exploration *x, const char *path, struct error *error);
/* Read options->resume, if it is of x->identity, into a new exploration; true also when there
 * is no file. *found: it was read. */
bool checkpoint_read(struct exploration *x, bool *found, struct error *error);
/* Do two identities differ? The lines that do are owned by the caller. */
bool checkpoint_differ(const char *stored, const char *own, char **was, char **is);

#endif
