/*
 * view_explore.c - the tree of executions of `heddle explore`: for each run its parent, the
 * reversed read, and its ending.
 */
#include "tui/explorer/app.h"

#include "tui/explorer/command_line.h"
#include "tui/explorer/export.h"
#include "tui/explorer/tree.h"

#include <string.h>
#include <unistd.h>

enum { DEEPEST_DRAWN = 10, FOOT_ROWS = 9, SMALL_FOOT = 4, SMALL = 16 };

struct explore_view {
	struct tree *tree; /* owned; NULL: none */
	struct error error;
	struct list list;
	uint32_t here; /* the run of the open trace; NONE */
	uint32_t deepest;
};

static void *explore_open(struct app *app)
{
	struct explore_view *v = g_new0(struct explore_view, 1);
	v->here = NONE;
	return v;
}

static void explore_close(void *state)
{
	struct explore_view *v = state;
	tree_free(v->tree);
	g_free(v);
}

static const struct tree_run *run_at(const struct explore_view *v, uint64_t i)
{
	return &g_array_index(v->tree->runs, struct tree_run, i);
}

/* Load the requested file, else the tree beside the trace. */
static void explore_show(struct app *app, void *state)
{
	struct explore_view *v = state;
	const char *trace = app_trace(app)->path;
	char *path = trace ? tree_of_trace(trace, &v->here) : NULL;
	const char *wanted = app->tree_path ? app->tree_path : path;
	if (wanted && (v->tree == NULL || strcmp(v->tree->path, wanted) != 0)) {
		tree_free(v->tree);
		v->tree = tree_open(wanted, &v->error);
		v->list = (struct list){ 0 };
		v->deepest = 0;
		for (guint i = 0; v->tree && i < v->tree->runs->len; i++) {
			v->deepest = MAX(v->deepest, run_at(v, i)->depth);
			if (run_at(v, i)->run == v->here)
				v->list.cursor = i;
		}
	}
	g_free(path);
}

/* With a lesson space is short: the list has priority. */
static int foot_rows(int rows)
{
	return rows < SMALL ? SMALL_FOOT : FOOT_ROWS;
}

static void explore_fit(struct app *app, void *state, int rows, int columns)
{
	struct explore_view *v = state;
	if (v->tree)
		list_fit(&v->list, v->tree->runs->len, rows - 3 - foot_rows(rows));
}

/* -- drawing ------------------------------------------------------------------------------ */

/* Does the lane at `depth` continue below run i: has that ancestor another sibling? */
static bool goes_on(const struct explore_view *v, uint64_t i, uint32_t depth)
{
	while (run_at(v, i)->depth > depth)
		i--;
	return !run_at(v, i)->last;
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
		g_string_append(out, r->last ? "└─" : "├─");
	g_string_append(out, "●");
}

static enum style end_style(const struct tree_run *r)
{
	return tree_run_failed(r) ? STYLE_RACE : r->redundant ? STYLE_DIM : STYLE_NONE;
}

void explore_append_end(const struct tree_run *r, GString *out)
{
	g_string_append(out, tree_run_failed(r) ? "✗ " : r->redundant ? "· " : "✓ ");
	if (strcmp(r->end, "signal") == 0)
		g_string_append_printf(out, "signal %" G_GINT64_FORMAT, r->status);
	else if (strcmp(r->end, "exit-status") == 0)
		g_string_append_printf(out, "exit %" G_GINT64_FORMAT, r->status);
	else
		g_string_append(out, r->redundant ? "known" : r->end);
}

static void draw_run(const struct explore_view *v, struct pane p, int row, uint64_t i)
{
	const struct tree_run *r = run_at(v, i);
	uint32_t deepest = MIN(v->deepest, DEEPEST_DRAWN);
	int tree_width = 3 + 2 * (int)deepest, at = tree_width + 7;
	int end_width = 17; /* "✗ use-after-free" */
	GString *text = g_string_new(NULL);
	char number[16];
	g_snprintf(number, sizeof number, "%u", r->run);
	pane_text(p, row, 0, STYLE_HERE, r->run == v->here ? "▸" : " ");
	append_lanes(v, i, text);
	pane_field(p, row, 1, tree_width, end_style(r), text->str);
	pane_field_right(p, row, tree_width, 6, STYLE_DIM, number);
	g_string_truncate(text, 0);
	explore_append_end(r, text);
	pane_field(p, row, at, end_width, end_style(r), text->str);
	pane_text(p, row, at + end_width, STYLE_TEXT,
	          r->parent == NONE ? "the first run" : r->flip);
	if (i == v->list.cursor)
		pane_highlight(p, row, ATTR_REVERSE);
	g_string_free(text, TRUE);
}

static void draw_head(const struct tree *t, struct pane p)
{
	char a[32], b[32], c[32];
	pane_format(p, 0, 1, STYLE_HEADING,
	            "%s   %s execution%s, %s different   %s more schedules begin as these do",
	            t->program, grouped(t->executions, a), plural(t->executions),
	            grouped(t->states, b), grouped(t->pruned, c));
	if (t->complete && (t->races || t->uses))
		pane_format(p, 1, 1, STYLE_NONE, "complete, as far as %s%s%s leave a promise",
		            t->races ? "data races" : "", t->races && t->uses ? " and " : "",
		            t->uses ? "uses after free" : "");
	else if (t->complete)
		pane_text(
		        p, 1, 1, STYLE_NONE,
		        "complete for this input: whatever the schedule, it does as one of these");
	else
		pane_format(p, 1, 1, STYLE_OPEN, "not complete: %s",
		            t->gaps->len ? (char *)t->gaps->pdata[0] : "it was ended");
}

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

/* Describe the selected run. */
static void draw_foot(const struct tree_run *r, struct pane p)
{
	char events[32], pruned[32];
	pane_rule(p, 0, NULL);
	pane_format(p, 1, 1, STYLE_HEADING,
	            "run %u   %s events   schedules that begin as a known run: %s", r->run,
	            grouped(r->events, events), grouped(r->pruned, pruned));
	int row = 2;
	if (*r->place)
		row += pane_paragraph(pane_part(p, row, 1, -1, p.columns - 2), 0, 0, STYLE_TEXT,
		                      r->place);
	char **lines = g_strsplit(r->story, "\n", -1);
	for (char **line = lines; *line && row < p.rows - 1; line++)
		if (**line)
			row += pane_paragraph(pane_part(p, row, 1, -1, p.columns - 2), 0, 0,
			                      STYLE_RACE, *line);
	g_strfreev(lines);
	draw_pairs(r, pane_part(p, row, 0, p.rows - 1 - row, -1));
	pane_text(p, p.rows - 1, 1, STYLE_DIM,
	          *r->trace ? "Enter opens its trace" : "its trace was not kept");
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
	draw_head(v->tree, p);
	for (int r = 0; r < v->list.rows && v->list.top + r < v->tree->runs->len; r++)
		draw_run(v, p, r + 3, v->list.top + r);
	draw_foot(run_at(v, v->list.cursor),
	          pane_part(p, p.rows - foot_rows(p.rows), 0, -1, -1));
}

/* -- requests ----------------------------------------------------------------------------- */

/* Traces are beside the tree, also after moving both. */
static char *trace_of(const struct tree *t, const struct tree_run *r)
{
	char *folder = g_path_get_dirname(t->path), *base = g_path_get_basename(r->trace);
	char *path = g_build_filename(folder, base, NULL);
	g_free(folder);
	g_free(base);
	return path;
}

/* Open the trace of another run in another explorer; its end returns here. */
static void open_trace(struct app *app, const struct tree *t, const struct tree_run *r)
{
	char self[4096];
	if (*r->trace == '\0') {
		app_say(app, "its trace was not kept: the first run and the first of each "
		             "error are");
		return;
	}
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	self[MAX(length, 0)] = '\0';
	char *path = trace_of(t, r);
	char *words[] = { self, "open", "--", path, NULL };
	app_run_after(app, g_strdupv(words));
	app->after_is_heddle = true;
	g_free(path);
}

/* Go to the next run with an error, in either direction. */
static void step_error(struct app *app, struct explore_view *v, int direction)
{
	uint64_t n = v->tree->runs->len, i = v->list.cursor;
	for (uint64_t k = 1; k < n; k++) {
		i = direction > 0 ? (i + 1) % n : (i + n - 1) % n;
		if (tree_run_failed(run_at(v, i))) {
			v->list.cursor = i;
			return;
		}
	}
	app_say(app, "no other run failed");
}

static bool explore_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct explore_view *v = state;
	if (v->tree == NULL)
		return false;
	const struct tree_run *r = run_at(v, v->list.cursor);
	switch (request) {
	case REQUEST_ENTER:
		open_trace(app, v->tree, r);
		return true;
	case REQUEST_NEXT:
	case REQUEST_PREVIOUS:
		step_error(app, v, request == REQUEST_NEXT ? 1 : -1);
		return true;
	case REQUEST_LEFT:
		for (uint64_t i = v->list.cursor; i-- > 0 && r->parent != NONE;)
			if (run_at(v, i)->run == r->parent) {
				v->list.cursor = i;
				break;
			}
		return true;
	case REQUEST_EXPORT:
		commands_run(app, "export");
		return true;
	default:
		return list_request(&v->list, request, count);
	}
}

static void explore_select(struct app *app, void *state, int row, int column, bool again)
{
	struct explore_view *v = state;
	if (v->tree && row >= 3 && row - 3 < v->list.rows &&
	    v->list.top + (uint64_t)(row - 3) < v->tree->runs->len) {
		v->list.cursor = v->list.top + (uint64_t)(row - 3);
		if (again)
			open_trace(app, v->tree, run_at(v, v->list.cursor));
	}
}

bool explore_view_draw(const struct app *app, struct drawing *d)
{
	const struct explore_view *v = app->states[VIEW_EXPLORE];
	if (v == NULL || v->tree == NULL)
		return false;
	uint32_t deepest = 0, *node = g_new(uint32_t, v->tree->runs->len);
	for (guint i = 0; i < v->tree->runs->len; i++) {
		const struct tree_run *r = run_at(v, i);
		GString *label = g_string_new(NULL);
		g_string_append_printf(label, "%u ", r->run);
		explore_append_end(r, label);
		deepest = MAX(deepest, r->depth);
		node[r->run] = drawing_node(d, r->depth, i, i, g_string_free(label, FALSE),
		                            tree_run_failed(r));
		if (r->parent != NONE)
			drawing_edge(d, node[r->parent], node[r->run], g_strdup(r->flip),
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
	const struct tree_run *r = run_at(v, v->list.cursor);
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
	return v && v->tree && v->list.cursor < v->tree->runs->len &&
	       tree_run_failed(run_at(v, v->list.cursor));
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
