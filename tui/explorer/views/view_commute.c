/*
 * view_commute.c - a pair of non-commuting invocations: the condition with actual values, and
 * the conflicting access points.
 */
#include "tui/explorer/app.h"

#include <string.h>

static void *commute_open(struct app *app)
{
	return g_new0(int, 1);
}

static const struct finding *commuting_finding(const struct app *app)
{
	const struct entry *entry = session_selected(app->session);
	if (entry == NULL || entry->finding->methods[0] == NULL)
		return NULL;
	return entry->finding;
}

static int draw_invocation(const struct app *app, struct pane p, int row,
                           const struct finding *f, int side)
{
	const struct trace *t = app_trace(app);
	uint32_t event = side ? f->second : f->first;
	uint32_t thread = t->events[event].thread;
	g_autoptr(GString) place = g_string_new(NULL);
	describe_place(app->session, event, place);
	int at = pane_text(p, row, 1, style_of_thread(thread),
	                   session_thread(app->session, thread));
	at = pane_text(p, row, at + 2, STYLE_HERE, f->methods[side]);
	pane_format(p, row, at + 3, STYLE_DIM, "event %u, %s", event, place->str);
	if (f->points[side])
		pane_format(p, row + 1, 5, STYLE_LOCK, "touches %s", f->points[side]);
	return row + 3;
}

static void commute_draw(const struct app *app, const void *state, struct pane p)
{
	const struct finding *f = commuting_finding(app);
	pane_text(p, 0, 1, STYLE_HEADING, "do these two commute?");
	if (f == NULL) {
		pane_paragraph(
		        pane_part(p, 2, 1, -1, p.columns - 2), 0, 0, STYLE_TEXT,
		        "The selected finding is not about two calls on an object. Those are found "
		        "where the recording has the calls, and a specification (--spec FILE) says "
		        "which of them commute.");
		return;
	}
	int row = draw_invocation(app, p, 2, f, 0);
	row = draw_invocation(app, p, row, f, 1);
	if (f->condition && strcmp(f->condition, "false") == 0) {
		pane_text(p, row, 1, STYLE_HEADING,
		          "they do not commute, whatever their values");
		row += 2;
	} else if (f->condition) {
		pane_text(p, row, 1, STYLE_HEADING, "they commute when");
		row = pane_paragraph(pane_part(p, row + 1, 5, -1, p.columns - 6), 0, 0,
		                     STYLE_TEXT, f->condition) +
		      row + 1;
		pane_text(p, row, 5, STYLE_RACE, "which is false for these values");
		row += 2;
	}
	g_autoptr(GString) words = g_string_new(NULL);
	explain_entry(app->session, session_selected(app->session), words);
	pane_paragraph(pane_part(p, row, 1, -1, p.columns - 2), 0, 0, STYLE_TEXT, words->str);
}

static bool commute_request(struct app *app, void *state, enum request request, uint64_t count)
{
	if (request != REQUEST_ENTER)
		return false;
	app_go(app, VIEW_TRACE);
	return true;
}

const struct view_ops commute_view = {
	.title = "Commutativity",
	.open = commute_open,
	.close = g_free,
	.draw = commute_draw,
	.request = commute_request,
};
