/*
 * observations.c - what SHB adds to happens-before: each read's last writer before the
 * read.
 *
 * A try that failed is an observation too (rule 2): it has seen the lock held, or all the
 * semaphore's counts taken, so the acquire, or the takes, are before it.
 */
#include "engine/order/causality.h"

struct write {
	struct point at;
	uint32_t thread;
};
struct observations {
	struct write *last; /* by variable */
	uint64_t variables;
	GArray **holders; /* by object: struct write, acquires not yet released; or NULL */
	GArray **takes;   /* by object: struct write, the last take of each thread; or NULL */
	int64_t *counts;  /* by object: a semaphore's count */
	uint64_t objects;
};

struct observations *observations_new(const struct trace *t)
{
	struct observations *o = g_new0(struct observations, 1);

	o->variables = t->variables_count;
	o->objects = t->objects_count;
	o->last = g_new(struct write, o->variables + 1);
	for (uint64_t i = 0; i < o->variables; i++)
		o->last[i].at = NO_POINT;
	o->holders = g_new0(GArray *, o->objects + 1);
	o->takes = g_new0(GArray *, o->objects + 1);
	o->counts = g_new0(int64_t, o->objects + 1);
	for (uint64_t i = 0; i < o->objects; i++)
		o->counts[i] = t->objects[i].count;
	return o;
}

void observations_free(struct observations *o)
{
	if (o == NULL)
		return;
	for (uint64_t i = 0; i < o->objects; i++) {
		if (o->holders[i] != NULL)
			g_array_free(o->holders[i], TRUE);
		if (o->takes[i] != NULL)
			g_array_free(o->takes[i], TRUE);
	}
	g_free(o->last);
	g_free(o->holders);
	g_free(o->takes);
	g_free(o->counts);
	g_free(o);
}

void observations_access(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);
	struct write *last = c->observations->last + run.first;
	struct write own = { NO_POINT, x->thread };

	for (uint32_t i = 0; op_reads(x->op) && i < run.count; i++) {
		if (last[i].at.event != NONE)
			causality_edge(c, event, last[i].thread, last[i].at, STEP_OBSERVATION,
			               run.first + i, false);
	}
	if (!op_writes(x->op))
		return;
	own.at = causality_point(c, event);
	for (uint32_t i = 0; i < run.count; i++)
		last[i] = own;
}

/* -- tries ---------------------------------------------------------------------------- */

static void remember(GArray **list, struct write own)
{
	if (*list == NULL)
		*list = g_array_new(FALSE, FALSE, sizeof(struct write));
	for (guint i = 0; i < (*list)->len; i++) {
		struct write *w = &g_array_index(*list, struct write, i);

		if (w->thread == own.thread) {
			*w = own;
			return;
		}
	}
	g_array_append_val(*list, own);
}

static void forget(GArray *list, uint32_t thread)
{
	for (guint i = 0; list != NULL && i < list->len; i++) {
		if (g_array_index(list, struct write, i).thread == thread) {
			g_array_remove_index_fast(list, i);
			return;
		}
	}
}

static void observe_all(struct causality *c, uint32_t event, const GArray *list)
{
	for (guint i = 0; list != NULL && i < list->len; i++) {
		struct write w = g_array_index(list, struct write, i);

		causality_edge(c, event, w.thread, w.at, STEP_OBSERVATION, NONE, false);
	}
}

void observations_try(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct observations *o = c->observations;
	struct write own = { NO_POINT, x->thread };

	switch (x->op) {
	case OP_ACQ:
	case OP_RACQ:
		own.at = causality_point(c, event);
		remember(&o->holders[x->target], own);
		break;
	case OP_REL:
	case OP_RREL:
		forget(o->holders[x->target], x->thread);
		break;
	case OP_TRYFAIL:
		observe_all(c, event, o->holders[x->target]);
		break;
	case OP_POST:
		o->counts[x->target]++;
		break;
	case OP_TAKE:
		o->counts[x->target]--;
		own.at = causality_point(c, event);
		remember(&o->takes[x->target], own);
		break;
	case OP_TAKETRYFAIL:
		if (o->counts[x->target] == 0)
			observe_all(c, event, o->takes[x->target]);
		break;
	default:
		break;
	}
}

static void mark_lists(struct clocks *clocks, GArray **lists, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		for (guint j = 0; lists[i] != NULL && j < lists[i]->len; j++)
			clocks_mark(clocks, g_array_index(lists[i], struct write, j).at.row);
	}
}

void observations_mark(struct causality *c)
{
	const struct observations *o = c->observations;

	for (uint64_t v = 0; v < o->variables; v++)
		clocks_mark(&c->clocks, o->last[v].at.row);
	mark_lists(&c->clocks, o->holders, o->objects);
	mark_lists(&c->clocks, o->takes, o->objects);
}
