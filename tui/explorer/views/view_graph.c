/*
 * view_graph.c - the conflict graph of an atomic-set violation: the reads and writes of each
 * unit of work, in a lane for each thread, and the cycle's edges; Enter goes from an edge to
 * its two accesses.
 */
#include "tui/explorer/app.h"

#include "tui/explorer/messages.h"
#include "tui/explorer/words/decisions.h"

#include <string.h>

struct graph_view {
	guint edge;         /* the highlighted one */
	guint side;         /* the access that Enter shows next */
	struct list cycles; /* list of the entries that have a cycle */
	GArray *entries;    /* int: indexes of session.entries */
	GArray *rows;       /* struct decision: rows of the cycle */
};

enum { LANE_LEAST = 22, LANE_MOST = 48, MOST_LANES = 32 };

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
	if (v->rows)
		g_array_unref(v->rows);
	g_free(v);
}

static const struct finding *cycle_of(const struct app *app, const struct graph_view *v)
{
	if (v->cycles.cursor >= v->entries->len)
		return NULL;
	int i = g_array_index(v->entries, int, v->cycles.cursor);
	const struct entry *entry = app->session->entries->pdata[i];
	return entry->finding;
}

/* Make the rows of the selected cycle. */
static void make_decisions(const struct app *app, struct graph_view *v)
{
	const struct finding *f = cycle_of(app, v);
	if (v->rows)
		g_array_unref(v->rows);
	v->rows = f ? decisions_of(app->session, f) : NULL;
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
	make_decisions(app, v);
}

/* Select the cycle's finding in the session, for other views. */
static void select_cycle(struct app *app, const struct graph_view *v)
{
	if (v->cycles.cursor < v->entries->len)
		session_select(app->session, g_array_index(v->entries, int, v->cycles.cursor));
}

/* -- the table of what each thread saw and wrote -------------------------------------------- */

/* A column for each thread of the cycle; `width` 0: too many, one for all. */
struct graph_lanes {
	uint32_t threads[MOST_LANES], count;
	int begin, width;
};

static uint32_t lane_of(struct graph_lanes *l, uint32_t thread)
{
	for (uint32_t j = 0; j < l->count; j++)
		if (l->threads[j] == thread)
			return j;
	if (l->count < MOST_LANES)
		l->threads[l->count++] = thread;
	return l->count - 1;
}

static const struct cycle_unit *unit_at(const struct finding *f, guint i)
{
	return &g_array_index(f->units, struct cycle_unit, i);
}

static struct graph_lanes lanes_of(const struct finding *f, int columns)
{
	struct graph_lanes l = { .begin = 8 };
	for (guint i = 0; i < f->units->len; i++)
		lane_of(&l, unit_at(f, i)->thread);
	for (uint32_t i = 1; i < l.count; i++) /* in the order of threads */
		for (uint32_t k = i; k > 0 && l.threads[k - 1] > l.threads[k]; k--) {
			uint32_t thread = l.threads[k];
			l.threads[k] = l.threads[k - 1];
			l.threads[k - 1] = thread;
		}
	int width = (columns - l.begin) / MAX((int)l.count, 1);
	l.width = width < LANE_LEAST ? 0 : MIN(width, LANE_MOST);
	return l;
}

/* "T1 worker: transfer"; the thread's name alone when it contains the unit's, or when the
 * thread has several units, whose rows name them. */
static void draw_lane_heads(const struct app *app, const struct graph_view *v,
                            const struct finding *f, const struct graph_lanes *l, struct pane p)
{
	for (uint32_t j = 0; j < l->count && l->width; j++) {
		const char *unit = NULL, *thread;
		guint units = 0;
		for (guint i = 0; i < f->units->len; i++)
			if (unit_at(f, i)->thread == l->threads[j]) {
				unit = unit_at(f, i)->unit;
				units++;
			}
		thread = session_thread_within(app->session, l->threads[j], l->width - 3);
		struct pane head =
		        pane_part(p, 0, l->begin + (int)j * l->width, 1, l->width - 1);
		int at = pane_text(head, 0, 0, style_of_thread(l->threads[j]), thread);
		if (units == 1 && strstr(thread, unit) == NULL)
			pane_format(head, 0, at + 1, STYLE_DIM, "in %s", unit);
	}
}

/* Is it the first row of its unit, in a thread with several units? */
static bool begins_unit(const struct graph_view *v, const struct finding *f, guint row)
{
	guint unit = g_array_index(v->rows, struct decision, row).unit;
	uint32_t thread = unit_at(f, unit)->thread;
	guint of_thread = 0;
	for (guint i = 0; i < f->units->len; i++)
		of_thread += unit_at(f, i)->thread == thread;
	for (guint i = 0; i < row; i++)
		if (g_array_index(v->rows, struct decision, i).unit == unit)
			return false;
	return of_thread > 1;
}

static void draw_decision(const struct app *app, const struct graph_view *v,
                          const struct finding *f, struct graph_lanes *l, struct pane p,
                          int row, guint index)
{
	const struct decision *d = &g_array_index(v->rows, struct decision, index);
	const struct cycle_edge *lit = &g_array_index(f->edges, struct cycle_edge, v->edge);
	uint32_t thread = unit_at(f, d->unit)->thread;
	bool here = d->event == lit->events[0] || d->event == lit->events[1];
	pane_text(p, row, 0, STYLE_HERE, here ? "▸" : " ");
	pane_format(p, row, 1, STYLE_DIM, "%5u", d->event);
	int at = l->begin + (int)lane_of(l, thread) * l->width;
	if (l->width == 0)
		at = 1 + pane_text(p, row, l->begin, style_of_thread(thread),
		                   session_thread_within(app->session, thread, 14));
	if (begins_unit(v, f, index))
		at = pane_format(p, row, at, STYLE_DIM, "%s: ", unit_at(f, d->unit)->unit);
	at = pane_text(p, row, at, here ? STYLE_HERE : style_of_thread(thread), d->text);
	int lane = l->begin + (int)lane_of(l, thread) * l->width;
	if (d->old && at + 4 + text_columns(d->old) > p.columns &&
	    lane - l->begin > text_columns(d->old) + 3) /* more room on the left */
		pane_format(p, row, lane - 3 - text_columns(d->old), STYLE_RACE, "%s ▸",
		            d->old);
	else if (d->old)
		pane_format(p, row, at, STYLE_RACE, "  ◂ %s", d->old);
}

/* The rows, scrolled to those of the selected edge. */
static void draw_decisions(const struct app *app, const struct graph_view *v,
                           const struct finding *f, struct pane p)
{
	const struct cycle_edge *lit = &g_array_index(f->edges, struct cycle_edge, v->edge);
	struct graph_lanes l = lanes_of(f, p.columns);
	struct pane body = pane_part(p, 1, 0, -1, -1);
	guint first = v->rows->len, last = 0, top = 0;
	for (guint i = 0; i < v->rows->len; i++) {
		uint32_t e = g_array_index(v->rows, struct decision, i).event;
		if (e != lit->events[0] && e != lit->events[1])
			continue;
		first = MIN(first, i);
		last = i;
	}
	draw_lane_heads(app, v, f, &l, p);
	if (last >= (guint)body.rows && body.rows > 1)
		top = MIN(first, v->rows->len - (guint)body.rows);
	for (int r = 0; r < body.rows && top + (guint)r < v->rows->len; r++)
		draw_decision(app, v, f, &l, body, r, top + (guint)r);
	guint below = top + (guint)body.rows < v->rows->len
	                      ? v->rows->len - top - (guint)body.rows
	                      : 0;
	if (top + below)
		pane_format(p, 0, p.columns - 18, STYLE_DIM, "%u above, %u below", top, below);
}

/* An access in the words of the view's rows; one without a row as it was recorded. */
static void append_access(const struct app *app, const struct graph_view *v, uint32_t event,
                          GString *out)
{
	for (guint i = 0; i < v->rows->len; i++) {
		const struct decision *d = &g_array_index(v->rows, struct decision, i);
		if (d->event == event) {
			g_string_append(out, d->text);
			return;
		}
	}
	describe_event(app->session, event, out);
}

static void append_edge(const struct app *app, const struct graph_view *v,
                        const struct finding *f, const struct cycle_edge *e, GString *out)
{
	const struct trace *t = app_trace(app);
	g_string_append_printf(out, "%s ──▸ %s   on ",
	                       g_array_index(f->units, struct cycle_unit, e->from).unit,
	                       g_array_index(f->units, struct cycle_unit, e->to).unit);
	const char *name = trace_variable_name(t, e->variable);
	append_escaped(out, name, strlen(name));
	g_string_append_printf(out, ":  %u ", e->events[0]);
	append_access(app, v, e->events[0], out);
	g_string_append_printf(out, "  then  %u ", e->events[1]);
	append_access(app, v, e->events[1], out);
}

/* Appends the number of units examined, after the analysis: no cycle among no units is no
 * good news. */
static void append_nothing(const struct session *s, GString *out)
{
	const struct report *report = NULL;
	for (guint i = 0; i < s->reports->len; i++) {
		const struct report *r = s->reports->pdata[i];
		if (strcmp(r->analysis, "atomic") == 0)
			report = r; /* the last report is the most complete */
	}
	if (report == NULL)
		g_string_append(
		        out, "No unit of work was looked at: one thread alone has no cycles, "
		             "or the work was stopped.");
	else if (report->complete && report->scope == NULL)
		g_string_append(out,
		                "No cycle of units was found: in this run, whatever belongs "
		                "together could have been done one unit after the other.");
	else
		g_string_append_printf(out, "No cycle of units %s, which is no promise:",
		                       report->scope ? "is listed" : "was found");
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
		g_autoptr(GString) nothing = g_string_new(NULL);
		if (jobs_idle(&app->jobs))
			append_nothing(app->session, nothing);
		else
			g_string_append(nothing,
			                "No cycle of units was found yet: heddle is still "
			                "looking.");
		pane_paragraph(pane_part(p, 2, 1, -1, p.columns - 2), 0, 0, STYLE_TEXT,
		               nothing->str);
		return;
	}
	g_autoptr(GString) text = g_string_new("set: ");
	for (guint i = 0; f->sets && i < f->sets->len; i++)
		g_string_append_printf(text, "%s%s", i ? ", " : "", (char *)f->sets->pdata[i]);
	bool happened = f->verdict == VERDICT_HAPPENED;
	pane_format(p, 0, 1, STYLE_HEADING, "%s   cycle %u of %u, length %u, %s", text->str,
	            (guint)v->cycles.cursor + 1, v->entries->len, f->edges->len,
	            happened ? "happened" : "can happen");
	int edges = MIN((int)f->edges->len, p.rows / 3);
	struct pane top = pane_part(p, 2, 0, p.rows - 5 - edges, -1);
	draw_decisions(app, v, f, top);
	pane_rule(p, p.rows - edges - 3, "the cycle");
	for (int i = 0; i < edges; i++) {
		g_string_truncate(text, 0);
		append_edge(app, v, f, &g_array_index(f->edges, struct cycle_edge, i), text);
		pane_text(p, p.rows - edges - 2 + i, 1, STYLE_TEXT, text->str);
		if (i == (int)v->edge)
			pane_highlight(p, p.rows - edges - 2 + i, ATTR_REVERSE);
	}
	pane_text(p, p.rows - 1, 1, STYLE_DIM,
	          happened ? "No serial order of these units gives the values read and "
	                     "written here."
	                   : "This run had them in another order; in the witness (w) no serial "
	                     "order is left.");
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
		make_decisions(app, v);
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
