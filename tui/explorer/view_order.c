/*
 * view_order.c - why two events are ordered under an order, edge by edge, or that they are
 * not; under the closure: the proof, or the witness.
 */
#include "tui/explorer/app.h"

#include "tui/explorer/chain.h"
#include "tui/explorer/command_line.h"
#include "tui/explorer/export.h"

#include <string.h>

/* After the orders of order.h, the closure of the pair's cone. */
enum { KIND_CLOSURE = ORDER_KIND_COUNT, SUMMARY_EVENTS = 1000000 };

struct order_row {
	enum style style;
	char *gutter;   /* owned: the lanes left of the text, or NULL */
	char *text;     /* owned */
	uint32_t event; /* Enter goes there; NONE */
};

struct order_view {
	int kind;
	struct list list;
	GArray *rows;
	GArray *steps; /* struct step: the chain or the circle that is shown; may be empty */
};

static void row_clear(void *data)
{
	struct order_row *row = data;
	g_free(row->gutter);
	g_free(row->text);
}

static void *order_open(struct app *app)
{
	struct order_view *v = g_new0(struct order_view, 1);
	v->kind = ORDER_KIND_HB;
	v->rows = g_array_new(FALSE, FALSE, sizeof(struct order_row));
	g_array_set_clear_func(v->rows, row_clear);
	v->steps = g_array_new(FALSE, FALSE, sizeof(struct step));
	return v;
}

static void order_close(void *state)
{
	struct order_view *v = state;
	g_array_free(v->rows, TRUE);
	g_array_free(v->steps, TRUE);
	g_free(v);
}

static void add(struct order_view *v, enum style style, uint32_t event, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
static void add(struct order_view *v, enum style style, uint32_t event, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	struct order_row row = { style, NULL, g_strdup_vprintf(format, ap), event };
	va_end(ap);
	g_array_append_val(v->rows, row);
}

/* -- sentences ----------------------------------------------------------------------- */

static char *event_words(const struct session *s, uint32_t event)
{
	GString *out = g_string_new(NULL);
	g_string_append_printf(out, "%u %s ", event,
	                       trace_thread_name(s->trace, s->trace->events[event].thread));
	describe_event(s, event, out);
	return g_string_free(out, FALSE);
}

/* The constraints of a proof, each on its own. */
static void add_steps(const struct session *s, struct order_view *v, const GArray *steps)
{
	for (guint i = 0; i < steps->len; i++) {
		const struct step *step = &g_array_index(steps, struct step, i);
		GString *text = g_string_new(NULL);
		describe_step(s, step, text);
		add(v, STYLE_TEXT, step->to, "  %s", text->str);
		g_string_free(text, TRUE);
	}
}

/* A chain of events in lanes; where there are too many threads, edge by edge in words. */
static void add_chain(const struct app *app, struct order_view *v, const GArray *steps)
{
	GArray *rows = chain_rows(app->session, steps, app->grid.columns);
	if (rows == NULL) {
		add_steps(app->session, v, steps);
		return;
	}
	for (guint i = 0; i < rows->len; i++) {
		struct chain_row *row = &g_array_index(rows, struct chain_row, i);
		struct order_row added = { row->is_event ? STYLE_TEXT
			                   : row->across ? STYLE_KEY
			                                 : STYLE_DIM,
			                   g_strdup(row->gutter), g_strdup(row->text),
			                   row->event };
		g_array_append_val(v->rows, added);
	}
	g_array_free(rows, TRUE);
}

/* Which edges join the threads, and what that means. */
static void add_meaning(const struct session *s, struct order_view *v, const GArray *steps)
{
	guint across = 0, locks = 0, sections = 0;
	for (guint i = 0; i < steps->len; i++) {
		const struct step *step = &g_array_index(steps, struct step, i);
		if (s->trace->events[step->from].thread == s->trace->events[step->to].thread)
			continue;
		across++;
		locks += step->rule == STEP_LOCK;
		sections += step->rule == STEP_CONFLICT_SECTION ||
		            step->rule == STEP_ORDERED_SECTION;
	}
	add(v, STYLE_TEXT, NONE, "%s", "");
	if (across == 0)
		add(v, STYLE_TEXT, NONE, "One thread does both: no schedule turns them round.");
	else if (across == locks)
		add(v, STYLE_TEXT, NONE,
		    "%s the threads, and hold%s in this run alone: the critical "
		    "sections may come in another order, unless something else keeps them.",
		    across == 1 ? "Only the lock edge joins" : "Only lock edges join",
		    across == 1 ? "s" : "");
	else if (across == locks + sections)
		add(v, STYLE_TEXT, NONE,
		    "The critical sections conflict, which this order takes as "
		    "fixed; a witness may still turn them round (m asks the closure).");
	else
		add(v, STYLE_TEXT, NONE,
		    "Not only locks join the threads: what is no lock edge holds in "
		    "every reordering.");
}

static void add_ordered(const struct app *app, struct order_view *v, const struct order *order,
                        uint32_t first, uint32_t second)
{
	const struct session *s = app->session;
	struct path path = { 0 };
	char *a = event_words(s, first), *b = event_words(s, second);
	add(v, STYLE_HEADING, first, "%s   is before   %s   because", a, b);
	if (order_path(order, first, second, &path) && path.steps) {
		g_array_append_vals(v->steps, path.steps->data, path.steps->len);
		add_chain(app, v, path.steps);
		add_meaning(s, v, path.steps);
	}
	path_release(&path);
	g_free(a);
	g_free(b);
}

static void add_unordered(const struct session *s, struct order_view *v, enum order_kind kind)
{
	char *a = event_words(s, s->pair[0]), *b = event_words(s, s->pair[1]);
	add(v, STYLE_HEADING, s->pair[0], "%s   and   %s", a, b);
	add(v, STYLE_TEXT, NONE, "%s", "");
	add(v, STYLE_RACE, s->pair[1], "Under %s the two are unordered.",
	    order_kind_title(kind));
	bool conflict = events_race_conflict(s->trace, s->pair[0], s->pair[1]);
	add(v, STYLE_TEXT, NONE, "%s",
	    conflict ? "They conflict, so this order would report them; whether they can race "
	               "is the witness's word (w)."
	             : "They do not conflict: no race either way.");
	g_free(a);
	g_free(b);
}

/* The circle of a closure in lanes; the constraints of a solver's core as they are. */
static void add_proof(const struct app *app, struct order_view *v, const GArray *steps)
{
	if (!chain_is_ring(steps)) {
		add_steps(app->session, v, steps);
		return;
	}
	g_array_append_vals(v->steps, steps->data, steps->len);
	add_chain(app, v, steps);
	add(v, STYLE_NONE, g_array_index(steps, struct step, 0).from,
	    "and so %u before itself: a circle", g_array_index(steps, struct step, 0).from);
}

static void add_closure(struct app *app, struct order_view *v)
{
	const struct session *s = app->session;
	const struct finding *f = session_finding(s);
	char *a = event_words(s, s->pair[0]), *b = event_words(s, s->pair[1]);
	add(v, STYLE_HEADING, s->pair[0], "%s   and   %s", a, b);
	g_free(a);
	g_free(b);
	add(v, STYLE_TEXT, NONE, "%s", "");
	if (f && f->verdict == VERDICT_RACE) {
		add(v, STYLE_RACE, NONE,
		    "The closure leaves them unordered: %s found a witness (w).",
		    f->by ? f->by : "the search");
	} else if (f && f->verdict == VERDICT_IMPOSSIBLE) {
		add(v, STYLE_NONE, NONE,
		    "Proved impossible (%s). For both to be next, all of this must hold:",
		    f->proof ? f->proof->method : "?");
		if (f->proof && f->proof->cycle.steps)
			add_proof(app, v, f->proof->cycle.steps);
		add(v, STYLE_TEXT, NONE,
		    "It contradicts itself, so no reordering has the race.");
	} else if (f && f->verdict == VERDICT_UNKNOWN) {
		add(v, STYLE_OPEN, NONE, "Undecided: %s.", budget_text(f->budget));
	} else if (events_race_conflict(s->trace, s->pair[0], s->pair[1])) {
		add(v, STYLE_BUSY, NONE, "asking for a witness or a proof");
		app_decide_pair(app, s->pair[0], s->pair[1]);
	} else {
		add(v, STYLE_TEXT, NONE, "They do not conflict: there is nothing to decide.");
	}
}

/* "ordered by: hb shb   not by: wdc   not asked: cp (x)": all that are built. */
static void add_summary(struct app *app, struct order_view *v)
{
	const struct session *s = app->session;
	GString *by = g_string_new(NULL), *not_by = g_string_new(NULL),
	        *unknown = g_string_new(NULL);
	for (int k = 0; k < ORDER_KIND_COUNT; k++) {
		if (s->trace->events_count <= SUMMARY_EVENTS)
			app_need_order(app, (enum order_kind)k);
		GString *to = s->orders[k] == NULL                                  ? unknown
		              : order_ordered(s->orders[k], s->pair[0], s->pair[1]) ? by
		                                                                    : not_by;
		g_string_append_printf(to, " %s", order_kind_word((enum order_kind)k));
	}
	add(v, STYLE_TEXT, NONE, "%s", "");
	add(v, STYLE_DIM, NONE, "ordered by:%s   not by:%s%s%s%s",
	    by->len ? by->str : " none of those asked", not_by->len ? not_by->str : " –",
	    unknown->len ? "   not asked yet:" : "", unknown->str,
	    unknown->len ? " (x asks the next)" : "");
	g_string_free(by, TRUE);
	g_string_free(not_by, TRUE);
	g_string_free(unknown, TRUE);
}

static void order_show(struct app *app, void *state)
{
	struct order_view *v = state;
	const struct session *s = app->session;
	g_array_set_size(v->rows, 0);
	g_array_set_size(v->steps, 0);
	if (s->pair[0] == NONE)
		return;
	if (!session_has(s, INDEX_ALL)) {
		add(v, STYLE_BUSY, NONE, "the index is still being built");
		return;
	}
	if (v->kind == KIND_CLOSURE) {
		add_closure(app, v);
	} else if (!app_need_order(app, (enum order_kind)v->kind)) {
		add(v, STYLE_BUSY, NONE, "building %s",
		    order_kind_title((enum order_kind)v->kind));
		return;
	} else if (order_ordered(s->orders[v->kind], s->pair[0], s->pair[1])) {
		add_ordered(app, v, s->orders[v->kind], s->pair[0], s->pair[1]);
	} else {
		add_unordered(s, v, (enum order_kind)v->kind);
	}
	add_summary(app, v);
}

/* -- drawing ------------------------------------------------------------------------ */

static void order_fit(struct app *app, void *state, int rows, int columns)
{
	struct order_view *v = state;
	list_fit(&v->list, v->rows->len, rows - 2);
}

static void order_draw(const struct app *app, const void *state, struct pane p)
{
	const struct order_view *v = state;
	const char *title = v->kind == KIND_CLOSURE
	                            ? "the closure (M2)"
	                            : order_kind_title((enum order_kind)v->kind);
	pane_format(p, 0, 1, STYLE_HEADING, "why ordered: %s", title);
	int row = 2;
	for (uint64_t i = v->list.top; row < p.rows && i < v->rows->len; i++) {
		const struct order_row *r = &g_array_index(v->rows, struct order_row, i);
		int first = row, indent = (int)strspn(r->text, " ");
		if (r->gutter) {
			pane_text(p, row, 2, STYLE_TEXT, r->gutter);
			indent += 1 + text_columns(r->gutter);
		}
		row = pane_paragraph(pane_part(p, row, 1 + indent, -1, p.columns - 2 - indent),
		                     0, 0, r->style, r->text + strspn(r->text, " ")) +
		      row;
		if (i == v->list.cursor)
			pane_highlight(p, first, ATTR_REVERSE);
	}
}

static const struct {
	enum request request;
	int kind;
} kinds[] = {
	{ REQUEST_BY_HB, ORDER_KIND_HB },
	{ REQUEST_BY_WCP, ORDER_KIND_WCP },
	{ REQUEST_BY_WDC, ORDER_KIND_WDC },
	{ REQUEST_BY_CLOSURE, KIND_CLOSURE },
};

static bool order_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct order_view *v = state;
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (kinds[i].request == request) {
			v->kind = kinds[i].kind;
			order_show(app, v);
			return true;
		}
	}
	switch (request) {
	case REQUEST_ORDER:
		return true;
	case REQUEST_EXPORT:
		commands_run(app, "export");
		return true;
	case REQUEST_BY_NEXT:
		v->kind = (v->kind + 1) % (ORDER_KIND_COUNT + 1);
		order_show(app, v);
		return true;
	case REQUEST_ENTER: {
		uint32_t event =
		        v->rows->len
		                ? g_array_index(v->rows, struct order_row, v->list.cursor).event
		                : NONE;
		if (event == NONE)
			return true;
		app_go(app, VIEW_TRACE);
		app_goto(app, event, false);
		return true;
	}
	default:
		return list_request(&v->list, request, count);
	}
}

bool order_view_draw(const struct app *app, struct drawing *drawing)
{
	const struct order_view *v = app->states[VIEW_ORDER];
	if (v == NULL || v->steps->len == 0)
		return false;
	chain_draw(app->session, v->steps, drawing);
	return true;
}

const char *order_view_word(const struct app *app)
{
	const struct order_view *v = app->states[VIEW_ORDER];
	return v == NULL                 ? NULL
	       : v->kind == KIND_CLOSURE ? "closure"
	                                 : order_kind_word((enum order_kind)v->kind);
}

static void order_select(struct app *app, void *state, int row, int column, bool again)
{
	struct order_view *v = state;
	if (row >= 2 && v->list.top + (row - 2) < v->rows->len)
		v->list.cursor = v->list.top + (uint64_t)(row - 2);
}

const struct view_ops order_view = {
	.title = "Order",
	.open = order_open,
	.close = order_close,
	.show = order_show,
	.fit = order_fit,
	.draw = order_draw,
	.request = order_request,
	.select = order_select,
};
