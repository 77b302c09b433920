/*
 * smt_encode.c - a query's constraints in difference logic, for Z3.
 *
 * Each event in a constraint has an integer (its position) and a boolean (is it included),
 * related by causal pasts: predecessors of an included event are included and earlier. Other
 * events have no variables: program order, must-order and observation are contained in the
 * causal pasts. Each constraint is guarded by a boolean, so that an unsatisfiable core names
 * constraints.
 */
#include "engine/base/arrays.h"
#include "engine/base/search.h"
#include "engine/predict/smt/smt_private.h"

#include <z3.h>

struct node {
	uint32_t event;
	Z3_ast order;  /* integer */
	Z3_ast in;     /* boolean; a constant if known */
	bool fixed;    /* `in` is known */
	bool is_in;    /* known, or in the last model */
	int64_t place; /* in the last model */
};

struct source { /* --values: read sees write */
	uint32_t read, write;
	Z3_ast chosen;
};

struct encoder {
	Z3_context context;
	Z3_sort integer, boolean;
	unsigned uses; /* formulas live as long as the context, which is therefore renewed from
	                * time to time */
	bool general;  /* counting is used: no difference logic */
};

struct encoding {
	struct smt_query *q;
	struct encoder *encoder;
	Z3_context context;
	Z3_solver solver;
	GArray *nodes;       /* struct node */
	GHashTable *node_of; /* event -> index + 1 */
	GArray **by_thread;  /* uint32_t indices of nodes, by position; NULL: none */
	GArray *sources;     /* struct source */
	GArray *guards;      /* Z3_ast by clause */
	guint taken;         /* number of clauses given to the solver */
};

static void on_error(Z3_context context, Z3_error_code code)
{
	/* Every result is checked where it is used. */
}

static void open_context(struct encoder *e)
{
	Z3_config config = Z3_mk_config();

	e->context = Z3_mk_context(config);
	Z3_del_config(config);
	Z3_set_error_handler(e->context, on_error);
	e->integer = Z3_mk_int_sort(e->context);
	e->boolean = Z3_mk_bool_sort(e->context);
	e->uses = 0;
}

void *encoder_new(const struct smt *s)
{
	struct encoder *e = g_new0(struct encoder, 1);

	e->general = s->has_empty;
	return e;
}

void encoder_free(void *encoder)
{
	struct encoder *e = encoder;

	if (e == NULL)
		return;
	if (e->context != NULL)
		Z3_del_context(e->context);
	g_free(e);
}

/* A limit of steps is free, one of time starts a thread for each check: only used when the
 * steps do not suffice. */
enum { STEPS = 400000 };

static void set_limit(struct encoding *x, unsigned steps, unsigned milliseconds)
{
	Z3_params p = Z3_mk_params(x->context);
	Z3_symbol names[] = { Z3_mk_string_symbol(x->context, "rlimit"),
		              Z3_mk_string_symbol(x->context, "timeout"),
		              Z3_mk_string_symbol(x->context, "ctrl_c"),
		              Z3_mk_string_symbol(x->context, "auto_config"),
		              Z3_mk_string_symbol(x->context, "arith.solver") };

	Z3_params_inc_ref(x->context, p);
	Z3_params_set_uint(x->context, p, names[0], steps);
	Z3_params_set_uint(x->context, p, names[1], milliseconds);
	Z3_params_set_bool(x->context, p, names[2], false);
	if (!x->encoder->general) { /* difference logic, by Bellman and Ford */
		Z3_params_set_bool(x->context, p, names[3], false);
		Z3_params_set_uint(x->context, p, names[4], 1);
	}
	Z3_solver_set_params(x->context, x->solver, p);
	Z3_params_dec_ref(x->context, p);
}

struct encoding *encoding_new(struct smt_query *q)
{
	struct encoding *x = g_new0(struct encoding, 1);
	struct encoder *e = q->s->encoder;

	if (e->context != NULL && ++e->uses > 500) {
		Z3_del_context(e->context);
		e->context = NULL;
	}
	if (e->context == NULL)
		open_context(e);
	x->q = q;
	x->encoder = e;
	x->context = e->context;
	x->solver = Z3_mk_simple_solver(x->context);
	Z3_solver_inc_ref(x->context, x->solver);
	set_limit(x, STEPS, UINT_MAX);
	x->nodes = g_array_new(FALSE, FALSE, sizeof(struct node));
	x->node_of = g_hash_table_new(NULL, NULL);
	x->by_thread = g_new0(GArray *, q->s->threads + 1);
	x->sources = g_array_new(FALSE, FALSE, sizeof(struct source));
	x->guards = g_array_new(FALSE, FALSE, sizeof(Z3_ast));
	return x;
}

void encoding_free(struct encoding *x)
{
	if (x == NULL)
		return;
	Z3_solver_dec_ref(x->context, x->solver);
	g_array_free(x->nodes, TRUE);
	g_hash_table_destroy(x->node_of);
	arrays_free(x->by_thread, x->q->s->threads);
	g_array_free(x->sources, TRUE);
	g_array_free(x->guards, TRUE);
	g_free(x);
}

static struct node *node_at(struct encoding *x, uint32_t index)
{
	return &g_array_index(x->nodes, struct node, index);
}

static Z3_ast truth(struct encoding *x, bool value)
{
	return value ? Z3_mk_true(x->context) : Z3_mk_false(x->context);
}

static Z3_ast either(struct encoding *x, Z3_ast a, Z3_ast b)
{
	return Z3_mk_or(x->context, 2, (Z3_ast[]){ a, b });
}

static Z3_ast both(struct encoding *x, Z3_ast a, Z3_ast b)
{
	return Z3_mk_and(x->context, 2, (Z3_ast[]){ a, b });
}

static void claim(struct encoding *x, Z3_ast formula)
{
	Z3_solver_assert(x->context, x->solver, formula);
}

/* `f` needs `e`: e is included if f is, and earlier. */
static void tie(struct encoding *x, const struct node *e, const struct node *f)
{
	claim(x, Z3_mk_lt(x->context, e->order, f->order));
	if ((f->fixed && f->is_in) || (e->fixed && e->is_in))
		return;
	claim(x, Z3_mk_implies(x->context, f->in, e->in));
}

static struct node *listed_at(struct encoding *x, const GArray *list, guint k)
{
	return node_at(x, g_array_index(list, uint32_t, k));
}

/* Relate a new node to its nearest neighbours in each thread; others follow. */
static void tie_all(struct encoding *x, uint32_t index)
{
	const struct smt_query *q = x->q;
	uint32_t event = node_at(x, index)->event;

	for (uint32_t u = 0; u < q->s->threads; u++) {
		GArray *list = x->by_thread[u];
		guint count = list == NULL ? 0 : list->len;
		/* the number of nodes that the new one needs, and the first that needs the
		 * new one */
		guint needed = search_end(k, 0u, count,
		                          query_has(q, event, listed_at(x, list, k)->event));
		guint first = search_end(k, needed, count,
		                         !query_has(q, listed_at(x, list, k)->event, event));

		if (needed > 0)
			tie(x, listed_at(x, list, needed - 1), node_at(x, index));
		if (first < count)
			tie(x, node_at(x, index), listed_at(x, list, first));
	}
}

static void list_node(struct encoding *x, uint32_t index)
{
	const struct trace *t = x->q->s->t;
	uint32_t event = node_at(x, index)->event;
	GArray **list = &x->by_thread[t->events[event].thread];
	guint at;

	if (*list == NULL)
		*list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (at = (*list)->len; at > 0; at--) {
		if (node_at(x, g_array_index(*list, uint32_t, at - 1))->event < event)
			break;
	}
	g_array_insert_val(*list, at, index);
}

static uint32_t node_of(struct encoding *x, uint32_t event)
{
	gpointer known = g_hash_table_lookup(x->node_of, GUINT_TO_POINTER(event));
	struct node n = { .event = event };
	uint32_t index = x->nodes->len;

	if (known != NULL)
		return GPOINTER_TO_UINT(known) - 1;
	n.order = Z3_mk_const(x->context, Z3_mk_int_symbol(x->context, (int)(2 * event)),
	                      x->encoder->integer);
	n.is_in = cut_has(x->q->s->t, x->q->base, event);
	n.fixed = n.is_in || query_never(x->q, event);
	n.in = n.fixed ? truth(x, n.is_in)
	               : Z3_mk_const(x->context,
	                             Z3_mk_int_symbol(x->context, (int)(2 * event + 1)),
	                             x->encoder->boolean);
	g_array_append_val(x->nodes, n);
	g_hash_table_insert(x->node_of, GUINT_TO_POINTER(event), GUINT_TO_POINTER(index + 1));
	tie_all(x, index);
	list_node(x, index);
	return index;
}

static Z3_ast is_in(struct encoding *x, uint32_t event)
{
	return node_at(x, node_of(x, event))->in;
}

static Z3_ast is_out(struct encoding *x, uint32_t event)
{
	return Z3_mk_not(x->context, is_in(x, event));
}

/* `e` before `f`; unconstrained if neither is included. Constant if decided by causal past. */
static Z3_ast is_before(struct encoding *x, uint32_t e, uint32_t f)
{
	uint32_t i = node_of(x, e), j = node_of(x, f);

	if (e == f || query_has(x->q, e, f))
		return truth(x, false);
	if (query_has(x->q, f, e))
		return truth(x, true);
	return Z3_mk_lt(x->context, node_at(x, i)->order, node_at(x, j)->order);
}

/* The section of `a` is closed before the acquire `b`. */
static Z3_ast section_before(struct encoding *x, uint32_t a, uint32_t b)
{
	uint32_t release = x->q->s->t->index->partner[a];

	if (release == NONE || query_never(x->q, release) || query_has(x->q, a, b))
		return truth(x, false);
	return both(x, is_in(x, release), is_before(x, release, b));
}

static Z3_ast encode_sections(struct encoding *x, const uint32_t *e)
{
	Z3_ast parts[] = { is_out(x, e[0]), is_out(x, e[1]), section_before(x, e[0], e[1]),
		           section_before(x, e[1], e[0]) };

	return Z3_mk_or(x->context, 4, parts);
}

/* The boolean "r sees w"; NULL for a read without a choice. */
static Z3_ast sees(struct encoding *x, uint32_t r, uint32_t w)
{
	for (guint i = 0; i < x->sources->len; i++) {
		const struct source *s = &g_array_index(x->sources, struct source, i);

		if (s->read == r && s->write == w)
			return s->chosen;
	}
	return NULL;
}

static Z3_ast encode_read(struct encoding *x, const uint32_t *e)
{
	uint32_t r = e[0], w = e[1], other = e[2];
	Z3_ast chosen = has_choice(x->q->s, r) ? sees(x, r, w) : NULL;
	Z3_ast parts[] = { is_out(x, r), is_out(x, other), is_before(x, r, other),
		           w == NONE ? truth(x, false) : is_before(x, other, w),
		           chosen == NULL ? truth(x, false) : Z3_mk_not(x->context, chosen) };

	return Z3_mk_or(x->context, 5, parts);
}

static void add_source(struct encoding *x, uint32_t r, uint32_t w)
{
	struct source s = { r, w, Z3_mk_fresh_const(x->context, "sees", x->encoder->boolean) };

	if (w != NONE)
		claim(x, Z3_mk_implies(x->context, s.chosen,
		                       both(x, is_in(x, w), is_before(x, w, r))));
	g_array_append_val(x->sources, s);
}

static Z3_ast encode_source(struct encoding *x, const uint32_t *e)
{
	const struct smt *s = x->q->s;
	uint32_t r = e[0], v = event_variables(s->t, &s->t->events[r]).first;
	struct event_list list = event_list_at(&s->t->index->variable_events, v);
	uint32_t seen = seen_write(s->t, r, v);
	guint first = x->sources->len;

	if (may_see(s, r, v, seen, NONE))
		add_source(x, r, NONE);
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t w = list.items[i];

		if (w != r && op_writes(s->t->events[w].op) && may_see(s, r, v, seen, w) &&
		    !query_never(x->q, w) && !query_has(x->q, w, r))
			add_source(x, r, w);
	}
	Z3_ast any = is_out(x, r);
	for (guint i = first; i < x->sources->len; i++)
		any = either(x, any, g_array_index(x->sources, struct source, i).chosen);
	return any;
}

static Z3_ast encode_condition(struct encoding *x, const uint32_t *e)
{
	Z3_ast parts[] = { is_out(x, e[0]), is_out(x, e[1]), is_out(x, e[2]),
		           is_before(x, e[0], e[1]) };

	return Z3_mk_or(x->context, 4, parts);
}

static Z3_ast encode_try(struct encoding *x, const uint32_t *e)
{
	const struct smt_query *q = x->q;
	g_autoptr(GArray) sections = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	Z3_ast any = is_out(x, e[0]);

	tries_sections(q->s->tries, e[0], sections);
	for (guint i = 0; i < sections->len; i++) {
		uint32_t a = g_array_index(sections, uint32_t, i);
		uint32_t r = q->s->t->index->partner[a];

		/* in every answer the sections come after the try, or ended before it */
		if (query_never(q, a) || query_has(q, a, e[0]) ||
		    (r != NONE && query_has(q, e[0], r)))
			continue;
		Z3_ast inside = both(x, is_in(x, a), is_before(x, a, e[0]));
		if (r != NONE)
			inside =
			        both(x, inside, either(x, is_out(x, r), is_before(x, e[0], r)));
		any = either(x, any, inside);
	}
	return any;
}

/* count + posts before - takes before <= 0 (it is never negative). */
static Z3_ast encode_empty(struct encoding *x, const uint32_t *e)
{
	const struct trace *t = x->q->s->t;
	uint32_t f = e[0], object = t->events[f].target;
	struct event_list list = event_list_at(&t->index->object_events, object);
	g_autoptr(GArray) terms = g_array_new(FALSE, FALSE, sizeof(Z3_ast));
	g_autoptr(GArray) weights = g_array_new(FALSE, FALSE, sizeof(int));

	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t p = list.items[i];
		int weight = t->events[p].op == OP_POST ? 1 : -1;

		if (!op_count(t->events[p].op) || query_never(x->q, p))
			continue;
		Z3_ast before = both(x, is_in(x, p), is_before(x, p, f));
		g_array_append_val(terms, before);
		g_array_append_val(weights, weight);
	}
	Z3_ast result =
	        Z3_mk_pble(x->context, terms->len, (const Z3_ast *)(void *)terms->data,
	                   (const int *)(void *)weights->data, -t->objects[object].count);
	return either(x, is_out(x, f), result);
}

static Z3_ast encode_atoms(struct encoding *x, const uint32_t *e)
{
	Z3_ast any = truth(x, false);

	for (uint32_t i = e[0]; i < e[0] + e[1]; i++) {
		const struct smt_atom *a = &g_array_index(x->q->atoms, struct smt_atom, i);
		Z3_ast one;

		if (a->kind == ATOM_BEFORE)
			one = both(x, both(x, is_in(x, a->e), is_in(x, a->f)),
			           is_before(x, a->e, a->f));
		else
			one = a->kind == ATOM_IN ? is_in(x, a->e) : is_out(x, a->e);
		any = either(x, any, one);
	}
	return any;
}

static Z3_ast (*const encoders[])(struct encoding *x, const uint32_t *e) = {
	[CLAUSE_SECTIONS] = encode_sections, [CLAUSE_READ] = encode_read,
	[CLAUSE_SOURCE] = encode_source,     [CLAUSE_CONDITION] = encode_condition,
	[CLAUSE_TRY] = encode_try,           [CLAUSE_EMPTY] = encode_empty,
	[CLAUSE_ATOMS] = encode_atoms,
};

static void take_clauses(struct encoding *x)
{
	if (x->taken == 0) {
		for (guint i = 0; i < x->q->edges->len; i++) {
			const struct order_edge *e =
			        &g_array_index(x->q->edges, struct order_edge, i);

			claim(x, is_before(x, e->before, e->after));
		}
	}
	for (; x->taken < x->q->clauses->len; x->taken++) {
		const struct clause *c = &g_array_index(x->q->clauses, struct clause, x->taken);
		Z3_ast guard = Z3_mk_fresh_const(x->context, "c", x->encoder->boolean);

		claim(x, Z3_mk_implies(x->context, guard, encoders[c->kind](x, c->e)));
		g_array_append_val(x->guards, guard);
	}
}

static bool model_says(struct encoding *x, Z3_model m, Z3_ast a)
{
	Z3_ast value;

	return Z3_model_eval(x->context, m, a, true, &value) &&
	       Z3_get_bool_value(x->context, value) == Z3_L_TRUE;
}

static void read_nodes(struct encoding *x, Z3_model m)
{
	struct smt_query *q = x->q;

	for (uint32_t u = 0; u < q->s->threads; u++)
		q->cut[u] = q->base[u];
	for (guint i = 0; i < x->nodes->len; i++) {
		struct node *n = node_at(x, i);
		Z3_ast value;

		if (!Z3_model_eval(x->context, m, n->order, true, &value) ||
		    !Z3_get_numeral_int64(x->context, value, &n->place))
			n->place = 0;
		if (!n->fixed)
			n->is_in = model_says(x, m, n->in);
		if (n->is_in && !query_unobserved(q, n->event))
			past_join(q->s->past, n->event, q->cut);
	}
}

static const struct node *find_node(struct encoding *x, uint32_t event)
{
	return node_at(x, node_of(x, event));
}

static void choose(struct encoding *x, uint32_t before, uint32_t after)
{
	struct order_edge e = { before, after };

	g_array_append_val(x->q->chosen, e);
}

static bool earlier(struct encoding *x, uint32_t e, uint32_t f)
{
	return find_node(x, e)->place < find_node(x, f)->place;
}

static bool there(struct encoding *x, uint32_t e)
{
	return find_node(x, e)->is_in;
}

static void choose_section(struct encoding *x, const uint32_t *e)
{
	const struct trace_index *index = x->q->s->t->index;
	uint32_t first = index->partner[e[0]], second = index->partner[e[1]];

	if (!there(x, e[0]) || !there(x, e[1]))
		return;
	if (first != NONE && !query_never(x->q, first) && there(x, first) &&
	    earlier(x, first, e[1]))
		choose(x, first, e[1]);
	else if (second != NONE)
		choose(x, second, e[0]);
}

static void choose_read(struct encoding *x, const uint32_t *e)
{
	const struct smt_query *q = x->q;
	uint32_t r = e[0], w = e[1], other = e[2];

	if (!there(x, r) || !there(x, other))
		return;
	if (has_choice(q->s, r) &&
	    g_hash_table_lookup(q->sources, GUINT_TO_POINTER(r + 1)) != GUINT_TO_POINTER(w + 1))
		return;
	if (earlier(x, r, other))
		choose(x, r, other);
	else
		choose(x, other, w);
}

static void choose_try(struct encoding *x, const uint32_t *e)
{
	const struct smt_query *q = x->q;
	g_autoptr(GArray) sections = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	tries_sections(q->s->tries, e[0], sections);
	for (guint i = 0; i < sections->len && there(x, e[0]); i++) {
		uint32_t a = g_array_index(sections, uint32_t, i);
		uint32_t r = q->s->t->index->partner[a];

		if (query_never(q, a) || query_has(q, a, e[0]) ||
		    (r != NONE && query_has(q, e[0], r)) || !there(x, a) ||
		    !earlier(x, a, e[0]) || (r != NONE && there(x, r) && !earlier(x, e[0], r)))
			continue;
		choose(x, a, e[0]);
		if (r != NONE && there(x, r))
			choose(x, e[0], r);
		break;
	}
}

static void choose_empty(struct encoding *x, const uint32_t *e)
{
	const struct trace *t = x->q->s->t;
	struct event_list list =
	        event_list_at(&t->index->object_events, t->events[e[0]].target);

	if (!there(x, e[0]))
		return;
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t p = list.items[i];

		if (!op_count(t->events[p].op) || query_never(x->q, p) || !there(x, p))
			continue;
		if (earlier(x, p, e[0]))
			choose(x, p, e[0]);
		else
			choose(x, e[0], p);
	}
}

static void choose_atoms(struct encoding *x, const uint32_t *e)
{
	for (uint32_t i = e[0]; i < e[0] + e[1]; i++) {
		const struct smt_atom *a = &g_array_index(x->q->atoms, struct smt_atom, i);

		if (a->kind != ATOM_BEFORE) {
			if (there(x, a->e) == (a->kind == ATOM_IN))
				return;
		} else if (there(x, a->e) && there(x, a->f) && earlier(x, a->e, a->f)) {
			choose(x, a->e, a->f);
			return;
		}
	}
}

static void read_choices(struct encoding *x, Z3_model m)
{
	struct smt_query *q = x->q;

	g_array_set_size(q->chosen, 0);
	if (q->sources != NULL)
		g_hash_table_remove_all(q->sources);
	for (guint i = 0; i < x->sources->len; i++) {
		const struct source *s = &g_array_index(x->sources, struct source, i);
		gpointer key = GUINT_TO_POINTER(s->read + 1);

		if (!there(x, s->read) || g_hash_table_contains(q->sources, key) ||
		    !model_says(x, m, s->chosen))
			continue;
		g_hash_table_insert(q->sources, key, GUINT_TO_POINTER(s->write + 1));
		if (s->write != NONE)
			choose(x, s->write, s->read);
	}
	for (guint i = 0; i < q->edges->len; i++) {
		const struct order_edge *e = &g_array_index(q->edges, struct order_edge, i);

		choose(x, e->before, e->after);
	}
	for (guint i = 0; i < q->clauses->len; i++) {
		const struct clause *c = &g_array_index(q->clauses, struct clause, i);

		switch (c->kind) {
		case CLAUSE_SECTIONS:
			choose_section(x, c->e);
			break;
		case CLAUSE_READ:
			choose_read(x, c->e);
			break;
		case CLAUSE_CONDITION:
			if (there(x, c->e[0]) && there(x, c->e[1]) && there(x, c->e[2]))
				choose(x, c->e[0], c->e[1]);
			break;
		case CLAUSE_TRY:
			choose_try(x, c->e);
			break;
		case CLAUSE_EMPTY:
			choose_empty(x, c->e);
			break;
		case CLAUSE_ATOMS:
			choose_atoms(x, c->e);
			break;
		}
	}
	query_sort_chosen(q);
}

int encoding_check(struct encoding *x, unsigned milliseconds)
{
	take_clauses(x);
	Z3_lbool answer = Z3_solver_check_assumptions(x->context, x->solver, x->guards->len,
	                                              (const Z3_ast *)(void *)x->guards->data);
	if (answer == Z3_L_UNDEF) {
		set_limit(x, 0, milliseconds);
		answer = Z3_solver_check_assumptions(x->context, x->solver, x->guards->len,
		                                     (const Z3_ast *)(void *)x->guards->data);
		set_limit(x, STEPS, UINT_MAX);
	}
	if (answer != Z3_L_TRUE)
		return answer == Z3_L_FALSE ? 0 : -1;
	Z3_model model = Z3_solver_get_model(x->context, x->solver);
	if (model == NULL)
		return -1;
	Z3_model_inc_ref(x->context, model);
	read_nodes(x, model);
	read_choices(x, model);
	Z3_model_dec_ref(x->context, model);
	return 1;
}

uint32_t encoding_first_out(const struct encoding *x)
{
	uint32_t first = NONE;

	for (guint i = 0; i < x->nodes->len; i++) {
		const struct node *n = &g_array_index(x->nodes, struct node, i);

		if (!n->is_in)
			first = MIN(first, n->event);
	}
	return first;
}

static void add_step(struct encoding *x, const struct clause *c, struct path *path)
{
	const struct trace *t = x->q->s->t;

	switch (c->kind) { /* a caller's atoms are no events */
	case CLAUSE_SECTIONS:
		path_add(path, c->e[0], c->e[1], STEP_CLOSURE_LOCK, t->events[c->e[0]].target);
		break;
	case CLAUSE_READ:
		path_add(path, c->e[2], c->e[0], STEP_NOT_BETWEEN, c->e[1]);
		break;
	case CLAUSE_CONDITION:
		path_add(path, c->e[0], c->e[1], STEP_CONSTRAINT, NONE);
		break;
	case CLAUSE_ATOMS:
		break; /* the client's own */
	default:
		path_add(path, c->e[0], c->e[0], STEP_CONSTRAINT, NONE);
	}
}

void encoding_proof(struct encoding *x, struct path *path)
{
	Z3_ast_vector core = Z3_solver_get_unsat_core(x->context, x->solver);

	Z3_ast_vector_inc_ref(x->context, core);
	for (guint i = 0; i < x->guards->len; i++) {
		Z3_ast guard = g_array_index(x->guards, Z3_ast, i);

		for (unsigned j = 0; j < Z3_ast_vector_size(x->context, core); j++) {
			if (Z3_ast_vector_get(x->context, core, j) == guard) {
				add_step(x, &g_array_index(x->q->clauses, struct clause, i),
				         path);
				break;
			}
		}
	}
	Z3_ast_vector_dec_ref(x->context, core);
}
