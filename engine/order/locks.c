/*
 * locks.c - happens-before's lock edges: rel(l) before every later acq(l) that the two
 * critical sections exclude.
 *
 * Of exclusive sections the last release stands for all before it; the shared ones since
 * then are kept thread by thread until a writer has come after them.
 *
 * Most sections are exclusive, and most of their ends only have to be noted: who walks fast
 * does that by itself (locks_lend), and what a release knew is looked up in its thread's
 * stretches when somebody acquires the lock who does not know it.
 */
#include "engine/order/causality.h"

struct reader {
	struct point at;
	uint32_t thread;
};

struct locks *locks_new(const struct trace *t)
{
	struct locks *l = g_new0(struct locks, 1);

	l->count = t->objects_count;
	l->of = g_new0(struct lock, l->count + 1);
	return l;
}

void locks_free(struct locks *l)
{
	if (l == NULL)
		return;
	for (uint64_t i = 0; i < l->count; i++) {
		if (l->of[i].readers != NULL)
			g_array_free(l->of[i].readers, TRUE);
	}
	g_free(l->of);
	g_free(l);
}

/* -- what is lent ---------------------------------------------------------------------------
 */

enum { ACQUIRE, RELEASE, EACH }; /* of the two stamps */

void locks_lend(struct causality *c, stamp *last, stamp shared)
{
	struct locks *l = c->locks;

	l->last = last;
	l->shared = shared;
	/* Sections that overlap (--lenient) are none of the simple ones. */
	for (uint64_t i = 0; c->t->locks_taken && i < l->count; i++)
		last[EACH * i + ACQUIRE] = shared;
	c->clocks.in_place = false;
	causality_keep_stretches(c);
}

void locks_settle(struct causality *c, uint32_t object)
{
	const stamp *last = &c->locks->last[EACH * (size_t)object];
	struct lock *l = &c->locks->of[object];

	if (last[ACQUIRE] == c->locks->shared)
		return;
	if (l->release != last[RELEASE]) {
		l->release = last[RELEASE];
		l->row = causality_past_point(c, stamp_event(l->release)).row;
	}
	if (c->observations != NULL)
		c->observations->holder[object] =
		        last[ACQUIRE] > last[RELEASE] ? last[ACQUIRE] : 0;
}

void locks_learn(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	stamp *last = &c->locks->last[EACH * (size_t)x->target], release = last[RELEASE];
	const struct lock *l = &c->locks->of[x->target];
	struct stretch *of;
	uint32_t row = l->row;

	if (l->release != release) {
		of = stretches_find(&c->stretches[stamp_thread(release)], stamp_event(release));
		row = of == NULL ? 0 : of->row;
	}
	clocks_tell(&c->clocks, x->thread, event, stamp_thread(release),
	            (struct point){ stamp_event(release), row });
	row = c->clocks.now[x->thread];
	stretches_add(&c->stretches[x->thread], (struct stretch){ event, row, row });
	last[ACQUIRE] = stamp_of(event, x->thread);
}

void locks_note(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	stamp *last = &c->locks->last[EACH * (size_t)x->target];

	if (x->op == OP_RACQ || x->op == OP_RREL)
		last[ACQUIRE] = c->locks->shared;
	else if (last[ACQUIRE] != c->locks->shared)
		last[x->op == OP_REL ? RELEASE : ACQUIRE] = stamp_of(event, x->thread);
}

/* -- the edges ------------------------------------------------------------------------------
 */

void locks_acquire(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct lock *l = &c->locks->of[x->target];

	if (l->release != 0)
		causality_edge(c, event, stamp_thread(l->release),
		               (struct point){ stamp_event(l->release), l->row }, STEP_LOCK,
		               x->target, false);
	if (x->op == OP_RACQ || l->readers == NULL)
		return;
	for (guint i = 0; i < l->readers->len; i++) {
		const struct reader *r = &g_array_index(l->readers, struct reader, i);

		causality_edge(c, event, r->thread, r->at, STEP_LOCK, x->target, false);
	}
}

void locks_release(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct lock *l = &c->locks->of[x->target];
	struct reader reader = { causality_point(c, event), x->thread };

	if (x->op == OP_REL) {
		l->release = stamp_of(event, x->thread);
		l->row = reader.at.row;
		if (l->readers != NULL)
			g_array_set_size(l->readers, 0);
		return;
	}
	if (l->readers == NULL)
		l->readers = g_array_new(FALSE, FALSE, sizeof(struct reader));
	for (guint i = 0; i < l->readers->len; i++) {
		struct reader *r = &g_array_index(l->readers, struct reader, i);

		if (r->thread == x->thread) {
			*r = reader;
			return;
		}
	}
	g_array_append_val(l->readers, reader);
}

/* All is settled, so nobody asks for what is past. */
static void forget_past(struct causality *c)
{
	for (uint32_t u = 0; u < c->clocks.threads; u++) {
		struct stretches *s = &c->stretches[u];

		if (s->count > 1) {
			s->of[0] = s->of[s->count - 1];
			s->count = 1;
		}
	}
}

void locks_mark(struct causality *c)
{
	for (uint64_t i = 0; c->locks->last != NULL && i < c->locks->count; i++)
		locks_settle(c, (uint32_t)i);
	if (c->locks->last != NULL && c->observations == NULL)
		forget_past(c);
	for (uint64_t i = 0; i < c->locks->count; i++) {
		const struct lock *l = &c->locks->of[i];

		clocks_mark(&c->clocks, l->row);
		for (guint j = 0; l->readers != NULL && j < l->readers->len; j++)
			clocks_mark(&c->clocks,
			            g_array_index(l->readers, struct reader, j).at.row);
	}
}
