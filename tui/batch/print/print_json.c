/*
 * print_json.c - reports as JSON (docs/reports.md, "JSON").
 */
#include "engine/predict/predict.h"
#include "tui/batch/print/finding_json.h"
#include "tui/batch/print/places.h"
#include "tui/batch/print/print.h"
#include "tui/batch/suppressions.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

bool print_lists(const struct finding *f, const struct print_options *o)
{
	return o->all_verdicts || verdict_is_found(f->verdict);
}

/* Write the digits of a number before `end`. */
static char *digits(char *end, uint32_t number)
{
	do
		*--end = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	return end;
}

/* Witnesses are most of a large report, so they are written directly. */
static void write_witness(const GArray *witness, FILE *out)
{
	char buffer[16], *end = buffer + sizeof(buffer);

	fputs(", \"witness\": [", out);
	for (guint i = 0; i < witness->len; i++) {
		char *from = digits(end, g_array_index(witness, uint32_t, i));

		if (i > 0) {
			*--from = ' ';
			*--from = ',';
		}
		fwrite_unlocked(from, 1, (size_t)(end - from), out);
	}
	fputs("]", out);
}

/* Write an object without its closing brace. */
static void write_open(json_t *object, FILE *out)
{
	char *text = json_dumps(object, 0);

	fwrite(text, 1, strlen(text) - 1, out);
	free(text);
	json_decref(object);
}

/* Sets no member when the list is empty. */
static json_t *json_head(const struct report *r, const struct print_options *o)
{
	json_t *j =
	        json_pack("{sssosssIsb}", "heddle", HEDDLE_VERSION, "trace",
	                  json_text(trace_name(r->trace)), "analysis", r->analysis, "events",
	                  (json_int_t)r->trace->events_count, "complete", r->complete);

	if (j == NULL)
		BUG("report does not pack");
	if (o->options)
		json_object_set(j, "options", o->options);
	if (trace_sampled(r->trace))
		json_object_set_new(j, "sampled",
		                    json_integer((json_int_t)trace_sampled(r->trace)));
	g_autofree char *why = report_why_open(r);
	json_set_word(j, "not-complete", why);
	json_set_word(j, "scope", r->scope);
	json_set_word(j, "given", r->same_pairing ? "same pairing" : NULL);
	if (report_lacks_calls(r))
		json_object_set_new(j, "uninstrumented", json_true());
	json_set_word(j, "shard", o->shard);
	json_set_word(j, "sha256", o->digest);
	if (o->members)
		json_object_set(j, "baseline", json_object_get(o->members, "counts"));
	json_object_set_new(j, "candidates", json_integer((json_int_t)r->candidates));
	if (r->budget_spent)
		json_object_set_new(j, "budget-spent", json_true());
	json_set_sentences(j, "notes", r->notes);
	json_set_sentences(j, "warnings", r->trace->warnings);
	return j;
}

void report_print_json(const struct report *r, const struct print_options *o, FILE *out)
{
	struct places *places = places_new(r->trace);
	const char *separator = "\n";

	write_open(json_head(r, o), out);
	fputs(", \"findings\": [", out);
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		if (!print_lists(f, o))
			continue;
		fputs(separator, out);
		json_t *j = finding_json(places, r->trace, f);
		if (o->shard && f->verdict == VERDICT_IMPOSSIBLE)
			json_set_reads(r->trace, f, j);
		json_set_suppressed(j, suppressions_find(o->suppressions, r->trace, f));
		json_object_update(j,
		                   json_array_get(json_object_get(o->members, "findings"), i));
		if (o->switches)
			json_object_set(j, "switches", o->switches);
		write_open(j, out);
		if (f->witness && !o->no_witness)
			write_witness(f->witness, out);
		fputs("}", out);
		separator = ",\n";
	}
	fputs("\n]", out);
	if (o->members)
		findings_print_absent(json_object_get(o->members, "absent"), out);
	fputs("}\n", out);
	places_free(places);
}
