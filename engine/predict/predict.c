/*
 * predict.c - the analyses behind one call: their names, the dispatch table, and the exact
 * answer for one pair.
 *
 * Knows which function runs which analysis and nothing of how any of them works.
 */
#include "engine/base/hash.h"
#include "engine/partial/rdit.h"
#include "engine/predict/behind.h"
#include "engine/predict/predict_private.h"
#include "engine/predict/m2.h"
#include "engine/predict/smt.h"
#include "engine/trace/chains.h"

#include <string.h>

static const struct {
	const char *word;
	bool sound;
	race_run *run;
} analyses[ANALYSIS_COUNT] = {
#define ANALYSIS(name, word, sound, run, title) [ANALYSIS_##name] = { word, sound, run },
#include "engine/predict/analyses.def"
#undef ANALYSIS
};

bool analysis_from_word(const char *word, enum analysis *analysis)
{
	for (int i = 0; i < ANALYSIS_COUNT; i++) {
		if (strcmp(word, analyses[i].word) == 0) {
			*analysis = (enum analysis)i;
			return true;
		}
	}
	return false;
}

const char *analysis_word(enum analysis analysis)
{
	return analyses[analysis].word;
}

bool analysis_is_sound(enum analysis analysis)
{
	return analyses[analysis].sound;
}

void race_options_init(struct race_options *options)
{
	*options = (struct race_options){
		.analysis = ANALYSIS_AUTO,
		.budget_pair = 1,
		.budget_total = 5,
		.candidates = -1,
		.shards = 1,
		.witness_events = 32 << 20,
	};
}

/* ---- Tools ---- */

struct race_tools *race_tools_begin(const struct race_options *options, struct race_tools *own)
{
	*own = (struct race_tools){ 0 };
	return options->tools != NULL ? options->tools : own;
}

void race_tools_end(struct race_tools *own)
{
	m2_free(own->m2);
	checker_free(own->checker);
}

struct checker *race_tools_checker(struct race_tools *tools, const struct trace *t,
                                   const struct race_options *options)
{
	const struct check_options check = { .use_missing = options->use_missing };

	if (tools->checker == NULL)
		tools->checker = checker_new(t, &check);
	return tools->checker;
}

struct m2 *race_tools_m2(struct race_tools *tools, struct trace *t,
                         const struct race_options *options, const struct progress *progress)
{
	if (tools->m2 == NULL)
		tools->m2 = m2_new(t, race_tools_checker(tools, t, options), progress);
	return tools->m2;
}

/* The analysis on the trace with the must-orders of missing code. */
static struct report *with_missing(struct trace *t, const struct race_options *options,
                                   const struct progress *progress, struct error *error)
{
	struct trace *view = trace_view_missing(t, progress);
	struct race_options with = *options;

	if (view == NULL) {
		error_set(error, "", NULL, "cancelled");
		return NULL;
	}
	with.use_missing = true;
	struct report *report = analyses[options->analysis].run(view, &with, progress, error);
	if (report != NULL)
		report->trace = t;
	trace_view_free(view);
	return report;
}

struct report *by_chains(struct trace *t, const struct race_options *options, race_run *run,
                         const struct progress *progress, struct error *error)
{
	bool cancelled;
	uint32_t least = options->chains_always ? 2 : CHAINS_LEAST;
	struct trace *view = trace_by_chains(t, least, progress, &cancelled);

	if (cancelled) {
		error_set(error, "", NULL, "cancelled");
		return NULL;
	}
	struct report *report = run(view != NULL ? view : t, options, progress, error);
	if (report != NULL)
		report->trace = t;
	trace_close(view);
	return report;
}

struct report *races_find(struct trace *t, const struct race_options *options,
                          const struct progress *progress, struct error *error)
{
	if (analyses[options->analysis].run == NULL) {
		error_set(error, "", "choose another with --analysis",
		          "the analysis '%s' is not in this build",
		          analysis_word(options->analysis));
		return NULL;
	}
	if (options->use_missing || options->analysis == ANALYSIS_RDIT)
		return with_missing(t, options, progress, error);
	/* lockset also reports pairs that the must-order keeps apart, and keeps little by
	 * thread */
	if (options->analysis == ANALYSIS_LOCKSET)
		return races_lockset(t, options, progress, error);
	return by_chains(t, options, analyses[options->analysis].run, progress, error);
}

void report_note_left_out(struct report *report, uint64_t witnesses)
{
	if (witnesses > 0)
		report_note(report,
		            "witnesses checked and not kept, as they are too long: "
		            "%" G_GUINT64_FORMAT "; 'heddle witness' gives each of them",
		            witnesses);
}

void report_note_effort(struct report *report, const struct race_options *options)
{
	report->complete = false;
	report->budget_spent = true;
	report_note(report,
	            "--budget (%g,%g) was gone before all candidates had been gone through, so "
	            "some are in no list; a larger one goes further",
	            options->budget_pair, options->budget_total);
}

uint32_t race_variable(const struct trace *t, uint32_t e1, uint32_t e2)
{
	struct wide x = event_variables(t, &t->events[e1]);
	struct wide y = event_variables(t, &t->events[e2]);

	return MAX(x.first, y.first);
}

struct finding *race_finding(const struct trace *t, uint32_t e1, uint32_t e2,
                             enum verdict verdict, const char *by)
{
	struct finding *f = finding_new(FINDING_DATA_RACE, MIN(e1, e2), MAX(e1, e2));
	uint32_t variable = race_variable(t, e1, e2);

	f->verdict = verdict;
	f->count = 1;
	f->by = by;
	f->variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(f->variables, variable);
	return f;
}

bool race_in_shard(const struct race_options *options, uint32_t site_a, uint32_t site_b)
{
	uint32_t low = MIN(site_a, site_b), high = MAX(site_a, site_b);
	uint64_t hash = (hash_word(low) + high) * 0xff51afd7ed558ccdu;

	if (options->wanted != NULL && !options->wanted(options->wanted_context, low, high))
		return false;
	if (options->shards <= 1)
		return true;
	return (hash >> 32) % options->shards == options->shard;
}

/* ---- One pair, exactly ---- */

/* The two deciders, each made when it is first needed. */
struct deciders {
	struct trace *t;      /* or a view of it */
	struct trace *view;   /* with missing code; owned, or NULL */
	struct trace *chains; /* by chains of threads; owned, or NULL */
	const struct race_options *options;
	const struct progress *progress;
	struct race_tools tools;
	struct smt *smt;
	double solver_left; /* seconds */
};

/* False when cancelled. */
static bool deciders_init(struct deciders *d, struct trace *t,
                          const struct race_options *options, const struct progress *progress)
{
	*d = (struct deciders){ .t = t,
		                .options = options,
		                .progress = progress,
		                .solver_left = options->budget_total };
	if (!options->use_missing) {
		bool cancelled;

		d->chains = trace_by_chains(t, options->chains_always ? 2 : CHAINS_LEAST,
		                            progress, &cancelled);
		d->t = d->chains != NULL ? d->chains : t;
		return !cancelled;
	}
	d->view = trace_view_missing(t, progress);
	d->t = d->view;
	return d->view != NULL;
}

static void deciders_release(struct deciders *d)
{
	smt_free(d->smt);
	race_tools_end(&d->tools);
	trace_view_free(d->view);
	trace_close(d->chains);
}

static struct finding *settled(const struct deciders *d, uint32_t e1, uint32_t e2,
                               enum m2_verdict verdict, const GArray *witness,
                               struct proof *proof)
{
	bool race = verdict == M2_RACE;
	struct finding *f =
	        race_finding(d->t, e1, e2, race ? VERDICT_RACE : VERDICT_IMPOSSIBLE, "m2");

	f->counted_all = true;
	f->proof = proof;
	if (race) {
		f->witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_vals(f->witness, witness->data, witness->len);
	}
	return f;
}

/* NULL when M2 does not settle it. */
static struct finding *decide_by_m2(struct deciders *d, uint32_t e1, uint32_t e2)
{
	GArray *witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct proof *proof = NULL;
	struct finding *f = NULL;
	enum m2_verdict verdict = m2_pair(d->tools.m2, e1, e2, witness, &proof);

	/* with --values more may be reordered than M2 knows of, with relaxed atomics more may
	 * race */
	if (verdict == M2_RACE ||
	    (verdict == M2_IMPOSSIBLE && !d->options->use_values && !c11_matters(d->t)))
		f = settled(d, e1, e2, verdict, witness, proof);
	else
		proof_free(proof);
	g_array_unref(witness);
	return f;
}

/* NULL when cancelled. */
static struct finding *decide_by_solver(struct deciders *d, uint32_t e1, uint32_t e2)
{
	struct smt_options solver = smt_race_options(d->options);
	gint64 began = effort_microseconds();

	if (d->smt == NULL)
		d->smt = smt_new(d->t, &solver, d->progress);
	if (d->smt == NULL)
		return NULL;
	smt_lend_checker(d->smt, d->tools.checker);
	struct finding *f =
	        smt_decide(d->smt, e1, e2, d->options,
	                   MIN(d->options->budget_pair, MAX(d->solver_left, 0)), d->progress);
	d->solver_left -= (double)(effort_microseconds() - began) / G_USEC_PER_SEC;
	return f;
}

/* M2 first, which is quick; what it rejects without a proof is for the solver. */
static struct finding *decide(struct deciders *d, uint32_t e1, uint32_t e2)
{
	if (d->options->rules != NULL) /* which M2 does not know */
		return decide_by_solver(d, e1, e2);
	if (race_tools_m2(&d->tools, d->t, d->options, d->progress) == NULL)
		return NULL;
	struct finding *f = decide_by_m2(d, e1, e2);
	return f != NULL ? f : decide_by_solver(d, e1, e2);
}

/* Is what the proof's reads see itself a race? */
static void look_behind(struct deciders *d, struct finding *f)
{
	enum { MOST = 8 };
	GArray *reads = finding_reads(d->t, f);

	for (guint i = 0; i < MIN(reads->len, MOST); i++) {
		struct racy_read r = g_array_index(reads, struct racy_read, i);
		struct finding *race = decide(d, MIN(r.read, r.write), MAX(r.read, r.write));

		if (race != NULL && race->verdict == VERDICT_RACE)
			finding_add_behind(f, r);
		finding_free(race);
	}
	g_array_unref(reads);
}

static bool cancelled(struct error *error)
{
	return error_set(error, "", NULL, "cancelled");
}

struct finding *race_decide(struct trace *t, uint32_t e1, uint32_t e2,
                            const struct race_options *options, const struct progress *progress,
                            struct error *error)
{
	struct deciders d;
	struct finding *f = NULL;

	if (e1 >= t->events_count || e2 >= t->events_count) {
		error_set(error, trace_name(t), "the ids are those of the reports",
		          "there is no event %u, the trace has %" G_GUINT64_FORMAT
		          " events, counted from 0",
		          MAX(e1, e2), t->events_count);
		return NULL;
	}
	if (!events_race_conflict(t, e1, e2)) {
		error_set(
		        error, trace_name(t),
		        "name two accesses of different threads to one variable, one of them a "
		        "write and not both atomic",
		        "events %u and %u do not conflict", e1, e2);
		return NULL;
	}
	if (options->rules != NULL &&
	    options->rules->spoken_for(options->rules->context, e1, e2)) {
		error_set(error, trace_name(t),
		          "ask whether the invocations race, with 'commute'",
		          "events %u and %u are inside of invocations of one object, whose "
		          "specification speaks for them",
		          e1, e2);
		return NULL;
	}
	if (deciders_init(&d, t, options, progress))
		f = decide(&d, MIN(e1, e2), MAX(e1, e2));
	if (f != NULL && f->verdict == VERDICT_IMPOSSIBLE)
		look_behind(&d, f);
	deciders_release(&d);
	if (f == NULL)
		cancelled(error);
	else
		finding_limit(t, f);
	return f;
}

/* What was found out about a candidate goes into its finding. */
static void take_witness(struct finding *into, struct finding *from)
{
	if (from->verdict != VERDICT_RACE || from->witness == NULL)
		return;
	into->verdict = VERDICT_RACE;
	into->witness = g_array_ref(from->witness);
	into->by = from->by;
	into->note = from->note;
}

bool races_add_witnesses(struct trace *t, const struct race_options *options,
                         struct report *report, const struct progress *progress,
                         struct error *error)
{
	struct deciders d;
	bool good = deciders_init(&d, t, options, progress) || cancelled(error);

	for (guint i = 0; i < report->findings->len && good; i++) {
		struct finding *f = report->findings->pdata[i], *decided;

		if (f->kind != FINDING_DATA_RACE || f->verdict != VERDICT_CANDIDATE)
			continue;
		decided = decide(&d, f->first, f->second);
		if (decided == NULL) {
			good = cancelled(error);
			break;
		}
		take_witness(f, decided);
		finding_free(decided);
		if (!progress_tick(progress, (double)i / report->findings->len,
		                   "looking for witnesses"))
			good = cancelled(error);
	}
	deciders_release(&d);
	return good;
}
