/* explore_judge.c - how a run ended. */
#include "engine/base/hash.h"
#include "engine/explore/explore_private.h"
#include "engine/trace/own_code.h"
#include "engine/trace/roles.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STORY_ROOM = 400 };

/* The last line of a text, or the message of a failed assertion. */
static char *last_line_of(const char *text, gsize length)
{
	while (length > 0 && g_ascii_isspace(text[length - 1]))
		length--;
	gsize from = length;
	while (from > 0 && text[from - 1] != '\n')
		from--;
	GString *line = g_string_new(NULL);
	append_escaped(line, text + from, MIN(length - from, STORY_ROOM));
	return g_string_free(line, FALSE);
}

/* Digest of the lines of a text in any order, as threads that print concurrently print the
 * same lines. */
static uint64_t digest_of_lines(const char *text, gsize length)
{
	uint64_t sum = 1;
	for (gsize at = 0; at < length;) {
		const char *end = memchr(text + at, '\n', length - at);
		gsize next = end ? (gsize)(end - text) + 1 : length;
		uint64_t line = next - at;
		for (; at < next; at++)
			line = hash_join(line, (unsigned char)text[at]);
		sum += line;
	}
	return sum;
}

/* The threads of the first run with their roles. */
static void note_threads(const struct exploration *x)
{
	enum { MOST = 64 };
	GPtrArray *threads = x->report->threads;
	if (threads->len > 0 || !trace_need(x->trace, INDEX_THREADS | INDEX_MATCH, x->progress))
		return;
	for (uint32_t i = 0; i < MIN(x->trace->threads_count, MOST); i++) {
		GString *thread = g_string_new(NULL);
		role_append_thread(x->trace, i, thread);
		g_ptr_array_add(threads, g_string_free(thread, FALSE));
	}
}

/* Sets the output of a run, and the number of thread switches in its trace. */
static void note_output(const struct exploration *x, const struct plan_run *run,
                        struct explore_run *r)
{
	if (run->printed != NULL) {
		r->printed = last_line_of(run->printed, run->printed_length);
		r->output = digest_of_lines(run->printed, run->printed_length);
	}
	for (uint32_t i = 1; i < x->trace->events_count; i++)
		r->switches += x->trace->events[i].thread != x->trace->events[i - 1].thread;
}

/* -- deadlocks ---------------------------------------------------------------------------- */

/* One thread waits for another; by the runtime's numbers. */
struct waits_for {
	uint32_t thread, other;
};

/* Adds those that hold the lock at an address where the runtime does not say so, of a
 * reader-writer lock or one that the thread tries to take again and again: they have taken it,
 * and not released it. */
static void add_holders(const struct trace *t, const struct record_wait *w, GArray *edges)
{
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (!op_acquires(x->op) || event_inert(x) || t->index->partner[e] != NONE ||
		    t->objects[x->target].address != w->object)
			continue;
		struct waits_for edge = { w->thread, t->threads[x->thread].recorded };
		g_array_append_val(edges, edge);
	}
}

/* Is there a way from `at` to `to`? `seen`: threads that were looked at. */
static bool leads_to(const GArray *edges, uint32_t at, uint32_t to, GHashTable *seen)
{
	bool found = at == to;
	if (!g_hash_table_add(seen, GUINT_TO_POINTER(at)))
		return found;
	for (guint i = 0; i < edges->len && !found; i++) {
		struct waits_for edge = g_array_index(edges, struct waits_for, i);
		found = edge.thread == at && leads_to(edges, edge.other, to, seen);
	}
	return found;
}

/* Do the waits form a cycle of locks and joins? (Waits for conditions may be lost wake-ups.) */
static bool is_cycle(struct exploration *x, const struct record_facts *facts)
{
	GArray *edges = g_array_new(FALSE, FALSE, sizeof(struct waits_for));
	bool cycle = false, matched = trace_need(x->trace, INDEX_MATCH, x->progress);
	for (guint i = 0; i < facts->blocked->len; i++) {
		const struct record_wait *w =
		        &g_array_index(facts->blocked, struct record_wait, i);
		struct waits_for edge = { w->thread, w->holder };
		if (w->holder != NONE)
			g_array_append_val(edges, edge);
		else if (matched && (w->reason == FOR_READ_LOCK ||
		                     w->reason == FOR_WRITE_LOCK || w->reason == FOR_LOOK))
			add_holders(x->trace, w, edges);
	}
	for (guint i = 0; i < edges->len && !cycle; i++) {
		struct waits_for edge = g_array_index(edges, struct waits_for, i);
		GHashTable *seen = g_hash_table_new(NULL, NULL);
		cycle = leads_to(edges, edge.other, edge.thread, seen);
		g_hash_table_unref(seen);
	}
	g_array_unref(edges);
	return cycle;
}

static void add_place(struct explore_run *r, const char *place)
{
	for (guint i = 0; i < r->places->len; i++)
		if (strcmp(r->places->pdata[i], place) == 0)
			return;
	g_ptr_array_add(r->places, g_strdup(place));
}

/* Place of the last running thread: its last event, or the call that returned. */
static void add_last_place(const struct trace *t, uint32_t holder, struct explore_run *r)
{
	struct event_list mine = { 0 };
	for (uint32_t i = 0; i < t->threads_count; i++)
		if (t->threads[i].recorded == holder)
			mine = trace_thread_events(t, i);
	for (uint64_t i = mine.count; i-- > 0 && r->places->len == 0;) {
		uint32_t e = mine.items[i];
		if (t->events[e].op == OP_LEAVE && t->index->partner[e] != NONE)
			e = t->index->partner[e];
		if (t->locations[t->events[e].location].line != 0) /* not in a library */
			add_place(r, own_code_place_name(t, e));
	}
}

/* Adds the places of joins, or of all other waits: a thread waiting for another's end is not
 * at fault. */
static void add_waits(const struct plan_run *run, bool joins, struct explore_run *r)
{
	const struct record_facts *facts = &run->facts;
	for (guint i = 0; i < facts->blocked->len; i++) {
		const struct record_wait *w =
		        &g_array_index(facts->blocked, struct record_wait, i);
		if ((w->reason == FOR_THREAD) != joins)
			continue;
		GString *place = g_string_new(NULL);
		record_append_wait_place(run->trace, facts, w, place);
		add_place(r, place->str);
		g_string_free(place, TRUE);
	}
}

/* "bank: src/bank.c:27: transfer: Assertion `...' failed.": the C library's message. */
static bool add_assertion(struct explore_run *r)
{
	char *file = NULL, *end;
	const char *failed = strstr(r->story, ": Assertion `");
	const char *colon = failed ? strchr(r->story, ':') : NULL;
	if (colon == NULL || colon[1] != ' ')
		return false;
	const char *from = colon + 2, *line = strchr(from, ':');
	if (line == NULL || line > failed || strtoul(line + 1, &end, 10) == 0 || *end != ':')
		return false;
	while (strcspn(from, "/") < (size_t)(line - from)) /* shorten the path */
		from += strcspn(from, "/") + 1;
	file = g_strndup(from, (gsize)(end - from));
	add_place(r, file);
	g_free(file);
	return true;
}

static void find_places(const struct exploration *x, const struct plan_run *run,
                        struct explore_run *r)
{
	bool stuck = run->facts.status == LOG_DEADLOCK;
	r->places = g_ptr_array_new_with_free_func(g_free);
	if (!stuck && !add_assertion(r) &&
	    trace_need(x->trace, INDEX_THREADS | INDEX_MATCH, x->progress))
		add_last_place(x->trace, run->facts.holder, r);
	for (int joins = 0; stuck && joins < 2 && r->places->len == 0; joins++)
		add_waits(run, joins, r);
}

/* Does nothing change any more? For a run under a memory model rounds are unknown. */
static bool is_at_rest(const struct exploration *x, const struct plan_run *run)
{
	if (x->rounds != NULL)
		return await_rounds_judge(x->rounds, run);
	struct await_rounds rounds = { 0 };
	struct await_memory memory;
	await_memory_init(&memory, run->trace);
	await_rounds_find(&rounds, run, NULL, NULL, &memory);
	bool rests = await_rounds_judge(&rounds, run);
	await_rounds_release(&rounds);
	return rests;
}

void explore_judge(struct exploration *x, const struct plan_run *run, struct explore_run *r)
{
	const struct record_result *result = &run->result;
	r->status = result->signal ? result->signal : result->status;
	r->strayed = run->diverged;
	r->error = NONE;
	note_output(x, run, r);
	const char *last = r->printed ? r->printed : "";
	note_threads(x);
	/* for a run that left its plan, the runtime's own endings say nothing about the
	 * program */
	bool by_runtime = run->facts.status == LOG_DEADLOCK || result->signal == SIGKILL;
	if (run->diverged && result->signal != 0 && !by_runtime) {
		r->end = EXPLORE_SIGNAL; /* it is nevertheless a run of the program */
		r->story = g_strdup(last);
	} else if (run->diverged) {
		r->end = EXPLORE_DIVERGED;
		r->story = g_strdup(run->cause ? run->cause : "");
	} else if (run->facts.status == LOG_CUT) {
		r->end = EXPLORE_CUT;
		r->story = g_strdup("it took too many steps");
	} else if (result->timed_out) {
		r->end = EXPLORE_CUT;
		r->story = g_strdup("it took too long");
	} else if (run->facts.status == LOG_DEADLOCK) {
		GString *story = g_string_new(NULL);
		record_explain_deadlock(run->trace, &run->facts, story);
		if (story->len)
			g_string_truncate(story, story->len - 1);
		bool rests = is_at_rest(x, run);
		r->end = !rests                     ? EXPLORE_CUT
		         : is_cycle(x, &run->facts) ? EXPLORE_DEADLOCK
		                                    : EXPLORE_BLOCKED;
		r->story = g_string_free(story, FALSE);
	} else {
		r->end = result->signal        ? EXPLORE_SIGNAL
		         : result->status != 0 ? EXPLORE_STATUS
		                               : EXPLORE_FINE;
		r->story = g_strdup(r->end == EXPLORE_FINE ? "" : last);
	}
	if (r->end != EXPLORE_FINE && r->end != EXPLORE_CUT && r->end != EXPLORE_DIVERGED)
		find_places(x, run, r);
}

void explore_set_place(struct explore_run *r, const char *place)
{
	if (r->places == NULL)
		r->places = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_set_size(r->places, 0);
	g_ptr_array_add(r->places, g_strdup(place));
}
