/*
 * auto_ladder.c - decides every candidate, cheapest method first.
 *
 * Races found by sound analyses are reused. Remaining pairs are decided one by one: by causal
 * past (one access is in the other's), a common lock, a proof for an earlier point of the same
 * two synchronisation-free regions, and last by the solver within its budget. The unit of a
 * verdict is the pair of sites, or with --pairs events the pair.
 */
#include "engine/predict/ladder/auto_ladder.h"

#include "engine/base/hash.h"
#include "engine/predict/ladder/behind.h"
#include "engine/predict/ladder/ladder_private.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/trace/binary/reel.h"
#include "engine/trace/own_site.h"

/* Bound on the events of witnesses of the projection, of each rung: half a GB. */
enum { LIFTED_EVENTS = 1 << 27 };

/* "syncp (12 races so far): witnesses" */
static bool show_rung(void *context, double fraction, const char *what)
{
	const struct ladder *l = context;
	char text[160];

	guint races = l->report->findings->len + (l->unlifted == NULL ? 0 : l->unlifted->len);
	g_snprintf(text, sizeof(text), "%s (%u race%s so far): %s", l->rung, races,
	           plural(races), what);
	return progress_tick(l->outer, fraction, text);
}

/* -- the rungs before the last ------------------------------------------------------------- */

static bool take_report(struct ladder *l, const struct rung *rung, struct error *error)
{
	struct race_options options = *l->options;

	options.all_verdicts = false;
	l->tools.known = options.pairs_events ? NULL : ladder_known_so_far;
	l->tools.known_context = l;
	options.tools = &l->tools;
	if (l->projection == NULL)
		options.witness_events -= MIN(l->witness_events, options.witness_events);
	else /* all are needed, to be lifted; they begin with the recording */
		options.witness_events = LIFTED_EVENTS;
	l->rung = rung->by;
	struct report *r = rung->run(l->t, &options, l->progress, error);
	if (r == NULL)
		return false;
	l->report->candidates += r->candidates;
	for (guint i = 0; i < r->findings->len; i++) {
		struct finding *f = r->findings->pdata[i];
		uint64_t unit = ladder_unit(l, f->first, f->second);
		struct finding *known = ladder_settled(l, unit);

		if (f->verdict != VERDICT_RACE)
			continue;
		if (known != NULL) {
			ladder_merge_variables(l, known, f);
			if (f->count > known->count)
				known->count = f->count;
			continue;
		}
		ladder_add_race(l, unit, ladder_take_finding(l, f, rung->by));
	}
	report_free(r);
	if (ladder_lifts_by_rung(l))
		ladder_lift_races(l);
	return true;
}

/* Frees the solver and the other tables by which pairs are decided. */
static void release_deciders(struct ladder *l)
{
	smt_free(l->smt);
	race_tools_end(&l->tools);
	order_free(l->order);
	order_free(l->lasting);
	ladder_proofs_free(l->proofs);
	classes_release(&l->classes);
	g_free(l->suspects);
	l->locksets = NULL;
	l->smt = NULL;
	l->m2 = NULL;
	l->tools = (struct race_tools){ 0 };
	l->order = l->lasting = NULL;
	l->proofs = NULL;
	l->classes = (struct classes){ 0 };
	l->suspects = NULL;
}

/* May reads or invocations differ from the trace? */
static bool extended(const struct race_options *options)
{
	return options->use_values || options->rules != NULL;
}

/* The last rung. */
static void decide_rest(struct ladder *l)
{
	ladder_decide_pairs(l);
	for (guint i = 0; l->projection != NULL && i < l->others->len; i++)
		ladder_lift_events(l->projection, l->others->pdata[i]);
	l->tries_matter = smt_has_tries(l->smt) && extended(l->options);
	if (!ladder_lifts_by_rung(l)) {
		release_deciders(l);
		projection_decided(l->projection);
		l->t = l->projection->whole;
	}
	ladder_lift_races(l);
}

/* -- the analysis -------------------------------------------------------------------------- */

static bool ladder_init(struct ladder *l)
{
	struct smt_options options = smt_race_options(l->options);
	bool rules = l->options->rules != NULL;

	if (!trace_need(l->t, INDEX_VARIABLES, l->progress))
		return false;
	options.unlisted = !l->options->all_verdicts;
	options.past = l->tools.m2 == NULL ? NULL : m2_past(l->tools.m2);
	l->locksets = race_tools_locksets(&l->tools, l->t);
	l->smt = smt_new(l->t, &options, l->progress);
	if (l->locksets == NULL || l->smt == NULL)
		return false;
	smt_lend_checker(l->smt, l->tools.checker);
	/* With --values synchronises-with depends on the reordering's reads-from and excludes
	 * no candidate; only the causal past under --values remains of the order. */
	l->doubt = (l->options->use_values || rules) && c11_matters(l->t);
	l->weak_atomics = !l->doubt && c11_matters(l->t);
	l->with_m2 &= !l->options->use_values && !l->weak_atomics;
	if (l->weak_atomics && (l->lasting = order_new_lasting(l->t, l->progress)) == NULL)
		return false;
	/* Rule 5 does not keep the must-order of invocations. */
	if (l->options->candidates >= 0 ||
	    (l->options->all_verdicts && !l->options->use_values && !rules)) {
		l->order = l->options->candidates >= 0
		                   ? order_new(l->t, (enum order_kind)l->options->candidates,
		                               l->progress)
		                   : order_new_fixed(l->t, l->progress);
		if (l->order == NULL)
			return false;
	}
	if (l->proofs == NULL)
		l->proofs = ladder_proofs_new(l->t, l->options->use_values);
	classes_init(&l->classes, l->t, l->locksets);
	effort_init(&l->effort, l->report->trace->events_count, l->options);
	if (l->suspects == NULL)
		l->suspects = classes_suspects(l->t, l->locksets, l->options->all_verdicts,
		                               l->progress);
	return l->suspects != NULL;
}

static void ladder_release(struct ladder *l)
{
	g_hash_table_destroy(l->variables);
	g_hash_table_destroy(l->settled);
	for (guint i = 0; i < l->others->len; i++)
		finding_free(l->others->pdata[i]);
	g_ptr_array_free(l->others, TRUE);
	release_deciders(l);
	checker_free(l->whole);
	trace_close(l->beginning);
	if (l->unlifted != NULL) {
		for (guint i = 0; i < l->unlifted->len; i++)
			finding_free(l->unlifted->pdata[i]);
		g_ptr_array_free(l->unlifted, TRUE);
	}
	projection_free(l->projection);
}

/* The enumeration is incomplete: site pairs with a proof for some pairs only become unknown.
 * (With pairs_events each pair is a unit.) */
static void leave_open(struct ladder *l)
{
	for (guint i = 0; i < l->others->len && !l->options->pairs_events; i++) {
		struct finding *f = l->others->pdata[i];

		f->count--; /* note_unknown adds it */
		ladder_note_unknown(f, OPEN_TOTAL, f->first, f->second);
	}
}

/* Finish the report; findings that are no races are included on request. */
static void finish(struct ladder *l)
{
	l->report->complete = l->options->candidates < 0 && !l->doubt;
	if (l->doubt || l->tries_matter)
		report_note(l->report,
		            "with %s, races that only C11's relaxed atomics%s allow are "
		            "not searched for",
		            l->options->use_values ? "--values" : "--spec",
		            smt_has_tries(l->smt) ? " or failed tries" : "");
	report_note_left_out(l->report, l->left_out);
	if (l->unproved > 0)
		report_note(l->report,
		            "pairs that race without the accesses that no reordering can turn, "
		            "and whose witness was not accepted with these: %" G_GUINT64_FORMAT
		            "; 'heddle witness' looks for one of the whole trace",
		            l->unproved);
	if (l->unnamed > 0)
		report_note(
		        l->report,
		        "of pairs of sites that race, not all variables were tried: a list of "
		        "variables may lack some");
	for (guint i = 0; i < l->others->len; i++) {
		struct finding *f = l->others->pdata[i];

		if (f->verdict == VERDICT_UNKNOWN) {
			l->report->complete = false;
			l->report->budget_spent |= f->open != OPEN_INCOMPLETE;
		}
	}
	if (l->effort.over) {
		report_note_effort(l->report, l->options);
		leave_open(l);
	}
	l->report->open_listed = (l->options->all_verdicts || l->options->list_unknown) &&
	                         l->options->candidates < 0 && !l->doubt && !l->effort.over;
	for (guint i = l->others->len; i-- > 0;) {
		const struct finding *f = l->others->pdata[i];

		if (l->options->all_verdicts ||
		    (l->options->list_unknown && f->verdict == VERDICT_UNKNOWN))
			report_add(l->report, g_ptr_array_remove_index_fast(l->others, i));
	}
	report_finish(l->report);
}

/* Drops the suspects without an access at a site of a pair that is wanted; returns the number
 * of those that are left. */
static uint64_t suspects_wanted(struct ladder *l, const uint64_t *sites)
{
	const struct trace *t = l->t;
	size_t words = t->variables_count / 64 + 1;
	g_autofree uint64_t *there = g_new0(uint64_t, words);
	uint64_t count = 0;

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t site = op_is_access(x->op) ? own_site(t, e) : 0;

		if (!op_is_access(x->op) || !(sites[site / 64] >> (site % 64) & 1))
			continue;
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			there[v / 64] |= (uint64_t)1 << (v % 64);
	}
	for (size_t i = 0; i < words; i++) {
		l->suspects[i] &= there[i];
		count += (uint64_t)__builtin_popcountll(l->suspects[i]);
	}
	return count;
}

/* The first rung: finds the variables that can race at all, in one linear pass. Without any,
 * no other rung is needed. Reads of other values, invocations in another order and lists of
 * impossible pairs need the other rungs. False when cancelled. */
static bool look_for_suspects(struct ladder *l, bool *any)
{
	const struct race_again *again = l->options->again;
	uint64_t count = 1;
	bool good = true;

	if (l->with_m2 && !extended(l->options) && !l->options->all_verdicts &&
	    l->options->candidates < 0)
		good = first_suspects_take(l->options->first, l->t, true, &l->suspects,
		                           &count) ||
		       race_suspects(l->t, true, &l->suspects, &count, l->progress);
	if (good && l->suspects != NULL && count > 0 && again != NULL && again->sites != NULL)
		count = suspects_wanted(l, again->sites);
	l->tools.suspects = l->suspects;
	*any = count > 0;
	return good;
}

static bool pass_behind(void *behind, uint64_t end, const struct progress *progress)
{
	return behind_pass(behind, end, progress);
}

/* How many events of the whole trace may stay in memory until the witnesses are checked on it?
 * The rungs need up to RUNG_BYTES for each event of the projection; with that, they may take
 * RUNG_MEMORY. */
static uint64_t events_left(const struct projection *p)
{
	enum { RUNG_BYTES = 76 };
	static const uint64_t RUNG_MEMORY = UINT64_C(3800) * 1000 * 1000;
	uint64_t needed = RUNG_BYTES * p->trace->events_count;

	return (RUNG_MEMORY - MIN(needed, RUNG_MEMORY)) / sizeof *p->whole->events;
}

/* The trace for the other rungs: a projection, made in a few passes; without one the trace is
 * opened, as the other rungs read events in any order. False when cancelled. */
static bool project(struct ladder *l, bool projects)
{
	struct trace *whole = l->t;
	struct behind *behind = l->options->behind;
	bool cancelled;

	if (l->suspects == NULL || !projects) {
		trace_keep_events(whole);
		return true;
	}
	if (behind != NULL && (l->options->shards > 1 || whole->recorded != NULL ||
	                       whole->events_count < PROJECTION_LEAST))
		behind = NULL;
	if (behind != NULL && !trace_need(whole, INDEX_MUST, l->progress))
		return false;
	/* (The pass for the projection leaves a processor without work.) */
	bool aside = behind != NULL && trace_stays(whole);
	const struct beside beside = { pass_behind, behind };
	if (aside)
		behind_begin(behind);
	l->projection = projection_new(l->t, l->options->projects_by_order ? NULL : l->suspects,
	                               l->options->projects_always ? 0 : PROJECTION_LEAST,
	                               behind == NULL || aside ? NULL : &beside, l->progress,
	                               &cancelled);
	if (aside)
		behind_end(behind);
	if (l->projection != NULL) {
		l->t = l->projection->trace;
		l->unlifted = g_ptr_array_new();
		if (!ladder_lifts_by_rung(l))
			trace_leave_events(whole, events_left(l->projection));
	} else {
		trace_keep_events(whole);
	}
	return !cancelled;
}

static void make_regions(void *ladder, const struct progress *progress)
{
	ladder_proofs_make_regions(((struct ladder *)ladder)->proofs, progress);
}

/* What several rungs need of the projection is made on another thread, while the first ones
 * run.
 */
static void make_ahead(struct ladder *l)
{
	l->proofs = ladder_proofs_new(l->t, l->options->use_values);
	race_tools_make_ahead(&l->tools, l->t, l->options, make_regions, l);
}

/* All rungs. False when cancelled, or `refused`. */
static bool climb(struct ladder *l, const struct rung *rungs, size_t count, bool projects,
                  struct error *error)
{
	bool any, good = look_for_suspects(l, &any);

	if (good && any)
		good = project(l, projects);
	if (good && any && l->projection != NULL && count > 0)
		make_ahead(l);
	if (!good)
		return error_cancelled(error);
	for (size_t i = 0; good && any && i < count && !l->refused; i++)
		good = take_report(l, &rungs[i], error);
	l->rung = "the rest";
	if (good && any && !l->refused && (!ladder_init(l) || (decide_rest(l), l->cancelled)))
		good = l->refused || error_cancelled(error);
	if (good && !l->refused)
		finish(l);
	return good && !l->refused;
}

struct report *ladder_climb(struct trace *t, const struct race_options *options,
                            const char *name, const struct rung *rungs, size_t count,
                            const struct progress *progress, struct error *error)
{
	g_autoptr(GHashTable) notified =
	        g_hash_table_new_full(ladder_key_hash, g_int64_equal, g_free, NULL);

	for (bool projects = true;; projects = false) {
		struct ladder l = { .t = t,
			            .notified = notified,
			            .options = options,
			            .outer = progress,
			            .rung = name,
			            .tools = { .tails = options->shares_always ? 1 : 0,
			                       .leaves = true },
			            .with_m2 = count > 0 };
		const struct progress telling = { show_rung, &l };

		if (progress != NULL)
			l.progress = &telling;
		l.report = report_new(t, name);
		l.others = g_ptr_array_new();
		l.variables = g_hash_table_new_full(hash_pointer, NULL, NULL,
		                                    (GDestroyNotify)g_hash_table_destroy);
		l.settled = g_hash_table_new_full(ladder_key_hash, g_int64_equal, g_free, NULL);
		if (!climb(&l, rungs, count, projects, error)) {
			report_free(l.report);
			l.report = NULL;
		}
		ladder_release(&l);
		if (!l.refused)
			return l.report;
	}
}
