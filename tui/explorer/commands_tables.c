/*
 * commands_tables.c - commands that print threads, locks, variables, values.
 */
#include "engine/trace/shown.h"
#include "tui/explorer/commands.h"

#include "tui/explorer/state_pane.h"

#include <string.h>

/* -- tables ------------------------------------------------------------------------- */

static void append_state(const struct app *app, unsigned parts, GString *out)
{
	GArray *rows = state_rows(app, parts, 200);
	for (guint i = 0; i < rows->len; i++) {
		const struct state_row *row = &g_array_index(rows, struct state_row, i);
		g_string_append_printf(out, "%s%s\n", row->text, row->tail ? row->tail : "");
	}
	g_array_free(rows, TRUE);
}

static void info_threads(const struct app *app, GString *out)
{
	append_state(app, STATE_THREADS | STATE_STACKS, out);
}

static void info_locks(const struct app *app, GString *out)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	char number[32];
	append_padded(out, "lock", 24);
	append_padded(out, "events", 10);
	g_string_append(out, "here\n");
	for (uint64_t o = 0; o < t->objects_count; o++) {
		GString *name = g_string_new(NULL);
		const char *text = trace_string(t, t->objects[o].name);
		append_escaped(name, text, strlen(text));
		append_padded(out, name->str, 24);
		g_string_free(name, TRUE);
		struct event_list list = event_list_at(&t->index->object_events, (uint32_t)o);
		append_padded(out, grouped(list.count, number), 10);
		const char *state = "";
		uint32_t holder = NONE;
		for (uint64_t i = 0; i < list.count && list.items[i] <= s->event; i++) {
			const struct event *e = &t->events[list.items[i]];
			if (op_acquires(e->op))
				holder = e->thread;
			else if (op_releases(e->op))
				holder = NONE;
		}
		if (holder != NONE)
			state = trace_thread_name(t, holder);
		g_string_append_printf(out, "%s%s\n", *state ? "held by " : "free", state);
	}
}

static void info_variables(const struct app *app, GString *out)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	char number[32];
	append_padded(out, "variable", 30);
	append_padded(out, "accesses", 10);
	g_string_append(out, "value here\n");
	for (uint64_t v = 0; v < MIN(t->variables_count, 5000); v++) {
		GString *name = g_string_new(NULL);
		const char *text = trace_string(t, t->variables[v].name);
		append_escaped(name, text, strlen(text));
		append_padded(out, name->str, 30);
		g_string_free(name, TRUE);
		append_padded(
		        out,
		        grouped(event_list_at(&t->index->variable_events, (uint32_t)v).count,
		                number),
		        10);
		shown_append(t, (uint32_t)v, session_value(s, (uint32_t)v, s->event).value,
		             out);
		g_string_append_c(out, '\n');
	}
	if (t->variables_count > 5000)
		g_string_append(out, "… and more; `print NAME` shows one\n");
}

static void info_breakpoints(const struct app *app, GString *out)
{
	const GPtrArray *list = app->session->breakpoints;
	for (guint i = 0; i < list->len; i++) {
		const struct breakpoint *b = list->pdata[i];
		g_string_append_printf(out, "%u  %s %s%s\n", b->number,
		                       b->variable != NONE ? "watch" : "break", b->text,
		                       b->once ? "  (once)" : "");
	}
	if (list->len == 0)
		g_string_append(
		        out, "no breakpoints: `break FILE:LINE if COND`, `watch VARIABLE`\n");
}

static void info_trace(const struct app *app, GString *out)
{
	const struct trace *t = app_trace(app);
	const struct {
		const char *what;
		uint64_t count;
	} counts[] = {
		{ "events", t->events_count },
		{ "threads", t->threads_count },
		{ "variables", t->variables_count },
		{ "locks and other objects", t->objects_count },
		{ "blocks", t->blocks_count },
		{ "locations", t->locations_count },
	};
	char number[32];
	g_string_append_printf(out, "%s\n", t->path ? t->path : trace_name(t));
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
		g_string_append_printf(out, "%12s  %s\n", grouped(counts[i].count, number),
		                       counts[i].what);
	for (uint64_t i = 0; i < t->notes_count; i++)
		if (strcmp(trace_string(t, t->notes[i].key), SHOWN_NOTE) != 0)
			g_string_append_printf(out, "%s: %s\n",
			                       trace_string(t, t->notes[i].key),
			                       trace_string(t, t->notes[i].value));
	for (guint i = 0; t->warnings && i < t->warnings->len; i++)
		g_string_append_printf(out, "warning: %s\n", (char *)t->warnings->pdata[i]);
}

static void info_bookmarks(const struct app *app, GString *out)
{
	const GArray *list = app->session->bookmarks;
	for (guint i = 0; i < list->len; i++) {
		const struct bookmark *b = &g_array_index(list, struct bookmark, i);
		g_string_append_printf(out, "%-16s event %u: ", b->name, b->event);
		describe_event(app->session, b->event, out);
		g_string_append_c(out, '\n');
	}
	if (list->len == 0)
		g_string_append(out, "no bookmarks: * or `bookmark NAME` sets one\n");
}

static void info_orders(const struct app *app, GString *out)
{
	for (int k = 0; k < ORDER_KIND_COUNT; k++)
		g_string_append_printf(out, "%-5s %s%s\n", order_kind_word((enum order_kind)k),
		                       order_kind_title((enum order_kind)k),
		                       session_order(app->session, k) ? ""
		                                                      : "  (not built yet)");
}

static void append_print(const struct app *app, uint32_t v, GString *out)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	struct known_value known = session_value(s, v, s->event);
	const char *name = trace_string(t, t->variables[v].name);
	append_escaped(out, name, strlen(name));
	g_string_append(out, " = ");
	if (known.value)
		shown_append(t, v, known.value, out);
	else
		g_string_append(out, known.event == NONE ? "its initial value" : "unknown");
	if (known.event != NONE)
		g_string_append_printf(
		        out, "  (%s by %s, event %u)",
		        op_writes(t->events[known.event].op) ? "written" : "read",
		        trace_thread_name(t, t->events[known.event].thread), known.event);
}

/* gdb's: where one is. */
static void info_frame(const struct app *app, GString *out)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	if (t->events_count == 0) {
		g_string_append(out, "the trace has no events\n");
		return;
	}
	g_string_append_printf(out, "event %u of %s: ", s->event,
	                       trace_thread_name(t, t->events[s->event].thread));
	describe_event(s, s->event, out);
	g_string_append(out, "\nin ");
	describe_place(s, s->event, out);
	g_string_append_printf(out, ", frame %u of the stack (bt)\nholds ", s->frame);
	gsize before = out->len;
	describe_locks(s, s->event, out);
	g_string_append(out, out->len > before ? "\n" : "no lock\n");
}

static void info_display(const struct app *app, GString *out)
{
	const GArray *list = app->session->watches;
	for (guint i = 0; i < list->len; i++) {
		append_print(app, g_array_index(list, uint32_t, i), out);
		g_string_append_c(out, '\n');
	}
	if (list->len == 0)
		g_string_append(out,
		                "no variable is kept in the state pane: `display VARIABLE` "
		                "does\n");
}

static const struct {
	const char *name;
	void (*append)(const struct app *, GString *);
	bool needs_index;
} infos[] = {
	{ "threads", info_threads, true },     { "locks", info_locks, true },
	{ "variables", info_variables, true }, { "breakpoints", info_breakpoints, false },
	{ "trace", info_trace, false },        { "bookmarks", info_bookmarks, false },
	{ "orders", info_orders, false },      { "frame", info_frame, true },
	{ "display", info_display, true },
};

const char *info_name(size_t i)
{
	return i < G_N_ELEMENTS(infos) ? infos[i].name : NULL;
}

bool word_info(struct app *app, const char *arguments, struct error *error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(infos); i++) {
		if (*arguments == '\0' || !g_str_has_prefix(infos[i].name, arguments))
			continue;
		if (infos[i].needs_index && !need_index(app, error))
			return false;
		GString *out = g_string_new(NULL);
		infos[i].append(app, out);
		char *title =
		        g_strdup_printf("%s at event %u", infos[i].name, app->session->event);
		app_show_text(app, title, out);
		g_free(title);
		return true;
	}
	return expect(error,
	              "threads, locks, variables, breakpoints, trace, bookmarks, orders, "
	              "frame or display");
}

bool word_print(struct app *app, const char *arguments, struct error *error)
{
	const struct trace *t = app_trace(app);
	if (*arguments == '\0')
		return expect(error, "a variable");
	if (!need_index(app, error))
		return false;
	uint32_t exact = session_find_short(app->session, arguments);
	GString *out = g_string_new(NULL);
	if (exact != NONE) {
		append_print(app, exact, out);
		app_say(app, "%s", out->str);
		g_string_free(out, TRUE);
		return true;
	}
	for (uint64_t v = 0; v < t->variables_count && out->len < 100000; v++) {
		if (!g_str_has_prefix(trace_string(t, t->variables[v].name), arguments))
			continue;
		append_print(app, (uint32_t)v, out);
		g_string_append_c(out, '\n');
	}
	if (out->len == 0) {
		g_string_free(out, TRUE);
		return error_set(error, "", "Tab completes names", "there is no variable '%s'",
		                 arguments);
	}
	app_show_text(app, arguments, out);
	return true;
}

uint32_t variable_of(const struct app *app, const char *name, struct error *error)
{
	uint32_t v = session_find_short(app->session, name);
	if (v == NONE)
		error_set(error, "", "Tab completes names", "there is no variable '%s'", name);
	return v;
}

bool word_display(struct app *app, const char *arguments, struct error *error)
{
	uint32_t v = variable_of(app, arguments, error);
	if (v == NONE)
		return false;
	g_array_append_val(app->session->watches, v);
	app_refresh(app);
	return true;
}

bool word_undisplay(struct app *app, const char *arguments, struct error *error)
{
	GArray *watches = app->session->watches;
	uint32_t v = *arguments ? variable_of(app, arguments, error) : NONE;
	if (*arguments && v == NONE)
		return false;
	for (guint i = watches->len; i-- > 0;)
		if (v == NONE || g_array_index(watches, uint32_t, i) == v)
			g_array_remove_index(watches, i);
	app_refresh(app);
	return true;
}
