/*
 * checkup_words.c - findings as plain sentences.
 */
#include "engine/trace/own_code.h"
#include "tui/batch/check/checkup.h"

static const char *thread_of(const struct trace *t, uint32_t event)
{
	return printable_thread(t, event);
}

static const char *site_of(const struct trace *t, uint32_t event)
{
	g_autofree char *text = own_code_place_text(t, event);
	return g_intern_string(text);
}

static void append_operand(const struct trace *t, uint32_t event, GString *out)
{
	g_autoptr(GString) name = g_string_new(NULL);

	if (op_is_access(t->events[event].op))
		trace_append_variable(t, &t->events[event], name);
	else
		trace_append_operand(t, event, name);
	own_code_append_name(name->str, out);
}

static const char *verb_of(enum op op)
{
	switch (op) {
	case OP_READ:
	case OP_AREAD:
		return "reads";
	case OP_WRITE:
	case OP_AWRITE:
		return "writes";
	case OP_RMW:
		return "changes";
	case OP_FREE:
		return "frees";
	case OP_DESTROY:
		return "destroys";
	case OP_ACQ:
	case OP_RACQ:
		return "locks";
	case OP_REL:
	case OP_RREL:
		return "unlocks";
	case OP_SIGNAL:
	case OP_BROADCAST:
		return "signals";
	case OP_WAIT:
		return "waits for";
	case OP_POST:
		return "posts";
	default:
		return "uses";
	}
}

/* "T1 writes x (a.c:12)" */
static void append_deed(const struct trace *t, uint32_t event, GString *out)
{
	g_string_append_printf(out, "%s %s ", thread_of(t, event),
	                       verb_of(t->events[event].op));
	append_operand(t, event, out);
	g_string_append_printf(out, " (%s)", site_of(t, event));
}

/* The acquire before this event of its thread, not far, of a lock that is held there for
 * reading only; `lock`: this one, or NONE: any. NONE without one. */
static uint32_t read_lock_at(const struct trace *t, uint32_t event, uint32_t lock)
{
	enum { FAR = 10000 };
	uint32_t e = trace_previous(t, event);

	for (int i = 0; e != NONE && i < FAR; i++, e = trace_previous(t, e))
		if (t->events[e].op == OP_RACQ && !event_inert(&t->events[e]) &&
		    (lock == NONE || t->events[e].target == lock) &&
		    (t->index->partner[e] == NONE || t->index->partner[e] >= event))
			return e;
	return NONE;
}

/* What should keep the two apart, and does not. */
static void append_protection(const struct trace *t, const struct finding *f, GString *out)
{
	uint32_t first = NONE;

	if (t->index != NULL && t->index->partner != NULL)
		first = read_lock_at(t, f->first, NONE);
	if (first == NONE || read_lock_at(t, f->second, t->events[first].target) == NONE) {
		g_string_append(out, "nothing keeps the two apart");
		return;
	}
	g_string_append(out, "both have locked ");
	append_operand(t, first, out);
	g_string_append(out, " for reading only, and nothing else keeps the two apart");
}

static void tell_race(const struct trace *t, const struct finding *f, GString *out)
{
	append_deed(t, f->first, out);
	g_string_append_printf(out, " while %s %s it (%s): ", thread_of(t, f->second),
	                       verb_of(t->events[f->second].op), site_of(t, f->second));
	append_protection(t, f, out);
	if (f->note)
		g_string_append_printf(out, ", by the rules of C11 (%s)", f->note);
	if (f->missing)
		g_string_append_printf(out, "; it is a race %s", printable(f->missing));
}

/* A use of a block or object after its end. */
static void tell_use(const struct trace *t, const struct finding *f, GString *out)
{
	bool first = t->events[f->first].op == OP_FREE || t->events[f->first].op == OP_DESTROY;
	uint32_t end = first ? f->first : f->second, use = first ? f->second : f->first;

	append_deed(t, use, out);
	g_string_append_printf(out, " %s %s has %s it (%s)",
	                       f->verdict == VERDICT_HAPPENED ? "after" : "and can do so after",
	                       thread_of(t, end),
	                       t->events[end].op == OP_DESTROY ? "destroyed" : "freed",
	                       site_of(t, end));
}

static void tell_order(const struct trace *t, const struct finding *f, GString *out)
{
	append_deed(t, f->second, out);
	g_string_append(out,
	                f->verdict == VERDICT_HAPPENED ? " after " : ", and can do so before ");
	append_deed(t, f->first, out);
}

static void tell_waits(const struct trace *t, const struct finding *f, GString *out)
{
	for (guint i = 0; f->waits && i < f->waits->len; i++) {
		const struct wait *w = &g_array_index(f->waits, struct wait, i);

		g_string_append(out, i ? "; " : "");
		append_wait(t, f, w, out);
		g_string_append_printf(out, " (%s)", site_of(t, w->event));
	}
	g_string_append(out, f->kind == FINDING_STUCK
	                             ? ": for ever, as nothing can end the wait"
	                             : ": for ever, each for another");
}

static void tell_requests(const struct trace *t, const struct finding *f, GString *out)
{
	for (guint i = 0; f->requests && i < f->requests->len; i++) {
		uint32_t e = g_array_index(f->requests, uint32_t, i);

		g_string_append(out, i ? "; " : "");
		g_string_append_printf(out, "%s can wait for ", thread_of(t, e));
		append_operand(t, e, out);
		g_string_append_printf(out, " (%s)", site_of(t, e));
	}
	g_string_append(out, ": each holds what another wants, so all wait for ever");
}

static void tell_cycle(const struct trace *t, const struct finding *f, GString *out)
{
	const struct cycle_unit *units = (const void *)f->units->data;

	g_string_append_printf(out, "%s of %s is not atomic: ", printable(units[0].unit),
	                       printable(trace_thread_name(t, units[0].thread)));
	g_string_append_printf(out, "%s of %s %s in between",
	                       f->units->len > 1 ? printable(units[1].unit) : "another",
	                       f->units->len > 1
	                               ? printable(trace_thread_name(t, units[1].thread))
	                               : "a thread",
	                       f->verdict == VERDICT_HAPPENED ? "comes" : "can come");
	if (f->edges && f->edges->len > 0) {
		const struct cycle_edge *e = (const void *)f->edges->data;
		g_autofree char *name = variable_name(t, e->variable);

		g_string_append(out, " on ");
		own_code_append_name(name, out);
		g_string_append_printf(out, " (%s; %s)", site_of(t, e->events[0]),
		                       site_of(t, e->events[1]));
	}
}

static void tell_misuse(const struct trace *t, const struct finding *f, GString *out)
{
	g_string_append_printf(out, "%s %s: ", thread_of(t, f->second),
	                       f->note ? f->note : "misuses a lock");
	append_operand(t, f->second, out);
	g_string_append_printf(out, " (%s)", site_of(t, f->second));
}

static void tell_failure(const struct trace *t, const struct finding *f, GString *out)
{
	g_string_append(out, f->story);
}

char *finding_sentence(const struct trace *t, const struct finding *f)
{
	GString *out = g_string_new(NULL);

	if (f->story)
		tell_failure(t, f, out);
	else if (f->kind == FINDING_DATA_RACE)
		tell_race(t, f, out);
	else if (f->kind == FINDING_USE_AFTER_FREE)
		tell_use(t, f, out);
	else if (f->kind == FINDING_ORDER_VIOLATION)
		tell_order(t, f, out);
	else if (f->kind == FINDING_LOCK_MISUSE)
		tell_misuse(t, f, out);
	else if (f->units && f->units->len > 0)
		tell_cycle(t, f, out);
	else if (f->waits)
		tell_waits(t, f, out);
	else if (f->requests)
		tell_requests(t, f, out);
	else if (f->methods[0])
		g_string_append_printf(out, "%s and %s do not commute, and nothing orders them",
		                       printable(f->methods[0]),
		                       f->methods[1] ? printable(f->methods[1])
		                                     : "another call");
	else
		g_string_append(out, finding_kind_word(f->kind));
	return g_string_free(out, FALSE);
}

char *checkup_kind_title(enum finding_kind kind)
{
	bool odd = kind == FINDING_STUCK || kind == FINDING_ASSERTION;

	return g_strdelimit(g_strdup(odd ? finding_kind_noun(kind) : finding_kind_word(kind)),
	                    "-", ' ');
}
