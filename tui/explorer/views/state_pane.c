/*
 * state_pane.c - locks, call stacks, values and clocks at the selected event; see state_pane.h.
 */
#include "engine/trace/shown.h"
#include "engine/trace/own_code.h"
#include "tui/explorer/views/state_pane.h"
#include "tui/explorer/words/missing_code.h"
#include "tui/explorer/words/weak_memory.h"
#include "engine/base/search.h"

#include <string.h>

enum { VALUES_SHOWN = 200, LOOK_BACK = 4000, CLOCK_THREADS = 64 };

static void row_clear(void *data)
{
	struct state_row *row = data;
	g_free(row->text);
	g_free(row->tail);
}

static void add(GArray *rows, enum style style, char *text, char *tail)
{
	struct state_row row = { style, text, tail };
	g_array_append_val(rows, row);
}

/* The last event of a thread at or before `event`, or NONE. */
static uint32_t thread_event_at(const struct session *s, uint32_t thread, uint32_t event)
{
	if (!session_has(s, INDEX_THREADS))
		return s->trace->events[event].thread == thread ? event : NONE;
	struct event_list list = trace_thread_events(s->trace, thread);
	uint64_t low = search_end(i, 0, list.count, list.items[i] <= event);
	return low ? list.items[low - 1] : NONE;
}

/* -- threads and locks --------------------------------------------------------------- */

static void append_name(const struct trace *t, uint32_t thread, GString *out)
{
	const char *name = trace_thread_name(t, thread);
	append_escaped(out, name, strlen(name));
}

/* The name with its role, padded to the longest, for alignment. */
static void append_padded_name(const struct session *s, uint32_t thread, GString *out)
{
	enum { LONGEST = 16 };
	const char *name = session_thread_within(s, thread, LONGEST);
	int width = session_threads_columns(s, LONGEST);
	append_escaped(out, name, strlen(name));
	for (int n = text_columns(name); n < width; n++)
		g_string_append_c(out, ' ');
}

/* Append the lock or event that the thread waits for: its next event, when blocked at `now`. */
static void append_waiting(const struct session *s, uint32_t event, uint32_t now, GString *out)
{
	const struct trace *t = s->trace;
	uint32_t next = session_has(s, INDEX_THREADS) ? trace_next(t, event) : NONE;
	if (op_wants(t->events[event].op)) {
		g_string_append(out, trace_verb(t, event));
		describe_operand(t, event, out);
	} else if (t->events[event].op == OP_END || (next == NONE && event < now)) {
		g_string_append(out, describe_no_more(t, event));
	} else if (next != NONE && next > now + 1 && op_acquires(t->events[next].op)) {
		g_string_append(out, "next: lock ");
		describe_operand(t, next, out);
	} else if (next != NONE &&
	           (t->events[next].op == OP_WAKE || t->events[next].op == OP_JOIN)) {
		g_string_append(out, "waits for ");
		describe_operand(t, next, out);
	}
}

static void add_threads(const struct app *app, GArray *rows)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	g_autoptr(GArray) held = session_locks_held(s, s->event);
	for (uint32_t i = 0; i < t->threads_count; i++) {
		uint32_t at = thread_event_at(s, i, s->event);
		if (s->hidden[i])
			continue;
		GString *text = g_string_new(NULL);
		append_padded_name(s, i, text);
		if (at == NONE) {
			g_string_append(text, "  not begun");
			add(rows, STYLE_DIM, g_string_free(text, FALSE), NULL);
			continue;
		}
		const char *before = "  holds ";
		for (guint j = 0; j < held->len; j++) {
			uint32_t acquire = g_array_index(held, uint32_t, j);
			if (t->events[acquire].thread != i)
				continue;
			g_string_append(text, before);
			describe_lock(t, acquire, text);
			before = ", ";
		}
		if (*missing_code_sign(s, i, s->event) != ' ') {
			g_string_append(text, "  ░ in ");
			describe_operand(t, missing_calls_at(s->calls, t, i, s->event), text);
			before = ",";
		}
		g_string_append(text, "  ");
		gsize length = text->len;
		append_waiting(s, at, s->event, text);
		if (text->len == length && *before == ' ')
			g_string_append(text, "holds nothing");
		add(rows, style_of_thread(i), g_string_free(text, FALSE), NULL);
	}
}

/* -- stacks -------------------------------------------------------------------------- */

static void append_call(const struct trace *t, uint32_t location, GString *out)
{
	const struct location *l = &t->locations[location];
	if (location == 0)
		return;
	if (l->file && l->line) {
		g_autofree char *base = g_path_get_basename(trace_string(t, l->file));
		g_string_append_c(out, ' ');
		append_escaped(out, base, strlen(base));
		g_string_append_printf(out, ":%u", l->line);
	} else {
		const char *name = trace_string(t, l->name);
		g_string_append_c(out, ' ');
		append_escaped(out, name,
		               own_code_is_elsewhere(t, location) ? strcspn(name, "+")
		                                                  : strlen(name));
	}
}

static void append_function(const struct trace *t, uint32_t string, GString *out)
{
	const char *name = trace_string(t, string);
	own_code_append_function(*name ? name : "?", out);
}

void append_stack(const struct app *app, uint32_t event, GString *out)
{
	const struct trace *t = app_trace(app);
	g_autoptr(GArray) frames = session_frames(app->session, event);
	append_padded_name(app->session, t->events[event].thread, out);
	g_string_append(out, "  ");
	guint first = own_code_frame(t, frames);
	for (guint i = first; i < trace_frames_shown(t, frames); i++) {
		struct frame frame = g_array_index(frames, struct frame, i);
		if (i > first && own_code_is_on() && !own_code_has(t, &frame))
			continue;
		g_string_append(out, i > first ? " ◂ " : "");
		if (frame.function)
			append_function(t, frame.function, out);
		else
			g_string_append(out, frame.location ? "at" : "?");
		append_call(t, frame.location, out);
	}
	if (first > 0) {
		g_string_append(out, "   inside of ");
		append_function(t, g_array_index(frames, struct frame, 0).function, out);
	}
}

static void add_stacks(const struct app *app, GArray *rows)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	for (uint32_t i = 0; i < t->threads_count; i++) {
		uint32_t at = thread_event_at(s, i, s->event);
		if (at == NONE || s->hidden[i])
			continue;
		GString *text = g_string_new(NULL);
		append_stack(app, at, text);
		add(rows, style_of_thread(i), g_string_free(text, FALSE), NULL);
	}
}

/* -- values -------------------------------------------------------------------------- */

static bool add_once(GArray *list, uint32_t v)
{
	for (guint i = 0; i < list->len; i++)
		if (g_array_index(list, uint32_t, i) == v)
			return false;
	g_array_append_val(list, v);
	return true;
}

/* Variables to show: watched, the pair's, then those accessed last. */
static GArray *interesting(const struct session *s)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < s->watches->len; i++)
		add_once(list, g_array_index(s->watches, uint32_t, i));
	uint32_t first[] = { s->event, s->pair[0], s->pair[1] };
	for (int i = 0; i < 3; i++)
		if (first[i] != NONE && session_variable(s, first[i]) != NONE)
			add_once(list, session_variable(s, first[i]));
	for (uint32_t e = s->event, n = 0; n < LOOK_BACK && list->len < VALUES_SHOWN;
	     n++, e--) {
		uint32_t v = session_variable(s, e);
		if (v != NONE && !session_is_library_variable(s, v))
			add_once(list, v);
		if (e == 0)
			break;
	}
	return list;
}

static void add_values(const struct app *app, GArray *rows)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	g_autoptr(GArray) list = interesting(s);
	for (guint i = 0; i < list->len; i++) {
		uint32_t v = g_array_index(list, uint32_t, i);
		struct known_value now = session_value(s, v, s->event);
		GString *text = g_string_new(NULL), *tail = NULL;
		const char *name = trace_variable_name(t, v);
		own_code_append_name(name, text);
		g_string_append(text, "  ");
		if (now.value)
			shown_append(t, v, now.value, s->event, text);
		else if (now.event == NONE)
			g_string_append(text, "initial");
		else
			g_string_append_printf(
			        text, "by %s at %u",
			        trace_thread_name(t, t->events[now.event].thread), now.event);
		if (now.value && now.event == s->event && op_writes(t->events[s->event].op)) {
			struct known_value old =
			        s->event ? session_value(s, v, s->event - 1) : now;
			tail = g_string_new(" (was ");
			if (old.value && s->event)
				shown_append(t, v, old.value, s->event, tail);
			else
				g_string_append(tail, "initial");
			g_string_append_c(tail, ')');
		}
		add(rows, STYLE_TEXT, g_string_free(text, FALSE),
		    tail ? g_string_free(tail, FALSE) : NULL);
	}
}

/* -- clocks -------------------------------------------------------------------------- */

static void add_clocks(const struct app *app, GArray *rows)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	const struct order *order = session_order(s, s->order);
	if (order == NULL)
		return;
	g_autofree uint32_t *clock = g_new0(uint32_t, t->threads_count),
	                    *before = g_new0(uint32_t, t->threads_count);
	for (uint32_t i = 0; i < t->threads_count; i++) {
		uint32_t at = thread_event_at(s, i, s->event);
		if (at == NONE || s->hidden[i])
			continue;
		order_clock(order, at, clock);
		uint32_t previous = trace_previous(t, at);
		bool moved = at == s->event && previous != NONE;
		if (moved)
			order_clock(order, previous, before);
		GString *text = g_string_new(NULL), *tail = g_string_new(NULL);
		append_padded_name(s, i, text);
		g_string_append(text, "  ⟨");
		for (uint32_t j = 0; j < MIN(t->threads_count, CLOCK_THREADS); j++) {
			g_string_append_printf(text, "%s%u", j ? ", " : "", clock[j]);
			if (moved && j != i && clock[j] != before[j]) {
				g_string_append(tail, tail->len ? " " : "  ");
				append_name(t, j, tail);
				g_string_append_printf(tail, " +%u", clock[j] - before[j]);
			}
		}
		g_string_append(text, t->threads_count > CLOCK_THREADS ? ", …⟩" : "⟩");
		add(rows, style_of_thread(i), g_string_free(text, FALSE),
		    g_string_free(tail, FALSE));
	}
}

/* -- the rows ------------------------------------------------------------------------------ */

GArray *state_rows(const struct app *app, unsigned parts, int columns)
{
	const struct session *s = app->session;
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct state_row));
	g_array_set_clear_func(rows, row_clear);
	if (s->trace->events_count == 0)
		return rows;
	static const struct {
		enum state_part part;
		void (*add)(const struct app *, GArray *);
		const char *heading;
	} sections[] = {
		{ STATE_THREADS, add_threads, NULL },
		{ STATE_MEMORY, add_weak_memory, "memory" },
		{ STATE_STACKS, add_stacks, "call stacks" },
		{ STATE_VALUES, add_values, "values" },
		{ STATE_CLOCKS, add_clocks, "clocks" },
		{ STATE_CLOCKS, add_access_points, "access points" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(sections); i++) {
		if (!(parts & sections[i].part))
			continue;
		guint at = rows->len;
		sections[i].add(app, rows);
		if (rows->len == at || sections[i].heading == NULL)
			continue;
		bool clocks = sections[i].add == add_clocks;
		bool memory = sections[i].part == STATE_MEMORY;
		char *title =
		        memory   ? weak_memory_heading(app)
		        : clocks ? g_strdup_printf("clocks (%s%s)", order_kind_word(s->order),
		                                   s->missing ? ", missing code" : "")
		                 : g_strdup(sections[i].heading);
		struct state_row heading = { STYLE_HEADING, title, NULL };
		struct state_row blank = { STYLE_TEXT, g_strdup(""), NULL };
		g_array_insert_val(rows, at, heading);
		if (at)
			g_array_insert_val(rows, at, blank);
		else
			g_free(blank.text);
	}
	return rows;
}

void draw_state_rows(struct pane p, const GArray *rows, uint64_t top)
{
	for (int r = 0; r < p.rows && top + r < rows->len; r++) {
		const struct state_row *row = &g_array_index(rows, struct state_row, top + r);
		int at = pane_text(p, r, 0, row->style, row->text);
		if (row->tail && at <= p.columns)
			pane_text(p, r, at, STYLE_CHANGED, row->tail);
	}
}
