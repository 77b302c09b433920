/*
 * views.c - the base of all views: the stack of views, messages in the last line, questions,
 * visited places, lists. Reaches views, requests and commands only through the tables in struct
 * app.
 */
#include "tui/explorer/app.h"

#include <string.h>

enum { PLACES_KEPT = 200 };

/* -- messages ----------------------------------------------------------------------- */

void app_drop_question(struct app *app)
{
	g_free(app->question);
	g_strfreev(app->question_words);
	app->question = NULL;
	app->question_words = NULL;
}

void app_set_message(struct app *app, char *message, bool is_error)
{
	g_free(app->message);
	app->message = message;
	app->message_is_error = is_error;
}

void app_say(struct app *app, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	app_set_message(app, g_strdup_vprintf(format, ap), false);
	va_end(ap);
}

void app_complain(struct app *app, const struct error *e)
{
	app_set_message(app,
	                g_strdup_printf("%s%s%s%s%s", e->where, *e->where ? ": " : "", e->what,
	                                *e->remedy ? "; " : "", e->remedy),
	                true);
}

void app_ask(struct app *app, char *question, app_answer *yes, char **words)
{
	app_drop_question(app);
	app->question = question;
	app->question_yes = yes;
	app->question_words = words;
}

void app_run_after(struct app *app, char **words)
{
	g_strfreev(app->after);
	app->after = words;
	app->after_is_heddle = false;
}

void app_show_text(struct app *app, const char *title, GString *text)
{
	g_string_free(app->text, TRUE);
	app->text = text;
	g_free(app->text_title);
	app->text_title = g_strdup(title);
	app_go(app, VIEW_TEXT);
}

/* -- views and places --------------------------------------------------------------- */

enum view_kind app_view(const struct app *app)
{
	return app->stack[app->depth - 1];
}

static struct visit visit_here(const struct app *app)
{
	const struct session *s = app->session;
	return (struct visit){ app_view(app), s->entry, s->event, { s->pair[0], s->pair[1] } };
}

static void remember(struct app *app)
{
	struct visit here = visit_here(app);
	if (app->places->len) {
		struct visit last =
		        g_array_index(app->places, struct visit, app->places->len - 1);
		if (memcmp(&last, &here, sizeof here) == 0)
			return;
	}
	if (app->places->len == PLACES_KEPT)
		g_array_remove_index(app->places, 0);
	g_array_append_val(app->places, here);
}

void app_refresh(struct app *app)
{
	enum view_kind view = app_view(app);
	if (app->states[view] && app->views[view]->show)
		app->views[view]->show(app, app->states[view]);
}

void app_raise(struct app *app, enum view_kind view)
{
	if (app->states[view] == NULL)
		app->states[view] = app->views[view]->open(app);
	if (view == VIEW_FINDINGS) {
		app->depth = 1;
	} else {
		int kept = 0;
		for (int i = 0; i < app->depth; i++)
			if (app->stack[i] != view)
				app->stack[kept++] = app->stack[i];
		app->stack[kept] = view;
		app->depth = kept + 1;
	}
	app_refresh(app);
}

void app_go(struct app *app, enum view_kind view)
{
	if (view == app_view(app)) {
		app_refresh(app);
		return;
	}
	remember(app);
	app_raise(app, view);
}

void app_forget(struct app *app)
{
	for (int v = 0; v < VIEW_COUNT; v++) {
		if (v == VIEW_FINDINGS || app->states[v] == NULL)
			continue;
		app->views[v]->close(app->states[v]);
		app->states[v] = NULL;
	}
	for (int i = 0; i < app->depth; i++)
		if (app->states[app->stack[i]] == NULL)
			app->states[app->stack[i]] = app->views[app->stack[i]]->open(app);
	app_refresh(app);
}

bool app_leave(struct app *app)
{
	if (app->depth == 1)
		return false;
	app->depth--;
	app_refresh(app);
	return true;
}

void app_goto(struct app *app, uint32_t event, bool jump)
{
	struct session *s = app->session;
	if (event == NONE || event >= s->trace->events_count)
		return;
	if (jump && event != s->event)
		remember(app);
	s->event = event;
	s->frame = session_own_frame(s, event);
	app_refresh(app);
}

bool list_request(struct list *l, enum request request, uint64_t count)
{
	uint64_t n = MAX(count, 1), page = MAX(l->rows - 1, 1);
	uint64_t last = l->count ? l->count - 1 : 0;
	switch (request) {
	case REQUEST_DOWN:
		l->cursor = MIN(l->cursor + n, last);
		return true;
	case REQUEST_UP:
		l->cursor -= MIN(n, l->cursor);
		return true;
	case REQUEST_PAGE_DOWN:
		l->cursor = MIN(l->cursor + n * page, last);
		return true;
	case REQUEST_PAGE_UP:
		l->cursor -= MIN(n * page, l->cursor);
		return true;
	case REQUEST_HALF_DOWN:
		l->cursor = MIN(l->cursor + n * MAX(page / 2, 1), last);
		return true;
	case REQUEST_HALF_UP:
		l->cursor -= MIN(n * MAX(page / 2, 1), l->cursor);
		return true;
	case REQUEST_FIRST:
		l->cursor = count ? MIN(count - 1, last) : 0;
		return true;
	case REQUEST_LAST:
		l->cursor = count ? MIN(count - 1, last) : last;
		return true;
	default:
		return false;
	}
}
