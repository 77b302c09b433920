/*
 * candidates.h - the pairs of accesses that a sound search has to look at: semantics.md,
 * "Candidates for a sound search".
 *
 * Every conflicting pair that program order, the must-orders and the atomics'
 * synchronises-with edges leave unordered, and no other.  Pairs are not stored: accesses
 * of one variable are grouped into classes (thread, site, kind, locks held), pairs of
 * classes are settled as a whole where that is possible, and the pairs within two classes
 * are enumerated on demand, the nearest in trace order first.
 */
#ifndef HEDDLE_CANDIDATES_H
#define HEDDLE_CANDIDATES_H

#include "engine/order/order.h"
#include "engine/predict/effort.h"
#include "engine/predict/race.h"

/* Locks held at every event, as ids of interned sets. */
struct locksets;
struct locksets *locksets_new(struct trace *t);
/* Only the sets, for who follows the locks himself; not for lockset_at. */
struct locksets *locksets_empty(void);
void locksets_free(struct locksets *l);
/* The set held by an event's thread just before the event; 0 is the empty set. */
uint32_t lockset_at(const struct locksets *l, uint32_t event);
/* The set after a lock operation. */
uint32_t lockset_moved(struct locksets *l, uint32_t set, const struct event *x);
/* A set with one lock more; `item`: object * 2, one more when it is held exclusively. */
uint32_t lockset_with(struct locksets *l, uint32_t set, uint32_t item);
/* The same with one lock less; the set itself where it is not in it. */
uint32_t lockset_without(struct locksets *l, uint32_t set, uint32_t item);
/* The lock that is all of a set (index of trace.objects), or NONE. */
uint32_t lockset_single(const struct locksets *l, uint32_t set);
/* The locks that are held exclusively in both sets. */
uint32_t lockset_exclusive(struct locksets *l, uint32_t a, uint32_t b);
/* A lock in both sets that one side holds exclusively (index of trace.objects), or NONE. */
uint32_t lockset_common(const struct locksets *l, uint32_t a, uint32_t b);

/* Is there such an item (as lockset_with has them) in the set? */
typedef bool lockset_item(void *context, uint32_t item);
bool lockset_any(const struct locksets *l, uint32_t set, lockset_item *wanted, void *context);

struct candidate_options {
	/* The order whose unordered pairs are wanted: ORDER_KIND_PO loses no race; NULL: all
	 * conflicting pairs.  Borrowed; must outlive the enumeration. */
	const struct order *order;
	/* More pairs that are not wanted, with the same shape as an order: what holds for a
	 * pair holds when e1 moves back or e2 moves on in its thread.  May be NULL. */
	bool (*settled)(const void *context, uint32_t e1, uint32_t e2);
	const void *context;
	/* Pairs under a common lock too (they cannot be races; for the list of verdicts). */
	bool keep_locked;
	const struct race_options *race; /* for --shard; or NULL */
	/* What the enumeration may cost: once it is over, nothing more comes.  Borrowed, or
	 * NULL. */
	struct effort *effort;
};

/*
 * Every candidate once, e1 <tr e2, variable by variable.  `found` returns false to stop.
 * False when stopped or cancelled.
 */
bool candidates_events(struct trace *t, const struct candidate_options *options,
                       bool (*found)(void *context, uint32_t e1, uint32_t e2), void *context,
                       const struct progress *progress);

/*
 * The candidates by unordered pairs of sites and, within them, by variable.  Pairs are in
 * the order of their sites.
 */
struct site_pairs;
struct site_pairs *site_pairs_new(struct trace *t, const struct candidate_options *options,
                                  const struct progress *progress); /* NULL when cancelled */
void site_pairs_free(struct site_pairs *p);
uint32_t site_pairs_count(const struct site_pairs *p);
struct site_pair {
	uint32_t site_a, site_b;   /* a <= b: indexes of trace.sites */
	uint32_t first, variables; /* a run of entries: one for each variable */
};
struct site_pair site_pairs_at(const struct site_pairs *p, uint32_t i);
/*
 * The next candidate of an entry, nearest first (about: by neighbourhood, not by exact
 * distance); false when there is no more.  e1 <tr e2.
 */
bool site_pairs_next(struct site_pairs *p, uint32_t entry, uint32_t *e1, uint32_t *e2);
/* A pair of an entry that is under a common lock (site_pairs_next leaves those out); false
 * when there is none.  Needs keep_locked. */
bool site_pairs_locked(const struct site_pairs *p, uint32_t entry, uint32_t *e1, uint32_t *e2);

#endif
