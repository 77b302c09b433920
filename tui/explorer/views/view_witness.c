/*
 * view_witness.c - recorded order and witness: the rows of both, and what keys do with them.
 * witness_draw.c draws them.
 */
#include "engine/base/search.h"
#include "engine/predict/ladder/behind.h"
#include "engine/predict/weak_races.h"
#include "tui/explorer/words/weak_memory.h"
#include "tui/explorer/views/view_witness.h"

#include "tui/explorer/words/missing_code.h"
#include "tui/explorer/exploration/return_point.h"
#include "tui/explorer/settings.h"
#include "tui/explorer/messages.h"

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
