/*
 * refusal.c - see refusal.h. The order of the questions is the checker's: must-order, the
 * memory's life, the lock, the wake-up, the value.
 */
#include "tui/explorer/words/refusal.h"
#include "tui/explorer/messages.h"

#include "engine/trace/shown.h"

#include <string.h>

struct refusal {
	const struct stage *stage;
	const struct session *s;
	const struct trace *t;
	uint32_t event;
	GString *out;
};

static void append_thread(const struct refusal *r, uint32_t thread)
{
	const char *name = trace_thread_name(r->t, thread);
	append_escaped(r->out, name, strlen(name));
}

static uint32_t thread_of(const struct refusal *r, uint32_t event)
{
	return r->t->events[event].thread;
}

static bool is_done(const struct refusal *r, uint32_t event)
{
	return stage_position(r->stage, event) != NONE;
}

/* " First comes T1's unlock m (deposit bank.c:25)." */
static void append_first(const struct refusal *r, uint32_t event)
{
	g_string_append(r->out, REFUSED_COMES_FIRST);
	append_thread(r, thread_of(r, event));
	g_string_append_c(r->out, ' ');
	describe_event(r->s, event, r->out);
	g_string_append(r->out, " (");
	describe_place(r->s, event, r->out);
	g_string_append(r->out, ").");
}

/* -- what must come first ------------------------------------------------------------------- */

/* The sentence for an edge of the must-order, after the thread's name. */
static const char *const must_sentences[] = {
	[MUST_FORK] = REFUSED_NOT_CREATED,     [MUST_JOIN] = REFUSED_NOT_ENDED,
	[MUST_MESSAGE] = REFUSED_NOT_SENT,     [MUST_ALLOC] = REFUSED_NOT_ALLOCATED,
	[MUST_FREE] = REFUSED_NOT_FREED,       [MUST_SEMAPHORE] = REFUSED_NOT_POSTED,
	[MUST_BARRIER] = REFUSED_NOT_ARRIVED,  [MUST_WAKER] = REFUSED_NOT_WOKEN,
	[MUST_WAIT] = REFUSED_NOT_WAITING,     [MUST_INVOCATION] = REFUSED_NOT_COMMUTING,
	[MUST_MISSING] = REFUSED_NOT_RETURNED,
};

/* The edge into the event from another that has not come yet, if there is one. */
static bool missing_edge(const struct refusal *r, struct must_edge *edge)
{
	struct must_sources sources = must_sources(r->t, r->event);
	while (must_sources_next(&sources, edge)) {
		bool holds = edge->condition == NONE || is_done(r, edge->condition);
		if (holds && !is_done(r, edge->before))
			return true;
	}
	return false;
}

static bool refuse_must(const struct refusal *r)
{
	struct must_edge edge;
	if (!missing_edge(r, &edge))
		return false;
	append_thread(r, thread_of(r, r->event));
	if (edge.rule == MUST_JOIN) {
		g_string_append(r->out, REFUSED_NOT_ENDED_OF);
		append_thread(r, thread_of(r, edge.before));
		g_string_append_c(r->out, '.');
	} else {
		g_string_append(r->out, edge.rule < G_N_ELEMENTS(must_sentences)
		                                ? must_sentences[edge.rule]
		                                : REFUSED_NOT_FIRST);
	}
	append_first(r, edge.before);
	return true;
}

/* -- locks ---------------------------------------------------------------------------------- */

static bool refuse_lock(const struct refusal *r)
{
	const struct event *e = &r->t->events[r->event];
	if (!op_acquires(e->op) || event_inert(e))
		return false;
	g_autoptr(GArray) locks = stage_locks(r->stage, r->stage->events->len);
	uint32_t held = NONE;
	for (guint i = 0; i < locks->len && held == NONE; i++) {
		uint32_t acquire = g_array_index(locks, uint32_t, i);
		const struct event *a = &r->t->events[acquire];
		if (a->target == e->target && a->thread != e->thread &&
		    (a->op != OP_RACQ || e->op != OP_RACQ))
			held = acquire;
	}
	if (held == NONE)
		return false;
	append_thread(r, e->thread);
	g_string_append(r->out, REFUSED_NOT_FREE);
	describe_operand(r->t, r->event, r->out);
	g_string_append(r->out, REFUSED_NOT_FREE_WHICH);
	append_thread(r, thread_of(r, held));
	g_string_append(r->out, REFUSED_NOT_FREE_HELD);
	uint32_t release = r->t->index->partner[held];
	if (release != NONE)
		append_first(r, release);
	return true;
}

/* Refuses a try that failed in the recording, and would succeed here, or has to fail for
 * another reason. */
static bool refuse_try(const struct refusal *r)
{
	const struct event *e = &r->t->events[r->event];
	if (e->op != OP_TRYFAIL && e->op != OP_TAKETRYFAIL)
		return false;
	append_thread(r, e->thread);
	g_string_append(r->out, REFUSED_NOT_TAKEN);
	describe_operand(r->t, r->event, r->out);
	g_string_append(r->out,
	                e->op == OP_TRYFAIL ? REFUSED_NOT_TAKEN_LOCK : REFUSED_NOT_TAKEN_COUNT);
	return true;
}

/* -- values --------------------------------------------------------------------------------- */

static void append_read(const struct refusal *r, uint32_t variable, uint32_t value,
                        uint32_t writer)
{
	if (writer != NONE && thread_of(r, writer) != thread_of(r, r->event)) {
		append_thread(r, thread_of(r, writer));
		g_string_append(r->out, "'s ");
	}
	if (value)
		shown_append(r->t, variable, value, r->event, r->out);
	else
		g_string_append(r->out,
		                writer == NONE ? REFUSED_VALUE_INITIAL : REFUSED_VALUE_OTHER);
}

static uint32_t value_read(const struct trace *t, uint32_t event)
{
	const struct value value = trace_value(t, t->events[event].aux);
	return value.kind == V_PAIR ? value.first : t->events[event].aux;
}

/* Refuses a read that would see another write than in the recording. */
static bool refuse_value(const struct refusal *r)
{
	const struct event *e = &r->t->events[r->event];
	if (!op_is_access(e->op) || !op_reads(e->op))
		return false;
	struct event_list from = trace_writers(r->t, r->event);
	struct wide run = event_variables(r->t, e);
	for (uint32_t i = 0; i < run.count && i < from.count; i++) {
		uint32_t writer, now = stage_value(r->stage, r->stage->events->len,
		                                   run.first + i, &writer);
		if (writer == from.items[i])
			continue;
		append_thread(r, e->thread);
		g_string_append(r->out, REFUSED_WOULD_READ);
		append_read(r, run.first + i, run.count == 1 ? now : 0, writer);
		g_string_append(r->out, REFUSED_BUT_READ);
		append_read(r, run.first + i, run.count == 1 ? value_read(r->t, r->event) : 0,
		            from.items[i]);
		g_string_append_c(r->out, '.');
		if (from.items[i] != NONE && !is_done(r, from.items[i]))
			append_first(r, from.items[i]);
		else
			g_string_append(r->out, REFUSED_BEFORE_THAT_WRITE);
		g_string_append(r->out, REFUSED_LAST_READ_ALONE);
		return true;
	}
	return false;
}

/* -- memory and wake-ups -------------------------------------------------------------------- */

static bool refuse_memory(const struct refusal *r)
{
	const struct event *e = &r->t->events[r->event];
	uint32_t block = op_is_access(e->op)
	                         ? r->t->variables[event_variables(r->t, e).first].block
	                         : event_block_used(r->t, e);
	if (block == NONE)
		return false;
	const struct block *b = &r->t->blocks[block];
	bool early = b->alloc != NONE && !is_done(r, b->alloc);
	if (!early && (b->free == NONE || b->free == r->event || !is_done(r, b->free)))
		return false;
	append_thread(r, e->thread);
	g_string_append(r->out, early ? must_sentences[MUST_ALLOC] : REFUSED_ALREADY_FREED);
	if (early)
		append_first(r, b->alloc);
	return true;
}

void refusal_append(const struct stage *stage, uint32_t event, GString *out)
{
	struct refusal r = { stage, stage->session, stage->session->trace, event, out };
	const struct event *e = &r.t->events[event];
	if (!session_has(r.s, INDEX_ALL) || event_inert(e))
		return;
	if (refuse_must(&r) || refuse_memory(&r) || refuse_lock(&r) || refuse_try(&r) ||
	    refuse_value(&r))
		return;
	append_thread(&r, e->thread);
	if (e->op == OP_WAKE)
		g_string_append(out, REFUSED_WOKEN_TOO_EARLY);
	else
		g_string_append(out, REFUSED_NOT_NOW);
}
