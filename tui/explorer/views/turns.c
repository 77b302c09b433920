/*
 * turns.c - a witness in short: a line for each block of events without a context switch, in
 * lanes. The cursor is shared with the list of events, so that steps, values and states are the
 * same.
 */
#include "tui/explorer/views/view_witness.h"

#include "tui/explorer/exploration/return_point.h"
#include "tui/explorer/messages.h"
#include "tui/explorer/words/story.h"

#include <string.h>

void turns_init(struct turns *turns)
{
	turns->list = g_array_new(FALSE, FALSE, sizeof(struct turn));
	turns->lanes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

void turns_release(struct turns *turns)
{
	g_array_free(turns->list, TRUE);
	g_array_free(turns->lanes, TRUE);
}

static const struct turn *turn_at(const struct witness_view *v, uint64_t i)
{
	return &g_array_index(v->turns.list, struct turn, i);
}

static uint32_t event_at(const struct witness_view *v, guint i)
{
	return g_array_index(v->w.events, uint32_t, i);
}

/* -- construction -------------------------------------------------------------------------- */

/* Extends the turn up to there, with events that have no row. */
static void extend(const struct witness_view *v, struct turn *turn, guint end)
{
	for (; turn->end < end; turn->end++)
		turn->moved += v->moves[turn->end];
}

/* Ends the last turn where another one begins. */
static void end_turn(struct witness_view *v, guint end)
{
	GArray *list = v->turns.list;
	struct turn *last = list->len ? &g_array_index(list, struct turn, list->len - 1) : NULL;
	if (last && last->kind == ROW_SWITCH)
		extend(v, last, end);
}

static void add_turn(struct witness_view *v, enum row_kind kind, guint begin, guint end,
                     uint64_t row)
{
	end_turn(v, begin);
	struct turn turn = { kind, begin, end, row, row, NONE, 0 };
	g_array_append_val(v->turns.list, turn);
}

/* Extend the last turn by the event, or begin one. */
static void add_event(struct witness_view *v, const struct trace *t, guint index, uint64_t row)
{
	GArray *list = v->turns.list;
	struct turn *last = list->len ? &g_array_index(list, struct turn, list->len - 1) : NULL;
	bool goes_on = last && last->kind == ROW_SWITCH &&
	               t->events[event_at(v, index)].thread ==
	                       t->events[event_at(v, last->begin)].thread;
	if (!goes_on) {
		add_turn(v, ROW_SWITCH, index, index, row);
		last = &g_array_index(list, struct turn, list->len - 1);
	}
	extend(v, last, index + 1);
	last->last = row;
}

static void make_lanes(struct witness_view *v, const struct trace *t)
{
	g_autofree uint8_t *seen = g_new0(uint8_t, t->threads_count + 1);
	for (guint i = v->fold; i < v->w.events->len; i++)
		seen[t->events[event_at(v, i)].thread] = 1;
	for (uint32_t i = 0; i < t->threads_count; i++)
		if (seen[i])
			g_array_append_val(v->turns.lanes, i);
}

void turns_make(struct witness_view *v, const struct trace *t)
{
	bool claimed = false; /* events of the pair get a turn each */
	g_array_set_size(v->turns.list, 0);
	g_array_set_size(v->turns.lanes, 0);
	v->turns.top = 0;
	for (guint r = 0; r < v->rows->len; r++) {
		const struct row *row = &g_array_index(v->rows, struct row, r);
		guint count = v->turns.list->len;
		if (row->kind == ROW_FOLD)
			add_turn(v, ROW_FOLD, 0, v->fold, r);
		else if (row->kind == ROW_SWITCH && count)
			g_array_index(v->turns.list, struct turn, count - 1).why = row->index;
		else if (row->kind == ROW_BOTH || row->kind == ROW_POINT)
			add_turn(v, row->kind, row->index, row->index, r);
		else if (row->kind == ROW_EVENT && claimed)
			add_turn(v, ROW_EVENT, row->index, row->index + 1, r);
		else if (row->kind == ROW_EVENT)
			add_event(v, t, row->index, r);
		claimed = claimed || row->kind == ROW_BOTH;
	}
	end_turn(v, v->w.events->len);
	make_lanes(v, t);
}

/* -- cursor -------------------------------------------------------------------------------- */

/* The last turn that begins at or before the cursor. */
static uint64_t turn_of_cursor(const struct witness_view *v)
{
	uint64_t low = 0, high = v->turns.list->len;
	while (high - low > 1) {
		uint64_t middle = (low + high) / 2;
		if (turn_at(v, middle)->first <= v->list.cursor)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int rows_of(const struct witness_view *v, int rows)
{
	return rows - 2 - witness_foot_rows(v, rows);
}

void turns_fit(struct witness_view *v, int rows)
{
	int room = rows_of(v, rows);
	struct list list = { .cursor = turn_of_cursor(v), .top = v->turns.top };
	list_fit(&list, v->turns.list->len, room);
	/* including the separator and the pair */
	uint64_t below = list.cursor + 1 + v->w.pair->len;
	if (turn_at(v, list.cursor)->kind == ROW_BOTH &&
	    below > list.top + (uint64_t)MAX(room, 0) && below <= v->turns.list->len)
		list.top = below - (uint64_t)room;
	v->turns.top = list.top;
}

static void go_to_turn(struct witness_view *v, uint64_t i)
{
	if (i < v->turns.list->len)
		v->list.cursor = turn_at(v, i)->last;
}

bool turns_request(struct app *app, struct witness_view *v, enum request request,
                   uint64_t count)
{
	struct list list = { turn_of_cursor(v), v->turns.top, v->turns.list->len,
		             MAX(v->list.rows, 1) };
	if (request == REQUEST_TURNS) {
		v->turns.shown = !v->turns.shown;
		app_say(app, v->turns.shown ? SAYS_TURNS : SAYS_EVERY_EVENT);
		return true;
	}
	if (!v->turns.shown)
		return false;
	if (request == REQUEST_ENTER) {
		v->turns.shown = false;
		v->list.cursor = turn_at(v, list.cursor)->first;
		return true;
	}
	if (request == REQUEST_NEXT || request == REQUEST_SWITCH_NEXT)
		request = REQUEST_DOWN;
	else if (request == REQUEST_PREVIOUS || request == REQUEST_SWITCH_PREVIOUS)
		request = REQUEST_UP;
	if (!list_request(&list, request, count))
		return false;
	go_to_turn(v, MIN(list.cursor, list.count - 1));
	return true;
}

bool turns_tell(const struct app *app, const struct witness_view *v, GString *out)
{
	const struct turn *turn = turn_at(v, turn_of_cursor(v));
	if (!v->turns.shown || turn->kind != ROW_SWITCH)
		return false;
	uint32_t thread = app_trace(app)->events[event_at(v, turn->begin)].thread;
	g_string_append_printf(out, "%s: ", session_thread(app->session, thread));
	story_append_turn(&v->stage, turn->begin, turn->end, v->pair[0], out);
	if (turn->why != NONE) {
		g_string_append(out, ". Then a switch, ");
		append_switch_reason(
		        app->session, v,
		        &g_array_index(v->switches, struct context_switch, turn->why), out);
	}
	return true;
}

void turns_select(struct witness_view *v, int row)
{
	if (row >= 2)
		go_to_turn(v, v->turns.top + (uint64_t)(row - 2));
}

/* -- drawing ------------------------------------------------------------------------ */

enum { LANE = 2, NUMBER = 9, LEFT_FOR_WORDS = 56 };

/* Number of lanes that leave space for the text, or 0. */
static guint lanes_shown(const struct witness_view *v, int columns)
{
	int room = (columns - LEFT_FOR_WORDS) / LANE;
	return (int)v->turns.lanes->len <= room ? v->turns.lanes->len : 0;
}

static int draw_lanes(const struct witness_view *v, struct pane p, int row, uint32_t thread)
{
	guint count = lanes_shown(v, p.columns);
	for (guint i = 0; i < count; i++) {
		uint32_t lane = g_array_index(v->turns.lanes, uint32_t, i);
		pane_text(p, row, 1 + (int)i * LANE,
		          lane == thread ? style_of_thread(lane) : STYLE_DIM,
		          lane == thread ? "█" : "│");
	}
	return 1 + (int)count * LANE;
}

/* The first and last event of a turn with a source line, or its ends. */
static void find_ends(const struct trace *t, const struct witness_view *v,
                      const struct turn *turn, uint32_t ends[2])
{
	guint first = turn->begin, last = turn->end - 1;
	while (first < last && t->locations[t->events[event_at(v, first)].location].line == 0)
		first++;
	while (last > first && t->locations[t->events[event_at(v, last)].location].line == 0)
		last--;
	ends[0] = event_at(v, first);
	ends[1] = event_at(v, last);
}

/* "deposit bank.c:21 … :23" */
static void append_places(const struct app *app, const struct witness_view *v,
                          const struct turn *turn, GString *out)
{
	const struct trace *t = app_trace(app);
	uint32_t ends[2];
	g_autoptr(GString) from = g_string_new(NULL), to = g_string_new(NULL);
	find_ends(t, v, turn, ends);
	describe_place(app->session, ends[0], from);
	describe_place(app->session, ends[1], to);
	g_string_append(out, from->str);
	const char *colon = strrchr(from->str, ':');
	bool same_file = colon && strncmp(from->str, to->str, (size_t)(colon - from->str)) == 0;
	if (strcmp(from->str, to->str) != 0)
		g_string_append_printf(out, " … %s",
		                       same_file ? to->str + (colon - from->str) : to->str);
}

static void draw_turn(const struct app *app, const struct witness_view *v,
                      const struct turn *turn, struct pane p, int row)
{
	const struct trace *t = app_trace(app);
	uint32_t thread = t->events[event_at(v, turn->begin)].thread;
	char number[32];
	int at = draw_lanes(v, p, row, thread);
	at = pane_field(p, row, at, v->name_width, style_of_thread(thread),
	                trace_thread_name(t, thread));
	at = pane_field_right(p, row, at, NUMBER, STYLE_DIM,
	                      grouped(turn->end - turn->begin, number)) +
	     1;
	const char *mark = turn->moved > 0 ? "▲" : turn->moved < 0 ? "▼" : "";
	pane_text(p, row, at, STYLE_MOVED, mark);
	at += 2;
	g_autoptr(GString) text = g_string_new(NULL), places = g_string_new(NULL);
	append_places(app, v, turn, places);
	int room = p.columns - at, right = 0;
	if (turn->why != NONE) {
		const struct context_switch *s =
		        &g_array_index(v->switches, struct context_switch, turn->why);
		append_switch_reason(app->session, v, s, text);
		right = MIN(text_columns(text->str),
		            MAX(room / 2, room - 1 - text_columns(places->str)));
		pane_field(p, row, p.columns - right, right,
		           s->reason == SWITCH_OPTIONAL ? STYLE_DIM : STYLE_KEY, text->str);
	}
	pane_field(p, row, at, room - right - (right ? 1 : 0), STYLE_TEXT, places->str);
}

static void draw_line(const struct app *app, const struct witness_view *v,
                      const struct turn *turn, struct pane p, int row)
{
	const struct trace *t = app_trace(app);
	char number[32];
	if (turn->kind == ROW_SWITCH) {
		draw_turn(app, v, turn, p, row);
	} else if (turn->kind == ROW_FOLD) {
		int at = draw_lanes(v, p, row, NONE) + v->name_width;
		at = pane_field_right(p, row, at, NUMBER, STYLE_DIM,
		                      grouped(turn->end, number));
		pane_text(p, row, at + 3, STYLE_DIM, "the first, as recorded");
	} else if (turn->kind == ROW_POINT) {
		pane_rule(pane_part(p, row, 0, 1, -1), 0, NULL);
		pane_format(p, row, 2, STYLE_RACE, " the last chance: from here on %s ",
		            return_point_claim(v->point));
	} else if (turn->kind == ROW_BOTH) {
		pane_rule(pane_part(p, row, 0, 1, -1), 0, NULL);
		pane_text(p, row, 2, STYLE_RACE, witness_claim_words(v));
	} else {
		uint32_t event = event_at(v, turn->begin);
		g_autoptr(GString) text = g_string_new(NULL);
		g_string_append_printf(text, "%u ", event);
		g_string_append(text, trace_thread_name(t, t->events[event].thread));
		g_string_append_c(text, ' ');
		append_witness_event(app, v, turn->begin, text);
		g_string_append(text, "   ");
		describe_place(app->session, event, text);
		int at = draw_lanes(v, p, row, t->events[event].thread);
		pane_text(p, row, at, STYLE_RACE, text->str);
	}
}

void turns_draw(const struct app *app, const struct witness_view *v, struct pane p)
{
	int foot = witness_foot_rows(v, p.rows);
	struct pane body = pane_part(p, 2, 0, rows_of(v, p.rows), -1);
	uint64_t cursor = turn_of_cursor(v);
	g_autoptr(GString) title = g_string_new("the witness by turns  ");
	append_switch_count(v, title);
	int at = pane_text(p, 0, 1, STYLE_HEADING, title->str);
	pane_format(p, 0, at, v->accepted ? STYLE_NONE : STYLE_ERROR, " · %s %s",
	            v->accepted ? "✓" : "✗", v->verdict);
	pane_rule(p, 1, NULL);
	for (int r = 0; r < body.rows && v->turns.top + (uint64_t)r < v->turns.list->len; r++) {
		draw_line(app, v, turn_at(v, v->turns.top + (uint64_t)r), body, r);
		if (v->turns.top + (uint64_t)r == cursor) {
			pane_highlight(body, r, ATTR_REVERSE);
			pane_text(body, r, 0, STYLE_HERE, "▸");
		}
	}
	draw_witness_foot(app, v, pane_part(p, p.rows - foot, 0, -1, -1));
}
