/*
 * finding_json.c - see finding_json.h.
 */
#include "tui/batch/print/finding_json.h"

#include "engine/explore/explore.h"
#include "engine/order/order.h"
#include "engine/predict/ladder/behind.h"
#include "engine/predict/weak_races.h"
#include "engine/trace/ending.h"
#include "engine/trace/formats.h"
#include "engine/trace/own_code.h"
#include "engine/trace/shown.h"
#include "engine/trace/weak.h"
#include "tui/batch/print/places.h"
#include "tui/batch/print/names.h"

#include <string.h>

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
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint i = 0; path->steps && i < path->steps->len; i++) {
		const struct step *s = &g_array_index(path->steps, struct step, i);
		g_string_truncate(text, 0);
		order_append_sentence(t, s, text);
		json_array_append_new(a, json_pack("{sIsIssso}", "from", (json_int_t)s->from,
		                                   "to", (json_int_t)s->to, "rule",
		                                   step_rule_text(s->rule), "text",
		                                   json_text(text->str)));
	}
	return a;
}

static json_t *proof_members(const struct trace *t, const struct proof *p, bool steps)
{
	json_t *j = json_pack("{ss}", "method", proof_method_word(p->method));
	if (steps)
		json_object_set_new(j, "steps", json_path(t, &p->cycle));
	if (p->same_pairing)
		json_object_set_new(j, "given", json_string("same pairing"));
	return j;
}

json_t *proof_json(const struct trace *t, const struct proof *p)
{
	return proof_members(t, p, true);
}

/* Each name once; of more than `most` the number of the others is "more". */
static void json_variables(const struct trace *t, const struct finding *f, guint most,
                           json_t *j)
{
	if (f->variables == NULL || f->variables->len == 0)
		return;
	json_t *all = json_array();
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	for (guint i = 0; i < f->variables->len; i++) {
		const char *name =
		        trace_variable_name(t, g_array_index(f->variables, uint32_t, i));
		if (!g_hash_table_add(seen, (gpointer)name) || g_hash_table_size(seen) > most)
			continue;
		json_array_append_new(all, json_text(name));
		if (i == 0)
			json_object_set(j, "variable", json_array_get(all, 0));
	}
	json_object_set_new(j, "variables", all);
	if (g_hash_table_size(seen) > most)
		json_object_set_new(j, "more", json_integer(g_hash_table_size(seen) - most));
}

static json_t *json_stack(const struct trace *t, uint32_t event)
{
	g_autoptr(GArray) frames = trace_frames(t, event, own_code_stack(t, event));
	json_t *stack = json_array();
	for (guint i = 0; i < frames->len; i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		append_frame(t, &g_array_index(frames, struct frame, i), text);
		json_array_append_new(stack, json_string(text->str));
	}
	return stack;
}

/* Is frame i, behind the place (`first`), one of the callers that people are shown? */
static bool is_shown_caller(const struct trace *t, const GArray *frames, guint i)
{
	return !own_code_is_on() || own_code_has(t, &g_array_index(frames, struct frame, i));
}

/* The callers of the event's place, in the user's own files. */
static json_t *json_callers(const struct trace *t, uint32_t event)
{
	g_autoptr(GArray) frames = trace_frames(t, event, own_code_stack(t, event));
	json_t *callers = json_array();
	for (guint i = own_code_frame(t, frames) + 1; i < trace_frames_shown(t, frames); i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		if (!is_shown_caller(t, frames, i))
			continue;
		append_frame(t, &g_array_index(frames, struct frame, i), text);
		json_array_append_new(callers, json_string(text->str));
	}
	return callers;
}

/* The stacks of two events, whole. */
static void json_set_stacks(const struct trace *t, uint32_t a, uint32_t b, json_t *j)
{
	if (t->stacks_count)
		json_object_set_new(j, "stacks",
		                    json_pack("[oo]", json_stack(t, a), json_stack(t, b)));
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
		g_autofree char *name = variable_name(t, e->variable);
		json_array_append_new(edges,
		                      json_pack("{sIsIsssoss}", "from", (json_int_t)e->from,
		                                "to", (json_int_t)e->to, "variable", name,
		                                "events", json_events(e->events, 2), "set",
		                                f->sets && e->set < f->sets->len
		                                        ? (char *)f->sets->pdata[e->set]
		                                        : ""));
		json_set_stacks(t, e->events[0], e->events[1],
		                json_array_get(edges, json_array_size(edges) - 1));
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

/* The events whose places identify the finding. */
static GArray *identifying_events(const struct finding *f)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint i = 0; f->edges && i < f->edges->len; i++)
		g_array_append_vals(events,
		                    g_array_index(f->edges, struct cycle_edge, i).events, 2);
	for (guint i = 0; f->requests && i < f->requests->len; i++)
		g_array_append_val(events, g_array_index(f->requests, uint32_t, i));
	if (events->len == 0 && f->first != NONE)
		g_array_append_val(events, f->first);
	if (events->len == 1 && f->second != NONE && f->second != f->first)
		g_array_append_val(events, f->second);
	return events;
}

/* The function and its callers. */
static void append_callers(const struct trace *t, uint32_t event, GString *s)
{
	g_autoptr(GArray) frames = trace_frames(t, event, own_code_stack(t, event));
	guint first = own_code_frame(t, frames);
	for (guint i = first; i < trace_frames_shown(t, frames); i++) {
		const struct frame *f = &g_array_index(frames, struct frame, i);
		const char *function = trace_string(t, f->function);
		if (i > first && !is_shown_caller(t, frames, i))
			continue;
		g_string_append(s, i > first ? ", from " : *function ? "  in " : "");
		if (i > first)
			append_frame(t, f, s);
		else
			own_code_append_function(function, s);
	}
	if (first > 0) {
		g_string_append(s, ", inside of ");
		append_frame(t, &g_array_index(frames, struct frame, 0), s);
	}
}

static json_t *line_json(const struct trace *t, uint32_t event, uint32_t number)
{
	g_autoptr(GString) operation = g_string_new(NULL), line = g_string_new(NULL);

	trace_append_words(t, event, operation);
	g_string_printf(line, "%8u  %-6s %-28s %s", number, printable_thread(t, event),
	                operation->str, printable(own_code_place_name(t, event)));
	append_callers(t, event, line);
	/* its parts are escaped */
	return json_stringn(line->str, line->len);
}

/* The memory model that the values of a race need, in words; for runs under a weak one. */
static const char *needs_sentence(const struct trace *t, const struct finding *f)
{
	const char *needs = trace_model(t) == WEAK_SC ? NULL : weak_race_sentence(f);

	if (needs == NULL && f->witness && f->kind == FINDING_DATA_RACE &&
	    trace_model(t) != WEAK_SC)
		needs = "whether it needs weak memory is not known";
	return needs;
}

static json_t *json_read(const struct trace *t, const struct racy_read *r)
{
	const struct event *x = &t->events[r->read];
	g_autoptr(GString) text = g_string_new(NULL);

	trace_append_variable(t, x, text);
	json_t *j = json_pack("{sIsIsoso}", "read", (json_int_t)r->read, "write",
	                      (json_int_t)r->write, "variable", json_text(text->str),
	                      "location", json_text(trace_site_name(t, r->read)));
	json_object_set_new(j, "thread", json_text(trace_thread_name(t, x->thread)));
	g_string_truncate(text, 0);
	if (x->aux != 0 && x->op != OP_RMW) {
		shown_append(t, shown_variable(x), x->aux, r->read, text);
		json_object_set_new(j, "value", json_text(text->str));
	}
	return j;
}

void json_set_behind(const struct trace *t, const struct finding *f, json_t *j)
{
	json_auto_t *list = json_array();

	for (guint i = 0; f->behind != NULL && i < f->behind->len; i++)
		json_array_append_new(
		        list, json_read(t, &g_array_index(f->behind, struct racy_read, i)));
	if (json_array_size(list) > 0)
		json_object_set(j, "behind", list);
}

void json_set_reads(const struct trace *t, const struct finding *f, json_t *j)
{
	g_autoptr(GArray) reads = finding_reads(t, f);
	json_auto_t *list = json_array();

	for (guint i = 0; i < reads->len; i++) {
		const struct racy_read *r = &g_array_index(reads, struct racy_read, i);
		struct wide run = event_variables(t, &t->events[r->read]);
		json_t *read = json_read(t, r), *names = json_array();

		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			g_autofree char *name = variable_name(t, v);
			json_array_append_new(names, json_text(name));
		}
		json_object_set_new(read, "variables", names);
		json_object_set_new(read, "locations",
		                    json_pack("[oo]",
		                              json_text(own_code_place_name(t, r->read)),
		                              json_text(own_code_place_name(t, r->write))));
		json_array_append_new(list, read);
	}
	if (reads->len > 0)
		json_object_set(j, "reads", list);
}

static json_t *json_sites(const struct places *places, const struct finding *f)
{
	g_autoptr(GArray) events = identifying_events(f);
	json_t *sites = json_array();

	for (guint i = 0; i < events->len; i++)
		json_array_append_new(sites,
		                      places_json(places, g_array_index(events, uint32_t, i)));
	return sites;
}

/* The callers at each of the sites. */
static void json_set_callers(const struct trace *t, const struct finding *f, json_t *j)
{
	g_autoptr(GArray) events = identifying_events(f);
	json_t *list = json_array();

	for (guint i = 0; i < events->len && t->stacks_count; i++)
		json_array_append_new(list,
		                      json_callers(t, g_array_index(events, uint32_t, i)));
	if (t->stacks_count)
		json_object_set(j, "callers", list);
	json_decref(list);
}

/* The places in the user's own files (own_code.h); absent where they are the exact sites. */
static void json_set_places(const struct places *places, const struct trace *t,
                            const struct finding *f, json_t *j)
{
	g_autoptr(GArray) events = identifying_events(f);
	json_auto_t *list = json_array();
	bool differs = false;

	for (guint i = 0; i < events->len; i++) {
		uint32_t event = g_array_index(events, uint32_t, i);
		struct frame own = own_code_place(t, event);
		json_t *place = places_location_json(places, own.location);

		if (t->locations[own.location].line != 0 && own.function != 0)
			json_object_set_new(place, "function",
			                    json_text(trace_string(t, own.function)));
		differs |= own.location != t->events[event].location;
		json_array_append_new(list, place);
	}
	if (differs)
		json_object_set(j, "places", list);
}

static void json_pair(const struct trace *t, const struct finding *f, json_t *j)
{
	uint32_t a = f->first, b = f->second;

	json_object_set_new(j, "locations",
	                    json_pack("[oo]", json_text(own_code_place_name(t, a)),
	                              json_text(own_code_place_name(t, b))));
	json_set_stacks(t, a, b, j);
	json_t *threads = json_array();
	g_autoptr(GArray) events = identifying_events(f);

	for (guint i = 0; i < events->len; i++) {
		const struct event *e = &t->events[g_array_index(events, uint32_t, i)];
		json_array_append_new(threads, json_text(trace_thread_name(t, e->thread)));
	}
	json_object_set_new(j, "threads", threads);
}

static void json_set_words(json_t *j, const char *key, char *const words[2])
{
	if (words[0])
		json_object_set_new(j, key,
		                    json_pack("[oo]", json_text(words[0]),
		                              json_text(words[1] ? words[1] : "")));
}

/* The waits of a deadlock. */
static json_t *json_waits(const struct trace *t, const struct finding *f)
{
	json_t *list = json_array();

	for (guint i = 0; i < f->waits->len; i++) {
		const struct wait *w = &g_array_index(f->waits, struct wait, i);
		uint32_t thread = t->events[w->event].thread;
		g_autoptr(GString) object = g_string_new(NULL);

		append_waited(t, w, object);
		json_t *j = json_pack("{sossso}", "thread",
		                      json_text(trace_thread_name(t, thread)), "for",
		                      wait_for_word(w->what), "object", json_text(object->str));
		g_string_truncate(object, 0);
		append_wait(t, f, w, object);
		json_object_set_new(j, "text", json_text(object->str));
		json_object_set_new(j, "location", json_text(own_code_place_name(t, w->event)));
		if (w->holder != NONE)
			json_object_set_new(j, "held-by",
			                    json_text(trace_thread_name(t, w->holder)));
		json_object_set_new(j, "event", json_integer(w->event));
		json_array_append_new(list, j);
	}
	return list;
}

/* "after-main": of a race or a use after free whose one thread has returned from main(), a
 * sentence with the other one. */
static void set_after_main(const struct trace *t, const struct finding *f, json_t *j)
{
	if ((f->kind != FINDING_DATA_RACE && f->kind != FINDING_USE_AFTER_FREE) ||
	    f->first == NONE || f->second == NONE || t->index == NULL ||
	    !(t->index->parts & INDEX_THREADS))
		return;
	bool first = trace_after_main(t, f->first), second = trace_after_main(t, f->second);
	uint32_t other = t->events[first ? f->second : f->first].thread;

	if (first == second || other == t->events[first ? f->first : f->second].thread)
		return;
	json_object_set_new(
	        j, "after-main",
	        json_sprintf("main() has returned by then, and %s still runs: nothing "
	                     "waits for its end",
	                     trace_thread_name(t, other)));
}

/* "exact": the pairs of sites in a library's code between the two places, if several. */
static void set_exact(const struct trace *t, const struct finding *f, json_t *j)
{
	if (f->exact == NULL || f->exact->len < 2)
		return;
	json_t *list = json_array();
	for (guint i = 0; i < f->exact->len; i++) {
		const char *names[2];
		finding_exact_names(t, f, i, names);
		json_array_append_new(
		        list, json_pack("[oo]", json_text(names[0]), json_text(names[1])));
	}
	json_object_set_new(j, "exact", list);
}

/* All members but the places; for text without what it does not tell. */
static void set_claim(const struct trace *t, const struct finding *f, bool text, json_t *j)
{
	json_variables(t, f, text ? NAMES_TOLD : G_MAXUINT, j);
	set_exact(t, f, j);
	json_object_set_new(j, "count", json_integer((json_int_t)f->count));
	json_object_set_new(j, "counted", json_string(f->counted_all ? "all" : "seen"));
	if (f->proof)
		json_object_set_new(j, "proof", proof_members(t, f->proof, !text));
	json_set_behind(t, f, j);
	json_set_word(j, "budget", open_reason_word(f->open));
	json_set_word(j, "note", f->note);
	if (trace_sampled(t))
		json_object_set_new(j, "sampled", json_integer((json_int_t)trace_sampled(t)));
	if (f->kind == FINDING_DATA_RACE)
		json_set_word(j, "unseen", trace_note(t, TRACE_UNSEEN_NOTE));
	bool plain = f->kind == FINDING_DATA_RACE && f->witness && trace_model(t) == WEAK_SC;
	json_set_word(j, "memory", plain ? weak_model_words[WEAK_SC] : f->memory);
	if (f->missing)
		json_object_set_new(j, "missing", json_text(f->missing));
	if (f->story)
		json_object_set_new(j, "story", json_text(f->story));
	json_set_word(j, "by", f->by);
	set_after_main(t, f, j);
	json_set_words(j, "methods", f->methods);
	if (f->condition)
		json_object_set_new(j, "condition", json_text(f->condition));
	json_set_words(j, "points", f->points);
	if (f->requests)
		json_object_set_new(j, "requests",
		                    json_events((const uint32_t *)(void *)f->requests->data,
		                                f->requests->len));
	if (f->waits)
		json_object_set_new(j, "waits", json_waits(t, f));
	if (f->units)
		json_cycle(t, f, j);
}

static json_t *new_finding(const struct finding *f)
{
	json_t *j = json_object();

	json_object_set_new(j, "kind", json_string(finding_kind_word(f->kind)));
	json_object_set_new(j, "verdict", json_string(verdict_word(f->verdict)));
	return j;
}

json_t *finding_json(const struct places *places, const struct trace *t,
                     const struct finding *f)
{
	json_t *j = new_finding(f);

	if (f->first != NONE)
		json_object_set_new(j, "first", json_integer(f->first));
	if (f->second != NONE)
		json_object_set_new(j, "second", json_integer(f->second));
	if (f->first != NONE && f->second != NONE)
		json_pair(t, f, j);
	json_object_set_new(j, "sites", json_sites(places, f));
	json_set_places(places, t, f, j);
	json_set_callers(t, f, j);
	set_claim(t, f, false, j);
	return j;
}

json_t *finding_json_for_text(const struct trace *t, const struct finding *f,
                              const uint32_t *numbers)
{
	g_autoptr(GArray) events = identifying_events(f);
	json_t *j = new_finding(f), *lines = json_array(), *sites = json_array();

	set_claim(t, f, true, j);
	for (guint i = 0; i < events->len; i++) {
		uint32_t event = g_array_index(events, uint32_t, i);
		const struct location *own = &t->locations[own_code_place(t, event).location];

		json_array_append_new(lines, line_json(t, event, numbers ? numbers[i] : event));
		json_array_append_new(sites, json_pack("{sosI}", "file",
		                                       json_text(trace_string(t, own->file)),
		                                       "line", (json_int_t)own->line));
	}
	json_object_set_new(j, "lines", lines);
	json_object_set_new(j, "sites", sites);
	json_set_word(j, "needs", needs_sentence(t, f));
	if (f->witness)
		json_object_set_new(j, "witness", json_integer(f->witness->len));
	return j;
}

void json_set_suppressed(json_t *finding, const char *line)
{
	if (line != NULL)
		json_object_set_new(finding, "suppressed", json_text(line));
}

void findings_print_absent(const json_t *absent, FILE *out)
{
	fputs(", \"absent\": [", out);
	for (size_t i = 0; i < json_array_size(absent); i++) {
		fputs(i > 0 ? ",\n" : "\n", out);
		json_dumpf(json_array_get(absent, i), out, 0);
	}
	fputs("\n]", out);
}

/* -- of an exploration ---------------------------------------------------------------------- */

/* The kind of finding for the ending of an explored run. */
static const char *explored_kind(const json_t *error)
{
	const char *word = json_word(error, "kind");
	enum finding_kind kind =
	        explore_finding_kind(explore_end_of(word), json_word(error, "story"));

	return kind == FINDING_KIND_COUNT ? word : finding_kind_word(kind);
}

static bool has_element(const json_t *list, const json_t *element)
{
	size_t i;
	json_t *e;

	json_array_foreach((json_t *)list, i, e)
	{
		if (json_equal(e, element))
			return true;
	}
	return false;
}

static void append_once(json_t *list, json_t *element)
{
	if (has_element(list, element))
		json_decref(element);
	else
		json_array_append_new(list, element);
}

void json_add_elements(json_t *into, const json_t *from, const char *key)
{
	json_t *list = json_object_get(into, key), *e;
	size_t i;

	if (list == NULL)
		json_object_set(into, key, json_object_get(from, key));
	json_array_foreach(list != NULL ? json_object_get(from, key) : NULL, i, e)
	        append_once(list, json_incref(e));
}

void json_set_explored(const struct explore_report *r, guint first, json_t *j)
{
	json_t *variables = json_array(), *exact = json_array();

	for (guint i = first; i < r->races->len; i++) {
		const struct explore_race *race =
		        &g_array_index(r->races, struct explore_race, i);
		if (!explore_race_same(r, i, first))
			continue;
		append_once(variables, json_text(race->variable));
		append_once(exact,
		            json_pack("[oo]", json_text(race->first), json_text(race->second)));
	}
	json_object_set_new(j, "variables", variables);
	if (json_array_size(exact) > 1)
		json_object_set(j, "exact", exact);
	json_decref(exact);
}

json_t *finding_of_explored(const json_t *element)
{
	json_t *f = json_copy((json_t *)element), *sites = json_array(), *location;
	bool is_race = json_object_get(element, "kind") == NULL;
	const char *variable = json_word(element, "variable");
	size_t i;

	json_array_foreach(json_object_get(element, "locations"), i, location)
	{
		if (json_is_string(location))
			json_array_append_new(sites, places_parse(json_string_value(location)));
	}
	json_object_set_new(f, "sites", sites);
	json_object_set_new(f, "kind",
	                    json_string(is_race ? finding_kind_word(FINDING_DATA_RACE)
	                                        : explored_kind(element)));
	json_object_set_new(
	        f, "verdict",
	        json_string(verdict_word(is_race ? VERDICT_RACE : VERDICT_HAPPENED)));
	if (*variable && json_object_get(f, "variables") == NULL)
		json_object_set_new(f, "variables", json_pack("[s]", variable));
	return f;
}

bool verdict_is_found(enum verdict verdict)
{
	return verdict != VERDICT_IMPOSSIBLE && verdict != VERDICT_UNKNOWN;
}

enum finding_kind finding_kind_of(const json_t *finding)
{
	enum finding_kind kind = 0;

	while (kind < FINDING_KIND_COUNT &&
	       strcmp(finding_kind_word(kind), json_word(finding, "kind")) != 0)
		kind++;
	return kind;
}
