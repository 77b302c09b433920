/*
 * session.c - the trace, its findings and the selection; see session.h.
 */
#include "tui/explorer/session.h"

#include "engine/witness/check_reach.h"
#include "engine/trace/own_code.h"

#include "engine/trace/ending.h"
#include "engine/trace/roles.h"

#include "tui/drawing/columns.h"
#include "tui/explorer/tool_reports.h"
#include "tui/explorer/messages.h"
#include "engine/trace/own_site.h"

#include <string.h>

const char *const triage_words[TRIAGE_COUNT] = { "", "real", "benign", "duplicate", "fixed" };

void session_reached_free(struct reached *r);
const char *session_thread(const struct session *s, uint32_t thread)
{
	if (!session_has(s, INDEX_THREADS | INDEX_MATCH))
		return trace_thread_name(s->trace, thread);
	if (s->threads[thread] == NULL) {
		GString *text = g_string_new(NULL);
		role_append_thread(s->trace, thread, text);
		const char *end = text->len ? strrchr(text->str, '(') : NULL;
		gsize without = end ? (gsize)(end - text->str) : 0;
		/* A second text follows the first: without the argument. */
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

/* -- findings ----------------------------------------------------------------------- */

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
		if (!finding_is_open(open))
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
	uint32_t a = own_site(s->trace, s->pair[0]), b = own_site(s->trace, s->pair[1]);
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
		refuse(error, NO_EVENT_NUMBERED, digits, (guint64)s->trace->events_count - 1);
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

/* The function of the selected frame; "": unknown. */
static const char *frame_function(const struct session *s)
{
	g_autoptr(GArray) frames = session_frames(s, s->event);
	uint32_t function = s->frame < frames->len
	                            ? g_array_index(frames, struct frame, s->frame).function
	                            : 0;
	return trace_string(s->trace, function);
}

/* The part behind "FUNCTION::" in the name of a local variable, without the number that
 * distinguishes those of several calls ("worker::sum#2", "stack@T1.worker::sum"). NULL: not
 * of that function. Caller frees. */
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

/* Rank of the thread's last access to the variable up to the selected event, from 1 on; also
 * 1 if all its accesses are later; 0: it has none. */
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

void session_reached_free(struct reached *r)
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
	session_reached_free(s->reached);
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
