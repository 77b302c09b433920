/*
 * print.c - reports as text, JSON and SARIF.  Format and output; no analysis here.
 */
#include "tui/batch/command.h"

#include "engine/order/order.h"
#include "engine/predict/predict.h"
#include "engine/trace/index.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JSON is UTF-8: what is not, and control bytes, are written as \xHH text. */
static json_t *json_text(const char *text)
{
	GString *s = g_string_new(NULL);
	append_escaped(s, text, strlen(text));
	json_t *j = json_stringn(s->str, s->len);
	g_string_free(s, TRUE);
	return j;
}

static json_t *json_events(const uint32_t *events, size_t count)
{
	json_t *a = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(a, json_integer(events[i]));
	return a;
}

static json_t *json_path(const struct trace *t, const struct path *path)
{
	json_t *a = json_array();
	GString *text = g_string_new(NULL);
	for (guint i = 0; path->steps && i < path->steps->len; i++) {
		const struct step *s = &g_array_index(path->steps, struct step, i);
		g_string_truncate(text, 0);
		order_append_sentence(t, s, text);
		json_array_append_new(a, json_pack("{sIsIssso}", "from", (json_int_t)s->from,
		                                   "to", (json_int_t)s->to, "rule",
		                                   step_rule_text(s->rule), "text",
		                                   json_text(text->str)));
	}
	g_string_free(text, TRUE);
	return a;
}

json_t *proof_json(const struct trace *t, const struct proof *p)
{
	json_t *j = json_pack("{ssso}", "method", p->method, "steps", json_path(t, &p->cycle));
	if (p->given)
		json_object_set_new(j, "given", json_string(p->given));
	return j;
}

void print_steps(const struct trace *t, const struct path *path)
{
	GString *line = g_string_new(NULL);
	for (guint i = 0; path->steps && i < path->steps->len; i++) {
		const struct step *s = &g_array_index(path->steps, struct step, i);
		g_string_printf(line, "  %u -> %u  ", s->from, s->to);
		order_append_sentence(t, s, line);
		g_string_append_printf(line, "  [%s]", step_rule_text(s->rule));
		puts(line->str);
	}
	g_string_free(line, TRUE);
}

static char *variable_name(const struct trace *t, uint32_t variable)
{
	const char *name = trace_string(t, t->variables[variable].name);
	GString *s = g_string_new(NULL);
	append_escaped(s, name, strlen(name));
	return g_string_free(s, FALSE);
}

static void json_variables(const struct trace *t, const struct finding *f, json_t *j)
{
	if (f->variables == NULL || f->variables->len == 0)
		return;
	json_t *all = json_array();
	GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < f->variables->len; i++) {
		char *name = variable_name(t, g_array_index(f->variables, uint32_t, i));
		if (i == 0)
			json_object_set_new(j, "variable", json_string(name));
		if (g_hash_table_contains(seen, name)) {
			g_free(name);
			continue;
		}
		json_array_append_new(all, json_string(name));
		g_hash_table_add(seen, name);
	}
	g_hash_table_destroy(seen);
	json_object_set_new(j, "variables", all);
}

/* Frame by frame, innermost first: "deposit bank.c:23". */
static void append_frame(const struct trace *t, const struct frame *f, GString *out)
{
	const char *function = trace_string(t, f->function);
	const char *place = trace_string(t, t->locations[f->location].name);
	append_escaped(out, function, strlen(function));
	if (*function && *place)
		g_string_append_c(out, ' ');
	append_escaped(out, place, strlen(place));
}

static json_t *json_stack(const struct trace *t, uint32_t event)
{
	GArray *frames = trace_frames(t, event, t->stacks_count ? trace_stack(t, event) : 0);
	json_t *stack = json_array();
	for (guint i = 0; i < frames->len; i++) {
		GString *text = g_string_new(NULL);
		append_frame(t, &g_array_index(frames, struct frame, i), text);
		json_array_append_new(stack, json_string(text->str));
		g_string_free(text, TRUE);
	}
	g_array_free(frames, TRUE);
	return stack;
}

static void json_cycle(const struct trace *t, const struct finding *f, json_t *j)
{
	json_t *sets = json_array(), *units = json_array(), *edges = json_array();
	for (guint i = 0; f->sets && i < f->sets->len; i++)
		json_array_append_new(sets, json_text(f->sets->pdata[i]));
	for (guint i = 0; i < f->units->len; i++) {
		const struct cycle_unit *u = &g_array_index(f->units, struct cycle_unit, i);
		json_t *o = json_pack("{sososIsI}", "unit", json_text(u->unit), "thread",
		                      json_text(trace_thread_name(t, u->thread)), "begin",
		                      (json_int_t)u->begin, "end", (json_int_t)u->end);
		json_array_append_new(units, o);
	}
	for (guint i = 0; f->edges && i < f->edges->len; i++) {
		const struct cycle_edge *e = &g_array_index(f->edges, struct cycle_edge, i);
		char *name = variable_name(t, e->variable);
		json_array_append_new(edges,
		                      json_pack("{sIsIsssoss}", "from", (json_int_t)e->from,
		                                "to", (json_int_t)e->to, "variable", name,
		                                "events", json_events(e->events, 2), "set",
		                                f->sets && e->set < f->sets->len
		                                        ? (char *)f->sets->pdata[e->set]
		                                        : ""));
		if (t->stacks_count)
			json_object_set_new(json_array_get(edges, json_array_size(edges) - 1),
			                    "stacks",
			                    json_pack("[oo]", json_stack(t, e->events[0]),
			                              json_stack(t, e->events[1])));
		g_free(name);
	}
	json_object_set_new(j, "sets", sets);
	json_object_set_new(j, "mixed", json_boolean(f->mixed));
	json_object_set_new(j, "cycle", units);
	json_object_set_new(j, "edges", edges);
	if (f->grade) {
		char grade[2] = { f->grade, 0 };
		json_object_set_new(j, "grade", json_string(grade));
	}
}

static json_t *json_finding(const struct trace *t, const struct finding *f)
{
	json_t *j = json_pack("{ssss}", "kind", finding_kind_word(f->kind), "verdict",
	                      verdict_word(f->verdict));
	if (f->first != NONE)
		json_object_set_new(j, "first", json_integer(f->first));
	if (f->second != NONE)
		json_object_set_new(j, "second", json_integer(f->second));
	if (f->first != NONE && f->second != NONE) {
		json_t *l = json_pack("[oo]", json_text(trace_site_name(t, f->first)),
		                      json_text(trace_site_name(t, f->second)));
		json_object_set_new(j, "locations", l);
		if (t->stacks_count)
			json_object_set_new(j, "stacks",
			                    json_pack("[oo]", json_stack(t, f->first),
			                              json_stack(t, f->second)));
		json_object_set_new(
		        j, "threads",
		        json_pack(
		                "[oo]",
		                json_text(trace_thread_name(t, t->events[f->first].thread)),
		                json_text(trace_thread_name(t, t->events[f->second].thread))));
	}
	json_variables(t, f, j);
	json_object_set_new(j, "count", json_integer((json_int_t)f->count));
	json_object_set_new(j, "counted", json_string(f->counted_all ? "all" : "seen"));
	if (f->witness)
		json_object_set_new(j, "witness",
		                    json_events((const uint32_t *)(void *)f->witness->data,
		                                f->witness->len));
	if (f->proof)
		json_object_set_new(j, "proof", proof_json(t, f->proof));
	if (f->budget)
		json_object_set_new(j, "budget", json_string(f->budget));
	if (f->note)
		json_object_set_new(j, "note", json_string(f->note));
	if (f->by)
		json_object_set_new(j, "by", json_string(f->by));
	if (f->methods[0])
		json_object_set_new(j, "methods",
		                    json_pack("[oo]", json_text(f->methods[0]),
		                              json_text(f->methods[1] ? f->methods[1] : "")));
	if (f->condition)
		json_object_set_new(j, "condition", json_text(f->condition));
	if (f->points[0])
		json_object_set_new(j, "points",
		                    json_pack("[oo]", json_text(f->points[0]),
		                              json_text(f->points[1] ? f->points[1] : "")));
	if (f->requests)
		json_object_set_new(j, "requests",
		                    json_events((const uint32_t *)(void *)f->requests->data,
		                                f->requests->len));
	if (f->units)
		json_cycle(t, f, j);
	return j;
}

static bool listed(const struct finding *f, const struct print_options *o)
{
	return o->all_verdicts ||
	       (f->verdict != VERDICT_IMPOSSIBLE && f->verdict != VERDICT_UNKNOWN);
}

/* A finding at a time: the witnesses of a large report do not all fit as JSON values. */
static void print_json(const struct report *r, const struct print_options *o)
{
	json_t *j =
	        json_pack("{sssosssIsb}", "heddle", HEDDLE_VERSION, "trace",
	                  json_text(trace_name(r->trace)), "analysis", r->analysis, "events",
	                  (json_int_t)r->trace->events_count, "complete", r->complete);
	if (j == NULL)
		BUG("report does not pack");
	if (r->notes->len) {
		json_t *notes = json_array();
		for (guint i = 0; i < r->notes->len; i++)
			json_array_append_new(notes, json_text(r->notes->pdata[i]));
		json_object_set_new(j, "notes", notes);
	}
	json_object_set_new(j, "candidates", json_integer((json_int_t)r->candidates));
	char *head = json_dumps(j, 0);
	json_decref(j);
	head[strlen(head) - 1] = '\0'; /* without its closing brace */
	printf("%s, \"findings\": [", head);
	free(head);
	const char *separator = "\n";
	for (guint i = 0; i < r->findings->len; i++) {
		if (!listed(r->findings->pdata[i], o))
			continue;
		json_t *f = json_finding(r->trace, r->findings->pdata[i]);
		fputs(separator, stdout);
		json_dumpf(f, stdout, 0);
		json_decref(f);
		separator = ",\n";
	}
	puts("\n]}");
}

/* -- SARIF 2.1.0 -------------------------------------------------------------------- */

static json_t *sarif_location(const struct trace *t, uint32_t event)
{
	const struct location *l = &t->locations[t->events[event].location];
	const char *file = trace_string(t, l->file);
	json_t *physical = json_pack("{s{so}}", "artifactLocation", "uri",
	                             json_text(*file ? file : trace_site_name(t, event)));
	if (l->line)
		json_object_set_new(physical, "region",
		                    json_pack("{si}", "startLine", (int)l->line));
	return json_pack("{so}", "physicalLocation", physical);
}

static void print_sarif(const struct report *r, const struct print_options *o)
{
	json_t *results = json_array();
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		if (!listed(f, o) || f->first == NONE)
			continue;
		GString *text = g_string_new(NULL);
		g_string_printf(text, "%s (%s) between events %u and %u",
		                finding_kind_word(f->kind), verdict_word(f->verdict), f->first,
		                f->second);
		json_t *locations = json_array(), *related = json_array();
		json_array_append_new(locations, sarif_location(r->trace, f->first));
		if (f->second != NONE)
			json_array_append_new(related, sarif_location(r->trace, f->second));
		bool sure = f->verdict == VERDICT_RACE || f->verdict == VERDICT_HAPPENED;
		json_array_append_new(results,
		                      json_pack("{sssss{ss}soso}", "ruleId",
		                                finding_kind_word(f->kind), "level",
		                                sure ? "error" : "warning", "message", "text",
		                                text->str, "locations", locations,
		                                "relatedLocations", related));
		g_string_free(text, TRUE);
	}
	json_t *j = json_pack("{sssss[{s{s{ssss}}so}]}", "$schema",
	                      "https://json.schemastore.org/sarif-2.1.0.json", "version",
	                      "2.1.0", "runs", "tool", "driver", "name", "heddle", "version",
	                      HEDDLE_VERSION, "results", results);
	if (j == NULL)
		BUG("report does not pack");
	json_dumpf(j, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(j);
}

/* -- text --------------------------------------------------------------------------- */

/* The function, and the calls that led to it. */
static void print_callers(const struct trace *t, uint32_t event)
{
	GArray *frames = trace_frames(t, event, t->stacks_count ? trace_stack(t, event) : 0);
	GString *s = g_string_new(NULL);
	for (guint i = 0; i < frames->len; i++) {
		const struct frame *f = &g_array_index(frames, struct frame, i);
		const char *function = trace_string(t, f->function);
		g_string_append(s, i ? ", from " : *function ? "  in " : "");
		if (i)
			append_frame(t, f, s);
		else
			append_escaped(s, function, strlen(function));
	}
	fputs(s->str, stdout);
	g_string_free(s, TRUE);
	g_array_free(frames, TRUE);
}

static void print_event(const struct trace *t, uint32_t event)
{
	GString *s = g_string_new(NULL);
	trace_append_operation(t, event, s);
	printf("    %8u  %-6s %-28s %s", event, trace_thread_name(t, t->events[event].thread),
	       s->str, trace_location_name(t, event));
	print_callers(t, event);
	putchar('\n');
	g_string_free(s, TRUE);
}

static void print_variables(const struct trace *t, const struct finding *f)
{
	for (guint i = 0; f->variables && i < f->variables->len && i < 4; i++) {
		char *name = variable_name(t, g_array_index(f->variables, uint32_t, i));
		printf("%s%s", i ? ", " : "  on ", name);
		g_free(name);
	}
	if (f->variables && f->variables->len > 4)
		printf(" and %u more", f->variables->len - 4);
}

/* Which sets, and how sure one may be; engine/atomic/grade.c decides the latter. */
static void print_sets(const struct finding *f)
{
	printf("    %s", f->sets->len == 1 ? "in atomic set " : "needs atomic sets ");
	for (guint i = 0; i < f->sets->len; i++)
		printf("%s%s", i ? ", " : "", (const char *)f->sets->pdata[i]);
	puts(f->grade == 'A'
	             ? "; grade A: such units hold one lock for it, and one here did not"
	     : f->grade == 'B' ? "; grade B: as declared"
	     : f->grade == 'C' ? "; grade C: sets and units are inferred"
	                       : "");
}

static void print_cycle(const struct trace *t, const struct finding *f)
{
	print_sets(f);
	for (guint i = 0; f->edges && i < f->edges->len; i++) {
		const struct cycle_edge *e = &g_array_index(f->edges, struct cycle_edge, i);
		const struct cycle_unit *u =
		        &g_array_index(f->units, struct cycle_unit, e->from);
		const struct cycle_unit *v = &g_array_index(f->units, struct cycle_unit, e->to);
		char *name = variable_name(t, e->variable);
		printf("    %s (%s, %u-%u) before %s (%s, %u-%u): %s\n", u->unit,
		       trace_thread_name(t, u->thread), u->begin, u->end, v->unit,
		       trace_thread_name(t, v->thread), v->begin, v->end, name);
		g_free(name);
		print_event(t, e->events[0]);
		print_event(t, e->events[1]);
	}
	puts("    so no serial order of these units has the same outcome");
}

static void print_finding(const struct trace *t, const struct finding *f)
{
	printf("%s: %s", verdict_word(f->verdict), finding_kind_word(f->kind));
	print_variables(t, f);
	if (f->count > 1)
		printf("  (%" G_GUINT64_FORMAT "%s)", f->count, f->counted_all ? "" : " seen");
	if (f->note)
		printf("  [%s]", f->note);
	putchar('\n');
	if (f->methods[0])
		printf("    %s  with  %s\n", f->methods[0], f->methods[1] ? f->methods[1] : "");
	if (f->condition)
		printf("    commute only if %s\n", f->condition);
	if (f->points[0])
		printf("    access points %s and %s clash\n", f->points[0],
		       f->points[1] ? f->points[1] : "");
	if (f->units) {
		print_cycle(t, f);
		return;
	}
	for (guint i = 0; f->requests && i < f->requests->len; i++)
		print_event(t, g_array_index(f->requests, uint32_t, i));
	if (f->requests == NULL && f->first != NONE)
		print_event(t, f->first);
	if (f->requests == NULL && f->second != NONE)
		print_event(t, f->second);
	if (f->witness)
		printf("    witness of %u events, checked%s%s\n", f->witness->len,
		       f->by ? ", by " : "", f->by ? f->by : "");
	if (f->proof)
		printf("    proved impossible by the %s%s%s\n", f->proof->method,
		       f->proof->given ? ", given the " : "",
		       f->proof->given ? f->proof->given : "");
	if (f->budget)
		printf("    unknown: %s\n", budget_text(f->budget));
}

static void print_text(const struct report *r, const struct print_options *o)
{
	guint count = 0;
	for (guint i = 0; i < r->findings->len; i++) {
		if (!listed(r->findings->pdata[i], o))
			continue;
		print_finding(r->trace, r->findings->pdata[i]);
		count++;
	}
	printf("%s: %u finding%s by %s in %" G_GUINT64_FORMAT " events, %s\n",
	       trace_name(r->trace), count, count == 1 ? "" : "s", r->analysis,
	       r->trace->events_count, r->complete ? "complete" : "not complete");
	for (guint i = 0; i < r->notes->len; i++)
		printf("note: %s\n", (char *)r->notes->pdata[i]);
}

int print_report(const struct report *r, const struct print_options *o)
{
	switch (o->format) {
	case FORMAT_JSON:
		print_json(r, o);
		break;
	case FORMAT_SARIF:
		print_sarif(r, o);
		break;
	case FORMAT_TEXT:
		print_text(r, o);
		break;
	}
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		if (f->verdict != VERDICT_IMPOSSIBLE && f->verdict != VERDICT_UNKNOWN)
			return EXIT_FOUND;
	}
	return r->budget_spent ? EXIT_BUDGET : EXIT_NOTHING;
}
