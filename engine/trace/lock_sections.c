/*
 * lock_sections.c - see lock_sections.h.
 */
#include "engine/trace/lock_sections.h"

/* Scratch of lock_sections_init. */
struct maker {
	const struct trace *t;
	GArray *items, *uses; /* the results */
	GArray *recorded;     /* struct lock_section: of one lock, in recorded order */
	GArray *threads;      /* uint32_t: those that use it */
	uint32_t *count;      /* by thread: its sections; between locks 0 */
};

/* The sections of a lock and the threads that use it. */
static void find_sections(struct maker *m, uint32_t object)
{
	const struct trace *t = m->t;
	struct event_list list = event_list_at(&t->index->object_events, object);
	const uint32_t *position = t->index->position;

	g_array_set_size(m->recorded, 0);
	g_array_set_size(m->threads, 0);
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t a = list.items[i];
		const struct event *x = &t->events[a];
		uint32_t thread = x->thread, release = t->index->partner[a];

		if (!op_acquires(x->op) || event_inert(x))
			continue;
		struct lock_section s = { .acquire = a,
			                  .release = release,
			                  .p = position[a],
			                  .q = release == NONE ? NONE : position[release],
			                  .thread = thread,
			                  .exclusive = x->op == OP_ACQ };
		g_array_append_val(m->recorded, s);
		if (m->count[thread]++ == 0)
			g_array_append_val(m->threads, thread);
	}
}

static int by_number(gconstpointer a, gconstpointer b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Appends the sections of a lock, by thread: a counting sort, as a thread's are in its order.
 */
static void add_sections(struct maker *m, uint32_t object)
{
	uint32_t at = m->items->len;

	find_sections(m, object);
	g_array_sort(m->threads, by_number);
	for (guint i = 0; i < m->threads->len; i++) {
		uint32_t thread = g_array_index(m->threads, uint32_t, i);
		struct lock_user use = { thread, at, m->count[thread] };

		g_array_append_val(m->uses, use);
		m->count[thread] = at; /* its next one's place */
		at += use.count;
	}
	g_array_set_size(m->items, at);
	for (guint i = 0; i < m->recorded->len; i++) {
		struct lock_section s = g_array_index(m->recorded, struct lock_section, i);

		g_array_index(m->items, struct lock_section, m->count[s.thread]++) = s;
	}
	for (guint i = 0; i < m->threads->len; i++)
		m->count[g_array_index(m->threads, uint32_t, i)] = 0;
}

void lock_sections_init(struct lock_sections *l, const struct trace *t)
{
	struct maker m = { t,
		           g_array_new(FALSE, FALSE, sizeof(struct lock_section)),
		           g_array_new(FALSE, FALSE, sizeof(struct lock_user)),
		           g_array_new(FALSE, FALSE, sizeof(struct lock_section)),
		           g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		           g_new0(uint32_t, t->threads_count + 1) };

	l->use_start = g_new(uint32_t, t->objects_count + 1);
	for (uint32_t o = 0; o < t->objects_count; o++) {
		l->use_start[o] = m.uses->len;
		add_sections(&m, o);
	}
	l->use_start[t->objects_count] = m.uses->len;
	l->count = m.items->len;
	l->items = (struct lock_section *)(void *)g_array_free(m.items, FALSE);
	l->uses = (struct lock_user *)(void *)g_array_free(m.uses, FALSE);
	g_array_unref(m.recorded);
	g_array_unref(m.threads);
	g_free(m.count);
}

void lock_sections_release(struct lock_sections *l)
{
	g_free(l->items);
	g_free(l->uses);
	g_free(l->use_start);
}
