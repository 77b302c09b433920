/*
 * syncp_table.c - critical sections along a trace, for SyncP; see syncp_private.h.
 */
#include "engine/base/search.h"
#include "engine/predict/syncp/syncp_private.h"

#include <string.h>

void lock_table_init(struct lock_table *l, const struct trace *t)
{
	*l = (struct lock_table){ .threads = t->threads_count, .objects = t->objects_count };
	l->of = g_new0(struct section_list, l->threads + 1);
	for (uint64_t u = 0; u < l->threads; u++)
		l->of[u].held = NONE;
}

void lock_table_release(struct lock_table *l)
{
	for (uint64_t u = 0; l->of != NULL && u < l->threads; u++)
		g_free(l->of[u].items);
	g_free(l->of);
	g_free(l->acquires);
	g_free(l->events);
	g_free(l->first);
	*l = (struct lock_table){ 0 };
}

/* -- along the trace ----------------------------------------------------------------------- */

static uint32_t push_section(struct section_list *list, struct section section)
{
	if (G_UNLIKELY(list->count == list->room)) {
		list->room = MAX(64, 2 * list->room);
		list->items = g_renew(struct section, list->items, list->room);
	}
	list->items[list->count] = section;
	return list->count++;
}

static void begin_section(struct lock_table *l, const struct event *x, uint32_t event)
{
	struct section_list *list = &l->of[x->thread];
	struct section fresh = { event, event, NONE, list->held, list->lockset };

	fresh.lock = x->target * 2 + (x->op == OP_ACQ);
	list->held = push_section(list, fresh);
	list->open++;
}

/* The first index of a section in the list. */
static uint32_t first_place(const struct section_list *list, uint32_t section)
{
	uint32_t acquire = list->items[section].acquire;

	if (list->items[section].since == acquire)
		return section;
	return search_end(i, 0u, section, list->items[i].since < acquire);
}

/* Push the open sections again, so that a search finds these alone. */
static void push_open(struct section_list *list, struct locksets *locksets, uint32_t event)
{
	uint32_t *open = g_new(uint32_t, list->open + 1), count = 0, set = 0;

	for (uint32_t i = list->held; i != NONE; i = list->items[i].outer) {
		if (section_release(list, i) == NONE)
			open[count++] = i;
	}
	for (list->held = NONE; count > 0; count--) {
		struct section again = list->items[open[count - 1]];

		set = lockset_with(locksets, set, again.lock);
		again.lockset = set;
		again.since = event;
		again.outer = list->held;
		list->held = push_section(list, again);
	}
	list->ended = 0;
	g_free(open);
}

static void end_section(struct section_list *list, struct locksets *locksets,
                        const struct event *x, uint32_t event)
{
	uint32_t i = list->held, lock = x->target * 2 + (x->op == OP_REL);
	struct section again;

	while (i != NONE && (list->items[i].lock != lock || section_release(list, i) != NONE))
		i = list->items[i].outer;
	if (i == NONE)
		return;
	list->items[first_place(list, i)].release = event;
	list->open--;
	for (list->ended++; list->held != NONE && section_release(list, list->held) != NONE;
	     list->ended--)
		list->held = list->items[list->held].outer;
	if (list->ended >= list->open) {
		if (list->ended > 0)
			push_open(list, locksets, event);
	} else if (list->ended > 0) {
		again = list->items[list->held];
		again.since = event;
		again.lockset = list->lockset;
		list->held = push_section(list, again);
	}
}

uint32_t lock_table_event(struct lock_table *l, struct locksets *locksets,
                          const struct event *x, uint32_t event)
{
	struct section_list *list = &l->of[x->thread];

	list->lockset = lockset_moved(locksets, list->lockset, x);
	l->shared |= x->op == OP_RACQ;
	if (op_acquires(x->op))
		begin_section(l, x, event);
	else
		end_section(list, locksets, x, event);
	return list->lockset;
}

/* -- the acquires by lock ------------------------------------------------------------------ */

/* Counts the acquires of one thread. */
static void count_acquires(struct lock_table *l, uint32_t thread, GArray *acquires)
{
	const struct section_list *list = &l->of[thread];

	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t *first = &l->first[list->items[i].lock];
		struct acquires fresh = { thread, *first };

		if (list->items[i].since != list->items[i].acquire)
			continue;
		if (*first == NONE ||
		    g_array_index(acquires, struct acquires, *first).thread != thread) {
			*first = acquires->len;
			g_array_append_val(acquires, fresh);
		}
		g_array_index(acquires, struct acquires, *first).count++;
	}
}

/* (A lock's first acquires are those of the last counted thread.) */
static void place_acquires(struct lock_table *l, uint32_t thread)
{
	const struct section_list *list = &l->of[thread];

	for (uint32_t i = 0; i < list->count; i++) {
		struct acquires *a = &l->acquires[l->first[list->items[i].lock]];

		if (list->items[i].since == list->items[i].acquire)
			l->events[a->start + a->count++] = list->items[i].acquire;
	}
}

void lock_table_end(struct lock_table *l)
{
	GArray *acquires = g_array_new(FALSE, FALSE, sizeof(struct acquires));
	uint64_t all = 0;
	uint32_t begun = 0, sum = 0;

	for (uint64_t u = 0; u < l->threads; u++)
		all += l->of[u].count;
	l->events = g_new(uint32_t, all + 1);
	l->first = g_new(uint32_t, 2 * l->objects + 1);
	memset(l->first, 255, (2 * l->objects + 1) * sizeof(uint32_t));
	for (uint64_t u = 0; u < l->threads; u++) {
		count_acquires(l, (uint32_t)u, acquires);
		l->acquires = (struct acquires *)(void *)acquires->data;
		for (; begun < acquires->len; begun++) {
			l->acquires[begun].start = sum;
			sum += l->acquires[begun].count;
			l->acquires[begun].count = 0;
		}
		place_acquires(l, (uint32_t)u);
	}
	l->acquires = (struct acquires *)(void *)g_array_free(acquires, FALSE);
}

/* -- questions ----------------------------------------------------------------------------- */

uint32_t section_release(const struct section_list *list, uint32_t section)
{
	return list->items[first_place(list, section)].release;
}

uint32_t sections_held(const struct section_list *list, uint32_t last, uint32_t limit)
{
	while (last != NONE && section_release(list, last) < limit)
		last = list->items[last].outer;
	return last;
}

uint32_t lock_table_held(const struct lock_table *l, uint32_t thread, uint32_t limit)
{
	const struct section_list *list = &l->of[thread];
	uint32_t low = search_end(i, 0, list->count, list->items[i].since < limit);
	return sections_held(list, low == 0 ? NONE : low - 1, limit);
}
