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
#include "engine/predict/pairs/classes.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/predict/ladder/ladder_proofs.h"
#include "engine/predict/ladder/projection.h"
#include "engine/predict/m2/m2.h"
#include "engine/predict/smt/smt.h"
#include "engine/trace/reel.h"
#include "engine/witness/minimise.h"
#include "engine/witness/witness.h"

#include <string.h>

struct ladder {
	struct trace *t;               /* the projection's; NULL: no projection */
	struct projection *projection; /* or NULL */
	struct trace *beginning;       /* of its trace, as far as witnesses reach; made on
	                                * demand */
	struct checker *whole;         /* of that */
	GPtrArray *unlifted; /* races of the projection that are not in the report yet; owned */
	bool refused;        /* a lifted witness was not accepted: all is repeated without the
	                      * projection */
	uint64_t unproved;   /* races of the projection that were not accepted on its trace */
	GHashTable *told;    /* keys of units that options->found was called for; lives on
	                      * when everything is repeated without the projection */
	const struct race_options *options;
	const struct progress *progress; /* shows the rung, and the races so far */
	const struct progress *outer;
	const char *rung;
	struct report *report;
	struct smt *smt;
	bool with_m2; /* its closure runs before the solver */
	struct race_tools tools;
	struct m2 *m2;       /* of the tools, on demand */
	struct order *order; /* its unordered pairs are candidates; NULL: all pairs */
	/* With weak atomics: the order by happens-before and plain observations that holds in
	 * every reordering, whose pairs are no C11 races. Else NULL: the causal past
	 * refutes. */
	struct order *lasting;
	struct locksets *locksets;
	GHashTable *settled; /* unit's key -> struct finding, owned by the report or `others` */
	GPtrArray *others;   /* impossible and unknown findings so far */
	struct ladder_proofs *proofs;
	GHashTable *variables;  /* finding with many variables -> set of them */
	uint64_t naming;        /* events passed by try_variable */
	uint64_t unnamed;       /* its tries left out because of that */
	uint64_t *suspects;     /* bit set by variable: race_suspects or classes_suspects */
	struct classes classes; /* of the current variable */
	bool ordered;           /* all its conflicting pairs are ordered: no race */
	struct effort effort;   /* for enumerating pairs; deciding has its own budget */
	uint64_t witness_events, left_out; /* events in kept witnesses; witnesses not kept */
	uint32_t tries_left;               /* see try_variable */
	bool weak_atomics;                 /* pairs refuted by causal past may be C11 races */
	bool tries_matter; /* failed tries, where reads or invocations may differ */
	bool doubt; /* with weak atomics and --values: not searched, so only locks prove */
	bool cancelled;
};

enum { VARIABLE_TRIES = 4 };
/* Bound on the events of witnesses of the projection, of each rung: half a GB. */
enum { LIFTED_EVENTS = 1 << 27 };
/* Bound on try_variable: a try may visit all events before its pair. */
enum { NAMING_EVENTS = 1 << 28, NAMING_SHARE = 64 };

/* "syncp (12 races so far): witnesses" */
static bool tell_rung(void *context, double fraction, const char *what)
{
	const struct ladder *l = context;
	char text[160];

	guint races = l->report->findings->len + (l->unlifted == NULL ? 0 : l->unlifted->len);
	g_snprintf(text, sizeof(text), "%s (%u race%s so far): %s", l->rung, races,
	           plural(races), what);
	return progress_tick(l->outer, fraction, text);
}

/* -- units of verdicts --------------------------------------------------------------------- */

static uint64_t unit_in(const struct trace *t, const struct race_options *options, uint32_t e1,
                        uint32_t e2)
{
	uint32_t a = e1, b = e2;

	if (!options->pairs_events) {
		a = t->locations[t->events[e1].location].site;
		b = t->locations[t->events[e2].location].site;
	}
	return (uint64_t)MIN(a, b) << 32 | MAX(a, b);
}

static uint64_t unit_of(const struct ladder *l, uint32_t e1, uint32_t e2)
{
	return unit_in(l->t, l->options, e1, e2);
}

static struct finding *settled(const struct ladder *l, uint64_t unit)
{
	return g_hash_table_lookup(l->settled, &unit);
}

static void settle(struct ladder *l, uint64_t unit, struct finding *f)
{
	g_hash_table_replace(l->settled, g_memdup2(&unit, sizeof(unit)), f);
}

/* The variables of a finding with many, as a set. */
static GHashTable *variable_set(const struct ladder *l, const struct finding *f)
{
	GHashTable *set = g_hash_table_lookup(l->variables, f);

	if (set != NULL)
		return set;
	set = g_hash_table_new(hash_pointer, NULL);
	for (guint i = 0; i < f->variables->len; i++)
		g_hash_table_add(set,
		                 GUINT_TO_POINTER(g_array_index(f->variables, uint32_t, i)));
	g_hash_table_insert(l->variables, (gpointer)f, set);
	return set;
}

static bool has_variable(const struct ladder *l, const struct finding *f, uint32_t variable)
{
	enum { FEW = 16 };

	if (f->variables->len > FEW)
		return g_hash_table_contains(variable_set(l, f), GUINT_TO_POINTER(variable));
	for (guint i = 0; i < f->variables->len; i++) {
		if (g_array_index(f->variables, uint32_t, i) == variable)
			return true;
	}
	return false;
}

static void merge_variables(const struct ladder *l, struct finding *into,
                            const struct finding *from)
{
	for (guint i = 0; from->variables != NULL && i < from->variables->len; i++) {
		uint32_t v = g_array_index(from->variables, uint32_t, i);

		if (has_variable(l, into, v))
			continue;
		g_array_append_val(into->variables, v);
		GHashTable *set = g_hash_table_lookup(l->variables, into);
		if (set != NULL)
			g_hash_table_add(set, GUINT_TO_POINTER(v));
	}
}

/* The known race of a unit, or NULL. */
static struct finding *known_race(const struct ladder *l, uint64_t unit)
{
	struct finding *f = settled(l, unit);

	return f != NULL && f->verdict == VERDICT_RACE ? f : NULL;
}

/* The races known so far, for the next analysis of the ladder (race_tools). */
static enum race_known known_so_far(const void *ladder, uint32_t e1, uint32_t e2,
                                    uint32_t variable)
{
	const struct ladder *l = ladder;
	const struct finding *f = known_race(l, unit_of(l, e1, e2));

	return f == NULL                      ? RACE_UNKNOWN
	       : has_variable(l, f, variable) ? RACE_OF_VARIABLE
	                                      : RACE_OF_SITES;
}

/* -- reports of other analyses ------------------------------------------------------------- */

/* Takes ownership of the witness. */
static struct finding *take_finding(const struct ladder *l, struct finding *f, const char *by)
{
	struct finding *g = finding_new(f->kind, f->first, f->second);

	g->verdict = f->verdict;
	g->count = f->count;
	g->counted_all = f->counted_all;
	g->note = f->note;
	g->by = f->by != NULL ? f->by : by;
	g->variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	merge_variables(l, g, f);
	g->witness = g_steal_pointer(&f->witness);
	g->recorded = f->recorded;
	return g;
}

/* Reduce context switches if cheap; 'heddle witness' does it for longer witnesses. Independent
 * of other races, so that shards give the same results. */
static void polish(struct ladder *l, struct finding *f)
{
	const uint32_t pair[] = { f->first, f->second };

	if (f->witness == NULL || f->recorded > 0 || l->options->pairs_events)
		return;
	GArray *shorter =
	        witness_minimised(race_tools_checker(&l->tools, l->t, l->options), l->t,
	                          f->note ? CLAIM_C11_RACE : CLAIM_RACE, pair, 2, f->witness);
	g_array_unref(f->witness);
	f->witness = shorter;
}

/* Reports a race, once for each unit; events are those of the whole trace. */
static void tell_race(const struct ladder *l, const struct finding *f)
{
	uint64_t unit = unit_in(l->report->trace, l->options, f->first, f->second);

	if (l->options->found != NULL &&
	    g_hash_table_add(l->told, g_memdup2(&unit, sizeof(unit))))
		l->options->found(l->options->found_context, f);
}

/* Adds the race to the report, with its witness within the memory bound. */
static void publish(struct ladder *l, struct finding *f)
{
	uint64_t length = f->witness == NULL ? 0 : (uint64_t)f->recorded + f->witness->len;

	if (l->witness_events + length > l->options->witness_events)
		g_clear_pointer(&f->witness, g_array_unref);
	if (f->witness == NULL) {
		f->recorded = 0;
		l->left_out++;
	} else {
		l->witness_events += length;
		if (f->recorded > 0)
			finding_complete(f);
	}
	tell_race(l, f);
	report_add(l->report, f);
}

/* Add a new race. One of a projection has to be lifted first. */
static void add_race(struct ladder *l, uint64_t unit, struct finding *f)
{
	polish(l, f);
	settle(l, unit, f);
	if (l->projection == NULL)
		publish(l, f);
	else
		g_ptr_array_add(l->unlifted, f);
}

/* -- from the projection to its trace ------------------------------------------------------ */

/* A checker of the projection's trace that has its first `count` events: later ones do not
 * matter to a witness. Grows by half at least, so that all of them cost at most three times
 * as much as the last one. */
static struct checker *checker_of_whole(struct ladder *l, uint64_t count)
{
	const struct check_options check = { .use_missing = l->options->use_missing };
	const struct trace *whole = l->projection->whole;
	const struct race_again *again = l->options->again;

	if (again != NULL && again->checker != NULL && count <= again->checked)
		return again->checker;
	if (l->beginning == NULL || l->beginning->events_count < count) {
		uint64_t known = l->beginning == NULL ? 0 : l->beginning->events_count;

		checker_free(l->whole);
		trace_close(l->beginning);
		count = MIN(MAX(count, known + known / 2), whole->events_count);
		l->beginning = trace_beginning(whole, count);
		l->whole = checker_new(l->beginning, &check);
	}
	return l->whole;
}

static uint64_t first_without(const struct finding *f)
{
	uint32_t last = f->recorded;

	for (guint i = 0; i < f->witness->len; i++)
		last = MAX(last, g_array_index(f->witness, uint32_t, i));
	return (uint64_t)last + 1;
}

/* Cuts the beginning that the witness has in common with the recording off it. */
static void leave_recorded(struct finding *f)
{
	uint32_t same = 0;

	if (f->recorded > 0 || f->witness == NULL || finding_claim(f) != CLAIM_RACE)
		return;
	while (same + 2 < f->witness->len && g_array_index(f->witness, uint32_t, same) == same)
		same++;
	g_array_remove_range(f->witness, 0, same);
	f->recorded = same;
}

static void lift_events(const struct projection *p, struct finding *f)
{
	f->first = p->event[f->first];
	f->second = p->event[f->second];
}

/* The race's events, and its witness, if there is one. */
static void lift_race(struct projection *p, struct finding *f)
{
	bool pair = finding_claim(f) == CLAIM_RACE;

	lift_events(p, f);
	if (f->witness == NULL)
		return;
	GArray *lifted = projection_lift(p, f->witness, pair ? 2 : 0, &f->recorded);
	g_array_unref(f->witness);
	f->witness = lifted;
}

static int by_recorded(gconstpointer a, gconstpointer b)
{
	const struct finding *x = *(const struct finding *const *)a,
	                     *y = *(const struct finding *const *)b;

	return x->recorded < y->recorded ? -1 : x->recorded > y->recorded;
}

/* Which lifted witnesses does the trace's own checker accept? The others are dropped. `order`:
 * findings in the order of their recorded prefixes, so that it runs along the recording once.
 */
static void check_lifted(struct ladder *l, const GPtrArray *order)
{
	uint64_t count = 0;

	for (guint i = 0; i < order->len; i++) {
		const struct finding *f = order->pdata[i];

		count = MAX(count, f->witness == NULL ? 0 : first_without(f));
	}
	struct checker *whole = checker_of_whole(l, count);
	for (guint i = 0; i < order->len; i++) {
		struct finding *f = order->pdata[i];

		if (f->witness != NULL &&
		    ((i == 0 && l->options->lift_refused) || !finding_accepted(whole, f)))
			g_clear_pointer(&f->witness, g_array_unref);
	}
}

/* Are a rung's races taken over to the trace at once? Of a long trace the events and its
 * checker need as much memory as what decides pairs: so the races of all rungs are lifted in
 * the end. */
static bool lifts_by_rung(const struct ladder *l)
{
	enum { LONG = 1 << 26 }; /* one GB of events */

	return l->projection == NULL ||
	       (l->projection->whole->events_count <= LONG && !l->options->lifts_last);
}

/* A race of the projection without an accepted witness on the trace is none. Deciding
 * everything anew without the projection is for traces that are not long; of a long one the
 * pair stays open. */
static void not_lifted(struct ladder *l, struct finding *f)
{
	if (lifts_by_rung(l)) {
		l->refused = l->cancelled = true;
		finding_free(f);
		return;
	}
	f->verdict = VERDICT_UNKNOWN;
	f->open = OPEN_INCOMPLETE;
	f->by = NULL;
	f->recorded = 0;
	l->unproved++;
	g_ptr_array_add(l->others, f);
}

/* The races since the last time: to the trace, and to the report. */
static void lift_races(struct ladder *l)
{
	guint count = l->unlifted == NULL ? 0 : l->unlifted->len;

	if (count == 0)
		return;
	trace_keep_events_shortly(l->projection->whole);
	g_autoptr(GPtrArray) order = g_ptr_array_copy(l->unlifted, NULL, NULL);
	for (guint i = 0; i < count; i++)
		leave_recorded(order->pdata[i]);
	g_ptr_array_sort(order, by_recorded);
	for (guint i = 0; i < count; i++)
		lift_race(l->projection, order->pdata[i]);
	check_lifted(l, order);
	for (guint i = 0; i < count; i++) {
		struct finding *f = l->unlifted->pdata[i];

		if (f->witness == NULL)
			not_lifted(l, f);
		else if (l->refused)
			finding_free(f);
		else
			publish(l, f);
	}
	g_ptr_array_set_size(l->unlifted, 0);
}

/* -- the rungs before the last ------------------------------------------------------------- */

static bool take_report(struct ladder *l, const struct rung *rung, struct error *error)
{
	struct race_options options = *l->options;

	options.all_verdicts = false;
	l->tools.known = options.pairs_events ? NULL : known_so_far;
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
		uint64_t unit = unit_of(l, f->first, f->second);
		struct finding *known = settled(l, unit);

		if (f->verdict != VERDICT_RACE)
			continue;
		if (known != NULL) {
			merge_variables(l, known, f);
			if (f->count > known->count)
				known->count = f->count;
			continue;
		}
		add_race(l, unit, take_finding(l, f, rung->by));
	}
	report_free(r);
	if (lifts_by_rung(l))
		lift_races(l);
	return true;
}

/* -- one pair ------------------------------------------------------------------------- */

static struct proof *past_proof(const struct ladder *l, uint32_t e1, uint32_t e2)
{
	const struct past *c = smt_past(l->smt);
	struct proof *p = proof_new(PROOF_CONE);
	bool paired = false;

	if (!past_has_before(c, e2, e1)) {
		uint32_t e = e1;

		e1 = e2;
		e2 = e;
	}
	past_path(c, e1, e2, true, &p->cycle, &paired);
	path_add(&p->cycle, e2, e1, STEP_ASSUMED, NONE);
	p->same_pairing = paired;
	return p;
}

/* The unit's finding in `others`, initially impossible. */
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

static void note_unknown(struct finding *unit, enum open_reason open, uint32_t e1, uint32_t e2)
{
	unit->count++;
	if (unit->verdict == VERDICT_UNKNOWN)
		return;
	unit->verdict = VERDICT_UNKNOWN;
	unit->open = open;
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
		note_unknown(unit, OPEN_INCOMPLETE, unit->first, unit->second);
		return;
	}
	unit->count++;
	if (unit->verdict != VERDICT_IMPOSSIBLE)
		return;
	if (unit->proof == NULL) {
		unit->proof = ladder_proof_copy(proof);
		unit->by = by;
	} else if (proof->same_pairing) {
		unit->proof->same_pairing = true;
	}
}

/* The unit is a race: move it from `others` to the report. */
static void note_race(struct ladder *l, uint64_t unit, struct finding *race)
{
	struct finding *was = settled(l, unit);

	if (was != NULL) {
		g_ptr_array_remove_fast(l->others, was);
		race->count += was->count;
	}
	add_race(l, unit, race);
	if (was != NULL) {
		g_hash_table_remove(l->variables, was);
		finding_free(was);
	}
}

/* Decide by the solver. */
static void ask_solver(struct ladder *l, uint64_t unit, uint32_t e1, uint32_t e2)
{
	double left = l->options->budget_total - smt_solver_seconds(l->smt);

	struct finding *f = smt_decide(l->smt, e1, e2, l->options,
	                               CLAMP(left, 0, l->options->budget_pair), l->progress);
	if (f == NULL) {
		l->cancelled = true;
		return;
	}
	if (f->verdict == VERDICT_RACE) {
		note_race(l, unit, f);
		return;
	}
	struct finding *known = other_unit(l, unit, e1, e2);
	if (f->verdict == VERDICT_IMPOSSIBLE) {
		ladder_proofs_keep(l->proofs, e1, e2, f->proof);
		note_impossible(l, known, f->proof, "smt");
	} else {
		note_unknown(known, left < l->options->budget_pair ? OPEN_TOTAL : f->open, e1,
		             e2);
	}
	finding_free(f);
}

/* Create M2's state; false when cancelled. */
static bool have_m2(struct ladder *l)
{
	if (l->m2 != NULL)
		return true;
	l->m2 = race_tools_m2(&l->tools, l->t, l->options, l->progress);
	l->cancelled |= l->m2 == NULL;
	if (l->m2 == NULL)
		return false;
	m2_bound(l->m2, l->options->budget_pair, l->options->budget_total);
	m2_refill(l->m2);
	return true;
}

/* Decide by M2's closure; true when decided. Much cheaper than the solver. */
static bool ask_m2(struct ladder *l, uint64_t unit, uint32_t e1, uint32_t e2)
{
	struct proof *proof = NULL;

	if (!have_m2(l))
		return true;
	bool keeps = l->projection != NULL || l->witness_events < l->options->witness_events;
	g_autoptr(GArray) witness = keeps ? g_array_new(FALSE, FALSE, sizeof(uint32_t)) : NULL;
	enum m2_verdict verdict = m2_pair(l->m2, e1, e2, witness, &proof);
	if (verdict == M2_RACE) {
		struct finding *f = race_finding(l->t, e1, e2, VERDICT_RACE, "m2");

		f->witness = g_steal_pointer(&witness);
		f->recorded = m2_recorded(l->m2);
		note_race(l, unit, f);
	} else if (verdict == M2_IMPOSSIBLE) {
		ladder_proofs_keep(l->proofs, e1, e2, proof);
		note_impossible(l, other_unit(l, unit, e1, e2), proof, "m2");
	}
	proof_free(proof);
	return verdict == M2_RACE || verdict == M2_IMPOSSIBLE;
}

/* Decide a candidate that causal past leaves open. */
static void decide_pair(struct ladder *l, uint32_t e1, uint32_t e2)
{
	uint64_t unit = unit_of(l, e1, e2);
	const struct proof *proof =
	        l->weak_atomics ? NULL : ladder_proofs_find(l->proofs, e1, e2);

	if (proof != NULL)
		note_impossible(l, other_unit(l, unit, e1, e2), proof,
		                proof->method == PROOF_SOLVER ? "smt" : "m2");
	else if (!l->with_m2 || !ask_m2(l, unit, e1, e2))
		ask_solver(l, unit, e1, e2);
}

/* -- pairs by classes ---------------------------------------------------------------------- */

static bool past_before(const void *ladder, uint32_t e, uint32_t f)
{
	const struct ladder *l = ladder;

	return past_has_before(smt_past(l->smt), f, e);
}

/* candidate_before with weak atomics. */
static bool lasting_before(const void *ladder, uint32_t e, uint32_t f)
{
	const struct ladder *l = ladder;

	return order_ordered_unobserved(l->lasting, e, f);
}

/* The order whose pairs are refuted, whatever the locks. */
static class_order *refuting(const struct ladder *l)
{
	return l->lasting != NULL ? lasting_before : past_before;
}

/* The order whose unordered pairs are candidates. */
static bool order_before(const void *ladder, uint32_t e, uint32_t f)
{
	const struct ladder *l = ladder;

	return order_ordered_unobserved(l->order, e, f);
}

/* Pairs of two classes: for an access of one, the members of the other left by refutation and
 * by the order. */
struct sweep {
	uint32_t variable, lock; /* a common one, or NONE */
	bool refuted;            /* all pairs, by the lock or with the variable's */
	const struct class *a, *b;
	struct span past, order;
};

static bool span_of(struct ladder *l, const struct sweep *s, uint32_t e, class_order *before,
                    struct span *span)
{
	return effort_more(&l->effort,
	                   EFFORT_QUESTION * class_span(&l->classes, s->b, e, before, l, span));
}

/* Do they conflict, and on this variable first? */
static bool is_candidate(const struct ladder *l, uint32_t variable, uint32_t e, uint32_t f)
{
	const struct race_rules *rules = l->options->rules;

	return race_variable(l->t, e, f) == variable &&
	       (rules == NULL || !rules->spoken_for(rules->context, e, f));
}

/* Are all pairs of the classes candidates of one unit? */
static bool alike(const struct ladder *l, const struct sweep *s)
{
	return !l->options->pairs_events && l->options->rules == NULL &&
	       !(s->a->wide && s->b->wide);
}

/* Lists refuted candidates of two classes: counts them, and keeps the unit's first proof. */
static void list_one(struct ladder *l, const struct sweep *s, uint32_t e, uint32_t f,
                     uint64_t count)
{
	struct finding *known = other_unit(l, unit_of(l, e, f), e, f);
	struct proof *proof;

	l->report->candidates += count;
	known->count += count - 1;
	if (known->proof != NULL || known->verdict != VERDICT_IMPOSSIBLE) {
		known->count++;
		return;
	}
	proof = s->lock != NONE
	                ? ladder_proofs_by_lock(l->proofs, MIN(e, f), MAX(e, f), s->lock)
	                : past_proof(l, MIN(e, f), MAX(e, f));
	note_impossible(l, known, proof, s->lock != NONE ? "lockset" : "cone");
	proof_free(proof);
}

/* List members first .. end - 1 with `e`, all refuted. */
static void list_refuted(struct ladder *l, const struct sweep *s, uint32_t e, uint32_t first,
                         uint32_t end)
{
	if (first >= end)
		return;
	if (alike(l, s)) {
		list_one(l, s, e, class_member(&l->classes, s->b, first), end - first);
		return;
	}
	for (uint32_t i = first; i < end && effort_more(&l->effort, 2); i++) {
		uint32_t f = class_member(&l->classes, s->b, i);

		if (is_candidate(l, s->variable, e, f))
			list_one(l, s, e, f, 1);
	}
}

/* Can these classes add nothing? */
static bool class_settled(const struct ladder *l, uint32_t variable, const struct class *a,
                          const struct class *b)
{
	uint64_t unit = (uint64_t)MIN(a->site, b->site) << 32 | MAX(a->site, b->site);
	const struct finding *f = l->options->pairs_events ? NULL : known_race(l, unit);

	return f != NULL && (l->tries_left == 0 || has_variable(l, f, variable));
}

/* The sites race: do they race on this variable, too? Tries a few pairs without the solver. */
static void try_variable(struct ladder *l, struct finding *race, uint32_t variable, uint32_t e,
                         uint32_t f)
{
	if (l->options->pairs_events || l->tries_left == 0 || has_variable(l, race, variable))
		return;
	if (l->naming > NAMING_EVENTS + NAMING_SHARE * l->t->events_count) {
		l->unnamed++;
		return;
	}
	l->naming += MAX(e, f);
	l->tries_left--;
	struct finding *found = smt_decide(l->smt, e, f, l->options, 0, l->progress);
	if (found == NULL) {
		l->cancelled = true;
		return;
	}
	if (found->verdict == VERDICT_RACE)
		merge_variables(l, race, found);
	finding_free(found);
}

/* Does only the number of pairs remain open for classes that are refuted as a whole? Counting
 * can be quadratic, when millions of accesses are under one lock, so it is then given up, and
 * the unit says so. */
static bool only_counting(struct ladder *l, const struct sweep *s)
{
	if (l->effort.work < l->effort.free_work / 16 || !alike(l, s))
		return false;
	uint64_t unit =
	        (uint64_t)MIN(s->a->site, s->b->site) << 32 | MAX(s->a->site, s->b->site);
	struct finding *known = settled(l, unit);
	if (known == NULL || (known->verdict == VERDICT_IMPOSSIBLE && known->proof == NULL))
		return false;
	known->counted_all = false;
	return true;
}

/* Decide a pair not refuted by causal past. */
static void look_at_pair(struct ladder *l, const struct sweep *s, uint32_t e, uint32_t f)
{
	if (!is_candidate(l, s->variable, e, f))
		return;
	l->report->candidates++;
	struct finding *race = known_race(l, unit_of(l, e, f));
	if (race != NULL) {
		try_variable(l, race, s->variable, MIN(e, f), MAX(e, f));
		return;
	}
	/* After their budgets, deciders still cost a little. */
	bool paid = smt_solver_seconds(l->smt) < l->options->budget_total ||
	            (l->m2 != NULL && !m2_over(l->m2));
	if (paid)
		effort_pause(&l->effort);
	decide_pair(l, MIN(e, f), MAX(e, f));
	if (paid)
		effort_resume(&l->effort);
}

/* Examine the pairs of one access with the other class. */
static void look_at(struct ladder *l, struct sweep *s, uint32_t e)
{
	struct span open = { 0, s->b->count }, all = open;

	if (l->order == NULL || !s->refuted) {
		if (!span_of(l, s, e, refuting(l), &s->past))
			return;
		all = open = s->past;
	}
	/* (Must-orders are contained in the causal past.) */
	if (l->order != NULL &&
	    (l->options->candidates >= 0 || s->refuted || !only_counting(l, s))) {
		if (!span_of(l, s, e, order_before, &s->order))
			return;
		all = s->order;
		open.first = CLAMP(open.first, all.first, all.end);
		open.end = CLAMP(open.end, open.first, all.end);
	}
	if (s->refuted) {
		list_refuted(l, s, e, all.first, all.end);
		return;
	}
	if (l->options->all_verdicts) {
		list_refuted(l, s, e, all.first, open.first);
		list_refuted(l, s, e, open.end, all.end);
	}
	for (uint32_t i = open.first;
	     i < open.end && !l->cancelled && effort_more(&l->effort, 4); i++)
		look_at_pair(l, s, e, class_member(&l->classes, s->b, i));
}

static void look_at_classes(struct ladder *l, uint32_t variable, const struct class *a,
                            const struct class *b)
{
	struct sweep s = { .variable = variable, .a = a, .b = b };

	if (!classes_conflict(a, b) || !race_in_shard(l->options, a->site, b->site))
		return;
	s.lock = lockset_common(l->locksets, a->lockset, b->lockset);
	if (s.lock != NONE && !l->options->all_verdicts)
		return;
	s.refuted = s.lock != NONE || l->ordered;
	if (a->count > b->count) { /* fewer spans */
		s.a = b;
		s.b = a;
	}
	l->tries_left = VARIABLE_TRIES;
	for (uint32_t i = 0; i < s.a->count && !l->cancelled && !l->effort.over; i++) {
		if (class_settled(l, variable, a, b) || (s.refuted && only_counting(l, &s)))
			return;
		look_at(l, &s, class_member(&l->classes, s.a, i));
	}
}

/* Has the variable candidates that need a verdict? */
static bool is_looked_at(struct ladder *l, uint32_t variable)
{
	uint64_t steps = 0;

	if (!is_suspect(l->suspects, variable))
		return false;
	l->ordered = variable_ordered(l->t, variable, refuting(l), l, &steps);
	effort_more(&l->effort, EFFORT_QUESTION * steps);
	return l->options->all_verdicts || !l->ordered;
}

/* Decides the pairs of classes of two sites (which may be one), until they are settled:
 * ranges of `by`. */
static void look_at_two_sites(struct ladder *l, uint32_t variable, const uint32_t *by,
                              const uint32_t one[2], const uint32_t other[2])
{
	const struct classes *c = &l->classes;

	for (uint32_t i = one[0]; i < one[1]; i++) {
		const struct class *a = class_at(c, by[i]);
		uint32_t end = one == other ? i : other[1];

		for (uint32_t j = other[0]; j < end; j++) {
			const struct class *b = class_at(c, by[j]);

			if (l->cancelled || !effort_more(&l->effort, 1) ||
			    (l->tries_left = VARIABLE_TRIES, class_settled(l, variable, a, b)))
				return;
			look_at_classes(l, variable, a, b);
		}
	}
}

static void look_at_sites(struct ladder *l, uint32_t variable)
{
	struct class_sites s = classes_by_site(&l->classes, 0);

	for (uint32_t i = 0; i < s.count; i++) {
		for (uint32_t j = 0; j <= i; j++)
			look_at_two_sites(l, variable, s.by, &s.start[i], &s.start[j]);
	}
	class_sites_release(&s);
}

static void look_at_variable(struct ladder *l, uint32_t variable)
{
	const struct classes *c = &l->classes;

	if (!is_looked_at(l, variable))
		return;
	classes_clear(&l->classes);
	classes_add(&l->classes, variable);
	if (c->classes->len >= MANY_CLASSES) {
		look_at_sites(l, variable);
		return;
	}
	for (guint i = 0; i < c->classes->len; i++) {
		for (guint j = 0; j < i && !l->cancelled && effort_more(&l->effort, 1); j++)
			look_at_classes(l, variable, class_at(c, j), class_at(c, i));
	}
}

static void look_at_all(struct ladder *l)
{
	for (uint32_t v = 0; v < l->t->variables_count && !l->cancelled && !l->effort.over;
	     v++) {
		look_at_variable(l, v);
		if (!progress_tick(l->progress, (double)v / (double)l->t->variables_count,
		                   "candidates"))
			l->cancelled = true;
	}
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
	look_at_all(l);
	for (guint i = 0; l->projection != NULL && i < l->others->len; i++)
		lift_events(l->projection, l->others->pdata[i]);
	l->tries_matter = smt_has_tries(l->smt) && extended(l->options);
	if (!lifts_by_rung(l)) {
		release_deciders(l);
		projection_decided(l->projection);
		l->t = l->projection->whole;
	}
	lift_races(l);
}

/* -- the analysis -------------------------------------------------------------------------- */

static bool ladder_init(struct ladder *l)
{
	struct smt_options options = smt_race_options(l->options);
	bool rules = l->options->rules != NULL;

	if (!trace_need(l->t, INDEX_VARIABLES, l->progress))
		return false;
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
		note_unknown(f, OPEN_TOTAL, f->first, f->second);
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
		uint32_t site = t->locations[x->location].site;

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

/* The trace for the other rungs: a projection, made in a few passes; without one the trace is
 * opened, as the other rungs read events in any order. False when cancelled. */
static bool project(struct ladder *l, bool projects)
{
	const struct trace *whole = l->t;
	bool cancelled;

	if (l->suspects == NULL || !projects) {
		trace_keep_events(whole);
		return true;
	}
	l->projection = projection_new(l->t, l->options->projects_by_order ? NULL : l->suspects,
	                               l->options->projects_always ? 0 : PROJECTION_LEAST,
	                               l->progress, &cancelled);
	if (l->projection != NULL) {
		l->t = l->projection->trace;
		l->unlifted = g_ptr_array_new();
		if (!lifts_by_rung(l))
			trace_leave_events(whole);
	} else {
		trace_keep_events(whole);
	}
	return !cancelled;
}

/* All rungs. False when cancelled, or `refused`. */
static bool climb(struct ladder *l, const struct rung *rungs, size_t count, bool projects,
                  struct error *error)
{
	bool any, good = look_for_suspects(l, &any);

	if (good && any)
		good = project(l, projects);
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
	g_autoptr(GHashTable) told =
	        g_hash_table_new_full(ladder_key_hash, g_int64_equal, g_free, NULL);

	for (bool projects = true;; projects = false) {
		struct ladder l = { .t = t,
			            .told = told,
			            .options = options,
			            .outer = progress,
			            .rung = name,
			            .tools = { .tails = options->shares_always ? 1 : 0,
			                       .leaves = true },
			            .with_m2 = count > 0 };
		const struct progress telling = { tell_rung, &l };

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
