/*
 * prop_merge.c - on random small traces: the reports of all shards, merged, are the report of
 * the whole, to the byte of every finding with its witness (except the proofs of
 * impossibility, and the choice of the solver's witnesses); and a comparison of the two has
 * no new finding and none that has disappeared.
 */
#include "engine/predict/predict.h"
#include "tests/property/mix.h"
#include "tui/batch/reports/changes.h"
#include "tui/batch/reports/report_merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t findings_in_all, behind_in_all;

static const enum analysis analyses[] = {
	ANALYSIS_AUTO, ANALYSIS_LOCKSET, ANALYSIS_HB, ANALYSIS_SHB,
	ANALYSIS_WCP,  ANALYSIS_SYNCP,   ANALYSIS_M2, ANALYSIS_SMT,
};

static struct report_file *find(struct trace *t, const struct race_options *race, char *shard)
{
	const struct print_options print = { .all_verdicts = race->all_verdicts,
		                             .shard = shard };
	struct error error;
	struct report *r = races_find(t, race, NULL, &error);
	struct report_file *file = r != NULL ? report_file_of(r, &print) : NULL;

	report_free(r);
	return file;
}

/* The solver's earlier answers decide which of several witnesses it finds; and a proof may be
 * that for earlier events of the same regions, which may be in another shard. */
static bool may_differ(const json_t *f, const char *key)
{
	if (filed_is_found(f))
		return strcmp(key, "witness") == 0 && strcmp(json_word(f, "by"), "smt") == 0;
	return strcmp(key, "proof") == 0 || strcmp(key, "by") == 0;
}

static bool same_member(const json_t *a, const json_t *b, const char *key)
{
	const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);

	return x == y || (x != NULL && y != NULL && json_equal(x, y));
}

static bool same_finding(const struct filed_finding *x, const struct filed_finding *y)
{
	static const char *const keys[] = { "witness", "proof", "by" };

	if (x->length == y->length && memcmp(x->text, y->text, x->length) == 0) {
		behind_in_all += json_object_get(x->fields, "behind") != NULL;
		return true;
	}
	/* another proof rests on other reads */
	if (!same_member(x->fields, y->fields, "proof")) {
		json_object_del(x->fields, "behind");
		json_object_del(y->fields, "behind");
	} else {
		behind_in_all += json_object_get(x->fields, "behind") != NULL;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		if (!may_differ(x->fields, keys[i]) || !may_differ(y->fields, keys[i]) ||
		    (json_object_get(x->fields, keys[i]) == NULL) !=
		            (json_object_get(y->fields, keys[i]) == NULL))
			continue;
		json_object_del(x->fields, keys[i]);
		json_object_del(y->fields, keys[i]);
	}
	return json_equal(x->fields, y->fields);
}

static bool same_findings(const struct report_file *a, const struct report_file *b)
{
	bool same = a->findings->len == b->findings->len;

	for (guint i = 0; same && i < a->findings->len; i++) {
		const struct filed_finding *x =
		        &g_array_index(a->findings, struct filed_finding, i);
		const struct filed_finding *y =
		        &g_array_index(b->findings, struct filed_finding, i);

		same = same_finding(x, y);
		if (!same)
			printf("whole  %.*s\nmerged %.*s\n", (int)x->length, x->text,
			       (int)y->length, y->text);
	}
	return same;
}

static bool nothing_changed(const struct report_file *a, const struct report_file *b)
{
	const struct changes_sides sides = { .old = a, .new = b };
	struct error error;
	struct changes *c = changes_new(&sides, NULL, &error);
	bool nothing = changes_count(c, MATCH_NEW) == 0 &&
	               changes_count(c, MATCH_ABSENT) == 0 &&
	               changes_count(c, MATCH_UPDATED) == 0;

	changes_free(c);
	return nothing;
}

/* Shards make no note on pairs behind racy reads, as none has all races (report_note_behind);
 * their join says so. */
static void drop_note_behind(json_t *head)
{
	json_t *notes = json_object_get(head, "notes"), *note;
	size_t i;

	json_array_foreach(notes, i, note)
	{
		if (g_str_has_prefix(json_string_value(note), "pairs of places that ")) {
			json_array_remove(notes, i);
			break;
		}
	}
	if (json_array_size(notes) == 0)
		json_object_del(head, "notes");
}

static bool check(const struct report_file *whole, const struct report_file *merged)
{
	bool good = merged != NULL && same_findings(whole, merged);

	/* how much work the shards shared differs with how it is cut */
	json_object_del(whole->head, "candidates");
	drop_note_behind(whole->head);
	if (merged != NULL) {
		json_object_del(merged->head, "candidates");
		drop_note_behind(merged->head);
	}
	good = good && json_equal(whole->head, merged->head) && nothing_changed(whole, merged);
	if (!good) {
		char *a = json_dumps(whole->head, 0);
		char *b = merged != NULL ? json_dumps(merged->head, 0) : NULL;

		printf("whole  %u %s\nmerged %u %s\n", whole->findings->len, a,
		       merged != NULL ? merged->findings->len : 0, b != NULL ? b : "nothing");
		free(a);
		free(b);
	}
	return good;
}

static bool one(uint64_t seed)
{
	struct random_options o = mix_options(seed, 2 + seed % 3, 10 + seed % 20);
	struct trace *t = random_trace(seed, &o);
	GPtrArray *parts = g_ptr_array_new_with_free_func((GDestroyNotify)report_file_free);
	struct race_options race;
	struct error error = { .what = "" };

	race_options_init(&race);
	race.analysis = analyses[seed % G_N_ELEMENTS(analyses)];
	race.pairs_events = seed / 8 % 2;
	race.all_verdicts = seed / 16 % 2;
	race.use_values = seed / 32 % 4 == 0;
	race.budget_total = 100;
	struct report_file *whole = find(t, &race, NULL);
	findings_in_all += whole->findings->len;
	race.shards = 1 + seed / 128 % 4;
	/* from the last to the first: the order of the names is nothing */
	for (race.shard = race.shards; race.shard-- > 0;) {
		char shard[32];

		g_snprintf(shard, sizeof(shard), "%u/%u", race.shard + 1, race.shards);
		g_ptr_array_add(parts, find(t, &race, shard));
	}
	struct report_file *merged = reports_merge(parts, false, &error);
	bool good = check(whole, merged);
	if (!good)
		printf("%s %s\n", analysis_word(race.analysis), error.what);
	report_file_free(merged);
	g_ptr_array_unref(parts);
	report_file_free(whole);
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "merged shards against the whole", 4000, one);

	return status == 0 && (findings_in_all == 0 || behind_in_all == 0) ? EXIT_FAILURE
	                                                                   : status;
}
