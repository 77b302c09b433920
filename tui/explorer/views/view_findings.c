/*
 * view_findings.c - the list of findings: which are shown, in what order, and what keys do with
 * them. findings_draw.c draws it.
 */
#include "tui/explorer/views/view_findings.h"

#include "engine/detect/failure.h"
#include "tui/explorer/words/compare.h"
#include "tui/explorer/folders.h"
#include "tui/explorer/words/missing_code.h"
#include "tui/explorer/messages.h"

#include <string.h>

static const char *const sort_words[COLUMNS] = { "verdict", "place in the run", "variable",
	                                         "count" };

static const char *const listed_words[LISTED_COUNT] = {
	[LISTED_POSSIBLE] = SAYS_LISTED_POSSIBLE,
	[LISTED_ALL] = SAYS_LISTED_ALL,
	[LISTED_RACES] = SAYS_LISTED_RACES,
};

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
	       contains(entry->exact, word) || contains(findings_kind_word(f->kind), word) ||
	       contains(findings_kind_of(f), word) ||
	       contains(findings_verdict_word(entry->finding, missing_code_verdict(s, entry)),
	                word) ||
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
		return findings_verdict_rank(verdict) <= 1;
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
	return (1 + findings_verdict_rank(verdict)) * KINDS + kind;
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
		        out, "%s: %s, %s on %s", findings_kind_word(entry->finding->kind),
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
