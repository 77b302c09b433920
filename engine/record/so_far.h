/*
 * so_far.h - the recording so far of a program that is running: a log as it would be had the
 * program been killed now. Controlled mode, of a log that is neither compressed nor a ring.
 */
#ifndef HEDDLE_SO_FAR_H
#define HEDDLE_SO_FAR_H

#include "engine/base/base.h"

struct so_far;

/* Of the log at `path`, which exists, and whose last chunk is in `buffer` (a descriptor, which
 * may be closed afterwards). NULL: not possible here. */
struct so_far *so_far_new(const char *path, int buffer);
void so_far_free(struct so_far *s);
/* How long it is, in bytes; 0: nothing yet, or its last chunk is just being changed. */
uint64_t so_far_length(const struct so_far *s);
/* A copy in a nameless file beside the log: its descriptor, owned by the caller; -1: nothing
 * yet, or it cannot be made. */
int so_far_copy(const struct so_far *s);

#endif
