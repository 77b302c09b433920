/*
 * ordered.c - analyses by a partial order: conflicting accesses that it leaves unordered are
 * reported.
 *
 * SHB's reports are races (Mathur, Kini, Viswanathan, OOPSLA 2018): the events ordered before
 * either access, in trace order, are the witness. Other orders give candidates.
 */
#include "engine/predict/pairs/pairs.h"
#include "engine/predict/predict_private.h"

#include <string.h>

enum { LISTED_PAIR = 4 }; /* steps (effort.h) for a listed pair */

struct listing {
	struct report *report;
	struct effort *effort;
	bool bounded; /* else the list is output, and its length is not charged */
};

static bool add_pair(void *context, uint32_t e1, uint32_t e2)
{
	const struct listing *l = context;
	struct finding *f =
	        race_finding(l->report->trace, e1, e2, VERDICT_CANDIDATE, l->report->analysis);

	f->counted_all = true;
	report_add(l->report, f);
	return !l->bounded || effort_more(l->effort, LISTED_PAIR);
}

struct shb {
	const struct order_pasts *pasts;
	const struct trace *t;
};

/* Events ordered before e1 or e2, without their own observations. */
static bool shb_limits(void *context, uint32_t e1, uint32_t e2, uint32_t *limits)
{
	const struct shb *shb = context;
	const struct trace *t = shb->t;

	memset(limits, 0, t->threads_count * sizeof *limits);
	order_pasts_join(shb->pasts, e1, limits);
	order_pasts_join(shb->pasts, e2, limits);
	limits[t->events[e1].thread] = e1;
	limits[t->events[e2].thread] = e2;
	return true;
}

static bool find_pairs(struct trace *t, enum order_kind kind, const struct order *order,
                       struct site_races *sites, const struct listing *listing,
                       const struct progress *progress)
{
	struct report *report = listing->report;

	if (sites == NULL)
		return pairs_unordered(t, order, kind == ORDER_KIND_SHB, add_pair,
		                       (void *)listing, progress) ||
		       listing->effort->over;
	if (!stream_sites(t, kind, sites, listing->effort, progress))
		return false;
	site_races_report(sites, report, report->analysis);
	return true;
}

static bool give_witnesses(struct trace *t, const struct race_options *options,
                           struct report *report, struct site_races *sites,
                           struct effort *effort, const struct progress *progress)
{
	g_autoptr(GArray) asked = witness_events(report, sites);
	struct order_pasts *pasts = order_pasts_new(
	        t, ORDER_KIND_SHB, (const uint32_t *)(void *)asked->data, asked->len, progress);
	struct shb shb = { pasts, t };
	bool done = pasts != NULL && report_witnesses(t, report, options, sites, shb_limits,
	                                              &shb, effort, progress);

	order_pasts_free(pasts);
	return done;
}

static struct report *races_of_order(struct trace *t, const struct race_options *options,
                                     enum order_kind kind, const char *analysis,
                                     const struct progress *progress, struct error *error)
{
	struct report *report = report_new(t, analysis);
	struct site_races *sites = options->pairs_events ? NULL : site_races_new(t, options);
	bool sound = kind == ORDER_KIND_SHB, done = true;
	struct order *order = NULL;
	struct effort effort, finding; /* witnesses have a budget of their own */
	struct listing listing = { report, sites == NULL ? &effort : &finding,
		                   .bounded = sound };

	effort_init(&effort, t->events_count, options);
	effort_init(&finding, t->events_count, options);
	if (sites == NULL) {
		order = order_new(t, kind, progress);
		done = order != NULL;
	}
	done = done && find_pairs(t, kind, order, sites, &listing, progress);
	report_keep_shard(report, options);
	report->candidates = report->findings->len;
	if (done && sound && report->findings->len > 0)
		done = give_witnesses(t, options, report, sites, &effort, progress);
	if (effort.over || finding.over)
		report_note_effort(report, options);
	site_races_free(sites);
	order_free(order);
	if (!done) {
		report_free(report);
		error_cancelled(error);
		return NULL;
	}
	report_finish(report);
	report_open(report,
	            "one order of this run is looked at ('--analysis auto': every one)");
	return report;
}

#define RACES(function, KIND, word) \
	struct report *function(struct trace *t, const struct race_options *options, \
	                        const struct progress *progress, struct error *error) \
	{ \
		return races_of_order(t, options, ORDER_KIND_##KIND, word, progress, error); \
	}
RACES(races_hb, HB, "hb")
RACES(races_shb, SHB, "shb")
RACES(races_cp, CP, "cp")
RACES(races_wcp, WCP, "wcp")
RACES(races_dc, DC, "dc")
RACES(races_wdc, WDC, "wdc")
