/*
 * lockset.c - conflicting accesses without a common lock, in any order (Eraser: Savage et al.,
 * 1997).
 *
 * Without an order, accesses with equal variable, thread, site and lock set are equivalent:
 * pairs of such kinds are compared, not pairs of events. No predictable race is missed, so the
 * report is complete.
 */
#include "engine/order/wide_clocks.h"
#include "engine/predict/pairs/lockset_kinds.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/predict/predict_private.h"

#include <stdlib.h>

/* Lock sets of one variable. They are few, and most pairs share the variable's lock: so kinds
 * are grouped by lock set, and only pairs of sites without a common lock are expanded. */
struct set {
	uint32_t lockset, start; /* start: its first kind; with an end entry */
	uint32_t thread_kind;    /* summary: KIND_WRITES when one does; the thread, or NONE */
};
struct sets {
	struct locksets *locksets;
	struct kind *kinds; /* by lock set */
	struct set *of;
	uint32_t count, capacity;
};

static int by_set(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	if (x->lockset != y->lockset)
		return x->lockset < y->lockset ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void put_together(struct sets *s, struct kind *kinds, uint32_t count)
{
	struct set *set = NULL;

	if (count >= s->capacity) {
		s->capacity = MAX(256, 2 * count);
		s->of = g_renew(struct set, s->of, s->capacity);
	}
	qsort(kinds, count, sizeof(struct kind), by_set);
	s->kinds = kinds;
	s->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (set == NULL || kinds[i].lockset != set->lockset) {
			set = &s->of[s->count++];
			*set = (struct set){ kinds[i].lockset, i, kinds[i].thread_kind };
		}
		if ((set->thread_kind ^ kinds[i].thread_kind) >= KIND_THREAD)
			set->thread_kind = NONE;
		set->thread_kind |= kinds[i].thread_kind & KIND_WRITES;
	}
	s->of[s->count].start = count;
}

/* Different threads, a write, not both atomic. */
static inline bool may_race(uint32_t a, uint32_t b)
{
	return (a ^ b) >= KIND_THREAD && ((a | b) & KIND_WRITES) && !(a & b & KIND_ATOMIC);
}

static bool sets_may_race(const struct sets *s, const struct set *a, const struct set *b)
{
	return ((a->thread_kind | b->thread_kind) & KIND_WRITES) &&
	       (a->thread_kind == NONE || (a->thread_kind ^ b->thread_kind) >= KIND_THREAD) &&
	       lockset_common(s->locksets, a->lockset, b->lockset) == NONE;
}

/* -- kinds of many threads ----------------------------------------------------------------- */

/* Kinds of one lock set that differ in their thread alone, sorted by it: where a variable has
 * many of these, groups are paired, as pairs of kinds grow with the square of the threads. */
struct group {
	uint32_t start, end;
	uint64_t count;
	const struct kind *early[2]; /* the kinds that begin first, of two threads; or NULL */
};

static int by_group(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;
	uint32_t how_x = x->thread_kind % KIND_THREAD, how_y = y->thread_kind % KIND_THREAD;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (how_x != how_y)
		return how_x < how_y ? -1 : 1;
	return x->thread_kind < y->thread_kind ? -1 : x->thread_kind > y->thread_kind;
}

static struct group group_from(const struct kind *kinds, uint32_t start, uint32_t end)
{
	struct group g = { start, start, 0, { NULL, NULL } };

	for (; g.end < end && kinds[g.end].site == kinds[start].site &&
	       kinds[g.end].thread_kind % KIND_THREAD == kinds[start].thread_kind % KIND_THREAD;
	     g.end++) {
		const struct kind *k = &kinds[g.end];

		g.count += k->count;
		if (g.early[0] == NULL || k->first < g.early[0]->first) {
			if (g.early[0] != NULL && g.early[0]->thread_kind != k->thread_kind)
				g.early[1] = g.early[0];
			g.early[0] = k;
		} else if (k->thread_kind != g.early[0]->thread_kind &&
		           (g.early[1] == NULL || k->first < g.early[1]->first)) {
			g.early[1] = k;
		}
	}
	return g;
}

static GArray *groups_of(const struct sets *s, uint32_t set)
{
	GArray *groups = g_array_new(FALSE, FALSE, sizeof(struct group));
	uint32_t start = s->of[set].start, end = s->of[set + 1].start;

	qsort(s->kinds + start, end - start, sizeof(struct kind), by_group);
	while (start < end) {
		struct group g = group_from(s->kinds, start, end);

		g_array_append_val(groups, g);
		start = g.end;
	}
	return groups;
}

/* Number of pairs of accesses of one thread, one of each group. */
static uint64_t pairs_in_threads(const struct kind *kinds, const struct group *a,
                                 const struct group *b)
{
	uint64_t pairs = 0;

	for (uint32_t i = a->start, j = b->start; i < a->end && j < b->end;) {
		uint32_t x = kinds[i].thread_kind / KIND_THREAD,
		         y = kinds[j].thread_kind / KIND_THREAD;

		if (x == y)
			pairs += (uint64_t)kinds[i].count * kinds[j].count;
		i += x <= y;
		j += y <= x;
	}
	return pairs;
}

static void pair_groups(const struct kind *kinds, const struct group *a, const struct group *b,
                        struct site_races *sites)
{
	const struct kind *k = a->early[0];
	uint64_t count = a->count * b->count - pairs_in_threads(kinds, a, b);
	struct racing pairs = { .sites = { k->site, b->early[0]->site },
		                .variable = k->variable,
		                .count = a == b ? count / 2 : count };
	uint32_t how = a->early[0]->thread_kind | b->early[0]->thread_kind;

	if (pairs.count == 0 || !(how & KIND_WRITES) ||
	    (a->early[0]->thread_kind & b->early[0]->thread_kind & KIND_ATOMIC))
		return;
	/* The first pair is one of these; the count goes with one of them. */
	for (uint32_t i = 0; i < 4; i++) {
		const struct kind *x = a->early[i & 1], *y = b->early[i >> 1];

		if (x == NULL || y == NULL || (x->thread_kind ^ y->thread_kind) < KIND_THREAD)
			continue;
		pairs.events[0] = x->first;
		pairs.events[1] = y->first;
		site_races_add_many(sites, &pairs);
		pairs.count = 0;
	}
}

/* pair_sets for many kinds. */
static void pair_many(const struct sets *s, uint32_t one, uint32_t other,
                      struct site_races *sites)
{
	g_autoptr(GArray) a = groups_of(s, one),
	                  b = one == other ? g_array_ref(a) : groups_of(s, other);

	for (guint i = 0; i < a->len; i++) {
		guint end = one == other ? i + 1 : b->len;

		for (guint j = 0; j < end; j++)
			pair_groups(s->kinds, &g_array_index(a, struct group, i),
			            &g_array_index(b, struct group, j), sites);
	}
}

/* -- pairs of lock sets -------------------------------------------------------------------- */

/* Pair the kinds of two lock sets without a common lock. */
static void pair_sets(const struct sets *s, uint32_t one, uint32_t other,
                      struct site_races *sites)
{
	uint32_t many = clocks_wide / 8; /* (a variable, so that tests can have few) */

	if (s->of[one + 1].start - s->of[one].start > many &&
	    s->of[other + 1].start - s->of[other].start > many) {
		pair_many(s, one, other, sites);
		return;
	}
	for (uint32_t i = s->of[one].start; i < s->of[one + 1].start; i++) {
		const struct kind *a = &s->kinds[i];
		uint32_t end = one == other ? i : s->of[other + 1].start;

		for (uint32_t j = s->of[other].start; j < end; j++) {
			const struct kind *b = &s->kinds[j];

			struct racing pairs = { .events = { a->first, b->first },
				                .sites = { a->site, b->site },
				                .variable = a->variable,
				                .count = (uint64_t)a->count * b->count };

			if (may_race(a->thread_kind, b->thread_kind))
				site_races_add_many(sites, &pairs);
		}
	}
}

static void variable_sites(struct sets *s, struct kind *kinds, uint32_t count,
                           struct site_races *sites)
{
	put_together(s, kinds, count);
	for (uint32_t i = 0; i < s->count; i++) {
		for (uint32_t j = 0; j <= i; j++) {
			if (sets_may_race(s, &s->of[i], &s->of[j]))
				pair_sets(s, i, j, sites);
		}
	}
}

static void all_sites(struct trace *t, struct locksets *locksets, struct kinds *kinds,
                      const struct race_options *options, struct report *report)
{
	struct site_races *sites = site_races_new(t, options);
	struct sets sets = { .locksets = locksets };

	for (uint32_t i = 0, end; i < kinds->count; i = end) {
		end = i + 1;
		while (end < kinds->count && kinds->of[end].variable == kinds->of[i].variable)
			end++;
		variable_sites(&sets, kinds->of + i, end - i, sites);
	}
	site_races_report(sites, report, report->analysis);
	/* Accesses sharing several variables were counted at each. */
	for (guint i = 0; i < report->findings->len; i++) {
		struct finding *f = g_ptr_array_index(report->findings, i);

		f->counted_all = t->wides_count == 0;
	}
	g_free(sets.of);
	site_races_free(sites);
}

static bool find_sites(struct trace *t, const struct race_options *options,
                       struct report *report, const struct progress *progress)
{
	struct locksets *locksets = locksets_empty();
	struct kinds kinds;
	bool done = kinds_collect(&kinds, t, locksets, progress);

	if (done)
		all_sites(t, locksets, &kinds, options, report);
	kinds_free(&kinds);
	locksets_free(locksets);
	return done;
}

static bool add_pair(void *context, uint32_t e1, uint32_t e2)
{
	struct report *report = context;
	struct finding *f =
	        race_finding(report->trace, e1, e2, VERDICT_CANDIDATE, report->analysis);

	f->counted_all = true;
	report_add(report, f);
	return true;
}

struct report *races_lockset(struct trace *t, const struct race_options *options,
                             const struct progress *progress, struct error *error)
{
	struct report *report = report_new(t, "lockset");
	struct candidate_options all = { .order = NULL, .race = options };
	bool done;

	if (options->pairs_events)
		done = trace_need(t, INDEX_VARIABLES, progress) &&
		       candidates_events(t, &all, add_pair, report, progress);
	else
		done = find_sites(t, options, report, progress);
	if (!done) {
		report_free(report);
		error_cancelled(error);
		return NULL;
	}
	report->complete = true;
	report->candidates = report->findings->len;
	report_finish(report);
	return report;
}
