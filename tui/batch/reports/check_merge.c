/* check_merge.c - see check_merge.h. */
#include "tui/batch/reports/check_merge.h"

#include "tui/batch/check/checkup.h"

#include <string.h>

struct merging {
	json_t *runs, *findings, *coverage, *complete; /* owned */
	GHashTable *by_key; /* key (owned) to a finding, borrowed from `findings` */
	bool spent, whole;  /* whole: a share's `complete` holds for all shares */
};

/* A finding of a part whose runs are numbered from `first` on. */
static json_t *renumbered(const json_t *finding, size_t first)
{
	json_t *copy = json_deep_copy(finding), *run;
	size_t i;

	json_object_del(copy, "witness"); /* a number here */
	json_array_foreach(json_object_get(copy, "runs"), i, run)
	        json_integer_set(run, json_integer_value(run) + (json_int_t)first);
	return copy;
}

static bool happened(const json_t *f)
{
	return json_is_true(json_object_get(f, "happened"));
}

/* The finding with more details stays, with the runs of both. */
static void join_finding(struct merging *m, json_t *known, json_t *other)
{
	bool differs = strcmp(json_word(other, "harm"), harm_word(HARM_DIFFERS)) == 0 &&
	               strcmp(json_word(known, "harm"), harm_word(HARM_DIFFERS)) != 0;
	json_t *runs = json_copy(json_object_get(known, "runs"));

	json_array_extend(runs, json_object_get(other, "runs"));
	if ((happened(other) && !happened(known)) ||
	    (happened(other) == happened(known) && differs))
		json_object_update(known, other);
	json_object_set_new(known, "runs", runs);
	json_decref(other);
}

/* A share that has run every schedule of the program is complete for all of them. */
static bool is_share_of_all(const struct report_file *r)
{
	return json_object_get(r->head, "shard") != NULL &&
	       json_is_true(
	               json_object_get(json_object_get(r->head, "exploration"), "complete"));
}

static void add_part(struct merging *m, const struct report_file *r)
{
	size_t first = json_array_size(m->runs), i;
	json_t *item, *known;
	const char *key;

	for (guint k = 0; k < r->findings->len; k++) {
		json_t *f = renumbered(
		        g_array_index(r->findings, struct filed_finding, k).fields, first);
		char *name = checkup_key(f);

		known = g_hash_table_lookup(m->by_key, name);
		if (known != NULL) {
			join_finding(m, known, f);
			g_free(name);
		} else {
			json_array_append_new(m->findings, f);
			g_hash_table_insert(m->by_key, name, f);
		}
	}
	json_array_foreach(json_object_get(r->head, "runs"), i, item)
	{
		json_t *run = json_deep_copy(item), *same = json_object_get(run, "same-as");

		if (same != NULL)
			json_integer_set(same, json_integer_value(same) + (json_int_t)first);
		json_array_append_new(m->runs, run);
	}
	const json_t *coverage = json_object_get(r->head, "coverage");
	for (i = 0; i < json_array_size(coverage); i++)
		json_array_append_new(m->coverage, json_sprintf("%s: %s", r->name,
		                                                json_element(coverage, i)));
	bool all = is_share_of_all(r), whole = all || !m->whole;
	json_object_foreach(json_object_get(r->head, "complete"), key, item)
	{
		known = json_object_get(m->complete, key);
		bool both = json_is_true(item) && (known == NULL || json_is_true(known));
		if (whole)
			json_object_set_new(m->complete, key,
			                    json_boolean(all ? json_is_true(item) : both));
	}
	m->whole |= all;
	m->spent |= json_is_true(json_object_get(r->head, "budget-spent"));
}

/* Where all parts are of one program, the whole is of it, too, with the exploration of a share
 * that came to its end. */
static void set_program(const GPtrArray *parts, json_t *whole)
{
	static const char *const keys[] = { "program", "arguments" };
	const struct report_file *first = parts->pdata[0];

	for (guint i = 1; i < parts->len; i++)
		for (size_t k = 0; k < G_N_ELEMENTS(keys); k++) {
			const struct report_file *r = parts->pdata[i];
			json_t *a = json_object_get(first->head, keys[k]),
			       *b = json_object_get(r->head, keys[k]);

			if (a != b && !(a && b && json_equal(a, b)))
				return;
		}
	for (size_t k = 0; k < G_N_ELEMENTS(keys); k++)
		if (json_object_get(first->head, keys[k]) != NULL)
			json_object_set(whole, keys[k], json_object_get(first->head, keys[k]));
	for (guint i = 0; i < parts->len; i++) {
		const struct report_file *r = parts->pdata[i];

		if (is_share_of_all(r))
			json_object_set(whole, "exploration",
			                json_object_get(r->head, "exploration"));
	}
}

struct report_file *checks_merge(const GPtrArray *parts)
{
	struct merging m = { .runs = json_array(),
		             .findings = json_array(),
		             .coverage = json_array(),
		             .complete = json_object(),
		             .by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
		                                             NULL) };

	for (guint i = 0; i < parts->len; i++)
		add_part(&m, parts->pdata[i]);
	json_auto_t *whole = json_pack("{sssssosososo}", "heddle", HEDDLE_VERSION, "command",
	                               "check", "runs", m.runs, "findings", m.findings,
	                               "coverage", m.coverage, "complete", m.complete);
	set_program(parts, whole);
	if (m.spent)
		json_object_set_new(whole, "budget-spent", json_true());
	struct report_file *all =
	        report_file_of_json(((const struct report_file *)parts->pdata[0])->name, whole);
	g_hash_table_destroy(m.by_key);
	return all;
}
