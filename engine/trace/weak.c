/* weak.c - see weak.h. */
#include "engine/trace/weak.h"
#include "engine/base/search.h"

const char *const weak_model_words[] = { "sc", "tso", "rc11", NULL };

enum weak_model trace_model(const struct trace *t)
{
	const char *note = trace_note(t, WEAK_MODEL_NOTE);

	for (int i = 0; note && weak_model_words[i]; i++)
		if (strcmp(note, weak_model_words[i]) == 0)
			return (enum weak_model)i;
	return WEAK_SC;
}

uint32_t trace_weak_store(const struct trace *t, uint32_t event, enum weak_kind kind,
                          uint32_t otherwise)
{
	uint64_t i = search_end(k, 0, t->weak_count,
	                        t->weak[k].event < event ||
	                                (t->weak[k].event == event && t->weak[k].kind < kind));

	return i < t->weak_count && t->weak[i].event == event && t->weak[i].kind == kind
	               ? t->weak[i].store
	               : otherwise;
}

/* ---- is it whole? ---- */

static bool same_place(const struct trace *t, const struct event *a, const struct event *b)
{
	struct wide x = event_variables(t, a), y = event_variables(t, b);

	return x.first == y.first && x.count == y.count;
}

/* The fault of a row, or NULL. */
static const char *row_fault(const struct trace *t, const struct weak_source *w)
{
	const struct event *x = &t->events[w->event];

	if (w->event >= t->events_count)
		return t->complete ? "there is no such event" : NULL;
	if (!op_is_atomic(x->op) || event_inert(x) ||
	    !(w->kind == WEAK_READS ? op_reads(x->op) : x->op == OP_AWRITE))
		return w->kind == WEAK_READS ? "it is no atomic read" : "it is no atomic store";
	if (w->store == NONE)
		return NULL;
	const struct event *s = &t->events[w->store];
	if (w->store >= w->event)
		return "the store is not before it";
	if (!op_is_access(s->op) || !op_writes(s->op) || event_inert(s) || !same_place(t, x, s))
		return "the other one is no store to its place";
	return NULL;
}

/* The same of a FLUSH; `next`: by thread, the first event that its next one may name. */
static const char *flush_fault(const struct trace *t, const struct event *x, uint32_t *next)
{
	const struct event *s = &t->events[x->aux];

	if (x->aux >= t->events_count || s >= x || s->thread != x->thread ||
	    !op_is_access(s->op) || !op_writes(s->op) || event_inert(s))
		return "it names no earlier store of its thread";
	if (x->aux < next[x->thread])
		return "stores arrive in their order, each once";
	next[x->thread] = x->aux + 1;
	return NULL;
}

bool trace_weak_fits(const struct trace *t, struct error *error)
{
	static const char remedy[] = "see 'heddle help trace-text', flush, reads, after";
	uint32_t *next = g_new0(uint32_t, t->threads_count + 1), at = NONE;
	const char *fault = NULL;

	for (uint64_t i = 0; i < t->weak_count && fault == NULL; i++) {
		fault = row_fault(t, &t->weak[i]);
		at = t->weak[i].event;
		if (fault == NULL && i > 0 &&
		    (t->weak[i - 1].event > at ||
		     (t->weak[i - 1].event == at && t->weak[i - 1].kind >= t->weak[i].kind)))
			fault = "what is said of reads and stores ascends by event";
	}
	for (uint32_t e = 0; e < t->events_count && fault == NULL; e++)
		if (t->events[e].op == OP_FLUSH) {
			fault = flush_fault(t, &t->events[e], next);
			at = e;
		}
	g_free(next);
	return fault == NULL ||
	       error_set(error, trace_name(t), remedy, "event %u: %s", at, fault);
}

/* ---- what reads see ---- */

struct walk {
	const struct trace *t;
	bool tso;
	uint32_t *memory; /* by variable: the last write that has arrived */
	uint32_t *last;   /* by variable: the last write of the trace */
	GQueue *waiting;  /* tso, by thread: its stores that have not */
	uint32_t first;   /* trace_weak_first */
	weak_visit *visit;
	void *context;
};

static void arrive(struct walk *w, uint32_t store, uint32_t by)
{
	struct wide run = event_variables(w->t, &w->t->events[store]);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (w->memory[v] != NONE && w->memory[v] > store && w->first == NONE)
			w->first = by;
		w->memory[v] = store;
	}
}

static uint32_t seen_by(const struct walk *w, uint32_t thread, uint32_t variable)
{
	for (GList *l = w->tso ? w->waiting[thread].tail : NULL; l; l = l->prev) {
		uint32_t store = GPOINTER_TO_UINT(l->data);
		struct wide run = event_variables(w->t, &w->t->events[store]);

		if (variable - run.first < run.count)
			return store;
	}
	return w->memory[variable];
}

static void walk_read(struct walk *w, uint32_t e)
{
	const struct event *x = &w->t->events[e];
	struct wide run = event_variables(w->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		uint32_t writer = seen_by(w, x->thread, v);

		if (!w->tso)
			writer = trace_weak_store(w->t, e, WEAK_READS, writer);
		if (writer != w->last[v] && w->first == NONE)
			w->first = e;
		if (w->visit)
			w->visit(w->context, e, v, writer);
	}
}

static void walk_write(struct walk *w, uint32_t e)
{
	const struct event *x = &w->t->events[e];
	struct wide run = event_variables(w->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++)
		w->last[v] = e;
	if (w->tso && x->op != OP_RMW &&
	    !(x->op == OP_AWRITE && event_order(x) == ORDER_SEQ_CST))
		g_queue_push_tail(&w->waiting[x->thread], GUINT_TO_POINTER(e));
	else
		arrive(w, e, e);
}

static void walk(struct walk *w)
{
	const struct trace *t = w->t;

	w->tso = trace_model(t) == WEAK_TSO;
	w->first = NONE;
	w->memory = g_new(uint32_t, t->variables_count + 1);
	w->last = g_new(uint32_t, t->variables_count + 1);
	w->waiting = g_new0(GQueue, t->threads_count + 1);
	memset(w->memory, 0xff, (t->variables_count + 1) * sizeof *w->memory);
	memset(w->last, 0xff, (t->variables_count + 1) * sizeof *w->last);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		GQueue *mine = &w->waiting[x->thread];

		if (x->op == OP_FLUSH && w->tso) {
			while (mine->head && GPOINTER_TO_UINT(mine->head->data) <= x->aux)
				arrive(w, GPOINTER_TO_UINT(g_queue_pop_head(mine)), e);
		} else if (op_is_access(x->op) && !event_inert(x)) {
			if (op_reads(x->op))
				walk_read(w, e);
			if (op_writes(x->op))
				walk_write(w, e);
		}
	}
	for (uint64_t i = 0; i < t->threads_count; i++)
		g_queue_clear(&w->waiting[i]);
	g_free(w->waiting);
	g_free(w->memory);
	g_free(w->last);
}

void trace_weak_walk(const struct trace *t, weak_visit *visit, void *context)
{
	struct walk w = { .t = t, .visit = visit, .context = context };

	walk(&w);
}

uint32_t trace_weak_first(const struct trace *t)
{
	struct walk w = { .t = t };

	if (trace_model(t) == WEAK_SC && t->weak_count == 0)
		return NONE;
	walk(&w);
	return t->weak_count ? MIN(w.first, t->weak[0].event) : w.first;
}

bool trace_weak_allows(const struct trace *t, const char *analysis, struct error *error)
{
	uint32_t e = trace_weak_first(t);

	if (e == NONE)
		return true;
	g_autofree char *line = g_strdup_printf("%s", trace_location_name(t, e));
	error_set(
	        error, trace_name(t),
	        "'heddle races --analysis hb' takes reads as they were; or record it again "
	        "without --memory",
	        "%s is about sequentially consistent runs, which this one (--memory %s) is not: "
	        "at event %u%s%s %s",
	        analysis, weak_model_words[trace_model(t)], e, *line ? " at " : "", line,
	        t->events[e].op == OP_FLUSH ? "stores arrive in another order"
	        : op_reads(t->events[e].op) ? "a read does not see the last write"
	                                    : "a store is not the last of its place");
	return false;
}
