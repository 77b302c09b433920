/*
 * conversion.h - the parts of recorded.c: a trace is walked once, and each of its events
 * appended to the execution graph.
 *
 * conversion.c appends events and finds the store that a load reads. conversion_rounds.c keeps
 * the events of rounds of waiting loops, which are in no graph. conversion_covers.c finds where
 * accesses outside of the graph make its values wrong. conversion_library.c appends operations
 * of the thread library. An `event` is one of the trace, an `id` one of the graph.
 */
#ifndef HEDDLE_MEMORY_CONVERSION_H
#define HEDDLE_MEMORY_CONVERSION_H

#include "engine/memory/recorded.h"
#include "engine/memory/rounds.h"

struct conversion {
	const struct trace *t;
	struct memory_world *world;
	struct memory_recorded *r;
	struct memory_blocks *blocks;
	enum memory_model model;
	const struct memory_choice *choice;
	uint32_t *last_store; /* by location: the last one of the trace, or NONE */
	uint32_t last_room;
	GQueue *waiting; /* TSO, by thread of the trace: events of stores that have not arrived
	                  */
	GHashTable *plain;    /* struct memory_place *: plain writes, their event + 1 */
	uint32_t room;        /* for r->event */
	struct cover *covers; /* by variable of the trace */
	uint32_t alive;       /* threads */
	struct memory_rounds rounds;
	uint32_t *look;  /* by thread of the trace: its last look in its place, or NONE */
	bool *store_due; /* by thread: that look is an update's, whose store has no look yet */
	bool *limited;   /* by thread: it waits for a condition, with a time limit */
	GHashTable *semaphores; /* address to object + 1 */
	GHashTable
	        *same; /* updates in rounds: event + 1 to the event of the store it read + 1 */
};

static inline void conversion_note_unmodelled(struct conversion *c, enum memory_unmodelled what)
{
	c->r->unmodelled |= 1u << what;
}

/* -- conversion.c: events of the graph ------------------------------------------------------ */

/* Stores the event of the trace, or NONE, for an event of the graph. */
void conversion_note_event(struct conversion *c, uint32_t id, uint32_t event);
/* Fills in thread, order and site of the graph's event from the trace's. */
void conversion_describe(const struct conversion *c, uint32_t event, struct memory_event *e);
/* Describes and appends the event; returns its id. */
uint32_t conversion_append(struct conversion *c, uint32_t event, struct memory_event *e);
/* Appends a thread's begin or end. */
uint32_t conversion_append_edge(struct conversion *c, uint32_t thread, enum memory_kind kind);
/* The end of a thread; created where it is missing; NONE: the thread has no event at all. */
uint32_t conversion_need_end(struct conversion *c, uint32_t thread);
/* The integer that the event reads or, with `written`, writes, as memory_stable_value; 0 and
 * !*known: the trace does not have it. */
uint64_t conversion_integer(const struct conversion *c, uint32_t event, bool written,
                            bool *known);
/* The initial store of the location; `event` is an access of it. */
uint32_t conversion_need_init(struct conversion *c, uint32_t location, uint32_t event);
/* The store of the graph that an event of the trace made (an update's is its second event).
 * NONE for a plain write that is not in the graph. */
uint32_t conversion_store_of(const struct conversion *c, uint32_t event);
/* The store that a load with the flags (MEMORY_*) reads. The value of an initial store that no
 * write has determined is set to what the load read. */
uint32_t conversion_source(struct conversion *c, uint32_t event, uint32_t location,
                           unsigned flags);
void conversion_add_load(struct conversion *c, uint32_t event, uint32_t location,
                         unsigned flags);
/* `order` is for MEMORY_LIBRARY; other stores have their own. Under TSO the store waits in its
 * thread's buffer where the model says so. */
void conversion_add_store(struct conversion *c, uint32_t event, uint32_t location,
                          unsigned flags, enum memory_order_kind order, uint64_t value);

/* -- conversion_rounds.c: looks ------------------------------------------------------------- */

/* Appends the store of the update whose load part is the thread's last look, if it has no look
 * of its own yet: the store wrote the value that the load had read. Precedes each other look.
 */
void conversion_add_due_store(struct conversion *c, uint32_t thread);
void conversion_add_look(struct conversion *c, uint32_t event, struct memory_event e);
void conversion_look(struct conversion *c, uint32_t event, uint32_t location, unsigned flags);
void conversion_look_with_fence(struct conversion *c, uint32_t event);
/* Ends the round that ends with the event, if one does: its thread is again in the state before
 * the round's first event. */
void conversion_end_round(struct conversion *c, uint32_t event);

/* -- conversion_covers.c: accesses of the same bytes ---------------------------------------- */

/* By variable of the trace; freed with g_free. */
struct cover *covers_new(const struct trace *t);
/* The last plain write to bytes of the access before any event of the graph did access them.
 * NONE: there is none, or (then *several) different bytes have different ones. */
uint32_t covers_plain_writer(const struct conversion *c, uint32_t event, bool *several);
/* Adds a plain access that is not in the graph, perhaps to bytes that events of it access. A
 * plain store there is attributed to the next event that reads it, and another graph has it
 * elsewhere. Its value is determined by the past only where the place of the last store is:
 * where one thread stores at a time, or all of them update. */
void covers_add_plain(struct conversion *c, uint32_t event);
/* Adds an access that is an event of `location`. */
void covers_add_event(struct conversion *c, uint32_t event, uint32_t location);
/* TSO: memory that several threads access, and one writes, has events only where all of them
 * access the same 8 bytes or fewer. Adds any access. */
void covers_add_shared(struct conversion *c, uint32_t event, const struct memory_place *place);

/* -- conversion_library.c: the thread library ----------------------------------------------- */

/* Semaphores by address; a second semaphore created at the same address is not followed. */
void library_find_semaphores(struct conversion *c);
/* The threads that use each barrier, in all runs so far. Needs `blocks`. */
void library_find_barriers(struct conversion *c);
/* Is it a load by which the library reads the count of a semaphore (sem_getvalue)? */
bool library_reads_count(const struct conversion *c, const struct event *x);
/* Adds such a load, which orders nothing. */
void library_add_count_read(struct conversion *c, uint32_t event);
/* Adds an operation on a lock, condition, semaphore, barrier or once-function. */
void library_add(struct conversion *c, uint32_t event);

#endif
