/*
 * view_state.c - the complete state at the selected event: locks, stacks, values, clocks.
 */
#include "tui/explorer/words/weak_memory.h"
#include "tui/explorer/messages.h"

struct state_view {
	struct list list;
	GArray *rows;
};

static void *state_open(struct app *app)
{
	return g_new0(struct state_view, 1);
}

static void state_close(void *state)
{
	struct state_view *v = state;
	if (v->rows)
		g_array_free(v->rows, TRUE);
	g_free(v);
}

static void state_show(struct app *app, void *state)
{
	struct state_view *v = state;
	if (session_has(app->session, INDEX_ALL))
		app_need_order(app, app->session->order);
	if (v->rows)
		g_array_free(v->rows, TRUE);
	v->rows = state_rows(
	        app, STATE_THREADS | STATE_MEMORY | STATE_STACKS | STATE_VALUES | STATE_CLOCKS,
	        0);
}

static void state_fit(struct app *app, void *state, int rows, int columns)
{
	struct state_view *v = state;
	v->list.rows = rows - 2;
	v->list.count = v->rows->len;
	uint64_t last =
	        v->list.count > (uint64_t)v->list.rows ? v->list.count - v->list.rows : 0;
	v->list.cursor = v->list.top = MIN(v->list.cursor, last);
}

static void state_draw(const struct app *app, const void *state, struct pane p)
{
	const struct state_view *v = state;
	const struct session *s = app->session;
	if (s->trace->events_count == 0)
		return;
	g_autoptr(GString) text = g_string_new(NULL);
	g_string_append_printf(text, "after event %u, %s: ", s->event,
	                       trace_thread_name(s->trace, s->trace->events[s->event].thread));
	describe_event(s, s->event, text);
	pane_text(p, 0, 1, STYLE_HEADING, text->str);
	if (!session_has(s, INDEX_ALL))
		pane_text(p, 1, 1, STYLE_BUSY, "the index is still being built");
	draw_state_rows(pane_part(p, 2, 1, -1, -1), v->rows, v->list.top);
}

static bool state_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct state_view *v = state;
	struct session *s = app->session;
	struct error error;
	switch (request) {
	case REQUEST_BY_NEXT:
		if (!weak_memory_allows(s, "other orders", &error)) {
			app_complain(app, &error);
			return true;
		}
		s->order = (enum order_kind)((s->order + 1) % ORDER_KIND_COUNT);
		app_say(app, SAYS_CLOCKS, order_kind_title(s->order));
		state_show(app, v);
		return true;
	case REQUEST_ENTER:
		app_go(app, VIEW_TRACE);
		return true;
	default:
		return list_request(&v->list, request, count);
	}
}

const struct view_ops state_view = {
	.title = "State",
	.open = state_open,
	.close = state_close,
	.show = state_show,
	.fit = state_fit,
	.draw = state_draw,
	.request = state_request,
};
