/*
 * recorded.h - the execution graph of a recorded run.
 *
 * Atomic accesses, fences, locks and the creation and end of threads are events of the graph;
 * under TSO plain accesses, too, as far as the caller wants. The store that a load read and
 * the modification order are taken from the trace. A thread's MEMORY_BEGIN and MEMORY_END
 * have no event of the trace, as recordings have none. Threads and locations have numbers
 * that are the same in all runs of a program: of a struct memory_world.
 */
#ifndef HEDDLE_MEMORY_RECORDED_H
#define HEDDLE_MEMORY_RECORDED_H

#include "engine/memory/models.h"
#include "engine/trace/trace.h"

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

/* A byte range of memory or a lock, in terms that are the same in all runs: the allocation
 * (0: static data) and the offset in it. */
struct memory_place {
	uint64_t base, offset;
	uint32_t size; /* 0: a lock */
	uint32_t unused;
};

/* The threads and locations of all runs of a program. */
struct memory_world {
	GArray *threads;      /* struct memory_ancestry, by number */
	GArray *places;       /* struct memory_place, by location */
	GArray *addresses;    /* uint64_t, by location: its address in the first run that has
	                       * it */
	GArray *initials;     /* struct memory_initial, by location */
	GHashTable *number;   /* of a place: location + 1 */
	GHashTable *barriers; /* location + 1 to struct memory_barrier; owned */
};
struct memory_ancestry {
	uint32_t parent, ordinal; /* the ordinal-th child (from 0); the main thread: NONE, 0 */
};
struct memory_initial {
	uint64_t value;
	bool known;
	bool written; /* by plain writes whose value for the location is not known */
	bool guessed; /* `value` is a guess, not the value that these writes left */
};
/* A barrier. If it is used by as many threads as it is for, each takes part in each round,
 * and arrivals are MEMORY_ARRIVE. Else it is an atomic, the number of threads that have
 * arrived, which the last one sets to 0. */
struct memory_barrier {
	GHashTable *threads; /* numbers of those that use it */
	uint64_t count;      /* that it is for */
	bool counted;        /* it is an atomic */
};
bool memory_barrier_counted(const struct memory_world *world, uint32_t location);
void memory_world_init(struct memory_world *world);
void memory_world_release(struct memory_world *world);

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

/* The heap blocks and stacks of a trace, in terms that are the same in all runs; `thread` as
 * in struct memory_recorded. */
struct memory_blocks;
struct memory_blocks *memory_blocks_new(const struct trace *t, const uint32_t *thread);
void memory_blocks_free(struct memory_blocks *blocks); /* NULL is allowed */
/* The place of an access; false: it has more than 8 bytes, or their number is unknown. */
bool memory_place_of(const struct trace *t, const struct memory_blocks *blocks, uint32_t event,
                     struct memory_place *place);
/* For hash tables of struct memory_place. */
guint memory_place_hash(const void *place);
gboolean memory_place_equal(const void *a, const void *b);

#endif
