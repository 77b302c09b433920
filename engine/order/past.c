/*
 * past.c - cores as vector clocks, in one pass over the trace.
 *
 * The clock of an event is the cut of its causal past. Only components of other threads are
 * stored, and only where they differ from the preceding event's; the own component is the
 * position. Independent of locks, solvers and verdicts.
 */
#include "engine/base/search.h"
#include "engine/order/wide_clocks.h"
#include "engine/order/past.h"

#include <string.h>

struct cores {
	const struct trace *t;
	struct core_options options;
	uint32_t threads;
	uint32_t *clock_at; /* by event: index of its vector clock, or its tree */
	uint32_t *clocks;   /* vector clocks of `threads` counts */
	size_t clocks_used, clocks_allocated;
	bool wide; /* many threads: clocks are trees (clocks.h) */
	struct wide_nodes nodes;
};

static const bool is_pairing[] = {
	[MUST_SEMAPHORE] = true,
	[MUST_BARRIER] = true,
	[MUST_WAKER] = true,
	[MUST_MISSING] = false, /* last: fixes the table's length */
};

bool core_edge_counts(const struct cores *c, const struct must_edge *edge)
{
	if (edge->condition != NONE)
		return false;
	if (edge->rule == MUST_INVOCATION)
		return c->options.invocations;
	return c->options.pairing || !is_pairing[edge->rule];
}

uint32_t core_value_read(const struct trace *t, uint32_t event)
{
	const struct event *e = &t->events[event];

	if (event_variables(t, e).count != 1)
		return 0;
	return e->op == OP_RMW && e->aux != 0 ? t->values[e->aux].first : e->aux;
}

uint32_t core_value_written(const struct trace *t, uint32_t event)
{
	const struct event *e = &t->events[event];

	if (event_variables(t, e).count != 1)
		return 0;
	return e->op == OP_RMW && e->aux != 0 ? t->values[e->aux].second : e->aux;
}

bool core_has_pairings(const struct trace *t)
{
	for (uint64_t i = 0; i < t->index->must_count; i++) {
		if (is_pairing[t->index->must[i].rule])
			return true;
	}
	return false;
}

/* A clock by its index, or the root of its tree. */
static struct clock_view row_at(const struct cores *c, uint32_t row)
{
	if (c->wide)
		return (struct clock_view){ NULL, &c->nodes, row };
	return (struct clock_view){ c->clocks + (size_t)row * c->threads, NULL, 0 };
}

static struct clock_view clock_of(const struct cores *c, uint32_t event)
{
	return row_at(c, c->clock_at[event]);
}

static uint32_t count_of(const struct cores *c, uint32_t event, uint32_t thread)
{
	if (c->t->events[event].thread == thread)
		return c->t->index->position[event] + 1;
	return view_time(clock_of(c, event), thread);
}

void core_join(const struct cores *c, uint32_t event, uint32_t *cut)
{
	struct clock_view clock = clock_of(c, event);
	uint32_t own = c->t->events[event].thread;

	if (c->wide)
		wide_join_into(&c->nodes, clock.root, cut);
	for (uint32_t u = 0; !c->wide && u < c->threads; u++)
		cut[u] = MAX(cut[u], clock.times[u]);
	/* (No clock has more of its own thread.) */
	cut[own] = MAX(cut[own], c->t->index->position[event] + 1);
}

/*
 * The events of other threads that `event` needs at once, by must-order alone or also by
 * what it observed: calls `each` until it returns true.
 */
typedef bool need_visitor(void *context, uint32_t before, enum step_rule rule, uint32_t detail);

static bool visit_needs(const struct cores *c, uint32_t event, bool observed,
                        need_visitor *each, void *context)
{
	const struct trace *t = c->t;
	const struct event *e = &t->events[event];
	struct must_run run = trace_must_into(t, event);

	/* an event without effect, too, comes after its thread's creation, and so does the rest
	 */
	for (uint64_t i = 0; i < run.count; i++) {
		const struct must_edge *edge = &t->index->must[run.first + i];

		if (core_edge_counts(c, edge) &&
		    each(context, edge->before, STEP_MUST, edge->rule))
			return true;
	}
	if (!observed || event_inert(e))
		return false;
	if (!op_is_access(e->op) || !op_reads(e->op) || core_exempt(c->options.exempt, event) ||
	    (c->options.values && core_value_read(t, event) != 0))
		return false;
	struct event_list writers = trace_writers(t, event);
	for (uint64_t i = 0; i < writers.count; i++) {
		if (writers.items[i] != NONE &&
		    each(context, writers.items[i], STEP_OBSERVATION, NONE))
			return true;
	}
	return false;
}

struct joining {
	const struct cores *c;
	uint32_t *cut;
	uint32_t own; /* thread whose component is ignored */
	bool changed;
};

/* The same for a clock that is a tree. */
struct wide_joining {
	struct cores *c;
	uint32_t root;
};

static bool join_need_wide(void *context, uint32_t before, enum step_rule rule, uint32_t detail)
{
	struct wide_joining *j = context;
	struct cores *c = j->c;

	j->root = wide_set(&c->nodes, wide_join(&c->nodes, j->root, c->clock_at[before]),
	                   c->t->events[before].thread, c->t->index->position[before] + 1);
	return false;
}

static bool join_need(void *context, uint32_t before, enum step_rule rule, uint32_t detail)
{
	struct joining *j = context;
	struct clock_view clock = clock_of(j->c, before);
	uint32_t theirs = j->c->t->events[before].thread;

	if (j->c->wide) { /* into a cut, of which nothing is ignored */
		core_join(j->c, before, j->cut);
		return false;
	}
	for (uint32_t u = 0; u < j->c->threads; u++) {
		uint32_t n =
		        u == theirs ? j->c->t->index->position[before] + 1 : clock.times[u];

		if (u != j->own && n > j->cut[u]) {
			j->cut[u] = n;
			j->changed = true;
		}
	}
	return false;
}

static uint32_t *add_row(struct cores *c)
{
	if (c->clocks_used == c->clocks_allocated) {
		c->clocks_allocated = c->clocks_allocated * 2 + 64;
		c->clocks = g_realloc_n(c->clocks, c->clocks_allocated,
		                        sizeof(uint32_t) * MAX(c->threads, 1));
	}
	return c->clocks + c->clocks_used++ * c->threads;
}

/* Does a plain access join nothing from another thread? Most events. `clock`: of its thread so
 * far. */
static bool brings_nothing(const struct trace *t, uint32_t e, struct clock_view clock)
{
	const struct event *x = &t->events[e];

	if (!event_simple(x))
		return false;
	uint32_t w = x->op == OP_READ ? t->index->writer[e] : NONE;
	return w == NONE || t->events[w].thread == x->thread ||
	       t->index->position[w] < view_time(clock, t->events[w].thread);
}

struct cores *cores_new(struct trace *t, const struct core_options *options,
                        const struct progress *progress)
{
	uint64_t must = 0;

	if (!trace_need(
	            t, INDEX_THREADS | INDEX_MATCH | INDEX_OBJECTS | INDEX_WRITERS | INDEX_MUST,
	            progress))
		return NULL;
	struct cores *c = g_new0(struct cores, 1);
	c->t = t;
	c->options = *options;
	c->threads = (uint32_t)t->threads_count;
	c->clock_at = g_new(uint32_t, t->events_count + 1);
	uint32_t *last = g_new0(uint32_t, c->threads + 1); /* clock 0 is empty */
	uint32_t *cut = g_new(uint32_t, c->threads + 1);
	c->wide = c->threads >= clocks_wide;
	if (c->wide)
		wide_init(&c->nodes, c->threads);
	else
		memset(add_row(c), 0, sizeof(uint32_t) * c->threads);
	for (uint32_t e = 0; e < t->events_count; e++) {
		uint32_t u = t->events[e].thread;
		struct clock_view clock = row_at(c, last[u]);
		struct joining j = { c, cut, u, false };
		struct wide_joining w = { c, last[u] };
		bool asked = must < t->index->must_count && t->index->must[must].after == e;

		while (must < t->index->must_count && t->index->must[must].after == e)
			must++;
		if (asked || !brings_nothing(t, e, clock)) {
			if (!c->wide)
				memcpy(cut, clock.times, sizeof(uint32_t) * c->threads);
			visit_needs(c, e, true, c->wide ? join_need_wide : join_need,
			            c->wide ? (void *)&w : &j);
		}
		if (c->wide)
			last[u] = w.root;
		if (j.changed) {
			memcpy(add_row(c), cut, sizeof(uint32_t) * c->threads);
			last[u] = (uint32_t)(c->clocks_used - 1);
		}
		c->clock_at[e] = last[u];
		if (e % 65536 == 0 &&
		    !progress_tick(progress, (double)e / (double)t->events_count, "cores")) {
			cores_free(c);
			c = NULL;
			break;
		}
	}
	g_free(last);
	g_free(cut);
	return c;
}

void cores_free(struct cores *c)
{
	if (c == NULL)
		return;
	g_free(c->clock_at);
	g_free(c->clocks);
	wide_release(&c->nodes);
	g_free(c);
}

void core_join_before(const struct cores *c, uint32_t event, uint32_t *cut)
{
	uint32_t before = trace_previous(c->t, event);
	struct joining j = { c, cut, NONE, false };

	if (before != NONE)
		core_join(c, before, cut);
	visit_needs(c, event, false, join_need, &j);
}

bool core_has(const struct cores *c, uint32_t f, uint32_t e)
{
	return c->t->index->position[e] < count_of(c, f, c->t->events[e].thread);
}

struct sought {
	const struct cores *c;
	uint32_t e;     /* wanted in the causal past of `found` */
	uint32_t found; /* or NONE */
	enum step_rule rule;
	uint32_t detail;
};

static bool find_need(void *context, uint32_t before, enum step_rule rule, uint32_t detail)
{
	struct sought *s = context;

	if (!core_has(s->c, before, s->e))
		return false;
	s->found = before;
	s->rule = rule;
	s->detail = detail;
	return true;
}

bool core_has_before(const struct cores *c, uint32_t f, uint32_t e)
{
	struct sought s = { c, e, NONE, STEP_PROGRAM, NONE };
	uint32_t before = trace_previous(c->t, f);

	return (before != NONE && core_has(c, before, e)) ||
	       visit_needs(c, f, false, find_need, &s);
}

/* First event of f's thread, up to f, with e in its causal past. */
static uint32_t entry_of(const struct cores *c, uint32_t e, uint32_t f)
{
	struct event_list list = trace_thread_events(c->t, c->t->events[f].thread);
	uint32_t low =
	        search_end(i, 0, c->t->index->position[f], !core_has(c, list.items[i], e));
	return list.items[low];
}

void core_path(const struct cores *c, uint32_t e, uint32_t f, bool before, struct path *path,
               bool *paired)
{
	GArray *back = g_array_new(FALSE, FALSE, sizeof(struct step));
	uint32_t at = f;

	if (before) {
		struct sought s = { c, e, NONE, STEP_PROGRAM, NONE };
		uint32_t previous = trace_previous(c->t, f);

		if (previous != NONE && core_has(c, previous, e)) {
			struct step step = { previous, f, STEP_PROGRAM, NONE };

			g_array_append_val(back, step);
			at = previous;
		} else if (visit_needs(c, f, false, find_need, &s)) {
			struct step step = { s.found, f, s.rule, s.detail };

			g_array_append_val(back, step);
			at = s.found;
		}
	}
	while (at != e) {
		struct sought s = { c, e, NONE, STEP_PROGRAM, NONE };
		uint32_t entry = c->t->events[at].thread == c->t->events[e].thread
		                         ? e
		                         : entry_of(c, e, at);

		if (entry != at) {
			struct step step = { entry, at, STEP_PROGRAM, NONE };

			g_array_append_val(back, step);
			at = entry;
			continue;
		}
		BUG_ON(!visit_needs(c, at, true, find_need, &s));
		struct step step = { s.found, at, s.rule, s.detail };
		g_array_append_val(back, step);
		at = s.found;
	}
	for (guint i = back->len; i-- > 0;) {
		const struct step *s = &g_array_index(back, struct step, i);

		/* merge consecutive steps of program order */
		if (path->steps != NULL && path->steps->len > 0 && s->rule == STEP_PROGRAM) {
			struct step *p =
			        &g_array_index(path->steps, struct step, path->steps->len - 1);

			if (p->rule == STEP_PROGRAM && p->to == s->from) {
				p->to = s->to;
				continue;
			}
		}
		path_add(path, s->from, s->to, (enum step_rule)s->rule, s->detail);
		if (paired != NULL && s->rule == STEP_MUST && is_pairing[s->detail])
			*paired = true;
	}
	g_array_free(back, TRUE);
}
