/*
 * session_reports.c - reports of analyses become entries of the session, named, merged and
 * sorted; the session's beginning and end. Above the queries of session.c.
 */
#include "tui/explorer/session.h"
#include "tui/explorer/words/missing_code.h"
#include "engine/trace/own_code.h"
#include "engine/finding_key.h"
#include "engine/partial/rdit.h"
#include "tui/explorer/tool_reports.h"
#include "tui/explorer/exploration/return_point.h"
#include "tui/explorer/messages.h"
#include "engine/trace/own_site.h"
#include <string.h>

static void entry_free(void *data)
{
	struct entry *entry = data;
	g_free(entry->key);
	g_free(entry->where);
	g_free(entry->lines);
	g_free(entry->exact);
	g_free(entry->variable);
	g_free(entry->note);
	g_free(entry->kept_note);
	g_free(entry);
}

static void bookmark_clear(void *data)
{
	g_free(((struct bookmark *)data)->name);
}

struct session *session_new(struct trace *trace)
{
	struct session *s = g_new0(struct session, 1);
	s->trace = trace;
	s->weak = trace_weak_first(trace) != NONE;
	s->reports = g_ptr_array_new_with_free_func((GDestroyNotify)report_free);
	s->missing_reports = g_ptr_array_new_with_free_func((GDestroyNotify)report_free);
	s->entries = g_ptr_array_new_with_free_func(entry_free);
	s->by_key = g_hash_table_new(g_str_hash, g_str_equal);
	s->entry = -1;
	s->pair[0] = s->pair[1] = NONE;
	s->order = ORDER_KIND_HB;
	s->hidden = g_new0(uint8_t, trace->threads_count + 1);
	s->library = g_new0(uint8_t, trace->variables_count + 1);
	s->threads = g_new0(char *, trace->threads_count + 1);
	s->folds = g_array_new(FALSE, FALSE, sizeof(struct fold));
	s->watches = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	s->bookmarks = g_array_new(FALSE, FALSE, sizeof(struct bookmark));
	g_array_set_clear_func(s->bookmarks, bookmark_clear);
	s->kept_bookmarks = g_array_new(FALSE, FALSE, sizeof(struct bookmark));
	g_array_set_clear_func(s->kept_bookmarks, bookmark_clear);
	s->breakpoints = g_ptr_array_new_with_free_func((GDestroyNotify)breakpoint_free);
	s->next_breakpoint = 1;
	s->notes_path = g_strconcat(trace->path ? trace->path : "trace", ".notes", NULL);
	return s;
}

void session_free(struct session *s)
{
	if (s == NULL)
		return;
	for (int k = 0; k < ORDER_KIND_COUNT; k++)
		for (int m = 0; m < 2; m++)
			if (s->orders[m][k])
				order_free(s->orders[m][k]);
	session_reached_free(s->reached);
	return_point_free(s->point);
	trace_view_free(s->view);
	missing_calls_free(s->calls);
	for (int a = 0; a < ANALYSIS_COUNT; a++)
		if (s->seen[a])
			g_hash_table_destroy(s->seen[a]);
	g_ptr_array_free(s->breakpoints, TRUE);
	g_array_free(s->bookmarks, TRUE);
	g_array_free(s->kept_bookmarks, TRUE);
	g_array_free(s->watches, TRUE);
	g_array_free(s->folds, TRUE);
	g_hash_table_destroy(s->by_key);
	g_ptr_array_free(s->entries, TRUE);
	g_ptr_array_free(s->missing_reports, TRUE);
	g_ptr_array_free(s->reports, TRUE);
	g_free(s->hidden);
	g_free(s->library);
	session_forget_roles(s);
	g_free(s->threads);
	g_free(s->wanted);
	tool_pairs_free(s->reported);
	g_free(s->notes_path);
	g_free(s->executable);
	model_free(s->model);
	if (s->specs)
		specs_free(s->specs);
	trace_close(s->trace);
	g_free(s);
}

static bool is_pair_of_accesses(const struct finding *f)
{
	return f->kind == FINDING_DATA_RACE;
}

static gpointer site_key(const uint32_t sites[2])
{
	return g_memdup2(&(uint64_t){ (uint64_t)sites[0] << 32 | sites[1] }, sizeof(uint64_t));
}

static void finding_sites(const struct trace *t, const struct finding *f, uint32_t sites[2])
{
	sites[0] = sites[1] = NONE;
	if (!is_pair_of_accesses(f))
		return;
	uint32_t a = own_site(t, f->first), b = own_site(t, f->second);
	sites[0] = MIN(a, b);
	sites[1] = MAX(a, b);
}

static void append_line(const struct trace *t, uint32_t event, const struct location *other,
                        GString *out)
{
	const struct location *l = own_code_location(t, event);
	const char *name = trace_string(t, l->name);
	if (l->file && l->line) {
		g_autofree char *base = g_path_get_basename(trace_string(t, l->file));
		if (other == NULL || other->file != l->file) /* the file's name only once */
			append_escaped(out, base, strlen(base));
		g_string_append_printf(out, ":%u", l->line);
	} else if (*name) {
		append_escaped(out, name, strlen(name));
	} else {
		g_string_append_printf(out, "event %u", event);
	}
}

/* Append the function's name, unless it is that of `other` (NONE: always). */
static void append_function(const struct session *s, uint32_t event, uint32_t other,
                            GString *out)
{
	uint32_t function = own_code_place(s->trace, event).function;
	if (other != NONE && own_code_place(s->trace, other).function == function)
		function = 0;
	const char *name = trace_string(s->trace, function);
	if (*name) {
		own_code_append_function(name, out);
		g_string_append_c(out, ' ');
	}
}

/* "deposit bank.c:31 ⇄ report :58"; without functions, "bank.c:31 ⇄ :58". */
static void append_where(const struct session *s, const struct finding *f, bool functions,
                         GString *out)
{
	const struct trace *t = s->trace;
	for (guint i = 0; f->units && i < f->units->len; i++)
		g_string_append_printf(out, "%s%s", i ? " ⇄ " : "",
		                       g_array_index(f->units, struct cycle_unit, i).unit);
	if (f->units && f->units->len)
		return;
	if (functions)
		append_function(s, f->first, NONE, out);
	append_line(t, f->first, NULL, out);
	if (f->first == f->second) /* an ending of the run has one place */
		return;
	g_string_append(out, " ⇄ ");
	if (functions)
		append_function(s, f->second, f->first, out);
	append_line(t, f->second, own_code_location(t, f->first), out);
}

/* Set where, lines, variable and exact. */
static void name_entry(const struct session *s, struct entry *entry)
{
	const struct finding *f = entry->finding;
	GString *where = g_string_new(NULL), *what = g_string_new(NULL),
	        *lines = g_string_new(NULL), *exact = g_string_new(NULL);
	append_where(s, f, true, where);
	append_where(s, f, false, lines);
	finding_append_subject(s->trace, f, exact);
	own_code_append_name(exact->str, what);
	const uint32_t events[] = { f->first, f->second };
	for (size_t i = 0; i < G_N_ELEMENTS(events); i++)
		if (events[i] < s->trace->events_count)
			g_string_append_printf(exact, " %s",
			                       trace_site_name(s->trace, events[i]));
	for (guint i = 0; f->exact && i < f->exact->len; i++) {
		const char *names[2];
		finding_exact_names(s->trace, f, i, names);
		g_string_append_printf(exact, " %s %s", names[0], names[1]);
	}
	char **fields[] = { &entry->where, &entry->variable, &entry->lines, &entry->exact };
	GString *texts[] = { where, what, lines, exact };
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		g_free(*fields[i]);
		*fields[i] = g_string_free(texts[i], FALSE);
	}
}

static struct entry *entry_new(const struct session *s, struct finding *f, char *key)
{
	struct entry *entry = g_new0(struct entry, 1);
	entry->finding = f;
	entry->key = key;
	name_entry(s, entry);
	finding_sites(s->trace, f, entry->sites);
	return entry;
}

void session_rename(struct session *s)
{
	for (guint i = 0; i < s->entries->len; i++)
		name_entry(s, s->entries->pdata[i]);
	if (s->event < s->trace->events_count)
		s->frame = session_own_frame(s, s->event);
}

/* Record the site pairs that an analysis reports. */
static void note_seen(struct session *s, const struct report *report, enum analysis analysis)
{
	if (s->seen[analysis] == NULL)
		s->seen[analysis] =
		        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];
		uint32_t sites[2];
		finding_sites(s->trace, f, sites);
		if (sites[0] != NONE)
			g_hash_table_replace(s->seen[analysis], site_key(sites),
			                     GINT_TO_POINTER((int)f->verdict + 1));
	}
}

static int by_place(gconstpointer a, gconstpointer b)
{
	const struct finding *x = (*(struct entry *const *)a)->finding;
	const struct finding *y = (*(struct entry *const *)b)->finding;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->second < y->second ? -1 : x->second > y->second;
}

/* Settled verdicts stay; a proof or witness of any analysis settles an open one, and a finding
 * that happened may get a witness later. */
static bool may_replace(const struct finding *old, const struct finding *found, bool settles)
{
	if (old->verdict == VERDICT_HAPPENED && found->verdict == VERDICT_HAPPENED)
		return old->witness == NULL && found->witness != NULL;
	if (!finding_is_open(old))
		return settles && old->missing != NULL;
	return settles ||
	       (found->verdict != VERDICT_CANDIDATE && found->verdict != VERDICT_UNKNOWN);
}

/* A report may leave a witness out that was made when the user asked for the pair. */
static void keep_witness(const struct finding *old, struct finding *found)
{
	if (found->verdict == VERDICT_RACE && found->witness == NULL && old->witness != NULL &&
	    found->first == old->first && found->second == old->second)
		found->witness = g_array_ref(old->witness);
}

/* Does the candidate get its own line? Those of other analyses include pairs ordered by forks
 * and joins, and only mark existing lines. */
static bool is_candidate_enough(const struct finding *f, enum analysis analysis)
{
	return analysis == ANALYSIS_AUTO || analysis == ANALYSIS_HB ||
	       analysis == ANALYSIS_COUNT || f->verdict == VERDICT_RACE;
}

/* The selected finding got a new verdict, maybe on another pair of its places: select that
 * pair, unless the user asked for specific events. */
static void follow(struct session *s, const struct finding *old, const struct finding *new)
{
	if (s->exact || s->pair[0] != old->first || s->pair[1] != old->second)
		return;
	s->pair[0] = new->first;
	s->pair[1] = new->second;
}

void session_add_report(struct session *s, struct report *report, enum analysis analysis,
                        bool settles)
{
	struct entry *selected = session_selected(s);
	g_ptr_array_add(s->reports, report);
	if (analysis < ANALYSIS_COUNT)
		note_seen(s, report, analysis);
	if (analysis == ANALYSIS_RDIT) {
		s->rdit = report;
		s->missing_complete = report->complete;
	}
	for (guint i = 0; i < report->findings->len; i++) {
		struct finding *f = report->findings->pdata[i];
		char *key = finding_key(s->trace, f);
		struct entry *entry = g_hash_table_lookup(s->by_key, key);
		if (entry == NULL && is_candidate_enough(f, analysis)) {
			entry = entry_new(s, f, key);
			g_ptr_array_add(s->entries, entry);
			g_hash_table_insert(s->by_key, entry->key, entry);
			continue;
		}
		if (entry == NULL) {
			g_free(key);
			continue;
		}
		g_free(key);
		if (may_replace(entry->finding, f, settles)) {
			uint64_t count = entry->finding->count;
			keep_witness(entry->finding, f);
			if (entry == selected)
				follow(s, entry->finding, f);
			entry->finding = f;
			if (f->count < count)
				f->count = count;
		} else if (f->verdict == entry->finding->verdict &&
		           f->count > entry->finding->count) {
			entry->finding->count =
			        f->count; /* it was shown before all pairs were counted */
			entry->finding->counted_all = f->counted_all;
		}
	}
	g_ptr_array_sort(s->entries, by_place);
	s->entry = -1;
	for (guint i = 0; i < s->entries->len; i++)
		if (s->entries->pdata[i] == selected)
			s->entry = i;
	if (s->awaited)
		session_ask_reported(s, s->awaited);
	else if (s->asked && s->entry < 0)
		session_ask(s, s->pair[0], s->pair[1]);
	struct error ignored;
	session_load_notes(s, &ignored);
}

void session_settle(struct session *s, struct report *report)
{
	struct finding *f = report->findings->pdata[0];
	for (guint i = 0; i < s->entries->len; i++) {
		struct entry *entry = s->entries->pdata[i];
		const struct finding *old = entry->finding;
		if (old->first != f->first || old->second != f->second)
			continue;
		/* a proof for one pair of accesses does not cover all */
		if (f->verdict == VERDICT_IMPOSSIBLE && (old->count > 1 || !old->counted_all)) {
			g_ptr_array_add(s->reports, report);
			return;
		}
		f->count = old->count;
		if (f->verdict == VERDICT_RACE && old->missing != NULL) {
			f->verdict = VERDICT_CANDIDATE;
			f->missing = g_strdup(old->missing);
		}
		if (f->variables == NULL && old->variables)
			f->variables = g_array_copy(old->variables);
		g_ptr_array_add(s->reports, report);
		entry->finding = f;
		return;
	}
	session_add_report(s, report, ANALYSIS_COUNT, true);
	session_ask(s, f->first, f->second);
}

void session_add_missing(struct session *s, struct report *report)
{
	g_ptr_array_add(s->missing_reports, report);
}

void session_append_summary(const struct session *s, GString *out)
{
	static const struct {
		enum verdict verdict;
		const char *word;
	} words[] = { { VERDICT_RACE, "can happen" },
		      { VERDICT_HAPPENED, "happened" },
		      { VERDICT_UNKNOWN, "open" },
		      { VERDICT_CANDIDATE, "maybe" },
		      { VERDICT_IMPOSSIBLE, "proved none" } };
	guint counts[G_N_ELEMENTS(words)] = { 0 }; /* by verdict, in the order of `words` */
	const char *comma = "";
	for (guint i = 0; i < s->entries->len; i++)
		counts[missing_code_verdict(s, s->entries->pdata[i])]++;
	for (size_t w = 0; w < G_N_ELEMENTS(words); w++) {
		if (counts[words[w].verdict] == 0)
			continue;
		g_string_append_printf(out, "%s%u %s", comma, counts[words[w].verdict],
		                       words[w].word);
		comma = ", ";
	}
}
