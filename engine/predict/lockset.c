/*
 * lockset.c - conflicting accesses whose threads hold no common lock, whatever their order
 * (after Eraser, Savage et al., 1997).
 *
 * As no order comes in, accesses of one variable by one thread at one site with one set of
 * locks are all alike: pairs of such classes are looked at, not pairs of events.  No
 * predictable race is missed, so the report is complete.
 */
#include "engine/predict/accesses.h"
#include "engine/predict/pairs.h"

static void variable_sites(struct access_classes *c, const struct accesses *all, uint32_t index,
                           struct site_races *sites)
{
	access_classes_of(c, all, index, true);
	for (uint32_t i = 0; i < c->count; i++) {
		for (uint32_t j = 0; j < i; j++) {
			const struct access_class *a = &c->of[i], *b = &c->of[j];
			uint32_t e = a->members[0]->event, f = b->members[0]->event;

			if (access_classes_may_race(c, a, b))
				site_races_add_many(sites, MIN(e, f), MAX(e, f),
				                    all->variables[index],
				                    (uint64_t)a->count * b->count);
		}
	}
}

static void all_sites(struct trace *t, struct locksets *locksets, const struct accesses *all,
                      const struct race_options *options, struct report *report)
{
	struct site_races *sites = site_races_new(t, options);
	struct access_classes c;

	access_classes_init(&c, locksets);
	for (uint32_t i = 0; i < all->count; i++)
		variable_sites(&c, all, i, sites);
	site_races_report(sites, report, report->analysis);
	/* Accesses that share several variables are met, and counted, at each of them. */
	for (guint i = 0; i < report->findings->len; i++) {
		struct finding *f = g_ptr_array_index(report->findings, i);

		f->counted_all = t->wides_count == 0;
	}
	access_classes_release(&c);
	site_races_free(sites);
}

static bool find_sites(struct trace *t, const struct race_options *options,
                       struct report *report, const struct progress *progress)
{
	struct locksets *locksets = locksets_empty();
	struct accesses all;
	bool done = accesses_collect(&all, t, locksets, progress);

	if (done)
		all_sites(t, locksets, &all, options, report);
	accesses_free(&all);
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
		error_set(error, "", NULL, "cancelled");
		return NULL;
	}
	report->complete = true;
	report->candidates = report->findings->len;
	report_finish(report);
	return report;
}
