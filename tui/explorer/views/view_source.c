/*
 * view_source.c - the source of the selected event, or of both sides of a pair; and the source
 * excerpts of other views.
 */
#include "tui/explorer/app.h"
#include "tui/explorer/messages.h"
#include "tui/explorer/settings.h"
#include "engine/trace/own_code.h"

#include <string.h>

enum { NEWER_COLUMNS = 24 };

/* The source file, from a cache, the only state that drawing changes. */
static const struct source_file *source_of(const struct app *app, const struct location *l)
{
	return sources_get((struct sources *)&app->sources,
	                   trace_string(app_trace(app), l->file));
}

/* -- excerpts ------------------------------------------------------------------------------ */

static int indentation(const char *line)
{
	int blanks = (int)strspn(line, " ");
	return line[blanks] ? blanks : 1000;
}

/* "bank.c deposit()", or why the source is missing. */
static void draw_title(const struct app *app, struct pane p, const struct location *l,
                       uint32_t function)
{
	const struct trace *t = app_trace(app);
	g_autoptr(GString) title = g_string_new(NULL);
	g_autofree char *base = g_path_get_basename(trace_string(t, l->file));
	append_escaped(title, base, strlen(base));
	const char *name = trace_string(t, function);
	if (*name) {
		g_string_append_c(title, ' ');
		own_code_append_name(name, title);
		g_string_append(title, "()");
	}
	pane_text(p, 0, 1, STYLE_HEADING, title->str);
}

static char access_letter(enum op op)
{
	if (op == OP_RMW)
		return 'U';
	return op_writes(op) ? 'W' : op_reads(op) ? 'R' : ' ';
}

/* Draw the thread and its operation at the end of the marked line; returns its width. */
static int draw_mark(const struct app *app, struct pane p, int row, uint32_t event)
{
	const struct trace *t = app_trace(app);
	const struct event *e = &t->events[event];
	g_autofree char *mark = g_strdup_printf(
	        " %s %c", session_thread_within(app->session, e->thread, p.columns / 5),
	        access_letter(e->op));
	int width = text_columns(mark);
	pane_field(p, row, p.columns - width, width, style_of_thread(e->thread), mark);
	return width;
}

static void draw_lines(const struct app *app, struct pane p, const struct source_file *file,
                       uint32_t line, uint32_t event)
{
	int top = MAX((int)line - 1 - p.rows / 2, 0);
	top = MIN(top, MAX((int)file->lines->len - p.rows, 0));
	int strip = 1000;
	for (int r = 0; r < p.rows && top + r < (int)file->lines->len; r++)
		strip = MIN(strip, indentation(file->lines->pdata[top + r]));
	strip = p.columns >= 100 ? 0 : strip == 1000 ? 0 : strip;
	for (int r = 0; r < p.rows && top + r < (int)file->lines->len; r++) {
		const char *text = file->lines->pdata[top + r];
		bool here = top + r + 1 == (int)line;
		char number[16];
		g_snprintf(number, sizeof number, "%d", top + r + 1);
		if (here)
			pane_text(p, r, 1, STYLE_HERE, "▸");
		pane_field_right(p, r, 2, 5, here ? STYLE_HERE : STYLE_DIM, number);
		int mark = here && event != NONE ? draw_mark(app, p, r, event) : 0;
		pane_text(pane_part(p, r, 0, 1, p.columns - mark), 0, 9,
		          here ? STYLE_HERE : STYLE_TEXT,
		          (int)strlen(text) > strip ? text + strip : "");
	}
}

/* Frame `frame` of the stack at an event: 0 is the event's own, the outermost if too large. A
 * thread's first function is called from the C library: its source is that of its first
 * event. */
static struct frame frame_at(const struct app *app, uint32_t event, unsigned frame)
{
	const struct trace *t = app_trace(app);
	uint32_t at = event, location = t->events[event].location;
	if (frame == 0 && t->events[event].op == OP_ENTER && t->locations[location].line == 0 &&
	    session_has(app->session, INDEX_THREADS) && trace_next(t, event) != NONE)
		at = trace_next(t, event);
	g_autoptr(GArray) frames = session_frames(app->session, at);
	return g_array_index(frames, struct frame, MIN(frame, frames->len - 1));
}

bool draw_source(const struct app *app, struct pane p, uint32_t event, unsigned frame)
{
	const struct trace *t = app_trace(app);
	struct frame at = frame_at(app, event, frame);
	const struct location *l = &t->locations[at.location];
	if (source_line(app, at.location) == NULL)
		return false;
	const struct source_file *file = source_of(app, l);
	draw_title(app, p, l, at.function);
	if (file->newer)
		pane_field_right(p, 0, p.columns - NEWER_COLUMNS - 1, NEWER_COLUMNS, STYLE_OPEN,
		                 "newer than the recording");
	draw_lines(app, pane_part(p, 1, 0, -1, -1), file, l->line,
	           frame > session_own_frame(app->session, event) ? NONE : event);
	return true;
}

void draw_neighbours(const struct app *app, struct pane p, uint32_t event)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	enum style style = style_of_thread(t->events[event].thread);
	int at = pane_text(p, 0, 1, style, session_thread(s, t->events[event].thread));
	g_autoptr(GString) text = g_string_new(NULL);
	describe_place(s, event, text);
	pane_format(p, 0, at + 1, STYLE_HEADING, "at %s", text->str);
	uint32_t top = session_step(s, event, STEP_THREAD, -1, (uint64_t)(p.rows - 1) / 2);
	for (int r = 1; r < p.rows; r++) {
		char number[16];
		g_string_truncate(text, 0);
		describe_event(s, top, text);
		g_snprintf(number, sizeof number, "%u", top);
		bool here = top == event;
		if (here)
			pane_text(p, r, 1, STYLE_HERE, "▸");
		pane_field_right(p, r, 2, 8, here ? STYLE_HERE : STYLE_DIM, number);
		pane_text(p, r, 12, here ? STYLE_HERE : STYLE_TEXT, text->str);
		uint32_t next = session_step(s, top, STEP_THREAD, 1, 1);
		if (next == top)
			break;
		top = next;
	}
}

/* -- the view ----------------------------------------------------------------------- */

struct source_state {
	bool one; /* one side only, although a pair is selected */
};

static void *source_open(struct app *app)
{
	return g_new0(struct source_state, 1);
}

static void draw_missing(const struct app *app, struct pane p, uint32_t location,
                         uint32_t event)
{
	const struct trace *t = app_trace(app);
	const struct location *l = &t->locations[location];
	if (l->file == 0 || l->line == 0) {
		pane_paragraph(pane_part(p, 0, 1, 2, -1), 0, 0, STYLE_DIM,
		               "no source position was recorded (built with -g? stripped?); "
		               "its thread does:");
	} else {
		const struct source_file *file = source_of(app, l);
		if (file->lines)
			pane_format(p, 0, 1, STYLE_OPEN, "it has changed: it has no line %u",
			            l->line);
		else
			pane_text(p, 0, 1, STYLE_OPEN,
			          "source not found; `:directory DIR` says where it is");
		pane_text(p, 1, 1, STYLE_DIM, trace_string(t, l->file));
	}
	draw_neighbours(app, pane_part(p, 3, 0, -1, -1), event);
}

static void draw_event_side(const struct app *app, struct pane p, uint32_t event,
                            unsigned frame)
{
	const struct session *s = app->session;
	g_autoptr(GString) text = g_string_new(NULL);
	const struct trace *t = s->trace;
	g_string_append_printf(text, "%u %s: ", event,
	                       trace_thread_name(t, t->events[event].thread));
	describe_event(s, event, text);
	pane_text(p, 0, 1, style_of_thread(t->events[event].thread), text->str);
	struct pane rest = pane_part(p, 1, 0, -1, -1);
	if (!draw_source(app, rest, event, frame))
		draw_missing(app, rest, frame_at(app, event, frame).location, event);
}

static bool shows_pair(const struct app *app, const struct source_state *v)
{
	const struct session *s = app->session;
	return !v->one && !settings_project() && s->pair[0] != NONE &&
	       (s->event == s->pair[0] || s->event == s->pair[1]);
}

static void source_draw(const struct app *app, const void *state, struct pane p)
{
	const struct session *s = app->session;
	if (s->trace->events_count == 0)
		return;
	if (!shows_pair(app, state)) {
		draw_event_side(app, p, s->event, s->frame);
		return;
	}
	int half = split_at(app, SPLIT_SIDES, p.columns, p.columns / 2, 12, 12);
	for (int i = 0; i < 2; i++) {
		struct pane side = i ? pane_part(p, 0, half + 1, -1, -1)
		                     : pane_part(p, 0, 0, -1, half - 1);
		draw_event_side(app, side, s->pair[i],
		                s->event == s->pair[i] ? s->frame
		                                       : session_own_frame(s, s->pair[i]));
		if (s->event == s->pair[i])
			pane_highlight(side, 0, ATTR_REVERSE);
	}
	pane_bar(p, half);
	split_border(p, SPLIT_SIDES, half, true);
}

static unsigned stack_depth(const struct app *app)
{
	g_autoptr(GArray) frames = session_frames(app->session, app->session->event);
	return frames->len;
}

static bool source_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct source_state *v = state;
	struct session *s = app->session;
	switch (request) {
	case REQUEST_DOWN:
		app_request(app, REQUEST_LINE_NEXT, count);
		return true;
	case REQUEST_UP:
		app_request(app, REQUEST_LINE_PREVIOUS, count);
		return true;
	case REQUEST_TAB:
		if (s->pair[0] != NONE)
			app_request(app, REQUEST_PARTNER, 0);
		return true;
	case REQUEST_SOURCE:
		v->one = !v->one;
		return true;
	case REQUEST_ENTER:
		app_go(app, VIEW_TRACE);
		return true;
	case REQUEST_FRAME_UP:
		if (s->frame + 1 < stack_depth(app))
			s->frame++;
		else
			app_say(app, SAYS_OUTERMOST);
		return true;
	case REQUEST_FRAME_DOWN:
		if (s->frame)
			s->frame--;
		else
			app_say(app, SAYS_INNERMOST);
		return true;
	default:
		return false;
	}
}

const struct view_ops source_view = {
	.title = "Source",
	.open = source_open,
	.close = g_free,
	.draw = source_draw,
	.request = source_request,
};
