/* graphs_words.c - loads that do not read the last store, in words. */
#include "engine/explore/graphs/graphs.h"
#include "engine/trace/own_code.h"
#include "engine/trace/shown.h"
#include "engine/trace/weak.h"

#include <string.h>

enum { MOST = 3 };

struct telling {
	const struct trace *t;
	struct explore_run *run;
	GString *text;
	uint32_t described, last; /* the last read described */
	uint32_t *written;        /* by variable: its last write before `at`, + 1 */
	uint32_t *newest; /* by variable: the last of these in modification order, + 1 */
	uint32_t at;
};

/* The last write before the event, no earlier than that of the last call; NONE: none. */
static uint32_t last_write(struct telling *w, uint32_t event, uint32_t variable)
{
	for (; w->at < event; w->at++) {
		const struct event *x = &w->t->events[w->at];
		if (!op_is_access(x->op) || !op_writes(x->op) || event_inert(x))
			continue;
		struct wide run = event_variables(w->t, x);
		for (uint32_t i = 0; i < run.count; i++) {
			uint32_t *newest = &w->newest[run.first + i];
			uint32_t last = *newest - 1;
			if (trace_weak_store(w->t, w->at, WEAK_AFTER, last) == last)
				*newest = w->at + 1;
			w->written[run.first + i] = w->at + 1;
		}
	}
	return w->written[variable] - 1;
}

static uint32_t value_of(const struct trace *t, uint32_t event, bool written)
{
	uint32_t value = t->events[event].aux;
	const struct value v = trace_value(t, value);
	return v.kind == V_PAIR ? written ? v.second : v.first : value;
}

static void tell(void *context, uint32_t read, uint32_t variable, uint32_t writer)
{
	struct telling *w = context;
	const struct trace *t = w->t;
	if (w->described == MOST)
		return;
	uint32_t newest = last_write(w, read, variable);
	bool again = w->last != NONE &&
	             t->events[read].location == t->events[w->last].location &&
	             t->events[read].thread == t->events[w->last].thread;
	if (newest == writer || newest == NONE || read == w->last || again)
		return;
	GString *s = w->text;
	g_string_append_printf(s, "%s%s reads ", w->described > 0 ? "; " : "",
	                       trace_thread_name(t, t->events[read].thread));
	if (w->described == 0) {
		GString *name = g_string_new(NULL);
		trace_append_variable(t, &t->events[read], name);
		w->run->variable = g_string_free(name, FALSE);
		w->run->thread = g_strdup(trace_thread_name(t, t->events[read].thread));
		w->run->place = g_strdup(own_code_place_name(t, read));
	}
	trace_append_variable(t, &t->events[read], s);
	g_string_append(s, " = ");
	shown_append(t, shown_variable(&t->events[read]), value_of(t, read, false), read, s);
	bool late = writer != NONE && w->newest[variable] == writer + 1;
	g_string_append_printf(s, " (%s), %s, though %s has stored ",
	                       own_code_place_name(t, read),
	                       writer == NONE ? "the initial value"
	                       : late         ? "the last store in modification order"
	                                      : "an older store",
	                       trace_thread_name(t, t->events[newest].thread));
	shown_append(t, shown_variable(&t->events[newest]), value_of(t, newest, true), newest,
	             s);
	g_string_append_printf(s, " (%s)%s", own_code_place_name(t, newest),
	                       late ? ", which comes before it there" : "");
	w->last = read;
	w->described++;
}

void graphs_describe(const struct trace *t, struct explore_run *r)
{
	struct telling w = { .t = t, .run = r, .text = g_string_new(NULL), .last = NONE };
	w.written = g_new0(uint32_t, t->variables_count + 1);
	w.newest = g_new0(uint32_t, t->variables_count + 1);
	trace_weak_walk(t, tell, &w);
	g_free(w.written);
	g_free(w.newest);
	if (w.described == 0) {
		g_string_append(w.text, "each load reads the last store, in this order");
		r->thread = g_strdup("");
		r->place = g_strdup("");
		r->variable = g_strdup("");
	}
	r->reversal = g_string_free(w.text, FALSE);
}
