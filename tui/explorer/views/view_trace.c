/*
 * view_trace.c - the run: a lane for each thread, time downwards; around the selected event its
 * writer or readers, its critical section and its race partners.
 */
#include "tui/explorer/words/weak_memory.h"
#include "tui/explorer/views/state_pane.h"
#include "tui/explorer/settings.h"
#include "tui/explorer/words/missing_code.h"
#include "tui/explorer/exploration/return_point.h"
#include "tui/explorer/messages.h"

#include <string.h>

enum {
	LANE_MINIMUM = 15,
	LANE_BESIDE_STATE = 20,
	PARTNERS = 32,
	FOOT_ROWS = 3,
	READERS_LIMIT = 4096
};

struct trace_state {
	GArray *rows; /* uint32_t: the visible events */
	bool library; /* accesses of a library's own variables lie between them */
	uint32_t top; /* the first of them */
	/* -- related to the selected event */
	uint32_t writer, section[2]; /* the write it reads from; its critical section; NONE */
	uint32_t readers[PARTNERS], partners[PARTNERS];
	const char *relation; /* relation to the first partner: "races with" */
	unsigned reader_count, partner_count;
	GArray *state; /* rows of the state pane */
};

static void *trace_open_view(struct app *app)
{
	struct trace_state *v = g_new0(struct trace_state, 1);
	v->rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return v;
}

static void trace_close_view(void *state)
{
	struct trace_state *v = state;
	g_array_free(v->rows, TRUE);
	if (v->state)
		g_array_free(v->state, TRUE);
	g_free(v);
}

/* -- events related to the selected one ---------------------------------------------------- */

static void find_readers(const struct session *s, struct trace_state *v)
{
	const struct trace *t = s->trace;
	uint32_t e = s->event;
	if (!op_writes(t->events[e].op))
		return;
	for (int n = 0; n < READERS_LIMIT && v->reader_count < PARTNERS; n++) {
		uint32_t next = session_step(s, e, STEP_VARIABLE, 1, 1);
		if (next == e)
			return;
		e = next;
		if (s->weak) { /* a later store need not hide it from all threads */
			if (op_reads(t->events[e].op) &&
			    trace_writers(t, e).items[0] == s->event)
				v->readers[v->reader_count++] = e;
			continue;
		}
		if (op_reads(t->events[e].op))
			v->readers[v->reader_count++] = e;
		if (op_writes(t->events[e].op))
			return;
	}
}

/* The innermost uninstrumented call around the event, or NONE. */
static uint32_t missing_inside(const struct session *s, uint32_t event)
{
	return s->calls ? missing_calls_inside(s->calls, s->trace, event) : NONE;
}

static void find_section(const struct session *s, struct trace_state *v)
{
	const struct trace *t = s->trace;
	const struct event *e = &t->events[s->event];
	v->section[0] = v->section[1] = NONE;
	uint32_t acquire = NONE;
	if (op_acquires(e->op) && !event_inert(e))
		acquire = s->event;
	else if (op_releases(e->op) && !event_inert(e))
		acquire = t->index->partner[s->event];
	if (acquire == NONE) {
		g_autoptr(GArray) held = session_locks_held(s, s->event);
		for (guint i = 0; i < held->len; i++)
			if (t->events[g_array_index(held, uint32_t, i)].thread == e->thread)
				acquire = g_array_index(held, uint32_t, i);
	}
	if (acquire == NONE)
		acquire = missing_inside(s, s->event);
	if (acquire != NONE) {
		v->section[0] = acquire;
		v->section[1] = t->index->partner[acquire];
	}
}

/* Relation of a finding's first event to its second, and back. */
static const char *const relations[][2] = {
	[FINDING_DATA_RACE] = { "races with", "races with" },
	[FINDING_COMMUTATIVITY_RACE] = { "does not commute with", "does not commute with" },
	[FINDING_ORDER_VIOLATION] = { "may as well come after", "may as well come before" },
	[FINDING_USE_AFTER_FREE] = { "may as well come after", "may as well come before" },
	[FINDING_ATOMIC_SET_VIOLATION] = { "is on a cycle with", "is on a cycle with" },
	[FINDING_DEADLOCK] = { "deadlocks with", "deadlocks with" },
	[FINDING_STUCK] = { "is stuck with", "is stuck with" },
	[FINDING_LOCK_MISUSE] = { "comes before its misuse", "misuses it after" },
	[FINDING_UNINITIALISED_READ] = { "allocates the block", "reads it unwritten" },
	[FINDING_CRASH] = { "is the last before the crash", "is the last before the crash" },
	[FINDING_ASSERTION] = { "is the last before the failed check",
	                        "is the last before the failed check" },
	[FINDING_EXIT] = { "is the last before the exit", "is the last before the exit" },
};

static void find_partners(const struct session *s, struct trace_state *v)
{
	for (guint i = 0; i < s->entries->len && v->partner_count < PARTNERS; i++) {
		const struct entry *entry = s->entries->pdata[i];
		const struct finding *f = entry->finding;
		enum verdict verdict = missing_code_verdict(s, entry);
		if (verdict != VERDICT_RACE && verdict != VERDICT_HAPPENED)
			continue;
		if (f->first != s->event && f->second != s->event)
			continue;
		if (v->partner_count == 0)
			v->relation = relations[f->kind][f->second == s->event];
		v->partners[v->partner_count++] = f->first == s->event ? f->second : f->first;
	}
}

static void trace_show(struct app *app, void *state)
{
	struct trace_state *v = state;
	const struct session *s = app->session;
	v->writer = NONE;
	v->reader_count = v->partner_count = 0;
	v->section[0] = v->section[1] = NONE;
	if (s->trace->events_count == 0)
		return;
	find_partners(s, v);
	if (session_has(s, INDEX_ALL)) {
		const struct event *e = &s->trace->events[s->event];
		if (op_reads(e->op) && !event_inert(e))
			v->writer = trace_writers(s->trace, s->event).items[0];
		find_section(s, v);
		find_readers(s, v);
		app_need_order(app, s->order);
	}
	if (v->state)
		g_array_free(v->state, TRUE);
	v->state =
	        state_rows(app, STATE_THREADS | STATE_MEMORY | STATE_VALUES | STATE_CLOCKS, 0);
}

/* -- visible events ------------------------------------------------------------------------ */

/* The event `count` visible events before `event`, as far as possible. */
static uint32_t back_from(const struct session *s, uint32_t event, int count)
{
	uint32_t top = event;
	for (uint32_t e = event; count > 0 && e > 0;)
		if (!session_hides(s, --e)) {
			top = e;
			count--;
		}
	return top;
}

static void fill_rows(const struct session *s, struct trace_state *v, int rows)
{
	g_array_set_size(v->rows, 0);
	v->library = false;
	for (uint64_t e = v->top; e < s->trace->events_count && (int)v->rows->len < rows; e++) {
		uint32_t event = (uint32_t)e;
		if (!session_hides(s, event))
			g_array_append_val(v->rows, event);
		else
			v->library |= session_hides_library(s, event);
	}
}

static bool on_screen(const struct trace_state *v, uint32_t event)
{
	return v->rows->len && event >= g_array_index(v->rows, uint32_t, 0) &&
	       event <= g_array_index(v->rows, uint32_t, v->rows->len - 1);
}

static void trace_fit(struct app *app, void *state, int rows, int columns)
{
	struct trace_state *v = state;
	const struct session *s = app->session;
	if (s->trace->events_count == 0)
		return;
	int room = MAX(rows - 2 - FOOT_ROWS, 1);
	fill_rows(s, v, room);
	if (on_screen(v, s->event) && ((int)v->rows->len == room || v->top == 0))
		return;
	uint32_t first = v->rows->len ? g_array_index(v->rows, uint32_t, 0) : 0;
	uint32_t last = v->rows->len ? g_array_index(v->rows, uint32_t, v->rows->len - 1) : 0;
	if (s->event + 1 == first)
		v->top = s->event; /* scroll by a line */
	else if (s->event == last + 1)
		v->top = back_from(s, s->event, room - 1);
	else
		v->top = back_from(s, s->event, room / 2);
	fill_rows(s, v, room);
	if ((int)v->rows->len < room) {
		v->top = back_from(s, v->top, room - (int)v->rows->len);
		fill_rows(s, v, room);
	}
}

/* -- lanes -------------------------------------------------------------------------- */

struct lanes {
	int number_width, begin, width; /* width of a lane; 0: too many lanes, one column for
	                                 * all */
	int end;                        /* column of the state pane's bar */
	int name_width;
	uint32_t count;
	uint32_t shown[64]; /* threads */
};

static int digits_of(uint64_t n)
{
	int digits = 1;
	for (; n >= 10; n /= 10)
		digits++;
	return digits;
}

static struct lanes lanes_of(const struct app *app, int columns)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	struct lanes l = { .number_width = MAX(digits_of(t->events_count), 5) };
	l.begin = l.number_width + 3;
	for (uint32_t i = 0; i < t->threads_count && l.count < G_N_ELEMENTS(l.shown); i++)
		if (!s->hidden[i])
			l.shown[l.count++] = i;
	int pane = columns >= 160 ? 48 : columns >= 100 ? 34 : 26, count = MAX((int)l.count, 1);
	int without = (columns - l.begin) / count, end = columns - pane - 1;
	bool many = l.count == G_N_ELEMENTS(l.shown) || without < LANE_MINIMUM;
	bool has_pane =
	        !settings_project() && (many || (end - l.begin) / count >= LANE_BESIDE_STATE);
	end = split_at(app, SPLIT_STATE, columns, end,
	               l.begin + LANE_MINIMUM * (many ? 2 : count), 12);
	l.end = has_pane ? end : columns;
	l.width = many ? 0 : MIN(has_pane ? (end - l.begin) / count : without, 44);
	l.name_width = many ? session_threads_columns(s, columns >= 100 ? 20 : 12) : 0;
	return l;
}

static int lane_of(const struct lanes *l, uint32_t thread)
{
	for (uint32_t i = 0; i < l->count; i++)
		if (l->shown[i] == thread)
			return (int)i;
	return 0;
}

static void draw_heads(const struct app *app, const struct lanes *l, struct pane p,
                       const char *title)
{
	pane_field_right(p, 0, 1, l->number_width, STYLE_HEADING, "event");
	if (l->width == 0) {
		pane_text(p, 0, l->begin, STYLE_HEADING, "thread");
	} else {
		for (uint32_t i = 0; i < l->count; i++)
			pane_field(
			        p, 0, l->begin + (int)i * l->width + 2, l->width - 3,
			        style_of_thread(l->shown[i]),
			        session_thread_within(app->session, l->shown[i], l->width - 3));
	}
	pane_rule(pane_part(p, 1, 0, 1, l->end), 0, title);
}

static bool among(const uint32_t *events, unsigned count, uint32_t event)
{
	for (unsigned i = 0; i < count; i++)
		if (events[i] == event)
			return true;
	return false;
}

/* The sign beside the number: the event's relation to the selected one. */
static const char *relation(const struct session *s, const struct trace_state *v,
                            uint32_t event, enum style *style)
{
	*style = STYLE_RACE;
	if (event == s->event)
		return "▸";
	if (among(v->partners, v->partner_count, event) ||
	    ((s->event == s->pair[0] && event == s->pair[1]) ||
	     (s->event == s->pair[1] && event == s->pair[0])))
		return "⇄";
	*style = STYLE_KEY;
	if (event == v->writer)
		return "●";
	if (among(v->readers, v->reader_count, event))
		return "○";
	for (guint i = 0; i < s->bookmarks->len; i++)
		if (g_array_index(s->bookmarks, struct bookmark, i).event == event)
			return "★";
	return " ";
}

static const char *bracket(const struct session *s, const struct trace_state *v, uint32_t event)
{
	if (v->section[0] == NONE || event < v->section[0] || event > v->section[1] ||
	    s->trace->events[event].thread != s->trace->events[v->section[0]].thread)
		return " ";
	return event == v->section[0] ? "┌" : event == v->section[1] ? "└" : "│";
}

/* "… 96 more rounds, 480 events to 911 (worker bank.c:31)" */
static void append_fold(const struct session *s, const struct fold *f, GString *out)
{
	char rounds[32], events[32];
	g_string_append_printf(out, "… %s more round%s, %s events to %u (",
	                       grouped(f->rounds, rounds), plural(f->rounds),
	                       grouped(f->events, events), f->last);
	describe_place(s, f->first, out);
	g_string_append_c(out, ')');
}

/* Mark lanes whose thread is inside uninstrumented code at that time. */
static void draw_missing(const struct session *s, const struct lanes *l, struct pane p, int row,
                         uint32_t event)
{
	if (s->calls == NULL)
		return;
	if (l->width == 0)
		pane_text(p, row, l->begin, STYLE_MISSING,
		          missing_code_sign(s, s->trace->events[event].thread, event));
	for (uint32_t i = 0; l->width && i < l->count; i++)
		pane_text(p, row, l->begin + (int)i * l->width, STYLE_MISSING,
		          missing_code_sign(s, l->shown[i], event));
}

/* The point of no return, and the last event before it: behind the event's text, before its
 * lane, or in short. */
static void draw_return_point(const struct session *s, struct pane lane, int at,
                              struct pane before, uint32_t event)
{
	const struct return_point *p = s->point;
	if (p == NULL || (event != p->fails && event != p->passes))
		return;
	bool fails = event == p->fails;
	enum style style = fails ? STYLE_RACE : STYLE_NONE;
	g_autofree char *text =
	        fails ? g_strdup_printf("✗ from here on %s", return_point_claim(p))
	              : g_strdup("✓ the last chance to end well");
	int width = text_columns(text);
	if (at + width <= lane.columns)
		pane_text(lane, 0, at, style, text);
	else if (width + 1 < before.columns)
		pane_text(before, 0, before.columns - width - 1, style, text);
	else
		pane_text(lane, 0, at, style, fails ? "✗ no return" : "✓ last chance");
}

static void draw_event(const struct app *app, const struct trace_state *v,
                       const struct lanes *l, struct pane p, int row, uint32_t event,
                       bool switched)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	uint32_t thread = t->events[event].thread;
	char number[16];
	enum style style;
	g_snprintf(number, sizeof number, "%u", event);
	const char *sign = relation(s, v, event, &style);
	pane_text(p, row, 0, style, sign);
	pane_field_right(p, row, 1, l->number_width, event == s->event ? STYLE_HERE : STYLE_DIM,
	                 number);
	int at = l->begin + (l->width ? lane_of(l, thread) * l->width : 0);
	draw_missing(s, l, p, row, event);
	/* One event per row: long ones may extend over lanes to the right. */
	int width = l->end - at - (switched ? 8 : 0);
	struct pane lane = pane_part(p, row, at, 1, width);
	if (l->width == 0) {
		pane_field(lane, 0, 2, l->name_width, style_of_thread(thread),
		           session_thread_within(s, thread, l->name_width));
		lane = pane_part(lane, 0, l->name_width + 2, 1, -1);
	}
	g_autoptr(GString) text = g_string_new(NULL);
	const struct fold *fold = s->folds->len ? session_fold_at(s, event) : NULL;
	if (fold && event == fold->first)
		append_fold(s, fold, text);
	else
		describe_event(s, event, text);
	const char *side = bracket(s, v, event);
	if (*side != ' ' || !session_lacks_code(s))
		pane_text(p, row, at, STYLE_LOCK, side);
	int end =
	        pane_text(lane, 0, l->width ? 2 : 1,
	                  event == s->event ? STYLE_HERE : style_of_thread(thread), text->str);
	draw_return_point(s, lane, end + 2,
	                  pane_part(p, row, l->begin, 1, l->width ? at - l->begin : 0), event);
	if (switched)
		pane_field_right(p, row, l->end - 7, 6, STYLE_DIM, "switch");
	if (event == s->event)
		pane_highlight(pane_part(p, row, 0, 1, l->end), 0, ATTR_REVERSE);
}

/* -- below: the stack, and the value's source and readers ---------------------------------- */

static void append_event(const struct session *s, uint32_t event, GString *out)
{
	g_string_append_printf(out, "%u %s ", event,
	                       trace_thread_name(s->trace, s->trace->events[event].thread));
	describe_event(s, event, out);
}

static void append_return_point(const struct session *s, GString *out)
{
	const struct return_point *p = s->point;
	if (p == NULL || (s->event != p->passes && s->event != p->fails))
		return;
	if (s->event == p->fails)
		g_string_append_printf(out, "✗ from here on %s; in its place ",
		                       return_point_claim(p));
	else
		g_string_append(out, "✓ the last chance: ");
	return_point_append_instead(p, out);
	g_string_append(out, " ends well  ");
}

/* "inside of box_take@libparcels.so (28 to 29), which may touch *box"; false: not inside. */
static bool append_around(const struct session *s, uint32_t event, GString *out)
{
	uint32_t miss =
	        s->calls != NULL ? missing_calls_inside(s->calls, s->trace, event) : NONE;

	if (miss == NONE)
		return false;
	struct event_list reach = missing_reach(s->trace, miss);
	g_string_append(out, "inside of ");
	describe_operand(s->trace, miss, out);
	if (s->trace->index->partner[miss] != NONE)
		g_string_append_printf(out, " (%u to %u)", miss,
		                       s->trace->index->partner[miss]);
	else
		g_string_append_printf(out, " (from %u on)", miss);
	g_string_append(out, reach.count > 0 ? ", not recorded, which may touch "
	                                     : ", not recorded, which touches nothing shared");
	if (reach.count > 0)
		trace_append_value(s->trace, reach.items[0], out);
	if (reach.count > 1)
		g_string_append_printf(out, " and %u more", (unsigned)reach.count - 1);
	return true;
}

static void draw_foot(const struct app *app, const struct trace_state *v, struct pane p)
{
	const struct session *s = app->session;
	g_autoptr(GString) text = g_string_new(NULL);
	append_stack(app, s->event, text);
	pane_text(p, 1, 1, style_of_thread(s->trace->events[s->event].thread), text->str);
	g_string_truncate(text, 0);
	append_return_point(s, text);
	if (op_reads(s->trace->events[s->event].op) && session_has(s, INDEX_ALL)) {
		g_string_append(text, "● reads from ");
		if (v->writer == NONE)
			g_string_append(text, "the initial value");
		else
			append_event(s, v->writer, text);
		weak_memory_append_brief(s, s->event, text);
		g_string_append(text, "  ");
	}
	if (v->partner_count) {
		g_string_append_printf(text, "⇄ %s ", v->relation);
		append_event(s, v->partners[0], text);
		if (v->partner_count > 1)
			g_string_append_printf(text, " and %u more", v->partner_count - 1);
		g_string_append(text, "  ");
	}
	if (v->reader_count && !among(v->partners, v->partner_count, v->readers[0])) {
		g_string_append_printf(text, "○ read by ");
		append_event(s, v->readers[0], text);
		if (v->reader_count > 1)
			g_string_append_printf(text, " and %u more", v->reader_count - 1);
	}
	if (session_lacks_code(s)) {
		g_string_append(text, "░ ");
		if (!append_around(s, s->event, text))
			g_string_truncate(text, text->len - strlen("░ "));
	}
	pane_text(p, 2, 1, STYLE_TEXT, text->str);
}

static void trace_draw(const struct app *app, const void *state, struct pane p)
{
	const struct trace_state *v = state;
	const struct session *s = app->session;
	if (s->trace->events_count == 0) {
		pane_text(p, 1, 2, STYLE_TEXT, "the trace has no events");
		return;
	}
	struct lanes l = lanes_of(app, p.columns);
	draw_heads(app, &l, p, v->library ? "library variables are left out: +" : NULL);
	uint32_t before =
	        v->rows->len ? s->trace->events[g_array_index(v->rows, uint32_t, 0)].thread : 0;
	for (guint r = 0; r < v->rows->len; r++) {
		uint32_t event = g_array_index(v->rows, uint32_t, r);
		uint32_t thread = s->trace->events[event].thread;
		draw_event(app, v, &l, p, (int)r + 2, event, thread != before);
		before = thread;
	}
	if (l.end < p.columns) {
		struct pane pane = pane_part(p, 0, l.end, p.rows - FOOT_ROWS, -1);
		pane_bar(pane, 0);
		split_border(pane_part(p, 0, 0, pane.rows, -1), SPLIT_STATE, l.end, true);
		pane_format(pane, 0, 2, STYLE_HEADING, "state after %u", s->event);
		pane_rule(pane_part(pane, 1, 1, 1, -1), 0, NULL);
		draw_state_rows(pane_part(pane, 2, 2, -1, -1), v->state, 0);
	}
	pane_rule(p, p.rows - FOOT_ROWS, NULL);
	draw_foot(app, v, pane_part(p, p.rows - FOOT_ROWS, 0, -1, -1));
}

/* -- requests ----------------------------------------------------------------------- */

/* Up and down move by visible rows. */
static void move(struct app *app, int direction, uint64_t count)
{
	enum { STEPS_MOST = 100000 }; /* beyond, hidden events are counted, too */
	const struct session *s = app->session;
	uint32_t e = s->event, to = e;
	if (!session_hides_any(s) || count > STEPS_MOST) {
		app_goto(app, session_step(s, e, STEP_EVENT, direction, count), false);
		return;
	}
	while (count > 0) {
		uint32_t next = session_step(s, e, STEP_EVENT, direction, 1);
		if (next == e)
			break;
		e = next;
		if (!session_hides(s, e)) {
			to = e;
			count--;
		}
	}
	app_goto(app, to, false);
}

static void fold(struct app *app)
{
	struct session *s = app->session;
	switch (session_fold(s, s->event)) {
	case FOLD_NO_LOOP:
		app_say(app, SAYS_NO_LOOP);
		return;
	case FOLD_CLOSED:
		app_say(app, SAYS_FOLDED);
		app_goto(app, g_array_index(s->folds, struct fold, s->folds->len - 1).first,
		         false);
		break;
	case FOLD_OPENED:
		break;
	}
	app_refresh(app);
}

static bool trace_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct trace_state *v = state;
	struct session *s = app->session;
	uint64_t n = MAX(count, 1), page = MAX(v->rows->len, 2) - 1;
	uint32_t last = s->trace->events_count ? (uint32_t)s->trace->events_count - 1 : 0;
	if (s->trace->events_count == 0)
		return list_request(&(struct list){ 0 }, request, count);
	switch (request) {
	case REQUEST_NEXT:
	case REQUEST_DOWN:
		move(app, 1, n);
		return true;
	case REQUEST_PREVIOUS:
	case REQUEST_UP:
		move(app, -1, n);
		return true;
	case REQUEST_PAGE_DOWN:
		move(app, 1, n * page);
		return true;
	case REQUEST_PAGE_UP:
		move(app, -1, n * page);
		return true;
	case REQUEST_HALF_DOWN:
		move(app, 1, n * MAX(page / 2, 1));
		return true;
	case REQUEST_HALF_UP:
		move(app, -1, n * MAX(page / 2, 1));
		return true;
	case REQUEST_LEFT:
	case REQUEST_RIGHT:
		app_request(app,
		            request == REQUEST_LEFT ? REQUEST_SWITCH_PREVIOUS
		                                    : REQUEST_SWITCH_NEXT,
		            count);
		return true;
	case REQUEST_FIRST:
		app_goto(app, (uint32_t)MIN(count, last), true);
		return true;
	case REQUEST_LAST:
		app_goto(app, count ? (uint32_t)MIN(count, last) : last, true);
		return true;
	case REQUEST_TAB:
		app_request(app, REQUEST_PARTNER, 0);
		return true;
	case REQUEST_ENTER:
		app_go(app, VIEW_SOURCE);
		return true;
	case REQUEST_HIDE_THREAD:
		s->hidden[s->trace->events[s->event].thread] = 1;
		app_say(app, SAYS_HIDDEN);
		app_refresh(app);
		return true;
	case REQUEST_FOLD:
		fold(app);
		return true;
	case REQUEST_SHOW_THREADS:
		session_show_all(s);
		app_refresh(app);
		return true;
	default:
		return false;
	}
}

static void trace_select(struct app *app, void *state, int row, int column, bool again)
{
	struct trace_state *v = state;
	if (row < 2 || row - 2 >= (int)v->rows->len)
		return;
	app_goto(app, g_array_index(v->rows, uint32_t, row - 2), false);
	if (again)
		app_go(app, VIEW_SOURCE);
}

const struct view_ops trace_view = {
	.title = "Trace",
	.open = trace_open_view,
	.close = trace_close_view,
	.show = trace_show,
	.fit = trace_fit,
	.draw = trace_draw,
	.request = trace_request,
	.select = trace_select,
};
