/*
 * pairs.h - from partial orders to races: the analyses that look at pairs of accesses and at
 * nothing that would have to be scheduled, and the enumeration of pairs that all the others
 * begin with.
 *
 * One enters in three ways.  stream_sites (fasttrack.c) walks a trace once under one partial
 * order and names the racy pairs as it passes them; ordered.c makes the reports of hb, shb, cp,
 * wcp, dc and wdc of it. races_lockset (lockset.c) asks for a common lock alone.  candidates.h
 * enumerates, nearest first, the pairs that a sound search has to settle, by classes of
 * accesses that are alike (classes.h); the solver's, M2's and the ladder's loops are such
 * enumerations.
 *
 * One may rely on pairs coming with the earlier event first and each of them once, under the
 * first variable that both touch; on costs that are linear in the trace and the output, all
 * beyond that being charged to an effort (effort.h); and on races by sites (site_races below)
 * naming the earliest pair.  What is here is sound only as far as the order is: no witness is
 * looked for.
 */
#ifndef HEDDLE_PAIRS_H
#define HEDDLE_PAIRS_H

#include "engine/order/order.h"
#include "engine/predict/effort.h"
#include "engine/predict/race.h"

/* Called with e1 <tr e2; returns false to stop. */
typedef bool pair_found(void *context, uint32_t e1, uint32_t e2);

/* Every conflicting pair (as a data race) that `order` leaves unordered, once, by its first
 * common variable. `unobserved`: e2's own reads-from does not order. Cost: accesses times
 * threads that share the variable, plus output. False when stopped or cancelled. */
bool pairs_unordered(struct trace *t, const struct order *order, bool unobserved,
                     pair_found *found, void *context, const struct progress *progress);

/* Racy pairs counted by their two sites, for `--pairs sites`. */
struct site_races;
struct site_races *site_races_new(const struct trace *t, const struct race_options *options);
void site_races_free(struct site_races *s);
/* `variable`: accessed by both. */
void site_races_add(struct site_races *s, uint32_t e1, uint32_t e2, uint32_t variable);
/* Add `count` pairs; the reported pair of two sites is the earliest, by its later event. */
struct racing {
	uint32_t events[2], sites[2]; /* of the first of them, in any order */
	uint32_t variable;
	uint64_t count;
};
void site_races_add_many(struct site_races *s, const struct racing *r);
/* Add the findings, verdict candidate, to a report. */
void site_races_report(struct site_races *s, struct report *report, const char *by);

/*
 * The pairs that one pass for an order sees: for each variable the last read and last write of
 * each thread, without those that a later, ordered access replaces (also of a later thread in
 * the same place, engine/trace/chains.h). Every e2 that races with an earlier access is seen
 * with one. Comparing an access of a variable with those of many threads is charged to the
 * effort (NULL: unbounded); when it is over, the pass ends early. False when cancelled.
 */
bool stream_sites(struct trace *t, enum order_kind kind, struct site_races *races,
                  struct effort *effort, const struct progress *progress);
/* The same in parts, each up to the event `end` (of CP the first part is all of it). NULL or
 * false when cancelled. */
struct stream;
struct stream *stream_new(struct trace *t, enum order_kind kind, struct site_races *races,
                          struct effort *effort, const struct progress *progress);
bool stream_pass(struct stream *stream, uint64_t end, const struct progress *progress);
void stream_free(struct stream *stream); /* NULL is allowed */

/*
 * The variables that may have a race, as a bit set (for g_free) with their number, by one
 * linear pass (suspects.c): of all others each conflicting pair is ordered by program order,
 * must-order and observation, which every correct reordering keeps, or excluded by a common
 * lock. So no suspects are a proof that the trace has no predictable race, and no C11 race.
 * Needs no index but the must-order, and memory for variables and their classes of accesses
 * alone. With `keeps` the events stay in memory (trace_keep_events_shortly) from where many
 * variables may race. False when cancelled.
 */
bool race_suspects(struct trace *t, bool keeps, uint64_t **suspects, uint64_t *count,
                   const struct progress *progress);
/* The same of a trace without an index, while it is checked (trace_options.watch): the events
 * are decoded once for both. Take, once: false when the trace was not watched, or is of a kind
 * that is left to race_suspects; the same suspects otherwise. */
struct first_suspects;
struct first_suspects *first_suspects_new(void);
const struct trace_watch *first_suspects_watch(const struct first_suspects *first);
bool first_suspects_take(struct first_suspects *first, const struct trace *t, bool keeps,
                         uint64_t **suspects, uint64_t *count);
void first_suspects_free(struct first_suspects *first); /* NULL is allowed */
/* A variable with more classes of accesses (thread, lock set, kind) than this has them merged,
 * and may become a suspect by that. A variable for the tests. */
extern uint32_t suspects_classes;
/* stream_sites for sync-preserving races (syncp.c). */
bool syncp_sites(struct trace *t, struct site_races *races, const struct progress *progress);

/*
 * Add witnesses to findings that are claimed races: the events below a limit (event id) for
 * each thread, in recorded order, and the pair. `build` sets a pair's limits, of which none
 * comes after both, or returns false without any. Findings whose witness the checker refuses
 * are removed. `whole` is the report's trace. False when cancelled.
 */
typedef bool witness_limits(void *context, uint32_t e1, uint32_t e2, uint32_t *limits);
/* `sites`: the source of findings, whose other pairs are tried; or NULL. `effort`: the budget,
 * shared with the search; afterwards findings become unknown (budget total) and are listed only
 * with all verdicts. */
bool report_witnesses(struct trace *whole, struct report *report,
                      const struct race_options *options, struct site_races *sites,
                      witness_limits *build, void *context, struct effort *effort,
                      const struct progress *progress);
/* The events that `build` is asked about: ascending, each once. */
GArray *witness_events(const struct report *report, const struct site_races *sites);
/* --shard: keep this shard's findings. */
void report_keep_shard(struct report *report, const struct race_options *options);

#endif
