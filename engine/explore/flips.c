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

/* What was found already: nothing within it is looked for again, of a call nothing with the
 * same of its rivals. */
struct found {
	uint32_t *cut; /* by thread: so many steps */
	bool all;      /* whatever the rivals */
};

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
	GArray *found;    /* struct found */
	GArray *sequence;
	/* of a call */
	const struct view_call *call;
	GArray *watched; /* uint32_t, events: what it may not commute with */
	uint32_t *limit; /* by thread: as `bound`, for the rivals that are out, too */
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

static bool within_cut(const struct search *x, const uint32_t *cut, uint32_t event)
{
	return g_array_index(x->h->step_of, uint32_t, event) < cut[x->t->events[event].thread];
}

/* Something that a part found before has not; of a call, or not all of its rivals. */
static void forbid_part(const struct search *x, struct smt_query *q, const struct found *f)
{
	uint32_t threads = x->h->threads_count, count = 0;
	struct smt_atom *atoms = g_new(struct smt_atom, threads + x->watched->len + 1);
	for (uint32_t u = 0; u < threads; u++)
		if (f->cut[u] < x->bound[u])
			atoms[count++] = (struct smt_atom){ ATOM_IN,
				                            step_event(x, u, f->cut[u]), NONE };
	for (guint i = 0; x->call && !f->all && i < x->watched->len; i++) {
		uint32_t w = g_array_index(x->watched, uint32_t, i);
		if (within_cut(x, f->cut, w))
			atoms[count++] = (struct smt_atom){ ATOM_OUT, w, NONE };
	}
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

static uint32_t call_event(const struct search *x, uint32_t call)
{
	return g_array_index(x->h->view->calls, struct view_call, call).event;
}

/* One of those that come before a call in this run does not. */
static bool judge_call(const struct search *x, struct smt_query *q)
{
	const GArray *before = x->call->before;
	struct smt_atom *atoms = g_new(struct smt_atom, before->len + 1);
	bool good = false;
	for (guint i = 0; i < before->len; i++) {
		uint32_t e = call_event(x, g_array_index(before, uint32_t, i));
		atoms[i] = (struct smt_atom){ ATOM_OUT, e, NONE };
		good |= !within_cut(x, x->judged, e);
	}
	if (!good)
		smt_query_require(q, atoms, before->len);
	g_free(atoms);
	return good;
}

/* Are the same of the call's rivals in both? */
static bool same_rivals(const struct search *x, const uint32_t *a, const uint32_t *b)
{
	for (guint i = 0; i < x->watched->len; i++) {
		uint32_t w = g_array_index(x->watched, uint32_t, i);
		if (within_cut(x, a, w) != within_cut(x, b, w))
			return false;
	}
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
		const struct found *f = &g_array_index(x->found, struct found, i);
		if (!is_within(x, x->judged, f->cut) ||
		    (x->call && !f->all && !same_rivals(x, x->judged, f->cut)))
			continue;
		forbid_part(x, q, f);
		good = false;
	}
	return x->call ? judge_call(x, q) && good : good;
}

/* A call is next: what its thread did before is in, and it is not.  (Not smt_query_next: those
 * that it does not commute with need not be in.) */
static void ask_call(const struct search *x, struct smt_query *q, bool same)
{
	const struct trace *t = x->t;
	uint32_t before = trace_previous(t, x->event);
	struct must_run run = trace_must_into(t, x->event);
	if (before != NONE)
		smt_query_in(q, before);
	for (uint64_t i = 0; i < run.count && before == NONE; i++)
		if (t->index->must[run.first + i].rule == MUST_FORK)
			smt_query_in(q, t->index->must[run.first + i].before);
	smt_query_out(q, x->event);
	for (guint i = 0; same && i < x->watched->len; i++) {
		uint32_t w = g_array_index(x->watched, uint32_t, i);
		if (!within_cut(x, x->cut, w))
			smt_query_out(q, w);
	}
}

static void ask_event(const struct search *x, struct smt_query *q)
{
	bool access = op_is_access(x->t->events[x->event].op);
	smt_query_next(q, x->event);
	if (x->other != NONE && (access || x->missed))
		smt_query_in(q, x->other);
	else if (x->other != NONE)
		smt_query_out(q, x->other);
}

/* Is there one that has so many steps of each thread (NULL: one that is within none of those
 * found before)? */
static bool possible(struct search *x, const uint32_t *counts, GArray *sequence)
{
	struct smt_query *q = smt_query_new(x->smt);
	if (x->call)
		ask_call(x, q, counts != NULL);
	else
		ask_event(x, q);
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
	if (!possible(x, x->limit, scratch))
		return false;
	g_array_set_size(x->sequence, 0);
	g_array_append_vals(x->sequence, scratch->data, scratch->len);
	take_cut(x);
	return true;
}

/* As much more of thread `u` as the rest leaves room for. */
static void grow_thread(struct search *x, uint32_t u, GArray *scratch)
{
	uint32_t low = x->cut[u], high = x->limit[u];
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

/* By thread, the first step that needs one of the call's rivals that are out. */
static void find_limit(struct search *x)
{
	const struct cores *cores = smt_cores(x->smt);
	memcpy(x->limit, x->bound, sizeof *x->limit * x->h->threads_count);
	for (guint i = 0; x->call && i < x->watched->len; i++) {
		uint32_t w = g_array_index(x->watched, uint32_t, i);
		for (uint32_t u = 0; u < x->h->threads_count; u++)
			while (!within_cut(x, x->cut, w) && x->limit[u] > x->cut[u] &&
			       core_has(cores, step_event(x, u, x->limit[u] - 1), w))
				x->limit[u]--;
	}
}

static void grow(struct search *x)
{
	GArray *scratch = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	take_cut(x);
	find_limit(x);
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
	uint32_t count = 1, step = g_array_index(h->step_of, uint32_t, x->event);
	parts[0] = (struct part){ h->threads[own].who, 0, step };
	parts[0].prefix = x->call ? g_array_index(h->threads[own].prefixes, uint64_t, step)
	                          : history_after(h, x->event, seen_then(x));
	for (uint32_t u = 0; u < h->threads_count; u++)
		if (u != own && x->cut[u] > 0)
			parts[count++] = (struct part){ h->threads[u].who,
				                        g_array_index(h->threads[u].prefixes,
				                                      uint64_t, x->cut[u]),
				                        x->cut[u] };
	for (guint i = 0; x->call && i < x->call->before->len; i++) {
		uint32_t e = call_event(x, g_array_index(x->call->before, uint32_t, i));
		if (!within_cut(x, x->cut, e))
			x->other = e;
	}
	struct flip flip = { x->event, x->other, x->sequence, parts, count };
	x->stopped |= !x->take(x->context, &flip);
	g_free(parts);
}

static void add_found(struct search *x, const uint32_t *cut, bool all)
{
	struct found f = { g_memdup2(cut, sizeof *cut * x->h->threads_count), all };
	g_array_append_val(x->found, f);
}

static void clear_found(gpointer data)
{
	g_free(((struct found *)data)->cut);
}

/* Could there be one beyond the part that was found last? */
static bool more_to_find(const struct search *x)
{
	for (uint32_t u = 0; u < x->h->threads_count; u++)
		if (x->cut[u] < x->bound[u])
			return true;
	for (guint i = 0; x->call && i < x->watched->len; i++)
		if (within_cut(x, x->cut, g_array_index(x->watched, uint32_t, i)))
			return true;
	return false;
}

/* All the largest parts of the run after which the event happens as asked. */
static void find_parts(struct search *x)
{
	g_array_set_size(x->found, 0);
	if (x->limits->common && !x->limits->ended[x->t->events[x->event].thread])
		add_found(x, x->limits->common, true);
	while (!x->stopped && possible(x, NULL, x->sequence)) {
		grow(x);
		if (x->stopped)
			return;
		give(x);
		add_found(x, x->cut, false);
		if (!more_to_find(x))
			return;
		if (x->found->len == MOST_PARTS) {
			x->unanswered = true;
			return;
		}
	}
}

/* Is the thread's last step an invocation in which the run ended? */
static bool never_ends(const struct search *x, uint32_t u)
{
	const struct view_call *call =
	        steps_of(x, u) == 0
	                ? NULL
	                : view_call_of(x->h->view, step_event(x, u, steps_of(x, u) - 1));
	return call != NULL && call->scope != NULL && call->scope->ret == NONE;
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
		if (x->bound[u] == steps_of(x, u) && never_ends(x, u))
			x->bound[u]--;
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

/* -- specified objects --------------------------------------------------------------------- */

/*
 * A call sees the effects of those that it does not commute with.  Which of them come before
 * it: each set of them that can be, but for what this run has.  What it will return then is
 * not known, so that whatever it might not commute with counts.
 */
static void flip_call(struct search *x, const struct view_call *call)
{
	const struct view *v = x->h->view;
	const struct cores *cores = smt_cores(x->smt);
	if (call->before->len == 0)
		return;
	x->call = call;
	x->other = NONE;
	g_array_set_size(x->rivals, 0);
	g_array_set_size(x->watched, 0);
	for (guint i = 0; i < v->calls->len; i++) {
		const struct view_call *w = &g_array_index(v->calls, struct view_call, i);
		if (w->thread == call->thread || core_has(cores, w->event, x->event) ||
		    view_commute(v, w, call, true))
			continue;
		g_array_append_val(x->watched, w->event);
	}
	if (x->watched->len > 0)
		find_parts(x);
	x->call = NULL;
}

static void flip_event(struct search *x, uint32_t e)
{
	const struct event *event = &x->t->events[e];
	const struct view_call *call = view_call_of(x->h->view, e);
	if (!call && !op_is_access(event->op) && event->op != OP_WAIT)
		return;
	x->event = e;
	find_bounds(x);
	if (call) {
		flip_call(x, call);
	} else if (event->op == OP_WAIT) {
		flip_wait(x);
	} else {
		flip_free(x);
		if (op_reads(event->op))
			flip_reads(x);
	}
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
		            .found = g_array_new(FALSE, FALSE, sizeof(struct found)),
		            .watched = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		            .limit = g_new0(uint32_t, h->threads_count + 1),
		            .sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	g_array_set_clear_func(x.found, clear_found);
	for (uint64_t e = h->trace->events_count; e-- > 0 && !x.stopped;)
		if (g_array_index(h->step_of, uint32_t, e) != NONE)
			flip_event(&x, (uint32_t)e);
	g_array_unref(x.rivals);
	g_array_unref(x.watched);
	g_array_unref(x.sequence);
	g_array_unref(x.found);
	g_free(x.bound);
	g_free(x.limit);
	g_free(x.cut);
	g_free(x.judged);
	*stopped = x.stopped;
	return !x.unanswered;
}
