/*
 * lockset.c - conflicting accesses whose threads hold no common lock, whatever their order
 * (after Eraser, Savage et al., 1997).
 *
 * As no order comes in, accesses of one variable by one thread at one site with one set of
 * locks are all alike: pairs of such classes are looked at, not pairs of events.  No
 * predictable race is missed, so the report is complete.
 */
#include "engine/predict/candidates.h"
#include "engine/predict/pairs.h"

#include <string.h>

struct class
{
	uint32_t site, lockset;
	uint16_t thread;
	bool writes, atomic;
	uint32_t first; /* event */
	uint64_t count;
};
struct classes {
	struct trace *t;
	const struct locksets *locksets;
	GArray *of;      /* struct class of the variable at hand */
	uint32_t *last;  /* by thread: the class that it was in last */
	uint32_t *stamp; /* by thread: variable + 1 for which `last` holds */
};

static bool same_class(const struct class *a, const struct class *b)
{
	return a->site == b->site && a->lockset == b->lockset && a->thread == b->thread &&
	       a->writes == b->writes && a->atomic == b->atomic;
}

static uint32_t class_find(struct classes *c, const struct class *wanted, uint32_t variable)
{
	uint32_t thread = wanted->thread, i;

	if (c->stamp[thread] == variable + 1 &&
	    same_class(&g_array_index(c->of, struct class, c->last[thread]), wanted))
		return c->last[thread];
	for (i = 0; i < c->of->len; i++) {
		if (same_class(&g_array_index(c->of, struct class, i), wanted))
			break;
	}
	if (i == c->of->len)
		g_array_append_val(c->of, *wanted);
	c->stamp[thread] = variable + 1;
	c->last[thread] = i;
	return i;
}

static void classify(struct classes *c, uint32_t variable)
{
	struct event_list list = event_list_at(&c->t->index->variable_events, variable);

	g_array_set_size(c->of, 0);
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t e = list.items[i];
		const struct event *x = &c->t->events[e];
		struct class class = { .site = c->t->locations[x->location].site,
			               .lockset = lockset_at(c->locksets, e),
			               .thread = x->thread,
			               .writes = op_writes(x->op),
			               .atomic = op_is_atomic(x->op),
			               .first = e };
		uint32_t at = class_find(c, &class, variable);

		g_array_index(c->of, struct class, at).count++;
	}
}

static bool classes_race(const struct classes *c, const struct class *a, const struct class *b)
{
	return a->thread != b->thread && (a->writes || b->writes) &&
	       !(a->atomic && b->atomic) &&
	       lockset_common(c->locksets, a->lockset, b->lockset) == NONE;
}

static void variable_sites(struct classes *c, uint32_t variable, struct site_races *sites)
{
	classify(c, variable);
	for (guint i = 0; i < c->of->len; i++) {
		for (guint j = 0; j < i; j++) {
			const struct class *a = &g_array_index(c->of, struct class, i);
			const struct class *b = &g_array_index(c->of, struct class, j);

			if (classes_race(c, a, b))
				site_races_add_many(sites, MIN(a->first, b->first),
				                    MAX(a->first, b->first), variable,
				                    a->count * b->count);
		}
	}
}

static bool find_sites(struct trace *t, const struct race_options *options,
                       struct report *report, const struct progress *progress)
{
	struct locksets *locksets = locksets_new(t);
	struct site_races *sites = site_races_new(t, options);
	struct classes c = { t, locksets, g_array_new(FALSE, FALSE, sizeof(struct class)),
		             g_new(uint32_t, t->threads_count + 1),
		             g_new0(uint32_t, t->threads_count + 1) };
	bool done = true;

	for (uint32_t v = 0; v < t->variables_count && done; v++) {
		if ((v & 0xfff) == 0)
			done = progress_tick(progress, (double)v / t->variables_count,
			                     "locksets");
		variable_sites(&c, v, sites);
	}
	site_races_report(sites, report, report->analysis);
	/* Accesses that share several variables are met, and counted, at each of them. */
	for (guint i = 0; i < report->findings->len; i++) {
		struct finding *f = g_ptr_array_index(report->findings, i);

		f->counted_all = t->wides_count == 0;
	}
	g_array_free(c.of, TRUE);
	g_free(c.last);
	g_free(c.stamp);
	site_races_free(sites);
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
	bool done = trace_need(t, INDEX_VARIABLES, progress);

	if (done && options->pairs_events)
		done = candidates_events(t, &all, add_pair, report, progress);
	else if (done)
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
