/*
 * view.c - see view.h: rewrites the events.
 */
#include "engine/explore/objects/view.h"
#include "engine/explore/runs/frames.h"

#include <string.h>

struct rewriting {
	struct view *v;
	struct event *events;
	struct block *blocks;
	GArray *slots, *locks; /* scratch: uint32_t events; struct event */
};

static bool stays(const struct scopes *s, const struct event *x)
{
	if (event_inert(x))
		return false;
	if (x->op == OP_ALLOC || x->op == OP_FREE)
		return x->target == NONE || s->block_use[x->target] != LOCK_INSIDE;
	return op_table[x->op].class != OP_CLASS_ACCESS &&
	       op_table[x->op].class != OP_CLASS_CALL && !op_acquires(x->op) &&
	       !op_releases(x->op);
}

/* Notes a lock that is also taken outside of scopes: it is held during the whole step. */
static void note_lock(struct rewriting *w, const struct event *x)
{
	if (!(w->v->scopes->lock_use[x->target] & LOCK_OUTSIDE) || event_inert(x))
		return;
	for (guint i = 0; i < w->locks->len; i++) {
		struct event *known = &g_array_index(w->locks, struct event, i);
		if (known->target != x->target)
			continue;
		if (x->op == OP_ACQ)
			*known = *x;
		return;
	}
	g_array_append_val(w->locks, *x);
}

static void put_inert(struct event *x)
{
	x->flags |= EVENT_INERT;
}

static void forget_block(struct rewriting *w, const struct event *x)
{
	if (x->target == NONE)
		return;
	struct block *b = &w->blocks[x->target];
	if (x->op == OP_ALLOC)
		b->alloc = NONE;
	if (x->op == OP_FREE)
		b->free = NONE;
}

static struct event step_event(const struct event *call)
{
	return (struct event){ .op = OP_FENCE,
		               .target = NONE,
		               .location = call->location,
		               .thread = call->thread };
}

static void add_call(struct view *v, uint32_t event, uint32_t last, uint32_t object,
                     const struct scope *scope)
{
	struct view_call call = { .event = event,
		                  .last = last,
		                  .object = object,
		                  .thread = v->recorded->events[event].thread,
		                  .scope = scope,
		                  .before = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	g_array_append_val(v->calls, call);
}

static void collect_slots(struct rewriting *w, uint32_t scope, const struct scope *s)
{
	const struct view *v = w->v;
	struct event_list mine = trace_thread_events(v->recorded, s->thread);
	g_array_set_size(w->slots, 0);
	g_array_set_size(w->locks, 0);
	for (uint64_t i = v->recorded->index->position[s->call]; i < mine.count; i++) {
		uint32_t e = mine.items[i];
		const struct event *x = &v->recorded->events[e];
		if (v->scopes->of[e] != scope)
			break;
		/* the call may have waited; calls without return have no other event */
		if (e == s->call && s->ret != NONE)
			continue;
		if (op_acquires(x->op))
			note_lock(w, x);
		if (stays(v->scopes, x))
			continue;
		if (x->op == OP_ALLOC || x->op == OP_FREE)
			forget_block(w, x);
		g_array_append_val(w->slots, e);
	}
}

/* Rewrite a scope as acquires, the step, releases; without return as the step only. */
static void rewrite_scope(struct rewriting *w, uint32_t scope)
{
	struct view *v = w->v;
	const struct scope *s = &g_array_index(v->scopes->list, struct scope, scope);
	collect_slots(w, scope, s);
	uint32_t locks = s->ret == NONE ? 0 : w->locks->len, at = 0;
	const uint32_t *slot = (const uint32_t *)(void *)w->slots->data;
	for (guint i = 0; i < w->slots->len; i++)
		put_inert(&w->events[slot[i]]);
	BUG_ON(w->slots->len < 2 * locks + 1);
	for (; at < locks; at++)
		w->events[slot[at]] = g_array_index(w->locks, struct event, at);
	w->events[slot[at]] = step_event(&v->recorded->events[s->call]);
	add_call(v, slot[at], s->ret == NONE ? s->call : s->ret, s->object, s);
	at++;
	for (uint32_t i = locks; i-- > 0; at++) {
		struct event *x = &w->events[slot[at]];
		*x = g_array_index(w->locks, struct event, i);
		x->op = x->op == OP_ACQ ? OP_REL : OP_RREL;
	}
}

static int by_event(gconstpointer a, gconstpointer b)
{
	const struct view_call *x = a, *y = b;
	return x->event < y->event ? -1 : x->event > y->event;
}

static void rewrite(struct rewriting *w)
{
	struct view *v = w->v;
	const struct trace *t = v->recorded;
	for (uint32_t e = 0; e < t->events_count; e++)
		if (op_table[t->events[e].op].class == OP_CLASS_CALL)
			put_inert(&w->events[e]);
	for (guint i = 0; i < v->scopes->list->len; i++)
		rewrite_scope(w, i);
	for (guint i = 0; i < v->scopes->peeks->len; i++) {
		struct peek p = g_array_index(v->scopes->peeks, struct peek, i);
		w->events[p.event] = step_event(&t->events[p.event]);
		add_call(v, p.event, p.event, p.object, NULL);
		v->peeks += p.object != NONE;
	}
	g_array_sort(v->calls, by_event);
	v->call_at = g_new(uint32_t, t->events_count + 1);
	memset(v->call_at, 0xff, sizeof(uint32_t) * (t->events_count + 1));
	for (guint i = 0; i < v->calls->len; i++)
		v->call_at[g_array_index(v->calls, struct view_call, i).event] = i;
}

static bool see_scopes(struct view *v, const struct view_rules *rules,
                       const struct progress *progress)
{
	struct trace *t = v->recorded;
	struct error error = { 0 };
	v->model = model_new(t, rules->specs, progress, &error);
	if (v->model == NULL)
		return false;
	v->scopes = scopes_find(t, v->model, rules->plain);
	scopes_check(v->scopes, v->model);
	v->calls = g_array_new(FALSE, FALSE, sizeof(struct view_call));
	struct rewriting w = {
		.v = v,
		.events = g_memdup2(t->events, t->events_count * sizeof *t->events),
		.blocks = g_memdup2(t->blocks, t->blocks_count * sizeof *t->blocks),
		.slots = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.locks = g_array_new(FALSE, FALSE, sizeof(struct event))
	};
	rewrite(&w);
	if (rules->by_results)
		view_find_results(v, rules);
	v->t->events = v->arrays[0] = w.events;
	v->t->blocks = v->arrays[1] = w.blocks;
	g_array_unref(w.slots);
	g_array_unref(w.locks);
	return true;
}

/* The view's own events, which may be changed. */
static struct event *own_events(struct view *v)
{
	const struct trace *t = v->recorded;
	if (v->arrays[0] == NULL)
		v->arrays[0] = g_memdup2(t->events, t->events_count * sizeof *t->events);
	v->t->events = v->arrays[0];
	return v->arrays[0];
}

/* Makes the events that are left out inert. (They are outside of scopes: calls are no
 * looks.) */
static void leave_out(struct view *v)
{
	struct event *events = own_events(v);
	for (uint32_t e = 0; e < v->recorded->events_count; e++)
		if (v->left_out[e])
			put_inert(&events[e]);
}

/* Which write a pointer comes from tells whose variable it points to, where its value does not.
 */
static void tell_pointers_apart(struct view *v)
{
	g_autofree uint64_t *pointers = frames_pointers(v->recorded);
	struct event *events = pointers ? own_events(v) : NULL;
	for (uint32_t e = 0; pointers && e < v->recorded->events_count; e++)
		if (pointers[e / 64] >> (e % 64) & 1)
			events[e].aux = 0;
}

struct view *view_new(struct trace *recorded, const struct view_rules *rules,
                      const struct progress *progress)
{
	struct view *v = g_new0(struct view, 1);
	v->unruly = NONE;
	v->recorded = recorded;
	v->t = trace_reading(recorded);
	if (!trace_need(recorded, INDEX_THREADS | INDEX_MATCH | INDEX_VARIABLES, progress) ||
	    (rules->specs != NULL && recorded->instances_count > 0 &&
	     !see_scopes(v, rules, progress))) {
		view_free(v);
		return NULL;
	}
	v->left_out = rules->left_out;
	if (v->left_out != NULL)
		leave_out(v);
	tell_pointers_apart(v);
	if (!trace_need(v->t, INDEX_THREADS | INDEX_MATCH | INDEX_MUST, progress)) {
		view_free(v);
		return NULL;
	}
	GArray *edges = g_array_new(FALSE, FALSE, sizeof(struct must_edge));
	for (uint64_t i = 0; i < v->t->index->must_count; i++) {
		struct must_edge edge = v->t->index->must[i];
		if (edge.rule != MUST_FREE && edge.rule != MUST_INVOCATION)
			g_array_append_val(edges, edge);
	}
	if (v->calls != NULL)
		view_order_calls(v, edges);
	trace_replace_must(v->t, edges);
	return v;
}

void view_free(struct view *v)
{
	if (v == NULL)
		return;
	trace_close(v->t);
	for (guint i = 0; v->calls && i < v->calls->len; i++)
		g_array_unref(g_array_index(v->calls, struct view_call, i).before);
	if (v->calls)
		g_array_unref(v->calls);
	scopes_free(v->scopes);
	model_free(v->model);
	g_free(v->call_at);
	g_free(v->by_results);
	g_free(v->contradiction);
	for (size_t i = 0; i < G_N_ELEMENTS(v->arrays); i++)
		g_free(v->arrays[i]);
	g_free(v);
}

uint32_t view_planned(const struct view *v, uint32_t event)
{
	const struct view_call *call = view_call_of(v, event);
	if (call != NULL)
		return call->last;
	if (v->left_out != NULL && v->left_out[event])
		return NONE;
	return v->scopes != NULL && v->scopes->of[event] != NONE ? NONE : event;
}

char *view_object_name(const struct view *v, uint32_t object)
{
	return model_object_name(v->model, object);
}
