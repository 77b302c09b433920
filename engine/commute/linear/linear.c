/*
 * linear.c - see linear.h: the sequential object, and the set of configurations.
 */
#include "engine/commute/linear/linear.h"

#include "engine/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { REFUSED = NONE, UNCLEAR = NONE - 1 };

/* The invocation that a configuration took last, and the configuration before. */
struct node {
	uint32_t before, call, depth;
};

struct linear {
	const struct linear_history *h;
	uint64_t left;     /* of the budget */
	GPtrArray *states; /* struct abstract_state * */
	GHashTable *known; /* uint64_t: digest -> state + 1 */
	GHashTable *after; /* uint64_t: state and call -> state + 1, or REFUSED, UNCLEAR */
	GArray *nodes;     /* struct node, or NULL */
	uint32_t deepest;  /* of the nodes, or NONE */
	struct val *names; /* scratch: of one invocation */
	GHashTable *seen;  /* scratch: configurations, by linear_config */
	GArray *work;      /* scratch: linear_config */
};

static guint config_hash(gconstpointer p)
{
	const struct linear_config *c = p;
	return hash_top(hash_join(hash_join(0, c->taken), c->state));
}

static gboolean config_equal(gconstpointer a, gconstpointer b)
{
	const struct linear_config *x = a, *y = b;
	return x->taken == y->taken && x->state == y->state;
}

static void free_state(gpointer state)
{
	abstract_state_free(state);
}

static uint32_t most_names(const struct spec_object *o)
{
	uint32_t most = 1;
	for (guint i = 0; i < o->methods->len; i++) {
		const struct spec_method *m = spec_method_at(o, i);
		most = MAX(most, m->arguments + m->results);
	}
	return most;
}

/* The number of a state; takes ownership. */
static uint32_t state_number(struct linear *l, struct abstract_state *run)
{
	uint64_t digest = abstract_state_digest(run);
	uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(l->known, &digest));
	if (known > 0) {
		abstract_state_free(run);
		return known - 1;
	}
	g_ptr_array_add(l->states, run);
	g_hash_table_insert(l->known, g_memdup2(&digest, sizeof digest),
	                    GUINT_TO_POINTER(l->states->len));
	return l->states->len - 1;
}

struct linear *linear_new(const struct linear_history *h, uint64_t most)
{
	struct linear *l = g_new0(struct linear, 1);
	l->h = h;
	l->left = most;
	l->deepest = NONE;
	l->states = g_ptr_array_new_with_free_func(free_state);
	l->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	l->after = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	l->names = g_new0(struct val, most_names(h->o));
	l->seen = g_hash_table_new_full(config_hash, config_equal, g_free, NULL);
	l->work = g_array_new(FALSE, FALSE, sizeof(struct linear_config));
	state_number(l, abstract_state_new(h->o, h->texts));
	return l;
}

void linear_free(struct linear *l)
{
	if (l == NULL)
		return;
	g_ptr_array_unref(l->states);
	g_hash_table_unref(l->known);
	g_hash_table_unref(l->after);
	g_hash_table_unref(l->seen);
	g_array_unref(l->work);
	if (l->nodes)
		g_array_unref(l->nodes);
	g_free(l->names);
	g_free(l);
}

struct linear_config linear_first(struct linear *l)
{
	(void)l;
	return (struct linear_config){ .node = NONE };
}

/* -- the sequential object ----------------------------------------------------------------- */

static enum abstract_result predict(struct linear *l, struct abstract_state *run, uint32_t call)
{
	const struct linear_call *c = &l->h->calls[call];
	memcpy(l->names, c->names,
	       sizeof *l->names * spec_method_at(l->h->o, c->method)->arguments);
	return abstract_state_predict(run, c->method, l->names, l->h->texts);
}

static uint32_t apply(struct linear *l, uint32_t state, uint32_t call)
{
	const struct linear_call *c = &l->h->calls[call];
	struct abstract_state *run = abstract_state_copy(l->states->pdata[state]);
	enum abstract_result result =
	        c->ret == NONE ? predict(l, run, call)
	                       : abstract_state_step(run, c->method, c->names, l->h->texts);
	if (result == RESULT_SAME)
		return state_number(l, run);
	abstract_state_free(run);
	return result == RESULT_OTHER ? REFUSED : UNCLEAR;
}

/* The state after the invocation, with its results. */
static uint32_t state_after(struct linear *l, uint32_t state, uint32_t call)
{
	uint64_t key = (uint64_t)state << 32 | call;
	void *known;
	if (g_hash_table_lookup_extended(l->after, &key, NULL, &known))
		return GPOINTER_TO_UINT(known);
	uint32_t next = apply(l, state, call);
	g_hash_table_insert(l->after, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(next));
	return next;
}

const struct val *linear_would_return(struct linear *l, uint32_t state, uint32_t call)
{
	struct abstract_state *run = abstract_state_copy(l->states->pdata[state]);
	enum abstract_result result = predict(l, run, call);
	abstract_state_free(run);
	return result == RESULT_SAME ? l->names : NULL;
}

uint32_t linear_state_after(struct linear *l, const uint32_t *order, uint32_t count)
{
	uint32_t state = 0;
	for (uint32_t i = 0; i < count && state < UNCLEAR; i++)
		state = state_after(l, state, order[i]);
	return state < UNCLEAR ? state : NONE;
}

/* -- configurations ------------------------------------------------------------------------ */

static uint32_t add_node(struct linear *l, uint32_t before, uint32_t call)
{
	if (l->nodes == NULL)
		return NONE;
	struct node *all = (struct node *)(void *)l->nodes->data;
	struct node node = { before, call, before == NONE ? 1 : all[before].depth + 1 };
	bool deeper = l->deepest == NONE || node.depth > all[l->deepest].depth;
	g_array_append_val(l->nodes, node);
	if (deeper)
		l->deepest = l->nodes->len - 1;
	return l->nodes->len - 1;
}

/* Adds the configuration, unless known, to those to examine. False when the budget ended. */
static bool meet(struct linear *l, struct linear_config c, uint32_t before, uint32_t call)
{
	if (g_hash_table_contains(l->seen, &c))
		return true;
	if (l->left == 0)
		return false;
	l->left--;
	c.node = call == NONE ? c.node : add_node(l, before, call);
	g_hash_table_add(l->seen, g_memdup2(&c, sizeof c));
	g_array_append_val(l->work, c);
	return true;
}

static uint64_t bit_of(const struct linear *l, uint32_t call)
{
	return UINT64_C(1) << l->h->calls[call].thread;
}

bool linear_return(struct linear *l, const GArray *in, const uint32_t *running, uint32_t count,
                   uint32_t call, GArray *out, uint32_t *unclear)
{
	bool good = true;
	g_array_set_size(l->work, 0);
	g_hash_table_remove_all(l->seen);
	for (guint i = 0; i < in->len && good; i++)
		good = meet(l, g_array_index(in, struct linear_config, i), NONE, NONE);
	for (guint i = 0; i < l->work->len && good; i++) {
		struct linear_config c = g_array_index(l->work, struct linear_config, i);
		if (c.taken & bit_of(l, call)) {
			c.taken &= ~bit_of(l, call);
			g_array_append_val(out, c);
			continue;
		}
		for (uint32_t k = 0; k < count && good; k++) {
			if (c.taken & bit_of(l, running[k]))
				continue;
			uint32_t next = state_after(l, c.state, running[k]);
			struct linear_config then = { .taken = c.taken | bit_of(l, running[k]),
				                      .state = next };
			if (next == UNCLEAR)
				*unclear = running[k];
			else if (next != REFUSED)
				good = meet(l, then, c.node, running[k]);
		}
	}
	return good;
}

/* -- one history --------------------------------------------------------------------------- */

/* A call or a return. */
struct moment {
	uint32_t at, call;
	bool returns;
};

/* At one place a call comes before a return, as an invocation may be a single event. */
static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->returns - y->returns;
}

static GArray *moments_of(const struct linear_history *h)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct moment));
	for (uint32_t i = 0; i < h->count; i++) {
		struct moment call = { h->calls[i].call, i, false },
		              ret = { h->calls[i].ret, i, true };
		g_array_append_val(all, call);
		if (ret.at != NONE)
			g_array_append_val(all, ret);
	}
	g_array_sort(all, by_time);
	return all;
}

static GArray *order_to(const struct linear *l, uint32_t node)
{
	GArray *order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	const struct node *all = (const struct node *)(void *)l->nodes->data;
	for (; node != NONE; node = all[node].before)
		g_array_prepend_val(order, all[node].call);
	return order;
}

static void remove_call(GArray *running, uint32_t call)
{
	for (guint i = 0; i < running->len; i++)
		if (g_array_index(running, uint32_t, i) == call) {
			g_array_remove_index(running, i);
			return;
		}
}

struct linear_result linear_check(const struct linear_history *h, uint64_t most, uint64_t *used)
{
	struct linear_result r = { .answer = LINEAR_YES, .failed = NONE, .unclear = NONE };
	struct linear *l = linear_new(h, most);
	l->nodes = g_array_new(FALSE, FALSE, sizeof(struct node));
	GArray *moments = moments_of(h), *running = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	GArray *now = g_array_new(FALSE, FALSE, sizeof(struct linear_config)),
	       *next = g_array_new(FALSE, FALSE, sizeof(struct linear_config));
	struct linear_config first = linear_first(l);
	g_array_append_val(now, first);
	for (guint i = 0; i < moments->len && r.answer == LINEAR_YES; i++) {
		struct moment m = g_array_index(moments, struct moment, i);
		if (!m.returns) {
			g_array_append_val(running, m.call);
			continue;
		}
		l->deepest = NONE;
		g_array_set_size(next, 0);
		if (!linear_return(l, now, (const uint32_t *)(void *)running->data,
		                   running->len, m.call, next, &r.unclear)) {
			r.answer = LINEAR_UNDECIDED;
			r.unclear = NONE;
		} else if (next->len == 0) {
			r.answer = r.unclear == NONE ? LINEAR_NO : LINEAR_UNDECIDED;
			r.failed = m.call;
		} else {
			GArray *old = now;
			now = next;
			next = old;
			remove_call(running, m.call);
		}
	}
	if (r.answer == LINEAR_NO && l->deepest == NONE)
		l->deepest = g_array_index(now, struct linear_config, 0).node;
	if (r.answer != LINEAR_UNDECIDED)
		r.order =
		        order_to(l, r.answer == LINEAR_NO
		                            ? l->deepest
		                            : g_array_index(now, struct linear_config, 0).node);
	*used += most - l->left;
	g_array_unref(moments);
	g_array_unref(running);
	g_array_unref(now);
	g_array_unref(next);
	linear_free(l);
	return r;
}

void linear_result_release(struct linear_result *r)
{
	if (r->order)
		g_array_unref(r->order);
	r->order = NULL;
}
