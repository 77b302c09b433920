/*
 * lockset.c - conflicting accesses without a common lock, in any order (Eraser: Savage et al.,
 * 1997).
 *
 * Without an order, accesses with equal variable, thread, site and lock set are equivalent:
 * pairs of such kinds are compared, not pairs of events. No predictable race is missed, so the
 * report is complete.
 */
#include "engine/predict/pairs/lockset_kinds.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/predict/predict_private.h"

#include <stdlib.h>

/* One variable's lock sets are few, and most pairs share its lock. So kinds are grouped by lock
 * set, and only pairs of sets without a common lock are expanded. */
struct set {
	uint32_t lockset, start; /* start: its first kind; with an end entry */
	uint32_t who;            /* summary: KIND_WRITES when one does; the thread, or NONE */
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
			*set = (struct set){ kinds[i].lockset, i, kinds[i].who };
		}
		if ((set->who ^ kinds[i].who) >= KIND_THREAD)
			set->who = NONE;
		set->who |= kinds[i].who & KIND_WRITES;
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
	return ((a->who | b->who) & KIND_WRITES) &&
	       (a->who == NONE || (a->who ^ b->who) >= KIND_THREAD) &&
	       lockset_common(s->locksets, a->lockset, b->lockset) == NONE;
}

/* Pair the kinds of two lock sets without a common lock. */
static void pair_sets(const struct sets *s, uint32_t one, uint32_t other,
                      struct site_races *sites)
{
	for (uint32_t i = s->of[one].start; i < s->of[one + 1].start; i++) {
		const struct kind *a = &s->kinds[i];
		uint32_t end = one == other ? i : s->of[other + 1].start;

		for (uint32_t j = s->of[other].start; j < end; j++) {
			const struct kind *b = &s->kinds[j];

			struct racing pairs = { .events = { a->first, b->first },
				                .sites = { a->site, b->site },
				                .variable = a->variable,
				                .count = (uint64_t)a->count * b->count };

			if (may_race(a->who, b->who))
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
