/*
 * view_graph.c - the conflict graph of an atomic-set violation: units of work in a lane for
 * each thread, the cycle's edges beside them; Enter goes from an edge to its two accesses.
 */
#include "tui/explorer/app.h"

#include "tui/explorer/command_line.h"
#include "tui/explorer/messages.h"

#include <string.h>

struct graph_view {
	guint edge;         /* the highlighted one */
	guint side;         /* the access that Enter goes to next */
	struct list cycles; /* over the entries that have a cycle */
	GArray *entries;    /* int: indexes of session.entries */
};

enum { BOX_ROWS = 4, LANE_WIDTH = 24, MOST_LANES = 32 };

static void *graph_open(struct app *app)
{
	struct graph_view *v = g_new0(struct graph_view, 1);
	v->entries = g_array_new(FALSE, FALSE, sizeof(int));
	return v;
}

static void graph_close(void *state)
{
	struct graph_view *v = state;
	g_array_free(v->entries, TRUE);
	g_free(v);
}

static void graph_show(struct app *app, void *state)
{
	struct graph_view *v = state;
	const struct session *s = app->session;
	g_array_set_size(v->entries, 0);
	for (int i = 0; i < (int)s->entries->len; i++) {
		const struct entry *entry = s->entries->pdata[i];
		if (entry->finding->kind != FINDING_ATOMIC_SET_VIOLATION)
			continue;
		if (i == s->entry)
			v->cycles.cursor = v->entries->len;
		g_array_append_val(v->entries, i);
	}
	v->cycles.count = v->entries->len;
	v->cycles.rows = 1;
	v->edge = v->side = 0;
}

static const struct finding *cycle_of(const struct app *app, const struct graph_view *v)
{
	if (v->cycles.cursor >= v->entries->len)
		return NULL;
	int i = g_array_index(v->entries, int, v->cycles.cursor);
	const struct entry *entry = app->session->entries->pdata[i];
	return entry->finding;
}

/* Select the cycle's finding in the session, for other views. */
static void select_cycle(struct app *app, const struct graph_view *v)
{
	if (v->cycles.cursor < v->entries->len)
		session_select(app->session, g_array_index(v->entries, int, v->cycles.cursor));
}

static void draw_box(struct pane p, int row, int column, const struct cycle_unit *u,
                     enum style style, bool lit)
{
	int width = LANE_WIDTH - 2, last = BOX_ROWS - 1;
	for (int c = 0; c < width; c++) {
		bool left = c == 0, right = c == width - 1;
		pane_rune(p, row, column + c, style, left ? 0x250c : right ? 0x2510 : 0x2500);
		pane_rune(p, row + last, column + c, style,
		          left    ? 0x2514
		          : right ? 0x2518
		                  : 0x2500);
	}
	for (int r = 1; r < last; r++) {
		pane_rune(p, row + r, column, style, 0x2502);
		pane_rune(p, row + r, column + width - 1, style, 0x2502);
	}
	char *range = g_strdup_printf("%u–%u", u->begin, u->end);
	pane_field(p, row + 1, column + 2, width - 4, lit ? STYLE_HERE : style, u->unit);
	pane_field(p, row + 2, column + 2, width - 4, STYLE_DIM, range);
	g_free(range);
}

/* Positions of units: a lane for each thread, rows of boxes. */
struct graph_layout {
	uint32_t lanes[MOST_LANES], lane_count;
	GArray *rows; /* int, by unit: the row of its box */
	GArray *columns;
};

static int by_begin(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct finding *f = data;
	uint32_t x = g_array_index(f->units, struct cycle_unit, *(const guint *)a).begin;
	uint32_t y = g_array_index(f->units, struct cycle_unit, *(const guint *)b).begin;
	return x < y ? -1 : x > y;
}

static uint32_t lane_of(struct graph_layout *l, uint32_t thread)
{
	for (uint32_t j = 0; j < l->lane_count; j++)
		if (l->lanes[j] == thread)
			return j;
	if (l->lane_count < MOST_LANES)
		l->lanes[l->lane_count++] = thread;
	return l->lane_count - 1;
}

static struct graph_layout layout_new(const struct finding *f)
{
	struct graph_layout l = { .rows = g_array_new(FALSE, TRUE, sizeof(int)),
		                  .columns = g_array_new(FALSE, TRUE, sizeof(int)) };
	GArray *order = g_array_new(FALSE, FALSE, sizeof(guint));
	for (guint i = 0; i < f->units->len; i++)
		g_array_append_val(order, i);
	g_array_sort_with_data(order, by_begin, (gpointer)f);
	g_array_set_size(l.rows, f->units->len);
	g_array_set_size(l.columns, f->units->len);
	for (guint i = 0; i < order->len; i++) {
		guint unit = g_array_index(order, guint, i);
		uint32_t thread = g_array_index(f->units, struct cycle_unit, unit).thread;
		g_array_index(l.rows, int, unit) = 1 + (int)i * BOX_ROWS;
		g_array_index(l.columns, int, unit) = 2 + (int)lane_of(&l, thread) * LANE_WIDTH;
	}
	g_array_free(order, TRUE);
	return l;
}

/* Draw an edge in its track right of the lanes, from a box's first line to another's second. */
static void draw_track(struct pane p, const struct graph_layout *l, const struct cycle_edge *e,
                       int track, enum style style)
{
	int from = g_array_index(l->rows, int, e->from) + 1,
	    to = g_array_index(l->rows, int, e->to) + 2;
	int out = g_array_index(l->columns, int, e->from) + LANE_WIDTH - 2;
	int in = g_array_index(l->columns, int, e->to) + LANE_WIDTH - 2;
	for (int c = out; c < track; c++)
		pane_rune(p, from, c, style, 0x2500);
	for (int c = in; c < track; c++)
		pane_rune(p, to, c, style, c == in ? 0x25c2 : 0x2500);
	for (int r = MIN(from, to); r <= MAX(from, to); r++)
		pane_rune(p, r, track, style, 0x2502);
	pane_rune(p, from, track, style, from < to ? 0x2510 : 0x2518);
	pane_rune(p, to, track, style, from < to ? 0x2518 : 0x2510);
}

static void draw_units(const struct app *app, const struct graph_view *v,
                       const struct finding *f, struct pane p)
{
	struct graph_layout l = layout_new(f);
	const struct cycle_edge *lit = &g_array_index(f->edges, struct cycle_edge, v->edge);
	for (uint32_t j = 0; j < l.lane_count; j++)
		pane_text(p, 0, 2 + (int)j * LANE_WIDTH, style_of_thread(l.lanes[j]),
		          session_thread_within(app->session, l.lanes[j], LANE_WIDTH - 3));
	for (int pass = 0; pass < 2; pass++) { /* the highlighted edge last, on top */
		for (guint i = 0; i < f->edges->len; i++) {
			int track = 2 + (int)l.lane_count * LANE_WIDTH + (int)i * 2;
			if ((i == v->edge) == pass)
				draw_track(p, &l,
				           &g_array_index(f->edges, struct cycle_edge, i),
				           track, pass ? STYLE_HERE : STYLE_RULE);
		}
	}
	for (guint i = 0; i < f->units->len; i++) {
		const struct cycle_unit *u = &g_array_index(f->units, struct cycle_unit, i);
		draw_box(p, g_array_index(l.rows, int, i), g_array_index(l.columns, int, i), u,
		         style_of_thread(u->thread), i == lit->from || i == lit->to);
	}
	g_array_free(l.rows, TRUE);
	g_array_free(l.columns, TRUE);
}

static void append_edge(const struct app *app, const struct finding *f,
                        const struct cycle_edge *e, GString *out)
{
	const struct trace *t = app_trace(app);
	g_string_append_printf(out, "%s ──▸ %s   on ",
	                       g_array_index(f->units, struct cycle_unit, e->from).unit,
	                       g_array_index(f->units, struct cycle_unit, e->to).unit);
	const char *name = trace_string(t, t->variables[e->variable].name);
	append_escaped(out, name, strlen(name));
	g_string_append_printf(out, ":  %u ", e->events[0]);
	describe_event(app->session, e->events[0], out);
	g_string_append_printf(out, "  then  %u ", e->events[1]);
	describe_event(app->session, e->events[1], out);
}

/* The number of units examined, after the analysis: none without units is no good news. */
static void append_nothing(const struct session *s, GString *out)
{
	const struct report *report = NULL;
	for (guint i = 0; i < s->reports->len; i++) {
		const struct report *r = s->reports->pdata[i];
		if (strcmp(r->analysis, "atomic") == 0)
			report = r; /* the last one is the most complete */
	}
	if (report == NULL)
		g_string_append(
		        out, "No unit of work was looked at: one thread alone has no cycles, "
		             "or the work was stopped.");
	else if (report->complete)
		g_string_append(out,
		                "No cycle of units was found: in this run, whatever belongs "
		                "together could have been done one unit after the other.");
	else
		g_string_append(out, "No cycle of units was found, which is no promise:");
	for (guint i = 0; report && i < report->notes->len; i++)
		g_string_append_printf(out, " %c%s.",
		                       g_ascii_toupper(*(char *)report->notes->pdata[i]),
		                       (char *)report->notes->pdata[i] + 1);
	g_string_append(out, " What belongs together is inferred (`heddle atomic TRACE --sets` "
	                     "prints it), or said by the trace or --spec.");
}

static void graph_draw(const struct app *app, const void *state, struct pane p)
{
	const struct graph_view *v = state;
	const struct finding *f = cycle_of(app, v);
	if (f == NULL) {
		pane_text(p, 0, 1, STYLE_HEADING, "conflict graph");
		GString *nothing = g_string_new(NULL);
		if (jobs_idle(&app->jobs))
			append_nothing(app->session, nothing);
		else
			g_string_append(nothing,
			                "No cycle of units was found yet: heddle is still "
			                "looking.");
		pane_paragraph(pane_part(p, 2, 1, -1, p.columns - 2), 0, 0, STYLE_TEXT,
		               nothing->str);
		g_string_free(nothing, TRUE);
		return;
	}
	GString *text = g_string_new("set: ");
	for (guint i = 0; f->sets && i < f->sets->len; i++)
		g_string_append_printf(text, "%s%s", i ? ", " : "", (char *)f->sets->pdata[i]);
	bool happened = f->verdict == VERDICT_HAPPENED;
	pane_format(p, 0, 1, STYLE_HEADING, "%s   cycle %u of %u, length %u, %s", text->str,
	            (guint)v->cycles.cursor + 1, v->entries->len, f->edges->len,
	            happened ? "happened" : "can happen");
	int edges = MIN((int)f->edges->len, p.rows / 3);
	struct pane top = pane_part(p, 2, 0, p.rows - 5 - edges, -1);
	draw_units(app, v, f, top);
	pane_rule(p, p.rows - edges - 3, "the cycle");
	for (int i = 0; i < edges; i++) {
		g_string_truncate(text, 0);
		append_edge(app, f, &g_array_index(f->edges, struct cycle_edge, i), text);
		pane_text(p, p.rows - edges - 2 + i, 1, STYLE_TEXT, text->str);
		if (i == (int)v->edge)
			pane_highlight(p, p.rows - edges - 2 + i, ATTR_REVERSE);
	}
	pane_text(p, p.rows - 1, 1, STYLE_DIM,
	          happened ? "No serial order of these units gives what was read and written "
	                     "here."
	                   : "This run had them in another order; in the witness (w) no serial "
	                     "order is left.");
	g_string_free(text, TRUE);
}

static bool graph_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct graph_view *v = state;
	const struct finding *f = cycle_of(app, v);
	if (f == NULL)
		return false;
	switch (request) {
	case REQUEST_TAB:
	case REQUEST_DOWN:
		v->edge = (v->edge + 1) % f->edges->len;
		v->side = 0;
		return true;
	case REQUEST_UP:
		v->edge = (v->edge + f->edges->len - 1) % f->edges->len;
		v->side = 0;
		return true;
	case REQUEST_RIGHT:
	case REQUEST_LEFT:
		v->cycles.cursor = (v->cycles.cursor +
		                    (request == REQUEST_RIGHT ? 1 : v->entries->len - 1)) %
		                   v->entries->len;
		v->edge = v->side = 0;
		select_cycle(app, v);
		return true;
	case REQUEST_WITNESS:
		if (f->witness == NULL) {
			app_say(app, SAYS_IT_HAPPENED);
			return true;
		}
		select_cycle(app, v);
		app_go(app, VIEW_WITNESS);
		return true;
	case REQUEST_ENTER: {
		const struct cycle_edge *e =
		        &g_array_index(f->edges, struct cycle_edge, v->edge);
		app_go(app, VIEW_TRACE);
		session_ask(app->session, e->events[0], e->events[1]);
		app_goto(app, e->events[v->side], false);
		v->side = !v->side;
		app_say(app, SAYS_OTHER_ACCESS);
		return true;
	}
	case REQUEST_EXPORT:
		commands_run(app, "export");
		return true;
	default:
		return false;
	}
}

const struct view_ops graph_view = {
	.title = "Conflict graph",
	.open = graph_open,
	.close = graph_close,
	.show = graph_show,
	.draw = graph_draw,
	.request = graph_request,
};
