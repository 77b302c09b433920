/*
 * candidates.h - candidate pairs of a sound search (semantics.md, "The partial orders").
 *
 * All conflicting pairs left unordered by program order, must-orders and the atomics'
 * synchronises-with, and no others. Pairs are not stored: a variable's accesses are grouped
 * into classes (thread, site, kind, lock set), pairs of classes are decided as a whole where
 * possible, and pairs of their members are enumerated on demand, nearest in trace order first.
 */
#ifndef HEDDLE_CANDIDATES_H
#define HEDDLE_CANDIDATES_H

#include "engine/order/order.h"
#include "engine/predict/effort.h"
#include "engine/predict/race.h"

/* Lock sets of all events, interned as ids. */
struct locksets;
struct locksets *locksets_new(struct trace *t);
/* Only the interned sets, for callers that track locks themselves; not for lockset_at. */
struct locksets *locksets_empty(void);
void locksets_free(struct locksets *l);
/* The lock set of the event's thread just before the event; 0 is empty. */
uint32_t lockset_at(const struct locksets *l, uint32_t event);
/* The set after a lock operation. */
uint32_t lockset_moved(struct locksets *l, uint32_t set, const struct event *x);
/* The set plus a lock; `item`: object * 2, plus 1 if exclusive. */
uint32_t lockset_with(struct locksets *l, uint32_t set, uint32_t item);
/* The set minus a lock; unchanged if not contained. */
uint32_t lockset_without(struct locksets *l, uint32_t set, uint32_t item);
/* The only lock of a set (index of trace.objects), or NONE. */
uint32_t lockset_single(const struct locksets *l, uint32_t set);
/* Locks held exclusively in both sets. */
uint32_t lockset_exclusive(struct locksets *l, uint32_t a, uint32_t b);
/* A lock in both sets, held exclusively in one (index of trace.objects), or NONE. */
uint32_t lockset_common(const struct locksets *l, uint32_t a, uint32_t b);

/* Does the set contain a matching item (as for lockset_with)? */
typedef bool lockset_item(void *context, uint32_t item);
bool lockset_any(const struct locksets *l, uint32_t set, lockset_item *wanted, void *context);

struct candidate_options {
	/* The order whose unordered pairs are wanted: ORDER_KIND_PO loses no race; NULL: all
	 * conflicting pairs. Borrowed; must outlive the enumeration. */
	const struct order *order;
	/* Further pairs to leave out. Like an order it must stay true when e1 moves back or e2
	 * on in its thread. May be NULL. */
	bool (*settled)(const void *context, uint32_t e1, uint32_t e2);
	const void *context;
	/* Include pairs under a common lock (no races, but listed among verdicts). */
	bool keep_locked;
	const uint64_t *suspects;  /* bit set of the only variables to examine; or NULL: all */
	struct locksets *locksets; /* of the trace; borrowed, or NULL */
	/* For site_pairs_new and variables of very many classes of accesses: the number of
	 * pairs kept for two sites, for callers that give up after fewer. 0: all. */
	uint32_t most_class_pairs;
	const struct race_options *race; /* for --shard; or NULL */
	/* Budget of the enumeration, which stops when spent. Borrowed, or NULL. */
	struct effort *effort;
};

/* Every candidate once, e1 <tr e2, by variable. `found` returns false to stop. False when
 * stopped or cancelled. */
bool candidates_events(struct trace *t, const struct candidate_options *options,
                       bool (*found)(void *context, uint32_t e1, uint32_t e2), void *context,
                       const struct progress *progress);

/* Candidates by unordered pairs of sites and by variable, sorted by sites. */
struct site_pairs;
struct site_pairs *site_pairs_new(struct trace *t, const struct candidate_options *options,
                                  const struct progress *progress); /* NULL when cancelled */
void site_pairs_free(struct site_pairs *p);
uint32_t site_pairs_count(const struct site_pairs *p);
struct site_pair {
	uint32_t site_a, site_b;   /* a <= b: indexes of trace.sites */
	uint32_t first, variables; /* a range of entries, one for each variable */
};
struct site_pair site_pairs_at(const struct site_pairs *p, uint32_t i);
/* The next candidate of an entry, roughly nearest first; false after the last. e1 <tr
 * e2. */
bool site_pairs_next(struct site_pairs *p, uint32_t entry, uint32_t *e1, uint32_t *e2);
/* Were pairs of the entry perhaps left out because of most_class_pairs? */
bool site_pairs_bounded(const struct site_pairs *p, uint32_t entry);
/* A pair of an entry under a common lock (left out by site_pairs_next), or false. Needs
 * keep_locked. */
bool site_pairs_locked(const struct site_pairs *p, uint32_t entry, uint32_t *e1, uint32_t *e2);

#endif
