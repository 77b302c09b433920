/*
 * print_sarif.c - findings as SARIF 2.1.0, made from their JSON: so reports, merged reports
 * and differences have one form.
 */
#include "tui/batch/print.h"

#include "tui/batch/report_file.h"

#include <string.h>

struct sarif {
	FILE *out;
	bool any;
};

struct sarif *sarif_begin(FILE *out)
{
	struct sarif *s = g_new0(struct sarif, 1);

	s->out = out;
	fputs("{\n \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
	      " \"version\": \"2.1.0\",\n"
	      " \"runs\": [{\n"
	      "  \"tool\": {\"driver\": {\"name\": \"heddle\", \"version\": \"" HEDDLE_VERSION
	      "\"}},\n"
	      "  \"results\": [",
	      out);
	return s;
}

static json_t *sarif_location(const json_t *site)
{
	const char *file = json_word(site, "file");
	json_t *physical = json_pack("{s{ss}}", "artifactLocation", "uri",
	                             *file ? file : json_word(site, "name"));
	json_t *line = json_object_get(site, "line");

	if (line != NULL)
		json_object_set_new(physical, "region", json_pack("{sO}", "startLine", line));
	return json_pack("{so}", "physicalLocation", physical);
}

static char *message(const json_t *f)
{
	const json_t *first = json_object_get(f, "first"),
	             *second = json_object_get(f, "second");
	const char *variable = json_word(f, "variable");
	GString *text = g_string_new(NULL);

	g_string_printf(text, "%s (%s)", json_word(f, "kind"), json_word(f, "verdict"));
	if (*variable)
		g_string_append_printf(text, " on %s", variable);
	if (*json_word(f, "story"))
		g_string_append_printf(text, ": %s", json_word(f, "story"));
	if (*json_word(f, "text"))
		g_string_append_printf(text, ": %s", json_word(f, "text"));
	if (*json_word(f, "difference"))
		g_string_append_printf(text, " (what it does: %s)", json_word(f, "difference"));
	if (first != NULL && second != NULL)
		g_string_append_printf(text, " between events %d and %d",
		                       (int)json_integer_value(first),
		                       (int)json_integer_value(second));
	return g_string_free(text, FALSE);
}

void sarif_add(struct sarif *s, const json_t *f, const char *baseline_state)
{
	const char *verdict = json_word(f, "verdict");
	bool sure = strcmp(verdict, verdict_word(VERDICT_RACE)) == 0 ||
	            strcmp(verdict, verdict_word(VERDICT_HAPPENED)) == 0;
	json_t *locations = json_array(), *related = json_array(), *site, *result;
	char *text = message(f);
	size_t i;

	json_array_foreach(json_object_get(f, "sites"), i, site)
	        json_array_append_new(i == 0 ? locations : related, sarif_location(site));
	result = json_pack("{sssss{ss}soso}", "ruleId", json_word(f, "kind"), "level",
	                   sure ? "error" : "warning", "message", "text", text, "locations",
	                   locations, "relatedLocations", related);
	if (result == NULL)
		BUG("finding does not pack");
	if (baseline_state != NULL)
		json_object_set_new(result, "baselineState", json_string(baseline_state));
	fputs(s->any ? ",\n   " : "\n   ", s->out);
	json_dumpf(result, s->out, 0);
	s->any = true;
	json_decref(result);
	g_free(text);
}

void sarif_end(struct sarif *s)
{
	fputs("\n  ]\n }]\n}\n", s->out);
	g_free(s);
}
