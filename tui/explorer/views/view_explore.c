/*
 * view_explore.c - an exploration by `heddle explore`: its outcomes, each with its shortest run
 * and the difference from a run that ends otherwise; and all runs as a tree, each with its
 * parent, the reversed operation, and its ending.
 */
#include "engine/trace/own_code.h"
#include "tui/explorer/app.h"

#include "tui/explorer/export.h"
#include "tui/explorer/exploration/outcomes.h"
#include "tui/explorer/messages.h"

#include <string.h>
#include <unistd.h>

enum { DEEPEST_DRAWN = 10, FOOT_ROWS = 9, SMALL_FOOT = 4, SMALL = 16, HEAD_ROWS = 3 };

/* A run in the shown tree. */
struct row {
	uint32_t index; /* in tree.runs */
	bool last;      /* last of its parent's shown children */
};
struct explore_view {
	struct tree *tree; /* owned; NULL: none */
	struct error error;
	GArray *outcomes; /* struct tree_outcome, owned; NULL without a tree */
	GArray *rows;     /* struct row, owned; NULL without a tree */
	bool by_run;      /* shows the tree instead of the outcomes */
	guint folded;     /* runs that are in no row */
	bool own;         /* value of own_code_is_on() when the rows were made */
	struct list outcome_list, list;
	struct outcome_difference parting; /* owned: for the outcome `parted` */
	guint parted;                      /* NONE: of none */
	uint32_t here;                     /* the run of the open trace; NONE */
	uint32_t deepest;
};

static void *explore_open(struct app *app)
{
	struct explore_view *v = g_new0(struct explore_view, 1);
	v->here = v->parted = NONE;
	v->by_run = app->runs_shown;
	return v;
}

static void forget(struct explore_view *v)
{
	tree_free(v->tree);
	g_clear_pointer(&v->outcomes, g_array_unref);
	g_clear_pointer(&v->rows, g_array_unref);
	if (v->parted != NONE)
		outcome_difference_release(&v->parting);
	v->parted = NONE;
	v->tree = NULL;
}

static void explore_close(void *state)
{
	forget(state);
	g_free(state);
}

static const struct row *row_at(const struct explore_view *v, uint64_t i)
{
	return &g_array_index(v->rows, struct row, i);
}

static const struct tree_run *run_at(const struct explore_view *v, uint64_t i)
{
	return tree_at(v->tree, row_at(v, i)->index);
}

static const struct tree_outcome *outcome_at(const struct explore_view *v, uint64_t i)
{
	return &g_array_index(v->outcomes, struct tree_outcome, i);
}

/* Makes the rows. Runs that differ in variables of the library alone are left out with their
 * descendants, like the library's frames elsewhere. */
static void make_rows(struct explore_view *v)
{
	const struct tree *t = v->tree;
	guint n = t->runs->len;
	g_autofree bool *shown = g_new0(bool, n + 1), *followed = g_new0(bool, n + 1);
	v->own = own_code_is_on();
	for (guint i = n; i-- > 0;) { /* children follow their parents */
		const struct tree_run *r = tree_at(t, i);
		shown[i] |= !v->own || !r->inside || tree_run_failed(r) || r->run == v->here;
		if (shown[i] && r->parent != NONE)
			shown[t->place[r->parent]] = true;
	}
	g_clear_pointer(&v->rows, g_array_unref);
	v->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
	v->deepest = 0;
	for (guint i = 0; i < n; i++) {
		struct row row = { .index = i };
		v->deepest = MAX(v->deepest, shown[i] ? tree_at(t, i)->depth : 0);
		if (shown[i])
			g_array_append_val(v->rows, row);
	}
	for (guint i = v->rows->len; i-- > 0;) {
		const struct tree_run *r = run_at(v, i);
		uint32_t parent = r->parent == NONE ? n : t->place[r->parent];
		g_array_index(v->rows, struct row, i).last = !followed[parent];
		followed[parent] = true;
	}
	v->folded = n - v->rows->len;
}

static void select_run(struct explore_view *v, uint32_t run)
{
	for (guint i = 0; i < v->rows->len; i++)
		if (run_at(v, i)->run == run)
			v->list.cursor = i;
}

/* Load the requested file, else the tree beside the trace. */
static void explore_show(struct app *app, void *state)
{
	struct explore_view *v = state;
	const char *trace = app_trace(app)->path;
	g_autofree char *path = trace ? tree_of_trace(trace, &v->here) : NULL;
	const char *wanted = app->tree_path ? app->tree_path : path;
	if (wanted && (v->tree == NULL || strcmp(v->tree->path, wanted) != 0)) {
		forget(v);
		v->tree = tree_open(wanted, &v->error);
		v->list = v->outcome_list = (struct list){ 0 };
		if (v->tree) {
			v->outcomes = outcomes_of(v->tree);
			make_rows(v);
			select_run(v, v->here);
			if (v->here < v->tree->runs->len)
				v->outcome_list.cursor =
				        outcome_of_run(v->tree, v->outcomes, v->here);
		}
	}
	if (v->tree && v->own != own_code_is_on()) {
		uint32_t run = run_at(v, v->list.cursor)->run;
		make_rows(v);
		select_run(v, run);
	}
}

/* With a lesson space is short: the list has priority. */
static int usual_foot(const struct explore_view *v, int rows)
{
	if (v->by_run)
		return rows < SMALL ? SMALL_FOOT : FOOT_ROWS;
	int free = rows - HEAD_ROWS - (int)MIN(v->outcomes->len, 1000);
	return MAX(free, rows < SMALL ? SMALL_FOOT : rows / 2);
}

static int foot_rows(const struct app *app, const struct explore_view *v, int rows)
{
	return rows - split_at(app, SPLIT_RUNS, rows, rows - usual_foot(v, rows), HEAD_ROWS + 1,
	                       SMALL_FOOT - 1);
}

static void explore_fit(struct app *app, void *state, int rows, int columns)
{
	struct explore_view *v = state;
	if (v->tree == NULL)
		return;
	int room = rows - HEAD_ROWS - foot_rows(app, v, rows);
	if (v->by_run) {
		list_fit(&v->list, v->rows->len, room);
		return;
	}
	list_fit(&v->outcome_list, v->outcomes->len, room);
	if (v->parted == v->outcome_list.cursor)
		return;
	if (v->parted != NONE)
		outcome_difference_release(&v->parting);
	v->parted = (guint)v->outcome_list.cursor;
	v->parting = outcome_difference_of(v->tree, outcome_at(v, v->parted)->shortest);
}

/* -- drawing ------------------------------------------------------------------------------ */

/* Does the lane at `depth` continue below run i: has that ancestor a later sibling? */
static bool goes_on(const struct explore_view *v, uint64_t i, uint32_t depth)
{
	while (run_at(v, i)->depth > depth)
		i--;
	return !row_at(v, i)->last;
}

/* "│ ├─●": lanes of the ancestors, truncated if too deep. */
static void append_lanes(const struct explore_view *v, uint64_t i, GString *out)
{
	const struct tree_run *r = run_at(v, i);
	uint32_t from = r->depth > DEEPEST_DRAWN ? r->depth - DEEPEST_DRAWN : 0;
	if (from > 0)
		g_string_append(out, "…");
	for (uint32_t d = from + 1; d < r->depth; d++)
		g_string_append(out, goes_on(v, i, d) ? "│ " : "  ");
	if (r->depth > 0)
		g_string_append(out, row_at(v, i)->last ? "└─" : "├─");
	g_string_append(out, "●");
}

static enum style end_style(const struct tree_run *r)
{
	return tree_run_failed(r) ? STYLE_RACE : r->redundant ? STYLE_DIM : STYLE_NONE;
}

void explore_append_end(const struct tree_run *r, GString *out)
{
	g_string_append(out, tree_run_failed(r) ? "✗ " : r->redundant ? "· " : "✓ ");
	g_autofree char *text = tree_run_failed(r) ? end_text(r->end, r->status) : NULL;
	g_string_append(out, text ? text : r->redundant ? "known" : r->end);
}

static enum style style_of_reversal(const struct tree *t, const char *reversal)
{
	uint32_t thread = tree_thread_of(t, reversal);
	return thread == NONE ? STYLE_TEXT : style_of_thread(thread);
}

/* A rule with the threads in their colours on it. */
static void draw_threads(const struct tree *t, struct pane p)
{
	pane_rule(p, 0, NULL);
	int at = 1;
	for (guint i = 0; i < t->threads->len; i++) {
		const char *name = t->threads->pdata[i];
		if (at + text_columns(name) + 3 > p.columns || strchr(name, ' ') == NULL)
			continue;
		at = pane_text(p, 0, at, STYLE_TEXT, " ");
		at = pane_text(p, 0, at, style_of_thread(i), name);
		at = pane_text(p, 0, at, STYLE_TEXT, " ") + 1;
	}
}

static void draw_run(const struct explore_view *v, struct pane p, int row, uint64_t i)
{
	const struct tree_run *r = run_at(v, i);
	uint32_t deepest = MIN(v->deepest, DEEPEST_DRAWN);
	int tree_width = 3 + 2 * (int)deepest, at = tree_width + 7;
	int end_width = 17; /* "✗ use-after-free" */
	g_autoptr(GString) text = g_string_new(NULL);
	char number[16];
	g_snprintf(number, sizeof number, "%u", r->run);
	pane_text(p, row, 0, STYLE_HERE, r->run == v->here ? "▸" : " ");
	append_lanes(v, i, text);
	pane_field(p, row, 1, tree_width, end_style(r), text->str);
	pane_field_right(p, row, tree_width, 6, STYLE_DIM, number);
	g_string_truncate(text, 0);
	explore_append_end(r, text);
	pane_field(p, row, at, end_width, end_style(r), text->str);
	pane_text(p, row, at + end_width, style_of_reversal(v->tree, r->reversal),
	          r->parent == NONE ? "the first run" : r->reversal);
	if (i == v->list.cursor)
		pane_highlight(p, row, ATTR_REVERSE);
}

static void draw_scope(const struct tree *t, struct pane p)
{
	g_autoptr(GString) text = g_string_new(NULL);
	tree_append_scope(t, text);
	pane_paragraph(pane_part(p, 1, 1, HEAD_ROWS - 1, p.columns - 2), 0, 0,
	               t->complete ? STYLE_NONE : STYLE_OPEN, text->str);
}

static void draw_head(const struct explore_view *v, struct pane p)
{
	const struct tree *t = v->tree;
	char a[32], b[32], c[32];
	if (!v->by_run)
		pane_format(p, 0, 1, STYLE_HEADING, "%s   %u outcome%s of %s different run%s",
		            t->program, v->outcomes->len, plural(v->outcomes->len),
		            grouped(t->states, a), plural(t->states));
	else if (v->folded > 0)
		pane_format(p, 0, 1, STYLE_HEADING,
		            "%s   %s runs as a tree   %u more differ in the library's "
		            "variables alone (+ shows them)",
		            t->program, grouped(v->rows->len, a), v->folded);
	else
		pane_format(
		        p, 0, 1, STYLE_HEADING,
		        "%s   %s run%s as a tree, %s different   they cover %s more schedule%s",
		        t->program, grouped(t->executions, a), plural(t->executions),
		        grouped(t->states, b), grouped(t->pruned, c), plural(t->pruned));
	draw_scope(t, p);
}

/* -- outcomes ------------------------------------------------------------------------------- */

static const char *const outcome_glyphs[] = { "✗", "⇄", "✓" };
static const enum style outcome_styles[] = { STYLE_RACE, STYLE_RACE, STYLE_NONE };

static void draw_outcome(const struct explore_view *v, struct pane p, int row, uint64_t i)
{
	enum { COUNT = 6, WORDS = 17, RUN = 13, WHERE = 24 };
	const struct tree_outcome *o = outcome_at(v, i);
	char count[32], run[32];
	int end = p.columns - RUN - 1, at = 4 + COUNT + 1;
	bool here = v->here < v->tree->runs->len && o->kind != OUTCOME_RACE &&
	            outcome_of_run(v->tree, v->outcomes, v->here) == i;
	pane_text(p, row, 0, STYLE_HERE, here ? "▸" : " ");
	pane_text(p, row, 1, outcome_styles[o->kind], outcome_glyphs[o->kind]);
	if (o->count > 0)
		pane_field_right(p, row, 3, COUNT, STYLE_TEXT, grouped(o->count, count));
	at = pane_field(p, row, at, WORDS, outcome_styles[o->kind], o->words);
	if (*o->where) {
		int wide = (int)text_columns(o->where) + 2;
		at = pane_field(p, row, at, MIN(MAX(wide, WHERE), end - at), STYLE_TEXT,
		                o->where);
	}
	if (at < end)
		pane_field(p, row, at, end - at, STYLE_DIM, o->text);
	g_snprintf(run, sizeof run, "%s run %u", o->kind == OUTCOME_RACE ? "in" : "as in",
	           o->shortest);
	pane_field_right(p, row, end, RUN, STYLE_DIM, run);
	if (i == v->outcome_list.cursor)
		pane_highlight(p, row, ATTR_REVERSE);
}

/* The reversals on a path, each with the source line. */
static int draw_way(const struct app *app, const struct explore_view *v, const GArray *way,
                    struct pane p, int row)
{
	for (guint i = 0; i < way->len && row < p.rows; i++) {
		const struct tree_run *r =
		        tree_run_of(v->tree, g_array_index(way, uint32_t, i));
		const struct tree_run *next =
		        i + 1 < way->len
		                ? tree_run_of(v->tree, g_array_index(way, uint32_t, i + 1))
		                : NULL;
		if (next && strcmp(r->reversal, next->reversal) == 0 &&
		    strcmp(r->place, next->place) == 0)
			continue; /* once for several visits */
		row += pane_paragraph(pane_part(p, row, 3, -1, p.columns - 4), 0, 0,
		                      style_of_reversal(v->tree, r->reversal), r->reversal);
		const char *line = sources_place((struct sources *)&app->sources, r->place);
		if (row < p.rows)
			pane_format(p, row, 5, STYLE_DIM, "%s%s%s", r->place, line ? "   " : "",
			            line ? line : "");
		row++;
	}
	return row;
}

static int draw_lines(struct pane p, int row, const char *text, enum style style)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line && row < p.rows; line++)
		if (**line)
			row += pane_paragraph(pane_part(p, row, 1, -1, p.columns - 2), 0, 0,
			                      style, *line);
	return row;
}

/* Places, "a.c:3 and b.c:7", each with its source line. */
static int draw_places(const struct app *app, struct pane p, int row, const char *where)
{
	g_auto(GStrv) places = g_strsplit(where, " and ", -1);
	for (char **place = places; *place && row < p.rows; place++) {
		const char *line = sources_place((struct sources *)&app->sources, *place);
		pane_format(p, row++, 1, STYLE_TEXT, "%s%s%s", *place, line ? "   " : "",
		            line ? line : "");
	}
	return row;
}

/* The difference from a run with another end, in source lines. */
static int draw_parting(const struct app *app, const struct explore_view *v,
                        const struct tree_outcome *o, struct pane p)
{
	const struct outcome_difference *d = &v->parting;
	int row = 0;
	if (v->parted != v->outcome_list.cursor || d->other == NONE ||
	    o->kind == OUTCOME_RACE) {
		if (o->kind == OUTCOME_FAILED)
			pane_text(p, 0, 1, STYLE_HEADING, "No run ends well.");
		return o->kind == OUTCOME_FAILED;
	}
	const struct tree_run *other = tree_run_of(v->tree, d->other);
	bool quoted = o->kind == OUTCOME_PASSED && *other->printed;
	if (d->here->len > 0) {
		row += pane_paragraph(
		        pane_part(p, row, 1, -1, p.columns - 2), 0, 0, STYLE_HEADING,
		        quoted ? "It begins as the nearest run with other output, but:"
		               : "It begins as the nearest run that ends well, but:");
		row = draw_way(app, v, d->here, p, row);
	}
	if (d->others->len > 0 && row < p.rows) {
		pane_format(p, row++, 1, STYLE_HEADING, "Run %u %s, as there:", d->other,
		            quoted ? "prints something else" : "ends well");
		row = draw_way(app, v, d->others, p, row);
	}
	return row;
}

static void draw_outcome_foot(const struct app *app, const struct explore_view *v,
                              struct pane p)
{
	const struct tree_outcome *o = outcome_at(v, v->outcome_list.cursor);
	draw_threads(v->tree, p);
	struct pane body = pane_part(p, 1, 0, p.rows - 2, -1);
	g_autoptr(GString) text = g_string_new(NULL);
	outcome_append_count(v->tree, o, text);
	int row = pane_paragraph(pane_part(body, 0, 1, -1, body.columns - 2), 0, 0,
	                         STYLE_HEADING, text->str);
	if (*o->where && strstr(o->text, o->where) == NULL)
		row = draw_places(app, body, row, o->where);
	const struct tree_run *first = tree_run_of(v->tree, o->first);
	const char *story =
	        o->kind == OUTCOME_FAILED ? tree_run_of(v->tree, o->first)->story : o->text;
	if (o->kind != OUTCOME_RACE)
		row = draw_lines(body, row, *story ? story : o->text,
		                 o->kind == OUTCOME_FAILED ? STYLE_RACE : STYLE_TEXT);
	row += draw_parting(app, v, o, pane_part(body, row, 0, -1, -1));
	if (o->kind == OUTCOME_FAILED)
		draw_lines(body, row, first->no_return, STYLE_TEXT);
	if (o->kept != NONE)
		pane_format(p, p.rows - 1, 1, STYLE_DIM,
		            "Enter opens the trace of run %u; - shows all runs as a tree",
		            o->kept);
	else
		pane_text(p, p.rows - 1, 1, STYLE_DIM,
		          "no trace of it was kept; - shows all runs as a tree");
}

/* -- the tree ------------------------------------------------------------------------------- */

/* Reversals made unnecessary by the specification. */
static void draw_pairs(const struct tree_run *r, struct pane p)
{
	char count[32];
	if (r->commuting == 0 || p.rows < 2)
		return;
	pane_format(p, 0, 1, STYLE_HEADING,
	            "not run in another order, as equivalent: %s pair%s that commute%s",
	            grouped(r->commuting, count), plural(r->commuting),
	            r->commuting == 1 ? "s" : "");
	int row = 1;
	for (guint i = 0; i < r->pairs->len && row < p.rows; i++)
		row += pane_paragraph(pane_part(p, row, 1, p.rows - row, p.columns - 2), 0, 0,
		                      STYLE_TEXT, r->pairs->pdata[i]);
}

/* Describes the selected run. */
static void draw_foot(const struct tree *t, const struct tree_run *r, struct pane p)
{
	char events[32], pruned[32];
	draw_threads(t, p);
	pane_format(
	        p, 1, 1, STYLE_HEADING,
	        "run %u   %s events   schedules that need no run, as a known one begins so: %s",
	        r->run, grouped(r->events, events), grouped(r->pruned, pruned));
	int row = 2;
	if (*r->place)
		row += pane_paragraph(pane_part(p, row, 1, -1, p.columns - 2), 0, 0, STYLE_TEXT,
		                      r->place);
	struct pane body = pane_part(p, 0, 0, p.rows - 1, -1);
	row = draw_lines(body, row, r->story, STYLE_RACE);
	row = draw_lines(body, row, r->no_return, STYLE_TEXT);
	draw_pairs(r, pane_part(p, row, 0, p.rows - 1 - row, -1));
	pane_text(p, p.rows - 1, 1, STYLE_DIM,
	          *r->trace ? "Enter opens its trace; - shows the outcomes"
	                    : "its trace was not kept; - shows the outcomes");
}

static void explore_draw(const struct app *app, const void *state, struct pane p)
{
	const struct explore_view *v = state;
	if (v->tree == NULL) {
		pane_text(p, 0, 1, STYLE_HEADING, "exploration");
		pane_paragraph(
		        pane_part(p, 2, 1, -1, p.columns - 2), 0, 0, STYLE_TEXT,
		        v->error.what[0]
		                ? v->error.what
		                : "No exploration lies beside this trace. `heddle explore -o "
		                  "FILE -- PROGRAM` makes one and keeps the traces of "
		                  "failing runs; `:exploration FILE` shows it.");
		return;
	}
	draw_head(v, p);
	int at = p.rows - foot_rows(app, v, p.rows);
	struct pane foot = pane_part(p, at, 0, -1, -1);
	split_border(p, SPLIT_RUNS, at, false);
	const struct list *list = v->by_run ? &v->list : &v->outcome_list;
	for (int r = 0; r < list->rows && list->top + r < list->count; r++) {
		if (v->by_run)
			draw_run(v, p, r + HEAD_ROWS, list->top + r);
		else
			draw_outcome(v, p, r + HEAD_ROWS, list->top + r);
	}
	if (v->by_run)
		draw_foot(v->tree, run_at(v, v->list.cursor), foot);
	else
		draw_outcome_foot(app, v, foot);
}

/* -- requests ----------------------------------------------------------------------------- */

/* Traces are beside the tree, also after moving both. */
static char *trace_of(const struct tree *t, const struct tree_run *r)
{
	g_autofree char *folder = g_path_get_dirname(t->path),
	                *base = g_path_get_basename(r->trace);
	return g_build_filename(folder, base, NULL);
}

/* Open the trace of another run in another explorer; its end returns here. */
static void open_trace(struct app *app, const struct tree *t, const struct tree_run *r)
{
	char self[4096];
	if (*r->trace == '\0') {
		app_say(app, SAYS_TRACE_NOT_KEPT);
		return;
	}
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	self[MAX(length, 0)] = '\0';
	g_autofree char *path = trace_of(t, r);
	char *words[] = { self, "open", "--", path, NULL };
	app_run_after(app, g_strdupv(words));
	app->after_is_heddle = true;
}

/* Does this line of the list show an error? */
static bool is_wrong(const struct explore_view *v, uint64_t i)
{
	return v->by_run ? tree_run_failed(run_at(v, i))
	                 : outcome_at(v, i)->kind != OUTCOME_PASSED;
}

/* Go to the next line with an error, in either direction. */
static void step_error(struct app *app, struct explore_view *v, int direction)
{
	struct list *list = v->by_run ? &v->list : &v->outcome_list;
	uint64_t n = v->by_run ? v->rows->len : v->outcomes->len, i = list->cursor;
	for (uint64_t k = 1; k < n; k++) {
		i = direction > 0 ? (i + 1) % n : (i + n - 1) % n;
		if (is_wrong(v, i)) {
			list->cursor = i;
			return;
		}
	}
	app_say(app, v->by_run ? SAYS_NO_OTHER_FAILURE : SAYS_NO_OTHER_OUTCOME);
}

/* The selected run; for an outcome one whose trace is kept, else its shortest. */
static const struct tree_run *selected_run(const struct explore_view *v)
{
	if (v->by_run)
		return run_at(v, v->list.cursor);
	const struct tree_outcome *o = outcome_at(v, v->outcome_list.cursor);
	return tree_run_of(v->tree, o->kept == NONE ? o->shortest : o->kept);
}

static void open_selected(struct app *app, const struct explore_view *v)
{
	open_trace(app, v->tree, selected_run(v));
}

/* Switches between the outcomes and the tree, keeping the selected outcome's run. */
static void turn(struct app *app, struct explore_view *v)
{
	v->by_run = app->runs_shown = !v->by_run;
	if (v->by_run)
		select_run(v, outcome_at(v, v->outcome_list.cursor)->shortest);
	else
		v->outcome_list.cursor =
		        outcome_of_run(v->tree, v->outcomes, run_at(v, v->list.cursor)->run);
}

static bool explore_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct explore_view *v = state;
	if (v->tree == NULL)
		return false;
	switch (request) {
	case REQUEST_ENTER:
		open_selected(app, v);
		return true;
	case REQUEST_NEXT:
	case REQUEST_PREVIOUS:
		step_error(app, v, request == REQUEST_NEXT ? 1 : -1);
		return true;
	case REQUEST_RUNS:
		turn(app, v);
		return true;
	case REQUEST_LEFT:
		if (v->by_run && run_at(v, v->list.cursor)->parent != NONE)
			select_run(v, run_at(v, v->list.cursor)->parent);
		return true;
	default:
		return list_request(v->by_run ? &v->list : &v->outcome_list, request, count);
	}
}

static void explore_select(struct app *app, void *state, int row, int column, bool again)
{
	struct explore_view *v = state;
	struct list *list = v->by_run ? &v->list : &v->outcome_list;
	if (v->tree && row >= HEAD_ROWS && row - HEAD_ROWS < list->rows &&
	    list->top + (uint64_t)(row - HEAD_ROWS) < list->count) {
		list->cursor = list->top + (uint64_t)(row - HEAD_ROWS);
		if (again)
			open_selected(app, v);
	}
}

bool explore_view_draw(const struct app *app, struct drawing *d)
{
	const struct explore_view *v = app->states[VIEW_EXPLORE];
	if (v == NULL || v->tree == NULL)
		return false;
	uint32_t deepest = 0, *node = g_new(uint32_t, v->tree->runs->len);
	for (guint i = 0; i < v->tree->runs->len; i++) {
		const struct tree_run *r = tree_at(v->tree, i);
		GString *label = g_string_new(NULL);
		g_string_append_printf(label, "%u ", r->run);
		explore_append_end(r, label);
		deepest = MAX(deepest, r->depth);
		node[r->run] = drawing_node(d, r->depth, i, i, g_string_free(label, FALSE),
		                            tree_run_failed(r));
		if (r->parent != NONE)
			drawing_edge(d, node[r->parent], node[r->run], g_strdup(r->reversal),
			             tree_run_failed(r), false);
	}
	for (uint32_t i = 0; i <= deepest; i++)
		g_ptr_array_add(d->lanes, g_strdup_printf("%u other", i));
	g_free(node);
	return true;
}

char *explore_view_trace(const struct app *app, uint32_t *run)
{
	const struct explore_view *v = app->states[VIEW_EXPLORE];
	if (v == NULL || v->tree == NULL)
		return NULL;
	const struct tree_run *r = selected_run(v);
	*run = r->run;
	return *r->trace ? trace_of(v->tree, r) : NULL;
}

const struct tree *explore_view_tree(const struct app *app)
{
	const struct explore_view *v = app->states[VIEW_EXPLORE];
	return v ? v->tree : NULL;
}

bool explore_view_at_failure(const struct app *app)
{
	const struct explore_view *v = app->states[VIEW_EXPLORE];
	return v && v->tree && v->by_run && tree_run_failed(run_at(v, v->list.cursor));
}

const struct view_ops explore_view = {
	.title = "Exploration",
	.open = explore_open,
	.close = explore_close,
	.show = explore_show,
	.fit = explore_fit,
	.draw = explore_draw,
	.request = explore_request,
	.select = explore_select,
};
