/*
 * observations.c - what SHB adds to happens-before: each read's last writer before the
 * read.
 *
 * A try that failed is an observation too (rule 2): it has seen the lock held, or all the
 * semaphore's counts taken, so the acquire, or the takes, are before it; or, where nobody held
 * the lock, that it was destroyed.
 */
#include "engine/order/causality.h"

#include <string.h>

struct observations *observations_new(const struct trace *t)
{
	struct observations *o = g_new0(struct observations, 1);

	o->variables = t->variables_count;
	o->objects = t->objects_count;
	o->last = g_new0(stamp, o->variables + 1);
	o->stride = 1;
	o->holder = g_new0(stamp, o->objects + 1);
	o->holders = g_new0(GArray *, o->objects + 1);
	o->takes = g_new0(GArray *, o->objects + 1);
	o->destroyed = g_new0(stamp, o->objects + 1);
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
	g_free(o->holder);
	g_free(o->holders);
	g_free(o->takes);
	g_free(o->destroyed);
	g_free(o->counts);
	g_free(o);
}

void observations_access(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);

	for (uint32_t v = run.first; op_reads(x->op) && v < run.first + run.count; v++) {
		stamp last = *observations_last(c->observations, v);

		if (last != 0 && c->observations->plain_only && op_is_atomic(x->op) &&
		    op_is_atomic(c->t->events[stamp_event(last)].op))
			continue;
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

/* Of each thread the last event. */
static void remember(GArray **list, stamp own)
{
	if (*list == NULL)
		*list = g_array_new(FALSE, FALSE, sizeof(stamp));
	for (guint i = 0; i < (*list)->len; i++) {
		stamp *other = &g_array_index(*list, stamp, i);

		if (stamp_thread(*other) == stamp_thread(own)) {
			*other = own;
			return;
		}
	}
	g_array_append_val(*list, own);
}

static void forget(GArray *list, uint32_t thread)
{
	for (guint i = 0; list != NULL && i < list->len; i++) {
		if (stamp_thread(g_array_index(list, stamp, i)) == thread) {
			g_array_remove_index_fast(list, i);
			return;
		}
	}
}

static void observe(struct causality *c, uint32_t event, stamp seen)
{
	causality_edge(c, event, stamp_thread(seen), causality_past_point(c, stamp_event(seen)),
	               STEP_OBSERVATION, NONE, false);
}

static void observe_all(struct causality *c, uint32_t event, const GArray *list)
{
	for (guint i = 0; list != NULL && i < list->len; i++)
		observe(c, event, g_array_index(list, stamp, i));
}

/* One holder is the rule; more are there who share the lock, or had it taken from them. */
static void hold(struct observations *o, const struct event *x, stamp own)
{
	stamp *holder = &o->holder[x->target];

	o->destroyed[x->target] = 0;
	if (x->op == OP_RACQ) {
		remember(&o->holders[x->target], own);
		return;
	}
	if (*holder != 0 && stamp_thread(*holder) != x->thread)
		remember(&o->holders[x->target], *holder);
	*holder = own;
}

static void let_go(struct observations *o, const struct event *x)
{
	if (stamp_thread(o->holder[x->target]) == x->thread)
		o->holder[x->target] = 0;
	forget(o->holders[x->target], x->thread);
}

static bool held(const struct observations *o, uint32_t object)
{
	return o->holder[object] != 0 ||
	       (o->holders[object] != NULL && o->holders[object]->len > 0);
}

void observations_try(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct observations *o = c->observations;

	if (o->plain_only)
		return;
	switch (x->op) {
	case OP_ACQ:
	case OP_RACQ:
		hold(o, x, stamp_of(event, x->thread));
		break;
	case OP_REL:
	case OP_RREL:
		let_go(o, x);
		break;
	case OP_TRYFAIL:
		if (o->holder[x->target] != 0)
			observe(c, event, o->holder[x->target]);
		observe_all(c, event, o->holders[x->target]);
		if (o->destroyed[x->target] != 0 && !held(o, x->target))
			observe(c, event, o->destroyed[x->target]);
		break;
	case OP_DESTROY:
		o->destroyed[x->target] = stamp_of(event, x->thread);
		break;
	case OP_POST:
		o->counts[x->target]++;
		break;
	case OP_TAKE:
		o->counts[x->target]--;
		remember(&o->takes[x->target], stamp_of(event, x->thread));
		break;
	case OP_TAKETRYFAIL:
		if (o->counts[x->target] == 0)
			observe_all(c, event, o->takes[x->target]);
		break;
	default:
		break;
	}
}

/* -- what may be asked for ---------------------------------------------------------------- */

/*
 * What an event knew is looked up in its thread's stretches when somebody observes it who
 * does not know it (causality_past_point).  A stretch may go when nobody can any more.
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

static void forget_known(struct stretches *s, uint32_t known)
{
	uint32_t past = 0;

	while (past + 1 < s->count && s->of[past + 1].start <= known)
		past++;
	if (past == 0) /* there may be no array */
		return;
	s->count -= past;
	memmove(s->of, s->of + past, s->count * sizeof(struct stretch));
}

/* `unobserved` is for questions about a kept walk; here it serves as the mark. */
enum { UNUSED = UINT32_MAX };

static void use(struct causality *c, stamp seen)
{
	struct stretch *s = seen == 0 ? NULL : causality_stretch(c, stamp_event(seen));

	if (s != NULL)
		s->unobserved = 0;
}

static void use_all(struct causality *c, GArray **lists, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		for (guint j = 0; lists[i] != NULL && j < lists[i]->len; j++)
			use(c, g_array_index(lists[i], stamp, j));
	}
}

static void drop_unused(struct stretches *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		if (s->of[i].unobserved != UNUSED || i + 1 == s->count)
			s->of[kept++] = s->of[i];
	}
	s->count = kept;
}

/* All but what can be observed at this moment; costs a look at each variable. */
static void forget_unused(struct causality *c)
{
	const struct observations *o = c->observations;

	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		for (uint32_t i = 0; i < c->stretches[t].count; i++)
			c->stretches[t].of[i].unobserved = UNUSED;
	}
	for (uint32_t v = 0; v < o->variables; v++)
		use(c, *observations_last(o, v));
	for (uint64_t i = 0; i < o->objects; i++)
		use(c, o->holder[i]);
	use_all(c, o->holders, o->objects);
	use_all(c, o->takes, o->objects);
	for (uint32_t t = 0; t < c->clocks.threads; t++)
		drop_unused(&c->stretches[t]);
	c->clocks.marked += o->variables + o->objects;
}

void observations_mark(struct causality *c)
{
	enum { FEW = 1 << 11 };
	guint left = 0;

	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		forget_known(&c->stretches[t], known_by_all(c, t));
		left += c->stretches[t].count;
	}
	/* A thread that waits, or that has ended, learns nothing more. */
	if (left > FEW)
		forget_unused(c);
	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		for (uint32_t i = 0; i < c->stretches[t].count; i++)
			clocks_mark(&c->clocks, c->stretches[t].of[i].row);
	}
}
