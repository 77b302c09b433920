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
	o->last = g_new0(stamp, o->variables + 1);
	o->stride = 1;
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
	if (!o->lent)
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

	for (uint32_t v = run.first; op_reads(x->op) && v < run.first + run.count; v++) {
		stamp last = *observations_last(c->observations, v);

		if (!observations_known(c, v, x->thread))
			causality_edge(c, event, stamp_thread(last),
			               causality_past_point(c, stamp_event(last)),
			               STEP_OBSERVATION, v, false);
	}
	for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
		observations_write(c, v, event, x->thread);
}

void observations_lend(struct observations *o, stamp *last, uint32_t stride)
{
	g_free(o->last);
	o->last = last;
	o->stride = stride;
	o->lent = true;
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

/*
 * What a write knew is looked up in its thread's stretches when the first read comes that
 * does not know the write (causality_past_point).  A stretch may go when no such read can
 * come any more.
 */

/* How many of a thread's events every other thread knows. */
static uint32_t known_by_all(const struct causality *c, uint32_t thread)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		if (t != thread)
			least = MIN(least, clocks_now(&c->clocks, t)[thread]);
	}
	return least;
}

static void forget_known(GArray *list, uint32_t known)
{
	guint past = 0;

	while (past + 1 < list->len &&
	       g_array_index(list, struct stretch, past + 1).start <= known)
		past++;
	if (past > 0)
		g_array_remove_range(list, 0, past);
}

/* Those that no variable's last write lies in; costs a look at each variable. */
static void forget_overwritten(struct causality *c)
{
	const struct observations *o = c->observations;
	uint32_t none = UINT32_MAX;

	/* `unobserved` is for questions about a kept walk; here it serves as the mark. */
	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		for (guint i = 0; i < c->stretches[t]->len; i++)
			g_array_index(c->stretches[t], struct stretch, i).unobserved = none;
	}
	for (uint32_t v = 0; v < o->variables; v++) {
		stamp last = *observations_last(o, v);
		struct stretch *s = last == 0 ? NULL : causality_stretch(c, stamp_event(last));

		if (s != NULL)
			s->unobserved = 0;
	}
	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		GArray *list = c->stretches[t];
		guint kept = 0;

		for (guint i = 0; i < list->len; i++) {
			struct stretch s = g_array_index(list, struct stretch, i);

			if (s.unobserved != none || i + 1 == list->len)
				g_array_index(list, struct stretch, kept++) = s;
		}
		g_array_set_size(list, kept);
	}
	c->clocks.marked += o->variables;
}

static void mark_stretches(struct causality *c)
{
	enum { FEW = 1 << 11 };
	guint left = 0;

	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		forget_known(c->stretches[t], known_by_all(c, t));
		left += c->stretches[t]->len;
	}
	/* A thread that waits, or that has ended, learns nothing more. */
	if (left > FEW)
		forget_overwritten(c);
	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		for (guint i = 0; i < c->stretches[t]->len; i++)
			clocks_mark(&c->clocks,
			            g_array_index(c->stretches[t], struct stretch, i).row);
	}
}

void observations_mark(struct causality *c)
{
	const struct observations *o = c->observations;

	mark_stretches(c);
	mark_lists(&c->clocks, o->holders, o->objects);
	mark_lists(&c->clocks, o->takes, o->objects);
}
