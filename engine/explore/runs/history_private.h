/*
 * history_private.h - numbers that are equal in all runs: shared by histories (history.c,
 * history_lives.c) and the values of reads (seen.c).
 */
#ifndef HEDDLE_HISTORY_PRIVATE_H
#define HEDDLE_HISTORY_PRIVATE_H

#include "engine/base/hash.h"
#include "engine/explore/runs/history.h"

static inline uint64_t history_mix(uint64_t h, uint64_t x)
{
	h ^= x + HASH_FACTOR + (h << 6) + (h >> 2);
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ull;
	return h ^ h >> 32;
}

/* history_lives.c: find h->lives, after the threads. */
void history_find_lives(struct history *h);
/* Does the integer point into an allocated block? Then *number is the block and place in it, as
 * `viewer`, a thread, sees it: its own blocks by how they became its own alone, if the history
 * has threads that are alike. NONE: the same for all. */
bool history_pointer(const struct history *h, uint64_t integer, uint32_t event, uint32_t viewer,
                     uint64_t *number);
/* Finds the kernel's numbers of the run's child processes and threads, after the threads. */
void history_find_numbers(struct history *h);
/* Is the integer such a number? Then *number says of which thread, or which of its thread's
 * children it is. */
bool history_kernel_number(const struct history *h, uint64_t integer, uint64_t *number);
/* The thread that the block with this address belongs to at the event, or NONE. */
uint32_t history_owner(const struct history *h, uint64_t address, uint32_t event);
/* Addresses of the blocks of runs. */
struct addresses;
struct addresses *addresses_new(void);
void addresses_free(struct addresses *a);
/* Adds a run's addresses. Returns the first event of its trace that allocates a block where
 * this or an earlier run has another one; NONE: each address belongs to one block. */
uint32_t addresses_differ(struct addresses *a, const struct history *h);
uint32_t addresses_count(const struct addresses *a);
/* Writes the blocks beyond the first `from`, or adds those that are read. */
void addresses_archive(struct addresses *a, uint32_t from, struct archive *archive);
/* Adds the other's blocks; false when one of them is where another block is. */
bool addresses_adopt(struct addresses *a, const struct addresses *other);
/* Stands for the identity of the thread that sees its own. */
enum { WHO_SELF = 3 };
/* The number of a write, by thread and position; `viewer` as above. */
static inline uint64_t history_write_number(const struct history *h, uint32_t write,
                                            uint32_t viewer)
{
	if (write == NONE)
		return 6;
	uint32_t thread = h->trace->events[write].thread;
	bool own = h->apart != NULL && thread == viewer;
	return history_mix(history_mix(7, own ? WHO_SELF : h->threads[thread].who),
	                   g_array_index(h->step_of, uint32_t, write));
}

/* Take initial values from reads of this run. (Stacks and heap blocks begin with garbage, which
 * may differ.) */
void history_learn_initials(struct history *h);
/* The number of the value that an access of this run saw (not yet in h->seen). */
uint64_t history_find_seen(const struct history *h, uint32_t read);

#endif
