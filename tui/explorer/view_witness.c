/*
 * view_witness.c - the recorded order and the witness side by side, what moved, which
 * context switches are needed and why; stepping through it; being the scheduler.
 */
#include "tui/explorer/app.h"

#include "tui/explorer/command_line.h"
#include "tui/explorer/schedule.h"

#include <string.h>

enum { KEPT_PREFIX = 3, FOLD_FROM = 8 };

enum row_kind { ROW_EVENT, ROW_FOLD, ROW_SWITCH, ROW_BOTH };
struct row {
	enum row_kind kind;
	guint index; /* into the sequence; of a switch, into the switches */
};

struct witness_view {
	uint32_t pair[2];
	const struct finding *finding; /* what is shown, or NULL */
	struct witness w;
	GArray *switches;        /* struct context_switch */
	GArray *rows, *recorded; /* struct row; of `recorded` index is into `sorted` */
	GArray *sorted;          /* uint32_t: the same events as recorded */
	int8_t *moves;
	guint fold; /* so many first events are as recorded and folded */
	struct list list;
	uint64_t recorded_top;
	char *verdict; /* owned: the checker's word */
	bool accepted;
	bool choosing;
	struct chooser chooser;
	uint32_t choice; /* the thread under the cursor */
};

static void *witness_open(struct app *app)
{
	struct witness_view *v = g_new0(struct witness_view, 1);
	v->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
	v->recorded = g_array_new(FALSE, FALSE, sizeof(struct row));
	v->sorted = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	v->pair[0] = v->pair[1] = NONE;
	return v;
}

static void forget(struct witness_view *v)
{
	witness_release(&v->w);
	memset(&v->w, 0, sizeof v->w);
	if (v->switches)
		g_array_free(v->switches, TRUE);
	v->switches = NULL;
	g_free(v->moves);
	v->moves = NULL;
	g_free(v->verdict);
	v->verdict = NULL;
	g_array_set_size(v->rows, 0);
	g_array_set_size(v->recorded, 0);
	g_array_set_size(v->sorted, 0);
	if (v->choosing)
		chooser_release(&v->chooser);
	v->choosing = false;
	v->finding = NULL;
}

static void witness_close(void *state)
{
	struct witness_view *v = state;
	forget(v);
	g_array_free(v->rows, TRUE);
	g_array_free(v->recorded, TRUE);
	g_array_free(v->sorted, TRUE);
	g_free(v);
}

/* -- making the rows ------------------------------------------------------------------ */

static uint32_t event_at(const struct witness_view *v, guint i)
{
	return g_array_index(v->w.events, uint32_t, i);
}

static enum claim claim_of(const struct finding *f)
{
	switch (f->kind) {
	case FINDING_DATA_RACE:
		return f->note && strstr(f->note, "C11") ? CLAIM_C11_RACE : CLAIM_RACE;
	case FINDING_DEADLOCK:
		return CLAIM_DEADLOCK;
	case FINDING_ATOMIC_SET_VIOLATION:
		return CLAIM_ATOMIC;
	default:
		return CLAIM_COV;
	}
}

static void verify(const struct app *app, struct witness_view *v)
{
	GString *reason = g_string_new(NULL);
	struct semantics semantics;
	struct check_options options = session_check_options(app->session, &semantics);
	v->accepted =
	        witness_check(app_trace(app), (const uint32_t *)v->w.events->data,
	                      v->w.events->len, v->w.claim, (const uint32_t *)v->w.pair->data,
	                      v->w.pair->len, &options, reason);
	g_free(v->verdict);
	v->verdict = v->accepted ? g_strdup("checked") : g_strdup(reason->str);
	g_string_free(reason, TRUE);
}

static void add_row(GArray *rows, enum row_kind kind, guint index)
{
	struct row row = { kind, index };
	g_array_append_val(rows, row);
}

static int by_number(gconstpointer a, gconstpointer b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* How many first events are the same in both orders. */
static guint common_prefix(const struct witness_view *v)
{
	guint i = 0;
	while (i < v->sorted->len && g_array_index(v->sorted, uint32_t, i) == event_at(v, i))
		i++;
	return i;
}

static void make_rows(struct witness_view *v)
{
	guint common = common_prefix(v);
	v->fold = common >= FOLD_FROM ? common - KEPT_PREFIX : 0;
	if (v->fold) {
		add_row(v->rows, ROW_FOLD, 0);
		add_row(v->recorded, ROW_FOLD, 0);
	}
	bool race = v->w.claim == CLAIM_RACE || v->w.claim == CLAIM_DEADLOCK;
	guint end = v->w.events->len -
	            MIN(v->w.pair->len, v->w.events->len); /* where they are next */
	for (guint i = v->fold; i < v->w.events->len; i++) {
		for (guint j = 0; j < v->switches->len; j++)
			if (g_array_index(v->switches, struct context_switch, j).at == i &&
			    !(race && i > end))
				add_row(v->rows, ROW_SWITCH, j);
		if (race && i == end)
			add_row(v->rows, ROW_BOTH, i);
		add_row(v->rows, ROW_EVENT, i);
		add_row(v->recorded, ROW_EVENT, i);
	}
}

static void take_finding(struct app *app, struct witness_view *v, const struct finding *f)
{
	v->finding = f;
	v->w.claim = claim_of(f);
	v->w.events = g_array_copy(f->witness);
	v->w.pair = finding_claimed(f);
	v->sorted = (g_array_free(v->sorted, TRUE), g_array_copy(f->witness));
	g_array_sort(v->sorted, by_number);
	v->moves = schedule_moves(v->w.events);
	v->switches = witness_switches(app_trace(app), &v->w);
	make_rows(v);
	verify(app, v);
	v->list.cursor = v->rows->len ? v->rows->len - 1 : 0;
}

static void witness_show(struct app *app, void *state)
{
	struct witness_view *v = state;
	const struct session *s = app->session;
	const struct finding *f = session_finding(s);
	bool same_pair = v->pair[0] == s->pair[0] && v->pair[1] == s->pair[1];
	if (same_pair && f == v->finding && f)
		return;
	forget(v);
	v->pair[0] = s->pair[0];
	v->pair[1] = s->pair[1];
	bool settled =
	        f && ((f->witness && f->witness->len) || f->verdict == VERDICT_IMPOSSIBLE);
	if (!session_has(s, INDEX_ALL))
		return;
	if (settled && f->witness && f->witness->len)
		take_finding(app, v, f);
	else if (settled)
		v->finding = f;
	else if ((f == NULL || f->kind == FINDING_DATA_RACE) && !same_pair)
		app_decide_pair(app, s->pair[0], s->pair[1]);
}

/* -- drawing the two orders ------------------------------------------------------------- */

static void append_event(const struct app *app, const struct witness_view *v, guint i,
                         bool here, GString *out)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	uint32_t event = event_at(v, i);
	const struct event *e = &t->events[event];
	bool racing = v->w.claim == CLAIM_RACE && i + 2 >= v->w.events->len;
	if (!here || !racing || !op_is_access(e->op) || e->flags & EVENT_WIDE) {
		describe_event(s, event, out);
		return;
	}
	/* What the pair sees is open: the value here, or the other's. */
	uint32_t writer, value = schedule_value(s, v->w.events, v->w.events->len - 2, e->target,
	                                        &writer);
	if (value == 0 || op_writes(e->op)) {
		describe_event(s, event, out);
		return;
	}
	uint32_t other = schedule_value(s, v->w.events, v->w.events->len, e->target, &writer);
	trace_append_operand(t, event, out);
	g_string_append(out, " reads ");
	describe_value(t, value, out);
	if (other && other != value) {
		g_string_append(out, " or ");
		describe_value(t, other, out);
	}
}

static void draw_event_row(const struct app *app, const struct witness_view *v, struct pane p,
                           int row, uint32_t event, const char *text, int8_t move)
{
	const struct trace *t = app_trace(app);
	uint32_t thread = t->events[event].thread;
	char number[16];
	g_snprintf(number, sizeof number, "%u", event);
	pane_field(p, row, 1, 8, style_of_thread(thread), trace_thread_name(t, thread));
	bool pair = event == v->pair[0] || event == v->pair[1];
	pane_field_right(p, row, 9, 7, pair ? STYLE_RACE : STYLE_DIM, number);
	/* The words only where they leave the event its room. */
	bool words = p.columns - 17 - 13 >= text_columns(text);
	const char *mark = move == 0 ? ""
	                   : words   ? (move > 0 ? "moved up ▲" : "moved down ▼")
	                             : (move > 0 ? "▲" : "▼");
	int width = text_columns(mark);
	pane_field(p, row, 17, p.columns - 17 - (width ? width + 1 : 0),
	           pair ? STYLE_RACE : style_of_thread(thread), text);
	pane_field_right(p, row, p.columns - width, width, STYLE_MOVED, mark);
}

static const char *const reasons[] = {
	[SWITCH_OPTIONAL] = "optional",
	[SWITCH_READS] = "needed: it reads what is written there",
	[SWITCH_WRITE] = "needed: the old value is read first",
	[SWITCH_LOCK] = "needed: the lock must be free",
	[SWITCH_MUST] = "needed: must-order",
	[SWITCH_END] = "needed: the other has done its part",
};

static void draw_switch(const struct app *app, const struct witness_view *v, struct pane p,
                        int row, guint index)
{
	const struct context_switch *s =
	        &g_array_index(v->switches, struct context_switch, index);
	pane_rule(pane_part(p, row, 0, 1, -1), 0, NULL);
	GString *text = g_string_new(" switch, ");
	g_string_append(text, reasons[s->reason]);
	if (s->because != NONE)
		g_string_append_printf(text, " (%u)", s->because);
	g_string_append_c(text, ' ');
	pane_text(p, row, 2, s->reason == SWITCH_OPTIONAL ? STYLE_DIM : STYLE_KEY, text->str);
	g_string_free(text, TRUE);
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
		pane_text(p, row, 2, STYLE_RACE,
		          v->w.claim == CLAIM_DEADLOCK
		                  ? " all are next, and each waits for another "
		                  : " both are next: they race ");
		break;
	case ROW_EVENT: {
		GString *text = g_string_new(NULL);
		uint32_t event = is_new ? event_at(v, what->index)
		                        : g_array_index(v->sorted, uint32_t, what->index);
		if (is_new)
			append_event(app, v, what->index, true, text);
		else
			describe_event(app->session, event, text);
		draw_event_row(app, v, p, row, event, text->str,
		               is_new ? v->moves[what->index] : 0);
		g_string_free(text, TRUE);
		break;
	}
	}
}

/* The event under the cursor, or the next one below a separator; NONE at a fold. */
static guint cursor_index(const struct witness_view *v)
{
	for (uint64_t i = v->list.cursor; i < v->rows->len; i++) {
		const struct row *row = &g_array_index(v->rows, struct row, i);
		if (row->kind == ROW_EVENT)
			return row->index;
		if (row->kind == ROW_FOLD)
			return v->fold - 1;
	}
	return v->w.events->len - 1;
}

static uint64_t recorded_position(const struct witness_view *v, uint32_t event)
{
	for (guint i = 0; i < v->recorded->len; i++) {
		const struct row *row = &g_array_index(v->recorded, struct row, i);
		if (row->kind == ROW_EVENT &&
		    g_array_index(v->sorted, uint32_t, row->index) == event)
			return i;
	}
	return 0;
}

/* The switch between the two of the pair is none of the schedule's: either may go first. */
static void append_switch_count(const struct witness_view *v, GString *out)
{
	guint needed = 0, all = 0,
	      end = v->w.events->len - MIN(v->w.pair->len, v->w.events->len);
	bool race = v->w.claim == CLAIM_RACE || v->w.claim == CLAIM_DEADLOCK;
	for (guint i = 0; i < v->switches->len; i++) {
		const struct context_switch *s =
		        &g_array_index(v->switches, struct context_switch, i);
		if (race && s->at > end)
			continue;
		all++;
		needed += s->reason != SWITCH_OPTIONAL;
	}
	if (all == 0)
		g_string_append(out, "no switch");
	else if (needed == all)
		g_string_append_printf(out, "%u switch%s, %s", all, all == 1 ? "" : "es",
		                       all == 1   ? "needed"
		                       : all == 2 ? "both needed"
		                                  : "all needed");
	else
		g_string_append_printf(out, "%u switch%s, %u needed", all, all == 1 ? "" : "es",
		                       needed);
}

static void draw_foot(const struct app *app, const struct witness_view *v, struct pane p)
{
	guint step = cursor_index(v) + 1;
	GString *text = g_string_new(NULL);
	pane_rule(p, 0, NULL);
	g_string_append_printf(text, "after step %u of %u: ", step, v->w.events->len);
	schedule_append_locks(app->session, v->w.events, step, text);
	pane_text(p, 1, 1, STYLE_TEXT, text->str);
	g_string_assign(text, "values here: ");
	gsize before = text->len;
	schedule_append_values(app->session, v->w.events, step, text);
	if (text->len > before)
		pane_text(p, 2, 1, STYLE_TEXT, text->str);
	else
		pane_text(p, 2, 1, STYLE_DIM, "values here: none is known yet");
	g_string_assign(text, "cut off: ");
	schedule_append_cut(app->session, v->w.events, text);
	pane_text(p, 3, 1, STYLE_DIM, text->str);
	g_string_free(text, TRUE);
}

enum { FOOT_ROWS = 4 };

static void draw_orders(const struct app *app, const struct witness_view *v, struct pane p)
{
	int half = p.columns * 2 / 5;
	GString *title = g_string_new("witness  ");
	append_switch_count(v, title);
	pane_text(p, 0, 1, STYLE_HEADING, "recorded");
	int at = pane_text(p, 0, half + 2, STYLE_HEADING, title->str);
	pane_format(p, 0, at, v->accepted ? STYLE_NONE : STYLE_ERROR, " · %s %s",
	            v->accepted ? "✓" : "✗", v->verdict);
	g_string_free(title, TRUE);
	pane_rule(p, 1, NULL);
	struct pane left = pane_part(p, 2, 0, p.rows - 2 - FOOT_ROWS, half);
	struct pane right = pane_part(p, 2, half + 1, p.rows - 2 - FOOT_ROWS, -1);
	pane_bar(pane_part(p, 2, 0, p.rows - 2 - FOOT_ROWS, -1), half);
	uint64_t same = recorded_position(v, event_at(v, cursor_index(v)));
	for (int r = 0; r < left.rows && v->recorded_top + r < v->recorded->len; r++) {
		draw_row(app, v, left, r,
		         &g_array_index(v->recorded, struct row, v->recorded_top + r), false);
		if (v->recorded_top + r == same)
			pane_highlight(left, r, ATTR_UNDERLINE);
	}
	for (int r = 0; r < right.rows && v->list.top + r < v->rows->len; r++) {
		draw_row(app, v, right, r, &g_array_index(v->rows, struct row, v->list.top + r),
		         true);
		if (v->list.top + r == v->list.cursor)
			pane_highlight(right, r, ATTR_REVERSE);
	}
	draw_foot(app, v, pane_part(p, p.rows - FOOT_ROWS, 0, -1, -1));
}

/* -- drawing: the scheduler, and what there is without a witness ----------------------------
 */

enum { REASON_ROWS = 4 };

static void draw_choices(const struct app *app, const struct witness_view *v, struct pane p)
{
	const struct chooser *c = &v->chooser;
	const struct trace *t = app_trace(app);
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < c->choices->len; i++) {
		const struct choice *choice = &g_array_index(c->choices, struct choice, i);
		int row = (int)i - MAX((int)v->choice - (p.rows - REASON_ROWS - 2), 0);
		if (row < 0 || row >= p.rows - REASON_ROWS)
			continue;
		g_string_truncate(text, 0);
		g_string_append_printf(text, "%s ", trace_thread_name(t, i));
		if (choice->event == NONE) {
			g_string_append(text, "has no more events");
		} else {
			g_string_append_printf(text, "%u ", choice->event);
			describe_event(app->session, choice->event, text);
		}
		bool pair = choice->event != NONE &&
		            (choice->event == v->pair[0] || choice->event == v->pair[1]);
		pane_text(p, row, 1, choice->enabled ? STYLE_NONE : STYLE_DIM,
		          choice->enabled ? "✓" : "✗");
		pane_text(p, row, 3, pair ? STYLE_RACE : style_of_thread(i), text->str);
		if (i != v->choice)
			continue;
		pane_highlight(p, row, ATTR_REVERSE);
		if (!choice->enabled && choice->event != NONE)
			pane_paragraph(pane_part(p, p.rows - REASON_ROWS, 1, -1, p.columns - 2),
			               0, 0, STYLE_OPEN, choice->reason);
	}
	g_string_free(text, TRUE);
}

static void draw_chooser(const struct app *app, const struct witness_view *v, struct pane p)
{
	const struct chooser *c = &v->chooser;
	int half = p.columns * 2 / 5;
	struct pane left = pane_part(p, 2, 0, p.rows - 2 - FOOT_ROWS, half);
	pane_format(p, 0, 1, STYLE_HEADING, "your schedule: %u events", c->events->len);
	pane_text(p, 0, half + 2, STYLE_HEADING,
	          "who goes next?  Enter takes, u undoes, p ends");
	pane_rule(p, 1, NULL);
	pane_bar(pane_part(p, 2, 0, left.rows, -1), half);
	guint top = c->events->len > (guint)left.rows ? c->events->len - left.rows : 0;
	for (guint i = top; i < c->events->len; i++) {
		uint32_t event = g_array_index(c->events, uint32_t, i);
		GString *text = g_string_new(NULL);
		describe_event(app->session, event, text);
		draw_event_row(app, v, left, (int)(i - top), event, text->str, 0);
		g_string_free(text, TRUE);
	}
	draw_choices(app, v, pane_part(p, 2, half + 1, left.rows, -1));
	struct pane foot = pane_part(p, p.rows - FOOT_ROWS, 0, -1, -1);
	GString *text = g_string_new(NULL);
	pane_rule(foot, 0, NULL);
	schedule_append_locks(app->session, c->events, c->events->len, text);
	pane_text(foot, 1, 1, STYLE_TEXT, text->str);
	g_string_truncate(text, 0);
	schedule_append_values(app->session, c->events, c->events->len, text);
	pane_text(foot, 2, 1, STYLE_TEXT, text->str);
	bool there = chooser_is_at_pair(c, v->pair);
	pane_format(
	        foot, 3, 1, there ? STYLE_RACE : STYLE_NONE, "%s",
	        there ? "both of the pair are next: your schedule is a witness (e writes it)"
	              : "✓ so far a correct reordering");
	g_string_free(text, TRUE);
}

static void draw_proof(const struct app *app, const struct finding *f, struct pane p)
{
	GString *text = g_string_new(NULL);
	const struct entry *entry = session_selected(app->session);
	const struct finding *places = entry ? entry->finding : NULL;
	/* a finding is a pair of places, the proof one of its pairs of accesses */
	bool one_of_many = places && places != f && places->count > 1 &&
	                   places->verdict != VERDICT_IMPOSSIBLE;
	pane_format(p, 0, 1, STYLE_NONE, "✗ %sproved impossible (%s%s%s)",
	            one_of_many ? "the first of the two places' pairs, others are open: " : "",
	            f->proof ? f->proof->method : "?",
	            f->proof && f->proof->given ? ", given the " : "",
	            f->proof && f->proof->given ? f->proof->given : "");
	int row = 2;
	guint steps = f->proof && f->proof->cycle.steps ? f->proof->cycle.steps->len : 0;
	if (steps)
		pane_text(p, row++, 1, STYLE_TEXT,
		          "A run in which both are next would need all of this:");
	for (guint i = 0; i < steps && row < p.rows; i++) {
		g_string_truncate(text, 0);
		describe_step(app->session,
		              &g_array_index(f->proof->cycle.steps, struct step, i), text);
		row += pane_paragraph(pane_part(p, row, 3, -1, p.columns - 4), 0, 0, STYLE_TEXT,
		                      text->str);
	}
	if (steps && row < p.rows)
		pane_text(p, row, 1, STYLE_TEXT,
		          "and that goes round in a circle, or contradicts itself.");
	g_string_free(text, TRUE);
}

static void draw_waiting(const struct app *app, struct pane p)
{
	const struct finding *f = session_finding(app->session);
	GString *text = g_string_new(NULL);
	const uint32_t *pair = app->session->pair;
	g_string_append_printf(text, "pair %u ", pair[0]);
	describe_event(app->session, pair[0], text);
	g_string_append_printf(text, "  and  %u ", pair[1]);
	describe_event(app->session, pair[1], text);
	pane_text(p, 0, 1, STYLE_HEADING, text->str);
	if (f && f->verdict == VERDICT_HAPPENED)
		pane_paragraph(
		        pane_part(p, 2, 1, -1, p.columns - 2), 0, 0, STYLE_TEXT,
		        "No witness is needed: it happened in this very run. T shows the "
		        "run, s the source, C the cycle of units.");
	else if (!jobs_idle(&app->jobs))
		pane_text(p, 2, 1, STYLE_BUSY,
		          "looking for a witness, or a proof that there is none");
	else if (f && f->verdict == VERDICT_UNKNOWN)
		pane_text(p, 2, 1, STYLE_OPEN, "? undecided: no witness, no proof");
	else
		pane_text(p, 2, 1, STYLE_TEXT, "there is no witness for this pair");
	g_string_free(text, TRUE);
}

static void witness_fit(struct app *app, void *state, int rows, int columns)
{
	struct witness_view *v = state;
	if (v->w.events == NULL)
		return;
	int room = rows - 2 - FOOT_ROWS;
	list_fit(&v->list, v->rows->len, room);
	uint64_t same = recorded_position(v, event_at(v, cursor_index(v)));
	struct list left = { .cursor = same, .top = v->recorded_top };
	list_fit(&left, v->recorded->len, room);
	v->recorded_top = left.top;
}

static void witness_draw(const struct app *app, const void *state, struct pane p)
{
	const struct witness_view *v = state;
	if (v->choosing)
		draw_chooser(app, v, p);
	else if (v->w.events)
		draw_orders(app, v, p);
	else if (v->finding && v->finding->verdict == VERDICT_IMPOSSIBLE)
		draw_proof(app, v->finding, p);
	else
		draw_waiting(app, p);
}

/* -- requests ----------------------------------------------------------------------- */

static void follow(struct app *app, struct witness_view *v)
{
	if (v->w.events)
		app->session->event = event_at(v, cursor_index(v));
}

static void start_choosing(struct app *app, struct witness_view *v)
{
	GString *reason = g_string_new(NULL);
	guint count = v->w.events ? MIN(cursor_index(v), v->w.events->len - 2) : 0;
	if (!session_has(app->session, INDEX_ALL)) {
		app_say(app, "the index is still being built");
	} else if (chooser_init(&v->chooser, app->session, v->w.events, count, reason)) {
		v->choosing = true;
		v->choice = 0;
		app_say(app, "you are the scheduler");
	} else {
		chooser_release(&v->chooser);
		app_say(app, "the checker refuses: %s", reason->str);
	}
	g_string_free(reason, TRUE);
}

/* The reader's schedule becomes the witness when it has come to the pair. */
static bool adopt(struct app *app, struct witness_view *v)
{
	if (!chooser_is_at_pair(&v->chooser, v->pair)) {
		app_say(app, "both of the pair must be next for it to be a witness");
		return false;
	}
	GArray *events = g_array_copy(v->chooser.events);
	g_array_append_vals(events, v->pair, 2);
	struct finding *f = finding_new(FINDING_DATA_RACE, v->pair[0], v->pair[1]);
	f->verdict = VERDICT_RACE;
	f->count = 1;
	f->witness = events;
	f->by = "you";
	GString *reason = g_string_new(NULL);
	bool good = witness_check(app_trace(app), (const uint32_t *)events->data, events->len,
	                          CLAIM_RACE, v->pair, 2, NULL, reason);
	if (good) {
		struct report *report = report_new(app_trace(app), "you");
		report_add(report, f);
		session_settle(app->session, report);
		witness_show(app, v);
		app_say(app, "your schedule is a checked witness");
	} else {
		app_say(app, "the checker refuses: %s", reason->str);
		finding_free(f);
	}
	g_string_free(reason, TRUE);
	return good;
}

static bool choosing_request(struct app *app, struct witness_view *v, enum request request)
{
	uint32_t threads = (uint32_t)v->chooser.choices->len;
	GString *reason = g_string_new(NULL);
	bool understood = true;
	switch (request) {
	case REQUEST_DOWN:
	case REQUEST_TAB:
		v->choice = (v->choice + 1) % MAX(threads, 1);
		break;
	case REQUEST_UP:
		v->choice = (v->choice + threads - 1) % MAX(threads, 1);
		break;
	case REQUEST_ENTER:
	case REQUEST_NEXT:
		if (!chooser_take(&v->chooser, v->choice, reason))
			app_say(app, "not now: %s", reason->str);
		break;
	case REQUEST_UNDO:
	case REQUEST_PREVIOUS:
		chooser_undo(&v->chooser);
		break;
	case REQUEST_EXPORT:
		if (adopt(app, v))
			commands_run(app, "export");
		break;
	case REQUEST_VERIFY:
		adopt(app, v);
		break;
	case REQUEST_SCHEDULE:
	case REQUEST_BACK:
	case REQUEST_QUIT:
		chooser_release(&v->chooser);
		v->choosing = false;
		break;
	default:
		understood = false;
	}
	g_string_free(reason, TRUE);
	return understood;
}

/* Step to the next row that `wanted` says yes to. */
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
	uint32_t variable = session_variable(app->session, event_at(v, cursor_index(v)));
	for (uint64_t i = v->list.cursor; variable != NONE;) {
		if (direction < 0 ? i == 0 : i + 1 >= v->rows->len)
			break;
		i += direction;
		const struct row *row = &g_array_index(v->rows, struct row, i);
		if (row->kind != ROW_EVENT)
			continue;
		uint32_t event = event_at(v, row->index);
		if (wanted(t->events[event].op) &&
		    session_variable(app->session, event) == variable) {
			v->list.cursor = i;
			return;
		}
	}
	app_say(app, direction < 0 ? "no write of it before, in what is shown of this schedule"
	                           : "nobody reads it after this in this schedule");
}

static bool witness_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct witness_view *v = state;
	if (v->choosing)
		return choosing_request(app, v, request);
	if (request == REQUEST_SCHEDULE) {
		start_choosing(app, v);
		return true;
	}
	if (v->w.events == NULL)
		return request == REQUEST_WITNESS;
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
	case REQUEST_VERIFY:
		verify(app, v);
		app_say(app, v->accepted ? "the independent checker accepts it" : "refused: %s",
		        v->verdict);
		break;
	case REQUEST_EXPORT:
		commands_run(app, "export");
		break;
	case REQUEST_REPLAY:
		commands_run(app, "replay");
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

static void witness_select(struct app *app, void *state, int row, int column, bool again)
{
	struct witness_view *v = state;
	if (v->choosing) {
		if (row >= 2 && (guint)(row - 2) < v->chooser.choices->len)
			v->choice = (uint32_t)(row - 2);
		return;
	}
	if (row < 2 || v->w.events == NULL || v->list.top + (row - 2) >= v->rows->len)
		return;
	v->list.cursor = v->list.top + (uint64_t)(row - 2);
	follow(app, v);
}

enum witness_place witness_view_at(const struct app *app)
{
	const struct witness_view *v = app->states[VIEW_WITNESS];
	if (v == NULL || v->w.events == NULL)
		return WITNESS_ELSEWHERE;
	if (v->choosing)
		return chooser_is_at_pair(&v->chooser, v->pair) ? WITNESS_SCHEDULED
		                                                : WITNESS_ELSEWHERE;
	return v->list.cursor + 1 >= v->rows->len ? WITNESS_AT_END
	       : v->list.cursor == 0              ? WITNESS_AT_BEGIN
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
	.select = witness_select,
};
