/*
 * point_json.c - see point_json.h.
 */
#include "tui/batch/print/point_json.h"

#include "engine/trace/own_code.h"
#include "tui/batch/print/print.h"

static json_t *event_json(const struct explore_event *e)
{
	return e->event == NONE
	               ? json_null()
	               : json_pack("{s:o, s:o, s:o, s:I}", "thread", json_text(e->thread),
	                           "operation", json_text(e->text), "location",
	                           json_text(e->place), "event", (json_int_t)e->event);
}

json_t *point_json(const struct explore_report *r, uint32_t error)
{
	for (guint i = 0; i < r->points->len; i++) {
		const struct explore_point *p =
		        &g_array_index(r->points, struct explore_point, i);

		if (p->error != error)
			continue;
		const char *trace = g_array_index(r->runs, struct explore_run, p->run).trace;
		json_t *sites = json_array();
		if (p->passes.event != NONE)
			json_array_append_new(sites, json_text(p->passes.site));
		json_array_append_new(sites, json_text(p->fails.site));
		return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:b, s:o}", "run", (int)p->run,
		                 "passing-run", (int)p->passing, "passes",
		                 event_json(&p->passes), "fails", event_json(&p->fails),
		                 "instead", event_json(&p->instead), "sites", sites, "every",
		                 p->every, "trace", trace ? json_text(trace) : json_null());
	}
	return NULL;
}

static void append_event(const json_t *point, const char *key, const char *before, GString *out)
{
	const json_t *e = json_object_get(point, key);

	if (!json_is_object(e)) {
		g_string_append_printf(out, "%s: the program's beginning\n", before);
		return;
	}
	g_string_append_printf(out, "%s: %s: ", before,
	                       json_string_value(json_object_get(e, "thread")));
	own_code_append_name(json_word(e, "operation"), out);
	if (*json_word(e, "location"))
		g_string_append_printf(out, " (%s)", json_word(e, "location"));
	g_string_append_c(out, '\n');
}

char *point_text(const json_t *point)
{
	GString *out = g_string_new(NULL);

	if (point == NULL)
		return g_string_free(out, FALSE);
	append_event(point, "passes", "last step after which the run can still end well", out);
	append_event(
	        point, "fails",
	        json_is_true(json_object_get(point, "every"))
	                ? "point of no return, after which every schedule fails"
	                : "point of no return, after which no schedule that was run ends well",
	        out);
	append_event(point, "instead", "a run that ends well goes on instead with", out);
	return g_string_free(out, FALSE);
}
