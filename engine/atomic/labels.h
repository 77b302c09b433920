/*
 * labels.h - order maintenance: an ordered list in which "is x before y" compares two labels.
 *
 * When two neighbours leave no label between them, the smallest enclosing range that is sparse
 * enough is relabelled evenly (Bender, Cole, Demaine, Farach-Colton, Zito: Two simplified
 * algorithms for maintaining order in a list, ESA 2002); logarithmic, amortised.
 */
#ifndef HEDDLE_ATOMIC_LABELS_H
#define HEDDLE_ATOMIC_LABELS_H

#include "engine/base/base.h"

struct label_item {
	uint64_t label;
	uint32_t previous, next; /* items; NONE at the ends */
};

/* Items are numbered by the caller. */
struct labels {
	struct label_item *items; /* owned */
	uint32_t size;            /* of `items` */
	uint32_t first, last;
};

void labels_init(struct labels *l);
void labels_release(struct labels *l);
void labels_append(struct labels *l, uint32_t item);
/* Insert `item` next to `place`, which must be in the list. */
void labels_insert_after(struct labels *l, uint32_t place, uint32_t item);
void labels_insert_before(struct labels *l, uint32_t place, uint32_t item);
void labels_remove(struct labels *l, uint32_t item);
static inline bool labels_before(const struct labels *l, uint32_t a, uint32_t b)
{
	return l->items[a].label < l->items[b].label;
}

#endif
