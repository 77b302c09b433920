/*
 * switches.c - see switches.h. The checker says whether a thread may go on, and by which rule
 * not.
 */
#include "engine/witness/switches.h"

#include <string.h>

static enum switch_reason reason_of(const char *text)
{
	if (g_str_has_prefix(text, "rule 2"))
		return SWITCH_READS;
	if (g_str_has_prefix(text, "rule 3"))
		return SWITCH_LOCK;
	if (g_str_has_prefix(text, "rule 4") || g_str_has_prefix(text, "rule 5") ||
	    g_str_has_prefix(text, "rule 6"))
		return SWITCH_MUST;
	return SWITCH_OPTIONAL;
}

struct switching {
	const struct trace *t;
	const uint32_t *events;
	uint32_t length;
	uint32_t end; /* where the pair, or the requests, begin */
	struct checker *checker;
	GArray *all;     /* struct context_switch */
	GArray *waiting; /* uint32_t: those of `all` whose old thread waits for a cause that is
	                  * not known yet; at most one for each thread */
};

static uint32_t thread_at(const struct switching *s, uint32_t i)
{
	return s->t->events[s->events[i]].thread;
}

/* Adds all switches, each with the old thread's next event. */
static void add_switches(struct switching *s)
{
	/* by thread: the number of its last switch away, plus one; 0: it runs, or never did */
	g_autofree uint32_t *left = g_new0(uint32_t, s->t->threads_count + 1);

	for (uint32_t i = 0; i < s->length; i++) {
		uint32_t thread = thread_at(s, i);
		struct context_switch x = { i, SWITCH_OPTIONAL, NONE, NONE };

		if (left[thread] > 0)
			g_array_index(s->all, struct context_switch, left[thread] - 1).waits =
			        s->events[i];
		left[thread] = 0;
		if (i == 0 || thread_at(s, i - 1) == thread)
			continue;
		g_array_append_val(s->all, x);
		left[thread_at(s, i - 1)] = s->all->len;
	}
}

/* A read in the new thread's run whose value the old thread's next write would change. */
static uint32_t overwritten_reader(const struct switching *s, uint32_t at, uint32_t next)
{
	const struct event *w = &s->t->events[next];

	if (!op_is_access(w->op) || event_inert(w) || !op_writes(w->op))
		return NONE;
	for (uint32_t i = at; i < s->length && s->events[i] != next; i++) {
		const struct event *r = &s->t->events[s->events[i]];

		if (op_is_access(r->op) && !event_inert(r) && op_reads(r->op) &&
		    r->thread != w->thread && events_overlap(s->t, r, w))
			return s->events[i];
	}
	return NONE;
}

static void explain_switch(struct switching *s, uint32_t number, GString *text)
{
	struct context_switch *x = &g_array_index(s->all, struct context_switch, number);
	uint32_t next = x->waits;
	bool ends = next == NONE || x->at >= s->end;

	for (uint32_t i = s->end; i < s->length; i++)
		ends |= next == s->events[i];
	g_string_truncate(text, 0);
	x->reason = SWITCH_END;
	if (ends)
		return;
	if (!checker_enabled(s->checker, next, text)) {
		x->reason = reason_of(text->str);
		g_array_append_val(s->waiting, number);
		return;
	}
	x->because = overwritten_reader(s, x->at, next);
	x->reason = x->because == NONE ? SWITCH_OPTIONAL : SWITCH_WRITE;
}

/* Notes `e` as the cause for waiting events that it enables. */
static void note_cause(struct switching *s, uint32_t e)
{
	for (guint i = s->waiting->len; i-- > 0;) {
		uint32_t number = g_array_index(s->waiting, uint32_t, i);
		struct context_switch *x =
		        &g_array_index(s->all, struct context_switch, number);

		if (!checker_enabled(s->checker, x->waits, NULL))
			continue;
		x->because = e;
		g_array_remove_index_fast(s->waiting, i);
	}
}

GArray *witness_switches(const struct trace *t, const struct witness *w)
{
	struct check_options options = { .use_values = w->under_values,
		                         .use_missing = w->under_missing };
	struct switching s = {
		.t = t,
		.events = (const uint32_t *)w->events->data,
		.length = w->events->len,
		.end = w->events->len - MIN(w->events->len, MAX(w->pair->len, 2)),
		.checker = checker_new(t, &options),
		.all = g_array_new(FALSE, FALSE, sizeof(struct context_switch)),
		.waiting = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};
	g_autoptr(GString) text = g_string_new(NULL);
	uint32_t number = 0;

	add_switches(&s);
	for (uint32_t i = 0; i < s.length; i++) {
		if (number < s.all->len &&
		    g_array_index(s.all, struct context_switch, number).at == i)
			explain_switch(&s, number++, text);
		if (!checker_step(s.checker, s.events[i], NULL))
			break;
		note_cause(&s, s.events[i]);
	}
	g_array_set_size(s.all, number);
	checker_free(s.checker);
	g_array_unref(s.waiting);
	return s.all;
}

/* -- the reason in words ------------------------------------------------------------------- */

static const struct {
	const char *word;
	/* text around the waiting event and the awaited one; `alone` when the latter is
	 * unknown */
	const char *before, *between, *after, *alone;
} reasons[] = {
	[SWITCH_OPTIONAL] = { "optional", "optional: ", "", "", " could be next as well" },
	[SWITCH_READS] = { "read", "needed: ", " must see ", "", " must see its write first" },
	[SWITCH_WRITE] = { "write", "needed: ", " must wait until ", " has seen the old value",
	                   "" },
	[SWITCH_LOCK] = { "lock", "needed: ", " must wait for the lock, until ", "",
	                  " must wait for the lock" },
	[SWITCH_MUST] = { "must-order", "needed: ", " must come after ", "",
	                  " must come later" },
	[SWITCH_END] = { "end", "needed: ", "", "", " is to be next, there it stops" },
};

const char *switch_word(enum switch_reason reason)
{
	return reasons[reason].word;
}

void witness_append_reason(const struct trace *t, const struct context_switch *s, GString *out)
{
	if (s->waits == NONE) {
		g_string_append(out, "needed: the thread has no more events in the witness");
		return;
	}
	g_string_append(out, reasons[s->reason].before);
	trace_append_event(t, s->waits, out);
	if (s->because == NONE) {
		g_string_append(out, reasons[s->reason].alone);
		return;
	}
	g_string_append(out, reasons[s->reason].between);
	trace_append_event(t, s->because, out);
	g_string_append(out, reasons[s->reason].after);
}
