/*
 * flips.c - see flips.h.
 *
 * A question to the solver: a correct reordering in which the read is next and the write
 * is the last one to its variable.  An answer is made larger, thread by thread (more of a
 * thread can only make it harder, so the most is found by halving), then excluded with all
 * its parts, until there is none left.
 */
#include "engine/explore/flips.h"

#include "engine/predict/core.h"

#include <string.h>

enum { MOST_PARTS = 64 }; /* largest parts looked at, for one flip */

struct search {
	const struct history *h;
	struct trace *t;
	struct smt *smt;
	const struct flip_limits *limits;
	flip_taker *take;
	void *context;
	bool unanswered, stopped;
	/* of the flip at hand */
	uint32_t event, other;
	bool missed;      /* a wait: is the signal to be in (missed) or out? */
	GArray *rivals;   /* uint32_t: writes that may not come between */
	bool fresh;       /* only what is within no part found so far */
	uint32_t *judged; /* by thread: the cut that is judged */
	uint32_t *bound;  /* by thread: its steps from here on need the event */
	uint32_t *cut;    /* by thread: how many steps are in */
	GPtrArray *found; /* uint32_t *: the cuts of the parts so far */
	GArray *sequence;
};

static uint32_t step_event(const struct search *x, uint32_t thread, uint32_t step)
{
	return g_array_index(x->h->threads[thread].events, uint32_t, step);
}

static uint32_t steps_of(const struct search *x, uint32_t thread)
{
	return x->h->threads[thread].events->len;
}

/* -- the question ------------------------------------------------------------------------ */

/* A rival is not in, or before the write that is to be seen. */
static void forbid_rival(const struct search *x, struct smt_query *q, uint32_t rival)
{
	struct smt_atom atoms[] = {
		{ ATOM_OUT, rival, NONE },
		{ ATOM_BEFORE, rival, x->other },
	};
	smt_query_require(q, atoms, x->other == NONE ? 1 : 2);
}

/* Something that a part found before has not. */
static void forbid_part(const struct search *x, struct smt_query *q, const uint32_t *cut)
{
	struct smt_atom *atoms = g_new(struct smt_atom, x->h->threads_count + 1);
	uint32_t count = 0;
	for (uint32_t u = 0; u < x->h->threads_count; u++)
		if (cut[u] < x->bound[u])
			atoms[count++] =
			        (struct smt_atom){ ATOM_IN, step_event(x, u, cut[u]), NONE };
	smt_query_require(q, atoms, count);
	g_free(atoms);
}

static void cut_of(const struct search *x, const uint32_t *sequence, uint32_t length,
                   uint32_t *cut)
{
	memset(cut, 0, sizeof *cut * x->h->threads_count);
	for (uint32_t i = 0; i < length; i++) {
		uint32_t step = g_array_index(x->h->step_of, uint32_t, sequence[i]);
		uint32_t thread = x->t->events[sequence[i]].thread;
		if (step != NONE)
			cut[thread] = MAX(cut[thread], step + 1);
	}
}

static bool is_within(const struct search *x, const uint32_t *cut, const uint32_t *other)
{
	for (uint32_t u = 0; u < x->h->threads_count; u++)
		if (cut[u] > other[u])
			return false;
	return true;
}

/* Is the reordering what is asked for?  Else what forbids it. */
static bool judge(void *context, struct smt_query *q, const uint32_t *sequence, uint32_t length)
{
	struct search *x = context;
	bool good = true, seen = false;
	for (uint32_t i = length; i-- > 0 && !seen;) {
		seen = sequence[i] == x->other;
		for (guint k = 0; k < x->rivals->len && !seen; k++) {
			if (g_array_index(x->rivals, uint32_t, k) != sequence[i])
				continue;
			forbid_rival(x, q, sequence[i]);
			good = false;
		}
	}
	if (!x->fresh)
		return good;
	cut_of(x, sequence, length, x->judged);
	for (guint i = 0; i < x->found->len; i++) {
		if (!is_within(x, x->judged, x->found->pdata[i]))
			continue;
		forbid_part(x, q, x->found->pdata[i]);
		good = false;
	}
	return good;
}

/* Is there one that has so many steps of each thread (NULL: one that is within none of those
 * found before)? */
static bool possible(struct search *x, const uint32_t *counts, GArray *sequence)
{
	struct smt_query *q = smt_query_new(x->smt);
	bool access = op_is_access(x->t->events[x->event].op);
	smt_query_next(q, x->event);
	if (x->other != NONE && (access || x->missed))
		smt_query_in(q, x->other);
	else if (x->other != NONE)
		smt_query_out(q, x->other);
	for (uint32_t u = 0; counts && u < x->h->threads_count; u++)
		if (counts[u] > 0)
			smt_query_in(q, step_event(x, u, counts[u] - 1));
	x->fresh = counts == NULL;
	smt_query_judge(q, judge, x);
	enum smt_answer answer =
	        smt_query_solve(q, x->limits->seconds, sequence, NULL, x->limits->progress);
	smt_query_free(q);
	x->unanswered |= answer == SMT_SPENT;
	x->stopped |= answer == SMT_CANCELLED;
	return answer == SMT_WITNESS;
}

static void take_cut(struct search *x)
{
	cut_of(x, (const uint32_t *)x->sequence->data, x->sequence->len, x->cut);
}

/* All that there is of the other threads, at once. */
static bool grow_all(struct search *x, GArray *scratch)
{
	if (!possible(x, x->bound, scratch))
		return false;
	g_array_set_size(x->sequence, 0);
	g_array_append_vals(x->sequence, scratch->data, scratch->len);
	take_cut(x);
	return true;
}

/* As much more of thread `u` as the rest leaves room for. */
static void grow_thread(struct search *x, uint32_t u, GArray *scratch)
{
	uint32_t low = x->cut[u], high = x->bound[u];
	uint32_t *counts = g_memdup2(x->cut, sizeof *x->cut * x->h->threads_count);
	uint32_t middle = high;
	while (low < high && !x->stopped) {
		counts[u] = middle;
		if (possible(x, counts, scratch)) {
			GArray *swap = scratch;
			g_array_set_size(x->sequence, 0);
			g_array_append_vals(x->sequence, swap->data, swap->len);
			take_cut(x);
			counts[u] = low = MAX(x->cut[u], middle);
		} else {
			high = middle - 1;
		}
		middle = low + (high - low + 1) / 2;
	}
	g_free(counts);
}

static void grow(struct search *x)
{
	GArray *scratch = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	take_cut(x);
	bool whole = grow_all(x, scratch);
	for (uint32_t u = 0; u < x->h->threads_count && !x->stopped && !whole; u++)
		if (u != x->t->events[x->event].thread)
			grow_thread(x, u, scratch);
	g_array_unref(scratch);
}

/* -- what a run begins with that has it ------------------------------------------------------
 */

static uint32_t signals_in(const struct search *x)
{
	uint32_t object = x->t->events[x->event].target, count = 0;
	for (guint i = 0; i < x->sequence->len; i++) {
		const struct event *e = &x->t->events[g_array_index(x->sequence, uint32_t, i)];
		count += (e->op == OP_SIGNAL || e->op == OP_BROADCAST) && e->target == object;
	}
	return count;
}

static uint64_t seen_then(const struct search *x)
{
	const struct trace *t = x->t;
	if (t->events[x->event].op == OP_WAIT)
		return signals_in(x);
	if (x->other != NONE && t->events[x->other].op == OP_FREE)
		return (x->other + UINT64_C(1))
		       << 32; /* what is left in the block: not known */
	return history_would_see(x->h, x->event, x->other);
}

static void give(struct search *x)
{
	const struct history *h = x->h;
	uint32_t own = x->t->events[x->event].thread;
	struct part *parts = g_new(struct part, h->threads_count + 1);
	uint32_t count = 1;
	parts[0] =
	        (struct part){ h->threads[own].who, history_after(h, x->event, seen_then(x)) };
	for (uint32_t u = 0; u < h->threads_count; u++)
		if (u != own && x->cut[u] > 0)
			parts[count++] = (struct part){ h->threads[u].who,
				                        g_array_index(h->threads[u].prefixes,
				                                      uint64_t, x->cut[u]) };
	struct flip flip = { x->event, x->other, x->sequence, parts, count };
	x->stopped |= !x->take(x->context, &flip);
	g_free(parts);
}

/* All the largest parts of the run after which the event happens as asked. */
static void find_parts(struct search *x)
{
	g_ptr_array_set_size(x->found, 0);
	if (x->limits->common)
		g_ptr_array_add(x->found, g_memdup2(x->limits->common,
		                                    sizeof(uint32_t) * x->h->threads_count));
	while (!x->stopped && possible(x, NULL, x->sequence)) {
		grow(x);
		if (x->stopped)
			return;
		give(x);
		g_ptr_array_add(x->found,
		                g_memdup2(x->cut, sizeof *x->cut * x->h->threads_count));
		bool more = false;
		for (uint32_t u = 0; u < x->h->threads_count; u++)
			more |= x->cut[u] < x->bound[u];
		if (!more)
			return;
		if (x->found->len == MOST_PARTS) {
			x->unanswered = true;
			return;
		}
	}
}

/* By thread, the first step that needs the event; for its own, its own step. */
static void find_bounds(struct search *x)
{
	const struct cores *cores = smt_cores(x->smt);
	uint32_t own = x->t->events[x->event].thread;
	for (uint32_t u = 0; u < x->h->threads_count; u++) {
		uint32_t low = 0, high = steps_of(x, u);
		while (low < high && u != own) {
			uint32_t middle = (low + high) / 2;
			if (core_has(cores, step_event(x, u, middle), x->event))
				high = middle;
			else
				low = middle + 1;
		}
		x->bound[u] = u == own ? g_array_index(x->h->step_of, uint32_t, x->event) : low;
	}
}

/* -- reads ------------------------------------------------------------------------------- */

static void collect_writes(const struct search *x, GArray *writes)
{
	struct wide run = event_variables(x->t, &x->t->events[x->event]);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		struct event_list list = event_list_at(&x->t->index->variable_events, v);
		for (uint64_t i = 0; i < list.count; i++) {
			uint32_t e = list.items[i];
			if (op_writes(x->t->events[e].op) && e != x->event)
				g_array_append_val(writes, e);
		}
	}
}

/* Let the read see `write`: what may not come between is every other write that is neither
 * after the read nor before the write anyway. */
static void flip_read(struct search *x, uint32_t write, const GArray *writes)
{
	const struct cores *cores = smt_cores(x->smt);
	x->other = write;
	g_array_set_size(x->rivals, 0);
	for (guint i = 0; i < writes->len; i++) {
		uint32_t w = g_array_index(writes, uint32_t, i);
		if (w == write || core_has(cores, w, x->event) ||
		    (write != NONE && core_has(cores, write, w)))
			continue;
		g_array_append_val(x->rivals, w);
	}
	find_parts(x);
}

static void flip_reads(struct search *x)
{
	const struct cores *cores = smt_cores(x->smt);
	GArray *writes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint64_t now = history_seen(x->h, x->event);
	collect_writes(x, writes);
	for (guint i = 0; i <= writes->len && !x->stopped; i++) {
		uint32_t w = i < writes->len ? g_array_index(writes, uint32_t, i) : NONE;
		if (history_would_see(x->h, x->event, w) == now ||
		    (w != NONE && core_has(cores, w, x->event)))
			continue;
		bool hidden = false; /* by a write between, always */
		for (guint k = 0; k < writes->len && !hidden; k++) {
			uint32_t other = g_array_index(writes, uint32_t, k);
			hidden = other != w && (w == NONE || core_has(cores, other, w)) &&
			         core_has_before(cores, x->event, other);
		}
		if (!hidden)
			flip_read(x, w, writes);
	}
	g_array_unref(writes);
}

/* -- waits ------------------------------------------------------------------------------- */

/* A wait depends on the signals before it: one that came later may be missed, one that was
 * missed may come later. */
static void flip_wait(struct search *x)
{
	struct event_list list =
	        event_list_at(&x->t->index->object_events, x->t->events[x->event].target);
	g_array_set_size(x->rivals, 0);
	for (uint64_t i = 0; i < list.count && !x->stopped; i++) {
		uint32_t e = list.items[i];
		enum op op = x->t->events[e].op;
		if ((op != OP_SIGNAL && op != OP_BROADCAST) ||
		    x->t->events[e].thread == x->t->events[x->event].thread)
			continue;
		x->other = e;
		x->missed = e > x->event;
		find_parts(x);
	}
}

/* -- memory ------------------------------------------------------------------------------ */

/* An access of a block that another thread frees: may the free be first? */
static void flip_free(struct search *x)
{
	struct wide run = event_variables(x->t, &x->t->events[x->event]);
	uint32_t block = x->t->variables[run.first].block;
	uint32_t end = block == NONE ? NONE : x->t->blocks[block].free;
	if (end == NONE || end < x->event ||
	    x->t->events[end].thread == x->t->events[x->event].thread ||
	    core_has(smt_cores(x->smt), end, x->event))
		return;
	x->other = end;
	g_array_set_size(x->rivals, 0);
	find_parts(x);
}

bool flips_find(const struct history *h, struct smt *smt, const struct flip_limits *limits,
                flip_taker *take, void *context, bool *stopped)
{
	struct search x = { .h = h,
		            .t = (struct trace *)h->trace,
		            .smt = smt,
		            .limits = limits,
		            .take = take,
		            .context = context,
		            .rivals = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		            .bound = g_new0(uint32_t, h->threads_count + 1),
		            .cut = g_new0(uint32_t, h->threads_count + 1),
		            .judged = g_new0(uint32_t, h->threads_count + 1),
		            .found = g_ptr_array_new_with_free_func(g_free),
		            .sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	for (uint64_t e = h->trace->events_count; e-- > 0 && !x.stopped;) {
		const struct event *event = &h->trace->events[e];
		if (g_array_index(h->step_of, uint32_t, e) == NONE)
			continue;
		if (!op_is_access(event->op) && event->op != OP_WAIT)
			continue;
		x.event = (uint32_t)e;
		find_bounds(&x);
		if (event->op == OP_WAIT)
			flip_wait(&x);
		else
			flip_free(&x);
		if (op_is_access(event->op) && op_reads(event->op))
			flip_reads(&x);
	}
	g_array_unref(x.rivals);
	g_array_unref(x.sequence);
	g_ptr_array_unref(x.found);
	g_free(x.bound);
	g_free(x.cut);
	g_free(x.judged);
	*stopped = x.stopped;
	return !x.unanswered;
}
