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

/* The model's tables are of the trace's events, which the view has unchanged. */
static struct report *run_again(struct trace *t, void *context, const struct progress *progress,
                                struct error *error)
{
	const struct rerun *r = context;
	struct model with = *r->m;

	with.t = trace_view_missing(t, progress);
	if (with.t == NULL) {
		error_set(error, "", NULL, "cancelled");
		return NULL;
	}
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

	with.all_verdicts = false;
	return findings_mark_missing(m->t, options->pairs_events, run_again, &r,
	                             "no witness of the other order is found", report, progress,
	                             error);
}
