/*
 * scopes.h - the invocations of specified objects in one run: where each begins and ends,
 * and whether they may be taken for single steps.
 *
 * A scope is what a thread does between the CALL and the RET of an outermost invocation.
 * That nothing else can come between is checked, never assumed (docs/exploration.md, "With
 * specifications"): an object for which it does not hold is named with the reason, and the
 * exploration takes its events as they are.  Knows no solver.
 */
#ifndef HEDDLE_SCOPES_H
#define HEDDLE_SCOPES_H

#include "engine/commute/model.h"

struct scope {
	uint32_t call, ret; /* events; ret NONE: it had not returned when the run ended */
	uint32_t object;    /* of the model */
	uint32_t thread;
	bool writes; /* memory that scopes of other threads touch, too, or locks' state */
};

/* An access, outside of every scope, of memory that scopes write; `object` NONE: of memory
 * that nobody else touches (where a result was put). */
struct peek {
	uint32_t event, object;
};

struct scopes {
	const struct trace *t; /* borrowed */
	GArray *list;          /* struct scope, by CALL */
	uint32_t *of;          /* by event: the scope that it is in, CALL and RET with it */
	uint8_t *lock_use;     /* by object of the trace: enum lock_use */
	uint8_t *block_use;    /* by block: is it touched by scopes alone? */
	GArray *peeks;         /* struct peek, reads alone, by event */
	GArray *atomic;    /* uint32_t: objects whose invocations meet in atomics alone, with
	                    * no lock in common: taken to be linearizable */
	GPtrArray *broken; /* struct broken *: objects whose scopes are no single steps */
};
enum lock_use { LOCK_OUTSIDE = 1, LOCK_INSIDE = 2 };

struct broken {
	uint32_t object;
	char *why; /* owned */
};

/*
 * The scopes of the objects that have a specification, but for those in `plain` (by the key
 * of scopes_object_key).  The trace's index parts THREADS and MATCH are there.
 */
struct scopes *scopes_find(const struct trace *t, const struct model *m, GHashTable *plain);
void scopes_free(struct scopes *s);

/* A name of an object that is the same in every run of the program; owned by the caller. */
char *scopes_object_key(const struct trace *t, const struct model *m, uint32_t object);

/* What is ordered whatever the schedule: by threads' program order, forks and joins alone. */
struct fork_order;
struct fork_order *fork_order_new(const struct trace *t);
void fork_order_free(struct fork_order *o);
bool fork_ordered(const struct fork_order *o, uint32_t before, uint32_t after);

/* scopes_check.c: fills in peeks, writes and broken. */
void scopes_check(struct scopes *s, const struct model *m);

#endif
