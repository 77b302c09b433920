/* point_items.c - see point_items.h. */
#include "engine/base/hash.h"
#include "engine/commute/point_items.h"

static guint item_hash(gconstpointer item)
{
	const struct point_item *k = item;
	uint64_t h = hash_pair(k->object, k->point);
	h ^= ((uint64_t)k->key.n + k->key.kind) * UINT64_C(0xbf58476d1ce4e5b9);
	return (guint)(h ^ (h >> 32));
}

static gboolean item_equal(gconstpointer a, gconstpointer b)
{
	const struct point_item *x = a, *y = b;
	return x->object == y->object && x->point == y->point && val_equal(x->key, y->key);
}

GHashTable *point_items_new(void)
{
	return g_hash_table_new_full(item_hash, item_equal, g_free, NULL);
}

uint32_t point_items_find(GHashTable *items, struct point_item point)
{
	gpointer number;
	return g_hash_table_lookup_extended(items, &point, NULL, &number)
	               ? GPOINTER_TO_UINT(number)
	               : NONE;
}

void point_items_add(GHashTable *items, struct point_item point, uint32_t number)
{
	g_hash_table_insert(items, g_memdup2(&point, sizeof point), GUINT_TO_POINTER(number));
}
