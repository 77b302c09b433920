/*
 * prove.c - the solver queries of prove.h (symmetric, sound, precise) and their
 * counterexamples.
 */
#include "engine/commute/language/prove_terms.h"

/* Two invocations from one state in both orders. */
struct both_orders {
	struct sym_state start, ends[2]; /* ends[0]: side 0 first */
	Z3_ast possible[2], equal;
	Z3_ast witness[2]; /* for state_equal */
	Z3_ast commute;    /* both orders agree from this state */
};

/* both_orders, with `bound` for use under a quantifier over the variables appended to it. */
static void encode_both(struct prover *p, const struct spec_condition *c,
                        Z3_ast *const names[2], GPtrArray *bound, struct both_orders *b)
{
	b->witness[0] = term_fresh(p, "x", p->value);
	b->witness[1] = term_fresh(p, "y", p->value);
	b->start = bound ? state_any_bound(p, c, names, b->witness, bound) : state_any(p);
	for (int first = 0; first < 2; first++) {
		int second = 1 - first;
		b->ends[first] = state_copy(&b->start);
		Z3_ast one = state_effect(p, c->methods[first], names[first], &b->ends[first]);
		Z3_ast two =
		        state_effect(p, c->methods[second], names[second], &b->ends[first]);
		b->possible[first] = term_and(p, one, two);
	}
	b->equal = state_equal(p, &b->ends[0], &b->ends[1], b->witness);
	b->commute = term_and(p, Z3_mk_iff(p->z, b->possible[0], b->possible[1]),
	                      Z3_mk_implies(p->z, b->possible[0], b->equal));
}

static void both_release(struct both_orders *b)
{
	state_release(&b->start);
	state_release(&b->ends[0]);
	state_release(&b->ends[1]);
}

static Z3_ast *fresh_names(struct prover *p, const struct spec_method *m)
{
	uint32_t n = m->arguments + m->results;
	Z3_ast *names = g_new(Z3_ast, n + 1);
	for (uint32_t i = 0; i < n; i++)
		names[i] = term_fresh(p, m->names[i], p->value);
	return names;
}

static Z3_ast encode_condition(struct prover *p, const struct spec_condition *c,
                               Z3_ast *const a, Z3_ast *const b)
{
	struct sym_env v = { .p = p, .names = { a, b } };
	return term_truth(&v, c->formula);
}

/* Is the formula unsatisfiable? ANSWER_NO with a model (referenced; the caller releases it). */
static enum proof_answer prove_unsat(struct prover *p, Z3_ast formula, Z3_model *model)
{
	if (p->not_encoded)
		return ANSWER_OPEN;
	Z3_solver_reset(p->z, p->solver);
	Z3_solver_assert(p->z, p->solver, formula);
	Z3_lbool result = Z3_solver_check(p->z, p->solver);
	if (result == Z3_L_TRUE) {
		*model = Z3_solver_get_model(p->z, p->solver);
		Z3_model_inc_ref(p->z, *model);
	}
	return result == Z3_L_TRUE    ? ANSWER_NO
	       : result == Z3_L_FALSE ? ANSWER_YES
	                              : ANSWER_OPEN;
}

static char *print_pair(struct prover *p, Z3_model model, const struct spec_condition *c,
                        Z3_ast *const names[2])
{
	GString *s = g_string_new(NULL);
	for (int side = 0; side < 2; side++) {
		g_string_append(s, side ? " and " : "");
		prove_print_invocation(p, model, spec_method_at(p->o, c->methods[side]),
		                       names[side], s);
	}
	return g_string_free(s, FALSE);
}

static void check_symmetry(struct prover *p, const struct spec_condition *c,
                           Z3_ast *const names[2], struct answered *out)
{
	Z3_model model;
	if (c->methods[0] != c->methods[1])
		return;
	Z3_ast one = encode_condition(p, c, names[0], names[1]);
	Z3_ast other = encode_condition(p, c, names[1], names[0]);
	out->answer = prove_unsat(p, Z3_mk_xor(p->z, one, other), &model);
	if (out->answer != ANSWER_NO)
		return;
	g_autofree char *pair = print_pair(p, model, c, names);
	bool first = prove_holds(p, model, one);
	out->example = g_strdup_printf("%s: it %s in this order and %s in the other", pair,
	                               first ? "holds" : "does not hold",
	                               first ? "does not hold" : "holds");
	Z3_model_dec_ref(p->z, model);
}

static char *explain_unsound(struct prover *p, Z3_model model, const struct spec_condition *c,
                             Z3_ast *const names[2], const struct both_orders *b)
{
	g_autoptr(GPtrArray) values = g_ptr_array_new();
	for (int side = 0; side < 2; side++) {
		const struct spec_method *m = spec_method_at(p->o, c->methods[side]);
		for (uint32_t i = 0; i < m->arguments + m->results; i++)
			g_ptr_array_add(values, names[side][i]);
	}
	g_autofree char *pair = print_pair(p, model, c, names);
	g_autofree char *start = prove_print_state(p, model, &b->start, values);
	GString *s = g_string_new(NULL);
	g_string_append_printf(s, "%s satisfy it; from %s ", pair,
	                       *start ? start : "any state");
	bool possible[2] = { prove_holds(p, model, b->possible[0]),
		             prove_holds(p, model, b->possible[1]) };
	if (possible[0] && possible[1]) {
		char *ends[2] = { prove_print_state(p, model, &b->ends[0], values),
			          prove_print_state(p, model, &b->ends[1], values) };
		g_string_append_printf(s, "this order ends in %s, the other in %s", ends[0],
		                       ends[1]);
		g_free(ends[0]);
		g_free(ends[1]);
	} else {
		g_string_append_printf(s, "%s is possible, the other is not",
		                       possible[0] ? "this order" : "the turned order");
	}
	return g_string_free(s, FALSE);
}

static void check_sound(struct prover *p, const struct spec_condition *c,
                        Z3_ast *const names[2], struct answered *out)
{
	Z3_model model;
	struct both_orders b;
	encode_both(p, c, names, NULL, &b);
	Z3_ast condition = encode_condition(p, c, names[0], names[1]);
	out->answer =
	        prove_unsat(p, term_and(p, condition, Z3_mk_not(p->z, b.commute)), &model);
	if (out->answer == ANSWER_NO) {
		out->example = explain_unsound(p, model, c, names, &b);
		Z3_model_dec_ref(p->z, model);
	}
	both_release(&b);
}

/* Search for a pair that the condition refuses, that is possible in some order from some state,
 * and that commutes from every state. */
static void check_precise(struct prover *p, const struct spec_condition *c,
                          Z3_ast *const names[2], struct answered *out)
{
	Z3_model model;
	struct both_orders some, every;
	g_autoptr(GPtrArray) bound = g_ptr_array_new();
	encode_both(p, c, names, NULL, &some);
	encode_both(p, c, names, bound, &every);
	g_ptr_array_add(bound, every.witness[0]);
	g_ptr_array_add(bound, every.witness[1]);
	for (guint i = 0; i < bound->len; i++)
		bound->pdata[i] = Z3_to_app(p->z, bound->pdata[i]);
	Z3_ast always = Z3_mk_forall_const(p->z, 0, bound->len, (Z3_app *)bound->pdata, 0, NULL,
	                                   every.commute);
	Z3_ast refused = Z3_mk_not(p->z, encode_condition(p, c, names[0], names[1]));
	Z3_ast possible = term_or(p, some.possible[0], some.possible[1]);
	out->answer =
	        prove_unsat(p, term_and(p, term_and(p, refused, possible), always), &model);
	if (out->answer == ANSWER_NO) {
		g_autofree char *pair = print_pair(p, model, c, names);
		out->example = g_strdup_printf("%s always commute, and it refuses them", pair);
		Z3_model_dec_ref(p->z, model);
	}
	both_release(&some);
	both_release(&every);
}

void prove_condition(struct prover *p, const struct spec_condition *c,
                     struct condition_check *out)
{
	*out = (struct condition_check){ .symmetric = { ANSWER_UNASKED },
		                         .sound = { ANSWER_UNASKED },
		                         .precise = { ANSWER_UNASKED } };
	p->not_encoded = false;
	const struct spec_method *m[2] = { spec_method_at(p->o, c->methods[0]),
		                           spec_method_at(p->o, c->methods[1]) };
	Z3_ast *names[2] = { fresh_names(p, m[0]), fresh_names(p, m[1]) };
	check_symmetry(p, c, names, &out->symmetric);
	if (m[0]->effect != NULL && m[1]->effect != NULL) {
		check_sound(p, c, names, &out->sound);
		check_precise(p, c, names, &out->precise);
	}
	g_free(names[0]);
	g_free(names[1]);
}

void condition_check_release(struct condition_check *c)
{
	g_free(c->symmetric.example);
	g_free(c->sound.example);
	g_free(c->precise.example);
}
