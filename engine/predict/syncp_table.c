/*
 * syncp_table.c - the locks along a trace for SyncP.  See syncp_private.h.
 */
#include "engine/predict/syncp_private.h"

#include <string.h>

enum { FIRST_SLOTS = 256 };

void lock_table_init(struct lock_table *l, const struct trace *t)
{
	*l = (struct lock_table){ .threads = t->threads_count, .slots_count = FIRST_SLOTS };
	l->first = g_new(uint32_t, t->objects_count + 1);
	memset(l->first, 255, (t->objects_count + 1) * sizeof(uint32_t));
	l->of = g_new0(struct section_list, l->threads + 1);
	for (uint64_t u = 0; u < l->threads; u++)
		l->of[u].held = NONE;
	l->slots = g_new0(uint64_t, l->slots_count);
}

void lock_table_release(struct lock_table *l)
{
	for (uint32_t i = 0; i < l->acquires_count; i++) {
		g_free(l->acquires[i].exclusive.items);
		g_free(l->acquires[i].shared.items);
	}
	for (uint64_t u = 0; l->of != NULL && u < l->threads; u++)
		g_free(l->of[u].items);
	g_free(l->acquires);
	g_free(l->of);
	g_free(l->first);
	g_free(l->slots);
}

/* Room for one more in an array of `items`, `count` and `room`. */
#define GROW(items, count, room) \
	do { \
		if (G_UNLIKELY((count) == (room))) { \
			(room) = MAX(16, 2 * (room)); \
			(items) = g_realloc_n((items), (room), sizeof(*(items))); \
		} \
	} while (0)

static void push_number(struct numbers *n, uint32_t number)
{
	GROW(n->items, n->count, n->room);
	n->items[n->count++] = number;
}

static uint32_t push_section(struct section_list *list, struct section section)
{
	GROW(list->items, list->count, list->room);
	list->items[list->count] = section;
	return list->count++;
}

/* -- whose acquires ------------------------------------------------------------------------- */

/* A slot: object, thread and one more than the index, in 64 bits; 0 is free. */
static uint64_t *slot_of(const struct lock_table *l, uint32_t object, uint32_t thread)
{
	uint64_t hash = (((uint64_t)object << 16 | thread) + 1) * 0x9e3779b97f4a7c15u;
	uint32_t at = hash >> 32 & (l->slots_count - 1);

	for (; l->slots[at] != 0; at = (at + 1) & (l->slots_count - 1)) {
		uint64_t slot = l->slots[at];

		if (slot >> 32 == object && l->acquires[(uint32_t)slot - 1].thread == thread)
			break;
	}
	return &l->slots[at];
}

static void slots_grow(struct lock_table *l)
{
	uint64_t *old = l->slots;
	uint32_t count = l->slots_count;

	l->slots_count *= 2;
	l->slots = g_new0(uint64_t, l->slots_count);
	for (uint32_t i = 0; i < count; i++) {
		if (old[i] != 0)
			*slot_of(l, old[i] >> 32, l->acquires[(uint32_t)old[i] - 1].thread) =
			        old[i];
	}
	g_free(old);
}

static struct acquires *acquires_of(struct lock_table *l, uint32_t object, uint32_t thread)
{
	uint64_t *slot = slot_of(l, object, thread);

	if (G_LIKELY(*slot != 0))
		return &l->acquires[(uint32_t)*slot - 1];
	GROW(l->acquires, l->acquires_count, l->acquires_room);
	l->acquires[l->acquires_count] =
	        (struct acquires){ .thread = thread, .next = l->first[object] };
	l->first[object] = l->acquires_count++;
	*slot = (uint64_t)object << 32 | l->acquires_count;
	if (2 * l->acquires_count > l->slots_count)
		slots_grow(l);
	return &l->acquires[l->acquires_count - 1];
}

/* -- along the trace ------------------------------------------------------------------------ */

static uint32_t lockset_of(const struct section_list *list, uint32_t section)
{
	return section == NONE ? 0 : list->items[section].lockset;
}

static void begin_section(struct lock_table *l, struct locksets *locksets,
                          const struct event *x, uint32_t event)
{
	struct acquires *a = acquires_of(l, x->target, x->thread);
	struct section_list *list = &l->of[x->thread];
	bool exclusive = x->op == OP_ACQ;
	struct section fresh = { event, event, NONE, list->held };

	push_number(exclusive ? &a->exclusive : &a->shared, event);
	l->shared |= !exclusive;
	fresh.lockset = lockset_moved(locksets, lockset_of(list, list->held), x);
	fresh.lock = x->target * 2 + exclusive;
	list->held = push_section(list, fresh);
}

/* The list from a section on, without another that has ended; what lies inside of that is there
 * once more. */
static uint32_t without(struct section_list *list, struct locksets *locksets, uint32_t from,
                        uint32_t ended, uint32_t event, const struct event *release)
{
	struct section again = list->items[from];

	if (from == ended)
		return again.outer;
	again.outer = without(list, locksets, again.outer, ended, event, release);
	again.since = event;
	again.lockset = lockset_moved(locksets, again.lockset, release);
	return push_section(list, again);
}

/* The place of a section when it began. */
static uint32_t first_place(const struct section_list *list, uint32_t section)
{
	uint32_t acquire = list->items[section].acquire, low = 0, high = section;

	if (list->items[section].since == acquire)
		return section;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (list->items[middle].since < acquire)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void end_section(struct section_list *list, struct locksets *locksets,
                        const struct event *x, uint32_t event)
{
	uint32_t i = list->held, lock = x->target * 2 + (x->op == OP_REL);

	while (i != NONE && list->items[i].lock != lock)
		i = list->items[i].outer;
	if (i == NONE)
		return;
	list->items[first_place(list, i)].release = event;
	list->held = i == list->held ? list->items[i].outer
	                             : without(list, locksets, list->held, i, event, x);
}

uint32_t lock_table_event(struct lock_table *l, struct locksets *locksets,
                          const struct event *x, uint32_t event)
{
	struct section_list *list = &l->of[x->thread];

	if (op_acquires(x->op))
		begin_section(l, locksets, x, event);
	else
		end_section(list, locksets, x, event);
	return lockset_of(list, list->held);
}

/* -- questions ------------------------------------------------------------------------------ */

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
	uint32_t low = 0, high = list->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (list->items[middle].since < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return sections_held(list, low == 0 ? NONE : low - 1, limit);
}
