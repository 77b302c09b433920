/*
 * syncp_table.c - the locks along a trace for SyncP.  See syncp_private.h.
 */
#include "engine/predict/syncp_private.h"

#include <string.h>

void lock_table_init(struct lock_table *l, const struct trace *t)
{
	l->objects = t->objects_count;
	l->threads = t->threads_count;
	l->acquires = g_new0(GArray *, l->objects + 1);
	l->changes = g_new0(GArray *, l->threads + 1);
	l->held = g_array_new(FALSE, FALSE, sizeof(struct held));
	for (uint64_t u = 0; u < l->threads; u++)
		l->changes[u] = g_array_new(FALSE, FALSE, sizeof(struct change));
}

static void acquires_free(GArray *list)
{
	for (guint i = 0; i < list->len; i++) {
		g_array_free(g_array_index(list, struct acquires, i).all, TRUE);
		g_array_free(g_array_index(list, struct acquires, i).exclusive, TRUE);
	}
	g_array_free(list, TRUE);
}

void lock_table_release(struct lock_table *l)
{
	if (l->held == NULL)
		return;
	for (uint64_t o = 0; o < l->objects; o++) {
		if (l->acquires[o] != NULL)
			acquires_free(l->acquires[o]);
	}
	for (uint64_t u = 0; u < l->threads; u++)
		g_array_free(l->changes[u], TRUE);
	g_free(l->acquires);
	g_free(l->changes);
	g_array_free(l->held, TRUE);
}

static struct acquires *acquires_of(struct lock_table *l, uint32_t object, uint32_t thread)
{
	struct acquires fresh = { .thread = thread };
	GArray **list = &l->acquires[object];

	if (*list == NULL)
		*list = g_array_new(FALSE, FALSE, sizeof(struct acquires));
	for (guint i = 0; i < (*list)->len; i++) {
		if (g_array_index(*list, struct acquires, i).thread == thread)
			return &g_array_index(*list, struct acquires, i);
	}
	fresh.all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	fresh.exclusive = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(*list, fresh);
	return &g_array_index(*list, struct acquires, (*list)->len - 1);
}

/* The list without one acquire; what lies inside of it is copied. */
static uint32_t held_without(struct lock_table *l, uint32_t list, uint32_t acquire)
{
	struct held h;

	if (list == NONE)
		return NONE;
	h = g_array_index(l->held, struct held, list);
	if (h.acquire == acquire)
		return h.outer;
	h.outer = held_without(l, h.outer, acquire);
	g_array_append_val(l->held, h);
	return l->held->len - 1;
}

uint32_t lock_table_event(struct lock_table *l, struct locksets *locksets,
                          const struct trace *t, uint32_t event)
{
	const struct event *x = &t->events[event];
	GArray *changes = l->changes[x->thread];
	struct change now = { event, NONE, 0 };

	if (changes->len > 0)
		now = g_array_index(changes, struct change, changes->len - 1);
	now.event = event;
	now.lockset = lockset_moved(locksets, now.lockset, x);
	if (op_acquires(x->op)) {
		struct held h = { event, now.held };
		struct acquires *a = acquires_of(l, x->target, x->thread);

		now.held = l->held->len;
		g_array_append_val(l->held, h);
		g_array_append_val(a->all, event);
		if (x->op == OP_ACQ)
			g_array_append_val(a->exclusive, event);
	} else {
		now.held = held_without(l, now.held, t->index->partner[event]);
	}
	g_array_append_val(changes, now);
	return now.lockset;
}

uint32_t lock_table_held(const struct lock_table *l, uint32_t thread, uint32_t limit)
{
	const GArray *changes = l->changes[thread];
	uint32_t low = 0, high = changes->len;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (g_array_index(changes, struct change, middle).event < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? NONE : g_array_index(changes, struct change, low - 1).held;
}
