/* prove.c - see prove.h. */
#include "engine/commute/prove.h"

#include <string.h>
#include <z3.h>

/*
 * A value is a datatype: nil, false, true, an integer, or one of the rest (strings and
 * tokens by number).  A map is an array of values, a set one of truth values, a partition
 * an array of representatives with the unions done since.
 */
enum constructor { C_NIL, C_FALSE, C_TRUE, C_INT, C_REST, C_COUNT };

struct prover {
	const struct spec_object *o;
	Z3_context z;
	Z3_solver solver;
	Z3_sort value, integer, boolean;
	Z3_func_decl make[C_COUNT], is[C_COUNT], integer_of, rest_of;
	GPtrArray *texts; /* string constants met, borrowed: number i is texts[i] */
};

struct sym { /* a term and when it is defined */
	Z3_ast term, defined;
};

#define MOST_UNIONS 4
struct sym_slot {
	Z3_ast term;                   /* scalar or array */
	Z3_ast unions[MOST_UNIONS][2]; /* partition */
	unsigned union_count;
};
struct sym_state {
	GArray *slots; /* struct sym_slot */
};

struct sym_env { /* what names stand for while a formula is encoded */
	struct prover *p;
	const Z3_ast *names[2];
	struct sym_state *state;
};

/* Small helpers over the API. */

static Z3_ast and2(struct prover *p, Z3_ast a, Z3_ast b)
{
	return Z3_mk_and(p->z, 2, (Z3_ast[]){ a, b });
}
static Z3_ast or2(struct prover *p, Z3_ast a, Z3_ast b)
{
	return Z3_mk_or(p->z, 2, (Z3_ast[]){ a, b });
}
static Z3_ast apply(struct prover *p, Z3_func_decl f, Z3_ast a)
{
	return Z3_mk_app(p->z, f, a ? 1 : 0, &a);
}
static Z3_ast number(struct prover *p, int64_t n)
{
	return Z3_mk_int64(p->z, n, p->integer);
}
static Z3_ast fresh(struct prover *p, const char *name, Z3_sort sort)
{
	return Z3_mk_fresh_const(p->z, name, sort);
}

static void ignore_error(Z3_context z, Z3_error_code code)
{
	(void)z;
	(void)code; /* an unknown answer follows */
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

/* Expressions. */

static Z3_ast encode_truth(struct sym_env *v, const struct expr *e);
static struct sym encode_value(struct sym_env *v, const struct expr *e);

static Z3_ast truth_value(struct prover *p, Z3_ast truth)
{
	return Z3_mk_ite(p->z, truth, apply(p, p->make[C_TRUE], NULL),
	                 apply(p, p->make[C_FALSE], NULL));
}

static enum sort sort_of(const struct prover *p, uint32_t state)
{
	return g_array_index(p->o->states, struct spec_state, state).sort;
}

static struct sym_slot *slot_at(const struct sym_state *s, uint32_t state)
{
	return &g_array_index(s->slots, struct sym_slot, state);
}

static struct sym encode_integer(struct sym_env *v, const struct expr *e)
{
	struct prover *p = v->p;
	Z3_ast always = Z3_mk_true(p->z);
	if (e->op == X_INT)
		return (struct sym){ number(p, e->integer), always };
	if (expr_is_truth(e->op))
		return (struct sym){
			Z3_mk_ite(p->z, encode_truth(v, e), number(p, 1), number(p, 0)), always
		};
	if (e->op == X_STATE && sort_of(p, e->index) == SORT_INT)
		return (struct sym){ slot_at(v->state, e->index)->term, always };
	if (e->op == X_STATE && sort_of(p, e->index) == SORT_BOOL)
		return (struct sym){ Z3_mk_ite(p->z, slot_at(v->state, e->index)->term,
			                       number(p, 1), number(p, 0)),
			             always };
	if (!expr_is_arithmetic(e->op)) {
		struct sym s = encode_value(v, e);
		return (struct sym){ apply(p, p->integer_of, s.term),
			             and2(p, s.defined, apply(p, p->is[C_INT], s.term)) };
	}
	struct sym a = encode_integer(v, e->a);
	if (e->op == X_NEGATE)
		return (struct sym){ Z3_mk_unary_minus(p->z, a.term), a.defined };
	struct sym b = encode_integer(v, e->b);
	struct sym r = { .defined = and2(p, a.defined, b.defined) };
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
		/* C's remainder has the sign of its left operand; the solver's is never
		 * negative. */
		r.defined = and2(p, r.defined, Z3_mk_not(p->z, Z3_mk_eq(p->z, b.term, zero)));
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

static struct sym encode_value(struct sym_env *v, const struct expr *e)
{
	struct prover *p = v->p;
	struct sym r = { NULL, Z3_mk_true(p->z) };
	struct sym key;
	switch (e->op) {
	case X_NAME:
		r.term = v->names[e->side][e->index];
		return r;
	case X_NIL:
		r.term = apply(p, p->make[C_NIL], NULL);
		return r;
	case X_TEXT:
		r.term = apply(p, p->make[C_REST], number(p, text_number(p, e->text)));
		return r;
	case X_LOOKUP:
		key = encode_value(v, e->a);
		r.defined = key.defined;
		r.term = Z3_mk_select(p->z, slot_at(v->state, e->index)->term, key.term);
		return r;
	case X_STATE:
		if (sort_of(p, e->index) == SORT_VALUE) {
			r.term = slot_at(v->state, e->index)->term;
			return r;
		}
		if (sort_of(p, e->index) == SORT_BOOL) {
			r.term = truth_value(p, slot_at(v->state, e->index)->term);
			return r;
		}
		break;
	default:
		if (expr_is_truth(e->op)) {
			r.term = truth_value(p, encode_truth(v, e));
			return r;
		}
	}
	r = encode_integer(v, e);
	r.term = apply(p, p->make[C_INT], r.term);
	return r;
}

/* The representative of x, the first `unions` unions done. */
static Z3_ast representative(struct prover *p, const struct sym_slot *s, unsigned unions,
                             Z3_ast x)
{
	if (unions == 0)
		return Z3_mk_select(p->z, s->term, x);
	const Z3_ast *ab = s->unions[unions - 1];
	Z3_ast rx = representative(p, s, unions - 1, x);
	Z3_ast ra = representative(p, s, unions - 1, ab[0]);
	Z3_ast rb = representative(p, s, unions - 1, ab[1]);
	return Z3_mk_ite(p->z, Z3_mk_eq(p->z, rx, rb), ra, rx);
}

static Z3_ast same_class(struct prover *p, const struct sym_slot *s, Z3_ast a, Z3_ast b)
{
	return Z3_mk_eq(p->z, representative(p, s, s->union_count, a),
	                representative(p, s, s->union_count, b));
}

static Z3_ast encode_comparison(struct sym_env *v, const struct expr *e)
{
	struct prover *p = v->p;
	bool equality = e->op == X_EQ || e->op == X_NE;
	struct sym a = equality ? encode_value(v, e->a) : encode_integer(v, e->a);
	struct sym b = equality ? encode_value(v, e->b) : encode_integer(v, e->b);
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
	return and2(p, and2(p, a.defined, b.defined), holds);
}

static Z3_ast encode_truth(struct sym_env *v, const struct expr *e)
{
	struct prover *p = v->p;
	struct sym a, b;
	switch (e->op) {
	case X_FALSE:
		return Z3_mk_false(p->z);
	case X_TRUE:
		return Z3_mk_true(p->z);
	case X_NOT:
		return Z3_mk_not(p->z, encode_truth(v, e->a));
	case X_AND:
		return and2(p, encode_truth(v, e->a), encode_truth(v, e->b));
	case X_OR:
		return or2(p, encode_truth(v, e->a), encode_truth(v, e->b));
	case X_IN:
		a = encode_value(v, e->a);
		return and2(p, a.defined,
		            Z3_mk_select(p->z, slot_at(v->state, e->index)->term, a.term));
	case X_SAME:
		a = encode_value(v, e->a);
		b = encode_value(v, e->b);
		return and2(p, and2(p, a.defined, b.defined),
		            same_class(p, slot_at(v->state, e->index), a.term, b.term));
	default:
		if (expr_is_comparison(e->op))
			return encode_comparison(v, e);
		a = encode_value(v, e);
		return and2(p, a.defined, apply(p, p->is[C_TRUE], a.term));
	}
}

/* States and effects. */

static Z3_sort slot_sort(struct prover *p, enum sort sort)
{
	switch (sort) {
	case SORT_INT:
		return p->integer;
	case SORT_BOOL:
		return p->boolean;
	case SORT_VALUE:
		return p->value;
	case SORT_SET:
		return Z3_mk_array_sort(p->z, p->value, p->boolean);
	default:
		return Z3_mk_array_sort(p->z, p->value, p->value);
	}
}

static struct sym_state any_state(struct prover *p)
{
	struct sym_state s = { g_array_new(FALSE, TRUE, sizeof(struct sym_slot)) };
	g_array_set_size(s.slots, p->o->states->len);
	for (guint i = 0; i < p->o->states->len; i++)
		slot_at(&s, i)->term = fresh(p, "s", slot_sort(p, sort_of(p, i)));
	return s;
}

/*
 * The keys at which an effect looks into state `state`, as terms appended to `keys`; false
 * when one depends on the state itself.
 */
static bool plain_key(struct sym_env *v, const struct expr *e, GPtrArray *keys)
{
	if (e->op != X_NAME && e->op > X_TEXT)
		return false;
	g_ptr_array_add(keys, encode_value(v, e).term);
	return true;
}

static bool expr_keys(struct sym_env *v, const struct expr *e, uint32_t state, GPtrArray *keys)
{
	if (e == NULL)
		return true;
	bool here =
	        (e->op == X_LOOKUP || e->op == X_IN || e->op == X_SAME) && e->index == state;
	if (here && !(plain_key(v, e->a, keys) && (e->b == NULL || plain_key(v, e->b, keys))))
		return false;
	return expr_keys(v, e->a, state, keys) && expr_keys(v, e->b, state, keys);
}

static bool effect_keys(struct prover *p, uint32_t method, const Z3_ast *names, uint32_t state,
                        GPtrArray *keys)
{
	struct sym_env v = { .p = p, .names = { names, NULL } };
	const GArray *effect = spec_method_at(p->o, method)->effect;
	for (guint i = 0; i < effect->len; i++) {
		const struct statement *s = &g_array_index(effect, struct statement, i);
		bool member = s->kind >= STATEMENT_INSERT;
		if (!expr_keys(&v, s->e, state, keys) || !expr_keys(&v, s->key, state, keys))
			return false;
		if (s->state != state || s->kind == STATEMENT_HOLDS)
			continue;
		if (s->key != NULL && !plain_key(&v, s->key, keys))
			return false;
		if (member && !plain_key(&v, s->e, keys))
			return false;
	}
	return true;
}

/*
 * Any state, for use under a quantifier: where effects look into a map only at arguments,
 * results and constants (and the two witnesses), what it holds there is all that matters,
 * and the solver need not quantify over arrays.  The variables are appended to `bound`.
 */
static struct sym_state any_bound_state(struct prover *p, const struct spec_condition *c,
                                        Z3_ast *const names[2], const Z3_ast witness[2],
                                        GPtrArray *bound)
{
	struct sym_state s = any_state(p);
	GPtrArray *keys = g_ptr_array_new();
	for (guint i = 0; i < p->o->states->len; i++) {
		struct sym_slot *slot = slot_at(&s, i);
		enum sort sort = sort_of(p, i);
		bool table = sort == SORT_MAP || sort == SORT_SET || sort == SORT_PARTITION;
		g_ptr_array_set_size(keys, 0);
		if (!table || !effect_keys(p, c->methods[0], names[0], i, keys) ||
		    !effect_keys(p, c->methods[1], names[1], i, keys)) {
			g_ptr_array_add(bound, slot->term);
			continue;
		}
		Z3_sort range = sort == SORT_SET ? p->boolean : p->value;
		Z3_ast elsewhere = fresh(p, "c", range);
		g_ptr_array_add(bound, elsewhere);
		slot->term = Z3_mk_const_array(p->z, p->value, elsewhere);
		for (int w = 0; sort == SORT_PARTITION && w < 2; w++)
			g_ptr_array_add(keys, witness[w]);
		for (guint k = 0; k < keys->len; k++) {
			Z3_ast there = fresh(p, "c", range);
			g_ptr_array_add(bound, there);
			slot->term = Z3_mk_store(p->z, slot->term, keys->pdata[k], there);
		}
	}
	g_ptr_array_unref(keys);
	return s;
}

static struct sym_state state_copy(const struct sym_state *s)
{
	return (struct sym_state){ g_array_copy(s->slots) };
}

static void state_release(struct sym_state *s)
{
	g_array_unref(s->slots);
}

/* One statement on the state; when it can be done. */
static Z3_ast encode_statement(struct sym_env *v, const struct statement *s)
{
	struct prover *p = v->p;
	if (s->kind == STATEMENT_HOLDS)
		return encode_truth(v, s->e);
	struct sym_slot *slot = slot_at(v->state, s->state);
	struct sym key = { NULL, Z3_mk_true(p->z) }, e;
	if (s->key != NULL)
		key = encode_value(v, s->key);
	if (s->kind == STATEMENT_ASSIGN && sort_of(p, s->state) == SORT_INT) {
		e = encode_integer(v, s->e);
		slot->term = e.term;
		return e.defined;
	}
	e = encode_value(v, s->e);
	Z3_ast defined = and2(p, key.defined, e.defined);
	switch (s->kind) {
	case STATEMENT_ASSIGN:
		if (sort_of(p, s->state) == SORT_BOOL) {
			slot->term = apply(p, p->is[C_TRUE], e.term);
			return and2(p, defined,
			            or2(p, slot->term, apply(p, p->is[C_FALSE], e.term)));
		}
		slot->term = e.term;
		break;
	case STATEMENT_STORE:
		slot->term = Z3_mk_store(p->z, slot->term, key.term, e.term);
		break;
	case STATEMENT_INSERT:
		slot->term = Z3_mk_store(p->z, slot->term, e.term, Z3_mk_true(p->z));
		break;
	case STATEMENT_REMOVE:
		slot->term = Z3_mk_store(p->z, slot->term, e.term, Z3_mk_false(p->z));
		break;
	default:
		if (slot->union_count == MOST_UNIONS) {
			/* Cannot be said: an answer that depends on it stays open. */
			return fresh(p, "unknown", p->boolean);
		}
		slot->unions[slot->union_count][0] = key.term;
		slot->unions[slot->union_count++][1] = e.term;
	}
	return defined;
}

static Z3_ast encode_effect(struct prover *p, uint32_t method, const Z3_ast *names,
                            struct sym_state *state)
{
	struct sym_env v = { .p = p, .names = { names, NULL }, .state = state };
	const GArray *effect = spec_method_at(p->o, method)->effect;
	Z3_ast defined = Z3_mk_true(p->z);
	for (guint i = 0; i < effect->len; i++)
		defined =
		        and2(p, defined,
		             encode_statement(&v, &g_array_index(effect, struct statement, i)));
	return defined;
}

/* Are two states the same?  For a partition: do they agree on `witness`, any two values. */
static Z3_ast encode_equal(struct prover *p, const struct sym_state *a,
                           const struct sym_state *b, const Z3_ast witness[2])
{
	Z3_ast equal = Z3_mk_true(p->z);
	for (guint i = 0; i < p->o->states->len; i++) {
		struct sym_slot *x = slot_at(a, i), *y = slot_at(b, i);
		Z3_ast one = sort_of(p, i) == SORT_PARTITION
		                     ? Z3_mk_iff(p->z, same_class(p, x, witness[0], witness[1]),
		                                 same_class(p, y, witness[0], witness[1]))
		                     : Z3_mk_eq(p->z, x->term, y->term);
		equal = and2(p, equal, one);
	}
	return equal;
}

/* Two invocations in both orders from one state. */
struct both_orders {
	struct sym_state start, ends[2]; /* ends[0]: side 0 first */
	Z3_ast possible[2], equal;
	Z3_ast witness[2]; /* see encode_equal */
	Z3_ast commute;    /* the same from this state */
};

/* With `bound`, for use under a quantifier over what is appended to it. */
static void encode_both(struct prover *p, const struct spec_condition *c,
                        Z3_ast *const names[2], GPtrArray *bound, struct both_orders *b)
{
	b->witness[0] = fresh(p, "x", p->value);
	b->witness[1] = fresh(p, "y", p->value);
	b->start = bound ? any_bound_state(p, c, names, b->witness, bound) : any_state(p);
	for (int first = 0; first < 2; first++) {
		int second = 1 - first;
		b->ends[first] = state_copy(&b->start);
		Z3_ast one = encode_effect(p, c->methods[first], names[first], &b->ends[first]);
		Z3_ast two =
		        encode_effect(p, c->methods[second], names[second], &b->ends[first]);
		b->possible[first] = and2(p, one, two);
	}
	b->equal = encode_equal(p, &b->ends[0], &b->ends[1], b->witness);
	b->commute = and2(p, Z3_mk_iff(p->z, b->possible[0], b->possible[1]),
	                  Z3_mk_implies(p->z, b->possible[0], b->equal));
}

static void both_release(struct both_orders *b)
{
	state_release(&b->start);
	state_release(&b->ends[0]);
	state_release(&b->ends[1]);
}

/* Printing of models. */

static bool holds_in(struct prover *p, Z3_model model, Z3_ast truth)
{
	Z3_ast result;
	return Z3_model_eval(p->z, model, truth, true, &result) &&
	       Z3_get_bool_value(p->z, result) == Z3_L_TRUE;
}

static void print_number(struct prover *p, Z3_model model, Z3_ast term, GString *out)
{
	Z3_ast result;
	if (Z3_model_eval(p->z, model, term, true, &result))
		g_string_append(out, Z3_get_numeral_string(p->z, result));
}

static void print_value(struct prover *p, Z3_model model, Z3_ast term, GString *out)
{
	static const char *const words[] = { "nil", "false", "true" };
	for (int c = C_NIL; c <= C_TRUE; c++)
		if (holds_in(p, model, apply(p, p->is[c], term))) {
			g_string_append(out, words[c]);
			return;
		}
	if (holds_in(p, model, apply(p, p->is[C_INT], term))) {
		print_number(p, model, apply(p, p->integer_of, term), out);
		return;
	}
	GString *n = g_string_new(NULL);
	print_number(p, model, apply(p, p->rest_of, term), n);
	uint64_t index = g_ascii_strtoull(n->str, NULL, 10);
	if (n->str[0] != '-' && index < p->texts->len)
		g_string_append_printf(out, "\"%s\"", (char *)p->texts->pdata[index]);
	else
		g_string_append_printf(out, "c%s", n->str[0] == '-' ? n->str + 1 : n->str);
	g_string_free(n, TRUE);
}

static void print_invocation(struct prover *p, Z3_model model, const struct spec_method *m,
                             const Z3_ast *names, GString *out)
{
	g_string_append_printf(out, "%s(", m->name);
	for (uint32_t i = 0; i < m->arguments + m->results; i++) {
		if (i == m->arguments)
			g_string_append(out, ") / ");
		else if (i > 0)
			g_string_append(out, ", ");
		print_value(p, model, names[i], out);
	}
	if (m->results == 0)
		g_string_append_c(out, ')');
}

/* A map, set or partition is shown where the invocations look: at the values they name. */
static void print_at_values(struct prover *p, Z3_model model, const struct sym_slot *slot,
                            const struct spec_state *s, GPtrArray *values, GString *out)
{
	GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < values->len; i++) {
		GString *key = g_string_new(NULL);
		print_value(p, model, values->pdata[i], key);
		if (g_hash_table_contains(seen, key->str)) {
			g_string_free(key, TRUE);
			continue;
		}
		g_string_append(out, out->len ? ", " : "");
		if (s->sort == SORT_MAP) {
			g_string_append_printf(out, "%s[%s] = ", s->name, key->str);
			print_value(p, model, Z3_mk_select(p->z, slot->term, values->pdata[i]),
			            out);
		} else if (s->sort == SORT_SET) {
			bool in = holds_in(p, model,
			                   Z3_mk_select(p->z, slot->term, values->pdata[i]));
			g_string_append_printf(out, "%s %s %s", key->str, in ? "in" : "not in",
			                       s->name);
		} else {
			g_string_append_printf(out, "%s in the class ", key->str);
			print_value(
			        p, model,
			        representative(p, slot, slot->union_count, values->pdata[i]),
			        out);
		}
		g_hash_table_add(seen, g_string_free(key, FALSE));
	}
	g_hash_table_destroy(seen);
}

static char *print_state(struct prover *p, Z3_model model, const struct sym_state *state,
                         GPtrArray *values)
{
	GString *out = g_string_new(NULL);
	for (guint i = 0; i < p->o->states->len; i++) {
		const struct spec_state *s = &g_array_index(p->o->states, struct spec_state, i);
		const struct sym_slot *slot = slot_at(state, i);
		if (s->sort == SORT_MAP || s->sort == SORT_SET || s->sort == SORT_PARTITION) {
			print_at_values(p, model, slot, s, values, out);
			continue;
		}
		g_string_append_printf(out, "%s%s = ", out->len ? ", " : "", s->name);
		if (s->sort == SORT_INT)
			print_number(p, model, slot->term, out);
		else if (s->sort == SORT_BOOL)
			g_string_append(out, holds_in(p, model, slot->term) ? "true" : "false");
		else
			print_value(p, model, slot->term, out);
	}
	return g_string_free(out, FALSE);
}

/* Asking. */

static Z3_ast *fresh_names(struct prover *p, const struct spec_method *m)
{
	uint32_t n = m->arguments + m->results;
	Z3_ast *names = g_new(Z3_ast, n + 1);
	for (uint32_t i = 0; i < n; i++)
		names[i] = fresh(p, m->names[i], p->value);
	return names;
}

static Z3_ast encode_condition(struct prover *p, const struct spec_condition *c,
                               Z3_ast *const a, Z3_ast *const b)
{
	struct sym_env v = { .p = p, .names = { a, b } };
	return encode_truth(&v, c->formula);
}

/* NO with a model (owned by the context), YES or OPEN. */
static enum answer never(struct prover *p, Z3_ast formula, Z3_model *model)
{
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
		print_invocation(p, model, spec_method_at(p->o, c->methods[side]), names[side],
		                 s);
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
	out->answer = never(p, Z3_mk_xor(p->z, one, other), &model);
	if (out->answer != ANSWER_NO)
		return;
	char *pair = print_pair(p, model, c, names);
	bool first = holds_in(p, model, one);
	out->example = g_strdup_printf("%s: it %s in this order and %s in the other", pair,
	                               first ? "holds" : "does not hold",
	                               first ? "does not hold" : "holds");
	g_free(pair);
	Z3_model_dec_ref(p->z, model);
}

static char *explain_unsound(struct prover *p, Z3_model model, const struct spec_condition *c,
                             Z3_ast *const names[2], const struct both_orders *b)
{
	GPtrArray *values = g_ptr_array_new();
	for (int side = 0; side < 2; side++) {
		const struct spec_method *m = spec_method_at(p->o, c->methods[side]);
		for (uint32_t i = 0; i < m->arguments + m->results; i++)
			g_ptr_array_add(values, names[side][i]);
	}
	char *pair = print_pair(p, model, c, names);
	char *start = print_state(p, model, &b->start, values);
	GString *s = g_string_new(NULL);
	g_string_append_printf(s, "%s satisfy it; from %s ", pair,
	                       *start ? start : "any state");
	bool possible[2] = { holds_in(p, model, b->possible[0]),
		             holds_in(p, model, b->possible[1]) };
	if (possible[0] && possible[1]) {
		char *ends[2] = { print_state(p, model, &b->ends[0], values),
			          print_state(p, model, &b->ends[1], values) };
		g_string_append_printf(s, "this order ends in %s, the other in %s", ends[0],
		                       ends[1]);
		g_free(ends[0]);
		g_free(ends[1]);
	} else {
		g_string_append_printf(s, "%s is possible, the other is not",
		                       possible[0] ? "this order" : "the turned order");
	}
	g_free(pair);
	g_free(start);
	g_ptr_array_unref(values);
	return g_string_free(s, FALSE);
}

static void check_sound(struct prover *p, const struct spec_condition *c,
                        Z3_ast *const names[2], struct answered *out)
{
	Z3_model model;
	struct both_orders b;
	encode_both(p, c, names, NULL, &b);
	Z3_ast condition = encode_condition(p, c, names[0], names[1]);
	out->answer = never(p, and2(p, condition, Z3_mk_not(p->z, b.commute)), &model);
	if (out->answer == ANSWER_NO) {
		out->example = explain_unsound(p, model, c, names, &b);
		Z3_model_dec_ref(p->z, model);
	}
	both_release(&b);
}

/*
 * A pair that the condition refuses, that is possible in some order from some state, and
 * that commutes from every state?
 */
static void check_precise(struct prover *p, const struct spec_condition *c,
                          Z3_ast *const names[2], struct answered *out)
{
	Z3_model model;
	struct both_orders some, every;
	GPtrArray *bound = g_ptr_array_new();
	encode_both(p, c, names, NULL, &some);
	encode_both(p, c, names, bound, &every);
	g_ptr_array_add(bound, every.witness[0]);
	g_ptr_array_add(bound, every.witness[1]);
	for (guint i = 0; i < bound->len; i++)
		bound->pdata[i] = Z3_to_app(p->z, bound->pdata[i]);
	Z3_ast always = Z3_mk_forall_const(p->z, 0, bound->len, (Z3_app *)bound->pdata, 0, NULL,
	                                   every.commute);
	Z3_ast refused = Z3_mk_not(p->z, encode_condition(p, c, names[0], names[1]));
	Z3_ast possible = or2(p, some.possible[0], some.possible[1]);
	out->answer = never(p, and2(p, and2(p, refused, possible), always), &model);
	if (out->answer == ANSWER_NO) {
		char *pair = print_pair(p, model, c, names);
		out->example = g_strdup_printf("%s always commute, and it refuses them", pair);
		g_free(pair);
		Z3_model_dec_ref(p->z, model);
	}
	g_ptr_array_unref(bound);
	both_release(&some);
	both_release(&every);
}

void prove_condition(struct prover *p, const struct spec_condition *c,
                     struct condition_check *out)
{
	*out = (struct condition_check){ .symmetric = { ANSWER_UNASKED },
		                         .sound = { ANSWER_UNASKED },
		                         .precise = { ANSWER_UNASKED } };
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
