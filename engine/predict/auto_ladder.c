/*
 * auto_ladder.c - every candidate gets a verdict, the cheapest way first.
 *
 * The races of sound analyses that ran before are taken over.  What they leave is settled
 * pair by pair: by the cores (what one access needs holds the other), by a common lock, by
 * a proof for an earlier point of the same two stretches, and at last by the solver within
 * its budget.  The unit of a verdict is the pair of sites, or with --pairs events the pair.
 */
#include "engine/predict/auto_ladder.h"

#include "engine/predict/candidates.h"
#include "engine/predict/ladder_proofs.h"
#include "engine/predict/m2.h"
#include "engine/predict/smt.h"

#include <string.h>

struct class
{ /* accesses of one variable by one thread, site, kind and lockset */
	uint32_t first, count; /* a run of ladder.members */
	uint32_t site, lockset;
	uint16_t thread;
	bool writes, atomic;
};

struct ladder {
	struct trace *t;
	const struct race_options *options;
	const struct progress *progress; /* says on which rung, and the races so far */
	const struct progress *outer;
	const char *rung;
	struct report *report;
	struct smt *smt;
	bool with_m2;  /* its closure is asked before the solver */
	struct m2 *m2; /* made when it is needed */
	struct order *order;
	struct locksets *locksets;
	GHashTable *settled; /* unit's key -> struct finding, owned by the report or `others` */
	GPtrArray *others;   /* impossible and unknown ones, so far */
	struct ladder_proofs *proofs;
	GArray *members;                   /* uint32_t */
	GArray *classes;                   /* struct class */
	uint64_t witness_events, left_out; /* events in witnesses kept; witnesses not kept */
	uint32_t tries_left;               /* see try_variable */
	bool weak_atomics; /* what the cores refute may be a race by C11 all the same */
	bool doubt;        /* that, with --values: not searched, so no claim but by a lock */
	bool cancelled;
};

enum { VARIABLE_TRIES = 4 };

/* "syncp (12 races so far): witnesses" */
static bool tell_rung(void *context, double fraction, const char *what)
{
	const struct ladder *l = context;
	char text[160];

	g_snprintf(text, sizeof(text), "%s (%u race%s so far): %s", l->rung,
	           l->report->findings->len, l->report->findings->len == 1 ? "" : "s", what);
	return progress_tick(l->outer, fraction, text);
}

/* -- units: what has one verdict ------------------------------------------------------ */

static uint64_t unit_of(const struct ladder *l, uint32_t e1, uint32_t e2)
{
	uint32_t a = e1, b = e2;

	if (!l->options->pairs_events) {
		a = l->t->locations[l->t->events[e1].location].site;
		b = l->t->locations[l->t->events[e2].location].site;
	}
	return (uint64_t)MIN(a, b) << 32 | MAX(a, b);
}

static struct finding *settled(const struct ladder *l, uint64_t unit)
{
	return g_hash_table_lookup(l->settled, &unit);
}

static void settle(struct ladder *l, uint64_t unit, struct finding *f)
{
	g_hash_table_replace(l->settled, g_memdup2(&unit, sizeof(unit)), f);
}

static void merge_variables(struct finding *into, const struct finding *from)
{
	for (guint i = 0; from->variables != NULL && i < from->variables->len; i++) {
		uint32_t v = g_array_index(from->variables, uint32_t, i);
		bool known = false;

		for (guint j = 0; j < into->variables->len && !known; j++)
			known = g_array_index(into->variables, uint32_t, j) == v;
		if (!known)
			g_array_append_val(into->variables, v);
	}
}

/* -- the reports of other analyses ---------------------------------------------------- */

/* Takes the witness over. */
static struct finding *take_finding(struct finding *f, const char *by)
{
	struct finding *g = finding_new(f->kind, f->first, f->second);

	g->verdict = f->verdict;
	g->count = f->count;
	g->counted_all = f->counted_all;
	g->note = f->note;
	g->by = f->by != NULL ? f->by : by;
	g->variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	merge_variables(g, f);
	g->witness = g_steal_pointer(&f->witness);
	return g;
}

/* A new race, with its witness where there is room. */
static void add_race(struct ladder *l, uint64_t unit, struct finding *f)
{
	if (f->witness != NULL &&
	    l->witness_events + f->witness->len > l->options->witness_events) {
		g_array_unref(f->witness);
		f->witness = NULL;
	}
	if (f->witness != NULL)
		l->witness_events += f->witness->len;
	else
		l->left_out++;
	report_add(l->report, f);
	settle(l, unit, f);
}

static bool take_report(struct ladder *l, const struct rung *rung, struct error *error)
{
	struct race_options options = *l->options;
	struct report *r;

	options.all_verdicts = false;
	options.witness_events -= MIN(l->witness_events, options.witness_events);
	l->rung = rung->by;
	r = rung->run(l->t, &options, l->progress, error);
	if (r == NULL)
		return false;
	for (guint i = 0; i < r->findings->len; i++) {
		struct finding *f = r->findings->pdata[i];
		uint64_t unit = unit_of(l, f->first, f->second);
		struct finding *known = settled(l, unit);

		if (f->verdict != VERDICT_RACE)
			continue;
		if (known != NULL) {
			merge_variables(known, f);
			if (f->count > known->count)
				known->count = f->count;
			continue;
		}
		add_race(l, unit, take_finding(f, rung->by));
	}
	report_free(r);
	return true;
}

/* -- one pair ------------------------------------------------------------------------- */

static struct proof *core_proof(const struct ladder *l, uint32_t e1, uint32_t e2)
{
	const struct cores *c = smt_cores(l->smt);
	struct proof *p = proof_new("cone");
	bool paired = false;

	if (!core_has_before(c, e2, e1)) {
		uint32_t e = e1;

		e1 = e2;
		e2 = e;
	}
	core_path(c, e1, e2, true, &p->cycle, &paired);
	path_add(&p->cycle, e2, e1, STEP_ASSUMED, NONE);
	p->given = paired ? "same pairing" : NULL;
	return p;
}

/* A finding for the unit, in `others`, that is impossible until something says more. */
static struct finding *other_unit(struct ladder *l, uint64_t unit, uint32_t e1, uint32_t e2)
{
	struct finding *f = settled(l, unit);

	if (f != NULL)
		return f;
	f = race_finding(l->t, e1, e2, VERDICT_IMPOSSIBLE, "cone");
	f->count = 0;
	f->counted_all = true;
	g_ptr_array_add(l->others, f);
	settle(l, unit, f);
	return f;
}

static void note_unknown(struct finding *unit, const char *budget, uint32_t e1, uint32_t e2)
{
	unit->count++;
	if (unit->verdict == VERDICT_UNKNOWN)
		return;
	unit->verdict = VERDICT_UNKNOWN;
	unit->budget = budget;
	unit->by = NULL;
	unit->first = MIN(e1, e2);
	unit->second = MAX(e1, e2);
	proof_free(unit->proof);
	unit->proof = NULL;
}

static void note_impossible(struct ladder *l, struct finding *unit, const struct proof *proof,
                            const char *by)
{
	if (l->doubt && strcmp(by, "lockset") != 0) {
		note_unknown(unit, "incomplete", unit->first, unit->second);
		return;
	}
	unit->count++;
	if (unit->verdict != VERDICT_IMPOSSIBLE)
		return;
	if (unit->proof == NULL) {
		unit->proof = ladder_proof_copy(proof);
		unit->by = by;
	} else if (proof->given != NULL) {
		unit->proof->given = proof->given;
	}
}

/* The unit has turned out to be a race: from `others` to the report. */
static void note_race(struct ladder *l, uint64_t unit, struct finding *race)
{
	struct finding *was = settled(l, unit);

	if (was != NULL) {
		g_ptr_array_remove_fast(l->others, was);
		race->count += was->count;
	}
	add_race(l, unit, race);
	if (was != NULL)
		finding_free(was);
}

/* The solver's turn. */
static void ask_solver(struct ladder *l, uint64_t unit, uint32_t e1, uint32_t e2)
{
	double left = l->options->budget_total - smt_solver_seconds(l->smt);
	struct finding *f, *known;

	f = smt_decide(l->smt, e1, e2, l->options, CLAMP(left, 0, l->options->budget_pair),
	               l->progress);
	if (f == NULL) {
		l->cancelled = true;
		return;
	}
	if (f->verdict == VERDICT_RACE) {
		note_race(l, unit, f);
		return;
	}
	known = other_unit(l, unit, e1, e2);
	if (f->verdict == VERDICT_IMPOSSIBLE) {
		ladder_proofs_keep(l->proofs, e1, e2, f->proof);
		note_impossible(l, known, f->proof, "smt");
	} else {
		note_unknown(known, left < l->options->budget_pair ? "total" : f->budget, e1,
		             e2);
	}
	finding_free(f);
}

/* M2's turn: true when it settles the pair.  Its proofs cost a small part of the solver's. */
static bool ask_m2(struct ladder *l, uint64_t unit, uint32_t e1, uint32_t e2)
{
	const struct check_options check = { .use_missing = l->options->use_missing };
	struct proof *proof = NULL;
	GArray *witness;
	enum m2_verdict verdict;

	if (l->m2 == NULL)
		l->m2 = m2_new(l->t, &check, l->progress);
	l->cancelled |= l->m2 == NULL;
	if (l->m2 == NULL)
		return true;
	m2_bound(l->m2, l->options->budget_pair, l->options->budget_total);
	witness = l->witness_events < l->options->witness_events
	                  ? g_array_new(FALSE, FALSE, sizeof(uint32_t))
	                  : NULL;
	verdict = m2_pair(l->m2, e1, e2, witness, &proof);
	if (verdict == M2_RACE) {
		struct finding *f = race_finding(l->t, e1, e2, VERDICT_RACE, "m2");

		f->witness = g_steal_pointer(&witness);
		note_race(l, unit, f);
	} else if (verdict == M2_IMPOSSIBLE) {
		ladder_proofs_keep(l->proofs, e1, e2, proof);
		note_impossible(l, other_unit(l, unit, e1, e2), proof, "m2");
	}
	proof_free(proof);
	if (witness != NULL)
		g_array_unref(witness);
	return verdict == M2_RACE || verdict == M2_IMPOSSIBLE;
}

/* A candidate that no core settles. */
static void decide_pair(struct ladder *l, uint32_t e1, uint32_t e2)
{
	uint64_t unit = unit_of(l, e1, e2);
	const struct proof *proof =
	        l->weak_atomics ? NULL : ladder_proofs_find(l->proofs, e1, e2);

	if (proof != NULL)
		note_impossible(l, other_unit(l, unit, e1, e2), proof,
		                strcmp(proof->method, "solver") == 0 ? "smt" : "m2");
	else if (!l->with_m2 || !ask_m2(l, unit, e1, e2))
		ask_solver(l, unit, e1, e2);
}

/* -- all pairs, by classes ------------------------------------------------------------ */

static struct class class_of(const struct ladder *l, uint32_t e)
{
	const struct event *x = &l->t->events[e];

	return (struct class){
		.site = l->t->locations[x->location].site,
		.lockset = lockset_at(l->locksets, e),
		.thread = x->thread,
		.writes = op_writes(x->op),
		.atomic = op_is_atomic(x->op),
	};
}

static int class_compare(const struct class *a, const struct class *b)
{
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->lockset != b->lockset)
		return a->lockset < b->lockset ? -1 : 1;
	return (a->writes * 2 + a->atomic) - (b->writes * 2 + b->atomic);
}

static gint member_compare(gconstpointer a, gconstpointer b, gpointer context)
{
	uint32_t e = *(const uint32_t *)a, f = *(const uint32_t *)b;
	struct class x = class_of(context, e), y = class_of(context, f);
	int c = class_compare(&x, &y);

	return c != 0 ? c : e < f ? -1 : e > f;
}

static bool make_classes(struct ladder *l, uint32_t variable)
{
	struct event_list list = event_list_at(&l->t->index->variable_events, variable);
	bool threads = false, writes = false;

	g_array_set_size(l->classes, 0);
	g_array_set_size(l->members, 0);
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *x = &l->t->events[list.items[i]];

		threads |= x->thread != l->t->events[list.items[0]].thread;
		writes |= op_writes(x->op);
	}
	if (!threads || !writes)
		return false;
	g_array_append_vals(l->members, list.items, (guint)list.count);
	g_array_sort_with_data(l->members, member_compare, l);
	for (guint i = 0; i < l->members->len; i++) {
		struct class c = class_of(l, g_array_index(l->members, uint32_t, i));
		struct class *last =
		        l->classes->len == 0
		                ? NULL
		                : &g_array_index(l->classes, struct class, l->classes->len - 1);

		if (last != NULL && class_compare(last, &c) == 0) {
			last->count++;
			continue;
		}
		c.first = i;
		c.count = 1;
		g_array_append_val(l->classes, c);
	}
	return true;
}

/*
 * For `e` and a class of another thread: the members that lie between those that are before
 * `e` and those that are after, by a relation that program order carries on.
 */
typedef bool before_test(const struct ladder *l, uint32_t e, uint32_t f);

static bool core_before(const struct ladder *l, uint32_t e, uint32_t f)
{
	return core_has_before(smt_cores(l->smt), f, e);
}

/* What leaves candidates unordered. */
static bool order_before(const struct ladder *l, uint32_t e, uint32_t f)
{
	return order_ordered_unobserved(l->order, e, f);
}

static void window(const struct ladder *l, uint32_t e, const uint32_t *members, uint32_t count,
                   before_test *before, uint32_t *first, uint32_t *end)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (before(l, members[middle], e))
			low = middle + 1;
		else
			high = middle;
	}
	*first = low;
	high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (before(l, e, members[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	*end = low;
}

/* Do they conflict, and for the first time on this variable? */
static bool is_candidate(const struct ladder *l, uint32_t variable, uint32_t e, uint32_t f)
{
	const struct race_rules *rules = l->options->rules;

	return race_variable(l->t, e, f) == variable &&
	       (rules == NULL || !rules->spoken_for(rules->context, e, f));
}

/* Candidates of two classes that are refuted as a whole, for the list of verdicts: count
 * them, and keep the proof of the first. */
static void list_refuted(struct ladder *l, uint32_t variable, uint32_t e,
                         const uint32_t *members, uint32_t first, uint32_t end, uint32_t lock)
{
	for (uint32_t i = first; i < end; i++) {
		uint32_t f = members[i];
		uint64_t unit = unit_of(l, e, f);
		struct finding *known;
		struct proof *proof;

		if (!is_candidate(l, variable, e, f))
			continue;
		known = other_unit(l, unit, e, f);
		if (known->proof != NULL || known->verdict != VERDICT_IMPOSSIBLE) {
			known->count++;
			continue;
		}
		proof = lock != NONE
		                ? ladder_proofs_by_lock(l->proofs, MIN(e, f), MAX(e, f), lock)
		                : core_proof(l, MIN(e, f), MAX(e, f));
		note_impossible(l, known, proof, lock != NONE ? "lockset" : "cone");
		proof_free(proof);
	}
}

/* The race that a pair of sites is known for, or NULL. */
static struct finding *known_race(const struct ladder *l, uint64_t unit)
{
	struct finding *f = settled(l, unit);

	return f != NULL && f->verdict == VERDICT_RACE ? f : NULL;
}

static bool has_variable(const struct finding *f, uint32_t variable)
{
	for (guint i = 0; i < f->variables->len; i++) {
		if (g_array_index(f->variables, uint32_t, i) == variable)
			return true;
	}
	return false;
}

/* Is nothing more to be learnt from these two classes? */
static bool class_settled(const struct ladder *l, uint32_t variable, const struct class *a,
                          const struct class *b)
{
	uint64_t unit = (uint64_t)MIN(a->site, b->site) << 32 | MAX(a->site, b->site);
	const struct finding *f = l->options->pairs_events ? NULL : known_race(l, unit);

	return f != NULL && (l->tries_left == 0 || has_variable(f, variable));
}

/* The sites are known to race: on this variable too?  A few pairs are tried, without the
 * solver. */
static void try_variable(struct ladder *l, struct finding *race, uint32_t variable, uint32_t e,
                         uint32_t f)
{
	struct finding *found;

	if (l->options->pairs_events || l->tries_left == 0 || has_variable(race, variable))
		return;
	l->tries_left--;
	found = smt_decide(l->smt, e, f, l->options, 0, l->progress);
	if (found == NULL) {
		l->cancelled = true;
		return;
	}
	if (found->verdict == VERDICT_RACE)
		merge_variables(race, found);
	finding_free(found);
}

/* The pairs of one access with a class. */
static void look_at(struct ladder *l, uint32_t variable, uint32_t e, const struct class *b,
                    uint32_t lock)
{
	const uint32_t *members = &g_array_index(l->members, uint32_t, b->first);
	uint32_t first = 0, end = 0, from = 0, to = 0;

	if (lock == NONE)
		window(l, e, members, b->count, core_before, &first, &end);
	if (l->options->all_verdicts || l->order != NULL) {
		window(l, e, members, b->count, l->order != NULL ? order_before : core_before,
		       &from, &to);
		if (lock != NONE) {
			list_refuted(l, variable, e, members, from, to, lock);
			return;
		}
		first = l->weak_atomics ? from : CLAMP(first, from, to);
		end = l->weak_atomics ? to : CLAMP(end, first, to);
	}
	if (l->options->all_verdicts) {
		list_refuted(l, variable, e, members, from, first, NONE);
		list_refuted(l, variable, e, members, end, to, NONE);
	}
	for (uint32_t i = first; i < end && !l->cancelled; i++) {
		uint32_t f = members[i];
		struct finding *race;

		l->report->candidates++;
		if (!is_candidate(l, variable, e, f))
			continue;
		race = known_race(l, unit_of(l, e, f));
		if (race != NULL)
			try_variable(l, race, variable, MIN(e, f), MAX(e, f));
		else
			decide_pair(l, MIN(e, f), MAX(e, f));
	}
}

static void look_at_classes(struct ladder *l, uint32_t variable, const struct class *a,
                            const struct class *b)
{
	uint32_t lock;

	if (a->thread == b->thread || (!a->writes && !b->writes) || (a->atomic && b->atomic) ||
	    !race_in_shard(l->options, a->site, b->site))
		return;
	lock = lockset_common(l->locksets, a->lockset, b->lockset);
	if (lock != NONE && !l->options->all_verdicts)
		return;
	l->tries_left = VARIABLE_TRIES;
	for (uint32_t i = 0; i < a->count && !l->cancelled; i++) {
		if (class_settled(l, variable, a, b))
			return;
		look_at(l, variable, g_array_index(l->members, uint32_t, a->first + i), b,
		        lock);
	}
}

static void look_at_variable(struct ladder *l, uint32_t variable)
{
	if (!make_classes(l, variable))
		return;
	for (guint i = 0; i < l->classes->len; i++) {
		for (guint j = 0; j < i && !l->cancelled; j++)
			look_at_classes(l, variable,
			                &g_array_index(l->classes, struct class, j),
			                &g_array_index(l->classes, struct class, i));
	}
}

static void look_at_all(struct ladder *l)
{
	for (uint32_t v = 0; v < l->t->variables_count && !l->cancelled; v++) {
		look_at_variable(l, v);
		if (!progress_tick(l->progress, (double)v / (double)l->t->variables_count,
		                   "candidates"))
			l->cancelled = true;
	}
}

/* -- the whole ------------------------------------------------------------------------ */

static bool ladder_init(struct ladder *l)
{
	struct smt_options options = smt_race_options(l->options);
	bool rules = l->options->rules != NULL;

	if (!trace_need(l->t, INDEX_VARIABLES, l->progress))
		return false;
	l->locksets = locksets_new(l->t);
	l->smt = smt_new(l->t, &options, l->progress);
	if (l->locksets == NULL || l->smt == NULL)
		return false;
	/* With --values synchronises-with follows what the reordering reads and excludes no
	 * candidate; the cores of --values are what is left of the order then. */
	l->doubt = (l->options->use_values || rules) && c11_matters(l->t);
	l->weak_atomics = !l->doubt && c11_matters(l->t);
	l->with_m2 &= !l->options->use_values && !l->weak_atomics;
	/* Rule 5 does not keep the order of invocations that the must-orders have. */
	if (l->options->candidates >= 0 || l->weak_atomics ||
	    (l->options->all_verdicts && !l->options->use_values && !rules)) {
		l->order = l->options->candidates >= 0
		                   ? order_new(l->t, (enum order_kind)l->options->candidates,
		                               l->progress)
		                   : order_new_fixed(l->t, l->progress);
		if (l->order == NULL)
			return false;
	}
	l->proofs = ladder_proofs_new(l->t, l->options->use_values);
	l->members = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	l->classes = g_array_new(FALSE, FALSE, sizeof(struct class));
	return true;
}

static void ladder_release(struct ladder *l)
{
	g_hash_table_destroy(l->settled);
	for (guint i = 0; i < l->others->len; i++)
		finding_free(l->others->pdata[i]);
	g_ptr_array_free(l->others, TRUE);
	locksets_free(l->locksets);
	smt_free(l->smt);
	m2_free(l->m2);
	order_free(l->order);
	ladder_proofs_free(l->proofs);
	if (l->members != NULL)
		g_array_free(l->members, TRUE);
	if (l->classes != NULL)
		g_array_free(l->classes, TRUE);
}

/* What is no race goes into the report where it is asked for. */
static void finish(struct ladder *l)
{
	l->report->complete = l->options->candidates < 0 && !l->doubt;
	if (l->doubt)
		report_note(l->report,
		            "with %s, races that only C11's relaxed atomics allow are "
		            "not searched for",
		            l->options->use_values ? "--values" : "--spec");
	report_note_left_out(l->report, l->left_out);
	for (guint i = 0; i < l->others->len; i++) {
		struct finding *f = l->others->pdata[i];

		if (f->verdict == VERDICT_UNKNOWN) {
			l->report->complete = false;
			l->report->budget_spent |= strcmp(f->budget, "incomplete") != 0;
		}
	}
	while (l->options->all_verdicts && l->others->len > 0)
		report_add(l->report,
		           g_ptr_array_remove_index_fast(l->others, l->others->len - 1));
	report_finish(l->report);
}

struct report *ladder_climb(struct trace *t, const struct race_options *options,
                            const char *name, const struct rung *rungs, size_t count,
                            const struct progress *progress, struct error *error)
{
	struct ladder l = { .t = t,
		            .options = options,
		            .outer = progress,
		            .rung = name,
		            .with_m2 = count > 0 };
	const struct progress telling = { tell_rung, &l };
	bool good = true;

	if (progress != NULL)
		l.progress = &telling;

	l.report = report_new(t, name);
	l.others = g_ptr_array_new();
	l.settled = g_hash_table_new_full(ladder_key_hash, g_int64_equal, g_free, NULL);
	for (size_t i = 0; good && i < count; i++)
		good = take_report(&l, &rungs[i], error);
	l.rung = "the rest";
	if (good && (!ladder_init(&l) || (look_at_all(&l), l.cancelled)))
		good = error_set(error, "", NULL, "cancelled");
	if (good) {
		finish(&l);
	} else {
		report_free(l.report);
		l.report = NULL;
	}
	ladder_release(&l);
	return l.report;
}
