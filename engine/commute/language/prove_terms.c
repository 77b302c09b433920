/*
 * prove_terms.c - formulas and expressions as Z3 terms. A value is a datatype, arithmetic is
 * over unbounded integers, and an undefined term (comparison of values that are not integers)
 * makes its atom false, as in eval.c.
 */
#include "engine/commute/language/prove_terms.h"

#include <string.h>

static void ignore_error(Z3_context z, Z3_error_code code)
{
	(void)z;
	(void)code; /* the query then returns unknown */
}

struct prover *prover_new(const struct spec_object *o, unsigned milliseconds)
{
	struct prover *p = g_new0(struct prover, 1);
	char timeout[16];
	g_snprintf(timeout, sizeof(timeout), "%u", milliseconds);
	Z3_config config = Z3_mk_config();
	Z3_set_param_value(config, "model", "true");
	Z3_set_param_value(config, "timeout", timeout);
	p->o = o;
	p->z = Z3_mk_context(config);
	Z3_del_config(config);
	Z3_set_error_handler(p->z, ignore_error);
	p->integer = Z3_mk_int_sort(p->z);
	p->boolean = Z3_mk_bool_sort(p->z);
	p->texts = g_ptr_array_new();
	static const char *const words[C_COUNT][3] = {
		{ "nil", "is-nil", NULL },        { "false", "is-false", NULL },
		{ "true", "is-true", NULL },      { "int", "is-int", "integer-of" },
		{ "rest", "is-rest", "rest-of" },
	};
	Z3_constructor constructors[C_COUNT];
	for (int c = 0; c < C_COUNT; c++) {
		Z3_symbol field = words[c][2] ? Z3_mk_string_symbol(p->z, words[c][2]) : NULL;
		unsigned self = 0;
		constructors[c] =
		        Z3_mk_constructor(p->z, Z3_mk_string_symbol(p->z, words[c][0]),
		                          Z3_mk_string_symbol(p->z, words[c][1]), field != NULL,
		                          &field, &p->integer, &self);
	}
	p->value =
	        Z3_mk_datatype(p->z, Z3_mk_string_symbol(p->z, "Value"), C_COUNT, constructors);
	for (int c = 0; c < C_COUNT; c++) {
		Z3_func_decl field = NULL;
		bool has = words[c][2] != NULL;
		Z3_query_constructor(p->z, constructors[c], has, &p->make[c], &p->is[c],
		                     &field);
		if (c == C_INT)
			p->integer_of = field;
		if (c == C_REST)
			p->rest_of = field;
		Z3_del_constructor(p->z, constructors[c]);
	}
	p->solver = Z3_mk_solver(p->z);
	Z3_solver_inc_ref(p->z, p->solver);
	return p;
}

void prover_free(struct prover *p)
{
	if (p == NULL)
		return;
	Z3_solver_dec_ref(p->z, p->solver);
	Z3_del_context(p->z);
	g_ptr_array_unref(p->texts);
	g_free(p);
}

/* -- expressions -------------------------------------------------------------------------- */

static Z3_ast truth_value(struct prover *p, Z3_ast truth)
{
	return Z3_mk_ite(p->z, truth, term_apply(p, p->make[C_TRUE], NULL),
	                 term_apply(p, p->make[C_FALSE], NULL));
}

struct sym term_integer(struct sym_env *v, const struct expr *e)
{
	struct prover *p = v->p;
	Z3_ast always = Z3_mk_true(p->z);
	if (e->op == X_INT)
		return (struct sym){ number(p, e->integer), always };
	if (expr_is_truth(e->op))
		return (struct sym){
			Z3_mk_ite(p->z, term_truth(v, e), number(p, 1), number(p, 0)), always
		};
	if (e->op == X_STATE && state_sort(p, e->index) == SORT_INT)
		return (struct sym){ state_slot(v->state, e->index)->term, always };
	if (e->op == X_STATE && state_sort(p, e->index) == SORT_BOOL)
		return (struct sym){ Z3_mk_ite(p->z, state_slot(v->state, e->index)->term,
			                       number(p, 1), number(p, 0)),
			             always };
	if (!expr_is_arithmetic(e->op)) {
		struct sym s = term_value(v, e);
		return (struct sym){ term_apply(p, p->integer_of, s.term),
			             term_and(p, s.defined,
			                      term_apply(p, p->is[C_INT], s.term)) };
	}
	struct sym a = term_integer(v, e->a);
	if (e->op == X_NEGATE)
		return (struct sym){ Z3_mk_unary_minus(p->z, a.term), a.defined };
	struct sym b = term_integer(v, e->b);
	struct sym r = { .defined = term_and(p, a.defined, b.defined) };
	Z3_ast both[2] = { a.term, b.term };
	Z3_ast zero = number(p, 0);
	switch (e->op) {
	case X_ADD:
		r.term = Z3_mk_add(p->z, 2, both);
		break;
	case X_SUB:
		r.term = Z3_mk_sub(p->z, 2, both);
		break;
	case X_MUL:
		r.term = Z3_mk_mul(p->z, 2, both);
		break;
	default:
		/* C's remainder has the sign of its left operand; Z3's is never negative. */
		r.defined =
		        term_and(p, r.defined, Z3_mk_not(p->z, Z3_mk_eq(p->z, b.term, zero)));
		r.term = Z3_mk_ite(
		        p->z, Z3_mk_ge(p->z, a.term, zero), Z3_mk_mod(p->z, a.term, b.term),
		        Z3_mk_unary_minus(p->z, Z3_mk_mod(p->z, Z3_mk_unary_minus(p->z, a.term),
		                                          b.term)));
	}
	return r;
}

static int64_t text_number(struct prover *p, const char *text)
{
	for (guint i = 0; i < p->texts->len; i++)
		if (strcmp(p->texts->pdata[i], text) == 0)
			return i;
	g_ptr_array_add(p->texts, (char *)text);
	return p->texts->len - 1;
}

struct sym term_value(struct sym_env *v, const struct expr *e)
{
	struct prover *p = v->p;
	struct sym r = { NULL, Z3_mk_true(p->z) };
	struct sym key;
	switch (e->op) {
	case X_NAME:
		r.term = v->names[e->side][e->index];
		return r;
	case X_NIL:
		r.term = term_apply(p, p->make[C_NIL], NULL);
		return r;
	case X_TEXT:
		r.term = term_apply(p, p->make[C_REST], number(p, text_number(p, e->text)));
		return r;
	case X_LOOKUP:
		key = term_value(v, e->a);
		r.defined = key.defined;
		r.term = Z3_mk_select(p->z, state_slot(v->state, e->index)->term, key.term);
		return r;
	case X_STATE:
		if (state_sort(p, e->index) == SORT_VALUE) {
			r.term = state_slot(v->state, e->index)->term;
			return r;
		}
		if (state_sort(p, e->index) == SORT_BOOL) {
			r.term = truth_value(p, state_slot(v->state, e->index)->term);
			return r;
		}
		break;
	default:
		if (expr_is_truth(e->op)) {
			r.term = truth_value(p, term_truth(v, e));
			return r;
		}
	}
	r = term_integer(v, e);
	r.term = term_apply(p, p->make[C_INT], r.term);
	return r;
}

Z3_ast state_representative(struct prover *p, const struct sym_slot *s, unsigned unions,
                            Z3_ast x)
{
	if (unions == 0)
		return Z3_mk_select(p->z, s->term, x);
	const Z3_ast *ab = s->unions[unions - 1];
	Z3_ast rx = state_representative(p, s, unions - 1, x);
	Z3_ast ra = state_representative(p, s, unions - 1, ab[0]);
	Z3_ast rb = state_representative(p, s, unions - 1, ab[1]);
	return Z3_mk_ite(p->z, Z3_mk_eq(p->z, rx, rb), ra, rx);
}

Z3_ast state_same_class(struct prover *p, const struct sym_slot *s, Z3_ast a, Z3_ast b)
{
	return Z3_mk_eq(p->z, state_representative(p, s, s->union_count, a),
	                state_representative(p, s, s->union_count, b));
}

static Z3_ast encode_comparison(struct sym_env *v, const struct expr *e)
{
	struct prover *p = v->p;
	bool equality = e->op == X_EQ || e->op == X_NE;
	struct sym a = equality ? term_value(v, e->a) : term_integer(v, e->a);
	struct sym b = equality ? term_value(v, e->b) : term_integer(v, e->b);
	Z3_ast holds;
	switch (e->op) {
	case X_EQ:
		holds = Z3_mk_eq(p->z, a.term, b.term);
		break;
	case X_NE:
		holds = Z3_mk_not(p->z, Z3_mk_eq(p->z, a.term, b.term));
		break;
	case X_LT:
		holds = Z3_mk_lt(p->z, a.term, b.term);
		break;
	case X_LE:
		holds = Z3_mk_le(p->z, a.term, b.term);
		break;
	case X_GT:
		holds = Z3_mk_gt(p->z, a.term, b.term);
		break;
	default:
		holds = Z3_mk_ge(p->z, a.term, b.term);
	}
	return term_and(p, term_and(p, a.defined, b.defined), holds);
}

Z3_ast term_truth(struct sym_env *v, const struct expr *e)
{
	struct prover *p = v->p;
	struct sym a, b;
	switch (e->op) {
	case X_FALSE:
		return Z3_mk_false(p->z);
	case X_TRUE:
		return Z3_mk_true(p->z);
	case X_NOT:
		return Z3_mk_not(p->z, term_truth(v, e->a));
	case X_AND:
		return term_and(p, term_truth(v, e->a), term_truth(v, e->b));
	case X_OR:
		return term_or(p, term_truth(v, e->a), term_truth(v, e->b));
	case X_IN:
		a = term_value(v, e->a);
		return term_and(
		        p, a.defined,
		        Z3_mk_select(p->z, state_slot(v->state, e->index)->term, a.term));
	case X_SAME:
		a = term_value(v, e->a);
		b = term_value(v, e->b);
		return term_and(
		        p, term_and(p, a.defined, b.defined),
		        state_same_class(p, state_slot(v->state, e->index), a.term, b.term));
	default:
		if (expr_is_comparison(e->op))
			return encode_comparison(v, e);
		a = term_value(v, e);
		return term_and(p, a.defined, term_apply(p, p->is[C_TRUE], a.term));
	}
}
