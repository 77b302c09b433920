/*
 * sync_uses.h - accesses of the program's own to a part of a synchronisation object
 * (trace/sync_bytes.h), as it reads m.__data.__lock of a mutex, that another thread may use at
 * the same time. What the object's operations write there has no event: a trace does not tell
 * what such an access conflicts with, nor what it reads in another order.
 */
#ifndef HEDDLE_PREDICT_SYNC_USES_H
#define HEDDLE_PREDICT_SYNC_USES_H

#include "engine/trace/trace.h"

#define SYNC_USE_UNSEEN "what the library writes there is not recorded"

struct sync_use {
	uint32_t access;
	uint32_t operation; /* of the object, by another thread; nothing orders the two */
};
/*
 * The first such access at each place, at most `most`: a GArray of struct sync_use, owned by
 * the caller. NULL: cancelled. A walk over the tables where no variable is a part of an object;
 * else one over the events, and an order (order_new_lasting; under a
 * weaker memory model happens-before) where several threads use one.
 */
GArray *sync_uses(struct trace *t, bool all, guint most, const struct progress *progress);
/* "main reads m.__data.__lock at a.c:13, a part of m, which T1 uses at a.c:5": the beginning of
 * a sentence. */
void sync_use_append(const struct trace *t, const struct sync_use *u, GString *out);

#endif
