/*
 * observations.c - SHB's addition to happens-before: the last writer is ordered before the
 * read.
 *
 * A failed try is an observation too (rule 2): of the acquire that held the lock, of the takes
 * that emptied the semaphore, or of the lock's destruction.
 */
#include "engine/order/causality.h"

#include <string.h>

struct observations *observations_new(const struct trace *t)
{
	struct observations *o = g_new0(struct observations, 1);

	o->variables = t->variables_count;
	o->objects = t->objects_count;
	o->last = g_new0(epoch, o->variables + 1);
	o->stride = 1;
	o->holder = g_new0(epoch, o->objects + 1);
	o->holders = g_new0(GArray *, o->objects + 1);
	o->takes = g_new0(GArray *, o->objects + 1);
	o->destroyed = g_new0(epoch, o->objects + 1);
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
	if (!o->borrowed)
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
		epoch last = *observations_last(c->observations, v);

		if (last != 0 && c->observations->plain_only && op_is_atomic(x->op) &&
		    op_is_atomic(c->t->events[epoch_event(last)].op))
			continue;
		if (!observations_known(c, v, x->thread))
			causality_edge(c, event, epoch_thread(last),
			               causality_past_point(c, epoch_event(last)),
			               STEP_OBSERVATION, v, false);
	}
	for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
		observations_write(c, v, event, x->thread);
}

void observations_borrow(struct observations *o, epoch *last, uint32_t stride)
{
	g_free(o->last);
	o->last = last;
	o->stride = stride;
	o->borrowed = true;
}

/* -- tries ---------------------------------------------------------------------------- */

/* Keep the last event of each thread. */
static void epochs_add(GArray **list, epoch own)
{
	if (*list == NULL)
		*list = g_array_new(FALSE, FALSE, sizeof(epoch));
	for (guint i = 0; i < (*list)->len; i++) {
		epoch *other = &g_array_index(*list, epoch, i);

		if (epoch_thread(*other) == epoch_thread(own)) {
			*other = own;
			return;
		}
	}
	g_array_append_val(*list, own);
}

static void epochs_remove(GArray *list, uint32_t thread)
{
	for (guint i = 0; list != NULL && i < list->len; i++) {
		if (epoch_thread(g_array_index(list, epoch, i)) == thread) {
			g_array_remove_index_fast(list, i);
			return;
		}
	}
}

static void try_edge(struct causality *c, uint32_t event, epoch seen)
{
	causality_edge(c, event, epoch_thread(seen), causality_past_point(c, epoch_event(seen)),
	               STEP_OBSERVATION, NONE, false);
}

static void try_edges(struct causality *c, uint32_t event, const GArray *list)
{
	for (guint i = 0; list != NULL && i < list->len; i++)
		try_edge(c, event, g_array_index(list, epoch, i));
}

/* Usually one holder. Shared locks have several, as have locks that --lenient took away. */
static void holders_add(struct observations *o, const struct event *x, epoch own)
{
	epoch *holder = &o->holder[x->target];

	o->destroyed[x->target] = 0;
	if (x->op == OP_RACQ) {
		epochs_add(&o->holders[x->target], own);
		return;
	}
	if (*holder != 0 && epoch_thread(*holder) != x->thread)
		epochs_add(&o->holders[x->target], *holder);
	*holder = own;
}

static void holders_remove(struct observations *o, const struct event *x)
{
	if (epoch_thread(o->holder[x->target]) == x->thread)
		o->holder[x->target] = 0;
	epochs_remove(o->holders[x->target], x->thread);
}

static bool lock_is_held(const struct observations *o, uint32_t object)
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
		holders_add(o, x, epoch_of(event, x->thread));
		break;
	case OP_REL:
	case OP_RREL:
		holders_remove(o, x);
		break;
	case OP_TRYFAIL:
		if (o->holder[x->target] != 0)
			try_edge(c, event, o->holder[x->target]);
		try_edges(c, event, o->holders[x->target]);
		if (o->destroyed[x->target] != 0 && !lock_is_held(o, x->target))
			try_edge(c, event, o->destroyed[x->target]);
		break;
	case OP_DESTROY:
		o->destroyed[x->target] = epoch_of(event, x->thread);
		break;
	case OP_POST:
		o->counts[x->target]++;
		break;
	case OP_TAKE:
		o->counts[x->target]--;
		epochs_add(&o->takes[x->target], epoch_of(event, x->thread));
		break;
	case OP_TAKETRYFAIL:
		if (o->counts[x->target] == 0)
			try_edges(c, event, o->takes[x->target]);
		break;
	default:
		break;
	}
}

/* -- dropping regions --------------------------------------------------------------------- */

/* The clock of an observed event is looked up in its thread's regions (causality_past_point). A
 * region is dropped when every thread is ordered after it, or when none of its events can be
 * observed. */

/* The least component for `thread` in the clocks of the other threads. */
static uint32_t known_by_all(const struct causality *c, uint32_t thread)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		if (t != thread)
			least = MIN(least, clocks_now(&c->clocks, t)[thread]);
	}
	return least;
}

static void forget_known(struct sync_regions *s, uint32_t known)
{
	uint32_t past = 0;

	while (past + 1 < s->count && s->of[past + 1].start <= known)
		past++;
	if (past == 0) /* there may be no array */
		return;
	s->count -= past;
	memmove(s->of, s->of + past, s->count * sizeof(struct sync_region));
}

/* `unobserved` is only used in kept walks; here it marks. */
enum { UNUSED = UINT32_MAX };

static void region_use(struct causality *c, epoch seen)
{
	struct sync_region *s = seen == 0 ? NULL : causality_region(c, epoch_event(seen));

	if (s != NULL)
		s->unobserved = 0;
}

static void regions_use_all(struct causality *c, GArray **lists, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		for (guint j = 0; lists[i] != NULL && j < lists[i]->len; j++)
			region_use(c, g_array_index(lists[i], epoch, j));
	}
}

static void drop_unused(struct sync_regions *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		if (s->of[i].unobserved != UNUSED || i + 1 == s->count)
			s->of[kept++] = s->of[i];
	}
	s->count = kept;
}

/* Drop the regions without an event that can be observed now; looks at every variable. */
static void forget_unused(struct causality *c)
{
	const struct observations *o = c->observations;

	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		for (uint32_t i = 0; i < c->regions[t].count; i++)
			c->regions[t].of[i].unobserved = UNUSED;
	}
	for (uint32_t v = 0; v < o->variables; v++)
		region_use(c, *observations_last(o, v));
	for (uint64_t i = 0; i < o->objects; i++)
		region_use(c, o->holder[i]);
	regions_use_all(c, o->holders, o->objects);
	regions_use_all(c, o->takes, o->objects);
	for (uint32_t t = 0; t < c->clocks.threads; t++)
		drop_unused(&c->regions[t]);
	c->clocks.marked += o->variables + o->objects;
}

void observations_mark(struct causality *c)
{
	enum { FEW = 1 << 11 };
	guint left = 0;

	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		forget_known(&c->regions[t], known_by_all(c, t));
		left += c->regions[t].count;
	}
	/* A thread that waits or has ended keeps known_by_all low. */
	if (left > FEW)
		forget_unused(c);
	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		for (uint32_t i = 0; i < c->regions[t].count; i++)
			clocks_mark(&c->clocks, c->regions[t].of[i].clock);
	}
}
