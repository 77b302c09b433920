/*
 * locks.c - happens-before's lock edges: rel(l) before every later acq(l) that the two
 * critical sections exclude.
 *
 * Of exclusive sections the last release stands for all before it; the shared ones since
 * then are kept thread by thread until a writer has come after them.
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

void locks_mark(struct causality *c)
{
	for (uint64_t i = 0; i < c->locks->count; i++) {
		const struct lock *l = &c->locks->of[i];

		clocks_mark(&c->clocks, l->row);
		for (guint j = 0; l->readers != NULL && j < l->readers->len; j++)
			clocks_mark(&c->clocks,
			            g_array_index(l->readers, struct reader, j).at.row);
	}
}
