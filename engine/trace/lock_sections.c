/*
 * lock_sections.c - see lock_sections.h.
 */
#include "engine/trace/lock_sections.h"

static int by_thread(gconstpointer a, gconstpointer b)
{
	const struct lock_section *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->p < y->p ? -1 : x->p > y->p;
}

/* Append the sections of a lock, by thread. */
static void add_sections(const struct trace *t, uint32_t object, GArray *items)
{
	struct event_list list = event_list_at(&t->index->object_events, object);
	const uint32_t *position = t->index->position;
	guint first = items->len;

	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t a = list.items[i];
		const struct event *x = &t->events[a];
		if (!op_acquires(x->op) || event_inert(x))
			continue;
		uint32_t release = t->index->partner[a];
		struct lock_section s = { .acquire = a,
			                  .release = release,
			                  .p = position[a],
			                  .q = release == NONE ? NONE : position[release],
			                  .thread = x->thread,
			                  .exclusive = x->op == OP_ACQ };
		g_array_append_val(items, s);
	}
	if (items->len - first > 1)
		qsort(&g_array_index(items, struct lock_section, first), items->len - first,
		      sizeof(struct lock_section), by_thread);
}

void lock_sections_init(struct lock_sections *l, const struct trace *t)
{
	GArray *items = g_array_new(FALSE, FALSE, sizeof(struct lock_section));
	GArray *uses = g_array_new(FALSE, FALSE, sizeof(struct lock_user));

	l->use_start = g_new(uint32_t, t->objects_count + 1);
	for (uint32_t o = 0; o < t->objects_count; o++) {
		guint i = items->len;

		l->use_start[o] = uses->len;
		for (add_sections(t, o, items); i < items->len; i++) {
			uint32_t thread = g_array_index(items, struct lock_section, i).thread;
			struct lock_user *last =
			        uses->len > l->use_start[o]
			                ? &g_array_index(uses, struct lock_user, uses->len - 1)
			                : NULL;
			struct lock_user fresh = { thread, i, 1 };

			if (last != NULL && last->thread == thread)
				last->count++;
			else
				g_array_append_val(uses, fresh);
		}
	}
	l->use_start[t->objects_count] = uses->len;
	l->count = items->len;
	l->items = (struct lock_section *)(void *)g_array_free(items, FALSE);
	l->uses = (struct lock_user *)(void *)g_array_free(uses, FALSE);
}

void lock_sections_release(struct lock_sections *l)
{
	g_free(l->items);
	g_free(l->uses);
	g_free(l->use_start);
}
