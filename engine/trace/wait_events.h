/*
 * wait_events.h - the operations that may end a wait, and those at which a wait ends: on
 * semaphores, conditions and barriers, and messages. Most traces have few of them; a pass over
 * all events that is made anyhow collects them, so that a trace that is decoded in passes need
 * not be decoded once more for a look at these.
 */
#ifndef HEDDLE_WAIT_EVENTS_H
#define HEDDLE_WAIT_EVENTS_H

#include "engine/trace/trace.h"

#define WAIT_OPERATIONS \
	(OPERATION(OP_POST) | OPERATION(OP_TAKE) | OPERATION(OP_SIGNAL) | \
	 OPERATION(OP_BROADCAST) | OPERATION(OP_WAKE) | OPERATION(OP_ARRIVE) | \
	 OPERATION(OP_DEPART) | OPERATION(OP_SND) | OPERATION(OP_RCV))

/* Goes over them in the order of the trace:
 * `for (struct wait_walk w = wait_walk(t); wait_walk_next(&w);)`, with w.number and w.event,
 * which is valid until the next one. Over all events where they were not collected. */
struct wait_walk {
	const struct trace *t;
	uint64_t next;
	uint32_t number;
	const struct event *event;
};
struct wait_walk wait_walk(const struct trace *t);
bool wait_walk_next(struct wait_walk *w);

/*
 * Collects them beside another pass: begun, shown the trace's events of these operations at
 * least, in their order, and ended, after which the trace has them. NULL, which see does not
 * take: it has them, or is a part of another one. Dropped (NULL is allowed) is one whose trace
 * may be closed.
 */
struct wait_events;
struct wait_events *wait_events_begin(const struct trace *t);
void wait_events_see(struct wait_events *w, uint32_t number, const struct event *event);
void wait_events_end(struct wait_events *w);
void wait_events_drop(struct wait_events *w);

#endif
