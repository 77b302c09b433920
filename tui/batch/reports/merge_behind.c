/* merge_behind.c - see merge_behind.h. */
#include "tui/batch/reports/merge_behind.h"

#include <stdlib.h>
#include <string.h>

/* Key of two places, in either order. */
static char *key_of_places(const json_t *pair)
{
	const char *a = json_string_value(json_array_get(pair, 0));
	const char *b = json_string_value(json_array_get(pair, 1));

	a = a != NULL ? a : "";
	b = b != NULL ? b : "";
	return strcmp(a, b) < 0 ? g_strdup_printf("%s\n%s", a, b)
	                        : g_strdup_printf("%s\n%s", b, a);
}

/* The findings that are races: places -> GPtrArray of json_t * (borrowed). */
static GHashTable *races_by_places(const struct report_file *all)
{
	GHashTable *races = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
	                                          (GDestroyNotify)g_ptr_array_unref);

	for (guint i = 0; i < all->findings->len; i++) {
		json_t *f = g_array_index(all->findings, struct filed_finding, i).fields;
		g_autofree char *key = key_of_places(json_object_get(f, "locations"));
		GPtrArray *list = g_hash_table_lookup(races, key);

		if (strcmp(json_word(f, "verdict"), verdict_word(VERDICT_RACE)) != 0)
			continue;
		if (list == NULL) {
			list = g_ptr_array_new();
			g_hash_table_insert(races, g_strdup(key), list);
		}
		g_ptr_array_add(list, f);
	}
	return races;
}

static bool have_common(const json_t *names, const json_t *others)
{
	size_t i, k;
	json_t *a, *b;

	json_array_foreach((json_t *)names, i, a)
	{
		json_array_foreach((json_t *)others, k, b)
		{
			if (json_equal(a, b))
				return true;
		}
	}
	return false;
}

static bool same_pair(const json_t *race, const json_t *read)
{
	json_int_t a = json_integer_value(json_object_get(race, "first"));
	json_int_t b = json_integer_value(json_object_get(race, "second"));
	json_int_t r = json_integer_value(json_object_get(read, "read"));
	json_int_t w = json_integer_value(json_object_get(read, "write"));

	return MIN(a, b) == MIN(r, w) && MAX(a, b) == MAX(r, w);
}

/* Is the read in one of the races: the pair itself, or its places and a variable? */
static bool is_racy(GHashTable *races, const json_t *read)
{
	g_autofree char *key = key_of_places(json_object_get(read, "locations"));
	const GPtrArray *list = g_hash_table_lookup(races, key);
	bool racy = false;

	for (guint i = 0; list != NULL && !racy && i < list->len; i++)
		racy = same_pair(list->pdata[i], read) ||
		       have_common(json_object_get(list->pdata[i], "variables"),
		                   json_object_get(read, "variables"));
	return racy;
}

/* The racy reads among these, as in a report; NULL: none. */
static json_t *racy_reads(GHashTable *races, const json_t *reads)
{
	json_t *behind = json_array(), *read;
	size_t i;

	json_array_foreach((json_t *)reads, i, read)
	{
		if (!is_racy(races, read))
			continue;
		json_object_del(read, "variables");
		json_object_del(read, "locations");
		json_array_append(behind, read);
	}
	if (json_array_size(behind) > 0)
		return behind;
	json_decref(behind);
	return NULL;
}

/* The finding with "behind" where the whole's report has it, after the proof, and without
 * "reads". */
static json_t *rewritten(json_t *fields, json_t *behind)
{
	json_t *new = json_object(), *value;
	const char *key;

	json_object_foreach(fields, key, value)
	{
		if (strcmp(key, "reads") != 0 && strcmp(key, "behind") != 0)
			json_object_set(new, key, value);
		if (strcmp(key, "proof") == 0 && behind != NULL)
			json_object_set(new, "behind", behind);
	}
	return new;
}

void merge_behind(struct report_file *all)
{
	g_autoptr(GHashTable) races = races_by_places(all);

	all->rewritten = g_ptr_array_new_with_free_func(free);
	for (guint i = 0; i < all->findings->len; i++) {
		struct filed_finding *f =
		        &g_array_index(all->findings, struct filed_finding, i);
		const json_t *reads = json_object_get(f->fields, "reads");

		/* a witness is not for this, and an impossible pair has none */
		if (!json_is_array(reads) || json_object_get(f->fields, "witness") != NULL)
			continue;
		json_auto_t *behind = racy_reads(races, reads);
		json_t *fields = rewritten(f->fields, behind);
		char *text = json_dumps(fields, 0);

		g_ptr_array_add(all->rewritten, text);
		json_decref(f->fields);
		f->fields = fields;
		f->text = text;
		f->length = strlen(text);
	}
}

/* -- the note that shares lack ------------------------------------------------------------- */

static bool has_race(const struct report_file *all)
{
	for (guint i = 0; i < all->findings->len; i++) {
		const json_t *f = g_array_index(all->findings, struct filed_finding, i).fields;

		if (strcmp(json_word(f, "verdict"), "race") == 0)
			return true;
	}
	return false;
}

/* Would the report of the whole say it? As lists_races_alone of predict.c has it. */
static bool is_noted(const struct report_file *all)
{
	const json_t *asked = json_object_get(all->head, "options");

	return strcmp(json_word(all->head, "analysis"), "auto") == 0 &&
	       json_is_true(json_object_get(all->head, "complete")) &&
	       strcmp(json_word(asked, "pairs"), "sites") == 0 &&
	       strcmp(json_word(asked, "candidates"), "all") == 0 &&
	       strcmp(json_word(asked, "verdicts"), "races") == 0 &&
	       !json_is_true(json_object_get(asked, "values")) &&
	       !json_is_true(json_object_get(asked, "missing")) &&
	       json_array_size(json_object_get(asked, "spec")) == 0;
}

void merge_note_behind(struct report_file *all)
{
	json_t *notes = json_object_get(all->head, "notes");

	if (!is_noted(all) || !has_race(all))
		return;
	if (notes == NULL) {
		notes = json_array();
		json_object_set_new(all->head, "notes", notes);
	}
	json_array_append_new(
	        notes, json_string("pairs of places that only the values of racy reads keep "
	                           "apart are not counted in shares; 'heddle races' without "
	                           "--shard, --jobs and --resume counts them"));
}
