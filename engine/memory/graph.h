/*
 * graph.h - execution graphs: the events of an execution, and which store each load reads.
 *
 * An execution graph has, in place of an order of all events, the relations of axiomatic memory
 * models (Alglave, Maranget, Tautschnig 2014; Lahav et al. 2017): program order (po),
 * reads-from (rf), and for each location the modification order of its stores (mo). Whether a
 * graph is an execution of a memory model is decided by models.h.
 *
 * An event's id is its index, in the order in which events were added; every location has an
 * initial store (MEMORY_INIT) that precedes its other events. A read-modify-write is two
 * events: an exclusive load and, next in its thread, the store.
 */
#ifndef HEDDLE_MEMORY_GRAPH_H
#define HEDDLE_MEMORY_GRAPH_H

#include "engine/trace/event.h"

enum memory_kind {
	MEMORY_INIT,
	MEMORY_LOAD,
	MEMORY_STORE,
	MEMORY_FENCE,
	MEMORY_CREATE, /* creates thread `peer`, whose MEMORY_BEGIN reads from it */
	MEMORY_BEGIN,
	MEMORY_END,
	MEMORY_JOIN, /* joins thread `peer`: reads from its MEMORY_END */
	/* The end of a wait: reads from the first store to location `peer`, from the thread's
	 * own last one on, that has no bit of `expected`; without such a store the thread
	 * waits. It is no load, and no access of the location. */
	MEMORY_WAKE,
	/* Arrival at barrier `peer` of `expected` threads, and departure, the end of the wait
	 * there, which comes after all arrivals of its round. The arrivals are unordered; but
	 * one is the last, from which the round's departures read. It is decided by the first
	 * thread's departure, which is before the others. */
	MEMORY_ARRIVE,
	MEMORY_DEPART,
	MEMORY_ERROR /* the thread fails here, and has no further events */
};

enum memory_flag {
	MEMORY_EXCLUSIVE = 1, /* load and store of a read-modify-write */
	/* Load: exclusive whatever it reads (an exchange), or only when it reads `expected`
	 * (a compare-and-exchange). Without either flag the program's next event decides. */
	MEMORY_UPDATES = 2,
	MEMORY_COMPARES = 4,
	/* If its guard rejects the value, the load does not block, and does not update. */
	MEMORY_TRIES = 8,
	MEMORY_LIBRARY = 16, /* of an operation of the thread library */
	MEMORY_LOCKED =
	        32, /* load of an instruction that may also write: an update's, failed */
	/* Of a read-lock: it acquires only the preceding write-unlock, not other
	 * read-unlocks. */
	MEMORY_SHARED = 64,
	/* On a signal: its choice is a bit of the value, the thread that it wakes. */
	MEMORY_CHOOSES = 128,
	/* On a condition: no synchronisation. */
	MEMORY_UNORDERED = 256,
	/* On an arrival: the thread ignores whether it is the last. */
	MEMORY_UNSEEN = 512
};

/* The condition that a load of the thread library waits for; without MEMORY_TRIES it blocks
 * until then. */
enum memory_guard {
	MEMORY_ANY,
	MEMORY_FREE,      /* 0: a mutex, or a reader-writer lock to be written */
	MEMORY_SOME,      /* not 0: a semaphore */
	MEMORY_NO_WRITER, /* not MEMORY_WRITER: a reader-writer lock to be read */
	/* not MEMORY_ONCE_RUNS: a once-function. The load updates only when it reads 0. */
	MEMORY_NOT_RUNNING
};
#define MEMORY_WRITER ((uint64_t)1 << 32)
enum { MEMORY_ONCE_RUNS = 1, MEMORY_ONCE_DONE = 2 };
enum { MEMORY_CHOICES = 64 }; /* a choice of none */

struct memory_event {
	uint64_t value; /* that the load reads, or the store writes; MEMORY_ARRIVE: the round */
	uint64_t expected; /* of MEMORY_COMPARES; MEMORY_WAKE: bits; MEMORY_ARRIVE: threads */
	uint64_t site;     /* the program's: the place in its code */
	uint64_t mark;     /* the program's mark of the past; 0 for a new event, and when rf
	                    * changes */
	uint32_t thread;   /* NONE: MEMORY_INIT */
	uint32_t index;    /* in its thread, from 0 */
	uint32_t location; /* of loads and stores; else NONE */
	uint32_t peer;     /* from MEMORY_CREATE to MEMORY_DEPART; else NONE */
	uint32_t po_prev, po_next;
	/* Load, MEMORY_WAKE: the store read. MEMORY_BEGIN, MEMORY_JOIN: the preceding event
	 * of the other thread; NONE for a thread that exists from the beginning.
	 * MEMORY_DEPART: the last arrival. */
	uint32_t rf;
	uint32_t mo_prev, mo_next; /* of stores and MEMORY_INIT */
	uint16_t flags;            /* enum memory_flag */
	uint8_t kind;              /* enum memory_kind */
	uint8_t order;             /* enum memory_order_kind */
	/* Of MEMORY_COMPARES and guards: `order` when it updates, and when it does not. */
	uint8_t success_order, failure_order;
	uint8_t guard;  /* enum memory_guard */
	uint8_t choice; /* for MEMORY_CHOOSES: a bit of `value`; MEMORY_CHOICES: `value` is 0 */
};

struct memory_graph {
	struct memory_event *events;
	uint32_t count, capacity;
	uint32_t *first, *last; /* event of each thread; NONE: no event yet */
	uint32_t threads;
	uint32_t *init; /* MEMORY_INIT of each location; NONE: not used yet */
	uint32_t locations;
};

struct memory_graph *memory_graph_new(void);
struct memory_graph *memory_graph_copy(const struct memory_graph *g);
void memory_graph_free(struct memory_graph *g); /* NULL is allowed */

/* The location's initial store; created with `value` where it is missing. */
uint32_t memory_init(struct memory_graph *g, uint32_t location, uint64_t value);
/* Append an event to its thread: kind, thread, location, peer, orders, flags, value, expected
 * and site are taken from `event`. It has no rf and no place in mo. Returns its id. */
uint32_t memory_append(struct memory_graph *g, const struct memory_event *event);
/* Makes a load read `store`, which sets its value, and whether it is exclusive. */
void memory_read_from(struct memory_graph *g, uint32_t load, uint32_t store);
/* Another choice for a load with MEMORY_CHOOSES; the first is made when it gets its store. */
void memory_choose(struct memory_graph *g, uint32_t load, uint32_t choice);
/* The choice after this one, starting with MEMORY_CHOICES; NONE: no more. */
uint32_t memory_next_choice(const struct memory_event *load, uint32_t choice);
/* The event that a MEMORY_BEGIN, MEMORY_JOIN, MEMORY_WAKE or MEMORY_DEPART to be appended
 * reads from; NONE: not in the graph. For a departure that decides, its own arrival. */
uint32_t memory_peer(const struct memory_graph *g, const struct memory_event *e);
/* Put a store right after `previous` in the modification order. */
void memory_place_after(struct memory_graph *g, uint32_t store, uint32_t previous);
/* The last store of a location. */
uint32_t memory_newest(const struct memory_graph *g, uint32_t location);

/* Bytes, one for each event: is it `of`, or before it by po, rf (including creation and end
 * of threads) and rounds of barriers? Owned by the caller. */
uint8_t *memory_prefix(const struct memory_graph *g, uint32_t of);
/* A copy with only those events (kept[id] != 0) and all initial stores, in the same order; the
 * events must be closed under po. A load whose store is left out has rf NONE. */
struct memory_graph *memory_restrict(const struct memory_graph *g, const uint8_t *kept);

/* For a departure: is the event an arrival of its round? */
static inline bool memory_same_round(const struct memory_event *arrival,
                                     const struct memory_event *departure)
{
	return arrival->kind == MEMORY_ARRIVE && departure->kind == MEMORY_DEPART &&
	       arrival->peer == departure->peer && arrival->value == departure->value;
}
/* The departure that decides which thread is the last of the round of `departure`; NONE: not
 * in the graph. */
uint32_t memory_decider(const struct memory_graph *g, const struct memory_event *departure);

static inline bool memory_reads(const struct memory_event *e)
{
	return e->kind == MEMORY_LOAD;
}
static inline bool memory_writes(const struct memory_event *e)
{
	return e->kind == MEMORY_STORE || e->kind == MEMORY_INIT;
}
static inline bool memory_acquires(const struct memory_event *e)
{
	return e->order == ORDER_ACQ || e->order == ORDER_ACQ_REL || e->order == ORDER_SEQ_CST;
}
static inline bool memory_releases(const struct memory_event *e)
{
	return e->order == ORDER_REL || e->order == ORDER_ACQ_REL || e->order == ORDER_SEQ_CST;
}
static inline bool memory_passes(enum memory_guard guard, uint64_t value)
{
	switch (guard) {
	case MEMORY_FREE:
		return value == 0;
	case MEMORY_SOME:
		return value != 0;
	case MEMORY_NO_WRITER:
		return value != MEMORY_WRITER;
	case MEMORY_NOT_RUNNING:
		return value != MEMORY_ONCE_RUNS;
	default:
		return true;
	}
}
/* Would the load block its thread if it read `value`: for a lock that another thread holds, a
 * semaphore with count 0, ...? */
static inline bool memory_blocks(const struct memory_event *e, uint64_t value)
{
	return e->kind == MEMORY_LOAD && !(e->flags & MEMORY_TRIES) &&
	       !memory_passes((enum memory_guard)e->guard, value);
}
static inline bool memory_is_blocked(const struct memory_event *e)
{
	return memory_blocks(e, e->value);
}

#endif
