/*
 * view_findings.c - the list of findings; below it the analyses that report the selected one,
 * the source of both sides, and an explanation.
 */
#include "tui/explorer/app.h"
#include "tui/explorer/settings.h"

#include "engine/detect/failure.h"
#include "tui/explorer/compare.h"
#include "tui/explorer/folders.h"
#include "tui/explorer/missing_code.h"
#include "tui/explorer/weak_order.h"
#include "tui/explorer/messages.h"

#include <string.h>

enum column { COLUMN_VERDICT, COLUMN_PLACE, COLUMN_VARIABLE, COLUMN_COUNT, COLUMNS };
static const char *const sort_words[COLUMNS] = { "verdict", "place in the run", "variable",
	                                         "count" };

/* Verdicts that are listed: those that can or may happen, all, races alone. */
enum listed { LISTED_POSSIBLE, LISTED_ALL, LISTED_RACES, LISTED_COUNT };

struct findings {
	struct list list;
	GArray *shown;          /* int: indexes of session.entries */
	struct folders folders; /* and the lines of the list */
	char *folder;           /* owned: the name of the folder under the cursor; NULL: none */
	char *filter;           /* owned, or NULL */
	enum column sort;
	enum listed listed;
	bool chosen;    /* by the user */
	guint left_out; /* number of findings proved impossible, and not shown */
	guint behind;   /* those of them whose proof depends on racy reads (finding.behind) */
	bool hide_marked, reverse;
	GHashTable *picked;       /* const struct entry *: selected to be marked together */
	const struct entry *held; /* kept for a comparison with another; or NULL */
	int widest;               /* columns of the longest variable shown */
	bool touched;             /* the user has moved: new findings keep the selection */
};

static const char *const listed_words[LISTED_COUNT] = {
	[LISTED_POSSIBLE] = SAYS_LISTED_POSSIBLE,
	[LISTED_ALL] = SAYS_LISTED_ALL,
	[LISTED_RACES] = SAYS_LISTED_RACES,
};

static const char *const kind_words[] = {
	[FINDING_DATA_RACE] = "data race",
	[FINDING_COMMUTATIVITY_RACE] = "commute",
	[FINDING_ORDER_VIOLATION] = "order",
	[FINDING_USE_AFTER_FREE] = "use→free",
	[FINDING_ATOMIC_SET_VIOLATION] = "atomic set",
	[FINDING_DEADLOCK] = "deadlock",
	[FINDING_STUCK] = "stuck",
	[FINDING_LOCK_MISUSE] = "misuse",
	[FINDING_CRASH] = "crash",
	[FINDING_ASSERTION] = "assertion",
	[FINDING_EXIT] = "exit",
};

/* The kind in a word, which says when a race needs the memory model. */
static const char *kind_of(const struct finding *f)
{
	return is_weak_order(f) ? "weak order" : kind_words[f->kind];
}
static const struct {
	const char *glyph, *word;
	enum style style;
	int rank;
} verdicts[] = {
	[VERDICT_RACE] = { "✓", "race", STYLE_RACE, 0 },
	[VERDICT_HAPPENED] = { "●", "happened", STYLE_RACE, 1 },
	[VERDICT_UNKNOWN] = { "?", "open", STYLE_OPEN, 2 },
	[VERDICT_CANDIDATE] = { "·", "maybe", STYLE_CANDIDATE, 3 },
	[VERDICT_IMPOSSIBLE] = { "✗", "none", STYLE_NONE, 4 },
};

const char *verdict_glyph(const struct finding *f)
{
	return verdicts[f->verdict].glyph;
}

/* In the column of the list: only races are called "race"; a schedule of another kind is
 * "checked". */
static const char *verdict_column(const struct finding *f, enum verdict verdict)
{
	bool other = verdict == VERDICT_RACE && f->kind != FINDING_DATA_RACE &&
	             f->kind != FINDING_COMMUTATIVITY_RACE;

	return other ? "checked" : verdicts[verdict].word;
}

static enum style verdict_style(enum verdict verdict)
{
	return verdicts[verdict].style;
}

/* -- selection and order of the list ------------------------------------------------------- */

static bool contains(const char *text, const char *wanted)
{
	return strcasestr(text, wanted) != NULL;
}

/* The kinds of the two accesses, e.g. a lost update. */
static const char *accesses_word(const struct session *s, const struct entry *entry)
{
	const struct event *events = s->trace->events;
	const struct finding *f = entry->finding;
	if (entry->sites[0] == NONE)
		return "";
	return op_writes(events[f->first].op) && op_writes(events[f->second].op) ? "write-write"
	                                                                         : "read-write";
}

static bool says(const struct session *s, const struct entry *entry, const char *word)
{
	const struct finding *f = entry->finding;
	const struct event *events = s->trace->events;
	return contains(entry->where, word) || contains(entry->variable, word) ||
	       contains(entry->exact, word) || contains(kind_words[f->kind], word) ||
	       contains(kind_of(f), word) ||
	       contains(verdict_column(entry->finding, missing_code_verdict(s, entry)), word) ||
	       contains(triage_word(entry->triage), word) ||
	       (entry->note && contains(entry->note, word)) ||
	       contains(accesses_word(s, entry), word) ||
	       (strcasecmp(word, "reported") == 0 && session_reported(s, entry)) ||
	       strcmp(trace_thread_name(s->trace, events[f->first].thread), word) == 0 ||
	       strcmp(trace_thread_name(s->trace, events[f->second].thread), word) == 0;
}

/* Is its verdict listed? One that the user asked for is, and a filter takes all except those
 * that `v` leaves out. */
static bool is_listed(const struct session *s, const struct findings *f,
                      const struct entry *entry)
{
	enum verdict verdict = missing_code_verdict(s, entry);
	bool asked = s->asked && entry == session_selected(s);

	if (f->listed == LISTED_RACES)
		return verdicts[verdict].rank <= 1;
	return f->listed == LISTED_ALL || verdict != VERDICT_IMPOSSIBLE || asked ||
	       f->filter != NULL || entry == f->held;
}

/* Does the entry contain each word of the filter, and none of those that begin with `!`? */
static bool passes(const struct session *s, const struct findings *f, const struct entry *entry)
{
	if (!is_listed(s, f, entry))
		return false;
	if (f->hide_marked && entry->triage != TRIAGE_NONE)
		return false;
	if (f->filter == NULL)
		return true;
	bool all = true;
	g_auto(GStrv) words = g_strsplit(f->filter, " ", -1);
	for (char **w = words; *w && all; w++) {
		bool without = **w == '!' && (*w)[1];
		all = **w == '\0' || says(s, entry, *w + without) != without;
	}
	return all;
}

/* Rank by effect, like `heddle check`: how the run failed is first; then by verdict, and of
 * one verdict the worse kind. */
static int rank_of(const struct session *s, const struct entry *entry)
{
	enum { KINDS = 4 };
	enum verdict verdict = missing_code_verdict(s, entry);
	int kind = failure_rank(entry->finding->kind);

	if (verdict == VERDICT_HAPPENED && kind < KINDS - 1)
		return kind;
	return (1 + verdicts[verdict].rank) * KINDS + kind;
}

static int compare(gconstpointer x, gconstpointer y, gpointer data)
{
	const struct app *app = ((void **)data)[0];
	const struct findings *f = ((void **)data)[1];
	int i = *(const int *)x, j = *(const int *)y, order = 0;
	const struct entry *a = app->session->entries->pdata[i];
	const struct entry *b = app->session->entries->pdata[j];
	if (f->sort == COLUMN_VERDICT)
		order = rank_of(app->session, a) - rank_of(app->session, b);
	else if (f->sort == COLUMN_VARIABLE)
		order = strcmp(a->variable, b->variable);
	else if (f->sort == COLUMN_COUNT)
		order = a->finding->count > b->finding->count   ? -1
		        : a->finding->count < b->finding->count ? 1
		                                                : 0;
	return f->reverse ? (order ? -order : j - i) : order ? order : i - j;
}

/* Width of the widest variable, including the triage mark. */
static int widest_variable(const struct session *s, const GArray *shown)
{
	int widest = 0;
	for (guint i = 0; i < shown->len; i++) {
		const struct entry *e = s->entries->pdata[g_array_index(shown, int, i)];
		int mark = e->triage ? text_columns(triage_word(e->triage)) + 1 : 0;
		widest = MAX(widest, text_columns(e->variable) + mark);
	}
	return widest;
}

static void findings_show(struct app *app, void *state)
{
	struct findings *f = state;
	struct session *s = app->session;
	g_array_set_size(f->shown, 0);
	if (!f->chosen) /* lessons discuss proofs */
		f->listed = app->guide ? LISTED_ALL : LISTED_POSSIBLE;
	f->left_out = f->behind = 0;
	for (int i = 0; i < (int)s->entries->len; i++) {
		const struct entry *entry = s->entries->pdata[i];
		bool left_out = f->listed == LISTED_POSSIBLE && !is_listed(s, f, entry);
		if (passes(s, f, entry)) {
			g_array_append_val(f->shown, i);
		} else {
			f->left_out += left_out;
			f->behind += left_out && entry->finding->behind != NULL;
		}
	}
	void *context[] = { app, f };
	g_array_sort_with_data(f->shown, compare, context);
	f->widest = widest_variable(s, f->shown);
	folders_make(&f->folders, s, f->shown);
	f->list.count = f->folders.lines->len; /* keys may come before the next draw */
	bool chosen = f->touched || s->asked;
	if (chosen)
		f->list.cursor = folders_line_of(&f->folders, s->entry, f->list.cursor);
	for (uint64_t i = 0; f->folder && i < f->list.count; i++) {
		const struct folder *folder = folders_at(&f->folders, i);
		if (folder && strcmp(folder->name, f->folder) == 0)
			f->list.cursor = i;
	}
	if (f->shown->len == 0)
		return;
	f->list.cursor = MIN(f->list.cursor, f->list.count - 1);
	int first = folders_entry(&f->folders, chosen ? f->list.cursor : 0);
	if (!chosen || (s->entry < 0 && s->pair[0] == NONE))
		session_select(s, first);
}

static void *findings_open(struct app *app)
{
	struct findings *f = g_new0(struct findings, 1);
	f->shown = g_array_new(FALSE, FALSE, sizeof(int));
	f->picked = g_hash_table_new(NULL, NULL);
	folders_init(&f->folders);
	return f;
}

static void findings_close(void *state)
{
	struct findings *f = state;
	g_array_free(f->shown, TRUE);
	g_hash_table_destroy(f->picked);
	folders_release(&f->folders);
	g_free(f->folder);
	g_free(f->filter);
	g_free(f);
}

/* -- drawing ------------------------------------------------------------------------ */

/* Rows of the body. */
struct layout {
	int list, seen, source, source_rows, words, words_rows;
};

/* The list gets the rows it needs, the source the rest, within limits; with a lesson both are
 * short. */
static struct layout layout_of(const struct app *app, int rows, guint count)
{
	struct layout l;
	if (rows < 14 ||
	    settings_project()) { /* only the list and a sentence; s and I show the rest */
		l = (struct layout){ .words_rows = settings_project() && rows >= 10 ? 4 : 2 };
		l.words = rows - l.words_rows;
		l.source = l.words - 1;
		l.seen = l.source;
		l.list = l.seen;
		return l;
	}
	l.words_rows = rows >= 34 ? 4 : 3;
	int room = rows - l.words_rows - 4; /* headings, seen by, two rules */
	int least = room < 12 ? 2 : 5;
	l.list = CLAMP((int)MIN(count, 1000) + 1, least,
	               MAX(room - (rows >= 34 ? 12 : 6), least));
	l.source_rows = CLAMP(room - l.list, 0, 17);
	/* above the border are the headings and the line of analyses that report the selected
	 * one */
	l.list =
	        split_at(app, SPLIT_LIST, rows, room - l.source_rows + 2, 4, l.words_rows + 2) -
	        2;
	l.source_rows = room - l.list;
	l.words = rows - l.words_rows;
	l.source = l.words - 1 - l.source_rows;
	l.seen = l.source - 2;
	return l;
}

/* For the list: one line for the findings that are not shown. */
static guint rows_wanted(const struct findings *f)
{
	return f->folders.lines->len + (f->left_out > 0);
}

static void findings_fit(struct app *app, void *state, int rows, int columns)
{
	struct findings *f = state;
	int room = layout_of(app, rows, rows_wanted(f)).list;
	list_fit(&f->list, f->folders.lines->len, room - (f->left_out > 0 && room > 1));
}

enum { WIDEST_PLACE = 90 };

struct columns {
	int verdict, kind, kind_width, where, where_width, variable, variable_width, count;
};

/* Variables first, the rest to places with their long functions. */
static struct columns columns_of(int width, int widest)
{
	bool narrow = width < USUAL_COLUMNS; /* without the kind */
	struct columns c = { .verdict = 3, .kind = 12, .kind_width = narrow ? 0 : 10 };
	c.where = narrow ? 13 : 23;
	c.count = width - 7;
	int rest = c.count - c.where - 2;
	c.variable_width = MIN(CLAMP(rest / 3, 14, 36), MAX(widest, 14));
	c.variable = c.count - 1 - c.variable_width;
	c.where_width = c.variable - 1 - c.where;
	if (c.where_width > WIDEST_PLACE) { /* on very wide screens columns stay together */
		c.where_width = WIDEST_PLACE;
		c.variable = c.where + c.where_width + 1;
		c.count = c.variable + c.variable_width + 1;
	}
	return c;
}

static void draw_entry(const struct session *s, const struct findings *v, struct pane p,
                       int row, const struct entry *entry, bool selected)
{
	const struct finding *f = entry->finding;
	struct columns c = columns_of(p.columns, v->widest);
	bool held = entry == v->held, picked = g_hash_table_contains(v->picked, entry);
	char number[32];
	enum verdict verdict = missing_code_verdict(s, entry);
	enum style style = verdict_style(verdict);
	enum style text =
	        verdict == VERDICT_IMPOSSIBLE || entry->triage ? STYLE_DIM : STYLE_TEXT;
	if (selected || held || picked)
		pane_text(p, row, 0, STYLE_HERE, held ? "=" : picked ? "+" : "▸");
	pane_text(p, row, 1, style, verdicts[verdict].glyph);
	pane_field(p, row, c.verdict, 8, style, verdict_column(entry->finding, verdict));
	if (missing_code_refutes(s, entry))
		pane_text(p, row, c.kind - 2, STYLE_MISSING, "░");
	pane_field(p, row, c.kind, c.kind_width, text, kind_of(f));
	if (session_reported(s, entry))
		pane_text(p, row, c.where - 1, STYLE_KEY, "◆");
	pane_field(p, row, c.where, c.where_width, text,
	           text_columns(entry->where) <= c.where_width ? entry->where : entry->lines);
	int mark = entry->triage ? text_columns(triage_word(entry->triage)) : 0;
	pane_field(p, row, c.variable, c.variable_width - (mark ? mark + 1 : 0), text,
	           entry->variable);
	if (mark)
		pane_field_right(p, row, c.variable, c.variable_width, STYLE_DIM,
		                 triage_word(entry->triage));
	pane_field_right(p, row, c.count, 6, text, grouped(MAX(f->count, 1), number));
	if (!f->counted_all && f->count > 1)
		pane_text(p, row, c.count + 6, STYLE_DIM, "+");
	if (selected)
		pane_highlight(p, row, ATTR_REVERSE);
}

/* "+ acct.balance   3 findings: ✓ 2 ✗ 1, 1 marked" */
static void draw_folder(const struct session *s, const struct findings *f, struct pane p,
                        int row, const struct folder *folder, bool selected)
{
	guint counts[G_N_ELEMENTS(verdicts)] = { 0 }, marked = 0, picked = 0;
	char number[32];
	for (guint i = 0; i < folder->members->len; i++) {
		const struct entry *e =
		        s->entries->pdata[g_array_index(folder->members, int, i)];
		counts[missing_code_verdict(s, e)]++;
		marked += e->triage != TRIAGE_NONE;
		picked += g_hash_table_contains(f->picked, e);
	}
	if (selected || picked)
		pane_text(p, row, 0, STYLE_HERE, picked ? "+" : "▸");
	int at = pane_text(p, row, 1, STYLE_HEADING,
	                   folders_is_open(&f->folders, folder) ? "[-] " : "[+] ");
	at = pane_text(p, row, at, STYLE_HEADING, folder->name);
	at = pane_format(p, row, at + 2, STYLE_DIM,
	                 "%s finding%s:", grouped(folder->members->len, number),
	                 plural(folder->members->len));
	for (size_t v = 0; v < G_N_ELEMENTS(verdicts); v++)
		if (counts[v] > 0)
			at = pane_format(p, row, at + 1, verdicts[v].style, "%s %s",
			                 verdicts[v].glyph, grouped(counts[v], number));
	if (marked > 0)
		pane_format(p, row, at + 2, STYLE_DIM, "%s marked", grouped(marked, number));
	if (selected)
		pane_highlight(p, row, ATTR_REVERSE);
}

/* "185 pairs proved impossible are not listed: v lists them", or "185 pairs proved impossible,
 * 2 by racy reads, not listed: v lists them" */
static void draw_left_out(const struct app *app, const struct findings *f, struct pane p,
                          int column)
{
	char number[32], key[16];
	key_word(bindings_key(&app->bindings, VIEW_FINDINGS, REQUEST_SHOW_ALL), key);
	bool one = f->left_out == 1;
	g_autofree char *behind = f->behind == 0 ? g_strdup(one ? " is" : " are")
	                          : one          ? g_strdup(" by a racy read is")
	                                : g_strdup_printf(", %u by racy reads,", f->behind);
	pane_format(p, 0, column, STYLE_DIM,
	            "✗ %s pair%s proved impossible%s not listed: %s lists %s",
	            grouped(f->left_out, number), one ? "" : "s", behind, key,
	            one ? "it" : "them");
}

static void draw_list(const struct app *app, const struct findings *f, struct pane p)
{
	struct columns c = columns_of(p.columns, f->widest);
	pane_text(p, 0, c.verdict, STYLE_HEADING, "verdict");
	pane_field(p, 0, c.kind, c.kind_width, STYLE_HEADING, "kind");
	pane_field(p, 0, c.where, c.where_width, STYLE_HEADING, "where");
	pane_text(p, 0, c.variable, STYLE_HEADING, "variable");
	pane_field_right(p, 0, c.count, 6, STYLE_HEADING, "count");
	g_autoptr(GString) about = g_string_new(NULL);
	if (f->list.count > (uint64_t)f->list.rows)
		g_string_append_printf(about, "%u of %u", (guint)f->list.cursor + 1,
		                       (guint)f->list.count);
	if (f->folders.by != GROUPED_NOT)
		g_string_append_printf(about, "%sby %s", about->len ? "  " : "",
		                       grouping_words[f->folders.by]);
	if (f->filter)
		g_string_append_printf(about, "%sfilter: %s (%u of %u)", about->len ? "  " : "",
		                       f->filter, f->shown->len, app->session->entries->len);
	else if (g_hash_table_size(f->picked))
		g_string_append_printf(about, "%s%u picked", about->len ? "  " : "",
		                       g_hash_table_size(f->picked));
	else if (app->session->reported)
		g_string_append_printf(about, "%s◆ in the report", about->len ? "  " : "");
	pane_field(p, 0, c.where + 7, c.where_width - 7, f->filter ? STYLE_KEY : STYLE_DIM,
	           about->str);
	for (int r = 0; r < f->list.rows && f->list.top + r < f->list.count; r++) {
		uint64_t i = f->list.top + r;
		const struct folder *folder = folders_at(&f->folders, i);
		if (folder) {
			draw_folder(app->session, f, p, r + 1, folder, i == f->list.cursor);
			continue;
		}
		const struct entry *entry =
		        app->session->entries->pdata[folders_entry(&f->folders, i)];
		draw_entry(app->session, f, p, r + 1, entry, i == f->list.cursor);
	}
	if (f->left_out && f->shown->len)
		draw_left_out(app, f,
		              pane_part(p,
		                        1 + (int)MIN((uint64_t)f->list.rows,
		                                     f->list.count - f->list.top),
		                        0, 1, -1),
		              1);
}

/* "lockset ·  hb –  shb ✓": the verdict of each analysis on the entry. */
static void draw_seen(const struct app *app, const struct entry *entry, struct pane p)
{
	static const enum analysis shown[] = { ANALYSIS_LOCKSET, ANALYSIS_HB,   ANALYSIS_SHB,
		                               ANALYSIS_WCP,     ANALYSIS_WDC,  ANALYSIS_SYNCP,
		                               ANALYSIS_M2,      ANALYSIS_AUTO, ANALYSIS_RDIT };
	size_t count = G_N_ELEMENTS(shown) - !session_lacks_code(app->session);
	if (entry->sites[0] == NONE) { /* other analyses find data races only */
		const struct finding *f = entry->finding;
		int at = f->first == f->second
		                 ? pane_format(p, 0, 1, STYLE_DIM, "event %u", f->first)
		                 : pane_format(p, 0, 1, STYLE_DIM, "events %u and %u", f->first,
		                               f->second);
		pane_text(p, 0, at + 3, STYLE_DIM, "I tells the whole story");
		return;
	}
	int at = pane_text(p, 0, 1, STYLE_DIM, "seen by");
	for (size_t i = 0; i < count; i++) {
		if (app->session->weak && shown[i] != ANALYSIS_HB)
			continue; /* the other analyses concern other schedules */
		int seen = session_seen(app->session, entry, shown[i]);
		const char *glyph = seen < 0 ? "…" : seen == 0 ? "–" : verdicts[seen - 1].glyph;
		enum style style = seen > 0 ? verdicts[seen - 1].style : STYLE_DIM;
		at = pane_text(p, 0, at + 2, seen > 0 ? STYLE_TEXT : STYLE_DIM,
		               analysis_word(shown[i]));
		at = pane_text(p, 0, at + 1, style, glyph);
	}
	guint number = session_reported(app->session, entry);
	if (number)
		pane_format(p, 0, at + 2, STYLE_KEY, "◆ %u", number);
}

static void draw_side(const struct app *app, struct pane p, uint32_t event)
{
	if (!draw_source(app, p, event, session_own_frame(app->session, event)))
		draw_neighbours(app, p, event);
}

static const struct report *report_by(const struct session *s, const char *analysis)
{
	const struct report *last = NULL;
	for (guint i = 0; i < s->reports->len; i++) {
		const struct report *r = s->reports->pdata[i];
		if (strcmp(r->analysis, analysis) == 0)
			last = r;
	}
	return last;
}

/* Analyses that an empty list names as having found nothing, with the place of their reports.
 * Cycles of inferred units are never complete. */
static const struct {
	const char *analysis, *found, *rest;
} others[] = {
	{ "deadlocks", "deadlocks", "waits that never end (heddle deadlocks)" },
	{ "cov", "order violations and uses after free", "order violations (heddle commute)" },
	{ "rd2", "calls that do not commute", "calls that do not commute (heddle commute)" },
	{ "atomic", "units of work out of order", "units of work (C)" },
};

static bool searched_to_the_end(const struct report *r)
{
	/* without a scope, deadlocks are complete for locks alone */
	return r->complete && (strcmp(r->analysis, "deadlocks") != 0 || r->scope != NULL);
}

static int draw_nothing_else(const struct app *app, struct pane p, int row)
{
	g_autoptr(GString) none = g_string_new(NULL), open = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		const struct report *r = report_by(app->session, others[i].analysis);
		if (r == NULL)
			continue;
		g_string_append_printf(
		        none, "%s%s", none->len ? ", " : "Not found either: ", others[i].found);
		if (!searched_to_the_end(r))
			g_string_append_printf(
			        open, "%s%s",
			        open->len ? ", " : ". Of these not decided to the end: ",
			        others[i].rest);
	}
	if (none->len == 0)
		return row;
	g_string_append_printf(none, "%s.", open->str);
	return pane_paragraph(p, row + 1, 0, STYLE_NONE, none->str);
}

/* No finding: the claim that follows from it. Returns the row after it. */
static int draw_no_race(const struct app *app, struct pane p)
{
	const struct report *races = report_by(app->session, analysis_word(ANALYSIS_AUTO));
	g_autoptr(GString) text = g_string_new(NULL);
	if (races == NULL || races->complete)
		g_string_printf(
		        text,
		        "No data race%s: not in this run, nor in any reordering of it in "
		        "which every read sees what it saw%s. Other inputs, and schedules "
		        "in which a read sees something else, are not covered (heddle "
		        "explore).",
		        accesses_are_missing(app->session->trace)
		                ? " outside of code that is not instrumented"
		                : "",
		        races && races->same_pairing
		                ? ", and each wait ends by the post, signal or arrivals that "
		                  "ended it"
		                : "");
	else if (races->notes->len == 0)
		g_string_assign(text, "No data race was found, but not every pair was decided: "
		                      "`:analyse 60` gives more time.");
	else
		g_string_assign(text, "No data race was found, which is no promise");
	for (guint i = 0; races && !races->complete && i < races->notes->len; i++)
		g_string_append_printf(text, "%s%s", i ? "; " : ": ",
		                       (const char *)races->notes->pdata[i]);
	if (races && !races->complete && races->notes->len)
		g_string_append_c(text, '.');
	int row = pane_paragraph(p, 0, 0, STYLE_NONE, text->str);
	return jobs_idle(&app->jobs) ? draw_nothing_else(app, p, row) : row;
}

static void draw_empty(const struct app *app, const struct findings *f, struct pane p)
{
	guint all = app->session->entries->len;
	g_autoptr(GString) ending = g_string_new(NULL);
	session_append_ending(app->session, false, ending);
	if (ending->len)
		pane_format(p, 0, 3, STYLE_RACE, "%s.", ending->str);
	if (all && all == f->left_out && app->session->seen[ANALYSIS_AUTO]) {
		int row = draw_no_race(app, pane_part(p, 2, 3, -1, p.columns - 6));
		draw_left_out(app, f, pane_part(p, row + 3, 0, 1, -1), 3);
	} else if (all && all == f->left_out)
		draw_left_out(app, f, pane_part(p, 2, 0, 1, -1), 3);
	else if (all)
		pane_format(p, 2, 3, STYLE_TEXT,
		            "%u finding%s hidden: v shows every verdict, z the "
		            "marked, / with nothing clears the filter",
		            all, plural(all));
	else if (!jobs_idle(&app->jobs))
		pane_paragraph(pane_part(p, 2, 3, -1, p.columns - 6), 0, 0, STYLE_BUSY,
		               "Heddle is looking for races; the line above says where it is. "
		               "First come those that are found at once, each with an order of "
		               "this run that shows it; then every other pair is decided: it "
		               "can happen, it is proved impossible, or it stays open. T shows "
		               "the trace meanwhile, C-c stops.");
	else if (app->session->seen[ANALYSIS_AUTO])
		draw_no_race(app, pane_part(p, 2, 3, -1, p.columns - 6));
	else if (app->session->weak && app->session->seen[ANALYSIS_HB])
		pane_paragraph(
		        pane_part(p, 2, 3, -1, p.columns - 6), 0, 0, STYLE_TEXT,
		        "No data race in this run by the happens-before of what its loads "
		        "read. It is not sequentially consistent, so nothing is said of "
		        "other schedules (heddle explore --memory runs them).");
	else
		pane_text(p, 2, 3, STYLE_TEXT,
		          "stopped before anything was found; :analyse looks again");
}

static void findings_draw(const struct app *app, const void *state, struct pane p)
{
	const struct findings *f = state;
	struct layout l = layout_of(app, p.rows, rows_wanted(f));
	draw_list(app, f, pane_part(p, 0, 0, l.seen, -1));
	const struct entry *entry = session_selected(app->session);
	if (f->shown->len == 0 || entry == NULL) {
		draw_empty(app, f, p);
		return;
	}
	int half = split_at(app, SPLIT_SIDES, p.columns, p.columns / 2, 12, 12);
	if (l.source_rows > 0) {
		draw_seen(app, entry, pane_part(p, l.seen, 0, 1, -1));
		pane_rule(pane_part(p, l.seen + 1, 0, 1, -1), 0, NULL);
		split_border(p, SPLIT_LIST, l.seen + 1, false);
		struct pane source = pane_part(p, l.source, 0, l.source_rows, -1);
		if (entry->finding->first == entry->finding->second) {
			draw_side(app, source, entry->finding->first);
		} else {
			draw_side(app, pane_part(source, 0, 0, -1, half - 1),
			          entry->finding->first);
			draw_side(app, pane_part(source, 0, half + 1, -1, -1),
			          entry->finding->second);
			pane_bar(source, half);
			split_border(source, SPLIT_SIDES, half, true);
		}
	}
	pane_rule(p, l.words - 1, NULL);
	g_autoptr(GString) words = g_string_new(NULL);
	explain_entry(app->session, entry, words);
	if (entry->note)
		g_string_append_printf(words, " Note: %s", entry->note);
	pane_paragraph(pane_part(p, l.words, 1, l.words_rows, p.columns - 2), 0, 0, STYLE_TEXT,
	               words->str);
}

/* -- requests ----------------------------------------------------------------------- */

static void select_cursor(struct app *app, struct findings *f)
{
	f->touched = true;
	g_clear_pointer(&f->folder, g_free);
	if (f->list.count == 0)
		return;
	const struct folder *folder = folders_at(&f->folders, f->list.cursor);
	f->folder = folder ? g_strdup(folder->name) : NULL;
	session_select(app->session, folders_entry(&f->folders, f->list.cursor));
}

/* The findings for a mark: all of a folder, else the selected one. */
static GArray *under_cursor(const struct app *app, const struct findings *f)
{
	const struct folder *folder =
	        f->folder ? folders_at(&f->folders, f->list.cursor) : NULL;
	if (folder)
		return g_array_ref(folder->members);
	GArray *one = g_array_new(FALSE, FALSE, sizeof(int));
	if (session_selected(app->session))
		g_array_append_val(one, app->session->entry);
	return one;
}

/* Groups the list by the next property, or by a given one. */
static void group_by(struct app *app, struct findings *f, enum grouping by)
{
	f->folders.by = by;
	g_hash_table_remove_all(f->folders.opened);
	g_clear_pointer(&f->folder, g_free);
	findings_show(app, f);
	if (by != GROUPED_NOT)
		select_cursor(app, f);
	if (by == GROUPED_NOT)
		app_say(app, SAYS_NO_FOLDERS);
	else
		app_say(app, SAYS_FOLDERS, f->folders.list->len, plural(f->folders.list->len),
		        grouping_words[by]);
}

bool findings_group(struct app *app, const char *word)
{
	for (int by = 0; by < GROUPINGS; by++)
		if (strcmp(word, grouping_words[by]) == 0) {
			group_by(app, app->states[VIEW_FINDINGS], (enum grouping)by);
			return true;
		}
	return false;
}

static void toggle_folder(struct app *app, struct findings *f)
{
	if (f->folders.by == GROUPED_NOT) {
		app_say(app, SAYS_FOLDERS_FIRST);
		return;
	}
	if (!folders_toggle(&f->folders, app->session, f->shown, &f->list.cursor))
		return;
	f->list.count = f->folders.lines->len;
	select_cursor(app, f);
}

static void mark(struct entry *entry, enum triage triage, const char *note)
{
	entry->triage = triage;
	if (note) {
		g_free(entry->note);
		entry->note = g_strdup(note);
	}
}

guint findings_mark(struct app *app, enum triage triage, const char *note)
{
	const struct findings *f = app->states[VIEW_FINDINGS];
	struct session *s = app->session;
	guint count = 0;
	for (guint i = 0; i < s->entries->len; i++) {
		if (!g_hash_table_contains(f->picked, s->entries->pdata[i]))
			continue;
		mark(s->entries->pdata[i], triage, note);
		count++;
	}
	if (count > 0)
		return count;
	g_autoptr(GArray) those = under_cursor(app, f);
	count = those->len;
	for (guint i = 0; i < count; i++)
		mark(s->entries->pdata[g_array_index(those, int, i)], triage, note);
	return count;
}

static void triage(struct app *app)
{
	struct entry *entry = session_selected(app->session);
	struct error e;
	if (entry == NULL)
		return;
	enum triage mark = (enum triage)((entry->triage + 1) % TRIAGE_COUNT);
	guint count = findings_mark(app, mark, NULL);
	if (!session_save_notes(app->session, &e)) {
		app_complain(app, &e);
		return;
	}
	g_autoptr(GString) many = g_string_new(NULL);
	if (count > 1)
		g_string_printf(many, COUNT_FINDINGS, count);
	app_say(app, SAYS_MARKED, many->str, mark ? triage_word(mark) : MARKED_AS_NEW,
	        app->session->notes_path);
}

static void pick(struct app *app, struct findings *f)
{
	g_autoptr(GArray) those = under_cursor(app, f);
	bool all = true;
	for (guint i = 0; i < those->len; i++)
		all &= g_hash_table_contains(
		        f->picked, app->session->entries->pdata[g_array_index(those, int, i)]);
	for (guint i = 0; i < those->len; i++) {
		struct entry *entry =
		        app->session->entries->pdata[g_array_index(those, int, i)];
		if (all)
			g_hash_table_remove(f->picked, entry);
		else
			g_hash_table_add(f->picked, entry);
	}
	list_request(&f->list, REQUEST_DOWN, 1);
	select_cursor(app, f);
}

static void pick_all(struct app *app, struct findings *f)
{
	bool none = g_hash_table_size(f->picked) == 0;
	g_hash_table_remove_all(f->picked);
	for (guint i = 0; none && i < f->shown->len; i++)
		g_hash_table_add(f->picked,
		                 app->session->entries->pdata[g_array_index(f->shown, int, i)]);
	app_say(app, SAYS_PICKED, g_hash_table_size(f->picked));
}

/* The first call keeps the finding, the second compares with it. */
static void compare_with_held(struct app *app, struct findings *f)
{
	const struct entry *entry = session_selected(app->session), *held = f->held;
	f->held = NULL;
	if (entry == NULL || entry == held)
		return;
	if (held == NULL) {
		f->held = entry;
		app_say(app, SAYS_HELD);
		return;
	}
	app_show_text(app, "Two findings", compare_findings(app->session, held, entry));
}

static bool clear_filter(struct app *app, struct findings *f)
{
	if (f->filter == NULL)
		return false;
	g_free(f->filter);
	f->filter = NULL;
	findings_show(app, f);
	app_say(app, SAYS_FILTER_CLEARED, f->shown->len);
	return true;
}

static void open_note(struct app *app)
{
	const struct entry *entry = session_selected(app->session);
	if (entry)
		app_open_line(app, LINE_NOTE, entry->note ? entry->note : "");
}

/* Drops what was picked, else the filter; false: neither is there. */
static bool go_back(struct app *app, struct findings *f)
{
	if (g_hash_table_size(f->picked) == 0 || f->filter != NULL)
		return clear_filter(app, f);
	g_hash_table_remove_all(f->picked);
	app_say(app, SAYS_NONE_PICKED);
	return true;
}

static void sort_otherwise(struct app *app, struct findings *f, enum request request)
{
	if (request == REQUEST_SORT)
		f->sort = (enum column)((f->sort + 1) % COLUMNS);
	else
		f->reverse = !f->reverse;
	app_say(app, SAYS_SORTED, sort_words[f->sort], f->reverse ? AND_LAST_FIRST : "");
	findings_show(app, f);
}

static bool findings_request(struct app *app, void *state, enum request request, uint64_t count)
{
	struct findings *f = state;
	if (list_request(&f->list, request, count)) {
		select_cursor(app, f);
		return true;
	}
	switch (request) {
	case REQUEST_GROUP:
		group_by(app, f, (enum grouping)((f->folders.by + 1) % GROUPINGS));
		return true;
	case REQUEST_FOLDER:
		toggle_folder(app, f);
		return true;
	case REQUEST_ENTER:
		if (f->folder) {
			toggle_folder(app, f);
			return true;
		}
		if (session_selected(app->session))
			app_go(app, VIEW_TRACE);
		return true;
	case REQUEST_TRIAGE:
		f->touched = true;
		triage(app);
		findings_show(app, f);
		return true;
	case REQUEST_NOTE:
		open_note(app);
		return true;
	case REQUEST_COMPARE:
		compare_with_held(app, f);
		return true;
	case REQUEST_PICK:
		pick(app, f);
		return true;
	case REQUEST_PICK_ALL:
		pick_all(app, f);
		return true;
	case REQUEST_BACK:
		return go_back(app, f);
	case REQUEST_SORT:
	case REQUEST_SORT_REVERSE:
		sort_otherwise(app, f, request);
		return true;
	case REQUEST_SHOW_ALL:
		f->chosen = true;
		f->listed = (enum listed)((f->listed + 1) % LISTED_COUNT);
		app_say(app, "%s", listed_words[f->listed]);
		findings_show(app, f);
		return true;
	case REQUEST_HIDE_MARKED:
		f->hide_marked = !f->hide_marked;
		app_say(app, f->hide_marked ? SAYS_MARKED_HIDDEN : SAYS_MARKED_SHOWN);
		findings_show(app, f);
		return true;
	case REQUEST_EXPORT:
		app_command(app, "export");
		return true;
	default:
		return false;
	}
}

/* `/` filters: findings with every word in place, variable, kind, verdict, threads, mark or
 * note. */
static bool findings_search(struct app *app, void *state, const char *text, int direction)
{
	struct findings *f = state;
	g_free(f->filter);
	f->filter = *text ? g_strdup(text) : NULL;
	f->touched = true;
	findings_show(app, f);
	if (f->shown->len)
		select_cursor(app, f);
	return true;
}

static void findings_select(struct app *app, void *state, int row, int column, bool again)
{
	struct findings *f = state;
	uint64_t i = f->list.top + (uint64_t)(row - 1);
	if (row < 1 || row > f->list.rows || i >= f->list.count)
		return;
	bool same = i == f->list.cursor && again;
	f->list.cursor = i;
	select_cursor(app, f);
	if (same && f->folder)
		toggle_folder(app, f);
	else if (same)
		app_go(app, VIEW_WITNESS);
}

static void findings_copy(const struct app *app, const void *state, GString *out)
{
	const struct entry *entry = session_selected(app->session);
	if (entry)
		g_string_append_printf(
		        out, "%s: %s, %s on %s", kind_words[entry->finding->kind],
		        finding_verdict_text(entry->finding->kind, entry->finding->verdict),
		        entry->where, entry->variable);
}

const struct view_ops findings_view = {
	.title = "Findings",
	.open = findings_open,
	.close = findings_close,
	.show = findings_show,
	.fit = findings_fit,
	.draw = findings_draw,
	.request = findings_request,
	.search = findings_search,
	.select = findings_select,
	.copy = findings_copy,
};
