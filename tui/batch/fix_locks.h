/*
 * fix_locks.h - which lock is held at both places of a finding now.
 */
#ifndef HEDDLE_FIX_LOCKS_H
#define HEDDLE_FIX_LOCKS_H

#include "engine/trace/trace.h"

#include <jansson.h>

/* The name of a lock that is held at every access to the finding's variables in the functions
 * of both of its places, one of them for writing; NULL without such a lock.  The caller's. */
char *fix_common_lock(const struct trace *t, const json_t *finding);

#endif
