/*
 * point_items.h - the access points of objects as items of EDC (order/edc_sections.h): their
 * numbers.
 */
#ifndef HEDDLE_POINT_ITEMS_H
#define HEDDLE_POINT_ITEMS_H

#include "engine/commute/language/eval.h"

/* An access point of an object. */
struct point_item {
	uint32_t object, point;
	struct val key; /* V_NONE: a point without a key */
};
/* From points to numbers, which the caller gives; freed by g_hash_table_destroy. */
GHashTable *point_items_new(void);
/* NONE: it has none. */
uint32_t point_items_find(GHashTable *items, struct point_item point);
/* Gives the point its number; it has none yet. */
void point_items_add(GHashTable *items, struct point_item point, uint32_t number);

#endif
