/*
 * app.c - the stack of views, requests from keys and the mouse, and the list of visited places;
 * see app.h.
 */
#include "tui/explorer/app.h"
#include "tui/explorer/messages.h"
#include "tui/explorer/settings.h"

#include "engine/base/editor.h"
#include "tui/explorer/commands/command_line.h"
#include "tui/explorer/frame.h"
#include "tui/explorer/guide.h"
#include "tui/explorer/output.h"
#include "tui/explorer/exploration/return_point.h"
#include "tui/explorer/views/view_bar.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

const struct view_ops *const view_table[VIEW_COUNT] = {
#define VIEW(name, table, word, request, of) [VIEW_##name] = &table,
#include "tui/explorer/views/views.def"
#undef VIEW
};

/* -- life --------------------------------------------------------------------------- */

void app_free(struct app *app)
{
	if (app == NULL)
		return;
	jobs_release(&app->jobs);
	for (int v = 0; v < VIEW_COUNT; v++)
		if (app->states[v])
			view_table[v]->close(app->states[v]);
	bindings_release(&app->bindings);
	sources_release(&app->sources);
	grid_release(&app->grid);
	g_array_free(app->places, TRUE);
	g_string_free(app->text, TRUE);
	g_string_free(app->clipboard, TRUE);
	g_free(app->text_title);
	g_free(app->tree_path);
	g_free(app->settled);
	g_free(app->message);
	g_strfreev(app->after);
	app_drop_question(app);
	output_free(app->output);
	g_free(app->rebuilt);
	session_free(app->session);
	g_free(app);
}

/* -- messages ----------------------------------------------------------------------- */

static void answer(struct app *app, int key)
{
	char **words = app->question_words;
	app_answer *yes = app->question_yes;
	app->question_words = NULL;
	app_drop_question(app);
	app_set_message(app, NULL, false);
	if (key == 'y') {
		yes(app, words);
		return;
	}
	g_strfreev(words);
	app_say(app, SAYS_NOT_DONE);
}

/* -- views and places --------------------------------------------------------------- */

static void place_back(struct app *app)
{
	if (app->places->len == 0) {
		app_say(app, SAYS_NO_PLACE_BEFORE);
		return;
	}
	struct visit to = g_array_index(app->places, struct visit, app->places->len - 1);
	g_array_set_size(app->places, app->places->len - 1);
	struct session *s = app->session;
	s->entry = to.entry < (int)s->entries->len ? to.entry : -1;
	s->event = to.event;
	s->frame = to.event < s->trace->events_count ? session_own_frame(s, to.event) : 0;
	s->pair[0] = to.pair[0];
	s->pair[1] = to.pair[1];
	app_raise(app, to.view);
}

/* -- requests that every view shares -------------------------------------------------- */

static const struct {
	enum request request;
	enum step_kind kind;
	int direction;
	bool jump; /* a long jump: the old place is kept */
	const char *nothing;
} steps[] = {
	{ REQUEST_NEXT, STEP_EVENT, 1, false, SAYS_LAST_EVENT },
	{ REQUEST_PREVIOUS, STEP_EVENT, -1, false, SAYS_FIRST_EVENT },
	{ REQUEST_THREAD_NEXT, STEP_THREAD, 1, false, SAYS_LAST_OF_THREAD },
	{ REQUEST_THREAD_PREVIOUS, STEP_THREAD, -1, false, SAYS_FIRST_OF_THREAD },
	{ REQUEST_SWITCH_NEXT, STEP_SWITCH, 1, false, SAYS_NO_SWITCH_AFTER },
	{ REQUEST_SWITCH_PREVIOUS, STEP_SWITCH, -1, false, SAYS_NO_SWITCH_BEFORE },
	{ REQUEST_WRITER, STEP_WRITER, -1, true, SAYS_NO_WRITE_BEFORE },
	{ REQUEST_READER, STEP_READER, 1, true, SAYS_NO_READ_AFTER },
	{ REQUEST_VARIABLE_NEXT, STEP_VARIABLE, 1, true, SAYS_NO_ACCESS_AFTER },
	{ REQUEST_VARIABLE_PREVIOUS, STEP_VARIABLE, -1, true, SAYS_NO_ACCESS_BEFORE },
	{ REQUEST_LOCK_NEXT, STEP_OBJECT, 1, true, SAYS_NO_LOCK_AFTER },
	{ REQUEST_LOCK_PREVIOUS, STEP_OBJECT, -1, true, SAYS_NO_LOCK_BEFORE },
	{ REQUEST_LINE_NEXT, STEP_LINE, 1, false, SAYS_NO_LINE_AFTER },
	{ REQUEST_LINE_PREVIOUS, STEP_LINE, -1, false, SAYS_NO_LINE_BEFORE },
};

/* Reports that an empty trace lacks the event that most requests need. */
static bool is_empty(struct app *app)
{
	if (app_trace(app)->events_count)
		return false;
	app_say(app, SAYS_NO_EVENTS);
	return true;
}

static bool step(struct app *app, enum request request, uint64_t count)
{
	struct session *s = app->session;
	for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
		if (steps[i].request != request)
			continue;
		if (is_empty(app))
			return true;
		uint32_t to = session_step(s, s->event, steps[i].kind, steps[i].direction,
		                           MAX(count, 1));
		if (to == s->event)
			app_say(app, "%s",
			        session_has(s, INDEX_VARIABLES) ? steps[i].nothing
			                                        : SAYS_INDEX_AWAITED);
		app_goto(app, to, steps[i].jump);
		return true;
	}
	return false;
}

static void go_partner(struct app *app)
{
	struct session *s = app->session;
	if (s->pair[0] == NONE) {
		app_say(app, SAYS_NO_PAIR);
		return;
	}
	app_goto(app, s->event == s->pair[0] ? s->pair[1] : s->pair[0], true);
}

static void go_match(struct app *app)
{
	struct session *s = app->session;
	uint32_t other = NONE;
	if (is_empty(app))
		return;
	if (session_has(s, INDEX_MATCH))
		other = s->trace->index->partner[s->event];
	if (other == NONE)
		app_say(app, SAYS_NO_PARTNER);
	else
		app_goto(app, other, true);
}

static void search(struct app *app, int direction)
{
	struct session *s = app->session;
	enum view_kind view = app_view(app);
	if (view == VIEW_FINDINGS) { /* a search there is a filter: search the listed
		                      * findings */
		app_request(app, direction > 0 ? REQUEST_DOWN : REQUEST_UP, 1);
		return;
	}
	if (is_empty(app))
		return;
	if (s->wanted == NULL || *s->wanted == '\0') {
		app_say(app, SAYS_NO_SEARCH);
		return;
	}
	if (view_table[view]->search &&
	    view_table[view]->search(app, app->states[view], s->wanted, direction))
		return;
	uint32_t found = session_find(s, s->event, s->wanted, direction);
	if (found == NONE) {
		app_say(app, SAYS_NOT_FOUND, direction > 0 ? SAYS_AFTER : SAYS_BEFORE,
		        s->wanted);
		return;
	}
	if (!(IN_STEPS & 1u << view))
		app_go(app, VIEW_TRACE);
	app_goto(app, found, true);
}

static void toggle_bookmark(struct app *app)
{
	struct session *s = app->session;
	if (is_empty(app))
		return;
	for (guint i = 0; i < s->bookmarks->len; i++) {
		if (g_array_index(s->bookmarks, struct bookmark, i).event != s->event)
			continue;
		g_array_remove_index(s->bookmarks, i);
		app_say(app, SAYS_BOOKMARK_GONE);
		return;
	}
	struct bookmark b = { s->event, g_strdup_printf("%u", s->event) };
	g_array_append_val(s->bookmarks, b);
	app_say(app, SAYS_BOOKMARK, s->event);
}

static void next_bookmark(struct app *app)
{
	const struct session *s = app->session;
	uint32_t best = NONE, first = NONE;
	for (guint i = 0; i < s->bookmarks->len; i++) {
		uint32_t e = g_array_index(s->bookmarks, struct bookmark, i).event;
		if (e > s->event && e < best)
			best = e;
		first = MIN(first, e);
	}
	if (first == NONE)
		app_say(app, SAYS_NO_BOOKMARKS);
	else
		app_goto(app, best != NONE ? best : first, true);
}

static void toggle_watch(struct app *app)
{
	struct session *s = app->session;
	uint32_t v = session_variable(s, s->event);
	if (is_empty(app))
		return;
	if (v == NONE) {
		app_say(app, SAYS_NOT_AN_ACCESS);
		return;
	}
	for (guint i = 0; i < s->watches->len; i++) {
		if (g_array_index(s->watches, uint32_t, i) == v) {
			g_array_remove_index(s->watches, i);
			app_say(app, SAYS_NOT_WATCHED);
			return;
		}
	}
	g_array_append_val(s->watches, v);
	app_say(app, SAYS_WATCHED);
}

static void copy_line(struct app *app)
{
	enum view_kind view = app_view(app);
	if (is_empty(app))
		return;
	g_string_truncate(app->clipboard, 0);
	if (view_table[view]->copy)
		view_table[view]->copy(app, app->states[view], app->clipboard);
	else
		trace_append_line(app_trace(app), app->session->event, app->clipboard);
	app_say(app, SAYS_COPIED, app->clipboard->str);
}

/* Open the selected event's line in the user's editor, when the terminal is free. */
static void edit_source(struct app *app)
{
	if (is_empty(app))
		return;
	struct session *s = app->session;
	g_autoptr(GArray) frames = session_frames(s, s->event);
	const struct frame *frame =
	        &g_array_index(frames, struct frame, MIN(s->frame, frames->len - 1));
	const struct location *l = &s->trace->locations[frame->location];
	const struct source_file *file =
	        l->file && l->line ? sources_get(&app->sources, trace_string(s->trace, l->file))
	                           : NULL;
	if (file == NULL || file->lines == NULL) {
		app_say(app, SAYS_NO_SOURCE);
		return;
	}
	app_run_after(app, editor_words(file->path, l->line));
	app->after_is_heddle = true; /* no message around it */
}

static void go_pair_view(struct app *app, enum view_kind view)
{
	if (app->session->pair[0] != NONE)
		app_go(app, view);
	else if (!jobs_idle(&app->jobs))
		app_say(app, SAYS_NOTHING_YET);
	else
		app_say(app, SAYS_NO_PAIR);
}

static void save_notes(struct app *app)
{
	struct error e;
	if (!session_save_notes(app->session, &e))
		app_complain(app, &e);
}

static bool shared_request(struct app *app, enum request request, uint64_t count)
{
	enum view_of { ANY, PAIR };
	static const struct {
		enum request request;
		enum view_of of;
	} places[VIEW_COUNT] = {
#define VIEW(name, table, word, request, of) [VIEW_##name] = { REQUEST_##request, of },
#include "tui/explorer/views/views.def"
#undef VIEW
	};
	for (int v = 0; v < VIEW_COUNT && request != REQUEST_NONE; v++) {
		if (places[v].request == request) {
			(places[v].of == PAIR ? go_pair_view : app_go)(app, (enum view_kind)v);
			return true;
		}
	}
	return step(app, request, count);
}

/* Goes to the last event from which the run could still end well; from there, to the first
 * from which it cannot. */
static void go_no_return(struct app *app)
{
	const struct session *s = app->session;
	const struct return_point *p = s->point;
	if (p == NULL) {
		app_say(app, SAYS_NO_RETURN_POINT);
		return;
	}
	bool passes = p->passes != NONE && s->event != p->passes;
	app_go(app, VIEW_TRACE);
	app_goto(app, passes ? p->passes : p->fails, true);
	g_autoptr(GString) text = g_string_new(NULL);
	return_point_append_instead(p, text);
	if (passes)
		app_say(app, SAYS_LAST_CHANCE, text->str);
	else
		app_say(app, SAYS_NO_RETURN, return_point_claim(p), text->str);
}

/* M: toggle whether uninstrumented code counts, for orders, pair decisions, the checker, and
 * the verdicts of the list. */
static void toggle_missing(struct app *app)
{
	struct session *s = app->session;

	if (!session_has(s, INDEX_ALL)) {
		app_say(app, SAYS_INDEX_AWAITED);
		return;
	}
	if (!session_lacks_code(s)) {
		app_say(app, SAYS_ALL_RECORDED);
		return;
	}
	s->missing = !s->missing;
	s->asked = s->pair[0] != NONE; /* verdicts change, the selection does not */
	app_say(app, s->missing ? SAYS_MISSING_COUNTS : SAYS_MISSING_IGNORED);
	app_refresh(app);
}

/* Ctrl-C: the work that the user asked for; where none is under way, the analyses. */
static void stop_work(struct app *app)
{
	if (jobs_idle(&app->jobs)) {
		app_say(app, SAYS_IDLE);
	} else if (jobs_stop_urgent(&app->jobs)) {
		app_say(app, SAYS_STOPPED_ASKED);
	} else {
		jobs_stop(&app->jobs);
		app_say(app, SAYS_STOPPED_ANALYSES);
	}
}

/* Requests that are one function of the explorer, wherever it stands. */
static void (*const simple_requests[])(struct app *) = {
	[REQUEST_MISSING] = toggle_missing,
	[REQUEST_PARTNER] = go_partner,
	[REQUEST_NO_RETURN] = go_no_return,
	[REQUEST_MATCH] = go_match,
	[REQUEST_BOOKMARK_NEXT] = next_bookmark,
	[REQUEST_PIN] = toggle_watch,
	[REQUEST_COPY] = copy_line,
	[REQUEST_VISUAL] = edit_source,
	[REQUEST_BACK_PLACE] = place_back,
	[REQUEST_STOP] = stop_work,
};

/* Requests that are a command. */
static const char *const request_commands[] = {
	[REQUEST_MY_CODE] = "just-my-code",
	[REQUEST_RERUN] = "rerun",
	[REQUEST_EXPORT] = "export",
};

static void common_request(struct app *app, enum request request, uint64_t count)
{
	if (shared_request(app, request, count))
		return;
	if (request < G_N_ELEMENTS(simple_requests) && simple_requests[request]) {
		simple_requests[request](app);
		return;
	}
	if (request < G_N_ELEMENTS(request_commands) && request_commands[request]) {
		commands_run(app, request_commands[request]);
		return;
	}
	switch (request) {
	case REQUEST_FILTER:
		line_open(app, LINE_FIND, "");
		break;
	case REQUEST_FIND_NEXT:
	case REQUEST_FIND_PREVIOUS:
		search(app, request == REQUEST_FIND_NEXT ? 1 : -1);
		break;
	case REQUEST_BOOKMARK:
		toggle_bookmark(app);
		save_notes(app);
		break;
	case REQUEST_COMMAND:
		line_open(app, LINE_COMMAND, "");
		break;
	case REQUEST_SUSPEND:
		app->suspend = true;
		break;
	case REQUEST_REDRAW:
		app->redraw = true;
		break;
	case REQUEST_BACK:
		app_leave(app);
		break;
	case REQUEST_QUIT:
		if (!app_leave(app))
			app->quit = true;
		break;
	default:
		break;
	}
}

static void take_request(struct app *app, enum request request, uint64_t count)
{
	enum view_kind view = app_view(app);
	app_set_message(app, NULL, false);
	if (guide_request(app, request))
		return;
	if (view_table[view]->request &&
	    view_table[view]->request(app, app->states[view], request, count))
		return;
	common_request(app, request, count);
}

static bool digit(struct app *app, int key)
{
	if (key < '0' || key > '9' || (key == '0' && app->count == 0))
		return false;
	if (app->count < UINT32_MAX)
		app->count = app->count * 10 + (uint64_t)(key - '0');
	return true;
}

static void take_key(struct app *app, int key)
{
	app->reported = 0;
	if (app_too_small(app)) {
		if (key == 'q')
			app->quit = true;
		return;
	}
	if (app->question) {
		answer(app, key);
		guide_notice(app);
		return;
	}
	if (app->line_open) {
		line_key(app, key);
		guide_notice(app);
		return;
	}
	if (digit(app, key))
		return;
	uint64_t count = app->count;
	app->count = 0;
	if (key == KEYCODE_ESC && count)
		return;
	enum request request = bindings_find(&app->bindings, app_view(app), key);
	if (request == REQUEST_NONE) {
		char name[16];
		app_say(app, SAYS_KEY_UNKNOWN, key_word(key, name));
		return;
	}
	app_request(app, request, count);
	guide_notice(app);
}

void app_collect(struct app *app)
{
	jobs_collect(&app->jobs);
	guide_notice(app);
}

static void await(struct app *app)
{
	struct pollfd fd = { .fd = app->jobs.wake[0], .events = POLLIN };
	poll(&fd, 1, -1);
	app_collect(app);
}

void app_resize(struct app *app, int rows, int columns)
{
	app->options.rows = rows;
	app->options.columns = columns;
	grid_resize(&app->grid, rows, columns);
}

void app_mouse(struct app *app, int row, int column, int button)
{
	enum view_kind view = app_view(app);
	if (app_too_small(app) || app->line_open || app->question)
		return;
	if (button == MOUSE_WHEEL_UP || button == MOUSE_WHEEL_DOWN) {
		app_request(app, button == MOUSE_WHEEL_UP ? REQUEST_UP : REQUEST_DOWN, 3);
		return;
	}
	if (button == MOUSE_MOVED || button == MOUSE_RELEASED) {
		(void)(button == MOUSE_MOVED ? split_drag(app, row, column)
		                             : split_release(app, row, column));
		return;
	}
	if (split_press(app, row, column)) {
		if (button != MOUSE_PRESSED)
			split_release(app, row, column);
		return;
	}
	struct pane body = guide_rest(app, frame_body(app));
	if (row >= frame_header_rows(app))
		row = frame_header_rows(app) +
		      (row - frame_header_rows(app)) / frame_rows_of_a_line(app);
	if (row == 1 && !settings_project()) {
		enum request request = view_bar_at(app, app->grid.columns, column);
		if (request != REQUEST_NONE)
			app_request(app, request, 0);
		guide_notice(app);
		return;
	}
	int beside = frame_beside_columns(app, body);
	if (row < body.row || row >= body.row + body.rows ||
	    column >= body.columns - (beside ? beside + 1 : 0) || !view_table[view]->select)
		return;
	app_set_message(app, NULL, false);
	view_table[view]->select(app, app->states[view], row - frame_header_rows(app), column,
	                         button == MOUSE_DOUBLE);
	guide_notice(app);
}

static const struct app_ops ops = {
	.request = take_request,
	.command = commands_run,
	.open_line = line_open,
	.key = take_key,
	.draw = frame_draw,
	.await = await,
};

struct app *app_new(struct session *session, const struct app_options *options)
{
	struct app *app = g_new0(struct app, 1);
	app->ops = &ops;
	app->views = view_table;
	app->session = session;
	app->options = *options;
	jobs_init(&app->jobs);
	bindings_init(&app->bindings);
	sources_init(&app->sources, session->trace->path);
	grid_init(&app->grid, options->rows, options->columns, options->ascii);
	app->places = g_array_new(FALSE, FALSE, sizeof(struct visit));
	app->text = g_string_new(NULL);
	app->clipboard = g_string_new(NULL);
	struct error e;
	if (!session_load_notes(session, &e))
		app_complain(app, &e);
	app->stack[app->depth++] = VIEW_FINDINGS;
	app->states[VIEW_FINDINGS] = findings_view.open(app);
	app_refresh(app);
	if (!options->quiet_start)
		app_start_work(app);
	return app;
}
