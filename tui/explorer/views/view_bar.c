/* view_bar.c - see view_bar.h. Where the row is short, views at its end have their keys alone.
 */
#include "tui/explorer/views/view_bar.h"

struct tab {
	enum view_kind view;
	const char *word;
	enum request request;
	char key[16];
	bool named;
	int begin, width; /* columns */
};

static const struct {
	enum view_kind view;
	const char *word;
} words[] = {
#define TAB(view, word) { VIEW_##view, word },
#include "tui/explorer/views/views.def"
#undef TAB
};
enum { TABS = G_N_ELEMENTS(words) };

static enum request request_of(enum view_kind view)
{
	static const enum request requests[VIEW_COUNT] = {
#define VIEW(name, table, word, request, of) [VIEW_##name] = REQUEST_##request,
#include "tui/explorer/views/views.def"
#undef VIEW
	};
	return requests[view];
}

static int width_of(const struct tab *tab)
{
	return text_columns(tab->key) + (tab->named ? 1 + text_columns(tab->word) : 0);
}

static int total_of(const struct tab *tabs, int gap)
{
	int total = 1;
	for (int i = 0; i < TABS; i++)
		total += width_of(&tabs[i]) + gap;
	return total;
}

/* Place the tabs in a row of `columns` columns; the open one keeps its word. */
static void lay_out(const struct app *app, struct tab *tabs, int columns)
{
	int gap = 2;
	for (int i = 0; i < TABS; i++) {
		char name[16];
		tabs[i] = (struct tab){ .view = words[i].view,
			                .word = words[i].word,
			                .request = request_of(words[i].view),
			                .named = true };
		int key = bindings_key(&app->bindings, app_view(app), tabs[i].request);
		g_strlcpy(tabs[i].key, key ? key_word(key, name) : "-", sizeof tabs[i].key);
	}
	if (total_of(tabs, gap) > columns)
		gap = 1;
	for (int i = TABS; i-- > 0 && total_of(tabs, gap) > columns;)
		tabs[i].named = tabs[i].view == app_view(app);
	for (int i = 0, at = 1; i < TABS; i++) {
		tabs[i].begin = at;
		tabs[i].width = width_of(&tabs[i]);
		at += tabs[i].width + gap;
	}
}

void view_bar_draw(const struct app *app, struct pane row)
{
	struct tab tabs[TABS];
	lay_out(app, tabs, row.columns);
	for (int i = 0; i < TABS; i++) {
		const struct tab *tab = &tabs[i];
		bool open = tab->view == app_view(app);
		int at =
		        pane_text(row, 0, tab->begin, open ? STYLE_TITLE : STYLE_KEY, tab->key);
		if (tab->named)
			pane_text(row, 0, at + 1, open ? STYLE_TITLE : STYLE_DIM, tab->word);
		if (open)
			pane_highlight(
			        pane_part(row, 0, MAX(tab->begin - 1, 0), 1, tab->width + 2), 0,
			        ATTR_REVERSE);
	}
}

enum request view_bar_at(const struct app *app, int columns, int column)
{
	struct tab tabs[TABS];
	lay_out(app, tabs, columns);
	for (int i = 0; i < TABS; i++)
		if (column >= tabs[i].begin && column < tabs[i].begin + tabs[i].width)
			return tabs[i].request;
	return REQUEST_NONE;
}

bool view_bar_names(const struct app *app, int columns, enum request request)
{
	struct tab tabs[TABS];
	lay_out(app, tabs, columns);
	for (int i = 0; i < TABS; i++)
		if (tabs[i].request == request)
			return tabs[i].named;
	return false;
}
