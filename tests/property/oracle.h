/*
 * oracle.h - random small traces and exhaustive search over them: the reference for every
 * analysis. Written from semantics.md alone; uses the event model and nothing else of the
 * engine (not index.h, not check.h).
 */
#ifndef HEDDLE_ORACLE_H
#define HEDDLE_ORACLE_H

#include "engine/trace/trace.h"

struct random_options {
	uint32_t threads; /* 2 .. 16; the searches take few */
	uint32_t events;  /* at most */
	uint32_t variables, locks;
	/* which operations may occur */
	bool forks, joins, rwlocks, atomics, conditions, barriers, semaphores, blocks, messages,
	        tries, sizes, values, invocations, wants, destroys, markers;
	bool short_lives; /* threads are joined soon, and others forked */
};
/* A well-formed random trace; the same seed gives the same trace. Caller closes it. */
struct trace *random_trace(uint64_t seed, const struct random_options *options);
/* A mix of options for a seed: every kind of operation comes up, and plain ones often. */
struct random_options random_mix(uint64_t seed, uint32_t events);
/* The text that it is made from (caller frees). */
char *random_text(uint64_t seed, const struct random_options *options);
/* Its events with their ids, for a failing case (caller frees). */
char *trace_text(const struct trace *t);

/* Every predictable race, by exhaustive search over correct reorderings: result[e * n + f]
 * for e < f (n events, at most 24).  Caller frees. */
bool *oracle_races(const struct trace *t, bool use_values);
/* Races with a witness that keeps the order of critical sections on each lock. */
bool *oracle_sync_preserving_races(const struct trace *t);
/*
 * Visit every state that a correct reordering can reach, each once: `done` has a bit for
 * each event that is in it.  With `keep_sections`, only reorderings that keep the order of
 * the critical sections on each lock.
 */
void oracle_visit(const struct trace *t, bool use_values, bool keep_sections,
                  void (*state)(void *context, uint32_t done), void *context);
/* After the events of `done`: is `event` the next of its thread, with its must-order
 * predecessors in `done`? */
bool oracle_next(const struct trace *t, uint32_t done, uint32_t event);
/* By event, a bit for each event that must come before it by the must-order. */
void oracle_must(const struct trace *t, uint32_t *before);
/*
 * oracle_stuck.c: causes of waits that never end ("Waits that never end"), in every state that
 * can be reached: for each a set of events, as bits, in a set of pointers that the caller
 * destroys.
 */
GHashTable *oracle_stuck(const struct trace *t, bool use_values);
/* Can the sequence come, and do all requests then wait for ever? */
bool oracle_waits(const struct trace *t, const uint32_t *sequence, size_t length,
                  const uint32_t *requests, size_t count);
/* Is this sequence a correct reordering (rules 1-6)? */
bool oracle_is_reordering(const struct trace *t, const uint32_t *sequence, size_t length,
                          bool use_values);

#endif
