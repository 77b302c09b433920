/*
 * prove_states.c - states and effects as Z3 terms. A map is an array of values, a set an array
 * of truth values, a partition an array of representatives plus the unions since.
 */
#include "engine/commute/language/prove_terms.h"

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

struct sym_state state_any(struct prover *p)
{
	struct sym_state s = { g_array_new(FALSE, TRUE, sizeof(struct sym_slot)) };
	g_array_set_size(s.slots, p->o->states->len);
	for (guint i = 0; i < p->o->states->len; i++)
		state_slot(&s, i)->term = term_fresh(p, "s", slot_sort(p, state_sort(p, i)));
	return s;
}

/* Append the keys at which an effect reads or writes state `state`; false when one depends on
 * the state itself. */
static bool plain_key(struct sym_env *v, const struct expr *e, GPtrArray *keys)
{
	if (e->op != X_NAME && e->op > X_TEXT)
		return false;
	g_ptr_array_add(keys, term_value(v, e).term);
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

struct sym_state state_any_bound(struct prover *p, const struct spec_condition *c,
                                 Z3_ast *const names[2], const Z3_ast witness[2],
                                 GPtrArray *bound)
{
	struct sym_state s = state_any(p);
	g_autoptr(GPtrArray) keys = g_ptr_array_new();
	for (guint i = 0; i < p->o->states->len; i++) {
		struct sym_slot *slot = state_slot(&s, i);
		enum sort sort = state_sort(p, i);
		bool table = sort == SORT_MAP || sort == SORT_SET || sort == SORT_PARTITION;
		g_ptr_array_set_size(keys, 0);
		if (!table || !effect_keys(p, c->methods[0], names[0], i, keys) ||
		    !effect_keys(p, c->methods[1], names[1], i, keys)) {
			g_ptr_array_add(bound, slot->term);
			continue;
		}
		Z3_sort range = sort == SORT_SET ? p->boolean : p->value;
		Z3_ast elsewhere = term_fresh(p, "c", range);
		g_ptr_array_add(bound, elsewhere);
		slot->term = Z3_mk_const_array(p->z, p->value, elsewhere);
		for (int w = 0; sort == SORT_PARTITION && w < 2; w++)
			g_ptr_array_add(keys, witness[w]);
		for (guint k = 0; k < keys->len; k++) {
			Z3_ast there = term_fresh(p, "c", range);
			g_ptr_array_add(bound, there);
			slot->term = Z3_mk_store(p->z, slot->term, keys->pdata[k], there);
		}
	}
	return s;
}

struct sym_state state_copy(const struct sym_state *s)
{
	return (struct sym_state){ g_array_copy(s->slots) };
}

void state_release(struct sym_state *s)
{
	g_array_unref(s->slots);
}

/* Apply one statement to the state; returns the condition under which it is possible. */
static Z3_ast encode_statement(struct sym_env *v, const struct statement *s)
{
	struct prover *p = v->p;
	if (s->kind == STATEMENT_HOLDS)
		return term_truth(v, s->e);
	struct sym_slot *slot = state_slot(v->state, s->state);
	struct sym key = { NULL, Z3_mk_true(p->z) }, e;
	if (s->key != NULL)
		key = term_value(v, s->key);
	if (s->kind == STATEMENT_ASSIGN && state_sort(p, s->state) == SORT_INT) {
		e = term_integer(v, s->e);
		slot->term = e.term;
		return e.defined;
	}
	e = term_value(v, s->e);
	Z3_ast defined = term_and(p, key.defined, e.defined);
	switch (s->kind) {
	case STATEMENT_ASSIGN:
		if (state_sort(p, s->state) == SORT_BOOL) {
			slot->term = term_apply(p, p->is[C_TRUE], e.term);
			return term_and(
			        p, defined,
			        term_or(p, slot->term, term_apply(p, p->is[C_FALSE], e.term)));
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
			p->not_encoded = true;
			break;
		}
		slot->unions[slot->union_count][0] = key.term;
		slot->unions[slot->union_count++][1] = e.term;
	}
	return defined;
}

Z3_ast state_effect(struct prover *p, uint32_t method, const Z3_ast *names,
                    struct sym_state *state)
{
	struct sym_env v = { .p = p, .names = { names, NULL }, .state = state };
	const GArray *effect = spec_method_at(p->o, method)->effect;
	Z3_ast defined = Z3_mk_true(p->z);
	for (guint i = 0; i < effect->len; i++)
		defined = term_and(
		        p, defined,
		        encode_statement(&v, &g_array_index(effect, struct statement, i)));
	return defined;
}

Z3_ast state_equal(struct prover *p, const struct sym_state *a, const struct sym_state *b,
                   const Z3_ast witness[2])
{
	Z3_ast equal = Z3_mk_true(p->z);
	for (guint i = 0; i < p->o->states->len; i++) {
		struct sym_slot *x = state_slot(a, i), *y = state_slot(b, i);
		Z3_ast one = state_sort(p, i) == SORT_PARTITION
		                     ? Z3_mk_iff(p->z,
		                                 state_same_class(p, x, witness[0], witness[1]),
		                                 state_same_class(p, y, witness[0], witness[1]))
		                     : Z3_mk_eq(p->z, x->term, y->term);
		equal = term_and(p, equal, one);
	}
	return equal;
}
