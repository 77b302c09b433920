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
	o->last = g_new0(epoch, o->variables + 1);
	o->stride = 1;
	return o;
}

void observations_free(struct observations *o)
{
	if (o == NULL)
		return;
	if (!o->borrowed)
		g_free(o->last);
	g_free(o->last_atomic);
	g_free(o);
}

static bool is_of_atomics(const struct observations *o, const struct event *read,
                          uint32_t variable, epoch write)
{
	return o->plain_only && op_is_atomic(read->op) && o->last_atomic != NULL &&
	       write != 0 && o->last_atomic[variable] == write;
}

/* Not read from the trace, where the write may be far back, in a block that would be decoded
 * again. */
static void note_atomic(struct observations *o, struct wide run, epoch write)
{
	if (o->last_atomic == NULL)
		o->last_atomic = g_new0(epoch, o->variables + 1);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		o->last_atomic[v] = write;
}

void observations_access(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);

	for (uint32_t v = run.first; op_reads(x->op) && v < run.first + run.count; v++) {
		epoch last = *observations_last(c->observations, v);

		if (is_of_atomics(c->observations, x, v, last))
			continue;
		if (!observations_known(c, v, x->thread))
			causality_edge(
			        c, event, epoch_thread(last),
			        causality_past_point(c, epoch_event(last), epoch_thread(last)),
			        STEP_OBSERVATION, v, false);
	}
	for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
		observations_write(c, v, event, x->thread);
	if (c->observations->plain_only && op_is_atomic(x->op) && op_writes(x->op))
		note_atomic(c->observations, run, epoch_of(event, x->thread));
}

void observations_borrow(struct observations *o, epoch *last, uint32_t stride)
{
	g_free(o->last);
	o->last = last;
	o->stride = stride;
	o->borrowed = true;
}

/* -- tries ---------------------------------------------------------------------------- */

void observations_try(struct causality *c, uint32_t event)
{
	struct observations *o = c->observations;

	if (o->plain_only)
		return;
	const struct tries *tries = trace_tries(c->t);
	BUG_ON(tries->events[o->next_try] != event);
	struct event_list seen = event_list_at(&tries->observed, o->next_try++);
	for (uint64_t i = 0; i < seen.count; i++) {
		uint32_t from = seen.items[i], thread = c->t->events[from].thread;
		causality_edge(c, event, thread, causality_past_point(c, from, thread),
		               STEP_OBSERVATION, NONE, false);
	}
}

/* -- dropping regions --------------------------------------------------------------------- */

/* A region is kept to look up the clocks of observed events (causality_past_point). It is
 * dropped when every thread is ordered after it, or when none of its events can be observed. */

/* The least component for `thread` in the clocks of the other threads. */
static uint32_t known_by_all(const struct causality *c, uint32_t thread)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		if (t != thread)
			least = MIN(least, clocks_now_time(&c->clocks, t, thread));
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

/* `unobserved` is only used in kept walks; here it marks unused regions. */
enum { UNUSED = UINT32_MAX };

static void region_use(struct causality *c, uint32_t event, uint32_t thread)
{
	struct sync_region *s = regions_find(&c->regions[thread], event);

	if (s != NULL)
		s->unobserved = 0;
}

/* Marks the regions of events that later tries have observed. */
static uint64_t regions_use_tried(struct causality *c)
{
	if (c->observations->plain_only)
		return 0;
	const struct tries *tries = trace_tries(c->t);
	uint64_t first = tries->observed.start[c->observations->next_try];
	uint64_t end = tries->observed.start[tries->count];

	for (uint64_t i = first; i < end; i++)
		region_use(c, tries->observed.items[i],
		           c->t->events[tries->observed.items[i]].thread);
	return end - first;
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

/* Drop the regions without an event that can be observed now; looks at every variable and try.
 */
static void forget_unused(struct causality *c)
{
	const struct observations *o = c->observations;

	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		for (uint32_t i = 0; i < c->regions[t].count; i++)
			c->regions[t].of[i].unobserved = UNUSED;
	}
	for (uint32_t v = 0; v < o->variables; v++) {
		epoch last = *observations_last(o, v);

		if (last != 0)
			region_use(c, epoch_event(last), epoch_thread(last));
	}
	c->clocks.marked += o->variables + regions_use_tried(c);
	for (uint32_t t = 0; t < c->clocks.threads; t++)
		drop_unused(&c->regions[t]);
}

void observations_mark(struct causality *c)
{
	enum { FEW = 1 << 11 };
	guint left = 0;

	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		if (!c->clocks.wide) /* else each would ask each */
			forget_known(&c->regions[t], known_by_all(c, t));
		left += c->regions[t].count;
	}
	/* Beyond FEW, threads that wait or have ended keep known_by_all low: drop the regions
	 * by use. */
	if (left > FEW)
		forget_unused(c);
	for (uint32_t t = 0; t < c->clocks.threads; t++) {
		for (uint32_t i = 0; i < c->regions[t].count; i++)
			clocks_mark(&c->clocks, c->regions[t].of[i].clock);
	}
}
