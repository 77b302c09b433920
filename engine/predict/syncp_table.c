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
	l->changes = g_new0(struct changes, l->threads + 1);
	l->slots = g_new0(uint64_t, l->slots_count);
}

void lock_table_release(struct lock_table *l)
{
	for (uint32_t i = 0; i < l->acquires_count; i++) {
		g_free(l->acquires[i].exclusive.items);
		g_free(l->acquires[i].shared.items);
	}
	for (uint64_t u = 0; l->changes != NULL && u < l->threads; u++)
		g_free(l->changes[u].items);
	g_free(l->acquires);
	g_free(l->changes);
	g_free(l->first);
	g_free(l->slots);
	g_free(l->sections);
	g_free(l->held);
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

static void push_change(struct changes *c, struct change change)
{
	GROW(c->items, c->count, c->room);
	c->items[c->count++] = change;
}

static uint32_t push_held(struct lock_table *l, struct held held)
{
	GROW(l->held, l->held_count, l->held_room);
	l->held[l->held_count] = held;
	return l->held_count++;
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

/* The list without one section; what lies inside of it is copied. */
static uint32_t held_without(struct lock_table *l, struct locksets *locksets, uint32_t list,
                             uint32_t section, const struct event *release)
{
	struct held h;

	if (l->held[list].section == section)
		return l->held[list].outer;
	h = l->held[list];
	h.outer = held_without(l, locksets, h.outer, section, release);
	h.lockset = lockset_moved(locksets, h.lockset, release);
	return push_held(l, h);
}

/* The innermost open section that a release ends, or NONE. */
static uint32_t ended(const struct lock_table *l, uint32_t held, const struct event *release)
{
	for (; held != NONE; held = l->held[held].outer) {
		const struct section *s = &l->sections[l->held[held].section];

		if (s->object == release->target && s->exclusive == (release->op == OP_REL))
			return l->held[held].section;
	}
	return NONE;
}

static uint32_t begin_section(struct lock_table *l, struct locksets *locksets,
                              const struct event *x, uint32_t event, uint32_t outer)
{
	struct acquires *a = acquires_of(l, x->target, x->thread);
	bool exclusive = x->op == OP_ACQ;

	push_number(exclusive ? &a->exclusive : &a->shared, event);
	l->shared |= !exclusive;
	GROW(l->sections, l->sections_count, l->sections_room);
	l->sections[l->sections_count] = (struct section){ event, NONE, x->target, exclusive };
	return push_held(
	        l, (struct held){ l->sections_count++, outer,
	                          lockset_moved(locksets, lock_table_lockset(l, outer), x) });
}

uint32_t lock_table_event(struct lock_table *l, struct locksets *locksets,
                          const struct event *x, uint32_t event)
{
	struct changes *changes = &l->changes[x->thread];
	uint32_t held = changes->count == 0 ? NONE : changes->items[changes->count - 1].held;

	if (op_acquires(x->op)) {
		held = begin_section(l, locksets, x, event, held);
	} else {
		uint32_t section = ended(l, held, x);

		if (section != NONE) {
			l->sections[section].release = event;
			held = held_without(l, locksets, held, section, x);
		}
	}
	push_change(changes, (struct change){ event, held });
	return held;
}

uint32_t lock_table_held(const struct lock_table *l, uint32_t thread, uint32_t limit)
{
	const struct changes *changes = &l->changes[thread];
	uint32_t low = 0, high = changes->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (changes->items[middle].event < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? NONE : changes->items[low - 1].held;
}
