/*
 * linear_trace.c - see linear_trace.h: the histories of a trace.
 */
#include "engine/commute/linear/linear_trace.h"

#include "engine/trace/index.h"

#include <string.h>

struct parts {
	struct model *m;
	GPtrArray *all;    /* of objects */
	GHashTable *open;  /* uint64_t: thread and object -> event of the outermost CALL + 1 */
	uint32_t *part_of; /* by instance: its part, or NONE */
	GArray **calls;    /* by part: struct linear_call, `names` as an index */
	GArray **names;    /* by part: struct val */
};

static void part_free(gpointer data)
{
	struct linear_part *p = data;
	g_free(p->calls);
	g_free(p->names);
	g_free(p->refused);
	g_free(p);
}

static struct linear_part *part_new(struct model *m, uint32_t object)
{
	struct linear_part *p = g_new0(struct linear_part, 1);
	p->object = object;
	p->h = (struct linear_history){ .o = m->objects[object].type->o, .texts = &m->texts };
	return p;
}

static void refuse(struct linear_part *p, const char *format, const char *name)
{
	if (p->refused == NULL)
		p->refused = g_strdup_printf(format, name);
}

/* The thread's number among those of the part; NONE: the part has too many threads. */
static uint32_t thread_of(struct linear_part *p, uint32_t thread)
{
	for (uint32_t i = 0; i < p->threads_count; i++)
		if (p->threads[i] == thread)
			return i;
	if (p->threads_count == LINEAR_MOST_THREADS) {
		refuse(p, "more than %s threads call it", "64");
		return 0;
	}
	p->threads[p->threads_count] = thread;
	return p->threads_count++;
}

/* A call that never returned has arguments alone. */
static bool find_names(const struct model *m, uint32_t event, struct call *call,
                       struct call_scratch *scratch)
{
	const struct trace *t = m->t;
	struct call calls[MOST_CALLS];
	if (t->events[event].op == OP_ACT) {
		uint32_t count = model_calls(m, event, calls, scratch);
		for (uint32_t i = 0; i < count; i++)
			if (calls[i].object == t->events[event].target) {
				*call = calls[i];
				return true;
			}
		return false;
	}
	if (model_invocation(m, event, call, scratch))
		return true;
	struct invocation i = trace_invocation(t, event);
	const struct spec_object *o = m->objects[t->events[event].target].type->o;
	*call = (struct call){ .event = event,
		               .end = NONE,
		               .object = t->events[event].target,
		               .method = spec_method_find(o, trace_string(t, i.method)),
		               .names = scratch->names[0] };
	if (call->method != NONE &&
	    spec_method_at(o, call->method)->arguments != i.argument_count)
		call->method = NONE;
	for (uint32_t k = 0; call->method != NONE && k < i.argument_count; k++)
		scratch->names[0][k] = trace_val(m->t, i.arguments[k]);
	return true;
}

static void add_call(struct parts *parts, uint32_t event)
{
	const struct trace *t = parts->m->t;
	const struct event *x = &t->events[event];
	uint32_t at = parts->part_of[x->target];
	struct linear_part *p = parts->all->pdata[at];
	struct call_scratch scratch;
	struct call call;
	if (!find_names(parts->m, event, &call, &scratch))
		return;
	if (call.method == NONE) {
		refuse(p, "its method %s is not in the specification",
		       trace_string(t, t->invocations[x->aux].method));
		return;
	}
	const struct spec_method *method = spec_method_at(p->h.o, call.method);
	if (method->effect == NULL) {
		refuse(p, "the specification has no effect of %s", method->name);
		return;
	}
	uint32_t ret = x->op == OP_ACT ? event : t->index->partner[event];
	uint32_t arguments = method->arguments, results = method->results;
	struct linear_call c = { .call = event,
		                 .ret = ret,
		                 .thread = thread_of(p, x->thread),
		                 .method = call.method,
		                 .names = (void *)(uintptr_t)parts->names[at]->len };
	struct val unknown = { .kind = V_NONE };
	g_array_append_vals(parts->names[at], call.names, arguments);
	bool left = ret == NONE || t->events[ret].flags & EVENT_LEFT;
	for (uint32_t i = 0; i < results; i++)
		g_array_append_val(parts->names[at],
		                   *(left ? &unknown : &call.names[arguments + i]));
	g_array_append_val(parts->calls[at], c);
}

static void look_at(struct parts *parts, uint32_t e)
{
	const struct trace *t = parts->m->t;
	const struct event *x = &t->events[e];
	bool calls = x->op == OP_CALL || x->op == OP_ACT;
	if (event_inert(x) || (!calls && x->op != OP_RET) ||
	    !model_specified(parts->m, x->target))
		return;
	uint64_t key = (uint64_t)x->thread << 32 | x->target;
	uint32_t outer = GPOINTER_TO_UINT(g_hash_table_lookup(parts->open, &key));
	if (x->op == OP_RET && outer > 0 && t->index->partner[outer - 1] == e)
		g_hash_table_remove(parts->open, &key);
	/* inside of that call, or after it was left by longjmp */
	if (calls && outer > 0 && t->index->partner[outer - 1] == NONE)
		refuse(parts->all->pdata[parts->part_of[x->target]],
		       "a thread calls it again after a call that never returned: %s",
		       trace_thread_name(t, x->thread));
	if (!calls || outer > 0)
		return;
	if (parts->part_of[x->target] == NONE) {
		parts->part_of[x->target] = parts->all->len;
		parts->calls[parts->all->len] =
		        g_array_new(FALSE, FALSE, sizeof(struct linear_call));
		parts->names[parts->all->len] = g_array_new(FALSE, FALSE, sizeof(struct val));
		g_ptr_array_add(parts->all, part_new(parts->m, x->target));
	}
	add_call(parts, e);
	if (x->op == OP_CALL)
		g_hash_table_insert(parts->open, g_memdup2(&key, sizeof key),
		                    GUINT_TO_POINTER(e + 1));
}

static void finish(struct linear_part *p, GArray *calls, GArray *names)
{
	p->h.count = calls->len;
	p->calls = (struct linear_call *)(void *)g_array_free(calls, FALSE);
	p->names = (struct val *)(void *)g_array_free(names, FALSE);
	p->h.calls = p->calls;
	for (uint32_t i = 0; i < p->h.count; i++)
		p->calls[i].names = p->names + (uintptr_t)p->calls[i].names;
}

/* -- keys ---------------------------------------------------------------------------------- */

/* The argument that is its key; unknown: kind V_NONE. */
static struct val key_of(const struct linear_call *c, const uint32_t *keys)
{
	uint32_t at = keys[c->method];
	return at == NONE ? (struct val){ .kind = V_NIL } : c->names[at];
}

static bool has_keys(const struct linear_part *p, uint32_t *keys)
{
	bool *used = g_new0(bool, p->h.o->methods->len + 1);
	for (uint32_t i = 0; i < p->h.count; i++)
		used[p->calls[i].method] = true;
	bool has = p->refused == NULL && linear_has_keys(p->h.o, used, keys);
	for (uint32_t i = 0; i < p->h.count && has; i++)
		has = key_of(&p->calls[i], keys).kind != V_NONE;
	g_free(used);
	return has;
}

/* Divides a part into one for each key, in the order of the first invocations. */
static void divide(struct model *m, const struct linear_part *whole, const uint32_t *keys,
                   GPtrArray *to)
{
	guint first = to->len;
	for (uint32_t i = 0; i < whole->h.count; i++) {
		const struct linear_call *c = &whole->calls[i];
		struct linear_part *p = NULL;
		for (guint k = first; k < to->len && p == NULL; k++) {
			struct linear_part *other = to->pdata[k];
			if (val_equal(key_of(other->calls, keys), key_of(c, keys)))
				p = other;
		}
		if (p == NULL) {
			p = part_new(m, whole->object);
			p->calls = g_new(struct linear_call, whole->h.count);
			g_ptr_array_add(to, p);
		}
		p->calls[p->h.count] = *c;
		p->calls[p->h.count++].thread = thread_of(p, whole->threads[c->thread]);
		p->h.calls = p->calls;
	}
	if (to->len > first) /* the values belong to one of them, from which the others
	                      * borrow */
		((struct linear_part *)to->pdata[first])->names = whole->names;
}

static void add_parts(struct model *m, struct linear_part *p, GPtrArray *to)
{
	uint32_t *keys = g_new(uint32_t, p->h.o->methods->len + 1);
	if (p->h.count > 0 && has_keys(p, keys)) {
		divide(m, p, keys, to);
		p->names = NULL;
		part_free(p);
	} else {
		g_ptr_array_add(to, p);
	}
	g_free(keys);
}

GPtrArray *linear_parts(struct model *m)
{
	const struct trace *t = m->t;
	struct parts parts = { .m = m,
		               .all = g_ptr_array_new(),
		               .open = g_hash_table_new_full(g_int64_hash, g_int64_equal,
		                                             g_free, NULL),
		               .part_of = g_new(uint32_t, t->instances_count + 1),
		               .calls = g_new0(GArray *, t->instances_count + 1),
		               .names = g_new0(GArray *, t->instances_count + 1) };
	GPtrArray *to = g_ptr_array_new_with_free_func(part_free);
	memset(parts.part_of, 0xff, sizeof(uint32_t) * (t->instances_count + 1));
	for (uint32_t e = 0; e < t->events_count; e++)
		if (op_table[t->events[e].op].class == OP_CLASS_CALL)
			look_at(&parts, e);
	for (guint i = 0; i < parts.all->len; i++) {
		finish(parts.all->pdata[i], parts.calls[i], parts.names[i]);
		add_parts(m, parts.all->pdata[i], to);
	}
	g_ptr_array_unref(parts.all);
	g_hash_table_unref(parts.open);
	g_free(parts.part_of);
	g_free(parts.calls);
	g_free(parts.names);
	return to;
}
