/*
 * guide.c - the lesson's pane: drawing a step, navigation, hints and answers; see guide.h.
 */
#include "tui/explorer/guide.h"
#include "tui/explorer/settings.h"

#include "tui/explorer/messages.h"

#include <string.h>

/* Screens of this width have the pane at the right. */
enum { SIDE_COLUMNS = 50, SIDE_FROM = USUAL_COLUMNS + SIDE_COLUMNS, MINIMUM_TEXT = 3 };

static const struct lesson_step *step_of(const struct guide *g)
{
	return g->lesson->steps->pdata[g->step];
}

static void begin_step(struct guide *g, guint step)
{
	g->step = step;
	const struct lesson_step *s = step_of(g);
	g->done = s->task == NULL && s->question == NULL;
	g->skipping = g->replayed = false;
	g->hints = 0;
	g_free(g->reply);
	g->reply = NULL;
}

void guide_init(struct guide *g, const struct lesson *lesson, const char *folder)
{
	struct lesson_progress progress = lesson_progress_load(lesson->name);
	memset(g, 0, sizeof *g);
	g->lesson = lesson;
	g->folder = folder;
	bool anew = progress.finished || progress.step >= lesson->steps->len;
	if (!anew)
		g->counts = progress;
	begin_step(g, anew ? 0 : progress.step);
}

void guide_restart(struct guide *g)
{
	memset(&g->counts, 0, sizeof g->counts);
	begin_step(g, 0);
}

void guide_release(struct guide *g)
{
	g_free(g->reply);
	g_free(g->wrong);
	memset(g, 0, sizeof *g);
}

static void save(struct app *app)
{
	const struct guide *g = app->guide;
	struct lesson_progress old = lesson_progress_load(g->lesson->name);
	struct error error;
	if (g->unsaved)
		return;
	struct lesson_progress now = g->counts;
	now.step = g->step;
	now.finished = g->finished || old.finished;
	if (!lesson_progress_save(g->lesson->name, now, &error))
		app_complain(app, &error);
}

/* -- the student's actions ----------------------------------------------------------------- */

void guide_notice(struct app *app)
{
	struct guide *g = app->guide;
	if (g == NULL || g->done || step_of(g)->checks->len == 0)
		return;
	g->done = checks_failing(app, step_of(g)->checks) == NULL;
}

static void go_on(struct app *app)
{
	struct guide *g = app->guide;
	if (!g->done && !g->skipping) {
		g->skipping = true;
		app_say(app, SAYS_STEP_OPEN,
		        step_of(g)->question ? SAYS_UNANSWERED : SAYS_UNDONE);
		return;
	}
	g->counts.skipped += !g->done;
	if (g->step + 1 < g->lesson->steps->len) {
		begin_step(g, g->step + 1);
	} else {
		g_autoptr(GString) how = g_string_new(NULL);
		g->finished = true;
		lesson_progress_append(g->counts, how);
		app_say(app, SAYS_LESSON_DONE, how->str);
	}
	save(app);
}

static void go_back(struct app *app)
{
	struct guide *g = app->guide;
	if (g->step == 0) {
		app_say(app, SAYS_FIRST_STEP);
		return;
	}
	begin_step(g, g->step - 1);
	save(app);
}

/* On a projector the lesson or the view is shown, and not both. */
static enum guide_size guide_size(const struct app *app)
{
	enum guide_size size = app->guide->size;
	return size == GUIDE_SHOWN && settings_project() ? GUIDE_LARGE : size;
}

static void hint(struct app *app)
{
	struct guide *g = app->guide;
	const struct lesson_step *s = step_of(g);
	if (g->hints < s->hints->len + (s->keys != NULL)) {
		g->hints++;
		g->counts.hints++;
		save(app);
	} else {
		app_say(app, s->hints->len || s->keys ? SAYS_NO_MORE_HINTS : SAYS_NO_HINT);
	}
	if (g->size == GUIDE_HIDDEN)
		g->size = GUIDE_SHOWN;
}

static void resize(struct app *app)
{
	enum guide_size now = guide_size(app);
	app->guide->size = now == GUIDE_LARGE    ? GUIDE_HIDDEN
	                   : now == GUIDE_HIDDEN ? GUIDE_SHOWN
	                                         : GUIDE_LARGE;
	if (app->guide->size == GUIDE_HIDDEN)
		app_say(app, SAYS_LESSON_HIDDEN);
}

void guide_answer(struct app *app, const char *text)
{
	struct guide *g = app->guide;
	const struct lesson_step *s = step_of(g);
	if (s->question == NULL || *text == '\0')
		return;
	g_free(g->reply);
	if (lesson_answers(s, text)) {
		g->done = true;
		g->reply = g_strconcat("✓ right. ", s->right ? s->right : "", NULL);
	} else {
		g->reply = g_strdup_printf("✗ '%s' is not it; i gives a hint", text);
		g->counts.wrong++;
		save(app);
	}
}

/* Line of the selected finding in the lesson's first source; 0: none. */
static unsigned finding_line(const struct app *app)
{
	const struct entry *entry = session_selected(app->session);
	const char *source = app->guide->lesson->sources->pdata[0];
	unsigned line = 0;
	for (int side = 0; entry && side < 2 && line == 0; side++) {
		const struct finding *f = entry->finding;
		const char *site =
		        trace_site_name(app->session->trace, side ? f->second : f->first);
		g_autofree char *file = g_path_get_basename(site),
		                *own = g_path_get_basename(source);
		char *colon = strrchr(file, ':');
		if (colon) {
			*colon = '\0';
			line = strcmp(file, own) == 0 ? (unsigned)strtoul(colon + 1, NULL, 10)
			                              : 0;
		}
	}
	return line;
}

static void wish(struct app *app, enum guide_wish wish)
{
	const struct lesson *l = app->guide->lesson;
	app->guide->edit_line = wish == GUIDE_EDIT ? finding_line(app) : 0;
	if (wish == GUIDE_MEND && l->fixed->len == 0 && !l->fix_plain) {
		app_say(app, SAYS_NO_FIX);
		return;
	}
	app->guide->wish = wish;
	app->quit = true;
}

bool guide_request(struct app *app, enum request request)
{
	bool known = request >= REQUEST_LESSON_ON && request <= REQUEST_LESSON_RECORD;
	if (known && app->guide == NULL) {
		app_say(app, SAYS_NO_LESSON);
		return true;
	}
	switch (request) {
	case REQUEST_LESSON_ON:
		go_on(app);
		break;
	case REQUEST_LESSON_BACK:
		go_back(app);
		break;
	case REQUEST_LESSON_HINT:
		hint(app);
		break;
	case REQUEST_LESSON_SIZE:
		resize(app);
		break;
	case REQUEST_LESSON_ANSWER:
		if (step_of(app->guide)->question)
			app_open_line(app, LINE_ANSWER, "");
		else
			app_say(app, SAYS_NO_QUESTION);
		break;
	case REQUEST_LESSON_EDIT:
		wish(app, GUIDE_EDIT);
		break;
	case REQUEST_LESSON_MEND:
		wish(app, GUIDE_MEND);
		break;
	case REQUEST_LESSON_RECORD:
		wish(app, GUIDE_RECORD);
		break;
	default:
		break;
	}
	return known;
}

/* -- the pane --------------------------------------------------------------------------- */

static void add_words(GPtrArray *lines, const char *before, const char *text, int width)
{
	g_autofree char *whole = g_strconcat(before, text, NULL);
	g_autoptr(GString) out = g_string_new(NULL);
	append_wrapped(out, whole, 0, width);
	g_auto(GStrv) rows = g_strsplit(g_strchomp(out->str), "\n", -1);
	for (char **r = rows; *r; r++)
		g_ptr_array_add(lines, g_strdup(*r));
}

/* The step, the hints shown, the response to an answer. */
static GPtrArray *lines_of(const struct guide *g, int width)
{
	const struct lesson_step *s = step_of(g);
	GPtrArray *lines = lesson_lines(s, width);
	for (guint i = 0; i < g->hints && !g->done; i++) {
		bool words = i < s->hints->len;
		add_words(lines, words ? "hint: " : "hint: the keys are ",
		          words ? s->hints->pdata[i] : s->keys, width);
	}
	if (g->wrong && lesson_step_mends(s))
		add_words(lines, "✗ not right yet: ", g->wrong, width);
	if (g->reply)
		add_words(lines, "", g->reply, width);
	else if (g->done && s->task)
		add_words(lines, "✓ ", s->right ? s->right : "done: f goes on", width);
	return lines;
}

/* Columns of the lesson beside the view. */
static int side_columns(const struct app *app, struct pane body)
{
	return body.columns - 1 -
	       split_at(app, SPLIT_LESSON_SIDE, body.columns, body.columns - SIDE_COLUMNS - 1,
	                LEAST_COLUMNS, 24);
}

/* The pane's rectangle in the body. */
static struct pane place(const struct app *app, struct pane body)
{
	const struct guide *g = app->guide;
	if (guide_size(app) == GUIDE_LARGE)
		return body;
	if (body.columns >= SIDE_FROM)
		return pane_part(body, 0, body.columns - side_columns(app, body), -1, -1);
	g_autoptr(GPtrArray) lines = lines_of(g, body.columns - 2);
	int room = MAX(LESSON_ROWS, body.rows / 2 - 2);
	int rows = 1 + CLAMP((int)lines->len, MINIMUM_TEXT, room);
	int at = split_at(app, SPLIT_LESSON, body.rows, body.rows - rows, 4, MINIMUM_TEXT);
	return pane_part(body, at, 0, -1, -1);
}

struct pane guide_rest(const struct app *app, struct pane body)
{
	if (app->guide == NULL || app->guide->size == GUIDE_HIDDEN)
		return body;
	if (guide_size(app) == GUIDE_LARGE)
		return pane_part(body, 0, 0, 0, -1);
	if (body.columns >= SIDE_FROM)
		return pane_part(body, 0, 0, -1, body.columns - side_columns(app, body) - 1);
	return pane_part(body, 0, 0, body.rows - place(app, body).rows, -1);
}

static int draw_keys(const struct app *app, struct pane p, int row)
{
	const struct guide *g = app->guide;
	const struct lesson_step *s = step_of(g);
	bool mends = lesson_step_mends(s);
	const struct {
		enum request request;
		const char *word;
		bool shown;
	} keys[] = {
		{ REQUEST_LESSON_EDIT, "edit", mends },
		{ REQUEST_LESSON_MEND, "fix", mends },
		{ REQUEST_LESSON_ANSWER, "answer", s->question && !g->done },
		{ REQUEST_LESSON_HINT, "hint", (s->task || s->question) && !g->done && !mends },
		{ REQUEST_LESSON_ON, "on", true },
		{ REQUEST_LESSON_BACK, "back", g->step > 0 },
		{ REQUEST_LESSON_SIZE, guide_size(app) == GUIDE_LARGE ? "hide" : "larger",
		  true },
	};
	char name[16];
	int width = 1;
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		width += keys[i].shown ? 4 + text_columns(keys[i].word) : 0;
	int at = MAX(p.columns - width, 0);
	pane_text(p, row, at++, STYLE_TEXT, " ");
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		if (!keys[i].shown)
			continue;
		int key = bindings_key(&app->bindings, app_view(app), keys[i].request);
		at = pane_text(p, row, at, STYLE_KEY, key_word(key, name));
		at = pane_text(p, row, at, STYLE_TEXT, " ");
		at = pane_text(p, row, at, STYLE_HINT, keys[i].word);
		at = pane_text(p, row, at, STYLE_TEXT, "  ");
	}
	return p.columns - width;
}

static void draw_text(const struct guide *g, struct pane p)
{
	g_autoptr(GPtrArray) lines = lines_of(g, p.columns - 2);
	guint first = lines->len > (guint)p.rows ? lines->len - p.rows : 0;
	for (guint i = first; i < lines->len; i++) {
		const char *line = lines->pdata[i];
		enum style style = g_str_has_prefix(line, "▸") || g_str_has_prefix(line, "?")
		                           ? STYLE_KEY
		                   : g_str_has_prefix(line, "✓")     ? STYLE_NONE
		                   : g_str_has_prefix(line, "✗")     ? STYLE_ERROR
		                   : g_str_has_prefix(line, "hint:") ? STYLE_DIM
		                                                     : STYLE_TEXT;
		pane_text(p, (int)(i - first), 1, style, line);
	}
	if (first)
		pane_text(p, 0, p.columns - 9, STYLE_DIM, " … L: all");
}

void guide_draw(const struct app *app, struct pane *body)
{
	const struct guide *g = app->guide;
	if (g == NULL || g->size == GUIDE_HIDDEN)
		return;
	struct pane p = place(app, *body), whole = *body;
	bool side = guide_size(app) == GUIDE_SHOWN && body->columns >= SIDE_FROM;
	*body = guide_rest(app, *body);
	g_autofree char *title =
	        g_strdup_printf(" %u/%u %s%s ", g->step + 1, g->lesson->steps->len,
	                        g->done ? "✓ " : "", g->lesson->title);
	if (side) { /* the last row has the keys */
		pane_bar(pane_part(pane_whole((struct grid *)&app->grid), p.row, 0, p.rows, -1),
		         p.column - 1);
		split_border(whole, SPLIT_LESSON_SIDE, p.column - 1 - whole.column, true);
		pane_text(p, 0, 0, STYLE_HEADING, title);
		pane_text(p, 1, 1, STYLE_HEADING, step_of(g)->title);
		draw_text(g, pane_part(p, 3, 0, p.rows - 4, -1));
		draw_keys(app, p, p.rows - 1);
	} else {
		pane_rule(p, 0, NULL);
		if (guide_size(app) == GUIDE_SHOWN)
			split_border(whole, SPLIT_LESSON, p.row - whole.row, false);
		int at = draw_keys(app, p, 0);
		struct pane room = pane_part(p, 0, 2, 1, MAX(at - 3, 0));
		pane_text(room, 0, 0, STYLE_HEADING, title);
		draw_text(g, pane_part(p, 1, 0, -1, -1));
	}
}
