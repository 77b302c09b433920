/* model.c - see model.h. */
#include "engine/base/arrays.h"
#include "engine/commute/model.h"
#include "engine/trace/index.h"

#include <string.h>

/* -- values -------------------------------------------------------------------------------- */

struct val trace_val(const struct trace *t, uint32_t value)
{
	const struct value v = trace_value(t, value);
	switch (v.kind) {
	case V_INT:
		return (struct val){ .kind = V_INT, .n = v.integer };
	case V_STRING:
	case V_TOKEN:
		return (struct val){ .kind = v.kind, .n = v.string };
	case V_PAIR:
	case V_LIST:
		return (struct val){ .kind = v.kind, .n = value };
	default:
		return (struct val){ .kind = v.kind };
	}
}

static int64_t find_text(void *context, const char *text, size_t length)
{
	const struct model *m = context;
	return (int64_t)(intptr_t)g_hash_table_lookup(m->strings, text) - 1;
}

static void note_texts(struct model *m)
{
	const struct trace *t = m->t;
	m->strings = g_hash_table_new(g_str_hash, g_str_equal);
	for (uint32_t i = 0; i < t->values_count; i++) {
		const struct value v = trace_value(t, i);
		if (v.kind == V_STRING)
			g_hash_table_insert(m->strings, (char *)trace_string(t, v.string),
			                    (gpointer)(intptr_t)(v.string + 1));
	}
	texts_init(&m->texts);
	m->texts.find = find_text;
	m->texts.context = m;
}

/* -- types --------------------------------------------------------------------------------- */

static void type_free(void *type)
{
	struct model_type *t = type;
	points_free(t->points);
	g_hash_table_destroy(t->methods);
	g_free(t);
}

static const struct model_type *type_of(struct model *m, const char *name)
{
	for (guint i = 0; i < m->types->len; i++) {
		struct model_type *t = m->types->pdata[i];
		if (strcmp(t->o->name, name) == 0)
			return t;
	}
	const struct spec_object *o = specs_object(m->specs, name);
	if (o == NULL)
		return NULL;
	static const char *const builtin[][4] = { { "read", "write", "free", NULL },
		                                  { "wait", "signal", "broadcast", NULL } };
	struct model_type *t = g_new0(struct model_type, 1);
	t->o = o;
	t->points = points_new(o);
	t->methods = g_hash_table_new(NULL, NULL);
	for (int i = 0; i < 3; i++) {
		t->builtin[i] = spec_method_find(o, builtin[strcmp(name, "condvar") == 0][i]);
		/* Built-in events have no arguments, and only a hidden result. */
		if (t->builtin[i] != NONE && (spec_method_at(o, t->builtin[i])->arguments > 0 ||
		                              spec_method_at(o, t->builtin[i])->results > 1))
			t->builtin[i] = NONE;
	}
	g_ptr_array_add(m->types, t);
	return t;
}

static uint32_t method_of(const struct model *m, const struct model_type *type, uint32_t string)
{
	gpointer found = g_hash_table_lookup(type->methods, GUINT_TO_POINTER(string + 1));
	if (found == NULL) {
		uint32_t method = spec_method_find(type->o, trace_string(m->t, string));
		found = GUINT_TO_POINTER(method == NONE ? NONE : method + 1);
		g_hash_table_insert(type->methods, GUINT_TO_POINTER(string + 1), found);
	}
	return GPOINTER_TO_UINT(found) == NONE ? NONE : GPOINTER_TO_UINT(found) - 1;
}

/* Methods invoked on each instance without a type: sets of (string << 16 | number of
 * arguments). */
static GHashTable **used_methods(const struct model *m)
{
	const struct trace *t = m->t;
	GHashTable **used = g_new0(GHashTable *, t->instances_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if ((x->op != OP_ACT && x->op != OP_CALL) || event_inert(x) ||
		    t->instances[x->target].type != 0)
			continue;
		const struct invocation_part *part = &t->invocations[x->aux];
		if (used[x->target] == NULL)
			used[x->target] = g_hash_table_new(NULL, NULL);
		g_hash_table_add(used[x->target],
		                 (gpointer)((uintptr_t)part->method << 16 | part->arguments));
	}
	return used;
}

static bool has_methods(const struct model *m, const struct spec_object *o, GHashTable *used)
{
	GHashTableIter it;
	gpointer key;
	g_hash_table_iter_init(&it, used);
	while (g_hash_table_iter_next(&it, &key, NULL)) {
		uint32_t method = spec_method_find(
		        o, trace_string(m->t, (uint32_t)((uintptr_t)key >> 16)));
		if (method == NONE ||
		    spec_method_at(o, method)->arguments != ((uintptr_t)key & 0xffff))
			return false;
	}
	return true;
}

/* The type, if exactly one loaded declaration has all these methods. */
static const struct model_type *inferred_type(struct model *m, GHashTable *used)
{
	const struct spec_object *only = NULL;
	for (guint i = 0; used != NULL && i < m->specs->objects->len; i++) {
		const struct spec_object *o = m->specs->objects->pdata[i];
		if (!has_methods(m, o, used))
			continue;
		if (only != NULL)
			return NULL;
		only = o;
	}
	return only ? type_of(m, only->name) : NULL;
}

static void model_note(struct model *m, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
static void model_note(struct model *m, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	g_ptr_array_add(m->notes, g_strdup_vprintf(format, list));
	va_end(list);
}

static void type_instances(struct model *m)
{
	const struct trace *t = m->t;
	GHashTable **used = used_methods(m);
	uint32_t untyped = 0;
	g_autoptr(GHashTable) unknown = g_hash_table_new(g_str_hash, g_str_equal);
	for (uint32_t i = 0; i < t->instances_count; i++) {
		const char *name = trace_string(t, t->instances[i].type);
		m->objects[i].source = FROM_INSTANCE;
		m->objects[i].of = i;
		m->objects[i].type = *name ? type_of(m, name) : inferred_type(m, used[i]);
		if (*name && m->objects[i].type == NULL)
			g_hash_table_add(unknown, (char *)name);
		else
			untyped += m->objects[i].type == NULL && used[i] != NULL;
		if (used[i])
			g_hash_table_destroy(used[i]);
	}
	g_free(used);
	if (untyped)
		model_note(m,
		           "%u object%s without an `object` directive: no declaration, or more "
		           "than one, has all of the methods; left out",
		           untyped, plural(untyped));
	GHashTableIter it;
	gpointer name;
	g_hash_table_iter_init(&it, unknown);
	while (g_hash_table_iter_next(&it, &name, NULL))
		model_note(
		        m,
		        "no declaration of object type %s is loaded; its objects are left out",
		        (char *)name);
}

static void add_objects(struct model *m, enum object_source source, uint32_t *of, uint32_t from,
                        const struct model_type *type)
{
	for (uint32_t i = 0; i < m->t->objects_count; i++)
		if (of[i] != NONE) {
			uint32_t at = from + of[i];
			m->objects[at] = (struct model_object){ .type = type,
				                                .source = source,
				                                .of = i };
			of[i] = at;
		}
}

static void make_objects(struct model *m)
{
	const struct trace *t = m->t;
	uint32_t conditions = 0, destroyed = 0;
	m->condition_of = g_malloc((t->objects_count + 1) * sizeof(uint32_t));
	m->destroyed_of = g_malloc((t->objects_count + 1) * sizeof(uint32_t));
	memset(m->condition_of, 0xff, (t->objects_count + 1) * sizeof(uint32_t));
	memset(m->destroyed_of, 0xff, (t->objects_count + 1) * sizeof(uint32_t));
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (event_inert(x) || op_table[x->op].operand != OPERAND_OBJECT)
			continue;
		if ((x->op == OP_WAIT || op_wakes(x->op)) && m->condition_of[x->target] == NONE)
			m->condition_of[x->target] = conditions++;
		if (x->op == OP_DESTROY && m->destroyed_of[x->target] == NONE)
			m->destroyed_of[x->target] = destroyed++;
	}
	m->first_block = (uint32_t)t->instances_count;
	m->first_condition = m->first_block + (uint32_t)t->blocks_count;
	m->first_destroyed = m->first_condition + conditions;
	m->object_count = m->first_destroyed + destroyed;
	m->objects = g_new0(struct model_object, m->object_count + 1);
	const struct model_type *memory = type_of(m, "memory"),
	                        *condvar = type_of(m, "condvar");
	for (uint32_t b = 0; b < t->blocks_count; b++)
		m->objects[m->first_block + b] =
		        (struct model_object){ .type = memory, .source = FROM_BLOCK, .of = b };
	add_objects(m, FROM_CONDITION, m->condition_of, m->first_condition, condvar);
	add_objects(m, FROM_DESTROYED, m->destroyed_of, m->first_destroyed, memory);
	type_instances(m);
}

/* -- invocations --------------------------------------------------------------------------- */

/* Fill in arguments and results, unknown where missing; false: the method is not declared. */
static bool fill_names(const struct model *m, const struct model_type *type,
                       const struct invocation *i, uint32_t *method, struct val *names)
{
	*method = method_of(m, type, i->method);
	if (*method == NONE)
		return false;
	const struct spec_method *s = spec_method_at(type->o, *method);
	if (s->arguments != i->argument_count || s->arguments + s->results > MOST_NAMES) {
		*method = NONE;
		return false;
	}
	for (uint32_t k = 0; k < s->arguments; k++)
		names[k] = trace_val(m->t, i->arguments[k]);
	for (uint32_t k = 0; k < s->results; k++)
		names[s->arguments + k] = k < i->result_count ? trace_val(m->t, i->results[k])
		                                              : (struct val){ .kind = V_NONE };
	return true;
}

bool model_invocation(const struct model *m, uint32_t event, struct call *call,
                      struct call_scratch *scratch)
{
	struct invocation i = trace_invocation(m->t, event);
	const struct model_type *type = m->objects[i.instance].type;
	*call = (struct call){
		.event = i.call, .end = i.ret, .object = i.instance, .names = scratch->names[0]
	};
	if (type == NULL || i.ret == NONE)
		return false;
	fill_names(m, type, &i, &call->method, scratch->names[0]);
	return true;
}

/* Make the invocation of a built-in event; `ok` is its hidden result. */
static uint32_t builtin_call(const struct model *m, uint32_t event, uint32_t object, int which,
                             bool ok, struct call *call, struct val *names)
{
	const struct model_type *type = m->objects[object].type;
	if (type == NULL || type->builtin[which] == NONE)
		return 0;
	names[0] = (struct val){ .kind = ok ? V_TRUE : V_FALSE };
	*call = (struct call){ event, event, object, type->builtin[which], names };
	return 1;
}

static bool alive(const struct model *m, uint32_t object, uint32_t event)
{
	const struct model_object *o = &m->objects[object];
	return o->source != FROM_BLOCK || m->t->blocks[o->of].free >= event;
}

/* A wait that had not ended with the recording is a use of its object at the trace's end,
 * without effect: it uses a destroyed or freed object wherever the wait is written. The other
 * order of the two is no question. */
static uint32_t calls_of_wait(const struct model *m, uint32_t event, struct call *calls,
                              struct call_scratch *scratch)
{
	const struct trace *t = m->t;
	uint32_t target = t->events[event].target, block = t->objects[target].block;
	uint32_t object = m->destroyed_of[target], count = 0;
	if (object != NONE)
		count += builtin_call(m, event, object, 1, true, &calls[0], scratch->names[0]);
	if (block != NONE && t->blocks[block].free != NONE)
		count += builtin_call(m, event, m->first_block + block, 1, false, &calls[count],
		                      scratch->names[count]);
	return count;
}

uint32_t model_calls(const struct model *m, uint32_t event, struct call calls[MOST_CALLS],
                     struct call_scratch *scratch)
{
	const struct trace *t = m->t;
	const struct event *x = &t->events[event];
	uint32_t count = 0, object, block;
	if (x->op == OP_WANT)
		return calls_of_wait(m, event, calls, scratch);
	if (event_inert(x))
		return 0;
	switch (op_table[x->op].class) {
	case OP_CLASS_ACCESS:
		block = t->variables[event_variables(t, x).first].block;
		if (block == NONE)
			return 0;
		object = m->first_block + block;
		return builtin_call(m, event, object, op_writes(x->op), alive(m, object, event),
		                    &calls[0], scratch->names[0]);
	case OP_CLASS_MEMORY:
		if (x->op != OP_FREE || x->target == NONE)
			return 0;
		return builtin_call(m, event, m->first_block + x->target, 2, true, &calls[0],
		                    scratch->names[0]);
	case OP_CLASS_CALL:
		if (x->op == OP_CALL)
			return 0;
		return model_invocation(m, event, &calls[0], scratch);
	case OP_CLASS_SYNC:
		if (op_table[x->op].operand != OPERAND_OBJECT)
			return 0;
		object = m->condition_of[x->target];
		if (object != NONE && (x->op == OP_WAIT || op_wakes(x->op)))
			count += builtin_call(m, event, object,
			                      x->op == OP_WAIT     ? 0
			                      : x->op == OP_SIGNAL ? 1
			                                           : 2,
			                      true, &calls[0], scratch->names[0]);
		/* POSIX allows destruction as soon as waiters have been woken, so their return
		 * is no use. */
		object = m->destroyed_of[x->target];
		if (object != NONE && x->op != OP_WAKE && x->op != OP_DEPART)
			count += builtin_call(m, event, object, x->op == OP_DESTROY ? 2 : 1,
			                      true, &calls[count], scratch->names[count]);
		block = event_block_used(t, x);
		if (block != NONE)
			count += builtin_call(m, event, m->first_block + block, 1,
			                      alive(m, m->first_block + block, event),
			                      &calls[count], scratch->names[count]);
		return count;
	default:
		return 0;
	}
}

/* The pass over a trace's invocations: each object's state by its effects so far, and how many
 * invocations are not as the specifications have them. */
struct invocations_pass {
	struct abstract_state **states; /* of each object; NULL: none yet */
	uint32_t undeclared, unknown, running;
};

/* Run the effect of an invocation on its object's state, and compare the results. */
static void check_effect(struct model *m, struct invocations_pass *p, uint32_t object,
                         const struct call *call)
{
	struct model_object *o = &m->objects[object];
	if (p->states[object] == NULL)
		p->states[object] = abstract_state_new(o->type->o, &m->texts);
	enum abstract_result r =
	        abstract_state_step(p->states[object], call->method, call->names, &m->texts);
	o->effects = r == RESULT_SAME;
	if (r != RESULT_OTHER)
		return;
	g_autofree char *text = model_call_text(m, call), *name = model_object_name(m, object);
	model_note(m,
	           "the effects of %s contradict the trace: event %u, %s.%s returns something "
	           "else there; its results are kept by the order of the trace",
	           o->type->o->name, call->event, name, text);
}

static void check_invocation(struct model *m, struct invocations_pass *p, uint32_t object,
                             const struct call *call)
{
	struct model_object *o = &m->objects[object];
	if (call->method == NONE) {
		o->pairwise = true;
		o->effects = false;
		p->undeclared++;
		return;
	}
	const struct spec_method *s = spec_method_at(o->type->o, call->method);
	bool open = false;
	for (uint32_t k = 0; k < s->arguments + s->results; k++)
		open |= call->names[k].kind == V_NONE;
	o->pairwise |= open;
	p->unknown += open;
	if (o->effects)
		check_effect(m, p, object, call);
}

/* Find the objects whose invocations are all known, and those whose effects agree with the
 * trace. */
static void check_invocations(struct model *m)
{
	const struct trace *t = m->t;
	struct invocations_pass p = { .states = g_new0(struct abstract_state *,
		                                       t->instances_count + 1) };
	struct call_scratch scratch;
	struct call calls[MOST_CALLS];
	for (uint32_t i = 0; i < t->instances_count; i++)
		m->objects[i].effects = m->objects[i].type != NULL;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (op_table[x->op].class != OP_CLASS_CALL || event_inert(x))
			continue;
		if (x->op == OP_CALL)
			p.running += m->objects[x->target].type != NULL &&
			             trace_invocation(t, e).ret == NONE;
		if (model_calls(m, e, calls, &scratch))
			check_invocation(m, &p, x->target, &calls[0]);
	}
	for (uint32_t i = 0; i < t->instances_count; i++)
		abstract_state_free(p.states[i]);
	g_free(p.states);
	if (p.undeclared)
		model_note(m,
		           "%u invocation%s of methods that are not declared (with these "
		           "arguments): taken to commute with nothing",
		           p.undeclared, plural(p.undeclared));
	if (p.unknown)
		model_note(m,
		           "%u invocation%s without all results: conditions that need them are "
		           "taken to be false",
		           p.unknown, plural(p.unknown));
	if (p.running)
		model_note(m,
		           "%u invocation%s had not returned at the end of the trace: left out",
		           p.running, plural(p.running));
}

struct model *model_new(struct trace *t, const struct specs *specs,
                        const struct progress *progress, struct error *error)
{
	if (!trace_need(t, INDEX_THREADS | INDEX_MATCH, progress)) {
		error_cancelled(error);
		return NULL;
	}
	struct model *m = g_new0(struct model, 1);
	m->t = t;
	m->specs = specs;
	m->types = g_ptr_array_new_with_free_func(type_free);
	m->notes = g_ptr_array_new_with_free_func(g_free);
	note_texts(m);
	make_objects(m);
	check_invocations(m);
	return m;
}

void model_free(struct model *m)
{
	if (m == NULL)
		return;
	g_ptr_array_unref(m->types);
	g_ptr_array_unref(m->notes);
	g_free(m->objects);
	g_free(m->condition_of);
	g_free(m->destroyed_of);
	texts_release(&m->texts);
	g_hash_table_destroy(m->strings);
	g_free(m);
}

bool model_overflow(const struct model *m, uint32_t event, struct error *error)
{
	return error_set(
	        error, trace_name(m->t), "write the condition so that it cannot overflow",
	        "event %u: expected arithmetic within 64 bits in the conditions of its "
	        "method, found an overflow",
	        event);
}

bool model_commute(struct model *m, const struct call *a, const struct call *b, bool *overflow)
{
	if (a->method == NONE || b->method == NONE)
		return false;
	return eval_commute(m->objects[a->object].type->o, a->method, a->names, b->method,
	                    b->names, &m->texts, overflow) == TRUTH_YES;
}

/* -- text ---------------------------------------------------------------------------------- */

void model_append_value(const struct model *m, struct val v, GString *out)
{
	switch (v.kind) {
	case V_NONE:
		g_string_append_c(out, '?');
		break;
	case V_NIL:
		g_string_append(out, "nil");
		break;
	case V_FALSE:
	case V_TRUE:
		g_string_append(out, v.kind == V_TRUE ? "true" : "false");
		break;
	case V_INT:
		g_string_append_printf(out, "%" G_GINT64_FORMAT, v.n);
		break;
	case V_STRING:
		trace_append_string(trace_string(m->t, (uint32_t)v.n), out);
		break;
	case V_TOKEN:
		append_escaped(out, trace_string(m->t, (uint32_t)v.n),
		               strlen(trace_string(m->t, (uint32_t)v.n)));
		break;
	default:
		trace_append_value(m->t, (uint32_t)v.n, out);
	}
}

char *model_object_name(const struct model *m, uint32_t object)
{
	const struct model_object *o = &m->objects[object];
	const struct trace *t = m->t;
	uint32_t name = o->source == FROM_INSTANCE ? t->instances[o->of].name
	                : o->source == FROM_BLOCK  ? t->blocks[o->of].name
	                                           : t->objects[o->of].name;
	GString *s = g_string_new(NULL);
	append_escaped(s, trace_string(t, name), strlen(trace_string(t, name)));
	return g_string_free(s, FALSE);
}

char *model_call_text(const struct model *m, const struct call *c)
{
	const struct trace *t = m->t;
	GString *s = g_string_new(NULL);
	if (m->objects[c->object].source != FROM_INSTANCE) {
		const struct spec_object *o = m->objects[c->object].type->o;
		g_string_append_printf(s, "%s()", spec_method_at(o, c->method)->name);
		return g_string_free(s, FALSE);
	}
	struct invocation i = trace_invocation(t, c->event);
	append_escaped(s, trace_string(t, i.method), strlen(trace_string(t, i.method)));
	g_string_append_c(s, '(');
	for (uint32_t k = 0; k < i.argument_count; k++) {
		g_string_append(s, k ? ", " : "");
		model_append_value(m, trace_val(m->t, i.arguments[k]), s);
	}
	g_string_append_c(s, ')');
	for (uint32_t k = 0; k < i.result_count; k++) {
		g_string_append(s, k ? ", " : " / ");
		model_append_value(m, trace_val(m->t, i.results[k]), s);
	}
	return g_string_free(s, FALSE);
}

static char **value_texts(const struct model *m, const struct call *c)
{
	const struct spec_method *s = spec_method_at(m->objects[c->object].type->o, c->method);
	uint32_t count = s->arguments + s->results;
	char **texts = g_new0(char *, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		GString *text = g_string_new(NULL);
		model_append_value(m, c->names[i], text);
		texts[i] = g_string_free(text, FALSE);
	}
	return texts;
}

char *model_condition_text(const struct model *m, const struct call *a, const struct call *b)
{
	const struct spec_object *o = m->objects[a->object].type->o;
	if (a->method == NONE || b->method == NONE)
		return g_strdup("false (a method is not declared)");
	const struct spec_condition *c = spec_condition_of(o, a->method, b->method);
	if (c == NULL)
		return g_strdup("false (no condition is given for the pair)");
	GString *s = g_string_new(NULL);
	expr_print(o, c->formula, (char **const[2]){ c->names[0], c->names[1] }, s);
	const struct call *sides[2] = { c->methods[0] == a->method ? a : b,
		                        c->methods[0] == a->method ? b : a };
	char **texts[2] = { value_texts(m, sides[0]), value_texts(m, sides[1]) };
	g_autoptr(GString) values = g_string_new(NULL);
	expr_print(o, c->formula, (char **const[2]){ texts[0], texts[1] }, values);
	if (strcmp(values->str, s->str) != 0)
		g_string_append_printf(s, ", here %s", values->str);
	g_strfreev(texts[0]);
	g_strfreev(texts[1]);
	return g_string_free(s, FALSE);
}

char *model_point_text(const struct model *m, const struct call *c, struct touch touch)
{
	const struct point *p = points_at(m->objects[c->object].type->points, touch.point);
	g_autofree char *name = model_object_name(m, c->object);
	GString *s = g_string_new(name);
	g_string_append_printf(s, ":%s", p->name);
	if (touch.slot != NONE) {
		g_string_append_c(s, ':');
		model_append_value(m, c->names[touch.slot], s);
	}
	return g_string_free(s, FALSE);
}

/* -- rule 5 -------------------------------------------------------------------------------- */

/* model_common_calls; `*overflow` is set where a condition's numbers left 64 bits. */
static bool common_calls(struct model *m, const uint32_t events[2], struct call pair[2],
                         struct call_scratch scratch[2], bool *commute, bool *overflow)
{
	const struct trace *t = m->t;
	uint32_t counts[2];
	struct call calls[2][MOST_CALLS];
	bool found = false;
	*commute = true;
	for (int side = 0; side < 2; side++) {
		uint32_t end = events[side];
		if (t->events[end].op == OP_CALL)
			end = t->index->partner[end];
		counts[side] =
		        end == NONE ? 0 : model_calls(m, end, calls[side], &scratch[side]);
	}
	for (uint32_t i = 0; i < counts[0] && *commute; i++)
		for (uint32_t k = 0; k < counts[1] && *commute; k++) {
			if (calls[0][i].object != calls[1][k].object)
				continue;
			found = true;
			pair[0] = calls[0][i];
			pair[1] = calls[1][k];
			*commute = model_commute(m, &pair[0], &pair[1], overflow) && !*overflow;
		}
	return found;
}

bool model_common_calls(struct model *m, uint32_t e1, uint32_t e2, struct call pair[2],
                        struct call_scratch scratch[2], bool *commute)
{
	bool overflow = false;
	return common_calls(m, (uint32_t[]){ e1, e2 }, pair, scratch, commute, &overflow);
}

bool model_pair_known(struct model *m, uint32_t e1, uint32_t e2, struct error *error)
{
	struct call_scratch scratch[2];
	struct call pair[2];
	bool commute, overflow = false;
	common_calls(m, (uint32_t[]){ e1, e2 }, pair, scratch, &commute, &overflow);
	return !overflow || model_overflow(m, MAX(e1, e2), error);
}

static bool semantics_commutes(void *context, uint32_t a, uint32_t b)
{
	struct call_scratch scratch[2];
	struct call pair[2];
	bool commute;
	return model_common_calls(context, a, b, pair, scratch, &commute) && commute;
}

static int semantics_good_order(void *context, uint32_t a, uint32_t b)
{
	struct model *m = context;
	struct call_scratch scratch[2];
	struct call pair[2];
	bool commute;
	if (!model_common_calls(m, a, b, pair, scratch, &commute) || pair[0].method == NONE ||
	    pair[1].method == NONE)
		return 0;
	return spec_good_order(m->objects[pair[0].object].type->o, pair[0].method,
	                       pair[1].method);
}

static int semantics_step(void *context, void **state, uint32_t instance, uint32_t event)
{
	struct model *m = context;
	struct call_scratch scratch;
	struct call call;
	if (!m->objects[instance].effects || !model_invocation(m, event, &call, &scratch))
		return -1;
	if (*state == NULL)
		*state = abstract_state_new(m->objects[instance].type->o, &m->texts);
	enum abstract_result r =
	        abstract_state_step(*state, call.method, call.names, &m->texts);
	return r == RESULT_SAME ? 1 : r == RESULT_OTHER ? 0 : -1;
}

static void semantics_state_free(void *context, void *state)
{
	(void)context;
	abstract_state_free(state);
}

static bool semantics_specified(void *context, uint32_t instance)
{
	return model_specified(context, instance);
}

struct semantics model_semantics(struct model *m)
{
	return (struct semantics){ .context = m,
		                   .commutes = semantics_commutes,
		                   .good_order = semantics_good_order,
		                   .step = semantics_step,
		                   .state_free = semantics_state_free,
		                   .specified = semantics_specified };
}

uint32_t *model_scopes(const struct model *m)
{
	const struct trace *t = m->t;
	uint32_t *inside = g_new(uint32_t, t->events_count + 1);
	GArray **open = arrays_new(t->threads_count, sizeof(uint32_t));

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		GArray *scopes = open[x->thread];

		inside[e] = NONE;
		for (guint i = scopes->len; i-- > 0 && inside[e] == NONE;) {
			if (model_specified(m, g_array_index(scopes, uint32_t, i)))
				inside[e] = g_array_index(scopes, uint32_t, i);
		}
		if (x->op == OP_CALL && !event_inert(x))
			g_array_append_val(scopes, x->target);
		else if (x->op == OP_RET && !event_inert(x) && scopes->len > 0)
			g_array_set_size(scopes, scopes->len - 1);
	}
	arrays_free(open, t->threads_count);
	return inside;
}
