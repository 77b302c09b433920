/*
 * past.c - causal pasts as vector clocks, in one pass over the trace.
 *
 * The clock of an event is the cut of its causal past. Only components of other threads are
 * stored, and only where they differ from the preceding event's; the own component is the
 * position. Independent of locks, solvers and verdicts.
 */
#include "engine/base/arrays.h"
#include "engine/base/search.h"
#include "engine/order/wide_clocks.h"
#include "engine/order/past.h"
#include "engine/trace/channel.h"
#include "engine/trace/once.h"
#include "engine/trace/tries.h"
#include "engine/trace/wait_events.h"

#include <string.h>

struct past {
	const struct trace *t;
	struct past_options options;
	const struct tries *tries;
	bool *varied; /* by message: its pairing may vary; NULL: none's does */
	uint32_t threads;
	uint32_t *clock_at; /* by event: index of its vector clock, or its tree */
	GArray **changes;   /* by thread: its events (uint32_t) whose edges changed its clock */
	uint32_t *clocks;   /* vector clocks of `threads` counts */
	size_t clocks_used, clocks_allocated;
	bool wide; /* clocks are trees (wide_clocks.h) */
	struct wide_nodes nodes;
	/* while it is made: the event whose sources were shared last, and what they need, a
	 * row */
	uint32_t shared, shared_row;
};

/* Does an edge of that rule from `before` depend on the trace's pairing? */
static bool is_pairing(const struct past *p, uint32_t rule, uint32_t before)
{
	switch (rule) {
	case MUST_SEMAPHORE:
	case MUST_BARRIER:
	case MUST_WAKER:
	case MUST_WAIT:
		return true;
	case MUST_MESSAGE:
		return p->varied != NULL && p->varied[p->t->events[before].target];
	default:
		return false;
	}
}

bool past_step_pairs(const struct past *p, const struct step *step)
{
	return step->rule == STEP_MUST && is_pairing(p, step->detail, step->from);
}

bool past_edge_counts(const struct past *p, const struct must_edge *edge)
{
	if (edge->condition != NONE)
		return false;
	if (edge->rule == MUST_INVOCATION)
		return p->options.invocations;
	return p->options.pairing || !is_pairing(p, edge->rule, edge->before);
}

uint32_t past_value_read(const struct trace *t, uint32_t event)
{
	const struct event *e = &t->events[event];

	if (event_variables(t, e).count != 1)
		return 0;
	return e->op == OP_RMW && e->aux != 0 ? trace_value(t, e->aux).first : e->aux;
}

uint32_t past_value_written(const struct trace *t, uint32_t event)
{
	const struct event *e = &t->events[event];

	if (event_variables(t, e).count != 1)
		return 0;
	return e->op == OP_RMW && e->aux != 0 ? trace_value(t, e->aux).second : e->aux;
}

/* The operations on a semaphore, condition or barrier so far. */
struct paired {
	uint32_t poster, taker, signals, round, arrived;
	uint64_t arrivals; /* a bit for each thread, the last one for all further ones */
	bool several, waits;
};

static bool takes_again(uint32_t *last, uint32_t thread)
{
	bool another = *last != 0 && *last != thread + 1;
	*last = thread + 1;
	return another;
}

static void pair(struct paired *p, const struct event *e)
{
	if (e->op == OP_POST)
		p->several |= takes_again(&p->poster, e->thread);
	if (e->op == OP_TAKE)
		p->several |= takes_again(&p->taker, e->thread);
	p->signals += op_wakes(e->op);
	p->arrived += e->op == OP_ARRIVE;
	if (e->op == OP_ARRIVE)
		p->arrivals |= 1ull << MIN(e->thread, 63);
	if (e->op == OP_DEPART && p->round == 0)
		p->round = p->arrived;
	p->waits |= e->op == OP_TAKE || e->op == OP_WAKE || e->op == OP_DEPART;
}

static bool pairings_vary(const struct trace *t)
{
	const uint64_t ends = OPERATION(OP_TAKE) | OPERATION(OP_WAKE) | OPERATION(OP_DEPART);

	if (!trace_has(t, ends)) /* spares a pass over the events */
		return false;
	g_autofree struct paired *all = g_new0(struct paired, t->objects_count + 1);
	bool vary = false;

	for (struct wait_walk w = wait_walk(t); wait_walk_next(&w);)
		if (op_table[w.event->op].operand == OPERAND_OBJECT)
			pair(&all[w.event->target], w.event);
	for (uint64_t i = 0; i < t->objects_count && !vary; i++) {
		const struct paired *p = &all[i];
		bool rounds = p->arrivals >> 63 ||
		              (uint32_t)__builtin_popcountll(p->arrivals) > p->round;
		vary = p->waits && (p->several || p->signals > 1 || rounds);
	}
	return vary;
}

/* What is sent and received so far, of a channel, or of a message that goes through none. */
struct exchange {
	uint32_t sender, receiver; /* the last one's thread + 1 */
	bool senders, receivers;   /* are there several of them? */
	bool turns;                /* a thread has sent after another one received */
	bool later;                /* what another sent was received without a wait */
};

static void exchange_pass(struct exchange *x, const struct event *e)
{
	if (e->op == OP_RCV) {
		x->receivers |= takes_again(&x->receiver, e->thread);
		x->later |= e->flags & EVENT_TRY &&
		            (x->senders || (x->sender != 0 && x->sender != e->thread + 1));
		return;
	}
	x->turns |= x->receivers || (x->receiver != 0 && x->receiver != e->thread + 1);
	x->senders |= takes_again(&x->sender, e->thread);
}

/* By message: could its receivers, in another order, receive something else, or before it was
 * sent? Owned by the caller (g_free); NULL: none's could. */
static bool *varied_messages(const struct trace *t, unsigned which)
{
	if (!trace_has(t, OPERATION(OP_RCV)))
		return NULL;
	struct channels c;
	channels_init(&c, t);
	g_autofree bool *once = once_messages(t);
	g_autofree bool *varied = g_new0(bool, t->messages_count + 1);
	/* of the channels, and then of the other messages */
	g_autofree struct exchange *all =
	        g_new0(struct exchange, c.count + t->messages_count + 1);
	bool any = false;

	for (struct wait_walk w = wait_walk(t); wait_walk_next(&w);) {
		const struct event *e = w.event;
		if ((e->op != OP_SND && e->op != OP_RCV) || event_inert(e))
			continue;
		const struct channel_message *m = &c.messages[e->target];
		exchange_pass(&all[m->what != CHANNEL_NONE ? m->channel : c.count + e->target],
		              e);
	}
	for (uint64_t m = 0; m < t->messages_count; m++) {
		bool through = c.messages[m].what != CHANNEL_NONE;
		const struct exchange *x = &all[through ? c.messages[m].channel : c.count + m];
		bool others = x->receivers || (x->receiver != 0 && x->receiver != x->sender);

		if (through)
			varied[m] = which & PAST_CHANNELS && x->receiver != 0 &&
			            (x->senders || x->receivers);
		else if (once[m])
			varied[m] = which & PAST_ONCE && others;
		else
			varied[m] = (which & PAST_SENT_AGAIN && x->turns) ||
			            (which & PAST_SENT_LATER && x->later);
		any |= varied[m];
	}
	channels_release(&c);
	return any ? g_steal_pointer(&varied) : NULL;
}

static bool messages_vary(const struct trace *t, unsigned which)
{
	g_autofree bool *varied = varied_messages(t, which);

	return varied != NULL;
}

bool past_has_pairings(const struct trace *t)
{
	for (uint64_t i = 0; i < t->index->must_count; i++) {
		enum must_rule rule = t->index->must[i].rule;

		if (rule == MUST_SEMAPHORE || rule == MUST_BARRIER || rule == MUST_WAKER)
			return true;
	}
	return messages_vary(t, PAST_REORDERED);
}

bool past_waits_vary(const struct trace *t, unsigned which)
{
	return (which & PAST_PAIRINGS && pairings_vary(t)) || messages_vary(t, which);
}

/* The clock with an index, or with the root of its tree. */
static struct clock_view row_at(const struct past *p, uint32_t row)
{
	if (p->wide)
		return (struct clock_view){ NULL, &p->nodes, row };
	return (struct clock_view){ p->clocks + (size_t)row * p->threads, NULL, 0 };
}

static uint32_t count_of(const struct past *p, uint32_t event, uint32_t thread)
{
	if (p->t->events[event].thread == thread)
		return p->t->index->position[event] + 1;
	return view_time(row_at(p, p->clock_at[event]), thread);
}

/* -- joins into a cut ---------------------------------------------------------------------- */

/* `since`: the tree of a clock that the cut holds already; 0: none. */
static void join_since(const struct past *p, uint32_t event, uint32_t since, uint32_t *cut)
{
	struct clock_view clock = row_at(p, p->clock_at[event]);
	uint32_t own = p->t->events[event].thread;

	if (p->wide)
		wide_join_into(&p->nodes, clock.root, since, cut);
	for (uint32_t u = 0; !p->wide && u < p->threads; u++)
		cut[u] = MAX(cut[u], clock.times[u]);
	/* (No clock has a larger component for its own thread.) */
	cut[own] = MAX(cut[own], p->t->index->position[event] + 1);
}

void past_join(const struct past *p, uint32_t event, uint32_t *cut)
{
	join_since(p, event, 0, cut);
}

void past_extend(const struct past *p, uint32_t event, uint32_t *cut)
{
	uint32_t own = p->t->events[event].thread, have = cut[own];
	struct event_list mine = trace_thread_events(p->t, own);

	if (p->t->index->position[event] >= have)
		join_since(p, event, have == 0 ? 0 : p->clock_at[mine.items[have - 1]], cut);
}

/* The events of other threads that `event` needs at once, by must-order alone or also by its
 * observation: calls `each` until it returns true. */
typedef bool need_visitor(void *context, uint32_t before, enum step_rule rule, uint32_t detail);

static bool visit_needs(const struct past *p, uint32_t event, bool observed, need_visitor *each,
                        void *context)
{
	const struct trace *t = p->t;
	const struct event *e = &t->events[event];
	struct must_sources sources = must_sources(t, event);
	struct event_list seen = { NULL, 0 };
	struct must_edge edge;

	/* Inert events, too, come after their thread's creation, as do those after them. */
	while (must_sources_next(&sources, &edge)) {
		if (past_edge_counts(p, &edge) &&
		    each(context, edge.before, STEP_MUST, edge.rule))
			return true;
	}
	if (!observed || event_inert(e))
		return false;
	if (p->tries != NULL && op_fails(e->op))
		seen = tries_observed(p->tries, event);
	else if (op_is_access(e->op) && op_reads(e->op) &&
	         !past_exempt(p->options.exempt, event) &&
	         !(p->options.values && past_value_read(t, event) != 0))
		seen = trace_writers(t, event);
	for (uint64_t i = 0; i < seen.count; i++) {
		if (seen.items[i] != NONE &&
		    each(context, seen.items[i], STEP_OBSERVATION, NONE))
			return true;
	}
	return false;
}

struct cut_join {
	const struct past *p;
	uint32_t *cut;
};

static bool join_cut(void *context, uint32_t before, enum step_rule rule, uint32_t detail)
{
	struct cut_join *j = context;

	past_join(j->p, before, j->cut);
	return false;
}

void past_join_before(const struct past *p, uint32_t event, uint32_t *cut)
{
	uint32_t before = trace_previous(p->t, event);
	struct cut_join j = { p, cut };

	if (before != NONE)
		past_join(p, before, cut);
	visit_needs(p, event, false, join_cut, &j);
}

/* -- construction -------------------------------------------------------------------------- */

/* The clock of the pass's current event. */
struct walk {
	struct past *p;
	uint32_t thread;
	uint32_t *clock; /* of few threads */
	uint32_t root;   /* of many: the tree */
	bool changed;
};

static bool join_need(void *context, uint32_t before, enum step_rule rule, uint32_t detail)
{
	struct walk *w = context;
	struct past *p = w->p;
	uint32_t theirs = p->t->events[before].thread;
	uint32_t count = p->t->index->position[before] + 1;

	if (theirs == w->thread ||
	    (p->wide ? wide_time(&p->nodes, w->root, theirs) : w->clock[theirs]) >= count)
		return false;
	w->changed = true;
	if (p->wide) {
		w->root = wide_join(&p->nodes, w->root, p->clock_at[before]);
		w->root = wide_set(&p->nodes, w->root, theirs, count);
		return false;
	}
	const uint32_t *clock = p->clocks + (size_t)p->clock_at[before] * p->threads;
	for (uint32_t u = 0; u < p->threads; u++)
		w->clock[u] = MAX(w->clock[u], clock[u]);
	w->clock[theirs] = count;
	return false;
}

/* Adds an array clock; returns its index. */
static uint32_t add_row(struct past *p, const uint32_t *clock)
{
	if (p->clocks_used == p->clocks_allocated) {
		p->clocks_allocated = p->clocks_allocated * 2 + 64;
		p->clocks = g_realloc_n(p->clocks, p->clocks_allocated,
		                        sizeof(uint32_t) * MAX(p->threads, 1));
	}
	memcpy(p->clocks + p->clocks_used * p->threads, clock, sizeof(uint32_t) * p->threads);
	return (uint32_t)p->clocks_used++;
}

/* Is it a plain access that joins no clock of another thread? Most events are. `clock`: of
 * its thread so far. */
static bool brings_nothing(const struct trace *t, uint32_t e, struct clock_view clock)
{
	const struct event *x = &t->events[e];

	if (!event_simple(x))
		return false;
	uint32_t w = x->op == OP_READ ? t->index->writer[e] : NONE;
	return w == NONE || t->events[w].thread == x->thread ||
	       t->index->position[w] < view_time(clock, t->events[w].thread);
}

/* Joins the sources of a MUST_SHARED edge at once: visit_needs then finds nothing new among
 * them. Events that share sources mostly come in a row. */
static void join_shared(struct walk *w, const struct must_edge *shared)
{
	struct past *p = w->p;
	const struct must_edge *must = p->t->index->must;

	if (p->shared != shared->before) {
		struct must_run run = trace_must_into(p->t, shared->before);
		g_autofree uint32_t *clock = g_new0(uint32_t, p->threads + 1);
		struct walk all = { p, NONE, clock, 0, false };

		for (uint64_t i = run.first; i < run.first + run.count; i++) {
			if (must_is_shared(must[i].rule) && past_edge_counts(p, &must[i]))
				join_need(&all, must[i].before, STEP_MUST, must[i].rule);
		}
		p->shared = shared->before;
		p->shared_row = p->wide ? all.root : add_row(p, clock);
	}
	if (p->wide) {
		uint32_t root = wide_join(&p->nodes, w->root, p->shared_row);

		w->changed |= root != w->root;
		w->root = root;
		return;
	}
	const uint32_t *row = row_at(p, p->shared_row).times;
	for (uint32_t u = 0; u < p->threads; u++) {
		if (u == w->thread || row[u] <= w->clock[u])
			continue;
		w->changed = true;
		w->clock[u] = row[u];
	}
}

/* The clock of event `e`; `last`: of its thread so far. */
static uint32_t clock_of(struct past *p, uint32_t e, uint32_t last, uint32_t *scratch)
{
	struct walk w = { p, p->t->events[e].thread, scratch, last, false };
	const struct must_edge *must = p->t->index->must;
	struct must_run run = trace_must_into(p->t, e);

	if (!p->wide)
		memcpy(scratch, row_at(p, last).times, sizeof(uint32_t) * p->threads);
	for (uint64_t i = run.first; i < run.first + run.count; i++) {
		if (must[i].rule == MUST_SHARED)
			join_shared(&w, &must[i]);
	}
	visit_needs(p, e, true, join_need, &w);
	if (!w.changed)
		return last;
	g_array_append_val(p->changes[w.thread], e);
	return p->wide ? w.root : add_row(p, scratch);
}

static bool make_clocks(struct past *p, const struct progress *progress)
{
	enum { AHEAD = 16 };
	const struct trace *t = p->t;
	g_autofree uint32_t *last = g_new0(uint32_t, p->threads + 1); /* clock 0 is empty */
	g_autofree uint32_t *scratch = g_new0(uint32_t, p->threads + 1);
	uint64_t must = 0;
	bool going = true;

	if (!p->wide)
		add_row(p, scratch);
	for (uint32_t e = 0; e < t->events_count && going; e++) {
		uint32_t *now = &last[t->events[e].thread];

		if (G_LIKELY(e + AHEAD < t->events_count)) {
			uint64_t w = MIN(t->index->writer[e + AHEAD], t->events_count);

			__builtin_prefetch(&t->events[w]);
			__builtin_prefetch(&t->index->position[w]);
		}
		bool asked = must < t->index->must_count && t->index->must[must].after == e;

		while (must < t->index->must_count && t->index->must[must].after == e)
			must++;
		if (asked || !brings_nothing(t, e, row_at(p, *now)))
			*now = clock_of(p, e, *now, scratch);
		p->clock_at[e] = *now;
		if (e % 65536 == 0)
			going = progress_tick(progress, (double)e / (double)t->events_count,
			                      "causal order");
	}
	return going;
}

struct past *past_new(struct trace *t, const struct past_options *options,
                      const struct progress *progress)
{
	if (!trace_need(
	            t, INDEX_THREADS | INDEX_MATCH | INDEX_OBJECTS | INDEX_WRITERS | INDEX_MUST,
	            progress))
		return NULL;
	struct past *p = g_new0(struct past, 1);
	p->t = t;
	p->options = *options;
	p->tries = options->tries ? trace_tries(t) : NULL;
	p->varied = varied_messages(t, PAST_REORDERED);
	p->threads = (uint32_t)t->threads_count;
	p->shared = NONE;
	p->clock_at = g_new(uint32_t, t->events_count + 1);
	p->changes = arrays_new(p->threads, sizeof(uint32_t));
	p->wide = p->threads >= clocks_wide;
	if (p->wide)
		wide_init(&p->nodes, p->threads);
	if (make_clocks(p, progress))
		return p;
	past_free(p);
	return NULL;
}

void past_free(struct past *p)
{
	if (p == NULL)
		return;
	arrays_free(p->changes, p->threads);
	g_free(p->varied);
	g_free(p->clock_at);
	g_free(p->clocks);
	wide_release(&p->nodes);
	g_free(p);
}

bool past_serves(const struct past *p, const struct past_options *options)
{
	const struct past_options *own = &p->options;

	return own->values == options->values && own->pairing == options->pairing &&
	       own->invocations == options->invocations && own->exempt == options->exempt &&
	       (own->tries == options->tries || !trace_has(p->t, OPERATIONS_FAILED));
}

/* -- questions ----------------------------------------------------------------------------- */

bool past_has(const struct past *p, uint32_t f, uint32_t e)
{
	return p->t->index->position[e] < count_of(p, f, p->t->events[e].thread);
}

struct sought {
	const struct past *p;
	uint32_t e; /* wanted in the causal past of step.from */
	struct step step;
};

static bool find_need(void *context, uint32_t before, enum step_rule rule, uint32_t detail)
{
	struct sought *s = context;

	if (!past_has(s->p, before, s->e))
		return false;
	s->step.from = before;
	s->step.rule = rule;
	s->step.detail = detail;
	return true;
}

bool past_has_before(const struct past *p, uint32_t f, uint32_t e)
{
	struct sought s = { .p = p, .e = e };
	uint32_t before = trace_previous(p->t, f);

	return (before != NONE && past_has(p, before, e)) ||
	       visit_needs(p, f, false, find_need, &s);
}

/* The first event of thread `j` with more than `position` events of thread `i` in its past;
 * NONE without one. */
static uint32_t first_after(const struct past *p, uint32_t i, uint32_t position, uint32_t j)
{
	const uint32_t *changes = (const uint32_t *)(void *)p->changes[j]->data;
	guint first = search_end(k, 0u, p->changes[j]->len,
	                         view_time(row_at(p, p->clock_at[changes[k]]), i) <= position);

	return first < p->changes[j]->len ? changes[first] : NONE;
}

static uint32_t order_successor(const void *context, uint32_t i, uint32_t position, uint32_t j)
{
	const struct past *p = context;
	uint32_t first = i == j ? NONE : first_after(p, i, position, j);

	return i == j ? position : first == NONE ? NONE : p->t->index->position[first];
}

static uint32_t order_predecessors(const void *context, uint32_t j, uint32_t position,
                                   uint32_t i)
{
	const struct past *p = context;

	return count_of(p, trace_thread_events(p->t, j).items[position], i);
}

struct chain_base past_order(const struct past *p)
{
	return (struct chain_base){ p, order_successor, order_predecessors };
}

/* The last step of the chain from `e` to `f`, which are different. */
static struct step step_back(const struct past *p, uint32_t e, uint32_t f, bool before)
{
	const struct trace *t = p->t;
	uint32_t u = t->events[e].thread, v = t->events[f].thread, entry;
	struct sought s = { p, e, { NONE, f, STEP_PROGRAM, NONE } };

	if (before)
		entry = trace_previous(t, f);
	else
		entry = u == v ? e : first_after(p, u, t->index->position[e], v);
	if (entry != NONE && entry != f && past_has(p, entry, e))
		s.step.from = entry;
	else
		BUG_ON(!visit_needs(p, f, !before, find_need, &s));
	return s.step;
}

void past_path(const struct past *p, uint32_t e, uint32_t f, bool before, struct path *path,
               bool *paired)
{
	g_autoptr(GArray) back = g_array_new(FALSE, FALSE, sizeof(struct step));

	for (uint32_t at = f; before || at != e; before = false) {
		struct step step = step_back(p, e, at, before);

		g_array_append_val(back, step);
		at = step.from;
	}
	for (guint i = back->len; i-- > 0;) {
		const struct step *s = &g_array_index(back, struct step, i);
		struct step *last = path->steps == NULL || path->steps->len == 0
		                            ? NULL
		                            : &g_array_index(path->steps, struct step,
		                                             path->steps->len - 1);

		if (paired != NULL && past_step_pairs(p, s))
			*paired = true;
		/* Consecutive steps of program order are one. */
		if (s->rule == STEP_PROGRAM && last != NULL && last->rule == STEP_PROGRAM &&
		    last->to == s->from)
			last->to = s->to;
		else
			path_add(path, s->from, s->to, (enum step_rule)s->rule, s->detail);
	}
}
