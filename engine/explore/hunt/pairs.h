/*
 * pairs.h - pairs of conflicting events of runs, which a later run turns: those first that a
 * bug is most likely to be in (docs/hunting.md, "Strategies that learn").
 */
#ifndef HEDDLE_HUNT_PAIRS_H
#define HEDDLE_HUNT_PAIRS_H

#include "engine/explore/hunt/periods.h"
#include "engine/record/strategy.h"
#include "engine/trace/trace.h"

struct pairs;
/* `random`: state of xorshift64, not 0; `seen`: keys (effect_places) of the reads and writes
 * seen together in a run. Both are borrowed, and change. */
struct pairs *pairs_new(uint64_t *random, const GHashTable *seen);
void pairs_free(struct pairs *p); /* NULL is allowed */

/* Does one wait? */
bool pairs_wait(const struct pairs *p);
/* The next run turns the one drawn, which no longer waits: its strategy. Needs one that waits.
 */
void pairs_take(struct pairs *p, struct strategy *s);
/* The next run turns none. */
void pairs_turn_none(struct pairs *p);
/* The first creation of a thread: before it nothing can come in another order. NONE: none. */
uint32_t pairs_begin(const struct trace *t);
/* Adds the pairs of the last run (indexed by threads, variables, objects and writers), which
 * made these turns. The periods learn from the same facts of it. Of a long run, of more than
 * PAIRS_LONG events, pairs of a sample are added, and the periods learn nothing. */
enum { PAIRS_LONG = 200000 };
void pairs_find(struct pairs *p, struct trace *t, const GArray *turns, struct periods *periods);
/* `seen` has changed. */
void pairs_note_seen(struct pairs *p);

#endif
