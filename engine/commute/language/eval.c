/* eval.c - see eval.h. */
#include "engine/commute/language/eval.h"
#include "engine/base/hash.h"

/* -- string constants --------------------------------------------------------------------- */

#define FIRST_OWN_TEXT (INT64_C(1) << 40) /* larger than every id of a universe */

void texts_init(struct texts *t)
{
	*t = (struct texts){ .ids = g_hash_table_new(g_str_hash, g_str_equal) };
}

void texts_release(struct texts *t)
{
	if (t->ids)
		g_hash_table_destroy(t->ids);
	t->ids = NULL;
}

static int64_t texts_id(struct texts *t, const struct expr *e)
{
	int64_t id = (int64_t)(intptr_t)g_hash_table_lookup(t->ids, e->text) - 1;
	if (id >= 0)
		return id;
	id = t->find ? t->find(t->context, e->text, e->text_length) : -1;
	if (id < 0)
		id = FIRST_OWN_TEXT + g_hash_table_size(t->ids);
	g_hash_table_insert(t->ids, e->text, (gpointer)(intptr_t)(id + 1));
	return id;
}

/* Hash table from values to values. Entries are never removed: a map's nil and a set's false
 * mean absent. */

struct val_entry {
	struct val key, value; /* key.kind V_NONE: free */
};
struct val_table {
	struct val_entry *entries;
	uint32_t size, used; /* size is a power of two, or 0 */
};

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= HASH_FACTOR;
	x ^= x >> 29;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ (x >> 32);
}

static uint64_t val_hash(struct val v)
{
	return mix(mix((uint64_t)v.n) + v.kind);
}

static struct val_entry *table_slot(const struct val_table *t, struct val key)
{
	for (uint32_t i = (uint32_t)val_hash(key) & (t->size - 1);; i = (i + 1) & (t->size - 1))
		if (t->entries[i].key.kind == V_NONE || val_equal(t->entries[i].key, key))
			return &t->entries[i];
}

static struct val table_get(const struct val_table *t, struct val key, struct val otherwise)
{
	if (t->size == 0)
		return otherwise;
	const struct val_entry *e = table_slot(t, key);
	return e->key.kind == V_NONE ? otherwise : e->value;
}

static void table_put(struct val_table *t, struct val key, struct val value)
{
	if ((t->used + 1) * 4 > t->size * 3) {
		struct val_table larger = { .size = t->size ? t->size * 2 : 8,
			                    .used = t->used };
		larger.entries = g_new0(struct val_entry, larger.size);
		for (uint32_t i = 0; i < t->size; i++)
			if (t->entries[i].key.kind != V_NONE)
				*table_slot(&larger, t->entries[i].key) = t->entries[i];
		g_free(t->entries);
		*t = larger;
	}
	struct val_entry *e = table_slot(t, key);
	t->used += e->key.kind == V_NONE;
	*e = (struct val_entry){ key, value };
}

/* -- the state of an object --------------------------------------------------------------- */

struct run_slot {
	struct val value;       /* int, bool, value */
	struct val_table table; /* map, set, partition (parent of each member) */
};
struct abstract_state {
	const struct spec_object *o;
	struct run_slot slots[];
};

static struct val truth_value(bool truth)
{
	return (struct val){ .kind = truth ? V_TRUE : V_FALSE };
}

static struct val constant_val(const struct expr *e, struct texts *texts)
{
	switch (e->op) {
	case X_FALSE:
	case X_TRUE:
		return truth_value(e->op == X_TRUE);
	case X_INT:
		return (struct val){ .kind = V_INT, .n = e->integer };
	case X_TEXT:
		return (struct val){ .kind = V_STRING, .n = texts_id(texts, e) };
	default:
		return (struct val){ .kind = V_NIL };
	}
}

struct abstract_state *abstract_state_new(const struct spec_object *o, struct texts *texts)
{
	struct abstract_state *r =
	        g_malloc0(sizeof(*r) + o->states->len * sizeof(struct run_slot));
	r->o = o;
	for (guint i = 0; i < o->states->len; i++) {
		const struct spec_state *s = &g_array_index(o->states, struct spec_state, i);
		static const uint32_t zero[SORT_COUNT] = { V_INT, V_FALSE, V_NIL,
			                                   V_NIL, V_NIL,   V_NIL };
		r->slots[i].value = s->first ? constant_val(s->first, texts)
		                             : (struct val){ .kind = zero[s->sort] };
	}
	return r;
}

void abstract_state_free(struct abstract_state *r)
{
	if (r == NULL)
		return;
	for (guint i = 0; i < r->o->states->len; i++)
		g_free(r->slots[i].table.entries);
	g_free(r);
}

struct abstract_state *abstract_state_copy(const struct abstract_state *r)
{
	size_t size = sizeof(*r) + r->o->states->len * sizeof(struct run_slot);
	struct abstract_state *copy = g_memdup2(r, size);
	for (guint i = 0; i < r->o->states->len; i++) {
		struct val_table *t = &copy->slots[i].table;
		if (t->entries)
			t->entries = g_memdup2(t->entries, t->size * sizeof(struct val_entry));
	}
	return copy;
}

static struct val class_root(const struct val_table *t, struct val v)
{
	for (;;) {
		struct val up = table_get(t, v, v);
		if (val_equal(up, v))
			return v;
		v = up;
	}
}

/* The smallest member represents its class, whatever the order of the unions. */
static bool val_less(struct val a, struct val b)
{
	return a.kind != b.kind ? a.kind < b.kind : a.n < b.n;
}

static uint64_t table_digest(const struct val_table *t, enum sort sort)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < t->size; i++) {
		const struct val_entry *e = &t->entries[i];
		if (e->key.kind == V_NONE)
			continue;
		struct val value = sort == SORT_PARTITION ? class_root(t, e->key) : e->value;
		uint32_t absent = sort == SORT_SET ? V_FALSE : V_NIL;
		if (sort == SORT_PARTITION ? !val_equal(value, e->key) : value.kind != absent)
			sum += mix(val_hash(e->key) ^ (val_hash(value) * 3));
	}
	return sum;
}

uint64_t abstract_state_digest(const struct abstract_state *r)
{
	uint64_t digest = 1;
	for (guint i = 0; r != NULL && i < r->o->states->len; i++) {
		enum sort sort = g_array_index(r->o->states, struct spec_state, i).sort;
		digest = mix(digest + val_hash(r->slots[i].value));
		digest = mix(digest ^ table_digest(&r->slots[i].table, sort));
	}
	return digest;
}

/* -- evaluation ---------------------------------------------------------------------------- */

/* Undefined: the atom is false. Unknown: the atom is open. */
enum defined { UNDEFINED, DEFINED, UNKNOWN };

static enum defined eval_value(struct evaluation *v, const struct expr *e, struct val *out);

/* Operand of arithmetic or comparison: an integer, or a condition as 0 or 1. */
static enum defined eval_integer(struct evaluation *v, const struct expr *e, int64_t *out)
{
	struct val value;
	enum defined d = eval_value(v, e, &value);
	if (d != DEFINED)
		return d;
	if (value.kind == V_INT)
		*out = value.n;
	else if (expr_is_truth(e->op))
		*out = value.kind == V_TRUE;
	else if (e->op == X_STATE &&
	         g_array_index(v->state->o->states, struct spec_state, e->index).sort ==
	                 SORT_BOOL)
		*out = value.kind == V_TRUE;
	else
		return UNDEFINED;
	return DEFINED;
}

static enum defined both(enum defined a, enum defined b)
{
	if (a == UNDEFINED || b == UNDEFINED)
		return UNDEFINED;
	return a == UNKNOWN || b == UNKNOWN ? UNKNOWN : DEFINED;
}

static enum defined eval_arithmetic(struct evaluation *v, const struct expr *e, struct val *out)
{
	int64_t a = 0, b = 0, n = 0;
	enum defined d = eval_integer(v, e->a, &a);
	if (e->b != NULL)
		d = both(d, eval_integer(v, e->b, &b));
	if (d != DEFINED)
		return d;
	bool overflow = false;
	switch (e->op) {
	case X_NEGATE:
		overflow = __builtin_sub_overflow(INT64_C(0), a, &n);
		break;
	case X_ADD:
		overflow = __builtin_add_overflow(a, b, &n);
		break;
	case X_SUB:
		overflow = __builtin_sub_overflow(a, b, &n);
		break;
	case X_MUL:
		overflow = __builtin_mul_overflow(a, b, &n);
		break;
	default:
		if (b == 0)
			return UNDEFINED;
		n = b == -1 ? 0 : a % b;
	}
	if (overflow) {
		v->overflow = true;
		return UNDEFINED;
	}
	*out = (struct val){ .kind = V_INT, .n = n };
	return DEFINED;
}

static enum defined eval_value(struct evaluation *v, const struct expr *e, struct val *out)
{
	struct val key;
	enum defined d;
	switch (e->op) {
	case X_NAME:
		*out = v->names[e->side][e->index];
		return out->kind == V_NONE ? UNKNOWN : DEFINED;
	case X_STATE:
		*out = v->state->slots[e->index].value;
		return DEFINED;
	case X_LOOKUP:
		d = eval_value(v, e->a, &key);
		if (d == DEFINED)
			*out = table_get(&v->state->slots[e->index].table, key,
			                 (struct val){ .kind = V_NIL });
		return d;
	case X_NIL:
	case X_INT:
	case X_TEXT:
		*out = constant_val(e, v->texts);
		return DEFINED;
	default:
		if (expr_is_arithmetic(e->op))
			return eval_arithmetic(v, e, out);
	}
	enum truth t = eval_truth(v, e);
	*out = truth_value(t == TRUTH_YES);
	return t == TRUTH_UNKNOWN ? UNKNOWN : DEFINED;
}

static enum truth truth_of(bool truth)
{
	return truth ? TRUTH_YES : TRUTH_NO;
}

static enum truth eval_comparison(struct evaluation *v, const struct expr *e)
{
	enum defined d;
	if (e->op == X_EQ || e->op == X_NE) {
		struct val a, b;
		d = both(eval_value(v, e->a, &a), eval_value(v, e->b, &b));
		if (d == DEFINED)
			return truth_of(val_equal(a, b) == (e->op == X_EQ));
	} else {
		int64_t a = 0, b = 0;
		d = both(eval_integer(v, e->a, &a), eval_integer(v, e->b, &b));
		if (d == DEFINED)
			return truth_of(e->op == X_LT   ? a < b
			                : e->op == X_LE ? a <= b
			                : e->op == X_GT ? a > b
			                                : a >= b);
	}
	return d == UNKNOWN ? TRUTH_UNKNOWN : TRUTH_NO;
}

static enum truth eval_member(struct evaluation *v, const struct expr *e)
{
	struct val a, b;
	enum defined d = eval_value(v, e->a, &a);
	const struct val_table *t = &v->state->slots[e->index].table;
	if (e->op == X_SAME)
		d = both(d, eval_value(v, e->b, &b));
	if (d != DEFINED)
		return d == UNKNOWN ? TRUTH_UNKNOWN : TRUTH_NO;
	if (e->op == X_SAME)
		return truth_of(val_equal(class_root(t, a), class_root(t, b)));
	return truth_of(table_get(t, a, truth_value(false)).kind == V_TRUE);
}

enum truth eval_truth(struct evaluation *v, const struct expr *e)
{
	enum truth a, b;
	struct val value;
	switch (e->op) {
	case X_FALSE:
	case X_TRUE:
		return truth_of(e->op == X_TRUE);
	case X_NOT:
		a = eval_truth(v, e->a);
		return a == TRUTH_UNKNOWN ? TRUTH_UNKNOWN : truth_of(a == TRUTH_NO);
	case X_AND:
		a = eval_truth(v, e->a);
		b = eval_truth(v, e->b);
		return a == TRUTH_NO || b == TRUTH_NO             ? TRUTH_NO
		       : a == TRUTH_UNKNOWN || b == TRUTH_UNKNOWN ? TRUTH_UNKNOWN
		                                                  : TRUTH_YES;
	case X_OR:
		a = eval_truth(v, e->a);
		b = eval_truth(v, e->b);
		return a == TRUTH_YES || b == TRUTH_YES           ? TRUTH_YES
		       : a == TRUTH_UNKNOWN || b == TRUTH_UNKNOWN ? TRUTH_UNKNOWN
		                                                  : TRUTH_NO;
	case X_IN:
	case X_SAME:
		return eval_member(v, e);
	default:
		break;
	}
	if (expr_is_comparison(e->op))
		return eval_comparison(v, e);
	/* a name or state by itself */
	enum defined d = eval_value(v, e, &value);
	return d == UNKNOWN ? TRUTH_UNKNOWN : truth_of(d == DEFINED && value.kind == V_TRUE);
}

enum truth eval_commute(const struct spec_object *o, uint32_t m1, const struct val *names1,
                        uint32_t m2, const struct val *names2, struct texts *texts,
                        bool *overflow)
{
	const struct spec_condition *c = spec_condition_of(o, m1, m2);
	if (c == NULL)
		return TRUTH_NO;
	bool turned = c->methods[0] != m1;
	struct evaluation v = { .names = { turned ? names2 : names1, turned ? names1 : names2 },
		                .texts = texts };
	enum truth t = eval_truth(&v, c->formula);
	if (m1 == m2 && t != TRUTH_NO) {
		/* An asymmetric condition (spec check refuses it) must hold in both
		 * directions. */
		v.names[0] = names2;
		v.names[1] = names1;
		enum truth other = eval_truth(&v, c->formula);
		t = other == TRUTH_YES ? t : other;
	}
	*overflow |= v.overflow;
	return t;
}

/* -- effects ------------------------------------------------------------------------------- */

static enum defined eval_assigned(struct evaluation *v, const struct expr *e, enum sort sort,
                                  struct val *out)
{
	if (sort == SORT_INT) {
		out->kind = V_INT;
		return eval_integer(v, e, &out->n);
	}
	enum defined d = eval_value(v, e, out);
	if (d == DEFINED && sort == SORT_BOOL && out->kind != V_TRUE && out->kind != V_FALSE)
		return UNDEFINED;
	return d;
}

static void classes_unite(struct val_table *t, struct val a, struct val b)
{
	a = class_root(t, a);
	b = class_root(t, b);
	if (val_equal(a, b))
		return;
	if (val_less(a, b))
		table_put(t, b, a);
	else
		table_put(t, a, b);
}

static enum defined run_statement(struct abstract_state *r, struct evaluation *v,
                                  const struct statement *s)
{
	struct run_slot *slot_of = s->state == NONE ? NULL : &r->slots[s->state];
	enum sort sort =
	        s->state == NONE
	                ? SORT_VALUE
	                : g_array_index(r->o->states, struct spec_state, s->state).sort;
	struct val key = { 0 }, value = { 0 };
	if (s->kind == STATEMENT_HOLDS) {
		enum truth t = eval_truth(v, s->e);
		return t == TRUTH_UNKNOWN ? UNKNOWN : t == TRUTH_YES ? DEFINED : UNDEFINED;
	}
	enum defined d = s->kind == STATEMENT_ASSIGN ? eval_assigned(v, s->e, sort, &value)
	                                             : eval_value(v, s->e, &value);
	if (s->key != NULL)
		d = both(d, eval_value(v, s->key, &key));
	if (d != DEFINED)
		return d;
	switch (s->kind) {
	case STATEMENT_ASSIGN:
		slot_of->value = value;
		break;
	case STATEMENT_STORE:
		table_put(&slot_of->table, key, value);
		break;
	case STATEMENT_INSERT:
	case STATEMENT_REMOVE:
		table_put(&slot_of->table, value, truth_value(s->kind == STATEMENT_INSERT));
		break;
	default:
		classes_unite(&slot_of->table, key, value);
	}
	return DEFINED;
}

enum abstract_result abstract_state_step(struct abstract_state *r, uint32_t method,
                                         const struct val *names, struct texts *texts)
{
	const struct spec_method *m = spec_method_at(r->o, method);
	if (m->effect == NULL)
		return RESULT_OPEN;
	struct evaluation v = { .names = { names, NULL }, .state = r, .texts = texts };
	enum abstract_result result = RESULT_SAME;
	for (guint i = 0; i < m->effect->len; i++) {
		enum defined d =
		        run_statement(r, &v, &g_array_index(m->effect, struct statement, i));
		if (v.overflow || d == UNKNOWN)
			return RESULT_OPEN;
		if (d == UNDEFINED)
			result = RESULT_OTHER;
	}
	return result;
}

static bool is_asked(const struct evaluation *v, const struct expr *e)
{
	return e->op == X_NAME && e->side == 0 && v->names[0][e->index].kind == V_NONE;
}

/* Give the unknown names the values that `e` needs to hold. */
static void fill_unknown(struct evaluation *v, const struct expr *e, struct val *names)
{
	const struct expr *name = e->a, *other = e->b;
	struct val value;
	switch (e->op) {
	case X_AND:
		fill_unknown(v, e->a, names);
		fill_unknown(v, e->b, names);
		break;
	case X_OR:
		if (eval_truth(v, e->a) == TRUTH_NO)
			fill_unknown(v, e->b, names);
		else if (eval_truth(v, e->b) == TRUTH_NO)
			fill_unknown(v, e->a, names);
		break;
	case X_EQ:
		if (!is_asked(v, name)) {
			name = e->b;
			other = e->a;
		}
		if (is_asked(v, name) && eval_value(v, other, &value) == DEFINED)
			names[name->index] = value;
		break;
	default:
		break;
	}
}

enum abstract_result abstract_state_predict(struct abstract_state *r, uint32_t method,
                                            struct val *names, struct texts *texts)
{
	const struct spec_method *m = spec_method_at(r->o, method);
	struct evaluation v = { .names = { names, NULL }, .state = r, .texts = texts };
	enum abstract_result result = RESULT_SAME;
	for (uint32_t i = 0; i < m->results; i++)
		names[m->arguments + i] = (struct val){ .kind = V_NONE };
	if (m->effect == NULL)
		return RESULT_OPEN;
	for (guint i = 0; i < m->effect->len; i++) {
		const struct statement *s = &g_array_index(m->effect, struct statement, i);
		if (s->kind == STATEMENT_HOLDS)
			fill_unknown(&v, s->e, names);
		enum defined d = run_statement(r, &v, s);
		if (v.overflow || d == UNKNOWN)
			return RESULT_OPEN;
		if (d == UNDEFINED)
			result = RESULT_OTHER;
	}
	for (uint32_t i = 0; i < m->results; i++)
		if (names[m->arguments + i].kind == V_NONE)
			return RESULT_OPEN;
	return result;
}
