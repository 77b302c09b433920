/*
 * observations.c - what SHB adds to happens-before: each read's last writer before the
 * read.
 *
 * A try that failed is an observation too (rule 2): it has seen the lock held, or all the
 * semaphore's counts taken, so the acquire, or the takes, are before it.
 */
#include "engine/order/causality.h"

struct observations *observations_new(const struct trace *t)
{
	struct observations *o = g_new0(struct observations, 1);

	o->variables = t->variables_count;
	o->objects = t->objects_count;
	o->last = g_new(struct last_write, o->variables + 1);
	for (uint64_t i = 0; i < o->variables; i++)
		o->last[i].event = NONE, o->last[i].row = 0;
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
	const struct last_write *last = c->observations->last;

	for (uint32_t v = run.first; op_reads(x->op) && v < run.first + run.count; v++) {
		if (last[v].event != NONE)
			causality_edge(c, event, last[v].thread,
			               (struct point){ last[v].event, last[v].row },
			               STEP_OBSERVATION, v, false);
	}
	for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
		observations_write(c, v, event, x->thread);
}

/* -- tries ---------------------------------------------------------------------------- */

/* Of each thread the last point. */
static void remember(const struct trace *t, GArray **list, struct point own)
{
	if (*list == NULL)
		*list = g_array_new(FALSE, FALSE, sizeof(struct point));
	for (guint i = 0; i < (*list)->len; i++) {
		struct point *p = &g_array_index(*list, struct point, i);

		if (t->events[p->event].thread == t->events[own.event].thread) {
			*p = own;
			return;
		}
	}
	g_array_append_val(*list, own);
}

static void forget(const struct trace *t, GArray *list, uint32_t thread)
{
	for (guint i = 0; list != NULL && i < list->len; i++) {
		if (t->events[g_array_index(list, struct point, i).event].thread == thread) {
			g_array_remove_index_fast(list, i);
			return;
		}
	}
}

static void observe_all(struct causality *c, uint32_t event, const GArray *list)
{
	for (guint i = 0; list != NULL && i < list->len; i++) {
		struct point p = g_array_index(list, struct point, i);

		causality_edge(c, event, c->t->events[p.event].thread, p, STEP_OBSERVATION,
		               NONE, false);
	}
}

void observations_try(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct observations *o = c->observations;

	switch (x->op) {
	case OP_ACQ:
	case OP_RACQ:
		remember(c->t, &o->holders[x->target], causality_point(c, event));
		break;
	case OP_REL:
	case OP_RREL:
		forget(c->t, o->holders[x->target], x->thread);
		break;
	case OP_TRYFAIL:
		observe_all(c, event, o->holders[x->target]);
		break;
	case OP_POST:
		o->counts[x->target]++;
		break;
	case OP_TAKE:
		o->counts[x->target]--;
		remember(c->t, &o->takes[x->target], causality_point(c, event));
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
			clocks_mark(clocks, g_array_index(lists[i], struct point, j).row);
	}
}

void observations_mark(struct causality *c)
{
	const struct observations *o = c->observations;

	for (uint64_t v = 0; v < o->variables; v++)
		clocks_mark(&c->clocks, o->last[v].row);
	mark_lists(&c->clocks, o->holders, o->objects);
	mark_lists(&c->clocks, o->takes, o->objects);
}
