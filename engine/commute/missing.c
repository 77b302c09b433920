/* missing.c - see missing.h. */
#include "engine/commute/missing.h"

#include "engine/partial/rdit.h"
#include "engine/predict/predict.h"

/* An analysis with its options, and the model that it runs on. */
struct rerun {
	const struct model *m;
	const void *options;
	struct report *(*find)(struct model *m, const void *options,
	                       const struct progress *progress, struct error *error);
};

static struct report *find_rd2(struct model *m, const void *options,
                               const struct progress *progress, struct error *error)
{
	return rd2_find(m, options, progress, error);
}

static struct report *find_cov(struct model *m, const void *options,
                               const struct progress *progress, struct error *error)
{
	return cov_find(m, options, progress, error);
}

static struct report *find_edc(struct model *m, const void *options,
                               const struct progress *progress, struct error *error)
{
	return edc_find(m, options, progress, error);
}

/* By event: the object of the thread's outermost open invocation, or NONE. */
static uint32_t *objects_around(const struct trace *t)
{
	uint32_t *around = g_new(uint32_t, t->events_count + 1);
	g_autofree uint32_t *depth = g_new0(uint32_t, t->threads_count + 1);
	g_autofree uint32_t *object = g_new0(uint32_t, t->threads_count + 1);

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (x->op == OP_CALL && depth[x->thread]++ == 0)
			object[x->thread] = x->target;
		around[e] = depth[x->thread] > 0 ? object[x->thread] : NONE;
		depth[x->thread] -= x->op == OP_RET && depth[x->thread] > 0;
	}
	return around;
}

/* Removes the barrier pairs' edges between two invocations of one object: whether their order
 * matters is a question of its specification, not of the library's locking. */
static void drop_specified_edges(struct trace *view)
{
	struct must_edge *must = (struct must_edge *)view->index->must;
	uint32_t *order = (uint32_t *)view->index->must_by_before, kept = 0, listed = 0;
	g_autofree uint32_t *around = objects_around(view),
	                    *place = g_new(uint32_t, view->index->must_count + 1);

	for (uint32_t i = 0; i < view->index->must_count; i++) {
		uint32_t object = around[must[i].before];
		bool own = must[i].rule == MUST_MISSING && object != NONE &&
		           object == around[must[i].after];
		place[i] = own ? NONE : kept;
		if (!own)
			must[kept++] = must[i];
	}
	for (uint32_t i = 0; i < view->index->must_count; i++) {
		if (place[order[i]] != NONE)
			order[listed++] = place[order[i]];
	}
	view->index->must_count = kept;
}

/* The model's tables are indexed by the trace's events, which the view does not change. */
static struct report *run_again(struct trace *t, void *context, const struct progress *progress,
                                struct error *error)
{
	const struct rerun *r = context;
	struct model with = *r->m;

	with.t = trace_view_missing(t, INDEX_ALL, progress);
	if (with.t == NULL) {
		error_cancelled(error);
		return NULL;
	}
	drop_specified_edges(with.t);
	struct report *report = r->find(&with, r->options, progress, error);
	if (report != NULL)
		report->trace = t;
	trace_view_free(with.t);
	return report;
}

bool rd2_mark_missing(struct model *m, const struct rd2_options *options, struct report *report,
                      const struct progress *progress, struct error *error)
{
	struct rerun r = { m, options, find_rd2 };

	return findings_mark_missing(m->t, options->pairs_events, run_again, &r,
	                             "the two are ordered", report, progress, error);
}

bool edc_mark_missing(struct model *m, const struct edc_options *options, struct report *report,
                      const struct progress *progress, struct error *error)
{
	struct rerun r = { m, options, find_edc };

	return findings_mark_missing(m->t, options->pairs_events, run_again, &r,
	                             "the two are ordered", report, progress, error);
}

bool cov_mark_missing(struct model *m, const struct cov_options *options, struct report *report,
                      const struct progress *progress, struct error *error)
{
	struct cov_options with = *options;
	struct rerun r = { m, &with, find_cov };

	with.all_verdicts = with.list_unknown = false;
	return findings_mark_missing(m->t, options->pairs_events, run_again, &r,
	                             "no witness of the other order is found", report, progress,
	                             error);
}
