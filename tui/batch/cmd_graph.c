/* cmd_graph.c - `heddle graph`: the conflict graph or a partial order, as DOT or SVG. */
#include "engine/atomic/atomic.h"
#include "engine/commute/language/spec.h"
#include "engine/order/order.h"
#include "tui/batch/command.h"
#include "tui/batch/spec_rules.h"
#include "tui/drawing/drawing.h"

#include <stdio.h>
#include <string.h>

#define MOST_NODES 4000 /* larger graphs are not readable */

static const struct command_option options[] = {
	{ "kind", "conflict|order", "units of work and their conflicts (default), or an order",
	  0 },
	{ "output", "FILE", "where to: FILE.svg is SVG, anything else DOT (default: print DOT)",
	  'o' },
	{ "order", "po|hb|shb|cp|wcp|dc|wdc|edc", "for --kind order (default: hb)", 0 },
	{ "spec", "FILE",
	  "a specification: atomic sets and units; for edc, objects; may be repeated", 0 },
	{ "cycles", NULL, "only the units that are on a cycle", 0 },
	OPTION_LENIENT,
	{ 0 },
};
static const char *const kinds[] = { "conflict", "order", NULL };

static void add_lanes(struct drawing *d, const struct trace *t)
{
	for (uint32_t i = 0; i < t->threads_count; i++)
		g_ptr_array_add(d->lanes, g_strdup(trace_thread_name(t, i)));
}

/* --- the conflict graph --------------------------------------------------------------- */

static char *unit_label(const struct trace *t, const struct unit *u)
{
	if (u->name == NONE)
		return g_strdup_printf("event %u", u->begin);
	uint32_t end = u->end == NONE ? (uint32_t)t->events_count - 1 : u->end;
	return g_strdup_printf("%s %u-%u", trace_string(t, u->name), u->begin, end);
}

static char *conflict_label(const struct trace *t, const struct conflict *c)
{
	return g_strdup_printf("%s %u, %u", trace_variable_name(t, c->variable), c->events[0],
	                       c->events[1]);
}

static bool draw_conflicts(const struct arguments *a, struct trace *t,
                           const struct atomic_model *m, const struct conflict_graph *g,
                           struct drawing *d, struct error *error)
{
	struct cycles *finder = cycles_new(t, m);
	g_autofree uint32_t *component = cycles_components(finder, g);
	bool alone = argument_flag(a, "cycles");
	cycles_free(finder);
	g_autofree uint32_t *node = g_new(uint32_t, g->units->len + 1);
	for (guint i = 0; i < g->units->len; i++) {
		const struct unit *u = &g_array_index(g->units, struct unit, i);
		uint64_t end = u->end == NONE ? t->events_count - 1 : u->end;
		bool cyclic = component[i] != NONE;
		node[i] = alone && !cyclic ? NONE
		                           : drawing_node(d, u->thread, u->begin, end,
		                                          unit_label(t, u), cyclic);
	}
	for (guint e = 0; e < g->conflicts->len; e++) {
		const struct conflict *c = &g_array_index(g->conflicts, struct conflict, e);
		if (c->from == NONE || node[c->from] == NONE || node[c->to] == NONE)
			continue;
		drawing_edge(d, node[c->from], node[c->to], conflict_label(t, c),
		             component[c->from] != NONE &&
		                     component[c->from] == component[c->to],
		             false);
	}
	if (d->nodes->len <= MOST_NODES)
		return true;
	return error_set(error, place_line(t->path, 0).text,
	                 "draw the cycles alone (--cycles), or a filtered trace",
	                 "%u units are no picture any more", d->nodes->len);
}

static bool draw_conflict_graph(const struct arguments *a, struct trace *t, struct drawing *d,
                                struct error *error)
{
	g_autoptr(GPtrArray) paths = argument_values(a, "spec");
	struct specs *specs = specs_open(paths, error);
	if (specs == NULL)
		return false;
	struct atomic_model *m = atomic_model_for(t, specs, NULL, progress_on_stderr());
	g_autoptr(GArray) uses = g_array_new(FALSE, FALSE, sizeof(struct unit_use));
	/* keep every unit, also those on no cycle */
	struct graph_options o = { .uses = uses, .progress = progress_on_stderr() };
	struct conflict_graph *g = conflict_graph_new(t, m, &o);
	progress_done();
	bool good = draw_conflicts(a, t, m, g, d, error);
	conflict_graph_free(g);
	atomic_model_free(m);
	specs_free(specs);
	return good;
}

/* --- an order ----------------------------------------------------------------------------- */

static uint32_t event_of(const struct trace *t, uint32_t thread, uint32_t position)
{
	return trace_thread_events(t, thread).items[position];
}

/* Draw the transitively reduced edges into an event from other threads: from the last event of
 * each thread that is before it but not before its predecessor. */
static void draw_edges_into(struct trace *t, const struct order *order, uint32_t event,
                            const uint32_t *before, const uint32_t *now, uint32_t *other,
                            struct drawing *d)
{
	uint32_t own = t->events[event].thread, threads = (uint32_t)t->threads_count;
	for (uint32_t i = 0; i < threads; i++) {
		bool implied = i == own || now[i] == before[i];
		for (uint32_t k = 0; k < threads && !implied; k++) {
			if (k == i || k == own || now[k] == before[k])
				continue;
			order_clock(order, event_of(t, k, now[k] - 1), other);
			implied = other[i] >= now[i];
		}
		if (!implied)
			drawing_edge(d, event_of(t, i, now[i] - 1), event, NULL, false, false);
	}
}

static bool draw_order(const struct arguments *a, struct trace *t, enum order_kind kind,
                       struct drawing *d, struct error *error)
{
	uint32_t threads = (uint32_t)t->threads_count;
	if (t->events_count > MOST_NODES)
		return error_set(error, place_line(t->path, 0).text,
		                 "draw a filtered or shorter trace, or use heddle explain",
		                 "%" G_GUINT64_FORMAT " events are no picture any more",
		                 t->events_count);
	struct order *order = spec_rules_order(a, t, kind, error);
	progress_done();
	if (order == NULL)
		return false;
	trace_need(t, INDEX_THREADS, NULL);
	g_autofree uint32_t *clocks = g_new0(uint32_t, (gsize)(threads + 1) * (threads + 2));
	g_autofree uint32_t *now = g_new0(uint32_t, threads + 1),
	                    *other = g_new0(uint32_t, threads + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		GString *label = g_string_new(NULL);
		g_string_append_printf(label, "%u ", e);
		trace_append_words(t, e, label);
		drawing_node(d, t->events[e].thread, e, e, g_string_free(label, FALSE), false);
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		uint32_t thread = t->events[e].thread,
		         *before = clocks + (gsize)thread * (threads + 1);
		uint32_t previous = trace_previous(t, e);
		if (previous != NONE)
			drawing_edge(d, previous, e, NULL, false, true);
		order_clock(order, e, now);
		draw_edges_into(t, order, e, before, now, other, d);
		memcpy(before, now, sizeof(uint32_t) * threads);
	}
	order_free(order);
	return true;
}

/* -- the command --------------------------------------------------------------------------- */

static bool hand_out(const struct drawing *d, const char *path, struct error *error)
{
	g_autoptr(GString) out = g_string_new(NULL);
	bool good = true;
	if (path != NULL && g_str_has_suffix(path, ".svg"))
		drawing_svg(d, out);
	else
		drawing_dot(d, out);
	if (path != NULL)
		good = file_may_become(path, FILE_GRAPH, error) &&
		       file_write_whole(path, out->str, out->len, error);
	else
		fwrite(out->str, 1, out->len, stdout);
	return good;
}

static int run(struct arguments *a)
{
	struct error error = { 0 };
	enum order_kind kind = ORDER_KIND_HB;
	argument_words(a, 1, 1);
	bool order = argument_choice(a, "kind", kinds, 0) == 1;
	const char *word = argument_value(a, "order");
	if (word != NULL && !order_kind_from_word(word, &kind))
		return usage_error(
		        a, "--order wants one of po hb shb cp wcp dc wdc edc, found '%s'",
		        word);
	const char *output = argument_output(a, true, FILE_GRAPH);
	struct trace *t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	g_autofree char *title =
	        g_strdup_printf("%s: %s", trace_name(t),
	                        order ? order_kind_title(kind) : "conflicts of units of work");
	struct drawing d;
	drawing_init(&d, title);
	add_lanes(&d, t);
	bool good = order ? draw_order(a, t, kind, &d, &error)
	                  : draw_conflict_graph(a, t, &d, &error);
	good = good && hand_out(&d, output, &error);
	drawing_release(&d);
	trace_close(t);
	return good ? EXIT_NOTHING : fail(&error);
}

const struct command command_graph = {
	.name = "graph",
	.usage = "TRACE [--kind conflict|order] [-o FILE]",
	.summary = "the conflict graph, or an order of the events, as DOT or SVG",
	.options = options,
	.run = run,
};
