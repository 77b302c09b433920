/*
 * commands.c - the command line's commands, gdb's words where gdb has one; their completion.
 *
 * words.def is the only list.  A command works on the session and answers with a message,
 * a text or another view; it knows no keys and draws nothing.
 */
#include "tui/explorer/command_line.h"
#include "tui/explorer/export.h"
#include "tui/explorer/tree.h"
#include "tui/explorer/state_pane.h"

#include <poll.h>
#include <string.h>

enum completes {
	C_NOTHING,
	C_NAMES,
	C_VARIABLES,
	C_PLACES,
	C_FILES,
	C_VIEWS,
	C_ORDERS,
	C_THREADS,
	C_WORDS,
	C_INFO,
	C_TRIAGE,
	C_REQUESTS
};

typedef bool word_function(struct app *app, const char *arguments, struct error *error);
#define WORD(function, name, others, arguments, completes, help) \
	static word_function word_##function;
#include "tui/explorer/words.def"
#undef WORD

static const struct word {
	const char *name, *others, *arguments, *help;
	enum completes completes;
	word_function *run;
} words[] = {
#define WORD(function, name, others, arguments, completes, help) \
	{ name, others, arguments, help, completes, word_##function },
#include "tui/explorer/words.def"
#undef WORD
};

/* -- helpers ------------------------------------------------------------------------ */

static bool is_among(const char *list, const char *name)
{
	gsize length = strlen(name);
	for (const char *at = list; (at = strstr(at, name)); at++)
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return length > 0;
	return false;
}

/* Exact names and other names first, then a beginning that only one command has. */
static const struct word *find_word(const char *name, struct error *error)
{
	const struct word *found = NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (strcmp(words[i].name, name) == 0 || is_among(words[i].others, name))
			return &words[i];
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		if (!g_str_has_prefix(words[i].name, name))
			continue;
		if (found) {
			error_set(error, "", NULL, "'%s' is %s or %s", name, found->name,
			          words[i].name);
			return NULL;
		}
		found = &words[i];
	}
	if (found == NULL)
		error_set(error, "", ":help lists the commands", "there is no command '%s'",
		          name);
	return found;
}

static bool expect(struct error *error, const char *what)
{
	return error_set(error, "", NULL, "expected %s", what);
}

static uint64_t count_of(const char *arguments)
{
	guint64 n = g_ascii_strtoull(arguments, NULL, 10);
	return MAX(n, 1);
}

/* An event by number, `$` or the name of a bookmark. */
static uint32_t event_of(const struct app *app, const char *text, struct error *error)
{
	const struct session *s = app->session;
	for (guint i = 0; i < s->bookmarks->len; i++) {
		const struct bookmark *b = &g_array_index(s->bookmarks, struct bookmark, i);
		if (strcmp(b->name, text) == 0)
			return b->event;
	}
	return session_parse_event(s, text, error);
}

static bool need_index(const struct app *app, struct error *error)
{
	return session_has(app->session, INDEX_ALL) ||
	       error_set(error, "", "wait a moment", "the index is still being built");
}

static bool need_events(const struct app *app, struct error *error)
{
	return app->session->trace->events_count ||
	       error_set(error, "", NULL, "the trace has no events");
}

static void say_event(struct app *app)
{
	GString *text = g_string_new(NULL);
	const struct session *s = app->session;
	g_string_append_printf(text, "%u %s ", s->event,
	                       trace_thread_name(s->trace, s->trace->events[s->event].thread));
	describe_event(s, s->event, text);
	g_string_append(text, "  at ");
	describe_place(s, s->event, text);
	app_say(app, "%s", text->str);
	g_string_free(text, TRUE);
}

/* Commands that move show the trace unless one is where steps are seen. */
static void move_to(struct app *app, uint32_t event)
{
	if (!(IN_STEPS & 1u << app_view(app)) || app_view(app) == VIEW_WITNESS)
		app_go(app, VIEW_TRACE);
	app_goto(app, event, true);
	say_event(app);
}

/* -- where one is ------------------------------------------------------------------- */

static bool word_go_event(struct app *app, const char *arguments, struct error *error)
{
	uint32_t event = event_of(app, arguments, error);
	if (event == NONE)
		return false;
	move_to(app, event);
	return true;
}

static bool word_find(struct app *app, const char *arguments, struct error *error)
{
	if (*arguments == '\0')
		return expect(error, "what to look for");
	g_free(app->session->wanted);
	app->session->wanted = g_strdup(arguments);
	uint32_t found = session_find(app->session, app->session->event, arguments, 1);
	if (found == NONE)
		return error_set(error, "",
		                 "the search goes on from here; `goto 0` begins anew",
		                 "no event after %u has '%s'", app->session->event, arguments);
	move_to(app, found);
	return true;
}

static void append_frame(const struct trace *t, unsigned number, uint32_t function,
                         uint32_t location, bool here, GString *out)
{
	g_string_append_printf(out, "%s#%u  ", here ? "▸" : " ", number);
	const char *name = trace_string(t, function);
	append_escaped(out, *name ? name : "?", *name ? strlen(name) : 1);
	const char *place = trace_string(t, t->locations[location].name);
	if (*place) {
		g_string_append(out, " at ");
		append_escaped(out, place, strlen(place));
	}
	g_string_append_c(out, '\n');
}

static bool word_stack(struct app *app, const char *arguments, struct error *error)
{
	if (!need_events(app, error) || !need_index(app, error))
		return false;
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	GString *out = g_string_new(NULL);
	GArray *frames = session_frames(s, s->event);
	for (guint i = 0; i < frames->len; i++) {
		struct frame frame = g_array_index(frames, struct frame, i);
		append_frame(t, i, frame.function, frame.location, i == s->frame, out);
	}
	g_array_free(frames, TRUE);
	char *title =
	        g_strdup_printf("call stack of %s at event %u",
	                        trace_thread_name(t, t->events[s->event].thread), s->event);
	app_show_text(app, title, out);
	g_free(title);
	return true;
}

static bool set_frame(struct app *app, unsigned frame, struct error *error)
{
	if (!need_events(app, error) || !need_index(app, error))
		return false;
	GArray *frames = session_frames(app->session, app->session->event);
	unsigned depth = frames->len;
	g_array_free(frames, TRUE);
	if (frame >= depth)
		return error_set(error, "", NULL, "the stack has frames 0 to %u", depth - 1);
	app_go(app, VIEW_SOURCE);
	app->session->frame = frame;
	return true;
}

static bool word_frame(struct app *app, const char *arguments, struct error *error)
{
	return set_frame(app,
	                 *arguments ? (unsigned)g_ascii_strtoull(arguments, NULL, 10)
	                            : app->session->frame,
	                 error);
}

static bool word_up(struct app *app, const char *arguments, struct error *error)
{
	return set_frame(app, app->session->frame + (unsigned)count_of(arguments), error);
}

static bool word_down(struct app *app, const char *arguments, struct error *error)
{
	unsigned n = (unsigned)count_of(arguments);
	if (n > app->session->frame)
		return error_set(error, "", NULL, "frame 0 is the innermost");
	return set_frame(app, app->session->frame - n, error);
}

/* Locations that "bank.c:31", "src/bank.c:31" or "deposit" names. */
static GArray *locations_of(const struct trace *t, const char *place)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	const char *colon = strrchr(place, ':');
	guint64 line = colon ? g_ascii_strtoull(colon + 1, NULL, 10) : 0;
	for (uint64_t i = 1; i < t->locations_count; i++) {
		const struct location *l = &t->locations[i];
		const char *file = trace_string(t, l->file);
		gsize length = colon ? (gsize)(colon - place) : 0;
		bool same_file =
		        colon && strlen(file) >= length &&
		        strncmp(file + strlen(file) - length, place, length) == 0 &&
		        (strlen(file) == length || file[strlen(file) - length - 1] == '/');
		if ((same_file && line && l->line == line) ||
		    strcmp(trace_string(t, l->name), place) == 0 ||
		    (l->function && strcmp(trace_string(t, l->function), place) == 0)) {
			uint32_t location = (uint32_t)i;
			g_array_append_val(found, location);
		}
	}
	return found;
}

static bool is_one_of(const GArray *locations, uint32_t location)
{
	for (guint i = 0; i < locations->len; i++)
		if (g_array_index(locations, uint32_t, i) == location)
			return true;
	return false;
}

static bool word_list(struct app *app, const char *arguments, struct error *error)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	if (!need_events(app, error))
		return false;
	if (*arguments) {
		GArray *locations = locations_of(t, arguments);
		uint32_t found = NONE;
		for (uint64_t n = 0; locations->len && found == NONE && n < t->events_count;
		     n++) {
			uint32_t e = (uint32_t)((s->event + n) % t->events_count);
			if (is_one_of(locations, t->events[e].location))
				found = e;
		}
		g_array_free(locations, TRUE);
		if (found == NONE)
			return error_set(error, "", "Tab completes places",
			                 "no event is at '%s'", arguments);
		app_goto(app, found, true);
	}
	app_go(app, VIEW_SOURCE);
	say_event(app);
	return true;
}

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
		describe_value(t, session_value(s, (uint32_t)v, s->event).value, out);
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
		g_string_append_printf(out, "%s: %s\n", trace_string(t, t->notes[i].key),
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
		                       app->session->orders[k] ? "" : "  (not built yet)");
}

static const struct {
	const char *name;
	void (*append)(const struct app *, GString *);
	bool needs_index;
} infos[] = {
	{ "threads", info_threads, true },     { "locks", info_locks, true },
	{ "variables", info_variables, true }, { "breakpoints", info_breakpoints, false },
	{ "trace", info_trace, false },        { "bookmarks", info_bookmarks, false },
	{ "orders", info_orders, false },
};

static bool word_info(struct app *app, const char *arguments, struct error *error)
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
	              "threads, locks, variables, breakpoints, trace, bookmarks or orders");
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
		describe_value(t, known.value, out);
	else
		g_string_append(out, known.event == NONE ? "its initial value" : "unknown");
	if (known.event != NONE)
		g_string_append_printf(
		        out, "  (%s by %s, event %u)",
		        op_writes(t->events[known.event].op) ? "written" : "read",
		        trace_thread_name(t, t->events[known.event].thread), known.event);
}

static bool word_print(struct app *app, const char *arguments, struct error *error)
{
	const struct trace *t = app_trace(app);
	if (*arguments == '\0')
		return expect(error, "a variable");
	if (!need_index(app, error))
		return false;
	uint32_t exact = session_find_variable(app->session, arguments);
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

static uint32_t variable_of(const struct app *app, const char *name, struct error *error)
{
	uint32_t v = session_find_variable(app->session, name);
	if (v == NONE)
		error_set(error, "", "Tab completes names", "there is no variable '%s'", name);
	return v;
}

static bool word_display(struct app *app, const char *arguments, struct error *error)
{
	uint32_t v = variable_of(app, arguments, error);
	if (v == NONE)
		return false;
	g_array_append_val(app->session->watches, v);
	app_refresh(app);
	return true;
}

static bool word_undisplay(struct app *app, const char *arguments, struct error *error)
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

/* -- stepping ----------------------------------------------------------------------- */

static bool step_by(struct app *app, enum step_kind kind, int direction, const char *arguments,
                    struct error *error)
{
	const struct session *s = app->session;
	if (!need_events(app, error))
		return false;
	uint32_t to = session_step(s, s->event, kind, direction, count_of(arguments));
	if (to == s->event)
		return error_set(error, "", NULL,
		                 direction > 0 ? "the thread does nothing more"
		                               : "the thread does nothing before");
	move_to(app, to);
	return true;
}

static bool word_step(struct app *app, const char *arguments, struct error *error)
{
	return step_by(app, STEP_THREAD, 1, arguments, error);
}

static bool word_reverse_step(struct app *app, const char *arguments, struct error *error)
{
	return step_by(app, STEP_THREAD, -1, arguments, error);
}

static bool word_next(struct app *app, const char *arguments, struct error *error)
{
	return step_by(app, STEP_LINE, 1, arguments, error);
}

static bool word_reverse_next(struct app *app, const char *arguments, struct error *error)
{
	return step_by(app, STEP_LINE, -1, arguments, error);
}

static bool run_on(struct app *app, int direction, struct error *error)
{
	struct session *s = app->session;
	struct breakpoint *hit;
	if (!need_events(app, error))
		return false;
	if (s->breakpoints->len == 0)
		return error_set(error, "", "`break FILE:LINE` or `watch VARIABLE` first",
		                 "there is nothing to stop at");
	uint32_t to = session_run(s, s->event, direction, &hit);
	if (to == NONE)
		return error_set(error, "", NULL, "no breakpoint is met %s event %u",
		                 direction > 0 ? "after" : "before", s->event);
	unsigned number = hit->number;
	if (hit->once)
		g_ptr_array_remove(s->breakpoints, hit);
	move_to(app, to);
	char *words_of_event = g_strdup(app->message);
	app_say(app, "breakpoint %u: %s", number, words_of_event);
	g_free(words_of_event);
	return true;
}

static bool word_cont(struct app *app, const char *arguments, struct error *error)
{
	return run_on(app, 1, error);
}

static bool word_reverse_cont(struct app *app, const char *arguments, struct error *error)
{
	return run_on(app, -1, error);
}

static bool add_breakpoint(struct app *app, const char *arguments, bool watch, bool once,
                           struct error *error)
{
	struct session *s = app->session;
	const char *condition = strstr(arguments, " if ");
	char *place =
	        condition ? g_strndup(arguments, condition - arguments) : g_strdup(arguments);
	struct breakpoint *b = g_new0(struct breakpoint, 1);
	b->variable = NONE;
	b->once = once;
	b->text = g_strdup(arguments);
	bool good = true;
	g_strstrip(place);
	if (watch)
		good = (b->variable = variable_of(app, place, error)) != NONE;
	else
		b->sites = locations_of(s->trace, place);
	if (good && b->sites && b->sites->len == 0)
		good = error_set(error, "", "Tab completes places", "no event is at '%s'",
		                 place);
	if (good && condition)
		good = (b->condition = condition_parse(s, condition + 4, error)) != NULL;
	g_free(place);
	if (!good) {
		breakpoint_free(b);
		return false;
	}
	b->number = s->next_breakpoint++;
	g_ptr_array_add(s->breakpoints, b);
	app_say(app, "%s %u at %s", watch ? "watchpoint" : "breakpoint", b->number, arguments);
	return true;
}

static bool word_break_at(struct app *app, const char *arguments, struct error *error)
{
	return add_breakpoint(app, arguments, false, false, error);
}

static bool word_tbreak(struct app *app, const char *arguments, struct error *error)
{
	return add_breakpoint(app, arguments, false, true, error);
}

static bool word_watch(struct app *app, const char *arguments, struct error *error)
{
	return add_breakpoint(app, arguments, true, false, error);
}

static struct breakpoint *breakpoint_of(const struct session *s, const char *text,
                                        struct error *error)
{
	guint64 number = g_ascii_strtoull(text, NULL, 10);
	for (guint i = 0; i < s->breakpoints->len; i++) {
		struct breakpoint *b = s->breakpoints->pdata[i];
		if (b->number == number)
			return b;
	}
	error_set(error, "", "`info breakpoints` lists them", "there is no breakpoint '%s'",
	          text);
	return NULL;
}

static bool word_condition(struct app *app, const char *arguments, struct error *error)
{
	struct breakpoint *b = breakpoint_of(app->session, arguments, error);
	const char *text = strchr(arguments, ' ');
	struct condition *condition = NULL;
	if (b == NULL)
		return false;
	if (text && (condition = condition_parse(app->session, text + 1, error)) == NULL)
		return false;
	condition_free(b->condition);
	b->condition = condition;
	app_say(app, text ? "breakpoint %u stops if %s" : "breakpoint %u always stops",
	        b->number, text ? text + 1 : "");
	return true;
}

static bool word_delete_at(struct app *app, const char *arguments, struct error *error)
{
	struct session *s = app->session;
	if (*arguments == '\0') {
		g_ptr_array_set_size(s->breakpoints, 0);
		return true;
	}
	struct breakpoint *b = breakpoint_of(s, arguments, error);
	return b && g_ptr_array_remove(s->breakpoints, b);
}

/* -- pairs and findings --------------------------------------------------------------- */

/* Two events at the beginning of the arguments become the pair; *rest is what follows. */
static bool take_pair(struct app *app, const char *arguments, const char **rest,
                      struct error *error)
{
	char **w = g_strsplit(arguments, " ", 3);
	uint32_t a = NONE, b = NONE;
	if (g_strv_length(w) < 2) {
		g_strfreev(w);
		return expect(error, "two events");
	}
	a = event_of(app, w[0], error);
	b = a == NONE ? NONE : event_of(app, w[1], error);
	*rest = w[2] ? strstr(arguments + strlen(w[0]) + 1, w[2]) : "";
	g_strfreev(w);
	if (a == NONE || b == NONE)
		return false;
	if (a == b)
		return expect(error, "two different events");
	session_ask(app->session, a, b);
	return true;
}

static bool word_pair(struct app *app, const char *arguments, struct error *error)
{
	const char *rest;
	if (!take_pair(app, arguments, &rest, error))
		return false;
	app_goto(app, app->session->pair[0], true);
	app_say(app, "w the witness, o why ordered, s the source of both");
	return true;
}

static bool word_witness(struct app *app, const char *arguments, struct error *error)
{
	const char *rest;
	if (*arguments && !take_pair(app, arguments, &rest, error))
		return false;
	const uint32_t *pair = app->session->pair;
	if (*arguments && session_finding(app->session) == NULL &&
	    !events_race_conflict(app_trace(app), pair[0], pair[1]))
		return error_set(error, "", NULL,
		                 "events %u and %u do not conflict: they touch no common "
		                 "byte, or are of one thread, or neither writes",
		                 pair[0], pair[1]);
	app_request(app, REQUEST_WITNESS, 0);
	return true;
}

static bool word_order(struct app *app, const char *arguments, struct error *error)
{
	if (!order_kind_from_word(arguments, &app->session->order))
		return expect(error, "po, hb, shb, cp, wcp, dc, wdc or edc");
	app_refresh(app);
	return true;
}

static bool word_why(struct app *app, const char *arguments, struct error *error)
{
	const char *rest = "";
	static const struct {
		const char *word;
		enum request request;
	} asks[] = { { "hb", REQUEST_BY_HB },
		     { "wcp", REQUEST_BY_WCP },
		     { "wdc", REQUEST_BY_WDC },
		     { "m2", REQUEST_BY_CLOSURE },
		     { "closure", REQUEST_BY_CLOSURE } };
	if (g_ascii_isdigit(*arguments) || *arguments == '$') {
		if (!take_pair(app, arguments, &rest, error))
			return false;
	} else {
		rest = arguments;
	}
	app_request(app, REQUEST_ORDER, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(asks); i++)
		if (strcmp(rest, asks[i].word) == 0 && app_view(app) == VIEW_ORDER)
			app_request(app, asks[i].request, 0);
	return true;
}

static bool word_filter(struct app *app, const char *arguments, struct error *error)
{
	app_go(app, VIEW_FINDINGS);
	findings_view.search(app, app->states[VIEW_FINDINGS], arguments, 1);
	return true;
}

static struct entry *need_entry(const struct app *app, struct error *error)
{
	struct entry *entry = session_selected(app->session);
	if (entry == NULL)
		error_set(error, "", NULL, "no finding is selected");
	return entry;
}

static bool word_triage(struct app *app, const char *arguments, struct error *error)
{
	struct entry *entry = need_entry(app, error);
	if (entry == NULL)
		return false;
	for (int m = 0; m < TRIAGE_COUNT; m++) {
		const char *word = m ? triage_word((enum triage)m) : "none";
		if (strcmp(arguments, word) != 0)
			continue;
		entry->triage = (enum triage)m;
		app_refresh(app);
		return session_save_notes(app->session, error);
	}
	return expect(error, "real, benign, duplicate, fixed or none");
}

static bool word_note(struct app *app, const char *arguments, struct error *error)
{
	struct entry *entry = need_entry(app, error);
	if (entry == NULL)
		return false;
	g_free(entry->note);
	entry->note = *arguments ? g_strdup(arguments) : NULL;
	return session_save_notes(app->session, error);
}

static bool word_bookmark(struct app *app, const char *arguments, struct error *error)
{
	struct bookmark b = { app->session->event, NULL };
	if (!need_events(app, error))
		return false;
	if (g_ascii_isdigit(*arguments))
		return expect(error, "a name that is no number");
	b.name = *arguments ? g_strdup(arguments) : g_strdup_printf("%u", b.event);
	g_array_append_val(app->session->bookmarks, b);
	app_say(app, "bookmark %s at event %u", b.name, b.event);
	return session_save_notes(app->session, error);
}

static bool word_export(struct app *app, const char *arguments, struct error *error)
{
	char *path = NULL;
	if (!export_write(app, *arguments ? arguments : NULL, &path, error))
		return false;
	app_say(app, "written to %s", path);
	g_free(path);
	return true;
}

static bool word_replay(struct app *app, const char *arguments, struct error *error)
{
	return export_replay(app, arguments, error);
}

static bool word_analyse(struct app *app, const char *arguments, struct error *error)
{
	if (!jobs_idle(&app->jobs))
		return error_set(error, "", ":stop ends it", "work is under way");
	app_start_work(app);
	return true;
}

static bool word_stop(struct app *app, const char *arguments, struct error *error)
{
	app_request(app, REQUEST_STOP, 0);
	return true;
}

/* -- the screen --------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum request request;
} view_names[] = {
	{ "findings", REQUEST_GO_FINDINGS },
	{ "trace", REQUEST_GO_TRACE },
	{ "source", REQUEST_SOURCE },
	{ "state", REQUEST_GO_STATE },
	{ "witness", REQUEST_WITNESS },
	{ "order", REQUEST_ORDER },
	{ "graph", REQUEST_GO_GRAPH },
	{ "commutativity", REQUEST_GO_COMMUTE },
	{ "exploration", REQUEST_GO_EXPLORE },
	{ "help", REQUEST_HELP },
};

static bool word_view(struct app *app, const char *arguments, struct error *error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(view_names); i++) {
		if (*arguments == '\0' || !g_str_has_prefix(view_names[i].name, arguments))
			continue;
		app_request(app, view_names[i].request, 0);
		return true;
	}
	return expect(
	        error,
	        "findings, trace, source, state, witness, order, graph, commutativity, exploration or "
	        "help");
}

static bool set_hidden(struct app *app, const char *name, bool hidden, struct error *error)
{
	const struct trace *t = app_trace(app);
	for (uint32_t i = 0; i < t->threads_count; i++) {
		if (strcmp(trace_thread_name(t, i), name) != 0)
			continue;
		app->session->hidden[i] = hidden;
		app_refresh(app);
		return true;
	}
	return error_set(error, "", "`info threads` lists them", "there is no thread '%s'",
	                 name);
}

static bool word_hide(struct app *app, const char *arguments, struct error *error)
{
	return set_hidden(app, arguments, true, error);
}

static bool word_show(struct app *app, const char *arguments, struct error *error)
{
	if (*arguments)
		return set_hidden(app, arguments, false, error);
	session_show_all(app->session);
	app_refresh(app);
	return true;
}

/* A tree of executions, from wherever it lies. */
static bool word_exploration(struct app *app, const char *arguments, struct error *error)
{
	if (*arguments == '\0')
		return expect(error, "a file that heddle explore -o made");
	struct tree *tree = tree_open(arguments, error);
	if (tree == NULL)
		return false;
	tree_free(tree);
	g_free(app->tree_path);
	app->tree_path = g_strdup(arguments);
	app_go(app, VIEW_EXPLORE);
	app_refresh(app);
	return true;
}

static bool word_directory(struct app *app, const char *arguments, struct error *error)
{
	if (!g_file_test(arguments, G_FILE_TEST_IS_DIR))
		return error_set(error, arguments, NULL, "is not a directory");
	sources_add_folder(&app->sources, arguments);
	return true;
}

static bool word_bind(struct app *app, const char *arguments, struct error *error)
{
	const char *keys = strchr(arguments, ' ');
	char *name = keys ? g_strndup(arguments, keys - arguments) : g_strdup(arguments);
	enum request request = request_from_word(name);
	g_free(name);
	if (request == REQUEST_NONE)
		return error_set(error, "", "? lists what keys do; Tab completes requests",
		                 "expected a request, found '%s'", arguments);
	if (keys == NULL || !bindings_set(&app->bindings, request, keys + 1))
		return expect(error, "keys, such as j, C-f, PgDn");
	return true;
}

static bool word_press(struct app *app, const char *arguments, struct error *error)
{
	char **names = g_strsplit(arguments, " ", -1);
	bool good = true;
	for (char **name = names; *name && good; name++) {
		int key = key_from_name(*name);
		if (**name == '\0')
			continue;
		if (key == KEYCODE_NONE)
			good = error_set(error, "", NULL, "there is no key '%s'", *name);
		else
			app_key(app, key);
	}
	g_strfreev(names);
	return good;
}

static bool word_wait(struct app *app, const char *arguments, struct error *error)
{
	if (!app->scripted)
		return error_set(error, "", NULL,
		                 "`wait` is for scripts: the screen never waits");
	while (!jobs_idle(&app->jobs)) {
		struct pollfd fd = { .fd = app->jobs.wake[0], .events = POLLIN };
		poll(&fd, 1, -1);
		app_collect(app);
	}
	return true;
}

static bool word_save_screen(struct app *app, const char *arguments, struct error *error)
{
	if (*arguments == '\0')
		return expect(error, "a file");
	g_free(app->message);
	app->message = NULL;
	app_draw(app);
	GString *text = g_string_new(NULL);
	grid_dump(&app->grid, false, text);
	bool good = file_write_whole(arguments, text->str, text->len, error);
	g_string_free(text, TRUE);
	return good;
}

static bool word_help(struct app *app, const char *arguments, struct error *error)
{
	GString *out = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		const struct word *w = &words[i];
		if (*arguments && strcmp(w->name, arguments) != 0 &&
		    !is_among(w->others, arguments))
			continue;
		g_string_append_printf(out, "%s %s\t%s%s%s%s\n", w->name, w->arguments, w->help,
		                       *w->others ? " (also: " : "", w->others,
		                       *w->others ? ")" : "");
	}
	if (out->len == 0) {
		g_string_free(out, TRUE);
		return error_set(error, "", ":help lists the commands",
		                 "there is no command '%s'", arguments);
	}
	app_show_text(app, "commands", out);
	return true;
}

static bool word_quit(struct app *app, const char *arguments, struct error *error)
{
	app->quit = true;
	return true;
}

/* -- running and completing ------------------------------------------------------------ */

void commands_run(struct app *app, const char *line)
{
	char *copy = g_strstrip(g_strdup(line));
	char *arguments = copy + strcspn(copy, " \t");
	struct error error = { 0 };
	if (*arguments)
		*arguments++ = '\0';
	g_strstrip(arguments);
	const struct word *word = NULL;
	if (*copy == '\0') {
		g_free(copy);
		return;
	}
	if (g_ascii_isdigit(*copy)) { /* a number alone goes there */
		if (!word_go_event(app, copy, &error))
			app_complain(app, &error);
	} else if ((word = find_word(copy, &error)) == NULL ||
	           !word->run(app, arguments, &error)) {
		app_complain(app, &error);
	}
	g_free(copy);
}

static void offer(GPtrArray *out, const char *name, const char *text)
{
	enum { OFFERED = 2000 };
	if (!*name || !g_str_has_prefix(name, text) || out->len >= OFFERED)
		return;
	for (guint i = 0; i < out->len; i++)
		if (strcmp(out->pdata[i], name) == 0)
			return;
	g_ptr_array_add(out, g_strdup(name));
}

#define OFFER_TABLE(table, name_of) \
	for (uint64_t i = 0; i < t->table##_count; i++) \
		offer(out, trace_string(t, name_of), text);

static void offer_places(const struct trace *t, const char *text, GPtrArray *out)
{
	for (uint64_t i = 1; i < t->locations_count; i++) {
		const struct location *l = &t->locations[i];
		offer(out, trace_string(t, l->function), text);
		if (l->file && l->line) {
			char *base = g_path_get_basename(trace_string(t, l->file));
			char *place = g_strdup_printf("%s:%u", base, l->line);
			offer(out, place, text);
			g_free(place);
			g_free(base);
		} else {
			offer(out, trace_string(t, l->name), text);
		}
	}
}

static void offer_files(const char *text, GPtrArray *out)
{
	const char *slash = strrchr(text, '/');
	char *folder = slash ? g_strndup(text, slash - text + 1) : g_strdup("");
	GDir *dir = g_dir_open(*folder ? folder : ".", 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		char *path = g_strconcat(folder, name, NULL);
		offer(out, path, text);
		g_free(path);
	}
	if (dir)
		g_dir_close(dir);
	g_free(folder);
}

static int compare_words(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void offer_arguments(const struct app *app, enum completes what, const char *text,
                            GPtrArray *out)
{
	const struct trace *t = app_trace(app);
	static const char *const triages[] = { "real", "benign", "duplicate", "fixed", "none" };
	if (what == C_NAMES || what == C_VARIABLES) {
		OFFER_TABLE(variables, t->variables[i].name)
	}
	if (what == C_NAMES) {
		OFFER_TABLE(objects, t->objects[i].name)
	}
	if (what == C_NAMES || what == C_PLACES)
		offer_places(t, text, out);
	if (what == C_THREADS) {
		OFFER_TABLE(threads, t->threads[i].name)
	}
	if (what == C_FILES)
		offer_files(text, out);
	for (size_t i = 0; what == C_VIEWS && i < G_N_ELEMENTS(view_names); i++)
		offer(out, view_names[i].name, text);
	for (int k = 0; what == C_ORDERS && k < ORDER_KIND_COUNT; k++)
		offer(out, order_kind_word((enum order_kind)k), text);
	for (size_t i = 0; what == C_WORDS && i < G_N_ELEMENTS(words); i++)
		offer(out, words[i].name, text);
	for (size_t i = 0; what == C_INFO && i < G_N_ELEMENTS(infos); i++)
		offer(out, infos[i].name, text);
	for (size_t i = 0; what == C_TRIAGE && i < G_N_ELEMENTS(triages); i++)
		offer(out, triages[i], text);
	for (int r = 1; what == C_REQUESTS && r < REQUEST_COUNT; r++)
		offer(out, request_table[r].word, text);
	g_ptr_array_sort(out, compare_words);
}

GPtrArray *commands_complete(const struct app *app, const char *line, int start,
                             const char *text)
{
	GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
	struct error ignored;
	while (start > 0 && *line == ' ') {
		line++;
		start--;
	}
	if (start == 0) {
		offer_arguments(app, C_WORDS, text, out);
		return out;
	}
	char *name = g_strndup(line, strcspn(line, " "));
	const struct word *word = find_word(name, &ignored);
	g_free(name);
	if (word)
		offer_arguments(app, word->completes, text, out);
	return out;
}

void commands_print_table(GString *out)
{
	g_string_append(out, "| command | other names | does |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		char **parts = g_strsplit(words[i].arguments, "|", -1);
		char *arguments = g_strjoinv("\\|", parts);
		g_string_append_printf(out, "| `%s%s%s` | %s | %s |\n", words[i].name,
		                       *arguments ? " " : "", arguments, words[i].others,
		                       words[i].help);
		g_free(arguments);
		g_strfreev(parts);
	}
}
