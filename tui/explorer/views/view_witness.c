/*
 * view_witness.c - recorded order and witness side by side: moved events, necessary context
 * switches with reasons, stepping. Below, the state of the threads.
 */
#include "engine/base/search.h"
#include "engine/predict/ladder/behind.h"
#include "tui/explorer/weak_memory.h"
#include "engine/predict/weak_races.h"
#include "tui/explorer/views/view_witness.h"

#include "tui/explorer/missing_code.h"
#include "tui/explorer/return_point.h"
#include "tui/explorer/settings.h"
#include "tui/explorer/messages.h"
#include "tui/explorer/weak_order.h"

#include <string.h>

enum { KEPT_PREFIX = 3, FOLD_FROM = 8 };

static void *witness_open(struct app *app)
{
	struct witness_view *v = g_new0(struct witness_view, 1);
	v->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
	v->recorded = g_array_new(FALSE, FALSE, sizeof(struct row));
	v->prose = prose_new();
	v->shortened = g_hash_table_new(NULL, NULL);
	turns_init(&v->turns);
	v->pair[0] = v->pair[1] = NONE;
	v->all_calls = settings_is(SETTING_CALLS, "all");
	return v;
}

static void forget(struct witness_view *v)
{
	both_orders_leave(v);
	both_orders_free(v);
	g_clear_pointer(&v->sentence, g_free);
	g_array_set_size(v->rows, 0);
	g_array_set_size(v->recorded, 0);
	g_array_set_size(v->prose, 0);
	v->list.cursor = 0;
	if (v->choosing)
		chooser_release(&v->chooser);
	v->choosing = false;
	v->finding = NULL;
	v->reached = NULL;
	v->source = NULL;
}

static void witness_close(void *state)
{
	struct witness_view *v = state;
	forget(v);
	g_array_free(v->rows, TRUE);
	g_array_free(v->recorded, TRUE);
	g_array_free(v->prose, TRUE);
	g_hash_table_unref(v->shortened);
	turns_release(&v->turns);
	g_free(v);
}

/* -- rows ---------------------------------------------------------------------------------- */

static void add_row(GArray *rows, enum row_kind kind, guint index)
{
	struct row row = { kind, index };
	g_array_append_val(rows, row);
}

/* Length of the common prefix of both orders. */
static guint common_prefix(const struct witness_view *v)
{
	guint i = 0;
	while (i < v->sorted->len &&
	       g_array_index(v->sorted, uint32_t, i) == witness_event(v, i))
		i++;
	return i;
}

/* Index in the recorded order before which the point of no return lies; NONE: no point. */
static guint recorded_point(const struct witness_view *v)
{
	return v->point ? search_end(i, 0, v->sorted->len,
	                             g_array_index(v->sorted, uint32_t, i) < v->point->fails)
	                : NONE;
}

/* recorded_point for the witness, if it begins as the run up to there. */
static guint witness_point(const struct witness_view *v, guint common)
{
	bool begins = v->point && v->point->fails < common &&
	              g_array_index(v->sorted, uint32_t, v->point->fails) == v->point->fails;
	return begins ? v->point->fails : NONE;
}

/* Number of leading events without rows, when both orders begin with the same ones and they
 * are many. */
static guint folded(const struct witness_view *v, guint common, guint point)
{
	guint most = common > KEPT_PREFIX ? common - KEPT_PREFIX : 0;
	if (point != NONE && most >= point) /* its two places are shown */
		most = point > 0 ? point - 1 : 0;
	return most + KEPT_PREFIX >= FOLD_FROM ? most : 0;
}

static void add_recorded_rows(struct witness_view *v)
{
	guint point = recorded_point(v);
	for (guint i = v->fold; i < v->sorted->len; i++) {
		if (i == point)
			add_row(v->recorded, ROW_POINT, i);
		guint index = stage_position(&v->stage, g_array_index(v->sorted, uint32_t, i));
		if (v->all_calls || !v->calls_left[index])
			add_row(v->recorded, ROW_EVENT, i);
	}
	if (point == v->sorted->len)
		add_row(v->recorded, ROW_POINT, point);
}

static void add_witness_rows(struct witness_view *v, guint point)
{
	bool race = v->w.claim == CLAIM_RACE || claim_waits(v->w.claim);
	guint end = v->w.events->len -
	            MIN(v->w.pair->len, v->w.events->len); /* where the pair is next */
	guint next = 0;                                    /* index of the next switch */
	for (guint i = v->fold; i < v->w.events->len; i++) {
		for (; next < v->switches->len &&
		       g_array_index(v->switches, struct context_switch, next).at <= i;
		     next++)
			if (g_array_index(v->switches, struct context_switch, next).at == i &&
			    !(race && i >= end)) /* either event of the pair may be next */
				add_row(v->rows, ROW_SWITCH, next);
		if (race || v->w.claim == CLAIM_REACH
		            ? i == end
		            : v->w.claim == CLAIM_C11_RACE && i + 1 == v->w.events->len)
			add_row(v->rows, ROW_BOTH, i);
		if (i == point)
			add_row(v->rows, ROW_POINT, i);
		if (v->all_calls || !v->calls_left[i] || i >= end)
			add_row(v->rows, ROW_EVENT, i);
	}
}

static void make_rows(struct witness_view *v)
{
	guint common = common_prefix(v), point = witness_point(v, common);
	g_array_set_size(v->rows, 0);
	g_array_set_size(v->recorded, 0);
	v->fold = folded(v, common, point);
	if (v->fold) {
		add_row(v->rows, ROW_FOLD, 0);
		add_row(v->recorded, ROW_FOLD, 0);
	}
	add_recorded_rows(v);
	add_witness_rows(v, point);
}

/* The row where all of the pair are next; for an order, the last event. */
static guint point_of_it(const struct witness_view *v)
{
	for (guint i = v->rows->len; i-- > 0;)
		if (g_array_index(v->rows, struct row, i).kind == ROW_BOTH)
			return i;
	return v->rows->len ? v->rows->len - 1 : 0;
}

static bool has_optional(const struct witness_view *v)
{
	for (guint i = 0; i < v->switches->len; i++)
		if (g_array_index(v->switches, struct context_switch, i).reason ==
		    SWITCH_OPTIONAL)
			return true;
	return false;
}

/* Move the cursor to the event at this index of the sequence, or to the one before it that has
 * a row, or to its fold. */
static void go_to_index(struct witness_view *v, guint index)
{
	v->list.cursor = 0;
	for (guint r = 0; r < v->rows->len; r++) {
		const struct row *row = &g_array_index(v->rows, struct row, r);
		if (row->kind == ROW_EVENT && row->index <= index)
			v->list.cursor = r;
	}
}

static void witness_view_take(struct app *app, struct witness_view *v,
                              struct witness_view *made)
{
	/* with a better witness of the same pair, the cursor keeps its event */
	bool moved = v->w.events && v->list.cursor != point_of_it(v);
	uint32_t event = moved ? witness_event(v, witness_cursor(v)) : NONE;
	both_orders_free(v);
	v->w = made->w;
	v->stage = made->stage;
	v->sorted = made->sorted;
	v->switches = made->switches;
	v->moves = made->moves;
	v->calls_left = made->calls_left;
	v->calls_count = made->calls_count;
	v->verdict = made->verdict;
	v->accepted = made->accepted;
	*made = (struct witness_view){ 0 };
	v->point = app->session->point;
	make_rows(v);
	turns_make(v, app_trace(app));
	v->list.cursor = point_of_it(v);
	uint32_t index = moved ? stage_position(&v->stage, event) : NONE;
	if (index != NONE)
		go_to_index(v, index);
	if (v->asked_to_verify)
		app_say(app, v->accepted ? SAYS_ACCEPTED : SAYS_REFUSED, v->verdict);
	v->asked_to_verify = false;
	if (v->finding && has_optional(v) &&
	    g_hash_table_add(v->shortened, (gpointer)v->finding))
		app_fewer_switches(app);
}

static void take_reached(struct app *app, struct witness_view *v, const struct reached *r)
{
	struct witness w = { .claim = CLAIM_REACH,
		             .condition = g_strdup(r->condition),
		             .events = g_array_copy(r->events),
		             .pair = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	g_array_append_val(w.pair, r->target);
	v->reached = r;
	both_orders_make(app, v, &w, r->target, witness_view_take);
}

static void take_finding(struct app *app, struct witness_view *v, const struct finding *f)
{
	struct witness w = { .claim = finding_claim(f),
		             .under_missing =
		                     app->session->missing && f->kind == FINDING_DATA_RACE,
		             .events = g_array_copy(f->witness),
		             .pair = finding_claimed(f) };
	if (app->session->weak)
		witness_add_memory(app_trace(app), f, &w);
	v->finding = f;
	v->source = f->witness;
	both_orders_make(app, v, &w, NONE, witness_view_take);
}

/* Set the widths of thread names and event numbers. */
static void measure(struct witness_view *v, const struct trace *t)
{
	enum { LONGEST = 8, MANY = 64 };
	v->name_width = v->number_width = 2;
	for (uint32_t i = 0; i < MIN(t->threads_count, MANY); i++)
		v->name_width = MAX(v->name_width, text_columns(trace_thread_name(t, i)));
	v->name_width = MIN(v->name_width, LONGEST);
	for (uint64_t n = t->events_count; n >= 100; n /= 10)
		v->number_width++;
}

/* Makes other rows for the same sequence; the cursor keeps its event. */
static void remake_rows(struct app *app, struct witness_view *v)
{
	bool at_point = v->list.cursor == point_of_it(v);
	guint index = witness_cursor(v);
	v->point = app->session->point;
	make_rows(v);
	turns_make(v, app_trace(app));
	go_to_index(v, index);
	if (at_point)
		v->list.cursor = point_of_it(v);
}

static void take_proof(struct app *app, struct witness_view *v, const struct finding *f)
{
	const struct session *s = app->session;
	const struct entry *entry = session_selected(s);
	const struct finding *places = entry ? entry->finding : NULL;
	/* a finding is a pair of places, its proof is for one pair of accesses */
	bool one_of_many = places && places != f && places->count > 1 &&
	                   missing_code_verdict(s, entry) != VERDICT_IMPOSSIBLE;
	g_autoptr(GString) lock = g_string_new(NULL);
	v->finding = f;
	prose_add(v->prose, STYLE_NONE, NONE,
	          "✗ %sproved impossible, in any order of this run%s",
	          one_of_many ? "these two accesses, one pair of the finding's: " : "",
	          f->proof && f->proof->same_pairing ? " with the same pairing" : "");
	prose_add(v->prose, STYLE_TEXT, NONE, "%s", "");
	if (describe_common_lock(s, f->first, f->second, lock))
		prose_add(v->prose, STYLE_TEXT, NONE,
		          "Both hold %s, and one lock has one holder.", lock->str);
	if (f->behind != NULL) {
		g_autoptr(GString) behind = g_string_new(NULL);
		finding_append_behind(s->trace, f, behind);
		*behind->str = g_ascii_toupper(*behind->str);
		prose_add(v->prose, STYLE_TEXT, NONE, "%s.", behind->str);
		prose_add(v->prose, STYLE_TEXT, NONE, "%s", "");
	}
	prose_add_proof(v->prose, s, f->proof, app->grid.columns, PROOF_OF_PAIR);
	prose_add(v->prose, STYLE_TEXT, NONE, "%s", "");
	prose_add(v->prose, STYLE_DIM, NONE,
	          "Proof: %s, events %u and %u (what this means: docs/verdicts.md).",
	          f->proof ? proof_method_word(f->proof->method) : "?", f->first, f->second);
}

static void witness_view_show(struct app *app, struct witness_view *v)
{
	const struct session *s = app->session;
	const struct reached *reached = session_reached(s);
	const struct finding *f = reached ? NULL : session_finding(s);
	bool same_pair = v->pair[0] == s->pair[0] && v->pair[1] == s->pair[1] &&
	                 v->missing == s->missing;
	if (same_pair && f == v->finding && f) {
		if (v->source && f->witness != v->source && !v->choosing)
			take_finding(app, v, f);
		else if (v->w.events && v->point != s->point && !v->choosing)
			remake_rows(app, v);
		return;
	}
	if (reached && reached == v->reached)
		return;
	if (same_pair && f && f->witness && f->witness == v->source) {
		v->finding = f; /* of another report, with the same witness */
		return;
	}
	forget(v);
	v->pair[0] = s->pair[0];
	v->pair[1] = s->pair[1];
	v->missing = s->missing;
	measure(v, s->trace);
	bool settled =
	        f && ((f->witness && f->witness->len) || f->verdict == VERDICT_IMPOSSIBLE);
	if (!session_has(s, INDEX_ALL))
		return;
	if (reached)
		take_reached(app, v, reached);
	else if (settled && f->witness && f->witness->len)
		take_finding(app, v, f);
	else if (settled)
		take_proof(app, v, f);
	else if ((f == NULL || f->kind == FINDING_DATA_RACE) && !same_pair)
		app_decide_pair(app, s->pair[0], s->pair[1]);
}

static void witness_show(struct app *app, void *state)
{
	witness_view_show(app, state);
}

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
	g_string_append_printf(text, "%s %u ", one ? "event" : "pair", pair[0]);
	describe_event(app->session, pair[0], text);
	if (!one) {
		g_string_append_printf(text, "  and  %u ", pair[1]);
		describe_event(app->session, pair[1], text);
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

static void witness_fit(struct app *app, void *state, int rows, int columns)
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

static void witness_draw(const struct app *app, const void *state, struct pane p)
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

/* -- requests ----------------------------------------------------------------------- */

static void follow(struct app *app, struct witness_view *v)
{
	struct session *s = app->session;
	if (v->w.events == NULL)
		return;
	s->event = witness_event(v, witness_cursor(v));
	s->frame = session_own_frame(s, s->event);
}

/* Step to the next row of kind `wanted`. */
static void step_to(struct witness_view *v, int direction, uint64_t count, enum row_kind wanted)
{
	for (; count > 0; count--) {
		uint64_t i = v->list.cursor;
		do {
			if (direction < 0 ? i == 0 : i + 1 >= v->rows->len)
				return;
			i += direction;
		} while (g_array_index(v->rows, struct row, i).kind != wanted);
		v->list.cursor = i;
	}
}

static void find_access(struct app *app, struct witness_view *v, int direction,
                        bool (*wanted)(enum op))
{
	const struct trace *t = app_trace(app);
	uint32_t variable = session_variable(app->session, witness_event(v, witness_cursor(v)));
	for (uint64_t i = v->list.cursor; variable != NONE;) {
		if (direction < 0 ? i == 0 : i + 1 >= v->rows->len)
			break;
		i += direction;
		const struct row *row = &g_array_index(v->rows, struct row, i);
		if (row->kind != ROW_EVENT)
			continue;
		uint32_t event = witness_event(v, row->index);
		if (wanted(t->events[event].op) &&
		    session_variable(app->session, event) == variable) {
			v->list.cursor = i;
			return;
		}
	}
	app_say(app, direction < 0 ? SAYS_NO_WRITE_SHOWN : SAYS_NO_READ_SHOWN);
}

/* Schedules can be stepped, replayed and written; proofs cannot. */
static bool needs_schedule(enum request request)
{
	unsigned views = request_table[request].views;
	return views != ANYWHERE && request != REQUEST_SCHEDULE && request != REQUEST_MISSING &&
	       views & IN_WITNESS && request != REQUEST_LEFT;
}

static bool witness_offers(const struct app *app, const void *state, enum request request)
{
	const struct witness_view *v = state;
	bool chooses = request == REQUEST_SCHEDULE || request == REQUEST_VERIFY ||
	               request == REQUEST_EXPORT || request == REQUEST_UNDO;
	if (request == REQUEST_SCHEDULE && app->session->weak)
		return false; /* other schedules of such a run are unknown */
	if (v->choosing)
		return chooses || !needs_schedule(request);
	return v->w.events != NULL || !needs_schedule(request);
}

/* Goes to the point's row, if this schedule contains it; else the trace shows it. */
static bool go_no_return(struct app *app, struct witness_view *v)
{
	for (guint i = 0; i < v->rows->len; i++) {
		if (g_array_index(v->rows, struct row, i).kind != ROW_POINT ||
		    v->list.cursor == i)
			continue;
		v->list.cursor = i;
		g_autoptr(GString) text = g_string_new(NULL);
		return_point_append_instead(v->point, text);
		app_say(app, SAYS_NO_RETURN_IN_SCHEDULE, text->str,
		        return_point_claim(v->point));
		follow(app, v);
		return true;
	}
	return false;
}

static bool without_witness(struct app *app, struct witness_view *v, enum request request,
                            uint64_t count)
{
	if (needs_schedule(request)) {
		app_say(app, SAYS_NO_WITNESS, v->prose->len ? AND_IS_IMPOSSIBLE : "");
		return true;
	}
	if (request == REQUEST_ENTER && v->prose->len) {
		const struct prose_row *row =
		        &g_array_index(v->prose, struct prose_row, v->list.cursor);
		app_go(app, VIEW_TRACE);
		app_goto(app, row->event, false);
		return true;
	}
	if (request == REQUEST_WITNESS) { /* retry when stopped or still open */
		if (v->prose->len == 0 && !app_decides(app, app->session->pair[0]))
			v->pair[0] = NONE;
		witness_view_show(app, v);
		return true;
	}
	return v->prose->len > 0 && list_request(&v->list, request, count);
}

/* Opens the scheduler at the cursor, unless the memory model forbids other schedules. */
static void open_scheduler(struct app *app, struct witness_view *v)
{
	struct error error;
	if (!weak_memory_allows(app->session, "other schedules", &error)) {
		app_complain(app, &error);
		return;
	}
	guint before = v->w.events ? MAX(v->w.events->len, 2) - 2 : 0;
	scheduler_start(app, v, v->w.events ? MIN(witness_cursor(v), before) : 0);
}

static void verify(struct app *app, struct witness_view *v)
{
	v->asked_to_verify = true;
	if (v->reached)
		take_reached(app, v, v->reached);
	else
		take_finding(app, v, v->finding);
}

static bool witness_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct witness_view *v = state;
	if (v->choosing)
		return scheduler_request(app, v, request);
	if (request == REQUEST_SCHEDULE) {
		open_scheduler(app, v);
		return true;
	}
	if (v->w.events == NULL)
		return without_witness(app, v, request, count);
	if (turns_request(app, v, request, count)) {
		follow(app, v);
		return true;
	}
	bool understood = true;
	switch (request) {
	case REQUEST_NEXT:
	case REQUEST_PREVIOUS:
		step_to(v, request == REQUEST_NEXT ? 1 : -1, MAX(count, 1), ROW_EVENT);
		break;
	case REQUEST_SWITCH_NEXT:
	case REQUEST_SWITCH_PREVIOUS:
		step_to(v, request == REQUEST_SWITCH_NEXT ? 1 : -1, MAX(count, 1), ROW_SWITCH);
		break;
	case REQUEST_WRITER:
		find_access(app, v, -1, op_writes);
		break;
	case REQUEST_READER:
		find_access(app, v, 1, op_reads);
		break;
	case REQUEST_CALLS:
		v->all_calls = !v->all_calls;
		remake_rows(app, v);
		app_say(app, v->all_calls ? SAYS_EVERY_CALL : SAYS_CALLS_LEFT_OUT,
		        v->calls_count);
		break;
	case REQUEST_NO_RETURN:
		return go_no_return(app, v);
	case REQUEST_VERIFY:
		verify(app, v);
		break;
	case REQUEST_EXPORT:
		app_command(app, "export");
		break;
	case REQUEST_REPLAY:
		app_command(app, "replay");
		break;
	case REQUEST_DEBUG:
		app_command(app, "replay --gdb");
		break;
	case REQUEST_ENTER:
		follow(app, v);
		app_go(app, VIEW_TRACE);
		return true;
	case REQUEST_WITNESS:
		return true;
	default:
		understood = list_request(&v->list, request, count);
	}
	if (understood)
		follow(app, v);
	return understood;
}

/* Search the schedule shown, not the recording. */
static bool witness_search(struct app *app, void *state, const char *text, int direction)
{
	struct witness_view *v = state;
	if (v->w.events == NULL || v->choosing)
		return false;
	uint32_t index =
	        session_find_in(app->session, v->w.events, witness_cursor(v), text, direction);
	if (index == NONE) {
		app_say(app, SAYS_NOT_FOUND_IN_SCHEDULE,
		        direction > 0 ? SAYS_AFTER : SAYS_BEFORE, text);
		return true;
	}
	if (index < v->fold)
		app_say(app, SAYS_AS_RECORDED);
	go_to_index(v, index);
	follow(app, v);
	return true;
}

static void witness_select(struct app *app, void *state, int row, int column, bool again)
{
	struct witness_view *v = state;
	if (v->choosing) {
		if (row >= 2 && (guint)(row - 2) < v->chooser.choices->len)
			v->choice = (uint32_t)(row - 2);
		return;
	}
	if (v->w.events == NULL && v->prose->len)
		prose_select(v->prose, &v->list, row, v->columns);
	if (v->w.events && v->turns.shown) {
		turns_select(v, row);
		follow(app, v);
		return;
	}
	if (row < 2 || v->w.events == NULL || v->list.top + (row - 2) >= v->rows->len)
		return;
	v->list.cursor = v->list.top + (uint64_t)(row - 2);
	follow(app, v);
}

bool witness_view_at_pair(const struct app *app)
{
	const struct witness_view *v = app->states[VIEW_WITNESS];
	return v && !v->choosing && v->w.events && app->session->pair[0] != NONE &&
	       v->w.claim == CLAIM_RACE &&
	       g_array_index(v->rows, struct row, v->list.cursor).kind == ROW_BOTH;
}

enum witness_place witness_view_at(const struct app *app)
{
	const struct witness_view *v = app->states[VIEW_WITNESS];
	if (v == NULL || v->w.events == NULL)
		return WITNESS_ELSEWHERE;
	if (v->choosing)
		return chooser_is_at_pair(&v->chooser, v->pair) ? WITNESS_SCHEDULED
		                                                : WITNESS_ELSEWHERE;
	return v->list.cursor >= point_of_it(v) ? WITNESS_AT_END
	       : v->list.cursor == 0            ? WITNESS_AT_BEGIN
	                                        : WITNESS_ELSEWHERE;
}

const struct view_ops witness_view = {
	.title = "Witness",
	.open = witness_open,
	.close = witness_close,
	.show = witness_show,
	.fit = witness_fit,
	.draw = witness_draw,
	.request = witness_request,
	.offers = witness_offers,
	.search = witness_search,
	.select = witness_select,
};
