/*
 * partings.c - see partings.h.
 */
#include "tui/batch/reports/partings.h"
#include "tui/batch/print/names.h"

#include <string.h>

enum { SHOWN = 5 };

struct partings {
	GHashTable *counts; /* "VARIABLE\nPLACE", owned -> count */
};

struct parting {
	const char *key;
	guint runs;
};

struct partings *partings_new(void)
{
	struct partings *p = g_new0(struct partings, 1);

	p->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return p;
}

void partings_add(struct partings *p, const char *variable, const char *place)
{
	if (variable == NULL || place == NULL || !*variable || !*place)
		return;
	char *key = g_strdup_printf("%s\n%s", variable, place);
	guint known = GPOINTER_TO_UINT(g_hash_table_lookup(p->counts, key));

	g_hash_table_insert(p->counts, key, GUINT_TO_POINTER(known + 1));
}

static gint by_runs(gconstpointer a, gconstpointer b)
{
	const struct parting *p = a, *q = b;

	return p->runs != q->runs ? (p->runs < q->runs ? 1 : -1) : strcmp(p->key, q->key);
}

json_t *partings_end(struct partings *p)
{
	g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof(struct parting));
	json_t *list = json_array();
	GHashTableIter iter;
	gpointer key, runs;

	g_hash_table_iter_init(&iter, p->counts);
	while (g_hash_table_iter_next(&iter, &key, &runs)) {
		struct parting one = { key, GPOINTER_TO_UINT(runs) };
		g_array_append_val(sorted, one);
	}
	g_array_sort(sorted, by_runs);
	for (guint i = 0; i < sorted->len && i < SHOWN; i++) {
		const struct parting *one = &g_array_index(sorted, struct parting, i);
		g_auto(GStrv) parts = g_strsplit(one->key, "\n", 2);

		json_array_append_new(list, json_pack("{s:o, s:o, s:I}", "variable",
		                                      json_text(parts[0]), "place",
		                                      json_text(parts[1]), "runs",
		                                      (json_int_t)one->runs));
	}
	g_hash_table_destroy(p->counts);
	g_free(p);
	return list;
}

void partings_recount(json_t *head)
{
	struct partings *p = partings_new();
	size_t i;
	json_t *run;

	json_array_foreach(json_object_get(head, "runs"), i, run)
	        partings_add(p, json_word(run, "variable"), json_word(run, "place"));
	json_object_set_new(head, "partings", partings_end(p));
}
