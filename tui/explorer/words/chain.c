/*
 * chain.c - see chain.h.
 */
#include "engine/base/compare.h"
#include "tui/explorer/words/chain.h"

#include "tui/explorer/screen/grid.h"

enum { MOST_LANES = 12, WIDEST_NAME = 10, BETWEEN = 2 };

struct lanes {
	uint32_t threads[MOST_LANES];
	guint first[MOST_LANES], last[MOST_LANES]; /* nodes of the chain, by lane */
	int count, width;
};

static const struct step *step_at(const GArray *steps, guint i)
{
	return &g_array_index(steps, struct step, i);
}

/* Does each step begin where the previous one ends? */
static bool chain_holds_together(const GArray *steps)
{
	for (guint i = 1; i < steps->len; i++)
		if (step_at(steps, i - 1)->to != step_at(steps, i)->from)
			return false;
	return steps->len > 0;
}

bool chain_is_ring(const GArray *steps)
{
	return chain_holds_together(steps) &&
	       step_at(steps, steps->len - 1)->to == step_at(steps, 0)->from;
}

/* Event i of the chain, which has one event more than steps. */
static uint32_t node_at(const GArray *steps, guint i)
{
	return i == 0 ? step_at(steps, 0)->from : step_at(steps, i - 1)->to;
}

static int lane_of(const struct lanes *l, uint32_t thread)
{
	for (int i = 0; i < l->count; i++)
		if (l->threads[i] == thread)
			return i;
	return -1;
}

/* Assign lanes in thread order; false for too many threads. */
static bool lanes_of(const struct trace *t, const GArray *steps, struct lanes *l)
{
	*l = (struct lanes){ 0 };
	for (guint i = 0; i <= steps->len; i++) {
		uint32_t thread = t->events[node_at(steps, i)].thread;
		if (lane_of(l, thread) >= 0)
			continue;
		if (l->count == MOST_LANES)
			return false;
		l->threads[l->count++] = thread;
	}
	qsort(l->threads, (size_t)l->count, sizeof *l->threads, compare_u32);
	for (int i = 0; i < l->count; i++) {
		int name = text_columns(trace_thread_name(t, l->threads[i]));
		l->width = MAX(l->width, MIN(name, WIDEST_NAME) + BETWEEN);
		l->first[i] = G_MAXUINT;
	}
	for (guint i = 0; i <= steps->len; i++) {
		int lane = lane_of(l, t->events[node_at(steps, i)].thread);
		l->first[lane] = MIN(l->first[lane], i);
		l->last[lane] = i;
	}
	return true;
}

/* Lanes are drawn between their first and last nodes. */
static bool runs_through(const struct lanes *l, int lane, guint before, guint after)
{
	return l->first[lane] <= before && l->last[lane] >= after;
}

static void append_lane(GString *out, const char *sign, const char *filler, int width)
{
	g_string_append(out, sign);
	for (int i = 1; i < width; i++)
		g_string_append(out, filler);
}

static char *event_gutter(const struct lanes *l, int own, guint node)
{
	GString *out = g_string_new(NULL);
	for (int i = 0; i < l->count; i++)
		append_lane(out,
		            i == own                         ? "●"
		            : runs_through(l, i, node, node) ? "│"
		                                             : " ",
		            " ", l->width);
	return g_string_free(out, FALSE);
}

/* The text of an edge from lane `a` after node `node` to lane `b`. */
static char *edge_gutter(const struct lanes *l, int a, int b, guint node)
{
	int left = MIN(a, b), right = MAX(a, b);
	GString *out = g_string_new(NULL);
	for (int i = 0; i < l->count; i++) {
		bool through = runs_through(l, i, node, node + 1);
		const char *sign = through ? "│" : " ";
		if (i > left && i < right)
			sign = through ? "┼" : "─";
		else if (a != b && i == left)
			sign = through ? "├" : i == a ? "└" : "┌";
		else if (a != b && i == right)
			sign = through ? "┤" : i == a ? "┘" : "┐";
		append_lane(out, sign, i >= left && i < right ? "─" : " ", l->width);
	}
	return g_string_free(out, FALSE);
}

static void row_clear(void *data)
{
	struct chain_row *row = data;
	g_free(row->gutter);
	g_free(row->text);
}

static char *names_gutter(const struct trace *t, const struct lanes *l)
{
	GString *out = g_string_new(NULL);
	for (int i = 0; i < l->count; i++) {
		const char *name = trace_thread_name(t, l->threads[i]);
		g_autofree char *cut =
		        g_utf8_validate(name, -1, NULL)
		                ? g_utf8_substring(name, 0,
		                                   MIN(g_utf8_strlen(name, -1), WIDEST_NAME))
		                : g_strdup("?");
		append_padded(out, cut, l->width - 1);
	}
	return g_string_free(out, FALSE);
}

static char *event_text(const struct session *s, uint32_t event)
{
	GString *out = g_string_new(NULL);
	g_string_append_printf(out, "%u %s ", event,
	                       trace_thread_name(s->trace, s->trace->events[event].thread));
	describe_event(s, event, out);
	if (s->trace->events[event].location != 0) {
		g_string_append(out, "   at ");
		describe_place(s, event, out);
	}
	return g_string_free(out, FALSE);
}

static char *rule_text(const struct session *s, const struct step *step)
{
	GString *out = g_string_new("  ");
	describe_rule(s, step, out);
	return g_string_free(out, FALSE);
}

GArray *chain_rows(const struct session *s, const GArray *steps, int columns)
{
	const struct trace *t = s->trace;
	struct lanes l;
	if (!lanes_of(t, steps, &l) || l.count * l.width > columns / 3)
		return NULL;
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct chain_row));
	g_array_set_clear_func(rows, row_clear);
	struct chain_row names = { names_gutter(t, &l), g_strdup(""), NONE, false, false };
	g_array_append_val(rows, names);
	int lane = -1;
	for (guint i = 0; i <= steps->len; i++) {
		uint32_t event = node_at(steps, i);
		int own = lane_of(&l, t->events[event].thread);
		if (i > 0) {
			struct chain_row edge = { edge_gutter(&l, lane, own, i - 1),
				                  rule_text(s, step_at(steps, i - 1)), event,
				                  false, lane != own };
			g_array_append_val(rows, edge);
		}
		struct chain_row row = { event_gutter(&l, own, i), event_text(s, event), event,
			                 true, false };
		g_array_append_val(rows, row);
		lane = own;
	}
	return rows;
}

void chain_draw(const struct session *s, const GArray *steps, struct drawing *d)
{
	const struct trace *t = s->trace;
	bool ring = chain_is_ring(steps);
	uint32_t previous = 0, first = d->nodes->len;
	for (guint i = 0; i <= steps->len - ring; i++) {
		uint32_t event = node_at(steps, i);
		uint32_t node = drawing_node(d, t->events[event].thread, event, event,
		                             event_text(s, event), false);
		if (i > 0) {
			g_autofree char *rule = rule_text(s, step_at(steps, i - 1));
			drawing_edge(d, previous, node, g_strdup(g_strstrip(rule)), false,
			             false);
		}
		previous = node;
	}
	if (ring) {
		g_autofree char *rule = rule_text(s, step_at(steps, steps->len - 1));
		drawing_edge(d, previous, first, g_strdup(g_strstrip(rule)), true, false);
	}
}
