/* rounds.c - see rounds.h. */
#include "engine/memory/rounds.h"

#include "engine/trace/index.h"

#include <string.h>

enum { MOST = 256 }; /* accesses of a round */

struct looked {
	uint32_t event;
	uint64_t state;
};

struct walk {
	const struct trace *t;
	struct memory_rounds *r;
	const uint64_t *states;
	memory_shared *shared;
	const void *context;
	bool updates;         /* rounds with these stay */
	const bool *sections; /* see rounds.h */
	GArray **since;       /* by thread: struct looked, since it last changed anything */
};

bool memory_writes_the_same(const struct trace *t, const struct event *x)
{
	const struct value v = trace_value(t, x->aux);
	if (x->op != OP_RMW || x->aux == 0 || v.kind != V_PAIR)
		return false;
	const struct value old = trace_value(t, v.first), new = trace_value(t, v.second);
	return old.kind == V_INT && new.kind == V_INT &&old.integer == new.integer;
}

static bool on_own_stack(const struct trace *t, const struct event *x)
{
	struct wide run = event_variables(t, x);
	uint32_t stack = t->threads[x->thread].stack;
	for (uint32_t i = 0; i < run.count; i++)
		if (stack == NONE || t->variables[run.first + i].block != stack)
			return false;
	return true;
}

bool memory_changes_nothing(const struct trace *t, uint32_t event, memory_shared *shared,
                            const void *context)
{
	const struct event *x = &t->events[event];
	if (op_table[x->op].class != OP_CLASS_ACCESS)
		return x->op == OP_FENCE;
	return !op_writes(x->op) || memory_writes_the_same(t, x) ||
	       (x->op == OP_WRITE && on_own_stack(t, x) && !shared(context, event));
}

static bool has_updates(const struct walk *w, const GArray *since, guint from)
{
	for (guint i = from; i < since->len; i++)
		if (op_writes(w->t->events[g_array_index(since, struct looked, i).event].op))
			return true;
	return false;
}

bool memory_is_section(const struct event *x)
{
	return op_acquires(x->op) || op_releases(x->op);
}

/* Is each section that begins or ends from there on complete? */
static bool are_whole(const struct walk *w, const GArray *since, guint from)
{
	for (guint i = from; w->sections != NULL && i < since->len; i++) {
		uint32_t e = g_array_index(since, struct looked, i).event;
		const struct event *x = &w->t->events[e];
		uint32_t other = memory_is_section(x) ? w->t->index->partner[e] : e;
		uint32_t first = g_array_index(since, struct looked, from).event;
		uint32_t last = g_array_index(since, struct looked, since->len - 1).event;
		if (other == NONE || other < first || other > last)
			return false;
	}
	return true;
}

/* The event begins in the same state as an earlier one since the last change: the events
 * between them are a round. */
static void end_round(struct walk *w, GArray *since, uint64_t state, uint32_t event)
{
	guint least = since->len > MOST ? since->len - MOST : 0;
	for (guint i = since->len; state != 0 && i-- > least;) {
		const struct looked *l = &g_array_index(since, struct looked, i);
		if (l->state != state || !are_whole(w, since, i))
			continue;
		w->r->first[event] = l->event;
		bool stays = w->updates && has_updates(w, since, i);
		for (guint k = i; k < since->len && !stays; k++)
			w->r->in_vain[g_array_index(since, struct looked, k).event] = true;
		g_array_set_size(since, i);
		return;
	}
}

static void take(struct walk *w, uint32_t event)
{
	const struct event *x = &w->t->events[event];
	bool access = op_table[x->op].class ==
	              OP_CLASS_ACCESS; /* only accesses and acquires have a recorded state */
	/* acquires without a state are of futexes, which are no locks of the program
	 * (docs/waiting-loops.md) */
	bool section = w->sections != NULL && memory_is_section(x) && w->sections[x->target] &&
	               (op_releases(x->op) || w->states[event] != 0);
	bool tries = w->sections != NULL && (op_fails(x->op) || event_is_try(x));
	struct looked l = { event, access || section || tries ? w->states[event] : 0 };
	if (op_table[x->op].class == OP_CLASS_SCOPE ||
	    op_table[x->op].class == OP_CLASS_MARKER || (section && event_inert(x)))
		return;
	if (w->since[x->thread] == NULL)
		w->since[x->thread] = g_array_new(FALSE, FALSE, sizeof(struct looked));
	GArray *since = w->since[x->thread];
	end_round(w, since, l.state, event);
	if (section || (tries && op_fails(x->op) && l.state != 0) ||
	    memory_changes_nothing(w->t, event, w->shared, w->context))
		g_array_append_val(since, l);
	else
		g_array_set_size(since, 0);
}

void memory_rounds_init(struct memory_rounds *r, const struct trace *t, const uint64_t *states,
                        memory_shared *shared, const void *context, bool updates,
                        const bool *sections)
{
	struct walk w = { t,       r,       states,   shared,
		          context, updates, sections, g_new0(GArray *, t->threads_count + 1) };
	r->in_vain = g_new0(bool, t->events_count + 1);
	r->first = g_new(uint32_t, t->events_count + 1);
	memset(r->first, 0xff, (t->events_count + 1) * sizeof *r->first);
	for (uint32_t e = 0; states != NULL && e < t->events_count; e++)
		take(&w, e);
	for (uint64_t i = 0; i < t->threads_count; i++)
		if (w.since[i] != NULL)
			g_array_free(w.since[i], TRUE);
	g_free(w.since);
}

void memory_rounds_release(struct memory_rounds *r)
{
	g_free(r->in_vain);
	g_free(r->first);
	memset(r, 0, sizeof *r);
}
