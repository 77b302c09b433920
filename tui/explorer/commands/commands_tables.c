/*
 * commands_tables.c - commands that print threads, locks, variables, values.
 */
#include "engine/trace/shown.h"
#include "tui/explorer/commands/commands.h"
#include "tui/explorer/messages.h"

#include "tui/explorer/views/state_pane.h"

#include <string.h>

/* -- tables ------------------------------------------------------------------------- */

static void append_state(const struct app *app, unsigned parts, GString *out)
{
	g_autoptr(GArray) rows = state_rows(app, parts, 200);
	for (guint i = 0; i < rows->len; i++) {
		const struct state_row *row = &g_array_index(rows, struct state_row, i);
		g_string_append_printf(out, "%s%s\n", row->text, row->tail ? row->tail : "");
	}
}

static void info_threads(const struct app *app, const char *rest, GString *out)
{
	append_state(app, STATE_THREADS | STATE_STACKS, out);
}

static void info_locks(const struct app *app, const char *rest, GString *out)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	char number[32];
	append_padded(out, "lock", 24);
	append_padded(out, "events", 10);
	g_string_append(out, "here\n");
	for (uint64_t o = 0; o < t->objects_count; o++) {
		g_autoptr(GString) name = g_string_new(NULL);
		const char *text = trace_string(t, t->objects[o].name);
		append_escaped(name, text, strlen(text));
		append_padded(out, name->str, 24);
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

static void info_variables(const struct app *app, const char *rest, GString *out)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	char number[32];
	append_padded(out, "variable", 30);
	append_padded(out, "accesses", 10);
	g_string_append(out, "value here\n");
	for (uint64_t v = 0; v < MIN(t->variables_count, 5000); v++) {
		g_autoptr(GString) name = g_string_new(NULL);
		const char *text = trace_variable_name(t, v);
		append_escaped(name, text, strlen(text));
		append_padded(out, name->str, 30);
		append_padded(
		        out,
		        grouped(event_list_at(&t->index->variable_events, (uint32_t)v).count,
		                number),
		        10);
		shown_append(t, (uint32_t)v, session_value(s, (uint32_t)v, s->event).value,
		             s->event, out);
		g_string_append_c(out, '\n');
	}
	if (t->variables_count > 5000)
		g_string_append(out, "… and more; `print NAME` shows one\n");
}

static void info_breakpoints(const struct app *app, const char *rest, GString *out)
{
	const GPtrArray *list = app->session->breakpoints;
	for (guint i = 0; i < list->len; i++) {
		const struct breakpoint *b = list->pdata[i];
		const char *kind = b->variable == NONE ? "break"
		                   : !b->reads         ? "watch"
		                   : b->writes         ? "awatch"
		                                       : "rwatch";
		g_string_append_printf(out, "%u  %s %s%s%s", b->number, kind, b->text,
		                       b->once ? "  (once)" : "",
		                       b->disabled ? "  (disabled)" : "");
		if (b->hits)
			g_string_append_printf(out, SAYS_HITS, b->hits, plural(b->hits));
		g_string_append_c(out, '\n');
	}
	if (list->len == 0)
		g_string_append(out, SAYS_NO_BREAKPOINTS);
}

static void info_trace(const struct app *app, const char *rest, GString *out)
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

static void info_bookmarks(const struct app *app, const char *rest, GString *out)
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

static void info_orders(const struct app *app, const char *rest, GString *out)
{
	for (int k = 0; k < ORDER_KIND_COUNT; k++)
		g_string_append_printf(out, "%-5s %s%s\n", order_kind_word((enum order_kind)k),
		                       order_kind_title((enum order_kind)k),
		                       session_order(app->session, k) ? ""
		                                                      : "  (not built yet)");
}

/* gdb's `info frame`: the event, its frame and the locks held. */
static void info_frame(const struct app *app, const char *rest, GString *out)
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

/* gdb's `info line`: a source line, as "bank.c:31", "deposit" or "31" in the file here; "" is
 * the event's.
 */
static void info_line(const struct app *app, const char *place, GString *out)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	GArray *locations = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (*place) {
		g_array_unref(locations);
		locations = places_of(app, place);
	} else if (t->events_count) {
		uint32_t here = t->events[s->event].location;
		if (t->locations[here].line)
			g_array_append_val(locations, here);
	}
	uint64_t count = 0;
	uint32_t first = NONE, next = NONE;
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (!is_one_of(locations, t->events[e].location))
			continue;
		count++;
		if (first == NONE)
			first = e;
		if (next == NONE && e > s->event)
			next = e;
	}
	g_array_unref(locations);
	if (first == NONE) {
		g_string_append_printf(out, SAYS_NO_EVENT_THERE, *place ? place : "here");
		return;
	}
	char number[32];
	describe_place(s, first, out);
	g_string_append_printf(out, SAYS_EVENTS_THERE, grouped(count, number), plural(count));
	next = next == NONE ? first : next;
	g_string_append_printf(out, SAYS_NEXT_THERE, next,
	                       trace_thread_name(t, t->events[next].thread));
	describe_event(s, next, out);
	g_string_append_c(out, '\n');
}

static const struct {
	const char *name;
	void (*append)(const struct app *, const char *rest, GString *);
	bool needs_index;
} infos[] = {
	{ "threads", info_threads, true },
	{ "locals", info_locals, true },
	{ "args", info_locals, true },
	{ "locks", info_locks, true },
	{ "variables", info_variables, true },
	{ "breakpoints", info_breakpoints, false },
	{ "watchpoints", info_breakpoints, false },
	{ "trace", info_trace, false },
	{ "bookmarks", info_bookmarks, false },
	{ "orders", info_orders, false },
	{ "frame", info_frame, true },
	{ "line", info_line, true },
	{ "display", info_display, true },
};

const char *info_name(size_t i)
{
	return i < G_N_ELEMENTS(infos) ? infos[i].name : NULL;
}

bool word_info(struct app *app, const char *arguments, struct error *error)
{
	gsize length = strcspn(arguments, " ");
	const char *rest = arguments + length + strspn(arguments + length, " ");
	for (size_t i = 0; i < G_N_ELEMENTS(infos); i++) {
		if (length == 0 || strncmp(infos[i].name, arguments, length) != 0)
			continue;
		if (infos[i].needs_index && !need_index(app, error))
			return false;
		GString *out = g_string_new(NULL);
		infos[i].append(app, rest, out);
		g_autofree char *title =
		        g_strdup_printf("%s at event %u", infos[i].name, app->session->event);
		app_show_text(app, title, out);
		return true;
	}
	g_autoptr(GString) names = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(infos); i++)
		g_string_append_printf(names, "%s%s", i ? ", " : "", infos[i].name);
	refuse(error, WANTS_ONE_OF, names->str);
	return false;
}
