/* reachable.c - see reachable.h. */
#include "engine/predict/reachable.h"

#include "engine/predict/smt/smt.h"
#include "engine/witness/minimise.h"

struct search {
	struct trace *t;
	const struct reachable_question *question;
	uint32_t target;
	uint32_t *writers; /* by variable of the condition */
	bool valueless;    /* a reordering was passed over because a value is unknown */
	GArray *atoms;     /* struct smt_atom */
};

static uint32_t variable_at(const struct search *s, guint i)
{
	return g_array_index(s->question->variables, uint32_t, i);
}

static bool writes_to(const struct trace *t, const struct event *e, uint32_t variable)
{
	if (!op_is_access(e->op) || !op_writes(e->op) || event_inert(e))
		return false;
	struct wide run = event_variables(t, e);
	return variable >= run.first && variable < run.first + run.count;
}

static void find_writers(struct search *s, const uint32_t *sequence, uint32_t length)
{
	guint open = s->question->variables->len;
	for (guint v = 0; v < s->question->variables->len; v++)
		s->writers[v] = NONE;
	for (uint32_t i = length; i-- > 0 && open > 0;) {
		const struct event *e = &s->t->events[sequence[i]];
		for (guint v = 0; v < s->question->variables->len; v++) {
			if (s->writers[v] != NONE || !writes_to(s->t, e, variable_at(s, v)))
				continue;
			s->writers[v] = sequence[i];
			open--;
		}
	}
}

static void add_atom(struct search *s, int kind, uint32_t e, uint32_t f)
{
	struct smt_atom atom = { .e = e, .f = f };
	atom.kind = kind;
	g_array_append_val(s->atoms, atom);
}

/* Excludes this combination of last writes: at least one is left out or overwritten. */
static void exclude(struct search *s, struct smt_query *q)
{
	g_array_set_size(s->atoms, 0);
	for (guint v = 0; v < s->question->variables->len; v++) {
		struct event_list all =
		        event_list_at(&s->t->index->variable_events, variable_at(s, v));
		uint32_t last = s->writers[v];
		if (last != NONE)
			add_atom(s, ATOM_OUT, last, NONE);
		for (uint64_t i = 0; i < all.count; i++) {
			uint32_t e = all.items[i];
			if (e == last || !writes_to(s->t, &s->t->events[e], variable_at(s, v)))
				continue;
			if (last == NONE)
				add_atom(s, ATOM_IN, e, NONE);
			else
				add_atom(s, ATOM_BEFORE, last, e);
		}
	}
	if (s->atoms->len == 0) /* a target alone cannot be excluded: it is never included */
		add_atom(s, ATOM_IN, s->target, NONE);
	smt_query_require(q, (const struct smt_atom *)(void *)s->atoms->data, s->atoms->len);
}

static bool judge(void *context, struct smt_query *q, const uint32_t *sequence, uint32_t length)
{
	struct search *s = context;
	find_writers(s, sequence, length);
	enum truth truth = s->question->holds(s->question->self, s->target, s->writers);
	if (truth == TRUTH_YES)
		return true;
	s->valueless |= truth == TRUTH_UNKNOWN;
	exclude(s, q);
	return false;
}

/* The recording itself, up to the event. */
static bool as_recorded(struct search *s, GArray *sequence)
{
	g_array_set_size(sequence, 0);
	for (uint32_t e = 0; e < s->target; e++)
		g_array_append_val(sequence, e);
	find_writers(s, (const uint32_t *)(void *)sequence->data, sequence->len);
	return s->question->holds(s->question->self, s->target, s->writers) == TRUTH_YES;
}

static bool is_checked(const struct search *s, const GArray *sequence)
{
	g_autoptr(GString) reason = g_string_new(NULL);
	return witness_check(s->t, event_list_of(sequence), claimed_of(CLAIM_PREFIX, NULL, 0),
	                     NULL, reason);
}

/* Reduces context switches; the order of conflicting events, and so the condition, stays. */
static void polish(const struct search *s, GArray *sequence)
{
	struct check_options options = { 0 };
	struct checker *checker = checker_new(s->t, &options);

	g_array_append_val(sequence, s->target);
	g_autoptr(GArray) better = witness_minimised(
	        checker, s->t, claimed_of(CLAIM_REACH, &s->target, 1), sequence);
	g_array_set_size(sequence, 0);
	g_array_append_vals(sequence, better->data, better->len - 1);
	checker_free(checker);
}

static void say_yes(const struct search *s, struct reachable_answer *a)
{
	a->kind = REACHABLE_YES;
	a->target = s->target;
}

/* Ask the solver about one target; false when stopped. */
static bool ask(struct search *s, struct smt *smt, struct reachable_answer *a,
                const struct progress *progress)
{
	struct smt_query *q = smt_query_new(smt);
	struct proof *proof = NULL;
	smt_query_next(q, s->target);
	smt_query_judge(q, judge, s);
	double left = s->question->seconds - smt_solver_seconds(smt);
	enum smt_answer answer =
	        smt_query_solve(q, MAX(left, 0), a->sequence, &proof, progress);
	smt_query_free(q);
	if (answer == SMT_WITNESS && is_checked(s, a->sequence)) {
		polish(s, a->sequence);
		say_yes(s, a);
	} else if (answer == SMT_IMPOSSIBLE)
		a->asked++;
	else
		a->spent = true;
	if (proof)
		g_ptr_array_add(a->proofs, proof);
	return answer != SMT_CANCELLED;
}

bool reachable_decide(struct trace *t, const struct reachable_question *question,
                      struct reachable_answer *a, const struct progress *progress,
                      struct error *error)
{
	struct search s = { .t = t, .question = question };
	*a = (struct reachable_answer){ .kind = REACHABLE_UNKNOWN, .target = NONE };
	a->sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	a->proofs = g_ptr_array_new_with_free_func((GDestroyNotify)proof_free);
	if (!trace_need(t, INDEX_ALL, progress))
		return error_cancelled(error);
	s.writers = g_new0(uint32_t, question->variables->len + 1);
	s.atoms = g_array_new(FALSE, FALSE, sizeof(struct smt_atom));
	for (guint i = 0; i < question->targets->len && a->kind != REACHABLE_YES; i++) {
		s.target = g_array_index(question->targets, uint32_t, i);
		if (as_recorded(&s, a->sequence))
			say_yes(&s, a);
	}
	bool good = true;
	struct smt_options options = { .budget_total = question->seconds };
	struct smt *smt = a->kind == REACHABLE_YES ? NULL : smt_new(t, &options, progress);
	good = smt != NULL || a->kind == REACHABLE_YES;
	for (guint i = 0; good && i < question->targets->len && a->kind != REACHABLE_YES; i++) {
		s.target = g_array_index(question->targets, uint32_t, i);
		good = ask(&s, smt, a, progress);
	}
	smt_free(smt);
	a->valueless = s.valueless;
	if (a->kind != REACHABLE_YES && a->asked == question->targets->len && !s.valueless)
		a->kind = REACHABLE_NO;
	g_array_unref(s.atoms);
	g_free(s.writers);
	return good || error_cancelled(error);
}

void reachable_release(struct reachable_answer *a)
{
	if (a->sequence)
		g_array_unref(a->sequence);
	if (a->proofs)
		g_ptr_array_unref(a->proofs);
	*a = (struct reachable_answer){ 0 };
}
