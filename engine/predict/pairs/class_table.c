/*
 * class_table.c - see class_table.h.
 */
#include "engine/base/hash.h"
#include "engine/predict/pairs/class_table.h"

#include <string.h>

enum { FIRST_SLOTS = 256 };

void class_table_init(struct class_table *t)
{
	*t = (struct class_table){ .slots_count = FIRST_SLOTS };
	t->slots = g_new0(uint64_t, t->slots_count);
}

void class_table_release(struct class_table *t)
{
	g_free(t->keys);
	g_free(t->slots);
}

void class_table_clear(struct class_table *t)
{
	t->count = t->last = 0;
	if (++t->round == 0) {
		memset(t->slots, 0, t->slots_count * sizeof(uint64_t));
		t->round = 1;
	}
}

static uint32_t kind_of(struct class_key k)
{
	return k.thread << 2 | k.writes << 1 | k.atomic;
}

static bool same_class(struct class_key a, struct class_key b)
{
	return a.site == b.site && a.lockset == b.lockset && kind_of(a) == kind_of(b);
}

/* The slot of a class, or a free one for it. */
static uint64_t *slot_of(const struct class_table *t, struct class_key key)
{
	uint64_t word = (uint64_t)key.site << 32 | key.lockset;

	word ^= kind_of(key) * 0xff51afd7ed558ccdu;
	uint32_t at = hash_top(hash_word(word)) & (t->slots_count - 1);
	while (t->slots[at] >> 32 == t->round &&
	       !same_class(t->keys[(uint32_t)t->slots[at]], key))
		at = (at + 1) & (t->slots_count - 1);
	return &t->slots[at];
}

static void slots_grow(struct class_table *t)
{
	t->slots_count *= 2;
	g_free(t->slots);
	t->slots = g_new0(uint64_t, t->slots_count);
	for (uint32_t i = 0; i < t->count; i++)
		*slot_of(t, t->keys[i]) = (uint64_t)t->round << 32 | i;
}

uint32_t class_table_number(struct class_table *t, struct class_key key)
{
	if (t->count > 0 && same_class(t->keys[t->last], key))
		return t->last;
	uint64_t *slot = slot_of(t, key);
	if (*slot >> 32 == t->round)
		return t->last = (uint32_t)*slot;
	if (t->count == t->room) {
		t->room = MAX(64, 2 * t->room);
		t->keys = g_renew(struct class_key, t->keys, t->room);
	}
	t->keys[t->count] = key;
	*slot = (uint64_t)t->round << 32 | t->count++;
	if (2 * t->count > t->slots_count)
		slots_grow(t);
	return t->last = t->count - 1;
}
