/*
 * wide_clocks.c - see wide_clocks.h.
 *
 * A join looks only at parts that differ, which are those with different nodes as nodes are
 * interned, and makes nodes only where the result is neither of the two. Parts of threads that
 * have ended are equal in all clocks that have them. So a join costs the number of components
 * that differ, times the height, and memory grows with the components that change.
 */
#include "engine/order/wide_clocks.h"

#include "engine/base/hash.h"
#include "engine/base/scattered.h"

#include <string.h>

uint32_t clocks_wide = 512;

enum { FIRST_NODES = 1 << 10, FIRST_SWEEP = 1 << 16 };

void wide_init(struct wide_nodes *w, uint32_t threads)
{
	*w = (struct wide_nodes){ .count = 1,
		                  .capacity = FIRST_NODES,
		                  .sweep_at = FIRST_SWEEP };
	while ((uint64_t)threads > UINT64_C(1) << (w->top + WIDE_BITS))
		w->top += WIDE_BITS;
	w->of = g_malloc0(FIRST_NODES * sizeof *w->of);
	w->slots_count = 2 * FIRST_NODES;
	w->slots = g_new0(uint32_t, w->slots_count);
}

void wide_release(struct wide_nodes *w)
{
	g_free(w->of);
	g_free(w->slots);
	g_free(w->unused);
	g_free(w->marks);
	*w = (struct wide_nodes){ 0 };
}

static uint32_t *slot_of(const struct wide_nodes *w, const uint32_t *parts)
{
	uint64_t hash = 0;
	uint32_t at;

	for (uint32_t i = 0; i < WIDE_PARTS; i += 2) {
		hash = hash_join(hash, (uint64_t)parts[i] << 32 | parts[i + 1]);
		hash ^= hash >> 29; /* the multiplication would not carry the upper halves
		                     * down */
	}
	hash = hash_word(hash);
	for (at = hash_top(hash) & (w->slots_count - 1);
	     w->slots[at] != 0 && memcmp(w->of[w->slots[at]], parts, sizeof *w->of) != 0;)
		at = (at + 1) & (w->slots_count - 1);
	return &w->slots[at];
}

/* Put all nodes, or those marked, into slots anew. */
static void make_slots(struct wide_nodes *w, uint32_t count)
{
	g_free(w->slots);
	w->slots_count = count;
	w->slots = g_new0(uint32_t, count);
	for (uint32_t node = 1; node < w->count; node++) {
		if (w->marks == NULL || w->marks[node])
			*slot_of(w, w->of[node]) = node;
	}
}

static uint32_t node_new(struct wide_nodes *w, const uint32_t *parts)
{
	uint32_t *slot = slot_of(w, parts), node;

	if (*slot != 0)
		return *slot;
	if (w->unused_count > 0) {
		node = w->unused[--w->unused_count];
	} else {
		if (w->count == w->capacity) {
			BUG_ON(w->capacity > UINT32_MAX / 2);
			w->of = scattered_realloc(w->of, w->capacity * sizeof *w->of,
			                          2 * w->capacity * sizeof *w->of);
			w->capacity *= 2;
		}
		node = w->count++;
	}
	memcpy(w->of[node], parts, sizeof *w->of);
	*slot = node;
	/* All nodes are used here: slots for more than these are made in wide_sweep_end. */
	if (2 * w->count > w->slots_count)
		make_slots(w, 2 * w->slots_count);
	return node;
}

static uint32_t join_at(struct wide_nodes *w, uint32_t a, uint32_t b, uint32_t shift)
{
	uint32_t parts[WIDE_PARTS];
	bool is_a = true, is_b = true;

	if (a == b || b == 0)
		return a;
	if (a == 0)
		return b;
	for (uint32_t i = 0; i < WIDE_PARTS; i++) {
		uint32_t x = w->of[a][i], y = w->of[b][i];

		parts[i] = shift > 0 ? join_at(w, x, y, shift - WIDE_BITS) : MAX(x, y);
		is_a &= parts[i] == x;
		is_b &= parts[i] == y;
	}
	return is_a ? a : is_b ? b : node_new(w, parts);
}

uint32_t wide_join(struct wide_nodes *w, uint32_t a, uint32_t b)
{
	return join_at(w, a, b, w->top);
}

static uint32_t set_at(struct wide_nodes *w, uint32_t a, uint32_t thread, uint32_t time,
                       uint32_t shift)
{
	uint32_t parts[WIDE_PARTS], i = thread >> shift & (WIDE_PARTS - 1);

	memcpy(parts, w->of[a], sizeof parts);
	parts[i] = shift > 0 ? set_at(w, parts[i], thread, time, shift - WIDE_BITS) : time;
	return node_new(w, parts);
}

uint32_t wide_set(struct wide_nodes *w, uint32_t a, uint32_t thread, uint32_t time)
{
	return wide_time(w, a, thread) >= time ? a : set_at(w, a, thread, time, w->top);
}

static void join_into_at(const struct wide_nodes *w, uint32_t a, uint32_t since, uint32_t *to,
                         uint32_t thread, uint32_t shift)
{
	for (uint32_t i = 0; i < WIDE_PARTS; i++) {
		uint32_t part = w->of[a][i], old = w->of[since][i], first = thread | i << shift;

		if (part == old)
			continue;
		if (shift > 0)
			join_into_at(w, part, old, to, first, shift - WIDE_BITS);
		else
			to[first] = MAX(to[first], part);
	}
}

void wide_join_into(const struct wide_nodes *w, uint32_t a, uint32_t since, uint32_t *to)
{
	if (a != since)
		join_into_at(w, a, since, to, 0, w->top);
}

/* -- sweeping ------------------------------------------------------------------------------ */

void wide_sweep_begin(struct wide_nodes *w)
{
	w->marks = g_new0(uint8_t, w->count);
	w->marks[0] = 1;
}

static void mark_at(struct wide_nodes *w, uint32_t a, uint32_t shift)
{
	if (w->marks[a])
		return;
	w->marks[a] = 1;
	for (uint32_t i = 0; shift > 0 && i < WIDE_PARTS; i++)
		mark_at(w, w->of[a][i], shift - WIDE_BITS);
}

void wide_mark(struct wide_nodes *w, uint32_t root)
{
	mark_at(w, root, w->top);
}

void wide_sweep_end(struct wide_nodes *w)
{
	make_slots(w, w->slots_count);
	w->unused = g_renew(uint32_t, w->unused, w->count);
	w->unused_count = 0;
	for (uint32_t node = w->count; node-- > 0;) {
		if (!w->marks[node])
			w->unused[w->unused_count++] = node;
	}
	/* As in clocks_sweep_end. */
	w->sweep_at = MAX((uint32_t)FIRST_SWEEP, 2 * (w->count - w->unused_count));
	g_free(g_steal_pointer(&w->marks));
}
