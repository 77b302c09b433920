/*
 * places.c - source positions that survive edits; see places.h.
 */
#include "tui/batch/print/places.h"

#include "tui/batch/print/print.h"

#include <jansson.h>
#include <string.h>

struct places {
	const struct trace *t;
	GHashTable *starts; /* function and file as an int64 (owned) -> first line seen */
};

static gint64 function_key(const struct location *l)
{
	return (gint64)((uint64_t)l->function << 32 | l->file);
}

struct places *places_new(const struct trace *t)
{
	struct places *p = g_new0(struct places, 1);

	p->t = t;
	p->starts = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (uint64_t i = 0; i < t->locations_count; i++) {
		const struct location *l = &t->locations[i];
		gint64 key = function_key(l);

		if (l->function == 0 || l->line == 0)
			continue;
		guint known = GPOINTER_TO_UINT(g_hash_table_lookup(p->starts, &key));
		if (known == 0 || l->line < known)
			g_hash_table_replace(p->starts, g_memdup2(&key, sizeof(key)),
			                     GUINT_TO_POINTER(l->line));
	}
	return p;
}

void places_free(struct places *p)
{
	if (p == NULL)
		return;
	g_hash_table_destroy(p->starts);
	g_free(p);
}

json_t *places_location_json(const struct places *p, uint32_t location)
{
	const struct location *l = &p->t->locations[location];
	gint64 key = function_key(l);
	json_t *j = json_object();

	if (l->file == 0 || l->line == 0) {
		json_object_set_new(j, "name",
		                    json_text(trace_string(p->t, p->t->sites[l->site])));
		return j;
	}
	json_object_set_new(j, "file", json_text(trace_string(p->t, l->file)));
	json_object_set_new(j, "line", json_integer(l->line));
	if (l->column != 0)
		json_object_set_new(j, "column", json_integer(l->column));
	if (l->function != 0) {
		guint start = GPOINTER_TO_UINT(g_hash_table_lookup(p->starts, &key));

		json_object_set_new(j, "function", json_text(trace_string(p->t, l->function)));
		json_object_set_new(j, "offset", json_integer(l->line - start));
	}
	return j;
}

json_t *places_json(const struct places *p, uint32_t event)
{
	return places_location_json(p, p->t->events[event].location);
}

json_t *places_parse(const char *place)
{
	size_t length = strcspn(place, " ");
	const char *colon = memrchr(place, ':', length);
	char *end;
	guint64 line = colon ? g_ascii_strtoull(colon + 1, &end, 10) : 0;
	if (line == 0 || end != place + length)
		return json_pack("{so}", "name", json_text(place));
	g_autofree char *file = g_strndup(place, (gsize)(colon - place));
	return json_pack("{sosI}", "file", json_text(file), "line", (json_int_t)line);
}
