/*
 * frame.c - see frame.h.
 */
#include "tui/explorer/frame.h"

#include "tui/explorer/commands/command_line.h"
#include "tui/explorer/guide.h"
#include "tui/explorer/messages.h"
#include "tui/explorer/settings.h"
#include "tui/explorer/views/view_bar.h"

#include <inttypes.h>
#include <string.h>

enum { FOOTER_ROWS = 2, FOLDED_BELOW = 20, BESIDE_FROM = 120 };

bool app_too_small(const struct app *app)
{
	return app->grid.rows < LEAST_ROWS || app->grid.columns < LEAST_COLUMNS;
}

int frame_header_rows(const struct app *app)
{
	return app->grid.rows < FOLDED_BELOW || settings_project() ? 2 : 3;
}

static struct pane whole_body(const struct app *app)
{
	struct pane whole = pane_whole((struct grid *)&app->grid);
	int header = frame_header_rows(app);
	return pane_part(whole, header, 0, whole.rows - header - FOOTER_ROWS, -1);
}

int frame_rows_of_a_line(const struct app *app)
{
	enum { LEAST_LINES = 10 };
	return settings_project() && whole_body(app).rows >= 2 * LEAST_LINES ? 2 : 1;
}

struct pane frame_body(const struct app *app)
{
	struct pane body = whole_body(app);
	return pane_part(body, 0, 0, body.rows / frame_rows_of_a_line(app), -1);
}

/* Do strokes of the two cells, one above the other, meet? */
static bool strokes_meet(uint32_t above, uint32_t below)
{
	bool down = above == '|' || (above >= 0x2502 && above <= 0x2503) || above == 0x250c ||
	            above == 0x2510 || above == 0x251c || above == 0x2524;
	bool up = below == '|' || (below >= 0x2502 && below <= 0x2503) || below == 0x2514 ||
	          below == 0x2518 || below == 0x251c || below == 0x2524;
	return down && up;
}

/* Gives each line two rows; strokes continue between lines. */
static void spread(struct pane body)
{
	struct pane lines = pane_part(body, 0, 0, body.rows / 2, -1);
	for (int r = lines.rows; r-- > 0;)
		for (int c = 0; c < body.columns; c++) {
			struct cell cell = *grid_at(body.grid, body.row + r, body.column + c);
			const struct cell *below =
			        r + 1 < lines.rows ? grid_at(body.grid, body.row + 2 * r + 2,
			                                     body.column + c)
			                           : NULL;
			bool meet = below && strokes_meet(cell.rune, below->rune);
			cell.attributes |= ATTR_BOLD;
			*grid_at(body.grid, body.row + 2 * r, body.column + c) = cell;
			*grid_at(body.grid, body.row + 2 * r + 1, body.column + c) =
			        (struct cell){ .rune = !meet              ? ' '
				                       : body.grid->ascii ? '|'
				                                          : 0x2502,
				               .style = meet ? below->style : STYLE_TEXT };
		}
	body.grid->border_count = 0;
}

int frame_beside_columns(const struct app *app, struct pane body)
{
	enum view_kind view = app_view(app);
	bool follows = view == VIEW_TRACE || view == VIEW_WITNESS;
	if (!follows || body.columns < BESIDE_FROM || settings_project())
		return 0;
	int usual = body.columns - MIN(body.columns / 3, 76) - 1;
	return body.columns - 1 - split_at(app, SPLIT_BESIDE, body.columns, usual, 60, 20);
}

static void append_facts(const struct app *app, GString *out)
{
	const struct trace *t = app_trace(app);
	char number[32];
	g_string_append_printf(out, "%s thread%s · ", grouped(t->threads_count, number),
	                       plural(t->threads_count));
	g_string_append_printf(out, "%s event%s", grouped(t->events_count, number),
	                       plural(t->events_count));
	const char *mode = trace_note(app->session->trace, "recording");
	const char *seed = trace_note(app->session->trace, "recording-seed");
	if (mode)
		g_string_append_printf(out, " · recorded %s", mode);
	if (seed)
		g_string_append_printf(out, ", seed %s", seed);
	if (!t->complete)
		g_string_append(out, " · truncated");
	if (trace_sampled(t))
		g_string_append_printf(out, " · accesses sampled, one window in %" PRIu64,
		                       trace_sampled(t));
	else if (t->filtered)
		g_string_append(out, " · filtered");
}

static void draw_header(const struct app *app, struct pane p)
{
	int at = pane_text(p, 0, 0, STYLE_TITLE, "heddle");
	const char *name = trace_name(app_trace(app));
	at = pane_text(p, 0, at + 2, STYLE_HEADING, name);
	g_autoptr(GString) text = g_string_new(NULL);
	session_append_ending(app->session, true, text);
	if (text->len)
		at = pane_text(p, 0, at + 2, STYLE_RACE, text->str);
	g_string_truncate(text, 0);
	append_facts(app, text);
	const char *title = app->views[app_view(app)]->title;
	int right = p.columns - text_columns(title);
	struct pane facts = pane_part(p, 0, at + 2, 1, MAX(right - at - 4, 0));
	if (p.rows > 2)
		pane_text(facts, 0, 0, STYLE_DIM, text->str);
	pane_text(p, 0, right, STYLE_TITLE, title);
	bool hidden = app->guide && app->guide->size == GUIDE_HIDDEN;
	const char *lesson = !hidden ? NULL : app->guide->done ? "L lesson ✓" : "L lesson";
	int rule = settings_project() ? 1 : p.rows > 2 ? 2 : -1;
	if (rule != 1)
		view_bar_draw(app, pane_part(p, 1, 0, 1, -1));
	if (rule > 0)
		pane_rule(p, rule, lesson);
	g_string_truncate(text, 0);
	jobs_describe((struct jobs *)&app->jobs, text);
	bool busy = text->len > 0;
	if (!busy && app_view(app) == VIEW_FINDINGS)
		session_append_summary(app->session, text);
	if (app->session->missing)
		g_string_append(text,
		                text->len ? " · missing code counts" : "missing code counts");
	if (text->len && rule > 0) {
		g_string_prepend_c(text, ' ');
		g_string_append_c(text, ' ');
		pane_text(p, rule, MAX(p.columns - text_columns(text->str) - 2, 0),
		          busy ? STYLE_BUSY : STYLE_DIM, text->str);
	} else if (text->len) {
		pane_text(facts, 0, 0, busy ? STYLE_BUSY : STYLE_DIM, text->str);
	}
}

static int draw_hint(struct pane p, int at, int limit, int key, const char *hint)
{
	char buffer[16];
	const char *name = key_word(key, buffer);
	if (at + text_columns(name) + 1 + text_columns(hint) > limit)
		return -1;
	at = pane_text(p, 0, at, STYLE_KEY, name);
	return pane_text(p, 0, at + 1, STYLE_HINT, hint) + 2;
}

/* Number of views with the request: 0 only this one, 1 some, 2 all. */
static int breadth(unsigned views, enum view_kind view)
{
	return views == 1u << view ? 0 : views == ANYWHERE ? 2 : 1;
}

static bool offers(const struct app *app, enum view_kind view, enum request request)
{
	if (request == REQUEST_MISSING && !session_lacks_code(app->session))
		return false;
	bool recorded = view == VIEW_TRACE || view == VIEW_EXPLORE;
	if (request == REQUEST_RERUN && !recorded && app->session->pair[0] == NONE)
		return false;
	if (request == REQUEST_RERUN && view == VIEW_TEXT && !session_reached(app->session))
		return false;
	return app->views[view]->offers == NULL ||
	       app->views[view]->offers(app, app->states[view], request);
}

/* Hints for requests: those of this view first, then in table order; help and quit always
 * fit. */
static void draw_hints(const struct app *app, struct pane p)
{
	enum view_kind view = app_view(app);
	const char *leave = app->depth > 1 ? "back" : "quit";
	int limit = p.columns - (int)strlen("? keys  q back") - 2, at = 1;
	bool bar = !settings_project(); /* else the keys of the views come first here */
	for (int pass = 0; pass < 3; pass++) {
		for (int r = 1; r < REQUEST_COUNT; r++) {
			const struct request_info *info = &request_table[r];
			if (info->hint == NULL || !(info->views & 1u << view) ||
			    breadth(info->views, view) != (bar ? pass : 2 - pass) ||
			    r == REQUEST_HELP || r == REQUEST_QUIT ||
			    !offers(app, view, (enum request)r) ||
			    (r == REQUEST_NO_RETURN && app->session->point == NULL) ||
			    (bar && view_bar_names(app, p.columns, (enum request)r)))
				continue;
			int key = bindings_key(&app->bindings, view, (enum request)r);
			int next = key ? draw_hint(p, at, limit, key, info->hint) : at;
			at = next < 0 ? at : next;
		}
	}
	at = draw_hint(p, at, p.columns, bindings_key(&app->bindings, view, REQUEST_HELP),
	               "keys");
	if (at > 0)
		draw_hint(p, at, p.columns, bindings_key(&app->bindings, view, REQUEST_QUIT),
		          leave);
}

/* The question must be readable as a whole: long ones take rows of the body. */
static void draw_question(const struct app *app, struct pane row, struct pane body)
{
	static const char keys[] = "y: yes; any other key: no";
	int at = 0, columns = MAX(row.columns - 1, 1);
	int lines = (text_columns(app->question) + columns - 1) / columns;
	int above = CLAMP(lines, 1, MAX(body.rows, 1));
	struct pane box = pane_part(body, body.rows - above, 0, above, -1);
	const char *text = app->question;
	for (int r = 0; r < box.rows; r++) {
		for (int c = 0; c < box.columns; c++)
			pane_rune(box, r, c, STYLE_TEXT, ' ');
		for (at = 0; *text; text += text_next(text).bytes) {
			struct drawn d = text_next(text);
			g_autofree char *one = g_strndup(text, d.bytes);
			if (at + d.columns > columns)
				break;
			at = pane_text(box, r, at, STYLE_ERROR, one);
		}
	}
	pane_text(row, 0, 0, STYLE_KEY, keys);
}

static void draw_last_row(const struct app *app, struct pane row, struct pane body)
{
	if (app->question)
		draw_question(app, row, body);
	else if (app->line_open)
		line_draw(app, row, body);
	else if (app->message)
		pane_text(row, 0, 0, app->message_is_error ? STYLE_ERROR : STYLE_TEXT,
		          app->message);
	else if (app->count)
		pane_format(row, 0, 0, STYLE_DIM, "%" G_GUINT64_FORMAT, (guint64)app->count);
	else
		pane_text(row, 0, 0, STYLE_DIM, ":");
}

static void draw_too_small(struct app *app, struct pane p)
{
	char need[64];
	g_snprintf(need, sizeof need, "needs %dx%d, has %dx%d", LEAST_COLUMNS, LEAST_ROWS,
	           p.columns, p.rows);
	const char *lines[] = { "heddle: too small", need, "make it larger", "q quits" };
	int rows = MIN((int)G_N_ELEMENTS(lines), p.rows);
	int top = MAX((p.rows - rows) / 2, 0);
	if (text_columns(need) > p.columns)
		g_snprintf(need, sizeof need, "needs %dx%d", LEAST_COLUMNS, LEAST_ROWS);
	for (int i = 0; i < rows; i++) {
		int at = MAX((p.columns - text_columns(lines[i])) / 2, 0);
		pane_text(p, top + i, at, i ? STYLE_TEXT : STYLE_HEADING, lines[i]);
	}
}

/* Draws the source of the selected event's thread; of both threads when both are about to
 * make the accesses of the pair. */
static void draw_beside(const struct app *app, struct pane p)
{
	const struct session *s = app->session;
	bool both = app_view(app) == VIEW_WITNESS && witness_view_at_pair(app);
	if (s->trace->events_count == 0)
		return;
	for (int i = 0; i < 1 + both; i++) {
		uint32_t event = both ? s->pair[i] : s->event;
		unsigned frame = both ? session_own_frame(s, event) : s->frame;
		int half = (p.rows - 1) / 2;
		struct pane part = !both ? p
		                   : i   ? pane_part(p, half + 1, 0, -1, -1)
		                         : pane_part(p, 0, 0, half, -1);
		if (i)
			pane_rule(p, half, NULL);
		if (!draw_source(app, part, event, frame))
			draw_neighbours(app, part, event);
	}
}

void frame_draw(struct app *app)
{
	grid_clear(&app->grid);
	struct pane whole = pane_whole(&app->grid);
	if (app_too_small(app)) {
		draw_too_small(app, whole);
		return;
	}
	enum view_kind view = app_view(app);
	struct pane body = frame_body(app);
	draw_header(app, pane_part(whole, 0, 0, frame_header_rows(app), -1));
	guide_draw(app, &body);
	int beside = frame_beside_columns(app, body);
	if (beside) {
		struct pane side = pane_part(body, 0, body.columns - beside, -1, -1);
		split_border(body, SPLIT_BESIDE, body.columns - beside - 1, true);
		body = pane_part(body, 0, 0, -1, body.columns - beside - 1);
		pane_bar(pane_part(whole, body.row, 0, body.rows, -1), side.column - 1);
		draw_beside(app, side);
	}
	if (app->views[view]->fit)
		app->views[view]->fit(app, app->states[view], body.rows, body.columns);
	app->views[view]->draw(app, app->states[view], body);
	if (frame_rows_of_a_line(app) == 2) {
		body = whole_body(app);
		spread(body);
	}
	draw_hints(app, pane_part(whole, whole.rows - 2, 0, 1, -1));
	draw_last_row(app, pane_part(whole, whole.rows - 1, 0, 1, -1), body);
}
