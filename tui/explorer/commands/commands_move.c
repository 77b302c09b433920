/*
 * commands_move.c - commands for moving: to an event or place, along a thread, to a breakpoint.
 */
#include "tui/explorer/commands/commands.h"
#include "tui/explorer/messages.h"

#include "engine/base/search.h"

#include <stdlib.h>
#include <string.h>

/* -- helpers ------------------------------------------------------------------------ */

/* The current event, "12 T1 lock m  at deposit bank.c:31". Caller frees. */
static char *event_words(const struct app *app)
{
	GString *text = g_string_new(NULL);
	const struct session *s = app->session;
	g_string_append_printf(text, "%u %s ", s->event,
	                       trace_thread_name(s->trace, s->trace->events[s->event].thread));
	describe_event(s, s->event, text);
	g_string_append(text, "  at ");
	describe_place(s, s->event, text);
	return g_string_free(text, FALSE);
}

static void say_event(struct app *app)
{
	g_autofree char *event = event_words(app);
	app_say(app, "%s", event);
}

/* Go to the event; shows the trace unless the present view shows steps. */
static void move_to(struct app *app, uint32_t event)
{
	if (!(IN_STEPS & 1u << app_view(app)) || app_view(app) == VIEW_WITNESS)
		app_go(app, VIEW_TRACE);
	app_goto(app, event, true);
	say_event(app);
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
		return refuse(error, WANTS_TEXT);
	g_free(app->session->wanted);
	app->session->wanted = g_strdup(arguments);
	uint32_t found = session_find(app->session, app->session->event, arguments, 1);
	if (found == NONE)
		return refuse(error, NO_EVENT_FOUND, app->session->event, arguments);
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
	g_autoptr(GArray) frames = session_frames(s, s->event);
	for (guint i = 0; i < frames->len; i++) {
		struct frame frame = g_array_index(frames, struct frame, i);
		append_frame(t, i, frame.function, frame.location, i == s->frame, out);
	}
	g_autofree char *title =
	        g_strdup_printf("call stack of %s at event %u",
	                        trace_thread_name(t, t->events[s->event].thread), s->event);
	app_show_text(app, title, out);
	return true;
}

static bool set_frame(struct app *app, unsigned frame, struct error *error)
{
	if (!need_events(app, error) || !need_index(app, error))
		return false;
	g_autoptr(GArray) frames = session_frames(app->session, app->session->event);
	unsigned depth = frames->len;
	if (frame >= depth)
		return refuse(error, NO_FRAME, depth - 1);
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
		return refuse(error, NO_FRAME_BELOW);
	return set_frame(app, app->session->frame - n, error);
}

bool word_list(struct app *app, const char *arguments, struct error *error)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	if (!need_events(app, error))
		return false;
	if (*arguments) {
		g_autoptr(GArray) locations = places_of(app, arguments);
		uint32_t found = NONE;
		for (uint64_t n = 0; locations->len && found == NONE && n < t->events_count;
		     n++) {
			uint32_t e = (uint32_t)((s->event + n) % t->events_count);
			if (is_one_of(locations, t->events[e].location))
				found = e;
		}
		if (found == NONE)
			return refuse(error, NO_EVENT_AT, arguments);
		app_goto(app, found, true);
	}
	app_go(app, VIEW_SOURCE);
	say_event(app);
	return true;
}

/* -- stepping ----------------------------------------------------------------------- */

bool by_step(struct app *app, int how, const char *arguments, struct error *error)
{
	const struct session *s = app->session;
	int direction = how < 0 ? BACK : FORWARD;
	if (!need_events(app, error))
		return false;
	uint32_t to = session_step(s, s->event, (enum step_kind)abs(how), direction,
	                           count_of(arguments));
	if (to == s->event)
		return (direction > 0 ? refuse(error, NO_STEP_AFTER)
		                      : refuse(error, NO_STEP_BEFORE));
	move_to(app, to);
	return true;
}

/* Out of the selected frame's function: to the first event of its caller, as gdb's. */
bool by_leave(struct app *app, int direction, const char *arguments, struct error *error)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	if (!need_events(app, error) || !need_index(app, error))
		return false;
	g_autoptr(GArray) frames = session_frames(s, s->event);
	uint32_t function = s->frame < frames->len
	                            ? g_array_index(frames, struct frame, s->frame).function
	                            : 0;
	uint32_t to = session_step(s, s->event, STEP_OUT, direction, 1);
	const char *thread = trace_thread_name(t, t->events[s->event].thread);
	const char *name = function ? trace_string(t, function) : "its function";
	if (to == s->event)
		return direction > 0 ? refuse(error, NO_WAY_OUT, thread, name)
		                     : refuse(error, NO_WAY_BACK, thread, name);
	move_to(app, to);
	g_autofree char *event = event_words(app);
	if (direction > 0)
		app_say(app, SAYS_RETURNED, name, event);
	else
		app_say(app, SAYS_NOT_CALLED_YET, name, event);
	return true;
}

/* The thread's next event at the place, or the first one out of its function. */
static uint32_t until_place(const struct session *s, const GArray *places)
{
	const struct trace *t = s->trace;
	uint32_t out = session_step(s, s->event, STEP_OUT, 1, 1), e = s->event, to;
	while ((to = session_step(s, e, STEP_THREAD, 1, 1)) != e) {
		e = to;
		if (is_one_of(places, t->events[e].location) || e == out)
			return e;
	}
	return NONE;
}

bool word_until(struct app *app, const char *arguments, struct error *error)
{
	const struct session *s = app->session;
	if (*arguments == '\0')
		return by_step(app, STEP_UNTIL, "1", error);
	if (!need_events(app, error))
		return false;
	g_autoptr(GArray) places = places_of(app, arguments);
	bool any = places->len > 0;
	uint32_t to = any ? until_place(s, places) : NONE;
	if (!any)
		return refuse(error, NO_EVENT_AT, arguments);
	if (to == NONE)
		return refuse(error, NO_WAY_THERE,
		              session_thread(s, s->trace->events[s->event].thread), arguments);
	move_to(app, to);
	return true;
}

/* A thread by its name, or by its number with or without a T. */
static uint32_t thread_of(const struct trace *t, const char *text)
{
	for (uint32_t i = 0; i < t->threads_count; i++)
		if (strcmp(trace_thread_name(t, i), text) == 0)
			return i;
	bool number = *text && text[strspn(text, "0123456789")] == '\0';
	g_autofree char *named = g_strconcat("T", text, NULL);
	uint32_t found = number ? NONE : t->threads_count;
	for (uint32_t i = 0; number && i < t->threads_count; i++)
		if (strcmp(trace_thread_name(t, i), named) == 0)
			found = i;
	if (number && found == NONE)
		found = (uint32_t)MIN(g_ascii_strtoull(text, NULL, 10), t->threads_count);
	return found;
}

/* The thread's last event up to here, or its first. */
bool word_thread(struct app *app, const char *arguments, struct error *error)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	if (g_str_has_prefix(arguments, "apply all"))
		return word_info(app, "threads", error);
	if (!need_events(app, error) || !need_index(app, error))
		return false;
	if (*arguments == '\0') {
		app_say(app, SAYS_THREAD, session_thread(s, t->events[s->event].thread),
		        s->event);
		return true;
	}
	uint32_t thread = thread_of(t, arguments);
	if (thread >= t->threads_count)
		return refuse(error, NO_THREAD, arguments);
	struct event_list list = trace_thread_events(t, thread);
	if (list.count == 0)
		return refuse(error, NO_EVENTS_OF, session_thread(s, thread));
	uint64_t past = search_end(i, 0, list.count, list.items[i] <= s->event);
	move_to(app, list.items[past ? past - 1 : 0]);
	if (past == 0) {
		g_autofree char *event = event_words(app);
		app_say(app, SAYS_NOT_BEGUN, session_thread(s, thread), event);
	}
	return true;
}

/* Move to the Nth stop from here, or to the last one if fewer remain. */
bool by_run(struct app *app, int direction, const char *arguments, struct error *error)
{
	struct session *s = app->session;
	struct breakpoint *hit;
	if (!need_events(app, error))
		return false;
	if (s->breakpoints->len == 0)
		return refuse(error, NO_STOPS);
	for (uint64_t count = count_of(arguments); count > 0; count--) {
		uint32_t to = session_run(s, s->event, direction, &hit);
		if (to == NONE)
			return direction > 0 ? refuse(error, NO_STOP_AFTER, s->event)
			                     : refuse(error, NO_STOP_BEFORE, s->event);
		move_to(app, to);
		hit->hits++;
		g_autofree char *event = event_words(app);
		app_say(app, SAYS_STOPPED, hit->number, event);
		if (hit->once)
			g_ptr_array_remove(s->breakpoints, hit);
	}
	return true;
}

/* Stops where the function is entered; if inlined, at its first event. */
static void set_place(const struct app *app, const char *place, struct breakpoint *b)
{
	const struct trace *t = app_trace(app);
	b->sites = places_of(app, place);
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

bool by_breakpoint(struct app *app, int how, const char *arguments, struct error *error)
{
	struct session *s = app->session;
	int accesses = how & (AT_READS | AT_WRITES);
	const char *condition = strstr(arguments, " if ");
	g_autofree char *place =
	        condition ? g_strndup(arguments, condition - arguments) : g_strdup(arguments);
	struct breakpoint *b = g_new0(struct breakpoint, 1);
	b->variable = NONE;
	b->function = NONE;
	b->once = how & AT_ONCE;
	b->reads = accesses & AT_READS;
	b->writes = accesses & AT_WRITES;
	b->text = g_strdup(arguments);
	bool good = true;
	g_strstrip(place);
	if (*place == '\0')
		good = accesses ? refuse(error, WANTS_VARIABLE) : refuse(error, WANTS_PLACE);
	else if (accesses)
		good = (b->variable = variable_of(app, place, error)) != NONE;
	else
		set_place(app, place, b);
	if (good && b->sites && b->sites->len == 0 && b->function == NONE)
		good = refuse(error, NO_EVENT_AT, place);
	if (good && condition)
		good = (b->condition = stop_condition_new(s, condition + 4, error)) != NULL;
	if (!good) {
		breakpoint_free(b);
		return false;
	}
	b->number = s->next_breakpoint++;
	g_ptr_array_add(s->breakpoints, b);
	if (accesses)
		app_say(app, SAYS_WATCHPOINT, b->number, arguments);
	else
		app_say(app, SAYS_BREAKPOINT, b->number, arguments);
	return true;
}

static struct breakpoint *breakpoint_of(const struct session *s, const char *text,
                                        struct error *error)
{
	char *end;
	guint64 number = g_ascii_strtoull(text, &end, 10);
	for (guint i = 0; i < s->breakpoints->len; i++) {
		struct breakpoint *b = s->breakpoints->pdata[i];
		if (b->number == number && end != text && strchr(" ", *end))
			return b;
	}
	refuse(error, NO_BREAKPOINT, text);
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
	if (text)
		app_say(app, SAYS_STOPS_IF, b->number, text + 1);
	else
		app_say(app, SAYS_ALWAYS_STOPS, b->number);
	return true;
}

/* The breakpoints of "1 3", or of "", all. NULL and `error` unless each is one. Caller frees.
 */
static GPtrArray *breakpoints_of(const struct session *s, const char *numbers,
                                 struct error *error)
{
	GPtrArray *found = g_ptr_array_new();
	for (guint i = 0; *numbers == '\0' && i < s->breakpoints->len; i++)
		g_ptr_array_add(found, s->breakpoints->pdata[i]);
	for (const char *at = numbers; *at; at += strspn(at, " ")) {
		struct breakpoint *b = breakpoint_of(s, at, error);
		if (b == NULL) {
			g_ptr_array_unref(found);
			return NULL;
		}
		g_ptr_array_add(found, b);
		at += strcspn(at, " ");
	}
	return found;
}

bool word_delete_at(struct app *app, const char *arguments, struct error *error)
{
	struct session *s = app->session;
	g_autoptr(GPtrArray) found = breakpoints_of(s, arguments, error);
	if (found == NULL)
		return false;
	for (guint i = 0; i < found->len; i++)
		g_ptr_array_remove(s->breakpoints, found->pdata[i]);
	app_say(app, SAYS_BREAKPOINTS_LEFT, s->breakpoints->len, plural(s->breakpoints->len));
	return true;
}

bool by_disabling(struct app *app, int disabled, const char *arguments, struct error *error)
{
	g_autoptr(GPtrArray) found = breakpoints_of(app->session, arguments, error);
	if (found == NULL)
		return false;
	for (guint i = 0; i < found->len; i++)
		((struct breakpoint *)found->pdata[i])->disabled = disabled;
	if (disabled)
		app_say(app, SAYS_DISABLED, found->len, plural(found->len));
	else
		app_say(app, SAYS_ENABLED, found->len, plural(found->len));
	return true;
}
