/*
 * atomics.c - synchronises-with: from a release write to each acquire read that reads from it
 * or from its release sequence, also by fences, over a whole trace (rules: sync_edges.h).
 */
#include "engine/base/arrays.h"
#include "engine/order/causality.h"
#include "engine/trace/weak.h"

struct atomics {
	bool fixed;     /* only edges that every correct reordering has */
	GArray **heads; /* by variable: struct sync_point, or NULL */
	uint64_t variables;
	/* A trace where reads need not see the last write (weak.h): by event of an atomic
	 * write, the heads of its own sequences; else NULL. */
	GArray **of_write;
	uint64_t events;
	struct sync_point *fence; /* by thread: last release fence */
	GArray **pending;         /* by thread: heads read without acquire; or NULL */
	uint64_t threads;
};

struct atomics *atomics_new(const struct trace *t, bool fixed)
{
	struct atomics *a = g_new0(struct atomics, 1);

	a->fixed = fixed;
	a->variables = t->variables_count;
	a->threads = t->threads_count;
	a->events = t->events_count;
	if (t->weak_count || trace_model(t) != WEAK_SC)
		a->of_write = g_new0(GArray *, a->events + 1);
	a->pending = g_new0(GArray *, a->threads + 1);
	a->fence = g_new(struct sync_point, a->threads + 1);
	for (uint64_t i = 0; i < a->threads; i++)
		a->fence[i] = NO_SYNC_POINT;
	return a;
}

void atomics_free(struct atomics *a)
{
	arrays_free(a->heads, a->variables);
	arrays_free(a->of_write, a->events);
	arrays_free(a->pending, a->threads);
	g_free(a->fence);
	g_free(a);
}

struct acquirer {
	struct causality *c;
	uint32_t event;
};

static void join(void *context, const struct sync_point *from)
{
	const struct acquirer *a = context;

	causality_edge(a->c, a->event, from->thread,
	               (struct edge_source){ from->event, from->clock }, STEP_SYNCHRONISES,
	               NONE, true);
}

static struct sync_point here(struct causality *c, uint32_t event)
{
	struct edge_source at = causality_point(c, event);

	return (struct sync_point){ event, c->t->events[event].thread, at.clock };
}

/* Edges into a read from the heads of the release sequences of its variable. */
static void read_heads(struct causality *c, uint32_t event, const GArray *heads)
{
	const struct event *x = &c->t->events[event];
	struct acquirer acquirer = { c, event };

	heads_read(heads, x->thread, event_order(x), &c->atomics->pending[x->thread], join,
	           &acquirer);
}

static void write_heads(struct causality *c, uint32_t event, GArray **heads)
{
	const struct event *x = &c->t->events[event];
	const struct atomics *a = c->atomics;
	struct sync_point head = a->fence[x->thread];

	/* Another reordering may put a store that ends the sequence before a store of the same
	 * thread, but none between an RMW and the write that it reads. */
	if (x->op != OP_RMW)
		heads_keep(*heads, a->fixed ? NONE : x->thread);
	if (c->hidden)
		return;
	if (order_releases(event_order(x)))
		head = here(c, event);
	if (head.event != NONE)
		sync_points_add(heads, head);
}

/*
 * Release sequences where a read names its write: a store has the sequences of its thread's
 * earlier stores to the variable, an RMW also those of the store that it read. (Lahav and
 * others, PLDI 2017.)
 */
static void write_heads_alone(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);
	struct atomics *a = c->atomics;
	GArray *mine = g_array_new(FALSE, FALSE, sizeof(struct sync_point));

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		struct sync_point head = a->fence[x->thread];
		GArray **own = &a->heads[v]; /* each thread's last head */
		uint32_t read = x->op == OP_RMW
		                        ? trace_writers(c->t, event).items[v - run.first]
		                        : NONE;

		if (order_releases(event_order(x)) && !c->hidden) {
			head = here(c, event);
			sync_points_add(own, head);
		} else if (head.event != NONE && !c->hidden) {
			sync_points_add(&mine, head);
		}
		for (guint i = 0; *own && i < (*own)->len; i++) {
			struct sync_point h = g_array_index(*own, struct sync_point, i);

			if (h.thread == x->thread)
				sync_points_add(&mine, h);
		}
		for (guint i = 0;
		     read != NONE && a->of_write[read] && i < a->of_write[read]->len; i++)
			sync_points_add(&mine,
			                g_array_index(a->of_write[read], struct sync_point, i));
	}
	a->of_write[event] = mine;
}

void atomics_read(struct causality *c, uint32_t event)
{
	for (uint32_t i = 0; c->atomics->of_write && i < trace_writers(c->t, event).count;
	     i++) {
		uint32_t writer = trace_writers(c->t, event).items[i];

		if (writer != NONE && c->atomics->of_write[writer])
			read_heads(c, event, c->atomics->of_write[writer]);
	}
	if (c->atomics->of_write)
		return;
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);
	GArray **heads = c->atomics->heads;

	for (uint32_t v = run.first; heads != NULL && v < run.first + run.count; v++) {
		if (heads[v] != NULL)
			read_heads(c, event, heads[v]);
	}
}

void atomics_write(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);
	struct atomics *a = c->atomics;

	c->has_atomics = true;
	if (a->heads == NULL) /* allocated only for traces with atomic writes */
		a->heads = g_new0(GArray *, a->variables + 1);
	if (a->of_write) {
		write_heads_alone(c, event);
		return;
	}
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		write_heads(c, event, &a->heads[v]);
}

void atomics_plain_write(struct causality *c, uint32_t event)
{
	if (c->atomics->heads == NULL || c->atomics->of_write)
		return;
	struct wide run = event_variables(c->t, &c->t->events[event]);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (c->atomics->heads[v] != NULL)
			g_array_set_size(c->atomics->heads[v], 0);
	}
}

void atomics_fence(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct acquirer acquirer = { c, event };

	if (order_acquires(event_order(x)))
		heads_fence(c->atomics->pending[x->thread], join, &acquirer);
	if (order_releases(event_order(x)))
		c->atomics->fence[x->thread] = here(c, event);
}

static void mark_heads(struct clocks *clocks, GArray **lists, uint64_t count)
{
	for (uint64_t i = 0; lists != NULL && i < count; i++) {
		for (guint j = 0; lists[i] != NULL && j < lists[i]->len; j++)
			clocks_mark(clocks,
			            g_array_index(lists[i], struct sync_point, j).clock);
	}
}

void atomics_mark(struct causality *c)
{
	mark_heads(&c->clocks, c->atomics->heads, c->atomics->variables);
	mark_heads(&c->clocks, c->atomics->of_write,
	           c->atomics->of_write ? c->atomics->events : 0);
	mark_heads(&c->clocks, c->atomics->pending, c->atomics->threads);
	for (uint64_t i = 0; i < c->atomics->threads; i++)
		clocks_mark(&c->clocks, c->atomics->fence[i].clock);
}
