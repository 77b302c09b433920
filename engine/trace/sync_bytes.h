/*
 * sync_bytes.h - variables that are a part of a synchronisation object: m.__data.__lock of a
 * mutex, a pthread_once_t. The operations of the object read and write these bytes, and have no
 * event that says so (but for pthread_once in a recording that is not an exploration's).
 */
#ifndef HEDDLE_SYNC_BYTES_H
#define HEDDLE_SYNC_BYTES_H

#include "engine/trace/trace.h"

/* By variable: the object that it is a part of, NONE, or SYNC_BYTES_ONCE for the control of a
 * once-function, which is no object. NULL: no variable is such a part. Found once and kept by
 * the trace. Linear in the tables, of an exploration's run also in the events. For one thread
 * at a time. */
const uint32_t *sync_bytes(const struct trace *t);
/* May there be such controls? Then sync_bytes looks at the events. */
bool sync_bytes_may_be_once(const struct trace *t);
#define SYNC_BYTES_ONCE (NONE - 1)
/* Looks of once-functions: in an exploration a call of pthread_once first reads its control, of
 * a value that is not known. Such a read is told from the program's own by what follows it: a
 * message of the same thread, sent or received at the same place. */
struct once_looks {
	const struct trace *t;
	uint32_t *last; /* by thread: its last event if it may be such a read; or NONE */
};
void once_looks_init(struct once_looks *l, const struct trace *t);
void once_looks_release(struct once_looks *l);
/* Takes the events in their order; returns the look that this one follows, or NONE. */
uint32_t once_looks_step(struct once_looks *l, uint32_t event);

/* An access of the program's own to such a part that nothing orders with an operation of the
 * object by another thread (predict/sync_uses.h). */
struct sync_use {
	uint32_t access, operation;
};
/* The trace remembers the first one; NULL: there is none. */
void sync_use_remember(const struct trace *t, const struct sync_use *first);
/* As long as the trace; `access` is NONE where there is none. NULL: it was not remembered. */
const struct sync_use *sync_use_known(const struct trace *t);

#endif
