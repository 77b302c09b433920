/*
 * compare.c - see compare.h. A finding is reduced to facts that help to decide whether two
 * findings are one bug: variables, places, callers, locks, threads, verdict, analyses.
 */
#include "tui/explorer/words/compare.h"

#include <string.h>

static void add_fact(GPtrArray *facts, GString *text)
{
	for (guint i = 0; i < facts->len; i++)
		if (strcmp(facts->pdata[i], text->str) == 0) {
			g_string_free(text, TRUE);
			return;
		}
	g_ptr_array_add(facts, g_string_free(text, FALSE));
}

static GString *fact(const char *kind)
{
	GString *text = g_string_new(kind);
	g_string_append_c(text, '\t');
	return text;
}

static void add_variables(const struct session *s, const struct entry *e, GPtrArray *facts)
{
	const GArray *variables = e->finding->variables;
	for (guint i = 0; variables && i < variables->len; i++) {
		uint32_t v = g_array_index(variables, uint32_t, i);
		const char *name = trace_variable_name(s->trace, v);
		GString *text = fact("variable");
		append_escaped(text, name, strlen(name));
		add_fact(facts, text);
	}
	if (variables == NULL || variables->len == 0) {
		GString *text = fact("variable");
		g_string_append(text, e->variable);
		add_fact(facts, text);
	}
}

/* Add the callers of the event's function. */
static void add_callers(const struct session *s, uint32_t event, GPtrArray *facts)
{
	g_autoptr(GArray) frames = session_frames(s, event);
	for (guint i = 1; i < frames->len; i++) {
		const char *name =
		        trace_string(s->trace, g_array_index(frames, struct frame, i).function);
		if (*name == '\0')
			continue;
		GString *text = fact("called by");
		append_escaped(text, name, strlen(name));
		add_fact(facts, text);
	}
}

static void add_locks(const struct session *s, uint32_t event, GPtrArray *facts)
{
	const struct trace *t = s->trace;
	g_autoptr(GArray) held = session_locks_held(s, event);
	bool any = false;
	for (guint i = 0; i < held->len; i++) {
		uint32_t acquire = g_array_index(held, uint32_t, i);
		if (t->events[acquire].thread != t->events[event].thread)
			continue;
		GString *text = fact("lock held");
		describe_operand(t, acquire, text);
		add_fact(facts, text);
		any = true;
	}
	if (!any)
		add_fact(facts, g_string_append(fact("lock held"), "none, on one side"));
}

static void add_side(const struct session *s, uint32_t event, GPtrArray *facts)
{
	const struct trace *t = s->trace;
	GString *place = fact("place"), *thread = fact("thread");
	describe_place(s, event, place);
	g_string_append_printf(place, ", which %s",
	                       op_writes(t->events[event].op) ? "writes" : "reads");
	add_fact(facts, place);
	const char *name = trace_thread_name(t, t->events[event].thread);
	append_escaped(thread, name, strlen(name));
	add_fact(facts, thread);
	add_locks(s, event, facts);
	add_callers(s, event, facts);
}

static void add_marks(const struct session *s, const struct entry *e, GPtrArray *facts)
{
	GString *verdict = fact("verdict");
	g_string_append(verdict, finding_verdict_text(e->finding->kind, e->finding->verdict));
	add_fact(facts, verdict);
	for (int a = 0; a < ANALYSIS_COUNT; a++) {
		if (session_seen(s, e, (enum analysis)a) <= 0)
			continue;
		GString *text = fact("seen by");
		g_string_append(text, analysis_word((enum analysis)a));
		add_fact(facts, text);
	}
	if (e->triage) {
		GString *text = fact("marked");
		g_string_append(text, triage_word(e->triage));
		add_fact(facts, text);
	}
	if (e->note) {
		GString *text = fact("note");
		append_escaped(text, e->note, strlen(e->note));
		add_fact(facts, text);
	}
}

/* A finding as "KIND TAB TEXT" lines, with kinds in a fixed order. */
static GPtrArray *facts_of(const struct session *s, const struct entry *e)
{
	GPtrArray *facts = g_ptr_array_new_with_free_func(g_free);
	add_variables(s, e, facts);
	add_side(s, e->finding->first, facts);
	add_side(s, e->finding->second, facts);
	add_marks(s, e, facts);
	return facts;
}

static bool has_fact(const GPtrArray *facts, const char *text)
{
	for (guint i = 0; i < facts->len; i++)
		if (strcmp(facts->pdata[i], text) == 0)
			return true;
	return false;
}

/* Append the facts of `a` that `b` shares, or lacks; one line for each kind. */
static void append_facts(const GPtrArray *a, const GPtrArray *b, bool shared, GString *out)
{
	static const char *const kinds[] = { "variable",  "place",  "called by",
		                             "lock held", "thread", "verdict",
		                             "seen by",   "marked", "note" };
	bool any = false;
	for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
		bool begun = false;
		for (guint i = 0; i < a->len; i++) {
			const char *text = a->pdata[i], *tab = strchr(text, '\t');
			if (strlen(kinds[k]) != (size_t)(tab - text) ||
			    strncmp(text, kinds[k], strlen(kinds[k])) != 0 ||
			    has_fact(b, text) != shared)
				continue;
			if (!begun)
				g_string_append_printf(out, "   %s\t%s", kinds[k], tab + 1);
			else
				g_string_append_printf(out, "; %s", tab + 1);
			begun = any = true;
		}
		if (begun)
			g_string_append_c(out, '\n');
	}
	if (!any)
		g_string_append(out, "   nothing\n");
}

GString *compare_findings(const struct session *s, const struct entry *a, const struct entry *b)
{
	g_autoptr(GPtrArray) of_a = facts_of(s, a), of_b = facts_of(s, b);
	GString *out = g_string_new(NULL);
	g_string_append(out, "Both\n");
	append_facts(of_a, of_b, true, out);
	g_string_append_printf(out, "\nOnly %s (%s)\n", a->where, a->variable);
	append_facts(of_a, of_b, false, out);
	g_string_append_printf(out, "\nOnly %s (%s)\n", b->where, b->variable);
	append_facts(of_b, of_a, false, out);
	return out;
}
