/*
 * place_pair.h - which pairs of calls a report takes for one: those at the same two places in
 * the user's own files (own_site.h), of objects of one type.
 */
#ifndef HEDDLE_PLACE_PAIR_H
#define HEDDLE_PLACE_PAIR_H

#include "engine/commute/model.h"

struct place_pair {
	uint32_t low, high; /* indices of trace.sites */
	uint32_t type;      /* index of model.types, or NONE */
};
/* `object`: index of model.objects, that of both. */
struct place_pair place_pair_of(const struct model *m, uint32_t e1, uint32_t e2,
                                uint32_t object);
/* < 0, 0, > 0: an order of them. */
int place_pair_compare(const struct place_pair *a, const struct place_pair *b);
/* For a GHashTable whose keys begin with a pair. */
guint place_pair_hash(gconstpointer pair);
gboolean place_pair_equal(gconstpointer a, gconstpointer b);

#endif
