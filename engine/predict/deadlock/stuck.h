/*
 * stuck.h - threads blocked forever in a recording, by its wants. A cycle of waits is a
 * deadlock that happened; without a cycle threads are stuck.
 */
#ifndef HEDDLE_STUCK_H
#define HEDDLE_STUCK_H

#include "engine/finding.h"

/*
 * Findings with verdict happened, owned by the caller; empty without wants.
 *
 * Kind deadlock: a circle of threads, each of which waits for a lock that the next one holds
 * or for its end, with a lock among them; `requests` are its wants in this order from the
 * earliest on, `waits` the same, and behind them the other threads that wait for the circle.
 * Kind stuck, at most one: all waiting threads, when no circle is the cause. If a circle
 * exists, a wait that leads to none (a condition, say, whose signal a thread of the circle
 * may have owed) is listed with the first circle.
 *
 * `dropped`: wants of a trace that is no recording which the trace contradicts: their threads
 * can go on, and they are in no finding.
 */
GPtrArray *stuck_find(const struct trace *t, unsigned *dropped);
/* The note on `dropped`; see there. */
#define STUCK_DROPPED \
	"wants for what is free there, which are passed over (a lock that nobody holds, a " \
	"semaphore with a count, a thread that has ended): "

/* By object: the kind of wait that a want of it means, from the object's operations. `use`
 * has objects_count elements. */
void wait_uses(const struct trace *t, enum wait_for *use);
/* The kind of wait that users are shown: in explorations the word of a futex is a condition. */
enum wait_for wait_shown(const struct trace *t, uint32_t object, enum wait_for kind);

#endif
