/* weak_order.c - see weak_order.h. */
#include "engine/trace/shown.h"
#include "engine/trace/own_code.h"
#include "tui/explorer/words/weak_order.h"

#include <string.h>

bool is_weak_order(const struct finding *f)
{
	return f->kind == FINDING_DATA_RACE && f->note != NULL &&
	       strstr(f->note, "C11") != NULL;
}

/* The last write to the variable before an event, by another thread; NONE: none. */
static uint32_t write_before(const struct trace *t, uint32_t event, uint32_t variable)
{
	for (uint32_t e = event; e-- > 0;) {
		const struct event *w = &t->events[e];
		if (op_is_access(w->op) && op_writes(w->op) && !event_inert(w) &&
		    !(w->flags & EVENT_WIDE) && w->target == variable)
			return e;
	}
	return NONE;
}

/* The value before the first access's write, where the second reads; 0: unknown. */
static uint32_t stale_value(const struct trace *t, const struct finding *f)
{
	const struct event *first = &t->events[f->first], *second = &t->events[f->second];
	if (!op_reads(second->op) || !op_writes(first->op) || first->target != second->target ||
	    (first->flags | second->flags) & EVENT_WIDE)
		return 0;
	uint32_t write = write_before(t, f->first, first->target);
	if (write == NONE)
		return 0;
	uint32_t aux = t->events[write].aux;
	return trace_value(t, aux).kind == V_PAIR ? trace_value(t, aux).second : aux;
}

/* The store and the load that fail to synchronise. Needs INDEX_WRITERS and INDEX_THREADS. */
static struct weak_order weak_order_of(const struct session *s, const struct finding *f)
{
	const struct trace *t = s->trace;
	struct weak_order w = { NONE, NONE, false, stale_value(t, f) };
	uint32_t storer = t->events[f->first].thread;
	for (uint32_t e = trace_previous(t, f->second); e != NONE && e > f->first;
	     e = trace_previous(t, e)) {
		const struct event *load = &t->events[e];
		if (!op_is_atomic(load->op) || !op_reads(load->op))
			continue;
		struct event_list from = trace_writers(t, e);
		for (uint64_t i = 0; i < from.count; i++) {
			uint32_t store = from.items[i];
			if (store == NONE || store <= f->first ||
			    t->events[store].thread != storer ||
			    !op_is_atomic(t->events[store].op))
				continue;
			w.store = store;
			w.load = e;
			w.store_publishes = order_releases(event_order(&t->events[store]));
			return w;
		}
	}
	return w;
}

static void append_source(const struct trace *t, uint32_t event, GString *out)
{
	const char *name = own_code_place_name(t, event);
	append_escaped(out, name, strlen(name));
}

/* Append the variable without the access size. */
static void append_variable(const struct trace *t, uint32_t event, GString *out)
{
	struct wide run = event_variables(t, &t->events[event]);
	own_code_append_name(trace_variable_name(t, run.first), out);
}

static const char *thread_name(const struct trace *t, uint32_t event)
{
	return trace_thread_name(t, t->events[event].thread);
}

/* "T2 may still read the old message (0)" */
static void append_harm(const struct trace *t, const struct finding *f,
                        const struct weak_order *w, GString *out)
{
	bool reads = op_reads(t->events[f->second].op);
	g_string_append_printf(out, "%s may ", thread_name(t, f->second));
	g_string_append(out, reads ? "still see the old " : "write ");
	append_variable(t, f->second, out);
	if (w->stale) {
		g_string_append(out, " (");
		shown_append(t, shown_variable(&t->events[f->second]), w->stale, f->second,
		             out);
		g_string_append_c(out, ')');
	}
	if (reads)
		g_string_append_printf(out, ", not %s's", thread_name(t, f->first));
	else
		g_string_append_printf(out, " while %s still %s it", thread_name(t, f->first),
		                       op_writes(t->events[f->first].op) ? "writes" : "reads");
}

void describe_weak_order(const struct session *s, const struct finding *f, GString *out)
{
	const struct trace *t = s->trace;
	if (!session_has(s, INDEX_WRITERS | INDEX_THREADS)) {
		g_string_append(out, "A race by C11's memory order: only relaxed atomics, or a "
		                     "lock that was tried in vain, order the two accesses.");
		return;
	}
	struct weak_order w = weak_order_of(s, f);
	append_harm(t, f, &w, out);
	if (w.store == NONE) {
		g_string_append(
		        out, ": only relaxed atomics, or a lock that was tried in vain, come "
		             "between the two, and neither publishes anything (C11).");
		return;
	}
	g_string_append_printf(out, ": %s's %s of ",
	                       thread_name(t, w.store_publishes ? w.load : w.store),
	                       w.store_publishes ? "load" : "store");
	append_variable(t, w.store, out);
	g_string_append(out, " (");
	append_source(t, w.store_publishes ? w.load : w.store, out);
	g_string_append(out, w.store_publishes ? ") is relaxed and does not acquire it. "
	                                       : ") is relaxed and does not publish it. ");
	g_string_append(out, w.store_publishes ? "Use acquire order there"
	                                       : "Use release order there");
	if (!w.store_publishes && !order_acquires(event_order(&t->events[w.load]))) {
		g_string_append(out, " and acquire at ");
		append_source(t, w.load, out);
	}
	g_string_append_c(out, '.');
}
