/*
 * view_order.c - why two events are ordered under an order, edge by edge, or that they are not;
 * for the closure the proof, or the witness.
 */
#include "tui/explorer/app.h"

#include "tui/explorer/words/chain.h"
#include "tui/explorer/export.h"
#include "tui/explorer/words/prose.h"
#include "tui/explorer/words/missing_code.h"

/* An additional kind after the orders of order.h: the closure of the pair's causal past. */
enum { KIND_CLOSURE = ORDER_KIND_COUNT, SUMMARY_EVENTS = 1000000 };

struct order_view {
	int kind, columns;
	struct list list;
	GArray *rows;  /* struct prose_row */
	GArray *steps; /* struct step: the chain or cycle shown; may be empty */
};

static void *order_open(struct app *app)
{
	struct order_view *v = g_new0(struct order_view, 1);
	v->kind = ORDER_KIND_HB;
	v->rows = prose_new();
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

/* -- sentences ----------------------------------------------------------------------- */

static char *event_words(const struct session *s, uint32_t event)
{
	GString *out = g_string_new(NULL);
	g_string_append_printf(out, "%u %s ", event,
	                       trace_thread_name(s->trace, s->trace->events[event].thread));
	describe_event(s, event, out);
	return g_string_free(out, FALSE);
}

/* Explain which edges join the threads. */
static void add_meaning(const struct session *s, struct order_view *v, const GArray *steps)
{
	guint across = 0, locks = 0, sections = 0, missing = 0;
	for (guint i = 0; i < steps->len; i++) {
		const struct step *step = &g_array_index(steps, struct step, i);
		if (s->trace->events[step->from].thread == s->trace->events[step->to].thread)
			continue;
		across++;
		locks += step->rule == STEP_LOCK;
		missing += step->rule == STEP_MUST && step->detail == MUST_MISSING;
		sections += step->rule == STEP_CONFLICT_SECTION ||
		            step->rule == STEP_ORDERED_SECTION;
	}
	prose_add(v->rows, STYLE_TEXT, NONE, "%s", "");
	if (across == 0)
		prose_add(v->rows, STYLE_TEXT, NONE,
		          "One thread does both: no schedule turns them round.");
	else if (missing > 0)
		prose_add(v->rows, STYLE_TEXT, NONE,
		          "What was recorded does not keep this order by itself: calls into "
		          "code that was not recorded (░) may have synchronised by what both "
		          "can touch, and so they keep their order in every run that is taken "
		          "to be possible (M: without).");
	else if (across == locks)
		prose_add(
		        v->rows, STYLE_TEXT, NONE,
		        "%s the threads, and hold%s in this run alone: the critical "
		        "sections may come in another order, unless something else keeps them.",
		        across == 1 ? "Only the lock edge joins" : "Only lock edges join",
		        across == 1 ? "s" : "");
	else if (across == locks + sections)
		prose_add(v->rows, STYLE_TEXT, NONE,
		          "The critical sections conflict, which this order takes as "
		          "fixed; a witness may still reverse them (m asks).");
	else
		prose_add(v->rows, STYLE_TEXT, NONE,
		          "Not only locks order the two: the other edges hold in every "
		          "reordering.");
}

static void add_ordered(const struct app *app, struct order_view *v, const struct order *order,
                        uint32_t first, uint32_t second)
{
	const struct session *s = app->session;
	struct path path = { 0 };
	g_autofree char *a = event_words(s, first), *b = event_words(s, second);
	prose_add(v->rows, STYLE_HEADING, first, "%s   is before   %s   because", a, b);
	if (order_path(order, first, second, &path) && path.steps) {
		g_array_append_vals(v->steps, path.steps->data, path.steps->len);
		prose_add_chain(v->rows, s, path.steps, app->grid.columns);
		add_meaning(s, v, path.steps);
	}
	path_release(&path);
}

/* For an unordered pair: the role of missing code. */
static void add_missing(const struct session *s, struct order_view *v)
{
	if (!session_lacks_code(s))
		return;
	g_autoptr(GString) text = g_string_new(NULL);
	if (s->missing)
		missing_code_silence(s, s->pair[0], s->pair[1], text);
	else
		g_string_append(text,
		                "Calls into code that was not recorded (░) are not counted "
		                "here; M counts what they may have ordered.");
	prose_add(v->rows, STYLE_TEXT, NONE, "%s", text->str);
}

static void add_unordered(const struct session *s, struct order_view *v, enum order_kind kind)
{
	g_autofree char *a = event_words(s, s->pair[0]), *b = event_words(s, s->pair[1]);
	prose_add(v->rows, STYLE_HEADING, s->pair[0], "%s   and   %s", a, b);
	prose_add(v->rows, STYLE_TEXT, NONE, "%s", "");
	prose_add(v->rows, STYLE_RACE, s->pair[1], "Under %s%s the two are unordered.",
	          order_kind_title(kind), s->missing ? " and missing code" : "");
	bool conflict = events_race_conflict(s->trace, s->pair[0], s->pair[1]);
	prose_add(v->rows, STYLE_TEXT, NONE, "%s",
	          conflict ? "They conflict, so this order would report them; whether they can "
	                     "race is the witness's word (w)."
	                   : "They do not conflict: no race either way.");
	add_missing(s, v);
}

static void add_closure(struct app *app, struct order_view *v)
{
	const struct session *s = app->session;
	const struct finding *f = session_finding(s);
	g_autofree char *a = event_words(s, s->pair[0]), *b = event_words(s, s->pair[1]);
	prose_add(v->rows, STYLE_HEADING, s->pair[0], "%s   and   %s", a, b);
	prose_add(v->rows, STYLE_TEXT, NONE, "%s", "");
	if (f && (f->verdict == VERDICT_RACE || f->missing)) {
		prose_add(v->rows, STYLE_RACE, NONE,
		          "Nothing keeps them in this order: %s found a witness%s (w).",
		          f->by ? f->by : "the search",
		          s->missing ? " that keeps the order of missing code" : "");
	} else if (f && f->verdict == VERDICT_IMPOSSIBLE) {
		prose_add(v->rows, STYLE_NONE, NONE, "Proved impossible (%s).",
		          f->proof ? proof_method_word(f->proof->method) : "?");
		prose_add_proof(v->rows, s, f->proof, app->grid.columns, PROOF_OF_PAIR);
		if (f->proof && f->proof->cycle.steps && chain_is_ring(f->proof->cycle.steps))
			g_array_append_vals(v->steps, f->proof->cycle.steps->data,
			                    f->proof->cycle.steps->len);
	} else if (f && f->verdict == VERDICT_UNKNOWN) {
		prose_add(v->rows, STYLE_OPEN, NONE, "Undecided: %s.",
		          open_reason_text(f->open));
	} else if (events_race_conflict(s->trace, s->pair[0], s->pair[1])) {
		prose_add(v->rows, STYLE_BUSY, NONE, "asking for a witness or a proof");
		app_decide_pair(app, s->pair[0], s->pair[1]);
	} else {
		prose_add(v->rows, STYLE_TEXT, NONE,
		          "They do not conflict: there is nothing to decide.");
	}
}

/* "6 and 19 are ordered by: hb shb   not by: wdc   not asked: cp (x)", for this pair: the
 * list's analyses are about all pairs of the two places. */
static void add_summary(struct app *app, struct order_view *v)
{
	const struct session *s = app->session;
	const struct entry *entry = session_selected(s);
	g_autoptr(GString) by = g_string_new(NULL), not_by = g_string_new(NULL),
	                   unknown = g_string_new(NULL);
	bool reading = false; /* only the second's own read of the first orders them */
	for (int k = 0; k < ORDER_KIND_COUNT; k++) {
		if (s->weak && k != ORDER_KIND_HB)
			continue;
		if (s->trace->events_count <= SUMMARY_EVENTS)
			app_need_order(app, (enum order_kind)k);
		const struct order *order = session_order(s, k);
		bool ordered = order && order_ordered(order, s->pair[0], s->pair[1]);
		bool by_reading =
		        ordered && !order_ordered_unobserved(order, s->pair[0], s->pair[1]);
		GString *to = order == NULL ? unknown : ordered ? by : not_by;
		reading |= by_reading;
		g_string_append_printf(to, " %s%s", order_kind_word((enum order_kind)k),
		                       by_reading ? "*" : "");
	}
	prose_add(v->rows, STYLE_TEXT, NONE, "%s", "");
	prose_add(v->rows, STYLE_DIM, NONE, "%u and %u are ordered by:%s   not by:%s%s%s%s",
	          s->pair[0], s->pair[1], by->len ? by->str : " none of those asked",
	          not_by->len ? not_by->str : " –", unknown->len ? "   not asked yet:" : "",
	          unknown->str, unknown->len ? " (x asks the next)" : "");
	if (reading)
		prose_add(
		        v->rows, STYLE_DIM, NONE,
		        "* only as the later one read what the earlier one wrote, which is the "
		        "race itself: \"seen by\" in the list does not count it.");
	if (entry && entry->finding->count > 1)
		prose_add(v->rows, STYLE_DIM, NONE,
		          "That is this one pair; \"seen by\" in the list is about any of the "
		          "pairs of these two places.");
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
		prose_add(v->rows, STYLE_BUSY, NONE, "the index is still being built");
		return;
	}
	if (s->pair[0] == s->pair[1]) {
		g_autofree char *event = event_words(s, s->pair[0]);
		prose_add(v->rows, STYLE_HEADING, s->pair[0], "%s", event);
		prose_add(v->rows, STYLE_TEXT, NONE, "%s", "");
		prose_add(v->rows, STYLE_TEXT, NONE,
		          "The finding is about this event alone: there are no two whose order "
		          "could be asked (`pair E1 E2` chooses two).");
		return;
	}
	if (s->weak && v->kind != ORDER_KIND_HB) {
		prose_add(v->rows, STYLE_TEXT, NONE,
		          "This run under --memory %s is not sequentially consistent: "
		          "happens-before (h) alone is known of it.",
		          weak_model_words[trace_model(s->trace)]);
		return;
	}
	if (v->kind == KIND_CLOSURE) {
		add_closure(app, v);
	} else if (!app_need_order(app, (enum order_kind)v->kind)) {
		bool none = v->kind == ORDER_KIND_EDC && s->no_edc;
		prose_add(v->rows, none ? STYLE_TEXT : STYLE_BUSY, NONE, "%s %s",
		          none ? "not to be had by these specifications:" : "building",
		          order_kind_title((enum order_kind)v->kind));
		return;
	} else if (order_ordered(session_order(s, v->kind), s->pair[0], s->pair[1])) {
		add_ordered(app, v, session_order(s, v->kind), s->pair[0], s->pair[1]);
	} else {
		add_unordered(s, v, (enum order_kind)v->kind);
	}
	add_summary(app, v);
}

/* -- drawing ------------------------------------------------------------------------ */

static void order_fit(struct app *app, void *state, int rows, int columns)
{
	struct order_view *v = state;
	v->columns = columns;
	prose_fit(v->rows, &v->list, rows - 2, columns);
}

static void order_draw(const struct app *app, const void *state, struct pane p)
{
	const struct order_view *v = state;
	const char *title = v->kind == KIND_CLOSURE
	                            ? "the closure (M2)"
	                            : order_kind_title((enum order_kind)v->kind);
	pane_format(p, 0, 1, STYLE_HEADING, "why ordered: %s%s", title,
	            app->session->missing ? " and missing code" : "");
	prose_draw(v->rows, &v->list, pane_part(p, 2, 0, -1, -1));
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
	case REQUEST_BY_NEXT:
		v->kind = (v->kind + 1) % (ORDER_KIND_COUNT + 1);
		order_show(app, v);
		return true;
	default:
		return prose_request(app, v->rows, &v->list, request, count);
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
	prose_select(v->rows, &v->list, row - 2, v->columns);
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
