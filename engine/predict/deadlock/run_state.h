/*
 * run_state.h - a state of another schedule of a recording: each thread has done a prefix of
 * its events, and the effect of a synchronisation operation is decided by the state, not by the
 * pairing of the recording (semantics.md, "Waits that never end", rules W1 to W3).
 *
 * run_state_new is the state before the first event.  run_state_next says whether a
 * thread's next event can come; run_state_step takes it; run_state_undo goes back.  A step
 * costs constant time.  Two states with one key are one state, up to a collision of 128 bits.
 */
#ifndef HEDDLE_RUN_STATE_H
#define HEDDLE_RUN_STATE_H

#include "engine/finding.h"
#include "engine/trace/channel.h"
#include "engine/trace/index.h"

enum next {
	NEXT_ENDED,   /* the thread has no more events, and the trace shows its end */
	NEXT_ABSENT,  /* it has not been created */
	NEXT_RUNS,    /* the next event can come now, as recorded */
	NEXT_WAITS,   /* it stands waiting there */
	NEXT_DIFFERS, /* another event would come, now or ever: its continuation is unknown */
};

/* Facts of an event, fixed by the trace. */
enum event_fact {
	FACT_MUST = 1,   /* has must-orders */
	FACT_WAKER = 2,  /* a wake whose waker is recorded */
	FACT_SERIAL = 4, /* an arrival that completed its round */
};

struct state_change {
	uint32_t cell, old;
};

struct run_state {
	struct trace *t;
	bool use_values;
	uint32_t threads;
	/* -- facts */
	uint32_t main;      /* the thread whose end ends the process, or NONE */
	bool *shows_end;    /* by thread: does the trace show its end? */
	uint8_t *facts;     /* by event: enum event_fact */
	bool *foreign;      /* by object: the trace lacks some of its operations */
	bool *read;         /* by variable: some event reads it */
	uint32_t *initial;  /* by variable: initial value, 0 unknown; with use_values */
	uint32_t *stack_of; /* by block: thread whose stack it is, or NONE */
	enum wait_for *use; /* by object: the kind of wait that a want of it means */
	bool *exclusive;    /* by object: a want of this lock asks to exclude readers */
	struct channels channels;
	bool *foreign_channel; /* by channel: the trace lacks some of its messages */
	uint32_t *left_over;   /* by channel: bytes in it at the end of the trace */
	uint32_t
	        *begins; /* by message that ends a once-function: event of its begin, or NONE */
	uint32_t *ends;  /* by either message of a once-function: the one that ends it, or
	                  * NONE */
	/* -- the state, in one array of cells */
	uint32_t *cells;
	uint32_t *done;    /* by thread: events taken */
	uint32_t *woken;   /* by thread: its wait was ended by a signal */
	uint32_t *arrival; /* by thread: its last arrival at a barrier, counted there from 1 */
	uint32_t *halted;  /* by thread: it is held back for ever */
	uint32_t *waiting; /* by thread: the wait or arrival that it is in, + 1; or 0 */
	uint32_t *last;    /* by variable: last write + 1; or 0 */
	uint32_t *owner;   /* by object: exclusive holder + 1; or 0 */
	uint32_t *readers; /* by object: shared holders */
	uint32_t *count;   /* by object: of a semaphore; arrivals at a barrier */
	uint32_t *destroyed; /* by object: last destruction taken, + 1; or 0 */
	uint32_t *misused;   /* by object: 1 after a misuse: its holder is not known */
	uint32_t *order;     /* by message of a channel: number of earlier messages there, + 1;
	                      * or 0 */
	uint32_t *reads;     /* by message: in how many receives it was read */
	uint32_t *sent, *received, *bytes, *closed; /* by channel: messages, and those read
	                                             * whole; bytes in it; closes */
	uint64_t key[2];
	GArray *log; /* struct state_change */
};

/* Needs no part of the index built before.  NULL when cancelled. */
struct run_state *run_state_new(struct trace *t, bool use_values,
                                const struct progress *progress);
void run_state_free(struct run_state *s); /* may be NULL */

/* The thread's next event, or NONE. */
uint32_t run_state_event(const struct run_state *s, uint32_t thread);
enum next run_state_next(const struct run_state *s, uint32_t thread);
/* The kind of object that a waiting thread waits for. */
enum wait_for run_state_waits_for(const struct run_state *s, uint32_t thread);
/* The i-th thread that blocks this one: a holder of the lock that its next event asks for, in
 * an excluding mode; for a join, the thread to join; or NONE. */
uint32_t run_state_holder(const struct run_state *s, uint32_t thread, uint32_t i);
/* An event that must come before the thread's next one and has not come; or NONE. */
uint32_t run_state_missing(const struct run_state *s, uint32_t thread);
/* The channel of a message that is sent or waited for, or the once-function (behind the
 * channels); NONE: neither.  They are numbered below run_state_channels. */
uint32_t run_state_channel(const struct run_state *s, uint32_t event);
static inline uint32_t run_state_channels(const struct run_state *s)
{
	return (uint32_t)(s->channels.count + s->t->messages_count);
}
/* Would the signal wake this thread? */
bool run_state_may_wake(const struct run_state *s, uint32_t signal, uint32_t thread);
/* Take the thread's next event.  `woken`: the thread that a signal wakes, NONE where none
 * waits; a broadcast wakes all. */
void run_state_step(struct run_state *s, uint32_t thread, uint32_t woken);
/* Holds the thread back for ever: a schedule may hold a thread back for any length of time. */
void run_state_halt(struct run_state *s, uint32_t thread);
static inline uint32_t run_state_mark(const struct run_state *s)
{
	return s->log->len;
}
void run_state_undo(struct run_state *s, uint32_t mark);
/* Has the event come? */
static inline bool run_state_has(const struct run_state *s, uint32_t event)
{
	return s->t->index->position[event] < s->done[s->t->events[event].thread];
}

#endif
