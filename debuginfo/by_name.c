/*
 * by_name.c - tables of records by name: open addressing, half full at most. They lie beside
 * the records, of which they have the ids alone, so that they can be mapped with them.
 */
#include "debuginfo/private.h"
#include "engine/base/hash.h"

#include <string.h>

void debuginfo_begin_table(GArray *table, guint records)
{
	guint size = 2;
	while (size < 2 * records)
		size *= 2;
	g_array_set_size(table, 0);
	g_array_set_size(table, size);
}

uint32_t *debuginfo_named(const GArray *table, const GArray *records, size_t element,
                          size_t name_at, const char *name)
{
	uint32_t *entries = (uint32_t *)(void *)table->data, mask = table->len - 1;
	if (table->len == 0)
		return NULL;
	uint32_t at = hash_top(hash_word(g_str_hash(name))) & mask;
	for (; entries[at] != 0; at = (at + 1) & mask) {
		const char *other;
		memcpy(&other, records->data + (entries[at] - 1) * element + name_at,
		       sizeof other);
		if (strcmp(other, name) == 0)
			break;
	}
	return &entries[at];
}
