/* traces_merge.c - see traces_merge.h. */
#include "tui/batch/reports/traces_merge.h"
#include "tui/batch/print/finding_json.h"

#include <stdlib.h>
#include <string.h>

/* A finding so far. */
struct joint {
	struct filed_finding finding; /* its fields are owned */
	json_t *names;                /* owned: the parts that have it */
};

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Equal for one finding of several traces: its kind, what comes of its objects, its places.
 * Owned by the caller. */
static char *key_of(const json_t *finding)
{
	static const char *const words[] = { "kind", "note",  "rule",    "methods",
		                             "sets", "units", "requests" };
	g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func(free);
	g_autoptr(GString) key = g_string_new(NULL);
	json_t *place;
	size_t i;
	json_array_foreach((json_t *)finding_places(finding), i, place) g_ptr_array_add(
	        places, json_dumps(place, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS));
	g_ptr_array_sort(places, by_text);
	for (i = 0; i < G_N_ELEMENTS(words); i++) {
		char *text = json_dumps(json_object_get(finding, words[i]),
		                        JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
		g_string_append_printf(key, "%s|", text ? text : "");
		free(text);
	}
	for (i = 0; i < places->len; i++)
		g_string_append_printf(key, "%s|", (char *)places->pdata[i]);
	return g_string_free(g_steal_pointer(&key), FALSE);
}

/* Of two verdicts the more certain one, found before not found. */
static unsigned rank(const json_t *finding)
{
	return (filed_is_found(finding) ? 2 : 0) +
	       (strcmp(json_word(finding, "verdict"), verdict_word(VERDICT_RACE)) == 0);
}

static void add_findings(const struct report_file *part, GArray *all, GHashTable *known)
{
	for (guint i = 0; i < part->findings->len; i++) {
		struct filed_finding f = g_array_index(part->findings, struct filed_finding, i);
		char *key = key_of(f.fields);
		gpointer at;
		if (!g_hash_table_lookup_extended(known, key, NULL, &at)) {
			struct joint new = { f, json_array() };
			at = GUINT_TO_POINTER(all->len);
			json_incref(f.fields);
			g_array_append_val(all, new);
			g_hash_table_insert(known, key, at);
		} else {
			g_free(key);
		}
		struct joint *j = &g_array_index(all, struct joint, GPOINTER_TO_UINT(at));
		if (rank(f.fields) > rank(j->finding.fields)) {
			json_incref(f.fields);
			json_decref(j->finding.fields);
			j->finding = f;
		}
		const json_t *last = json_array_get(j->names, json_array_size(j->names) - 1);
		if (last == NULL || strcmp(json_string_value(last), part->name) != 0)
			json_array_append_new(j->names, json_string(part->name));
	}
}

/* The finding with its names before its own members, in its fields and in its text. */
static void name_finding(struct report_file *all, const struct joint *j, const char *key)
{
	struct filed_finding f = j->finding;
	json_auto_t *begin = json_object();
	json_object_set(begin, key, j->names);
	f.fields = json_copy(f.fields);
	json_object_set(f.fields, key, j->names);
	char *text = json_dumps(begin, 0);
	g_autoptr(GString) whole = g_string_new_len(text, (gssize)strlen(text) - 1);
	g_string_append(whole, ", ");
	g_string_append_len(whole, f.text + 1, (gssize)f.length - 1);
	free(text);
	f.length = whole->len;
	f.text = g_string_free(g_steal_pointer(&whole), FALSE);
	g_ptr_array_add(all->rewritten, (char *)f.text);
	g_array_append_val(all->findings, f);
}

static json_int_t sum_of(const GPtrArray *parts, const char *key)
{
	json_int_t sum = 0;
	for (guint i = 0; i < parts->len; i++) {
		const struct report_file *part = parts->pdata[i];
		sum += json_integer_value(json_object_get(part->head, key));
	}
	return sum;
}

/* Sentences of all parts, each once. */
static json_t *all_sentences(const GPtrArray *parts, const char *key)
{
	json_t *all = json_array(), *note;
	g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
	for (guint i = 0; i < parts->len; i++) {
		const struct report_file *part = parts->pdata[i];
		const json_t *list = json_object_get(part->head, key);
		for (size_t n = 0; n < json_array_size(list); n++) {
			note = json_array_get(list, n);
			if (json_is_string(note) &&
			    g_hash_table_add(known, (char *)json_string_value(note)))
				json_array_append(all, note);
		}
	}
	return all;
}

/* "complete", and where it is not: why, as of the first such part. */
static void set_complete(json_t *head, const GPtrArray *parts)
{
	guint lacking = 0;
	const struct report_file *first = NULL;
	for (guint i = parts->len; i-- > 0;) {
		const struct report_file *part = parts->pdata[i];
		if (json_is_true(json_object_get(part->head, "complete")))
			continue;
		first = part;
		lacking++;
	}
	json_object_set_new(head, "complete", json_boolean(lacking == 0));
	if (first == NULL)
		return;
	const char *why = json_word(first->head, "not-complete");
	bool one = parts->len == 1;
	json_object_set_new(head, "not-complete",
	                    one ? json_string(why)
	                        : json_sprintf("%u of %u are not, %s: %s", lacking, parts->len,
	                                       first->name,
	                                       *why ? why : "it does not say why"));
}

/* Do all parts come from the same question, whole? */
static bool fit(const GPtrArray *parts, struct error *error)
{
	static const char *const asked[] = { "heddle", "command", "analysis", "options" };
	const struct report_file *first = parts->pdata[0];
	for (guint i = 0; i < parts->len; i++) {
		const struct report_file *part = parts->pdata[i];
		if (json_object_get(part->head, "shard") != NULL ||
		    json_object_get(part->head, "executions") != NULL ||
		    json_object_get(part->head, "trace") == NULL)
			return error_set(error, part->name, "merge reports of one command",
			                 "expected a whole report of a trace, as the first is");
		for (size_t k = 0; k < G_N_ELEMENTS(asked); k++) {
			json_t *a = json_object_get(first->head, asked[k]);
			json_t *b = json_object_get(part->head, asked[k]);
			if (a != b && !(a && b && json_equal(a, b)))
				return error_set(
				        error, part->name,
				        "merge reports of one analysis and its options",
				        "its \"%s\" is another one than that of %s", asked[k],
				        first->name);
		}
	}
	return true;
}

static json_t *head_of(const GPtrArray *parts, const char *name, const char *key)
{
	static const char *const kept[] = { "heddle", "command", "analysis", "options" };
	static const char *const sums[] = { "events", "candidates", "impossible", "unknown" };
	/* what holds of one part limits the whole */
	static const char *const of_any[] = { "budget-spent", "uninstrumented", "sampled",
		                              "scope", "given" };
	json_t *head = json_object(), *names = json_array();
	const struct report_file *first = parts->pdata[0];
	for (size_t i = 0; i < G_N_ELEMENTS(kept); i++)
		if (json_object_get(first->head, kept[i]))
			json_object_set(head, kept[i], json_object_get(first->head, kept[i]));
	json_object_set_new(head, "trace", json_text(name));
	for (guint i = 0; i < parts->len; i++) {
		const struct report_file *part = parts->pdata[i];
		json_array_append_new(names, json_string(part->name));
		for (size_t k = 0; k < G_N_ELEMENTS(of_any); k++)
			if (json_object_get(part->head, of_any[k]))
				json_object_set(head, of_any[k],
				                json_object_get(part->head, of_any[k]));
	}
	json_object_set_new(head, key, names);
	for (size_t i = 0; i < G_N_ELEMENTS(sums); i++)
		if (json_object_get(first->head, sums[i]))
			json_object_set_new(head, sums[i],
			                    json_integer(sum_of(parts, sums[i])));
	set_complete(head, parts);
	json_object_set_new(head, "notes", all_sentences(parts, "notes"));
	json_auto_t *warnings = all_sentences(parts, "warnings");
	if (json_array_size(warnings) > 0)
		json_object_set(head, "warnings", warnings);
	return head;
}

struct report_file *traces_merge(const GPtrArray *parts, const char *name, const char *key,
                                 struct error *error)
{
	if (!fit(parts, error))
		return NULL;
	struct report_file *all = g_new0(struct report_file, 1);
	g_autoptr(GArray) joints = g_array_new(FALSE, FALSE, sizeof(struct joint));
	g_autoptr(GHashTable) known =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	all->name = g_strdup(name);
	all->head = head_of(parts, name, key);
	all->findings = g_array_new(FALSE, FALSE, sizeof(struct filed_finding));
	all->rewritten = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < parts->len; i++)
		add_findings(parts->pdata[i], joints, known);
	for (guint i = 0; i < joints->len; i++) {
		const struct joint *j = &g_array_index(joints, struct joint, i);
		name_finding(all, j, key);
		json_decref(j->finding.fields);
		json_decref(j->names);
	}
	return all;
}
