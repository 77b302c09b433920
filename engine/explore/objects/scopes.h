/*
 * scopes.h - invocations of specified objects in a run: their begins and ends, and whether they
 * are atomic steps.
 *
 * A scope is a thread's events between CALL and RET of an outermost invocation. Its atomicity
 * is checked, never assumed (docs/specified-objects.md, "Calls as single steps"): objects that
 * fail are reported with the reason, and explored as ordinary code. Independent of solvers.
 */
#ifndef HEDDLE_SCOPES_H
#define HEDDLE_SCOPES_H

#include "engine/commute/model.h"

struct scope {
	uint32_t call, ret; /* events; ret NONE: not returned at the end of the run */
	uint32_t object;    /* of the model */
	uint32_t thread;
	bool writes; /* memory accessed by scopes of other threads, or the state of locks */
};

/* An access outside all scopes to memory that scopes write; `object` NONE: memory that no other
 * scope touches (a result). */
struct peek {
	uint32_t event, object;
};

struct scopes {
	const struct trace *t; /* borrowed */
	GArray *list;          /* struct scope, by CALL */
	uint32_t *of;          /* by event: its scope, including CALL and RET */
	uint8_t *lock_use;     /* by object of the trace: enum lock_use */
	uint8_t *block_use;    /* by block: is it accessed by scopes only? */
	GArray *peeks;         /* struct peek, reads only, by event */
	GArray *atomic;    /* uint32_t: objects whose invocations share only atomics without a
	                    * common lock: assumed linearizable */
	GPtrArray *broken; /* struct broken *: objects whose scopes are not atomic steps */
};
enum lock_use { LOCK_OUTSIDE = 1, LOCK_INSIDE = 2 };

struct broken {
	uint32_t object;
	char *why; /* owned */
};

/* Scopes of specified objects except those in `plain` (keys of scopes_object_key). Needs
 * INDEX_THREADS and INDEX_MATCH. */
struct scopes *scopes_find(const struct trace *t, const struct model *m, GHashTable *plain);
void scopes_free(struct scopes *s);

/* A name of an object that is equal in all runs of the program; owned by the caller. */
char *scopes_object_key(const struct trace *t, const struct model *m, uint32_t object);

/* The order by program order, forks and joins, which holds in every schedule. */
struct fork_order;
struct fork_order *fork_order_new(const struct trace *t);
void fork_order_free(struct fork_order *o);
bool fork_ordered(const struct fork_order *o, uint32_t before, uint32_t after);

/* scopes_check.c: set peeks, writes and broken. */
void scopes_check(struct scopes *s, const struct model *m);

#endif
