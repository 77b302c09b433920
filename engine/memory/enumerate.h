/*
 * enumerate.h - all execution graphs of a program under a memory model, each once.
 *
 * Optimal stateless model checking (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: Truly
 * stateless, optimal dynamic partial order reduction, POPL 2022). Events are added one at a
 * time. A load branches over the stores that it may read; a store over its places in the
 * modification order, and revisits earlier loads: those that are not before it are made to read
 * it, in the graph without what was added after the load and is not before the store. A revisit
 * is done only when everything that it removes read, or was, the newest at the time, which
 * makes the graph that it starts from unique. It holds for models that are closed under
 * prefixes and in which an event that reads the newest store can always be added; those of
 * models.h are.
 *
 * The program is an interface: a test's interpreter, or a real program run again and again.
 */
#ifndef HEDDLE_MEMORY_ENUMERATE_H
#define HEDDLE_MEMORY_ENUMERATE_H

#include "engine/memory/models.h"

enum memory_step {
	MEMORY_STEP_EVENT,
	MEMORY_STEP_NONE, /* the thread has ended, or has not begun */
	MEMORY_STEP_EXIT, /* the thread ended the program: no other waits for ever */
	/* The thread waits until one of its last loads reads another store: a round of a loop
	 * that only looks, of `event.expected` events. An update may be without its store. 0:
	 * the continuation is in other graphs. */
	MEMORY_STEP_AWAIT,
	MEMORY_STEP_FAILED /* unknown: the enumeration stops */
};

struct memory_program {
	void *context;
	/* Number of threads that the graph's events may have; each may have a next event. */
	uint32_t (*threads)(void *context, const struct memory_graph *g);
	/* The next event of a thread after those in the graph, as for memory_append. It must
	 * depend on the values that loads before it (by po and rf) read, alone. */
	enum memory_step (*next)(void *context, const struct memory_graph *g, uint32_t thread,
	                         struct memory_event *event);
	uint64_t (*initial)(void *context, uint32_t location);
	/* A graph without a next event; false stops the enumeration. `blocked`: threads wait
	 * for ever, for locks, values that no store writes, or the end of such threads. */
	bool (*visit)(void *context, const struct memory_graph *g, bool blocked);
};

struct memory_counts {
	uint64_t complete;  /* graphs visited in which every thread came to its end */
	uint64_t blocked;   /* graphs visited in which some did not */
	uint64_t abandoned; /* graphs not visited: a thread waits for a lock that is unlocked
	                     * later */
	uint64_t rejected;  /* choices that the model does not permit */
};

/* False when `visit` or `next` stopped it. */
bool memory_enumerate(const struct memory_program *program, enum memory_model model,
                      struct memory_counts *counts);

#endif
