/*
 * history.c - see history.h.
 */
#include "engine/explore/runs/history_private.h"

#include "engine/base/search.h"
#include "engine/explore/runs/alike.h"
#include "engine/explore/runs/unseen.h"
#include "engine/order/past.h"

#include <string.h>

/* Is the event a step? Calls are only where they matter. */
static bool is_step(const struct history *h, uint32_t event)
{
	const struct event *e = &h->trace->events[event];
	return !event_inert(e) && op_table[e->op].class != OP_CLASS_MARKER &&
	       op_table[e->op].class != OP_CLASS_SCOPE && view_planned(h->view, event) != NONE;
}

/* The number for additions whose result the code does not use. */
enum { SEEN_BY_NOBODY = 22 };

/* -- threads ---------------------------------------------------------------------------- */

static void find_ancestry(struct history *h)
{
	const struct trace *t = h->trace;
	uint32_t *children = g_new0(uint32_t, t->threads_count + 1);
	for (uint32_t i = 0; i < t->threads_count; i++)
		h->threads[i].who = i == 0 ? 1 : history_mix(2, i);
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (x->op == OP_FORK && x->target < t->threads_count)
			h->threads[x->target].who =
			        history_mix(h->threads[x->thread].who, ++children[x->thread]);
	}
	g_free(children);
}

/* -- values ------------------------------------------------------------------------------ */

static uint64_t integer_number(const struct history *h, uint64_t integer, uint32_t event)
{
	uint64_t number = history_mix(4, integer);
	history_pointer(h, integer, event, h->trace->events[event].thread, &number);
	return number;
}

static uint64_t value_number(const struct history *h, uint32_t value, uint32_t event)
{
	const struct trace *t = h->trace;
	if (trace_value(t, value).kind == V_INT)
		return integer_number(h, (uint64_t)trace_value(t, value).integer, event);
	if (trace_value(t, value).kind ==
	    V_TOKEN) { /* pointer argument of an invocation: p7f0012 */
		const char *token = trace_string(t, trace_value(t, value).string);
		char *end;
		uint64_t integer = g_ascii_strtoull(token + 1, &end, 16);
		if (*token == 'p' && end > token + 1 && *end == 0)
			return integer_number(h, integer, event);
	}
	GString *text = g_string_new(NULL);
	trace_append_value(t, value, text);
	uint64_t number = history_mix(5, g_str_hash(text->str));
	g_string_free(text, TRUE);
	return number;
}

/* -- histories --------------------------------------------------------------------------- */

/* The outcome of a step of a specified object: its results, and the preceding steps that it
 * does not commute with. */
static uint64_t seen_by_call(const struct history *h, const struct view_call *call)
{
	const struct trace *t = h->view->recorded;
	uint64_t number = 10, before = 0;
	if (call->scope != NULL && call->scope->ret != NONE) {
		struct invocation i = trace_invocation(t, call->scope->call);
		for (uint32_t k = 0; k < i.result_count; k++)
			number = history_mix(number, value_number(h, i.results[k], call->last));
	}
	for (guint i = 0; i < call->before->len; i++) {
		const struct view_call *other =
		        &g_array_index(h->view->calls, struct view_call,
		                       g_array_index(call->before, uint32_t, i));
		before += history_write_number(h, other->event, NONE);
	}
	return history_mix(number, before);
}

/* The number of a value of the evaluator. */
static uint64_t val_number(const struct history *h, struct val v, uint32_t event)
{
	if (v.kind == V_INT)
		return integer_number(h, (uint64_t)v.n, event);
	for (uint32_t i = 1; i < h->trace->values_count; i++)
		if (val_equal(trace_val(h->trace, i), v))
			return value_number(h, i, event);
	const char *word = v.kind == V_NIL     ? "nil"
	                   : v.kind == V_TRUE  ? "true"
	                   : v.kind == V_FALSE ? "false"
	                                       : "?";
	return history_mix(5, g_str_hash(word));
}

uint64_t history_would_return(const struct history *h, const struct view_call *call,
                              const struct val *results, uint32_t count)
{
	uint64_t number = 10;
	for (uint32_t k = 0; k < count; k++)
		number = history_mix(number, val_number(h, results[k], call->last));
	return history_mix(number, 0);
}

/* Was the thread's arrival the last, by must-orders, where the barrier's size is unknown? */
static bool is_after_others(const struct trace *t, uint32_t arrive, uint32_t depart)
{
	struct must_sources sources = must_sources(t, depart);
	struct must_edge edge;
	bool after = true;
	while (must_sources_next(&sources, &edge))
		after = after && (edge.rule != MUST_BARRIER || arrive > edge.before);
	return after;
}

/* The thread's arrival for its departure; or NONE. */
static uint32_t arrival_of(const struct trace *t, uint32_t depart)
{
	uint32_t own = depart;
	while (own != NONE && t->events[own].op != OP_ARRIVE)
		own = trace_previous(t, own);
	return own;
}

bool history_last_unseen(const struct history *h, uint32_t depart)
{
	uint32_t own = arrival_of(h->trace, depart);
	return own != NONE && unseen_at(h->initials->unseen, h->trace, own);
}

bool history_last_at_barrier(const struct history *h, uint32_t depart)
{
	const struct trace *t = h->trace;
	uint32_t own = arrival_of(t, depart), object = t->events[depart].target, arrived = 0;
	if (own == NONE || t->objects[object].count <= 0)
		return own != NONE && is_after_others(t, own, depart);
	struct event_list list = event_list_at(&t->index->object_events, object);
	for (uint64_t i = 0; i < list.count && list.items[i] <= own; i++)
		arrived += t->events[list.items[i]].op == OP_ARRIVE;
	return arrived % (uint32_t)t->objects[object].count == 0;
}

/* The outcome of an event: its value read, or how its wait ended. */
static uint64_t seen_by(const struct history *h, uint32_t event)
{
	const struct event *e = &h->trace->events[event];
	const struct view_call *call = view_call_of(h->view, event);
	if (call != NULL)
		return seen_by_call(h, call);
	if (lifetimes_ended(h->lifetimes, event) != NONE)
		return SEEN_AFTER_END;
	if (history_is_unseen(h, event))
		return SEEN_BY_NOBODY;
	if (op_is_access(e->op) && op_reads(e->op))
		return history_find_seen(h, event);
	if (e->op == OP_DEPART)
		return !history_last_unseen(h, event) && history_last_at_barrier(h, event);
	return e->op == OP_WAKE && e->flags & EVENT_TRY; /* timed out, or spurious */
}

static uint64_t step_number(const struct trace *t, uint32_t event, enum op op)
{
	const struct location *l = &t->locations[t->events[event].location];
	if (op == OP_AREAD) /* a failed exchange counts as an exchange */
		op = OP_RMW;
	return history_mix(history_mix(op, l->module), l->address);
}

/* The outcome of an operation on a channel, which comes next in the run. */
static uint64_t seen_in_channel(struct history *h, uint32_t *state, uint32_t event)
{
	struct channel_outcome o = channel_steps_outcome(h->channels, state, event);
	if (h->channels_differ == NONE && channel_steps_differs(h->channels, event, o))
		h->channels_differ = event;
	channel_steps_take(h->channels, state, event);
	return o.number;
}

static void add_steps(struct history *h)
{
	const struct trace *t = h->trace;
	g_autofree uint32_t *channels = g_new0(uint32_t, channel_steps_count(h->channels) + 1);
	h->step_of = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), (guint)t->events_count);
	h->seen = g_new0(uint64_t, t->events_count + 1);
	for (uint32_t i = 0; i < t->threads_count; i++) {
		h->threads[i].prefixes = g_array_new(FALSE, FALSE, sizeof(uint64_t));
		h->threads[i].events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val(h->threads[i].prefixes, h->threads[i].who);
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		struct thread_history *th = &h->threads[t->events[e].thread];
		uint32_t step = is_step(h, e) ? th->events->len : NONE;
		g_array_append_val(h->step_of, step);
		if (step == NONE)
			continue;
		g_array_append_val(th->events, e);
		h->seen[e] = channel_steps_acts(h->channels, e)
		                     ? seen_in_channel(h, channels, e)
		                     : seen_by(h, e);
		uint64_t number = history_after(h, e, h->seen[e]);
		g_array_append_val(th->prefixes, number);
	}
}

struct history *history_new(const struct view *view, struct initials *initials,
                            const GHashTable *apart, uint8_t *sums)
{
	struct history *h = g_new0(struct history, 1);
	h->sums = sums;
	for (uint32_t e = 0; sums != NULL && e < view->t->events_count; e++)
		h->unseen |= sums[e] == SUM_UNSEEN;
	struct trace *t = view->t;
	trace_need(t,
	           INDEX_THREADS | INDEX_MATCH | INDEX_VARIABLES | INDEX_OBJECTS |
	                   INDEX_WRITERS,
	           NULL);
	h->view = view;
	h->trace = t;
	h->initials = initials;
	h->otherwise = h->channels_differ = NONE;
	h->apart = apart;
	h->threads_count = (uint32_t)t->threads_count;
	h->threads = g_new0(struct thread_history, t->threads_count + 1);
	h->lifetimes = lifetimes_new(t);
	find_ancestry(h);
	history_find_lives(h);
	history_find_numbers(h);
	history_learn_initials(h);
	h->channels = channel_steps_new(h);
	add_steps(h);
	alike_find(h);
	h->finals = g_array_new(FALSE, FALSE, sizeof(struct thread_prefix));
	return h;
}

void history_free(struct history *h)
{
	if (h == NULL)
		return;
	for (uint32_t i = 0; i < h->threads_count; i++) {
		g_array_unref(h->threads[i].prefixes);
		g_array_unref(h->threads[i].events);
		if (h->threads[i].joins)
			g_array_unref(h->threads[i].joins);
	}
	g_free(h->threads);
	channel_steps_free(h->channels);
	lifetimes_free(h->lifetimes);
	g_free(h->lives);
	if (h->numbers)
		g_hash_table_unref(h->numbers);
	g_array_unref(h->step_of);
	g_free(h->seen);
	g_free(h->sums);
	g_array_unref(h->finals);
	g_free(h);
}

/* The number of a history with a step more. Without the thread's identity, which is added to
 * it, it depends on the steps alone: alike.h. */
static uint64_t longer(uint64_t who, uint64_t prefix, uint64_t step, uint64_t seen)
{
	return history_mix(history_mix(prefix - who, step), seen) + who;
}

uint64_t history_after(const struct history *h, uint32_t event, uint64_t seen)
{
	return history_after_as(h, event, h->trace->events[event].op, seen);
}

uint64_t history_after_prefix(const struct history *h, uint64_t prefix, uint32_t event,
                              uint64_t seen)
{
	enum op op = h->trace->events[event].op;
	uint64_t who = h->threads[h->trace->events[event].thread].who;
	return longer(who, prefix, step_number(h->trace, event, op), seen);
}

uint64_t history_after_as(const struct history *h, uint32_t event, enum op op, uint64_t seen)
{
	const struct thread_history *th = &h->threads[h->trace->events[event].thread];
	uint32_t step = g_array_index(h->step_of, uint32_t, event);
	uint64_t before = g_array_index(th->prefixes, uint64_t, step);
	return longer(th->who, before, step_number(h->trace, event, op), seen);
}

uint64_t history_after_wait(const struct history *h, uint32_t wait)
{
	const struct thread_history *th = &h->threads[h->trace->events[wait].thread];
	uint64_t before = g_array_index(th->prefixes, uint64_t, th->events->len);
	return longer(th->who, before, step_number(h->trace, wait, OP_WAKE), true);
}

bool history_handles(const struct history *h, uint32_t event)
{
	const struct event *e = &h->trace->events[event];
	return e->op == OP_RCV && e->flags & EVENT_SHARED && !event_inert(e);
}

uint64_t history_later(uint64_t prefix)
{
	return history_mix(prefix, 23);
}

uint64_t history_summand(uint64_t prefix)
{
	return history_mix(15, prefix);
}

uint64_t history_class_number(const struct history *h, uint32_t thread, uint64_t prefix)
{
	const struct thread_history *th = &h->threads[thread];
	return history_summand(th->kind ? prefix - th->who + th->kind : prefix);
}

uint64_t history_class_part(const struct history *h, uint32_t thread, uint32_t steps)
{
	const GArray *prefixes = h->threads[thread].prefixes;
	return history_class_number(
	        h, thread,
	        g_array_index(prefixes, uint64_t, alike_before_joins(h, thread, steps)));
}

uint64_t history_class(const struct history *h)
{
	uint64_t sum = 0; /* independent of the order of threads */
	for (uint32_t i = 0; i < h->threads_count; i++)
		sum += history_class_part(h, i, h->threads[i].prefixes->len - 1);
	for (guint i = 0; i < h->finals->len; i++)
		sum += g_array_index(h->finals, struct thread_prefix, i).prefix;
	return sum;
}

void history_add_end(struct history *h, uint32_t thread, bool cut_off)
{
	h->cut_off = cut_off;
	GArray *p = h->threads[thread].prefixes;
	uint64_t who = h->threads[thread].who;
	uint64_t number = history_mix(g_array_index(p, uint64_t, p->len - 1) - who, 14) + who;
	g_array_append_val(p, number);
}
