/*
 * commands_move.c - commands for moving: to an event or place, along a thread, to a breakpoint.
 */
#include "tui/explorer/commands.h"

#include <string.h>

/* -- helpers ------------------------------------------------------------------------ */

uint32_t event_of(const struct app *app, const char *text, struct error *error)
{
	const struct session *s = app->session;
	for (guint i = 0; i < s->bookmarks->len; i++) {
		const struct bookmark *b = &g_array_index(s->bookmarks, struct bookmark, i);
		if (strcmp(b->name, text) == 0)
			return b->event;
	}
	return session_parse_event(s, text, error);
}

/* The current event in the last line. */
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

/* Go there; shows the trace unless one is where steps are seen. */
static void move_to(struct app *app, uint32_t event)
{
	if (!(IN_STEPS & 1u << app_view(app)) || app_view(app) == VIEW_WITNESS)
		app_go(app, VIEW_TRACE);
	app_goto(app, event, true);
	say_event(app);
}

GArray *locations_of(const struct trace *t, const char *place)
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

/* -- going to events ----------------------------------------------------------------------- */

bool word_go_event(struct app *app, const char *arguments, struct error *error)
{
	uint32_t event = event_of(app, arguments, error);
	if (event == NONE)
		return false;
	move_to(app, event);
	return true;
}

bool word_find(struct app *app, const char *arguments, struct error *error)
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

bool word_stack(struct app *app, const char *arguments, struct error *error)
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

bool word_frame(struct app *app, const char *arguments, struct error *error)
{
	return set_frame(app,
	                 *arguments ? (unsigned)g_ascii_strtoull(arguments, NULL, 10)
	                            : app->session->frame,
	                 error);
}

bool word_up(struct app *app, const char *arguments, struct error *error)
{
	return set_frame(app, app->session->frame + (unsigned)count_of(arguments), error);
}

bool word_down(struct app *app, const char *arguments, struct error *error)
{
	unsigned n = (unsigned)count_of(arguments);
	if (n > app->session->frame)
		return error_set(error, "", NULL, "frame 0 is the innermost");
	return set_frame(app, app->session->frame - n, error);
}

static bool is_one_of(const GArray *locations, uint32_t location)
{
	for (guint i = 0; i < locations->len; i++)
		if (g_array_index(locations, uint32_t, i) == location)
			return true;
	return false;
}

bool word_list(struct app *app, const char *arguments, struct error *error)
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

bool word_step(struct app *app, const char *arguments, struct error *error)
{
	return step_by(app, STEP_THREAD, 1, arguments, error);
}

bool word_reverse_step(struct app *app, const char *arguments, struct error *error)
{
	return step_by(app, STEP_THREAD, -1, arguments, error);
}

bool word_next(struct app *app, const char *arguments, struct error *error)
{
	return step_by(app, STEP_LINE, 1, arguments, error);
}

bool word_reverse_next(struct app *app, const char *arguments, struct error *error)
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

bool word_cont(struct app *app, const char *arguments, struct error *error)
{
	return run_on(app, 1, error);
}

bool word_reverse_cont(struct app *app, const char *arguments, struct error *error)
{
	return run_on(app, -1, error);
}

/* Stops where the function is entered; if inlined, at its first event. */
static void set_place(const struct trace *t, const char *place, struct breakpoint *b)
{
	b->sites = locations_of(t, place);
	for (uint32_t e = 0; e < t->events_count && b->function == NONE; e++)
		if (t->events[e].op == OP_ENTER &&
		    strcmp(trace_string(t, t->events[e].target), place) == 0)
			b->function = t->events[e].target;
	for (guint i = 0; i < b->sites->len && !b->whole; i++) {
		uint32_t site = g_array_index(b->sites, uint32_t, i);
		uint32_t function = t->locations[site].function;
		b->whole = function && strcmp(trace_string(t, function), place) == 0;
	}
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
	b->function = NONE;
	b->once = once;
	b->text = g_strdup(arguments);
	bool good = true;
	g_strstrip(place);
	if (watch)
		good = (b->variable = variable_of(app, place, error)) != NONE;
	else
		set_place(s->trace, place, b);
	if (good && b->sites && b->sites->len == 0 && b->function == NONE)
		good = error_set(error, "", "Tab completes places", "no event is at '%s'",
		                 place);
	if (good && condition)
		good = (b->condition = stop_condition_new(s, condition + 4, error)) != NULL;
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

bool word_break_at(struct app *app, const char *arguments, struct error *error)
{
	return add_breakpoint(app, arguments, false, false, error);
}

bool word_tbreak(struct app *app, const char *arguments, struct error *error)
{
	return add_breakpoint(app, arguments, false, true, error);
}

bool word_watch(struct app *app, const char *arguments, struct error *error)
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

bool word_condition(struct app *app, const char *arguments, struct error *error)
{
	struct breakpoint *b = breakpoint_of(app->session, arguments, error);
	const char *text = strchr(arguments, ' ');
	struct stop_condition *condition = NULL;
	if (b == NULL)
		return false;
	if (text && (condition = stop_condition_new(app->session, text + 1, error)) == NULL)
		return false;
	stop_condition_free(b->condition);
	b->condition = condition;
	app_say(app, text ? "breakpoint %u stops if %s" : "breakpoint %u always stops",
	        b->number, text ? text + 1 : "");
	return true;
}

bool word_delete_at(struct app *app, const char *arguments, struct error *error)
{
	struct session *s = app->session;
	if (*arguments == '\0') {
		g_ptr_array_set_size(s->breakpoints, 0);
		return true;
	}
	struct breakpoint *b = breakpoint_of(s, arguments, error);
	return b && g_ptr_array_remove(s->breakpoints, b);
}
