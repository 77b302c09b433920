/*
 * commuting.c - the invocations of a run that commute by the specification, and whether its
 * effects agree with the returned results.
 */
#include "engine/explore/objects/view.h"

#include <string.h>

static const char *method_name(const struct trace *t, uint32_t call)
{
	return trace_string(t, t->invocations[t->events[call].aux].method);
}

char *view_call_text(const struct view *v, const struct view_call *call)
{
	if (call->scope == NULL)
		return g_strdup("a look inside");
	struct call c = { .event = call->scope->call, .object = call->object };
	char *text, *name = model_object_name(v->model, call->object), *both;
	if (call->scope->ret == NONE)
		text = g_strdup(method_name(v->recorded, call->scope->call));
	else
		text = model_call_text(v->model, &c);
	both = g_strdup_printf("%s.%s", name, text);
	g_free(name);
	g_free(text);
	return both;
}

bool view_names(const struct view *v, const struct view_call *call, bool open, struct call *c,
                struct call_scratch *scratch)
{
	const struct model_type *type = v->model->objects[call->object].type;
	bool ended = model_invocation(v->model, call->scope->call, c, scratch);
	if (!ended || c->method == NONE)
		return false;
	const struct spec_method *method = spec_method_at(type->o, c->method);
	for (uint32_t i = 0; open && i < method->results; i++)
		scratch->names[0][method->arguments + i] = (struct val){ .kind = V_NONE };
	return true;
}

bool view_commute(const struct view *v, const struct view_call *a, const struct view_call *b,
                  bool open)
{
	struct call_scratch scratch[2];
	struct call calls[2];
	bool overflow = false;
	if (a->object == NONE || b->object == NONE || a->object != b->object)
		return true;
	if (a->scope == NULL || b->scope == NULL) {
		const struct scope *s = a->scope ? a->scope : b->scope;
		return s == NULL || !s->writes;
	}
	if (!view_names(v, a, false, &calls[0], &scratch[0]) ||
	    !view_names(v, b, open, &calls[1], &scratch[1]))
		return false;
	return model_commute(v->model, &calls[0], &calls[1], &overflow) && !overflow;
}

/* Does the invocation return the result of the effects in that state? */
static void run_effects(struct view *v, struct abstract_state **states,
                        const struct view_call *call)
{
	struct call_scratch scratch;
	struct call c;
	struct model *m = v->model;
	if (call->scope == NULL || v->contradiction ||
	    !view_names(v, call, false, &c, &scratch))
		return;
	struct abstract_state **state = &states[call->object];
	if (*state == NULL)
		*state = abstract_state_new(m->objects[call->object].type->o, &m->texts);
	if (abstract_state_step(*state, c.method, c.names, &m->texts) != RESULT_OTHER)
		return;
	char *text = view_call_text(v, call);
	v->contradiction_at = trace_location_name(v->recorded, call->scope->call);
	v->contradiction =
	        g_strdup_printf("%s contradicts the effects of %s, at %s", text,
	                        m->objects[call->object].type->o->name, v->contradiction_at);
	v->contradicted = call->object;
	g_free(text);
}

/* Does every method have effects? */
static bool all_have_effects(const struct spec_object *o)
{
	for (guint i = 0; i < o->methods->len; i++)
		if (spec_method_at(o, i)->effect == NULL)
			return false;
	return true;
}

/* Do the effects determine the call's results, as returned? */
static bool is_predicted(struct view *v, struct abstract_state *state,
                         const struct view_call *call)
{
	struct call_scratch actual, said;
	struct call c;
	if (call->scope->ret == NONE) /* still running when the run ended */
		return true;
	if (!view_names(v, call, false, &c, &actual))
		return false;
	const struct spec_method *method =
	        spec_method_at(v->model->objects[call->object].type->o, c.method);
	memcpy(said.names[0], actual.names[0], sizeof said.names[0]);
	if (abstract_state_predict(state, c.method, said.names[0], &v->model->texts) !=
	    RESULT_SAME)
		return false;
	for (uint32_t i = 0; i < method->results; i++)
		if (!val_equal(said.names[0][method->arguments + i],
		               actual.names[0][method->arguments + i]))
			return false;
	return true;
}

static void not_by_results(struct view *v, uint32_t object)
{
	v->by_results[object] = false;
	v->unruly = object;
}

/* An internal access orders an object's writing invocations. */
static bool looked_at_before(const struct view *v, const struct view_call *call,
                             const bool *looked)
{
	return call->scope->writes && looked[call->object];
}

void view_find_results(struct view *v, const struct view_rules *rules)
{
	uint32_t objects = (uint32_t)v->recorded->instances_count;
	struct abstract_state **states = g_new0(struct abstract_state *, objects + 1);
	bool *looked = g_new0(bool, objects + 1);
	v->by_results = g_new0(bool, objects + 1);
	for (uint32_t i = 0; i < objects; i++) {
		if (!model_specified(v->model, i) ||
		    !all_have_effects(v->model->objects[i].type->o))
			continue;
		char *key = scopes_object_key(v->recorded, v->model, i);
		v->by_results[i] = !g_hash_table_contains(rules->ordered, key);
		states[i] = abstract_state_new(v->model->objects[i].type->o, &v->model->texts);
		g_free(key);
	}
	for (guint i = 0; i < v->calls->len; i++) {
		const struct view_call *call = &g_array_index(v->calls, struct view_call, i);
		if (call->object == NONE)
			continue;
		if (call->scope == NULL)
			looked[call->object] = true;
		else if (v->by_results[call->object] &&
		         (looked_at_before(v, call, looked) ||
		          !is_predicted(v, states[call->object], call)))
			not_by_results(v, call->object);
	}
	for (uint32_t i = 0; i < objects; i++)
		abstract_state_free(states[i]);
	g_free(states);
	g_free(looked);
}

void view_order_calls(struct view *v, GArray *edges)
{
	uint32_t objects = (uint32_t)v->recorded->instances_count;
	struct abstract_state **states = g_new0(struct abstract_state *, objects + 1);
	for (guint j = 0; j < v->calls->len; j++) {
		struct view_call *b = &g_array_index(v->calls, struct view_call, j);
		run_effects(v, states, b);
		for (guint i = 0; i < j; i++) {
			const struct view_call *a =
			        &g_array_index(v->calls, struct view_call, i);
			bool results = view_by_results(v, a) && view_by_results(v, b);
			if (results || view_commute(v, a, b, false))
				continue;
			g_array_append_val(b->before, i);
			struct must_edge edge = { a->event, b->event, NONE, MUST_MESSAGE };
			if (a->thread != b->thread)
				g_array_append_val(edges, edge);
		}
	}
	for (uint32_t i = 0; i < objects; i++)
		abstract_state_free(states[i]);
	g_free(states);
}

/* "counter1.inc() by T1 at a.c:10 and counter1.inc() by T2 at a.c:10: true" */
static char *pair_text(const struct view *v, const struct view_call *a,
                       const struct view_call *b)
{
	struct call_scratch scratch[2];
	struct call calls[2];
	const struct view_call *sides[2] = { a, b };
	GString *text = g_string_new(NULL);
	for (int i = 0; i < 2; i++) {
		char *call = view_call_text(v, sides[i]);
		view_names(v, sides[i], false, &calls[i], &scratch[i]);
		g_string_append_printf(text, "%s%s by %s at %s", i ? " and " : "", call,
		                       trace_thread_name(v->recorded, sides[i]->thread),
		                       trace_location_name(v->recorded, sides[i]->scope->call));
		g_free(call);
	}
	char *condition = model_condition_text(v->model, &calls[0], &calls[1]);
	g_string_append_printf(text, ": %s", condition);
	g_free(condition);
	return g_string_free(text, FALSE);
}

uint64_t view_commuting_pairs(const struct view *v, GPtrArray *texts, guint most)
{
	if (v->calls == NULL || v->calls->len == 0)
		return 0;
	struct fork_order *order = fork_order_new(v->recorded);
	uint64_t count = 0;
	for (guint j = 0; j < v->calls->len; j++) {
		const struct view_call *b = &g_array_index(v->calls, struct view_call, j);
		for (guint i = 0; i < j && b->scope; i++) {
			const struct view_call *a =
			        &g_array_index(v->calls, struct view_call, i);
			if (a->scope == NULL || a->object != b->object ||
			    a->thread == b->thread || !(a->scope->writes || b->scope->writes) ||
			    fork_ordered(order, a->scope->call, b->scope->call) ||
			    !view_commute(v, a, b, false))
				continue;
			if (texts->len < most)
				g_ptr_array_add(texts, pair_text(v, a, b));
			count++;
		}
	}
	fork_order_free(order);
	return count;
}
