/* abstract.c - see abstract.h. */
#include "engine/explore/reversals/abstract.h"
#include "engine/base/hash.h"

#include <string.h>

struct state {
	struct abstract_state *run; /* owned */
	uint32_t object;
};

struct abstract {
	const struct history *h;
	GArray *states;      /* struct state */
	GHashTable *known;   /* object and digest -> state + 1 */
	GArray *steps;       /* struct abstract_step */
	GHashTable *stepped; /* state and call -> step + 1 */
};

static void clear_state(gpointer data)
{
	abstract_state_free(((struct state *)data)->run);
}

static void clear_step(gpointer data)
{
	g_free(((struct abstract_step *)data)->text);
}

struct abstract *abstract_new(const struct history *h)
{
	struct abstract *a = g_new(struct abstract, 1);
	a->h = h;
	a->states = g_array_new(FALSE, FALSE, sizeof(struct state));
	a->steps = g_array_new(FALSE, FALSE, sizeof(struct abstract_step));
	g_array_set_clear_func(a->states, clear_state);
	g_array_set_clear_func(a->steps, clear_step);
	a->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	a->stepped = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	return a;
}

void abstract_free(struct abstract *a)
{
	if (a == NULL)
		return;
	g_array_unref(a->states);
	g_array_unref(a->steps);
	g_hash_table_unref(a->known);
	g_hash_table_unref(a->stepped);
	g_free(a);
}

/* The number of a state; takes ownership. */
static uint32_t state_number(struct abstract *a, uint32_t object, struct abstract_state *run)
{
	uint64_t key = abstract_state_digest(run) * HASH_FACTOR + object;
	uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(a->known, &key));
	if (known > 0) {
		abstract_state_free(run);
		return known - 1;
	}
	struct state fresh = { run, object };
	g_array_append_val(a->states, fresh);
	g_hash_table_insert(a->known, g_memdup2(&key, sizeof key),
	                    GUINT_TO_POINTER(a->states->len));
	return a->states->len - 1;
}

uint32_t abstract_first(struct abstract *a, uint32_t object)
{
	struct model *m = a->h->view->model;
	return state_number(a, object,
	                    abstract_state_new(m->objects[object].type->o, &m->texts));
}

static char *result_text(const struct abstract *a, const struct val *results, uint32_t count)
{
	const struct trace *t = a->h->trace;
	GString *text = g_string_new(NULL);
	for (uint32_t k = 0; k < count; k++) {
		uint32_t value = NONE;
		if (k > 0)
			g_string_append(text, ", ");
		for (uint32_t i = 1; i < t->values_count && value == NONE; i++)
			if (val_equal(trace_val(t, i), results[k]))
				value = i;
		if (value != NONE)
			trace_append_value(t, value, text);
		else if (results[k].kind == V_INT)
			g_string_append_printf(text, "%" G_GINT64_FORMAT, results[k].n);
		else
			g_string_append(text, results[k].kind == V_NIL     ? "nil"
			                      : results[k].kind == V_TRUE  ? "true"
			                      : results[k].kind == V_FALSE ? "false"
			                                                   : "another value");
	}
	return g_string_free(text, FALSE);
}

/* Completes a step with results that the effects do not determine: they count as different in
 * each state. */
static void not_said(struct abstract_step *step, uint64_t digest)
{
	step->number = digest | 1;
	step->text = g_strdup("another value");
}

static struct abstract_step step_of(struct abstract *a, uint32_t state, uint32_t index)
{
	const struct view *v = a->h->view;
	const struct view_call *call = &g_array_index(v->calls, struct view_call, index);
	const struct state *from = &g_array_index(a->states, struct state, state);
	struct abstract_state *run = abstract_state_copy(from->run);
	struct call_scratch actual, said;
	struct call c;
	struct abstract_step step = { .next = state };
	if (!view_names(v, call, false, &c, &actual)) {
		not_said(&step, abstract_state_digest(run)); /* it never returned in the run */
		abstract_state_free(run);
		return step;
	}
	const struct spec_method *m =
	        spec_method_at(v->model->objects[call->object].type->o, c.method);
	const struct val *results = said.names[0] + m->arguments;
	memcpy(said.names[0], actual.names[0], sizeof said.names[0]);
	if (abstract_state_predict(run, c.method, said.names[0], &v->model->texts) !=
	    RESULT_SAME) {
		not_said(&step, abstract_state_digest(from->run));
		abstract_state_free(run);
		return step;
	}
	step.same = true;
	for (uint32_t k = 0; k < m->results; k++)
		step.same &= val_equal(results[k], actual.names[0][m->arguments + k]);
	step.number = history_would_return(a->h, call, results, m->results);
	step.text = result_text(a, results, m->results);
	step.next = state_number(a, from->object, run);
	return step;
}

const struct abstract_step *abstract_after(struct abstract *a, uint32_t state, uint32_t call)
{
	uint64_t key = (uint64_t)state << 32 | call;
	uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(a->stepped, &key));
	if (known == 0) {
		struct abstract_step step = step_of(a, state, call);
		g_array_append_val(a->steps, step);
		known = a->steps->len;
		g_hash_table_insert(a->stepped, g_memdup2(&key, sizeof key),
		                    GUINT_TO_POINTER(known));
	}
	return &g_array_index(a->steps, struct abstract_step, known - 1);
}
