/*
 * recorded.h - the execution graph of a recorded run.
 *
 * Atomic accesses, fences, locks and the creation and end of threads are events of the graph;
 * under TSO plain accesses, too, as far as the caller wants. The store that a load read and
 * the modification order are taken from the trace. A thread's MEMORY_BEGIN and MEMORY_END
 * have no event of the trace, as recordings have none. Threads and locations have the numbers
 * of a struct memory_world (world.h).
 */
#ifndef HEDDLE_MEMORY_RECORDED_H
#define HEDDLE_MEMORY_RECORDED_H

#include "engine/memory/models.h"
#include "engine/memory/world.h"

/* Operations that are not modelled; the sentence names the operation. */
#define MEMORY_UNMODELLED(U) \
	U(CONDITIONS, \
	  "cancelled waits, waits that end without a signal, and conditions of more than 64 threads") \
	U(SEMAPHORES, "semaphores that are made anew") \
	U(MESSAGES, \
	  "once-functions that are left by an exception, and synchronisation by messages") \
	U(MISUSE, "locks that are taken twice, or given back by who does not hold them") \
	U(SIZES, \
	  "memory accessed in several sizes that overlap, or atomics larger than 8 bytes") \
	U(PLAIN, \
	  "plain accesses of atomics that race with atomic ones, or whose values are not known") \
	U(READS, "plain reads of atomics that several threads store to")
enum memory_unmodelled {
#define U(name, words) MEMORY_UNMODELLED_##name,
	MEMORY_UNMODELLED(U)
#undef U
	        MEMORY_UNMODELLED_COUNT
};
const char *memory_unmodelled_words(enum memory_unmodelled what);

/* An event in a round of a loop that waits (rounds.h): it is in no graph. */
struct memory_look {
	struct memory_event e; /* a load's rf: the store of the graph that it reads */
	uint32_t event;        /* of the trace */
	uint32_t before;       /* the look before it in its thread; or NONE: */
	uint32_t after;        /* the graph's event before it; NONE: none */
	uint32_t round; /* on the last look of a round: its number of looks, after which the
	                 * thread's state is as before; else 0 */
};
/* The thread of an event of the graph waits after it: its last `round` events were a round. */
struct memory_wait {
	uint32_t event, round;
};
struct memory_recorded {
	struct memory_graph *graph;
	uint32_t *event; /* by event of the graph: the trace's, or NONE: begins, ends, fences of
	                  * memory_choice */
	uint32_t *graph_of;  /* by event of the trace: the first of the graph's, or NONE */
	uint32_t *thread;    /* by thread of the trace: its number in the world */
	uint32_t *wants;     /* by number in the world: event of its pending request, or NONE */
	GArray *looks;       /* struct memory_look, in the order of the run */
	GArray *waits;       /* struct memory_wait: of rounds that are in the graph */
	uint32_t *look_of;   /* by event of the trace: the first of its looks, or NONE */
	uint32_t unmodelled; /* bit set of enum memory_unmodelled */
	bool recounted;      /* a barrier of earlier runs has become an atomic */
	GArray *mixed; /* struct memory_place: atomics whose plain accesses should be events */
};
/* A fence that the program does not have, before or after the atomic accesses of an
 * instruction. */
struct memory_fence {
	uint64_t address; /* struct location */
	uint32_t module;
	uint8_t order; /* enum memory_order_kind */
	bool after;
};
/* The selection of a run's events that are events of its graph. */
struct memory_choice {
	const void *context;
	/* Is a plain access of this place an event? NULL: never. */
	bool (*wanted)(const void *context, const struct memory_place *place);
	const GArray *ended; /* uint32_t: threads (thread.recorded) that ended; or NULL */
	/* By event of the trace: the state in which its thread begins it; 0: unknown. NULL:
	 * rounds are not detected. */
	const uint64_t *states;
	bool keeps_updates;   /* rounds with updates are in the graph */
	const GArray *fences; /* struct memory_fence: to add to the graph; or NULL */
	/* Does the program ignore the result of the call? NULL: unknown. */
	bool (*is_unseen)(const void *context, const struct trace *t, uint32_t event);
};
void memory_recorded_init(struct memory_recorded *r, const struct trace *t,
                          struct memory_world *world, enum memory_model model,
                          const struct memory_choice *choice);
void memory_recorded_release(struct memory_recorded *r);

/* The location of a lock (object of the trace). */
uint32_t memory_lock_location(const struct trace *t, struct memory_world *world,
                              const struct memory_recorded *r, uint32_t object);

#endif
