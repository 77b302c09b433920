/*
 * findings_draw.c - the list of findings on the screen; below it the analyses that report the
 * selected one, the source of both sides, and an explanation.
 */
#include "tui/explorer/views/view_findings.h"
#include "tui/explorer/settings.h"

#include "tui/explorer/words/missing_code.h"
#include "tui/explorer/words/weak_order.h"

#include <string.h>

/* -- words --------------------------------------------------------------------------------- */

static const char *const kind_words[] = {
	[FINDING_DATA_RACE] = "data race",
	[FINDING_COMMUTATIVITY_RACE] = "commute",
	[FINDING_ORDER_VIOLATION] = "order",
	[FINDING_USE_AFTER_FREE] = "use→free",
	[FINDING_ATOMIC_SET_VIOLATION] = "atomic set",
	[FINDING_DEADLOCK] = "deadlock",
	[FINDING_STUCK] = "stuck",
	[FINDING_LOCK_MISUSE] = "misuse",
	[FINDING_UNINITIALISED_READ] = "unwritten",
	[FINDING_CRASH] = "crash",
	[FINDING_ASSERTION] = "assertion",
	[FINDING_EXIT] = "exit",
};

const char *findings_kind_of(const struct finding *f)
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

const char *findings_verdict_word(const struct finding *f, enum verdict verdict)
{
	bool other = verdict == VERDICT_RACE && f->kind != FINDING_DATA_RACE &&
	             f->kind != FINDING_COMMUTATIVITY_RACE;

	return other ? "checked" : verdicts[verdict].word;
}

static enum style verdict_style(enum verdict verdict)
{
	return verdicts[verdict].style;
}

int findings_verdict_rank(enum verdict verdict)
{
	return verdicts[verdict].rank;
}

const char *findings_kind_word(enum finding_kind kind)
{
	return kind_words[kind];
}

/* -- drawing ------------------------------------------------------------------------------- */

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

void findings_fit(struct app *app, void *state, int rows, int columns)
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
	pane_field(p, row, c.verdict, 8, style, findings_verdict_word(entry->finding, verdict));
	if (missing_code_refutes(s, entry))
		pane_text(p, row, c.kind - 2, STYLE_MISSING, "░");
	pane_field(p, row, c.kind, c.kind_width, text, findings_kind_of(f));
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
		        races && races->same_pairing ? ", and " REPORT_SAME_PAIRING : "");
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

void findings_draw(const struct app *app, const void *state, struct pane p)
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
