/*
 * ladder_pairs.c - the last rung: the pairs without a verdict, by classes of accesses, each
 * settled by its causal past, a common lock, a proof that it shares, M2 or the solver.
 */
#include "engine/predict/ladder/ladder_private.h"

#include "engine/predict/pairs/pairs.h"

/* Pairs of a unit that races that are tried on another variable. */
enum { VARIABLE_TRIES = 4 };
/* Bound on try_variable: a try may visit all events before its pair. */
enum { NAMING_EVENTS = 1 << 28, NAMING_SHARE = 64 };

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

static void keep_proof(struct ladder *l, uint32_t e1, uint32_t e2, const struct proof *proof)
{
	race_tools_made(&l->tools); /* the regions, too */
	ladder_proofs_keep(l->proofs, e1, e2, proof);
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
		ladder_note_race(l, unit, f);
		return;
	}
	struct finding *known = ladder_other_unit(l, unit, e1, e2);
	if (f->verdict == VERDICT_IMPOSSIBLE) {
		keep_proof(l, e1, e2, f->proof);
		ladder_note_impossible(l, known, f->proof, "smt");
	} else {
		ladder_note_unknown(
		        known, left < l->options->budget_pair ? OPEN_TOTAL : f->open, e1, e2);
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
	if (l->tools.rejected != NULL &&
	    g_hash_table_contains(l->tools.rejected, race_pair_key(e1, e2)))
		return false;
	bool keeps = l->projection != NULL || l->witness_events < l->options->witness_events;
	g_autoptr(GArray) witness = keeps ? g_array_new(FALSE, FALSE, sizeof(uint32_t)) : NULL;
	enum m2_verdict verdict = m2_pair(l->m2, e1, e2, witness, &proof);
	if (verdict == M2_RACE) {
		struct finding *f = race_finding(l->t, e1, e2, VERDICT_RACE, "m2");

		f->witness = g_steal_pointer(&witness);
		f->recorded = m2_recorded(l->m2);
		ladder_note_race(l, unit, f);
	} else if (verdict == M2_IMPOSSIBLE) {
		keep_proof(l, e1, e2, proof);
		ladder_note_impossible(l, ladder_other_unit(l, unit, e1, e2), proof, "m2");
	}
	proof_free(proof);
	return verdict == M2_RACE || verdict == M2_IMPOSSIBLE;
}

/* Decide a candidate that causal past leaves open. */
static void decide_pair(struct ladder *l, uint32_t e1, uint32_t e2)
{
	uint64_t unit = ladder_unit(l, e1, e2);
	const struct proof *proof =
	        l->weak_atomics ? NULL : ladder_proofs_find(l->proofs, e1, e2);

	if (proof != NULL)
		ladder_note_impossible(l, ladder_other_unit(l, unit, e1, e2), proof,
		                       proof->method == PROOF_SOLVER ? "smt" : "m2");
	else if (!l->with_m2 || !ask_m2(l, unit, e1, e2))
		ask_solver(l, unit, e1, e2);
}

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
	struct finding *known = ladder_other_unit(l, ladder_unit(l, e, f), e, f);
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
	ladder_note_impossible(l, known, proof, s->lock != NONE ? "lockset" : "cone");
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
	const struct finding *f = l->options->pairs_events ? NULL : ladder_known_race(l, unit);

	return f != NULL && (l->tries_left == 0 || ladder_has_variable(l, f, variable));
}

/* The sites race: do they race on this variable, too? Tries a few pairs without the solver. */
static void try_variable(struct ladder *l, struct finding *race, uint32_t variable, uint32_t e,
                         uint32_t f)
{
	if (l->options->pairs_events || l->tries_left == 0 ||
	    ladder_has_variable(l, race, variable))
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
		ladder_merge_variables(l, race, found);
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
	struct finding *known = ladder_settled(l, unit);
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
	struct finding *race = ladder_known_race(l, ladder_unit(l, e, f));
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

void ladder_decide_pairs(struct ladder *l)
{
	for (uint32_t v = 0; v < l->t->variables_count && !l->cancelled && !l->effort.over;
	     v++) {
		look_at_variable(l, v);
		if (!progress_tick(l->progress, (double)v / (double)l->t->variables_count,
		                   "candidates"))
			l->cancelled = true;
	}
}
