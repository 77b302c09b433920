/*
 * find.c - the whole analysis: the units of work, cycles that happened, predicted cycles,
 * grades.
 */
#include "engine/atomic/atomic.h"
#include "engine/atomic/mined.h"
#include "engine/order/past.h"

/* Note the sets that a unit names and that have no members. */
static void note_empty_sets(struct atomic_model *m)
{
	g_autofree bool *filled = g_new0(bool, m->sets->len + 1);
	for (guint i = 0; i < m->members->len; i++)
		filled[g_array_index(m->members, uint32_t, i)] = true;
	for (guint i = 0; i < m->sets->len; i++)
		if (!filled[i])
			g_ptr_array_add(m->notes,
			                g_strdup_printf("atomic set %s is named by a unit and "
			                                "has no members",
			                                (char *)m->sets->pdata[i]));
}

struct atomic_model *atomic_model_for(struct trace *t, const struct specs *specs,
                                      const struct infer_options *options,
                                      const struct progress *progress)
{
	struct atomic_model *m = atomic_model_declared(t);
	bool specified = specs != NULL && atomic_model_specify(m, t, specs);
	if (!specified)
		note_empty_sets(m);
	if (specified || m->sets->len > 0 || m->opens->len > 0)
		return m;
	atomic_model_free(m);
	return atomic_model_inferred(t, options, progress);
}

/* Cycles that rest on inferred sets alone are shown with --all. */
static void hide_inferred(struct report *r)
{
	guint hidden = 0;
	for (guint i = r->findings->len; i-- > 0;) {
		if (((struct finding *)r->findings->pdata[i])->grade != 'C')
			continue;
		g_ptr_array_remove_index(r->findings, i); /* frees it */
		hidden++;
	}
	if (hidden == 0)
		return;
	r->scope = "violation of grade A or B by these units of work";
	report_note(r, "%u cycle%s of grade C (inferred only) %s not listed: --all lists %s",
	            hidden, plural(hidden), hidden == 1 ? "is" : "are",
	            hidden == 1 ? "it" : "them");
}

/* Free mode records immediate repetitions of an access once, so accesses between two of them
 * are not seen. */
static void limit_repeats(const struct trace *t, struct report *r)
{
	const char *left_out = trace_note(t, "recording-left-out");
	if (left_out == NULL || trace_sampled(t)) /* report_limit adds the note for samples */
		return;
	report_open(r, "repeated accesses were left out");
	report_note(r,
	            "recorded in free mode, which left out %s repeated accesses: what "
	            "happened between them is not seen",
	            left_out);
}

struct report *atomic_find(struct trace *t, const struct atomic_model *m,
                           const struct atomic_options *options,
                           const struct progress *progress)
{
	struct report *r = report_new(t, "atomic");
	struct conflict_counts counts;
	struct cycles *c = atomic_happened(t, m, options->post_mortem, options->budget_happened,
	                                   &counts, progress);
	bool good = c != NULL;
	r->complete = true;
	limit_repeats(t, r);
	if (m->late) {
		report_open(r, "the time was over");
		r->budget_spent = true;
	}
	r->candidates = good ? counts.conflicts : 0;
	for (guint i = 0; i < m->notes->len; i++)
		report_note(r, "%s", (char *)m->notes->pdata[i]);
	if (good)
		cycles_report(c, options->limit, r);
	if (good && options->predict)
		good = atomic_predict(t, m, c, options, r, progress);
	r->same_pairing = good && options->predict && past_waits_vary(t, PAST_REORDERED);
	cycles_free(c);
	if (good)
		atomic_coverage(t, m, r);
	if (!good) {
		report_free(r);
		return NULL;
	}
	for (guint i = 0; i < r->findings->len; i++) {
		struct finding *f = r->findings->pdata[i];
		f->grade = atomic_model_grade(m, t, f);
	}
	if (options->all)
		mined_report(t, r);
	else
		hide_inferred(r);
	report_limit(r);
	return r;
}
