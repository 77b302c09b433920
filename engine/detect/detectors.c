/*
 * detectors.c - see detectors.h.
 */
#include "engine/detect/detectors.h"
#include "engine/trace/weak.h"

#include "engine/atomic/atomic.h"
#include "engine/commute/missing.h"
#include "engine/detect/failure.h"
#include "engine/predict/deadlock/deadlock.h"
#include "engine/predict/misuse.h"
#include "engine/predict/deadlock/stuck.h"
#include "engine/witness/minimise.h"
#include "engine/witness/witness.h"

static struct report *find_deadlocks(struct detection *on, const struct progress *progress,
                                     struct error *error)
{
	struct race_options options;
	race_options_init(&options);
	options.all_verdicts = on->all_verdicts;
	struct report *r = deadlocks_find(on->trace, &options, progress, error);
	if (r != NULL && !deadlocks_mark_missing(on->trace, &options, r, progress, error)) {
		report_free(r);
		return NULL;
	}
	return r;
}

static bool has_objects(const struct trace *t)
{
	return t->objects_count > 0;
}

/* Does the trace have waits other than joins, which alone make no circle? */
static bool has_waits(const struct trace *t)
{
	return t->objects_count > 0 || t->messages_count > 0;
}

static struct report *find_misuse(struct detection *on, const struct progress *progress,
                                  struct error *error)
{
	struct report *r = report_new(on->trace, "misuse");

	misuse_add(on->trace, false, r);
	r->complete = true;
	report_finish(r);
	return r;
}

static struct report *find_failure(struct detection *on, const struct progress *progress,
                                   struct error *error)
{
	struct report *r = report_new(on->trace, "failure");
	struct finding *f = failure_find(on->trace);

	if (f != NULL)
		report_add(r, f);
	r->complete = true;
	report_finish(r);
	return r;
}

/* Deadlocks that happened; DEADLOCKS has them too, but takes longer. */
static struct report *find_ending(struct detection *on, const struct progress *progress,
                                  struct error *error)
{
	struct report *r = report_new(on->trace, "ending");
	unsigned dropped;
	GPtrArray *stuck = stuck_find(on->trace, &dropped);

	for (guint i = 0; i < stuck->len; i++)
		report_add(r, stuck->pdata[i]);
	g_ptr_array_free(stuck, TRUE);
	if (dropped > 0)
		report_note(r, STUCK_DROPPED "%u", dropped);
	r->complete = true;
	report_finish(r);
	return r;
}

static bool has_events(const struct trace *t)
{
	return t->events_count > 0;
}

static bool make_model(struct detection *on, const struct progress *progress,
                       struct error *error)
{
	if (on->model == NULL)
		on->model = model_new(on->trace, on->specs, progress, error);
	return on->model != NULL;
}

/* Order violations, including uses after free and after destruction. */
static struct report *find_violations(struct detection *on, const struct progress *progress,
                                      struct error *error)
{
	struct cov_options options = { .all_verdicts = on->all_verdicts,
		                       .list_unknown = on->list_unknown,
		                       .budget_pair = on->budget_pair,
		                       .budget_total = on->budget_total };
	struct report *r = make_model(on, progress, error)
	                           ? cov_find(on->model, &options, progress, error)
	                           : NULL;
	if (r != NULL && !cov_mark_missing(on->model, &options, r, progress, error)) {
		report_free(r);
		return NULL;
	}
	return r;
}

/* Does the trace have invocations, blocks that end, or conditions, locks and semaphores that
 * end and are waited for? */
static bool may_violate(const struct trace *t)
{
	return t->instances_count > 0 || t->blocks_count > 0 || t->objects_count > 0;
}

static struct report *find_commutativity(struct detection *on, const struct progress *progress,
                                         struct error *error)
{
	struct rd2_options options = { 0 };
	struct report *r = make_model(on, progress, error)
	                           ? rd2_find(on->model, &options, progress, error)
	                           : NULL;
	if (r != NULL && !rd2_mark_missing(on->model, &options, r, progress, error)) {
		report_free(r);
		return NULL;
	}
	return r;
}

static bool has_invocations(const struct trace *t)
{
	return t->instances_count > 0;
}

static struct report *run_atomic(struct detection *on, bool predict,
                                 const struct progress *progress, struct error *error)
{
	struct atomic_options options = { .predict = predict,
		                          .budget_pair = on->budget_pair,
		                          .budget_total = on->budget_total,
		                          .budget_happened = 60 };
	const struct infer_options infer = { .seconds = on->budget_sets };
	struct atomic_model *m = atomic_model_for(on->trace, on->specs, &infer, progress);
	struct report *report = m ? atomic_find(on->trace, m, &options, progress) : NULL;
	if (m)
		atomic_model_free(m);
	if (report == NULL)
		error_cancelled(error);
	return report;
}

static struct report *find_cycles(struct detection *on, const struct progress *progress,
                                  struct error *error)
{
	return run_atomic(on, false, progress, error);
}

/* Finds cycles that can happen; includes those that happened. */
static struct report *predict_cycles(struct detection *on, const struct progress *progress,
                                     struct error *error)
{
	return run_atomic(on, true, progress, error);
}

static bool may_have_units(const struct trace *t)
{
	return t->threads_count > 1;
}

static const struct {
	const char *word, *title;
	bool (*applies)(const struct trace *t);
	struct report *(*find)(struct detection *on, const struct progress *progress,
	                       struct error *error);
} detectors[] = {
#define DETECTOR(name, word, title, applies, find) { word, title, applies, find },
#include "engine/detect/detectors.def"
#undef DETECTOR
};

const char *detector_word(enum detector d)
{
	return detectors[d].word;
}

const char *detector_title(enum detector d)
{
	return detectors[d].title;
}

bool detector_applies(enum detector d, const struct detection *on)
{
	return (d <= DETECTOR_DEADLOCKS || on->specs != NULL) &&
	       detectors[d].applies(on->trace);
}

/* Reduces the context switches of each witness; a finding that happened keeps the recorded
 * order. */
static void minimise_witnesses(enum detector d, const struct detection *on,
                               const struct report *r)
{
	struct semantics semantics;
	struct check_options options = { 0 };
	struct checker *checker = NULL;

	if (d == DETECTOR_COV && on->model != NULL) { /* only these have rule 5 */
		semantics = model_semantics(on->model);
		options.semantics = &semantics;
	}
	for (guint i = 0; i < r->findings->len; i++) {
		struct finding *f = r->findings->pdata[i];

		if (f->witness == NULL || f->verdict == VERDICT_HAPPENED)
			continue;
		if (checker == NULL)
			checker = checker_new(on->trace, &options);
		GArray *claimed = finding_claimed(f), *old = f->witness;
		f->witness = witness_minimised(
		        checker, on->trace,
		        (struct claimed){ finding_claim(f), event_list_of(claimed) }, old);
		g_array_unref(old);
		g_array_unref(claimed);
	}
	if (checker != NULL)
		checker_free(checker);
}

struct report *detector_run(enum detector d, struct detection *on,
                            const struct progress *progress, struct error *error)
{
	/* findings that happened need no model of the memory */
	if (d > DETECTOR_MISUSE && !trace_weak_allows(on->trace, "this search", error))
		return NULL;
	struct report *r = detectors[d].find(on, progress, error);
	if (r != NULL)
		minimise_witnesses(d, on, r);
	return r;
}
