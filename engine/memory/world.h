/*
 * world.h - the threads, memory and locks of a program, by names that are the same in all of
 * its runs.
 *
 * A thread is named by its parent and its ordinal among the parent's children, a heap block by
 * the thread that allocated it and its ordinal among that thread's allocations, a stack by its
 * thread, and a byte of static data by its address, which a recording keeps the same. Graphs of
 * different runs are comparable since they use the numbers of one struct memory_world.
 */
#ifndef HEDDLE_MEMORY_WORLD_H
#define HEDDLE_MEMORY_WORLD_H

#include "engine/trace/trace.h"

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

/* The number of the parent's child `ordinal` (from 0); new ones are added. */
uint32_t memory_thread_number(struct memory_world *world, uint32_t parent, uint32_t ordinal);
/* The number of the location; `address`: where the caller's run has it. New ones are added. */
uint32_t memory_location_number(struct memory_world *world, const struct memory_place *place,
                                uint64_t address);
/* The barrier whose state the location is; owned by the world. NULL: no run used it yet. */
struct memory_barrier *memory_barrier_at(const struct memory_world *world, uint32_t location);

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
/* A value that is the same in all runs: a pointer into a block that lives at the event becomes
 * a hash of the block and the offset in it; another value is left as it is. */
uint64_t memory_stable_value(const struct memory_blocks *blocks, uint64_t value,
                             uint32_t event);
/* The location of the state of an object of the trace: a lock, semaphore, condition, barrier.
 */
uint32_t memory_object_location(const struct trace *t, struct memory_world *world,
                                const struct memory_blocks *blocks, uint32_t object);
/* The location of the state of the once-function at the address. */
uint32_t memory_once_location(struct memory_world *world, const struct memory_blocks *blocks,
                              uint64_t address, uint32_t event);

#endif
