/*
 * view_story.c - the story of the selected finding; see story.h.
 */
#include "tui/explorer/app.h"

#include "tui/explorer/words/story.h"

struct story_view {
	GArray *prose;                 /* struct prose_row */
	const struct finding *finding; /* its subject, or NULL */
	bool knows_order, missing;     /* options with which the text was made */
	const struct return_point *point;
	struct list list;
	int columns;
};

static void *story_open(struct app *app)
{
	struct story_view *v = g_new0(struct story_view, 1);
	v->prose = prose_new();
	return v;
}

static void story_close(void *state)
{
	struct story_view *v = state;
	g_array_free(v->prose, TRUE);
	g_free(v);
}

static void story_show(struct app *app, void *state)
{
	struct story_view *v = state;
	const struct session *s = app->session;
	const struct entry *entry = session_selected(s);
	const struct finding *f = session_finding(s);
	if (entry == NULL || !session_has(s, INDEX_ALL)) {
		v->finding = NULL;
		g_array_set_size(v->prose, 0);
		return;
	}
	if (f == NULL && s->missing && entry->finding->kind == FINDING_DATA_RACE) {
		v->finding = NULL; /* shown when it is decided */
		g_array_set_size(v->prose, 0);
		prose_add(v->prose, STYLE_BUSY, NONE, "asking for a witness or a proof");
		app_decide_pair(app, s->pair[0], s->pair[1]);
		return;
	}
	if (f == NULL)
		f = entry->finding;
	bool known = app_need_order(app, ORDER_KIND_HB);
	if (f == v->finding && known == v->knows_order && v->missing == s->missing &&
	    v->point == s->point)
		return;
	v->missing = s->missing;
	v->point = s->point;
	if (f != v->finding)
		v->list.cursor = 0;
	v->finding = f;
	v->knows_order = known;
	g_array_free(v->prose, TRUE);
	v->prose = story_tell(s, &app->sources, entry, f, app->grid.columns);
}

static void story_fit(struct app *app, void *state, int rows, int columns)
{
	struct story_view *v = state;
	v->columns = columns;
	prose_fit(v->prose, &v->list, rows, columns);
}

static void story_draw(const struct app *app, const void *state, struct pane p)
{
	const struct story_view *v = state;
	if (v->prose->len)
		prose_draw(v->prose, &v->list, p);
	else
		pane_text(p, 1, 2,
		          session_has(app->session, INDEX_ALL) ? STYLE_TEXT : STYLE_BUSY,
		          session_has(app->session, INDEX_ALL)
		                  ? "no finding is selected"
		                  : "the index is still being built");
}

static bool story_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct story_view *v = state;
	return request == REQUEST_STORY ||
	       prose_request(app, v->prose, &v->list, request, count);
}

static void story_select(struct app *app, void *state, int row, int column, bool again)
{
	struct story_view *v = state;
	prose_select(v->prose, &v->list, row, v->columns);
}

static void story_copy(const struct app *app, const void *state, GString *out)
{
	const struct story_view *v = state;
	prose_print(v->prose, 80, app->options.ascii, out);
}

const struct view_ops story_view = {
	.title = "Story",
	.open = story_open,
	.close = story_close,
	.show = story_show,
	.fit = story_fit,
	.draw = story_draw,
	.request = story_request,
	.select = story_select,
	.copy = story_copy,
};
