/*
 * decide.c - the exact answer for one pair of accesses: M2 first, then the solver.
 *
 * The ladder settles all candidates of a trace; this settles one given pair (race_decide) and
 * the candidates of an analysis that has no witnesses of its own.
 */
#include "engine/partial/rdit.h"
#include "engine/predict/ladder/behind.h"
#include "engine/predict/m2/m2.h"
#include "engine/predict/race.h"
#include "engine/predict/smt/smt.h"
#include "engine/trace/chains.h"

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
	d->view = trace_view_missing(t, INDEX_ALL, progress);
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
	g_autoptr(GArray) witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct proof *proof = NULL;
	struct finding *f = NULL;
	enum m2_verdict verdict = m2_pair(d->tools.m2, e1, e2, witness, &proof);

	/* M2's proof does not cover the reorderings that --values permits, nor C11 races */
	if (verdict == M2_RACE ||
	    (verdict == M2_IMPOSSIBLE && !d->options->use_values && !c11_matters(d->t)))
		f = settled(d, e1, e2, verdict, witness, proof);
	else
		proof_free(proof);
	return f;
}

/* NULL when cancelled. */
static struct finding *decide_by_solver(struct deciders *d, uint32_t e1, uint32_t e2)
{
	struct smt_options solver = smt_race_options(d->options);
	gint64 began = effort_microseconds();
	struct finding *f;

	if (d->smt == NULL)
		d->smt = smt_new(d->t, &solver, d->progress);
	if (d->smt == NULL)
		return NULL;
	smt_lend_checker(d->smt, d->tools.checker);
	f = smt_decide(d->smt, e1, e2, d->options,
	               MIN(d->options->budget_pair, MAX(d->solver_left, 0)), d->progress);
	d->solver_left -= (double)(effort_microseconds() - began) / G_USEC_PER_SEC;
	return f;
}

/* M2 first, which is quick; pairs that it rejects without a proof are for the solver. */
static struct finding *decide(struct deciders *d, uint32_t e1, uint32_t e2)
{
	struct finding *f;

	if (d->options->rules != NULL) /* which M2 does not know */
		return decide_by_solver(d, e1, e2);
	if (race_tools_m2(&d->tools, d->t, d->options, d->progress) == NULL)
		return NULL;
	f = decide_by_m2(d, e1, e2);
	return f != NULL ? f : decide_by_solver(d, e1, e2);
}

/* Does a read of the proof race with the write that it reads? */
static void look_behind(struct deciders *d, struct finding *f)
{
	enum { MOST = 8 };
	g_autoptr(GArray) reads = finding_reads(d->t, f);

	for (guint i = 0; i < MIN(reads->len, MOST); i++) {
		struct racy_read r = g_array_index(reads, struct racy_read, i);
		struct finding *race = decide(d, MIN(r.read, r.write), MAX(r.read, r.write));

		if (race != NULL && race->verdict == VERDICT_RACE)
			finding_add_behind(f, r);
		finding_free(race);
	}
}

static bool cancelled(struct error *error)
{
	return error_cancelled(error);
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

/* Moves the witness of a pair that was decided to be a race into its finding. */
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
