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
	MEMORY_CREATE, /* of thread `peer`, whose MEMORY_BEGIN reads from it */
	MEMORY_BEGIN,
	MEMORY_END,
	MEMORY_JOIN, /* of thread `peer`: reads from its MEMORY_END */
	MEMORY_ERROR /* the thread fails here, and has no further events */
};

enum memory_flag {
	MEMORY_EXCLUSIVE = 1, /* load and store of a read-modify-write */
	/* Load: exclusive whatever it reads (an exchange), or only when it reads `expected`
	 * (a compare-and-exchange). Without either flag the program's next event tells. */
	MEMORY_UPDATES = 2,
	MEMORY_COMPARES = 4,
	/* Load and store of a lock: the thread blocks when it reads a value other than 0. With
	 * MEMORY_UPDATES; the unlock is a store of 0. */
	MEMORY_LOCKS = 8,
	MEMORY_LIBRARY = 16, /* of an operation of the thread library */
	MEMORY_LOCKED =
	        32, /* load of an instruction that may also write: an update's, failed */
	/* Load and store of a take from a semaphore: the thread blocks when it reads 0. With
	 * MEMORY_UPDATES. */
	MEMORY_TAKES = 64,
};

struct memory_event {
	uint64_t value;    /* that the load reads, or the store writes */
	uint64_t expected; /* of MEMORY_COMPARES */
	uint64_t site;     /* the program's: where in its code */
	uint64_t mark;     /* the program's; 0 for a new event, and when rf changes */
	uint32_t thread;   /* NONE: MEMORY_INIT */
	uint32_t index;    /* in its thread, from 0 */
	uint32_t location; /* of loads and stores; else NONE */
	uint32_t peer;     /* of MEMORY_CREATE and MEMORY_JOIN; else NONE */
	uint32_t po_prev, po_next;
	/* Load: the store that it reads. MEMORY_BEGIN, MEMORY_JOIN: the event that it follows;
	 * NONE for a thread that exists from the beginning. */
	uint32_t rf;
	uint32_t mo_prev, mo_next; /* of stores and MEMORY_INIT */
	uint8_t kind;              /* enum memory_kind */
	uint8_t flags;             /* enum memory_flag */
	uint8_t order;             /* enum memory_order_kind */
	/* Of MEMORY_COMPARES: `order` when it reads `expected`, and when it does not. */
	uint8_t success_order, failure_order;
};

struct memory_graph {
	struct memory_event *events;
	uint32_t count, capacity;
	uint32_t *first, *last; /* event of each thread; NONE: it has none */
	uint32_t threads;
	uint32_t *init; /* MEMORY_INIT of each location; NONE: not used yet */
	uint32_t locations;
};

struct memory_graph *memory_graph_new(void);
struct memory_graph *memory_graph_copy(const struct memory_graph *g);
void memory_graph_free(struct memory_graph *g); /* NULL is allowed */

/* The location's initial store, which is added with `value` where it is missing. */
uint32_t memory_init(struct memory_graph *g, uint32_t location, uint64_t value);
/* Append an event to its thread: kind, thread, location, peer, orders, flags, value, expected
 * and site are taken from `event`. It has no rf and no place in mo. The id. */
uint32_t memory_append(struct memory_graph *g, const struct memory_event *event);
/* Let a load read `store`: its value, and whether it is exclusive, follow. */
void memory_read_from(struct memory_graph *g, uint32_t load, uint32_t store);
/* Put a store right after `previous` in the modification order. */
void memory_place_after(struct memory_graph *g, uint32_t store, uint32_t previous);
/* The last store of a location. */
uint32_t memory_newest(const struct memory_graph *g, uint32_t location);

/* Bytes, one for each event: is it `of`, or before it by po and rf (threads' creation and end
 * included)? Owned by the caller. */
uint8_t *memory_prefix(const struct memory_graph *g, uint32_t of);
/* A copy with only those events (kept[id] != 0) and all initial stores, in the same order; the
 * events must be closed under po. A load whose store is left out has rf NONE. */
struct memory_graph *memory_restrict(const struct memory_graph *g, const uint8_t *kept);

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
/* Would the load block its thread if it read `value`: of a lock that another thread holds, or
 * of a semaphore that has nothing to take? */
static inline bool memory_blocks(const struct memory_event *e, uint64_t value)
{
	return e->kind == MEMORY_LOAD && (((e->flags & MEMORY_LOCKS) && value != 0) ||
	                                  ((e->flags & MEMORY_TAKES) && value == 0));
}
static inline bool memory_is_blocked(const struct memory_event *e)
{
	return memory_blocks(e, e->value);
}

#endif
