/*
 * report_merge.c - merges the reports of shards; see report_merge.h. Options must agree,
 * numbers are added, lists are joined.
 */
#include "tui/batch/reports/check_merge.h"
#include "tui/batch/reports/merge_behind.h"
#include "tui/batch/reports/partings.h"
#include "tui/batch/reports/report_merge.h"
#include "tui/batch/reports/traces_merge.h"
#include "tui/batch/print/finding_json.h"

#include <stdlib.h>
#include <string.h>

bool report_file_is_exploration(const struct report_file *r)
{
	return json_object_get(r->head, "executions") != NULL;
}

bool report_file_is_check(const struct report_file *r)
{
	return strcmp(json_word(r->head, "command"), "check") == 0;
}

bool report_file_is_shake(const struct report_file *r)
{
	return strcmp(json_word(r->head, "command"), "shake") == 0;
}

/* -- do they belong together? -------------------------------------------------------------- */

static const char *const asked[] = {
	"heddle", "command",  "program", "arguments", "trace",
	"sha256", "analysis", "events",  "options",   "spurious",
};

static char *value_text(const json_t *head, const char *key)
{
	char *text = json_dumps(json_object_get(head, key), JSON_ENCODE_ANY | JSON_COMPACT);
	char *ours = g_strdup(text != NULL ? text : "nothing");

	free(text);
	return ours;
}

/* Is the member equal in both, or absent in both? */
static bool same_member(const json_t *a, const json_t *b, const char *key)
{
	const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);

	return x == y || (x != NULL && y != NULL && json_equal(x, y));
}

static bool same_run(const struct report_file *first, const struct report_file *r,
                     struct error *error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
		const char *key = asked[i];

		if (same_member(first->head, r->head, key))
			continue;
		/* an exploration's events are a count */
		if (report_file_is_exploration(first) && strcmp(key, "events") == 0)
			continue;
		char *a = value_text(first->head, key);
		char *b = value_text(r->head, key);
		error_set(error, r->name, "merge the shards of one run",
		          "its \"%s\" is %s, that of %s is %s", key, b, first->name, a);
		g_free(a);
		g_free(b);
		return false;
	}
	return true;
}

static bool read_shard(const struct report_file *r, uint32_t *i, uint32_t *n,
                       struct error *error)
{
	const char *word = json_word(r->head, "shard");
	char *end = NULL;
	guint64 a = g_ascii_strtoull(word, &end, 10);
	guint64 b = *end == '/' ? g_ascii_strtoull(end + 1, &end, 10) : 0;

	if (!*word)
		return error_set(error, r->name, "make it with --shard I/N",
		                 "it is no report of a shard");
	if (*end != '\0' || a < 1 || a > b || b > 1000000)
		return error_set(error, r->name, "make it with --shard I/N",
		                 "\"shard\": expected I/N with I from 1 to N, found '%s'",
		                 word);
	*i = (uint32_t)a - 1;
	*n = (uint32_t)b;
	return true;
}

/* Find the report of each shard (`of`: its index + 1), once each. */
static bool place_shards(const GPtrArray *parts, uint32_t n, uint32_t *of, struct error *error)
{
	for (guint k = 0; k < parts->len; k++) {
		const struct report_file *r = parts->pdata[k], *other;
		uint32_t i, count;

		if (!read_shard(r, &i, &count, error) || !same_run(parts->pdata[0], r, error))
			return false;
		if (count != n)
			return error_set(error, r->name, "merge the shards of one run",
			                 "it is one of %u shards, %s one of %u", count,
			                 ((struct report_file *)parts->pdata[0])->name, n);
		if (of[i] != 0) {
			other = parts->pdata[of[i] - 1];
			return error_set(error, r->name, "name each shard once",
			                 "shard %u/%u is in %s too", i + 1, n, other->name);
		}
		of[i] = k + 1;
	}
	return true;
}

/* The missing shards, "2, 5", or NULL. */
static char *missing(const uint32_t *of, uint32_t n)
{
	GString *list = g_string_new(NULL);
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (of[i] != 0 || ++count > 8)
			continue;
		g_string_append_printf(list, "%s%u", list->len > 0 ? ", " : "", i + 1);
	}
	if (count > 8)
		g_string_append_printf(list, " and %u more", count - 8);
	return g_string_free(list, count == 0);
}

/* -- notes ---------------------------------------------------------------------------- */

/* The count in a note: at its beginning or after a colon; else NULL. (Other numbers, such as in
 * "C11", are no counts.) */
static const char *count_in(const char *note)
{
	const char *colon = strstr(note, ": ");

	if (g_ascii_isdigit(*note))
		return note;
	return colon != NULL && g_ascii_isdigit(colon[2]) ? colon + 2 : NULL;
}

/* The note with the sum, when two notes differ in their count only; else NULL. */
static char *added(const char *a, const char *b)
{
	const char *x = count_in(a), *y = count_in(b);
	char *end_x, *end_y;

	if (x == NULL || y == NULL || x - a != y - b || strncmp(a, b, (size_t)(x - a)) != 0)
		return NULL;
	guint64 sum = g_ascii_strtoull(x, &end_x, 10) + g_ascii_strtoull(y, &end_y, 10);
	if (strcmp(end_x, end_y) != 0)
		return NULL;
	return g_strdup_printf("%.*s%" G_GUINT64_FORMAT "%s", (int)(x - a), a, sum, end_x);
}

/* Join lists of sentences without duplicates, in a common order, with counts added. */
static void join_notes(json_t *into, const json_t *from)
{
	size_t i, k, next = 0; /* position after the last sentence of `from` */
	json_t *note, *known;

	json_array_foreach((json_t *)from, i, note)
	{
		bool done = false;

		json_array_foreach(into, k, known)
		{
			const char *a = json_string_value(known), *b = json_string_value(note);

			if (a == NULL || b == NULL)
				continue;
			char *sum = added(a, b);
			done = sum != NULL || strcmp(a, b) == 0;
			if (sum != NULL)
				json_array_set_new(into, k, json_string(sum));
			g_free(sum);
			if (done)
				break;
		}
		next = done ? MAX(next, k + 1) : next;
		if (!done)
			json_array_insert(into, next++, note);
	}
}

/* -- explorations --------------------------------------------------------------------- */

/* Renumber the runs of a part after those before. */
static json_t *renumbered(const json_t *item, json_int_t runs)
{
	static const char *const numbers[] = { "run", "parent", "shortest", "passing-run" };
	static const char point[] = "point-of-no-return";
	json_t *copy = json_deep_copy(item);

	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		json_t *n = json_object_get(copy, numbers[i]);

		if (json_is_integer(n))
			json_object_set_new(copy, numbers[i],
			                    json_integer(json_integer_value(n) + runs));
	}
	if (json_is_object(json_object_get(copy, point)))
		json_object_set_new(copy, point,
		                    renumbered(json_object_get(copy, point), runs));
	return copy;
}

/* Are two errors or races equal except for the run? */
static bool same_error(const json_t *a, const json_t *b)
{
	static const char *const identity[] = { "kind", "status", "story", "locations" };

	for (size_t i = 0; i < G_N_ELEMENTS(identity); i++) {
		if (!same_member(a, b, identity[i]))
			return false;
	}
	return true;
}

static void join_errors(json_t *into, const json_t *from, json_int_t runs)
{
	static const char *const lists[] = { "variables", "exact" };
	size_t i, k;
	json_t *item, *known;

	json_array_foreach((json_t *)from, i, item)
	{
		json_t *same = NULL, *count = json_object_get(item, "count");

		json_array_foreach(into, k, known)
		{
			if (same_error(known, item))
				same = known;
		}
		if (same == NULL) {
			json_array_append_new(into, renumbered(item, runs));
			continue;
		}
		for (size_t list = 0; list < G_N_ELEMENTS(lists); list++)
			if (json_object_get(item, lists[list]) != NULL)
				json_add_elements(same, item, lists[list]);
		if (count != NULL)
			json_object_set_new(same, "count",
			                    json_integer(json_integer_value(json_object_get(
			                                         same, "count")) +
			                                 json_integer_value(count)));
	}
}

static void join_runs(json_t *into, const json_t *from, json_int_t runs)
{
	size_t i;
	json_t *item;

	json_array_foreach((json_t *)from, i, item)
	        json_array_append_new(into, renumbered(item, runs));
}

/* -- the head ------------------------------------------------------------------------- */

static bool was_asked(const char *key)
{
	for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
		if (strcmp(key, asked[i]) == 0)
			return true;
	}
	return false;
}

static void join_member(json_t *into, const char *key, const json_t *from, json_int_t runs)
{
	json_t *known = json_object_get(into, key);

	if (known == NULL)
		json_object_set_new(into, key, renumbered(from, runs));
	else if (json_is_integer(known) && json_is_integer(from))
		json_integer_set(known, json_integer_value(known) + json_integer_value(from));
	else if (strcmp(key, "complete") == 0)
		json_object_set_new(into, key,
		                    json_boolean(json_is_true(known) && json_is_true(from)));
	else if (strcmp(key, "bound") == 0)
		join_member(known, "complete", json_object_get(from, "complete"), runs);
	else if (json_is_array(known) && strcmp(key, "runs") == 0)
		join_runs(known, from, runs);
	else if (json_is_array(known) && json_array_size(known) > 0 &&
	         json_is_string(json_array_get(known, 0)))
		join_notes(known, from);
	else if (json_is_array(known))
		join_errors(known, from, runs);
}

static void join_head(json_t *into, const json_t *from)
{
	json_int_t runs = (json_int_t)json_array_size(json_object_get(into, "runs"));
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)from, key, value)
	{
		if (!was_asked(key) && strcmp(key, "shard") != 0 &&
		    strcmp(key, "partings") != 0)
			join_member(into, key, value, runs);
	}
}

/* Count classes that several shards met once. */
static void count_classes(json_t *head)
{
	GHashTable *classes = g_hash_table_new(g_str_hash, g_str_equal);
	size_t i;
	json_t *run;

	json_array_foreach(json_object_get(head, "runs"), i, run)
	{
		const char *class_ = json_string_value(json_object_get(run, "class"));

		if (class_ != NULL && strcmp(json_word(run, "end"), "diverged") != 0)
			g_hash_table_add(classes, (char *)class_);
	}
	if (g_hash_table_size(classes) > 0)
		json_object_set_new(head, "states", json_integer(g_hash_table_size(classes)));
	g_hash_table_destroy(classes);
}

/* Classes of runs with kernel threads are not those of runs without. */
static void compare_threads(json_t *head, const GPtrArray *parts)
{
	bool with = false, without = false;
	for (guint i = 0; i < parts->len; i++) {
		const struct report_file *part = parts->pdata[i];
		bool has = json_is_true(json_object_get(part->head, "kernel-threads"));
		with |= has;
		without |= !has;
	}
	json_object_del(head, "kernel-threads");
	json_t *notes = json_object_get(head, "notes");
	if (with && without && notes != NULL)
		json_array_append_new(
		        notes,
		        json_string(
		                "runs of some shards needed kernel threads, others had none: "
		                "classes that shards of both kinds met count twice"));
}

/* The number of classes that a shard is expected to find: its estimate, or its classes if it is
 * complete. */
static json_int_t expected(const json_t *head, int bound)
{
	const json_t *estimate = json_object_get(head, "estimate");
	const json_t *number = estimate == NULL ? json_object_get(head, "states")
	                       : bound < 0      ? json_object_get(estimate, "classes")
	                                   : json_array_get(json_object_get(estimate, "spread"),
	                                                    (size_t)bound);
	return json_integer_value(number);
}

/* Sums the estimates of the shards, if one is incomplete. */
static void join_estimates(json_t *head, const GPtrArray *parts)
{
	json_int_t classes = 0, low = 0, high = 0;
	bool any = false;

	for (guint i = 0; i < parts->len; i++) {
		const json_t *part = ((const struct report_file *)parts->pdata[i])->head;

		any |= json_object_get(part, "estimate") != NULL;
		classes += expected(part, -1);
		low += expected(part, 0);
		high += expected(part, 1);
	}
	if (any)
		json_object_set_new(
		        head, "estimate",
		        json_pack("{s:I, s:[I, I]}", "classes", classes, "spread", low, high));
}

/* -- merging ------------------------------------------------------------------------------- */

static json_int_t event_of(const struct filed_finding *f, const char *key)
{
	const json_t *event = json_object_get(f->fields, key);

	return event != NULL ? json_integer_value(event) : NONE;
}

/* Order as report_finish. */
static int by_events(gconstpointer p, gconstpointer q)
{
	json_int_t a = event_of(p, "first"), b = event_of(q, "first");

	if (a == b) {
		a = event_of(p, "second");
		b = event_of(q, "second");
	}
	return (a > b) - (a < b);
}

/* Join in the order of the shards, so that the result does not depend on the order of names. */
static struct report_file *join(const GPtrArray *parts, const uint32_t *of, uint32_t n)
{
	struct report_file *all = g_new0(struct report_file, 1);

	all->name = g_strdup(((const struct report_file *)parts->pdata[0])->name);
	all->findings = g_array_new(FALSE, FALSE, sizeof(struct filed_finding));
	for (uint32_t i = 0; i < n; i++) {
		const struct report_file *r = of[i] ? parts->pdata[of[i] - 1] : NULL;

		if (r == NULL)
			continue;
		if (all->head == NULL)
			all->head = json_deep_copy(r->head);
		else
			join_head(all->head, r->head);
		for (guint k = 0; k < r->findings->len; k++)
			json_incref(g_array_index(r->findings, struct filed_finding, k).fields);
		g_array_append_vals(all->findings, r->findings->data, r->findings->len);
	}
	g_array_sort(all->findings, by_events);
	merge_behind(all);
	merge_note_behind(all);
	if (report_file_is_exploration(all)) {
		join_estimates(all->head, parts);
		compare_threads(all->head, parts);
		count_classes(all->head);
		partings_recount(all->head);
	}
	json_object_del(all->head, "share");
	json_object_del(all->head, "shard");
	json_object_del(all->head, "sha256");
	return all;
}

static void lack(struct report_file *all, const char *shards, uint32_t n)
{
	char *note = g_strdup_printf("shards %s of %u are missing", shards, n);
	const char *key = report_file_is_check(all)         ? "coverage"
	                  : report_file_is_exploration(all) ? "gaps"
	                                                    : "notes";
	json_t *notes = json_object_get(all->head, key);

	if (notes == NULL) {
		notes = json_array();
		json_object_set_new(all->head, key, notes);
	}
	json_array_append_new(notes, json_string(note));
	if (!report_file_is_check(all))
		json_object_set_new(all->head, "complete", json_false());
	else
		json_object_clear(json_object_get(all->head, "complete"));
	json_object_set_new(json_object_get(all->head, "bound"), "complete", json_false());
	g_free(note);
}

bool reports_fit(const GPtrArray *parts, bool lenient, struct error *error)
{
	uint32_t i, n;
	if (!read_shard(parts->pdata[0], &i, &n, error))
		return false;
	uint32_t *of = g_new0(uint32_t, n);
	bool good = place_shards(parts, n, of, error);
	char *absent = good ? missing(of, n) : NULL;
	if (absent && !lenient)
		good = error_set(error, "merge", "name all of them, or --lenient",
		                 "of %u shards these are missing: %s", n, absent);
	g_free(absent);
	g_free(of);
	return good;
}

/* All or none of the parts are reports of `check`. */
static bool are_checks(const GPtrArray *parts, bool *checks, struct error *error)
{
	*checks = report_file_is_check(parts->pdata[0]);
	for (guint i = 1; i < parts->len; i++) {
		const struct report_file *r = parts->pdata[i];

		if (report_file_is_check(r) != *checks)
			return error_set(
			        error, r->name, "merge reports of one command",
			        *checks ? "expected a report of check, as the first is"
			                : "expected a report of a shard, as the first is");
	}
	return true;
}

/* A whole report, of a trace: no shard of one, and no exploration. */
static bool is_of_trace(const struct report_file *r)
{
	return json_object_get(r->head, "shard") == NULL && !report_file_is_exploration(r) &&
	       json_object_get(r->head, "trace") != NULL;
}

struct report_file *reports_merge(const GPtrArray *parts, bool lenient, struct error *error)
{
	const struct report_file *first = parts->pdata[0];
	struct report_file *all = NULL;
	uint32_t i, n;
	char *absent;
	bool checks;

	if (!are_checks(parts, &checks, error))
		return NULL;
	if (checks && json_object_get(first->head, "shard") == NULL)
		return checks_merge(parts);
	if (parts->len > 1 && !checks && is_of_trace(first)) {
		g_autofree char *name = g_strdup_printf("%u reports", parts->len);
		return traces_merge(parts, name, "traces", error);
	}
	if (!read_shard(parts->pdata[0], &i, &n, error))
		return NULL;
	uint32_t *of = g_new0(uint32_t, n);
	if (place_shards(parts, n, of, error)) {
		absent = missing(of, n);
		if (absent == NULL || lenient)
			all = checks ? checks_merge(parts) : join(parts, of, n);
		else
			error_set(error, "merge", "name all of them, or --lenient",
			          "of %u shards these are missing: %s", n, absent);
		if (all != NULL && absent != NULL)
			lack(all, absent, n);
		g_free(absent);
	}
	g_free(of);
	return all;
}
