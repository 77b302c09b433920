/* place_pair.c - see place_pair.h. */
#include "engine/commute/place_pair.h"

#include "engine/base/hash.h"
#include "engine/trace/own_site.h"

struct place_pair place_pair_of(const struct model *m, uint32_t e1, uint32_t e2,
                                uint32_t object)
{
	uint32_t a = own_site(m->t, e1), b = own_site(m->t, e2);
	guint type;
	bool known = g_ptr_array_find(m->types, m->objects[object].type, &type);

	return (struct place_pair){ MIN(a, b), MAX(a, b), known ? type : NONE };
}

int place_pair_compare(const struct place_pair *a, const struct place_pair *b)
{
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	return a->type < b->type ? -1 : a->type > b->type;
}

guint place_pair_hash(gconstpointer pair)
{
	const struct place_pair *p = pair;
	return hash_top(hash_join(hash_pair(p->low, p->high), p->type));
}

gboolean place_pair_equal(gconstpointer a, gconstpointer b)
{
	return place_pair_compare(a, b) == 0;
}
