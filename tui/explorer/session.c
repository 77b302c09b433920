/*
 * session.c - the trace, its findings and the selection; see session.h.
 */
#include "tui/explorer/missing_code.h"
#include "engine/witness/check_reach.h"
#include "engine/trace/own_code.h"

#include "engine/finding_key.h"
#include "engine/partial/rdit.h"
#include "engine/trace/ending.h"
#include "engine/trace/roles.h"

#include "tui/drawing/columns.h"
#include "tui/explorer/import.h"
#include "tui/explorer/return_point.h"
#include "tui/explorer/messages.h"

#include <string.h>

const char *const triage_words[TRIAGE_COUNT] = { "", "real", "benign", "duplicate", "fixed" };

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

static void reached_free(struct reached *r);
const char *session_thread(const struct session *s, uint32_t thread)
{
	if (!session_has(s, INDEX_THREADS | INDEX_MATCH))
		return trace_thread_name(s->trace, thread);
	if (s->threads[thread] == NULL) {
		GString *text = g_string_new(NULL);
		role_append_thread(s->trace, thread, text);
		const char *end = text->len ? strrchr(text->str, '(') : NULL;
		gsize without = end ? (gsize)(end - text->str) : 0;
		/* A second text behind the first: without the argument. */
		g_string_append_c(text, '\0');
		g_string_append_len(text, text->str, (gssize)without);
		s->threads[thread] = g_string_free(text, FALSE);
	}
	return s->threads[thread];
}

const char *session_thread_within(const struct session *s, uint32_t thread, int columns)
{
	const char *text = session_thread(s, thread);
	if (text_columns(text) <= columns)
		return text;
	const char *short_text = s->threads[thread] ? text + strlen(text) + 1 : "";
	return *short_text && text_columns(short_text) <= columns
	               ? short_text
	               : trace_thread_name(s->trace, thread);
}

int session_threads_columns(const struct session *s, int most)
{
	enum { LOOKED_AT = 64 };
	int widest = 1;
	for (uint32_t i = 0; i < MIN(s->trace->threads_count, LOOKED_AT); i++)
		widest =
		        MAX(widest, MIN(text_columns(session_thread_within(s, i, most)), most));
	return widest;
}

void session_append_role(const struct session *s, uint32_t thread, GString *out)
{
	const char *name = trace_thread_name(s->trace, thread);
	const char *whole = session_thread(s, thread);
	append_escaped(out, name, strlen(name));
	const char *role = strchr(whole + MIN(strlen(name), strlen(whole)), ' ');
	if (role)
		g_string_append_printf(out, " (%s)", role + 1);
}

void session_forget_roles(struct session *s)
{
	for (uint64_t i = 0; i < s->trace->threads_count; i++)
		g_clear_pointer(&s->threads[i], g_free);
}

void session_free(struct session *s)
{
	if (s == NULL)
		return;
	for (int k = 0; k < ORDER_KIND_COUNT; k++)
		for (int m = 0; m < 2; m++)
			if (s->orders[m][k])
				order_free(s->orders[m][k]);
	reached_free(s->reached);
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
	session_forget_roles(s);
	g_free(s->threads);
	g_free(s->wanted);
	located_free(s->reported);
	g_free(s->notes_path);
	g_free(s->executable);
	model_free(s->model);
	if (s->specs)
		specs_free(s->specs);
	trace_close(s->trace);
	g_free(s);
}

/* -- findings ----------------------------------------------------------------------- */

static bool is_pair_of_accesses(const struct finding *f)
{
	return f->kind == FINDING_DATA_RACE;
}

static uint32_t site_of(const struct trace *t, uint32_t event)
{
	return t->locations[t->events[event].location].site;
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
	uint32_t a = site_of(t, f->first), b = site_of(t, f->second);
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
		own_code_append_name(name, out);
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
	if (f->first == f->second) /* how the run ended is of one place */
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

/* A candidate that missing code may order cannot be settled. */
static bool is_open(const struct finding *f)
{
	return f->verdict == VERDICT_UNKNOWN ||
	       (f->verdict == VERDICT_CANDIDATE && f->missing == NULL);
}

/* Settled verdicts stay; a proof or witness of any analysis settles an open one, and a finding
 * that happened may get a witness later. */
static bool may_replace(const struct finding *old, const struct finding *found, bool settles)
{
	if (old->verdict == VERDICT_HAPPENED && found->verdict == VERDICT_HAPPENED)
		return old->witness == NULL && found->witness != NULL;
	if (!is_open(old))
		return settles && old->missing != NULL;
	return settles ||
	       (found->verdict != VERDICT_CANDIDATE && found->verdict != VERDICT_UNKNOWN);
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
			if (entry == selected)
				follow(s, entry->finding, f);
			entry->finding = f;
			if (f->count < count)
				f->count = count;
		} else if (f->verdict == entry->finding->verdict &&
		           f->count > entry->finding->count) {
			entry->finding->count =
			        f->count; /* it was shown before all were counted */
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
		/* a proof on one pair of accesses does not cover all */
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

struct check_options session_check_options(const struct session *s, enum claim claim,
                                           struct semantics *storage)
{
	bool race = claim == CLAIM_RACE || claim == CLAIM_C11_RACE;
	struct check_options options = { .use_missing = s->missing && race };
	if (s->model == NULL || s->trace->instances_count == 0 || options.use_missing)
		return options; /* without rule 5 */
	*storage = model_semantics(s->model);
	options.semantics = storage;
	return options;
}

/* The settled finding on the pair in `count` reports, else `open`. */
static const struct finding *find_settled(const struct session *s, void *const *reports,
                                          guint count, const struct finding *open)
{
	for (guint i = 0; i < count; i++) {
		const GPtrArray *findings = ((struct report *)reports[i])->findings;
		for (guint j = 0; j < findings->len; j++) {
			const struct finding *f = findings->pdata[j];
			if (f->first != s->pair[0] || f->second != s->pair[1] ||
			    (f->verdict == VERDICT_CANDIDATE && f->missing == NULL))
				continue;
			if (f->verdict != VERDICT_UNKNOWN)
				return f;
			open = open ? open : f;
		}
	}
	return open;
}

const struct finding *session_finding(const struct session *s)
{
	const struct entry *entry = session_selected(s);
	const struct finding *open = NULL; /* returned unless a settled one is found */
	bool race = entry == NULL || entry->finding->kind == FINDING_DATA_RACE;
	if (s->missing && race) {
		open = find_settled(s, s->missing_reports->pdata, s->missing_reports->len,
		                    NULL);
		return open || s->rdit == NULL
		               ? open
		               : find_settled(s, (void *[]){ s->rdit }, 1, NULL);
	}
	if (entry && entry->finding->first == s->pair[0] &&
	    entry->finding->second == s->pair[1]) {
		open = entry->finding;
		if (!is_open(open))
			return open;
	}
	return find_settled(s, s->reports->pdata, s->reports->len, open);
}

int session_seen(const struct session *s, const struct entry *entry, enum analysis analysis)
{
	if (s->seen[analysis] == NULL)
		return -1;
	if (entry->sites[0] == NONE)
		return 0;
	uint64_t key = (uint64_t)entry->sites[0] << 32 | entry->sites[1];
	return GPOINTER_TO_INT(g_hash_table_lookup(s->seen[analysis], &key));
}

/* The kind of finding that describes the run's ending; FINDING_DATA_RACE: none. */
static enum finding_kind how_it_ended(const struct session *s)
{
	enum finding_kind kind = FINDING_DATA_RACE;

	for (guint i = 0; i < s->entries->len; i++) {
		const struct finding *f = ((const struct entry *)s->entries->pdata[i])->finding;

		if (f->verdict == VERDICT_HAPPENED &&
		    (f->kind == FINDING_DEADLOCK || f->kind == FINDING_STUCK))
			kind = f->kind;
	}
	return kind;
}

void session_append_ending(const struct session *s, bool brief, GString *out)
{
	enum finding_kind kind = how_it_ended(s);
	struct ending ending = trace_ending(s->trace);
	bool good = ending_good(&ending);

	if (kind == FINDING_DEADLOCK)
		g_string_append(out, brief ? "deadlock" : "The run ended in a deadlock");
	else if (kind == FINDING_STUCK)
		g_string_append(out, brief ? "stuck"
		                           : "The run ended with threads that wait for ever");
	else if (!good && !brief)
		ending_append(&ending, out);
	else if (!good && ending.kind == ENDING_EXIT)
		g_string_append_printf(out, "exit status %d", ending.number);
	else if (!good && ending.kind == ENDING_SIGNAL)
		g_string_append_printf(out, "signal %d", ending.number);
	else if (!good)
		g_string_append(out, ending.kind == ENDING_CHECK   ? "check failed"
		                     : ending.kind == ENDING_ERROR ? "went wrong"
		                     : ending.kind == ENDING_CUT   ? "cut off"
		                                                   : "stuck");
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
	guint counts[G_N_ELEMENTS(words)] = { 0 }; /* by verdict, as many as words */
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

struct entry *session_selected(const struct session *s)
{
	return s->entry >= 0 && s->entry < (int)s->entries->len ? s->entries->pdata[s->entry]
	                                                        : NULL;
}

void session_select(struct session *s, int index)
{
	s->entry = index;
	s->asked = s->exact = false;
	s->awaited = 0;
	struct entry *entry = session_selected(s);
	if (entry == NULL)
		return;
	s->pair[0] = entry->finding->first;
	s->pair[1] = entry->finding->second;
	s->event = entry->finding->first;
	s->frame = session_own_frame(s, s->event);
}

void session_ask(struct session *s, uint32_t first, uint32_t second)
{
	s->entry = -1;
	s->asked = s->exact = true;
	s->awaited = 0;
	s->pair[0] = MIN(first, second);
	s->pair[1] = MAX(first, second);
	/* The finding on this pair, else one with the same two places. */
	uint32_t a = site_of(s->trace, s->pair[0]), b = site_of(s->trace, s->pair[1]);
	for (guint i = 0; i < s->entries->len; i++) {
		const struct entry *entry = s->entries->pdata[i];
		const struct finding *f = entry->finding;
		bool same = f->first == s->pair[0] && f->second == s->pair[1];
		if (same || (s->entry < 0 && entry->sites[0] == MIN(a, b) &&
		             entry->sites[1] == MAX(a, b)))
			s->entry = (int)i;
		if (same)
			return;
	}
}

static bool is_reported(const struct session *s, const struct reported_pair *race,
                        const struct entry *entry)
{
	const struct event *events = s->trace->events;
	const uint32_t locations[2] = { events[entry->finding->first].location,
		                        events[entry->finding->second].location };
	return entry->sites[0] != NONE && reported_at(race, locations);
}

guint session_reported(const struct session *s, const struct entry *entry)
{
	for (guint i = 0; s->reported && i < s->reported->len; i++)
		if (is_reported(s, &g_array_index(s->reported, struct reported_pair, i), entry))
			return i + 1;
	return 0;
}

bool session_ask_reported(struct session *s, guint number)
{
	const struct reported_pair *race =
	        &g_array_index(s->reported, struct reported_pair, number - 1);
	for (guint i = 0; i < s->entries->len; i++) {
		if (!is_reported(s, race, s->entries->pdata[i]))
			continue;
		session_select(s, (int)i);
		s->asked = true;
		return true;
	}
	if (race->pair[0] == NONE)
		return false;
	session_ask(s, race->pair[0], race->pair[1]);
	s->awaited = number;
	return true;
}

uint32_t session_parse_event(const struct session *s, const char *text, struct error *error)
{
	if (strcmp(text, "$") == 0)
		return s->event;
	const char *digits = *text == '#' ? text + 1 : text;
	char *end;
	guint64 number = g_ascii_strtoull(digits, &end, 10);
	if (!g_ascii_isdigit(*digits) || *end) {
		refuse(error, NO_EVENT_NAMED, text);
		return NONE;
	}
	if (number >= s->trace->events_count) {
		refuse(error, NO_EVENT_NUMBERED, number, (guint64)s->trace->events_count - 1);
		return NONE;
	}
	return (uint32_t)number;
}

uint32_t session_find_variable(const struct session *s, const char *name)
{
	return named_variable(s->trace, name);
}

uint32_t session_find_short(const struct session *s, const char *name)
{
	return named_short(s->trace, name);
}

/* -- variables of the selected frame ------------------------------------------------------- */

/* The function of the selected frame; "": not known. */
static const char *frame_function(const struct session *s)
{
	g_autoptr(GArray) frames = session_frames(s, s->event);
	uint32_t function = s->frame < frames->len
	                            ? g_array_index(frames, struct frame, s->frame).function
	                            : 0;
	return trace_string(s->trace, function);
}

/* What follows "FUNCTION::" in the name of a local variable, without the number that tells
 * those of several calls apart ("worker::sum#2", "stack@T1.worker::sum"). NULL: not of that
 * function. Caller frees. */
static char *local_name(const char *name, const char *function)
{
	const char *dot = strncmp(name, "stack@", 6) == 0 ? strchr(name, '.') : NULL;
	if (dot)
		name = dot + 1;
	gsize length = strlen(function);
	if (length == 0 || strncmp(name, function, length) != 0 ||
	    strncmp(name + length, "::", 2) != 0)
		return NULL;
	name += length + 2;
	const char *number = strrchr(name, '#');
	bool numbered = number && number[1 + strspn(number + 1, "0123456789")] == '\0';
	return numbered ? g_strndup(name, (gsize)(number - name)) : g_strdup(name);
}

/* The number, from 1, of the thread's last access to the variable up to the selected event; 1:
 * it has only later ones; 0: none. */
static uint64_t accessed_here(const struct session *s, uint32_t variable)
{
	const struct trace *t = s->trace;
	uint32_t thread = t->events[s->event].thread;
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	uint64_t past = search_end(i, 0, list.count, list.items[i] <= s->event);
	if (past > 0 && t->events[list.items[past - 1]].thread == thread)
		return (uint64_t)list.items[past - 1] + 2;
	return past < list.count && t->events[list.items[past]].thread == thread;
}

bool session_is_local(const struct session *s, uint32_t variable)
{
	g_autofree char *name =
	        s->trace->events_count && session_has(s, INDEX_VARIABLES)
	                ? local_name(trace_variable_name(s->trace, variable), frame_function(s))
	                : NULL;
	return name && accessed_here(s, variable) > 0;
}

uint32_t session_find_here(const struct session *s, const char *name)
{
	const struct trace *t = s->trace;
	uint32_t found = NONE;
	uint64_t last = 0;
	bool known = t->events_count > 0 && session_has(s, INDEX_VARIABLES);
	const char *function = known ? frame_function(s) : "";
	for (uint32_t v = 0; *function && v < t->variables_count; v++) {
		g_autofree char *local = local_name(trace_variable_name(t, v), function);
		if (local && strcmp(local, name) == 0 && accessed_here(s, v) > last) {
			found = v;
			last = accessed_here(s, v);
		}
	}
	return found != NONE ? found : named_short(t, name);
}

const struct reached *session_reached(const struct session *s)
{
	const struct reached *r = s->reached;
	return r && s->entry < 0 && s->pair[0] == r->target && s->pair[1] == r->target ? r
	                                                                               : NULL;
}

static void reached_free(struct reached *r)
{
	if (r == NULL)
		return;
	g_array_unref(r->events);
	g_free(r->condition);
	g_free(r);
}

void session_set_reached(struct session *s, uint32_t target, const GArray *sequence,
                         const char *condition)
{
	struct reached *r = g_new0(struct reached, 1);
	r->target = target;
	r->events = g_array_copy((GArray *)sequence);
	g_array_append_val(r->events, target);
	r->condition = g_strdup(condition);
	reached_free(s->reached);
	s->reached = r;
	session_ask(s, target, target);
	s->entry = -1;
}

GArray *session_frames(const struct session *s, uint32_t event)
{
	const struct trace *t = s->trace;
	const struct event *e = &t->events[event];
	uint32_t context = trace_stack(t, event);
	/* An entry's location is its call, in the caller. */
	if (e->op == OP_ENTER && context && t->contexts[context].call == e->location)
		context = t->contexts[context].parent;
	return trace_frames(t, event, context);
}

unsigned session_own_frame(const struct session *s, uint32_t event)
{
	g_autoptr(GArray) frames = session_frames(s, event);
	return own_code_frame(s->trace, frames);
}
