/*
 * witness_draw.c - recorded order and witness side by side on the screen: moved events, context
 * switches with their reasons, the claim in a sentence; or why no witness is there.
 */
#include "engine/base/search.h"
#include "tui/explorer/views/view_witness.h"

#include "tui/explorer/exploration/return_point.h"
#include "tui/explorer/settings.h"
#include "tui/explorer/words/weak_order.h"
#include "tui/explorer/messages.h"

#include <string.h>

/* -- drawing the two orders ------------------------------------------------------------- */

static void draw_switch(const struct app *app, const struct witness_view *v, struct pane p,
                        int row, guint index)
{
	const struct context_switch *s =
	        &g_array_index(v->switches, struct context_switch, index);
	pane_rule(pane_part(p, row, 0, 1, -1), 0, NULL);
	g_autoptr(GString) text = g_string_new(" switch, ");
	append_switch_reason(app->session, v, s, text);
	g_string_append_c(text, ' ');
	pane_text(p, row, 2, s->reason == SWITCH_OPTIONAL ? STYLE_DIM : STYLE_KEY, text->str);
}

static void draw_row(const struct app *app, const struct witness_view *v, struct pane p,
                     int row, const struct row *what, bool is_new)
{
	switch (what->kind) {
	case ROW_FOLD:
		pane_format(p, row, 1, STYLE_DIM, "… the first %u events, as recorded",
		            v->fold);
		break;
	case ROW_SWITCH:
		draw_switch(app, v, p, row, what->index);
		break;
	case ROW_BOTH:
		pane_rule(pane_part(p, row, 0, 1, -1), 0, NULL);
		pane_text(p, row, 2, STYLE_RACE, witness_claim_words(v));
		break;
	case ROW_POINT:
		pane_rule(pane_part(p, row, 0, 1, -1), 0, NULL);
		pane_format(p, row, 2, STYLE_RACE,
		            is_new ? " the last chance: from here on %s " : " from here on %s ",
		            return_point_claim(v->point));
		break;
	case ROW_EVENT: {
		g_autoptr(GString) text = g_string_new(NULL);
		uint32_t event = is_new ? witness_event(v, what->index)
		                        : g_array_index(v->sorted, uint32_t, what->index);
		if (is_new)
			append_witness_event(app, v, what->index, text);
		else
			describe_event(app->session, event, text);
		guint index = is_new ? what->index : stage_position(&v->stage, event);
		draw_witness_event(app, v, p, row, event, text->str, v->moves[index]);
		break;
	}
	}
}

/* The row of an event in the recorded order, or the one before it that is shown. */
static uint64_t recorded_position(const struct witness_view *v, uint32_t event)
{
	guint at =
	        search_end(i, 0, v->sorted->len, g_array_index(v->sorted, uint32_t, i) < event);
	guint row = search_end(i, 0, v->recorded->len,
	                       g_array_index(v->recorded, struct row, i).index <= at);
	return row ? row - 1 : 0;
}

/* The reason for which a wait never ends, by its kind. */
static const char *const never_ends[] = {
	[WAIT_LOCK] = "it is never free again",
	[WAIT_CONDITION] = "no thread will ever signal it",
	[WAIT_SEMAPHORE] = "no thread will ever post it",
	[WAIT_JOIN] = "that thread never ends",
	[WAIT_BARRIER] = "the threads that it needs never come",
	[WAIT_CHANNEL] = "no thread will ever use it",
	[WAIT_FUTEX] = "no thread will ever wake it",
};

/* "T1 waits at b.c:2 for a signal of condition c: no thread will ever signal it" */
static void tell_waits(const struct session *s, const struct finding *f, GString *text)
{
	guint count = f->requests->len;
	for (guint i = 0; i < count; i++) {
		const struct wait *w = &g_array_index(f->waits, struct wait, i);
		g_string_append(text, i ? "; " : "");
		describe_wait(s, w, text);
		if (count == 1)
			g_string_append_printf(text, ": %s", never_ends[w->what]);
	}
	g_string_append(text, count > 2    ? ": none of them can go on"
	                      : count == 2 ? ": neither can go on"
	                                   : "");
}

/* "T1 is about to write x at q.c:12; T2 is about to read it at q.c:30: nothing orders the
 * two" */
static void tell_next(const struct session *s, const struct witness_view *v, GString *text)
{
	const uint32_t *pair = (const uint32_t *)(void *)v->w.pair->data;
	g_autoptr(GString) first = g_string_new(NULL), operand = g_string_new(NULL);
	describe_operand(s->trace, pair[0], first);
	for (guint i = 0; i < v->w.pair->len; i++) {
		g_string_truncate(operand, 0);
		describe_operand(s->trace, pair[i], operand);
		g_string_append(text, i ? "; " : "");
		describe_about_to(s, pair[i], i && strcmp(operand->str, first->str) == 0, text);
	}
	switch (v->w.claim) {
	case CLAIM_DEADLOCK:
		g_string_append(text, v->w.pair->len > 1
		                              ? ": each waits for what another one holds"
		                              : ": and it is never free again");
		break;
	case CLAIM_STUCK:
		g_string_append(text, v->w.pair->len > 1 ? ": these never come"
		                                         : ": this never comes");
		break;
	case CLAIM_REACH:
		g_string_append(text, ", and there this holds: ");
		append_escaped(text, v->w.condition, strlen(v->w.condition));
		break;
	default:
		g_string_append(text, session_lacks_code(s) && !s->missing
		                              ? ": nothing that was recorded orders the two"
		                              : ": nothing orders the two");
	}
}

/* The claim in a sentence, when the cursor is at that point. */
static void tell_claim(const struct app *app, struct witness_view *v)
{
	const struct session *s = app->session;
	g_autoptr(GString) text = g_string_new(NULL);
	g_free(v->sentence);
	v->sentence = NULL;
	if (!turns_tell(app, v, text)) {
		const struct finding *f = v->finding;
		if (g_array_index(v->rows, struct row, v->list.cursor).kind != ROW_BOTH ||
		    v->w.pair->len == 0)
			return;
		if (v->w.claim == CLAIM_C11_RACE && f) /* the first event has occurred */
			describe_weak_order(s, f, text);
		else if (claim_waits(v->w.claim) && f && f->waits &&
		         f->waits->len >= f->requests->len)
			tell_waits(s, f, text);
		else
			tell_next(s, v, text);
	}
	v->sentence = g_strdup(text->str);
}

static void draw_recorded(const struct app *app, const struct witness_view *v, struct pane p)
{
	uint64_t same = recorded_position(v, witness_event(v, witness_cursor(v)));
	for (int r = 0; r < p.rows && v->recorded_top + r < v->recorded->len; r++) {
		draw_row(app, v, p, r,
		         &g_array_index(v->recorded, struct row, v->recorded_top + r), false);
		if (v->recorded_top + r == same)
			pane_highlight(p, r, ATTR_UNDERLINE);
	}
}

/* Both orders side by side; on a projector the witness alone. */
static void draw_orders(const struct app *app, const struct witness_view *v, struct pane p)
{
	bool alone = settings_project();
	int foot = witness_foot_rows(v, p.rows), half = -1;
	if (!alone)
		half = split_at(app, SPLIT_WITNESS, p.columns, p.columns * 2 / 5, 12, 24);
	g_autoptr(GString) title = g_string_new("witness  ");
	append_switch_count(v, title);
	int after = alone ? 0 : pane_text(p, 0, 1, STYLE_HEADING, "recorded");
	if (!alone && v->calls_count && !v->all_calls)
		pane_format(pane_part(p, 0, 0, 1, half), 0, after + 2, STYLE_DIM,
		            "%u row%s left out: _", v->calls_count, plural(v->calls_count));
	int at = pane_text(p, 0, half + 2, STYLE_HEADING, title->str);
	pane_format(p, 0, at, v->accepted ? STYLE_NONE : STYLE_ERROR, " · %s %s",
	            v->accepted ? "✓" : "✗", v->verdict);
	pane_rule(p, 1, NULL);
	struct pane both = pane_part(p, 2, 0, p.rows - 2 - foot, -1);
	struct pane right = pane_part(both, 0, half + 1, -1, -1);
	if (!alone) {
		pane_bar(both, half);
		split_border(both, SPLIT_WITNESS, half, true);
		draw_recorded(app, v, pane_part(both, 0, 0, -1, half));
	}
	for (int r = 0; r < right.rows && v->list.top + r < v->rows->len; r++) {
		draw_row(app, v, right, r, &g_array_index(v->rows, struct row, v->list.top + r),
		         true);
		if (v->list.top + r == v->list.cursor) {
			pane_highlight(right, r, ATTR_REVERSE);
			pane_text(right, r, 0, STYLE_HERE, "▸");
		}
	}
	draw_witness_foot(app, v, pane_part(p, p.rows - foot, 0, -1, -1));
}

/* -- without a witness --------------------------------------------------------------------- */

/* For a run that happened the schedule is the run, which has the point of no return. */
static void draw_happened(const struct app *app, const struct finding *f, struct pane p)
{
	const struct session *s = app->session;
	g_autoptr(GArray) prose = prose_new();
	g_autoptr(GString) text = g_string_new(NULL);
	prose_add(prose, STYLE_TEXT, NONE,
	          "No witness is needed: it happened in this very run. T shows the run, s the "
	          "source%s.",
	          f->kind == FINDING_ATOMIC_SET_VIOLATION ? ", C the cycle of units" : "");
	if (s->point)
		return_point_tell(s, (struct sources *)&app->sources, prose);
	prose_print(prose, p.columns, app->options.ascii, text);
	g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
	for (int i = 0; lines[i] && i < p.rows; i++)
		pane_text(p, i, 0, STYLE_TEXT, lines[i]);
}

static void draw_waiting(const struct app *app, const struct witness_view *v, struct pane p)
{
	const struct finding *f = session_finding(app->session);
	g_autoptr(GString) text = g_string_new(NULL);
	const uint32_t *pair = app->session->pair;
	bool one = pair[0] == pair[1];
	describe_numbered(app->session, pair[0], text);
	if (!one) {
		g_string_append(text, "   and   ");
		describe_numbered(app->session, pair[1], text);
	}
	pane_text(p, 0, 1, STYLE_HEADING, text->str);
	if (f && f->verdict == VERDICT_HAPPENED)
		draw_happened(app, f, pane_part(p, 2, 1, -1, p.columns - 2));
	else if (v->comparison)
		pane_text(p, 2, 1, STYLE_BUSY, WORK_BOTH_ORDERS " (C-c stops)");
	else if (app_decides(app, pair[0]))
		pane_text(p, 2, 1, STYLE_BUSY,
		          "looking for a witness, or a proof that there is none (C-c stops)");
	else if (!session_has(app->session, INDEX_ALL))
		pane_text(p, 2, 1, STYLE_BUSY, "the index is still being built");
	else if (f && f->kind != FINDING_DATA_RACE)
		pane_text(p, 2, 1, STYLE_TEXT,
		          "findings of this kind come without a witness: I tells about it");
	else if (f && f->verdict == VERDICT_UNKNOWN)
		pane_format(p, 2, 1, STYLE_OPEN,
		            "? undecided, no witness and no proof: %s. w asks again.",
		            open_reason_text(f->open));
	else if (f && f->witness && f->witness->len)
		pane_text(p, 2, 1, STYLE_OPEN,
		          "the orders are not compared: it was stopped. w asks again.");
	else if (f && f->verdict == VERDICT_RACE)
		pane_text(p, 2, 1, STYLE_RACE,
		          "a race; its witness was too long to be kept. w makes it.");
	else
		pane_text(p, 2, 1, STYLE_OPEN,
		          "not decided: the search was stopped. w asks again.");
}

void witness_fit(struct app *app, void *state, int rows, int columns)
{
	struct witness_view *v = state;
	v->columns = columns;
	if (v->w.events == NULL && v->prose->len)
		prose_fit(v->prose, &v->list, rows, columns);
	if (v->w.events == NULL)
		return;
	tell_claim(app, v);
	turns_fit(v, rows);
	int room = rows - 2 - witness_foot_rows(v, rows);
	list_fit(&v->list, v->rows->len, room);
	/* including the separator and the pair */
	uint64_t below = v->list.cursor + 1 + v->w.pair->len;
	if (g_array_index(v->rows, struct row, v->list.cursor).kind == ROW_BOTH &&
	    below > v->list.top + (uint64_t)MAX(room, 0) && below <= v->rows->len)
		v->list.top = below - (uint64_t)room;
	uint64_t same = recorded_position(v, witness_event(v, witness_cursor(v)));
	struct list left = { .cursor = same, .top = v->recorded_top };
	list_fit(&left, v->recorded->len, room);
	v->recorded_top = left.top;
}

void witness_draw(const struct app *app, const void *state, struct pane p)
{
	const struct witness_view *v = state;
	if (v->choosing)
		scheduler_draw(app, v, p);
	else if (v->w.events && v->turns.shown)
		turns_draw(app, v, p);
	else if (v->w.events)
		draw_orders(app, v, p);
	else if (v->prose->len)
		prose_draw(v->prose, &v->list, p);
	else
		draw_waiting(app, v, p);
}
