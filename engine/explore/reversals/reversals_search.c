/*
 * reversals_search.c - the maximal prefixes of a run that permit an outcome.
 *
 * A query of the solver: is there a correct reordering with these events and without those,
 * after which the event is next? An answer is extended thread by thread (monotone, so by
 * bisection), then excluded with all its prefixes, until no answer is left.
 */
#include "engine/explore/reversals/reversals_private.h"

#include <string.h>

enum { MOST_PARTS = 64 }; /* bound on maximal prefixes of a reversal */

uint32_t step_event(const struct search *x, uint32_t thread, uint32_t step)
{
	return g_array_index(x->h->threads[thread].events, uint32_t, step);
}

uint32_t steps_of(const struct search *x, uint32_t thread)
{
	return x->h->threads[thread].events->len;
}

struct asked *ask_new(struct search *x, enum reversal_kind kind, uint32_t event)
{
	x->ask = (struct asked){ .kind = kind,
		                 .event = event,
		                 .thread = event == NONE ? NONE : x->t->events[event].thread,
		                 .other = NONE,
		                 .in = { NONE, NONE },
		                 .out = { NONE, NONE },
		                 .first = NONE };
	g_array_set_size(x->rivals, 0);
	g_array_set_size(x->watched, 0);
	g_array_set_size(x->required, 0);
	g_array_set_size(x->extras, 0);
	return &x->ask;
}

/* -- the query ----------------------------------------------------------------------------- */

bool within_cut(const struct search *x, const uint32_t *cut, uint32_t event)
{
	return g_array_index(x->h->step_of, uint32_t, event) < cut[x->t->events[event].thread];
}

/* Require an event outside a found prefix, or other rivals. */
static void forbid_part(const struct search *x, struct smt_query *q, const struct found *f)
{
	uint32_t threads = x->h->threads_count, count = 0;
	struct smt_atom *atoms = g_new(struct smt_atom, threads + x->watched->len + 1);
	for (uint32_t u = 0; u < threads; u++)
		if (f->cut[u] < x->bound[u])
			atoms[count++] =
			        (struct smt_atom){ ATOM_IN, step_event(x, u, f->cut[u]), NONE };
	for (guint i = 0; !f->all && i < x->watched->len; i++) {
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

/* Do both cuts have the same rivals? */
static bool same_rivals(const struct search *x, const uint32_t *a, const uint32_t *b)
{
	for (guint i = 0; i < x->watched->len; i++) {
		uint32_t w = g_array_index(x->watched, uint32_t, i);
		if (within_cut(x, a, w) != within_cut(x, b, w))
			return false;
	}
	return true;
}

/* Require that the call at `at` in the order returns another result: it is excluded, or
 * preceded by other calls, or by the same in another order. */
static void forbid_order(struct search *x, struct smt_query *q, const GArray *order, guint at)
{
	const GArray *calls = x->h->view->calls;
	GArray *atoms = g_array_new(FALSE, FALSE, sizeof(struct smt_atom));
	const struct view_call *call =
	        &g_array_index(calls, struct view_call, g_array_index(order, uint32_t, at));
	struct smt_atom atom = { ATOM_OUT, call->event, NONE };
	g_array_append_val(atoms, atom);
	for (guint i = 0; i < calls->len; i++) {
		const struct view_call *w = &g_array_index(calls, struct view_call, i);
		guint place = 0;
		while (place < at && g_array_index(order, uint32_t, place) != i)
			place++;
		if (w == call || w->object != call->object || w->scope == NULL)
			continue;
		atom = (struct smt_atom){ ATOM_OUT, w->event, NONE };
		if (place < at)
			g_array_append_val(atoms, atom);
		atom = (struct smt_atom){ ATOM_BEFORE, place < at ? call->event : w->event,
			                  place < at ? w->event : call->event };
		g_array_append_val(atoms, atom);
	}
	for (guint i = 0; i + 1 < at; i++) {
		const uint32_t *two = &g_array_index(order, uint32_t, i);
		atom = (struct smt_atom){
			ATOM_BEFORE, g_array_index(calls, struct view_call, two[1]).event,
			g_array_index(calls, struct view_call, two[0]).event
		};
		g_array_append_val(atoms, atom);
	}
	smt_query_require(q, (const struct smt_atom *)(void *)atoms->data, atoms->len);
	g_array_unref(atoms);
}

/* Does every call of an object viewed by results return as recorded? */
static bool judge_object(struct search *x, struct smt_query *q, uint32_t object,
                         const uint32_t *sequence, uint32_t length)
{
	const struct view *v = x->h->view;
	GArray *order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t state = abstract_first(x->abstract, object);
	bool good = true;
	for (uint32_t i = 0; i < length && good; i++) {
		const struct view_call *call = view_call_of(v, sequence[i]);
		if (call == NULL || call->object != object || call->scope == NULL)
			continue;
		uint32_t at = v->call_at[call->event];
		const struct abstract_step *step = abstract_after(x->abstract, state, at);
		g_array_append_val(order, at);
		state = step->next;
		good = step->same;
		if (!good)
			forbid_order(x, q, order, order->len - 1);
	}
	g_array_unref(order);
	return good;
}

static bool judge_results(struct search *x, struct smt_query *q, const uint32_t *sequence,
                          uint32_t length)
{
	const struct view *v = x->h->view;
	bool good = true;
	for (uint32_t i = 0; x->abstract && i < v->recorded->instances_count; i++)
		if (v->by_results[i])
			good &= judge_object(x, q, i, sequence, length);
	return good;
}

/* Is the reordering valid? Otherwise adds a constraint. */
static bool judge(void *context, struct smt_query *q, const uint32_t *sequence, uint32_t length)
{
	struct search *x = context;
	cut_of(x, sequence, length, x->judged);
	bool good = judge_results(x, q, sequence, length);
	if (x->ask.judge)
		good &= x->ask.judge(x, q, sequence, length);
	for (guint i = 0; x->fresh && i < x->found->len; i++) {
		const struct found *f = &g_array_index(x->found, struct found, i);
		if (!is_within(x, x->judged, f->cut) ||
		    (!f->all && !same_rivals(x, x->judged, f->cut)))
			continue;
		forbid_part(x, q, f);
		good = false;
	}
	return good;
}

/* Requires that the event is the next step of its thread, whatever its own needs: the
 * thread's earlier steps are included, the event is not. */
static void ask_stand(const struct search *x, struct smt_query *q, uint32_t event)
{
	const struct trace *t = x->t;
	uint32_t before = trace_previous(t, event);
	struct must_run run = trace_must_into(t, event);
	if (before != NONE)
		smt_query_in(q, before);
	for (uint64_t i = 0; i < run.count && before == NONE; i++)
		if (t->index->must[run.first + i].rule == MUST_FORK)
			smt_query_in(q, t->index->must[run.first + i].before);
	smt_query_out(q, event);
}

/* Requires all steps of the thread. */
static void ask_end(const struct search *x, struct smt_query *q, uint32_t thread)
{
	struct event_list mine = trace_thread_events(x->t, thread);
	if (mine.count > 0)
		smt_query_in(q, mine.items[mine.count - 1]);
	else if (x->t->threads[thread].fork != NONE)
		smt_query_in(q, x->t->threads[thread].fork);
}

static void put_question(const struct search *x, struct smt_query *q, bool same)
{
	const struct asked *a = &x->ask;
	if (a->event == NONE)
		ask_end(x, q, a->thread);
	else if (a->stands)
		ask_stand(x, q, a->event);
	else
		smt_query_next(q, a->event);
	if (x->limits->end != NONE && x->limits->end != a->event)
		smt_query_out(q, x->limits->end);
	for (int i = 0; i < 2; i++) {
		if (a->in[i] != NONE)
			smt_query_in(q, a->in[i]);
		if (a->out[i] != NONE)
			smt_query_out(q, a->out[i]);
	}
	if (a->first != NONE)
		smt_query_before(q, a->first, a->second);
	for (guint i = 0; i < x->required->len; i++)
		smt_query_in(q, g_array_index(x->required, uint32_t, i));
	for (guint i = 0; same && i < x->watched->len; i++) {
		uint32_t w = g_array_index(x->watched, uint32_t, i);
		if (!within_cut(x, x->cut, w))
			smt_query_out(q, w);
	}
}

/* Is there a solution with these numbers of steps (NULL: outside all prefixes found)? */
static bool possible(struct search *x, const uint32_t *counts, GArray *sequence)
{
	x->stopped |= reversals_out_of_time(x->limits);
	if (x->stopped)
		return false;
	struct smt_query *q = smt_query_new(x->smt);
	put_question(x, q, counts != NULL);
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

/* Try to include all steps of the other threads. */
static bool grow_all(struct search *x, GArray *scratch)
{
	if (!possible(x, x->limit, scratch))
		return false;
	g_array_set_size(x->sequence, 0);
	g_array_append_vals(x->sequence, scratch->data, scratch->len);
	take_cut(x);
	return true;
}

/* Include as many steps of thread `u` as possible. */
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

/* By thread, the first step that needs an excluded rival. */
static void find_limit(struct search *x)
{
	const struct past *past = smt_past(x->smt);
	memcpy(x->limit, x->bound, sizeof *x->limit * x->h->threads_count);
	for (guint i = 0; i < x->watched->len; i++) {
		uint32_t w = g_array_index(x->watched, uint32_t, i);
		for (uint32_t u = 0; u < x->h->threads_count; u++)
			while (!within_cut(x, x->cut, w) && x->limit[u] > x->cut[u] &&
			       past_has(past, step_event(x, u, x->limit[u] - 1), w))
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
		if (u != x->ask.thread)
			grow_thread(x, u, scratch);
	g_array_unref(scratch);
}

/* -- prefixes of runs with the outcome ----------------------------------------------------- */

void give_part(struct search *x)
{
	const struct history *h = x->h;
	uint32_t own = x->ask.thread, count = 1;
	struct thread_prefix *parts =
	        g_new(struct thread_prefix, h->threads_count + x->extras->len + 1);
	parts[0] = (struct thread_prefix){ h->threads[own].who, x->ask.prefix, x->cut[own] };
	if (x->ask.prefix_of)
		parts[0].prefix = x->ask.prefix_of(x);
	for (uint32_t u = 0; u < h->threads_count; u++)
		if (u != own && x->cut[u] > 0)
			parts[count++] =
			        (struct thread_prefix){ h->threads[u].who,
				                        g_array_index(h->threads[u].prefixes,
				                                      uint64_t, x->cut[u]),
				                        x->cut[u] };
	for (guint i = 0; i < x->extras->len; i++)
		parts[count++] = g_array_index(x->extras, struct thread_prefix, i);
	struct reversal reversal = {
		.kind = x->ask.kind,
		.event = x->ask.event,
		.other = x->ask.other_of ? x->ask.other_of(x) : x->ask.other,
		.thread = own,
		.seen = x->ask.seen,
		.text = x->ask.text,
		.sequence = x->sequence,
		.parts = parts,
		.parts_count = count,
		.before = g_array_index(h->threads[own].prefixes, uint64_t, x->cut[own])
	};
	x->given++;
	x->stopped |= !x->take(x->context, &reversal);
	g_free(parts);
}

/* Is the thread's last step an invocation that did not return? */
static bool never_ends(const struct search *x, uint32_t u)
{
	const struct view_call *call =
	        steps_of(x, u) == 0
	                ? NULL
	                : view_call_of(x->h->view, step_event(x, u, steps_of(x, u) - 1));
	return call != NULL && call->scope != NULL && call->scope->ret == NONE;
}

/* By thread, the first step that needs the event (or an excluded one); for its own, the event's
 * step. */
static void find_bounds(struct search *x)
{
	const struct past *past = smt_past(x->smt);
	uint32_t own = x->ask.thread;
	uint32_t event = x->ask.event != NONE ? x->ask.event : x->ask.out[0];
	for (uint32_t u = 0; u < x->h->threads_count; u++) {
		uint32_t low = 0, high = steps_of(x, u);
		while (low < high && u != own && event != NONE) {
			uint32_t middle = (low + high) / 2;
			if (past_has(past, step_event(x, u, middle), event))
				high = middle;
			else
				low = middle + 1;
		}
		x->bound[u] = low < high ? high : low;
		if (u == own)
			x->bound[u] =
			        x->ask.event == NONE
			                ? steps_of(x, u)
			                : g_array_index(x->h->step_of, uint32_t, x->ask.event);
		if (x->bound[u] == steps_of(x, u) && never_ends(x, u))
			x->bound[u]--;
	}
}

static void add_found(struct search *x, const uint32_t *cut, bool all)
{
	struct found f = { g_memdup2(cut, sizeof *cut * x->h->threads_count), all };
	g_array_append_val(x->found, f);
}

void clear_found(gpointer data)
{
	g_free(((struct found *)data)->cut);
}

/* May there be another prefix beyond the last one? */
static bool more_to_find(const struct search *x)
{
	for (uint32_t u = 0; u < x->h->threads_count; u++)
		if (x->cut[u] < x->bound[u])
			return true;
	for (guint i = 0; i < x->watched->len; i++)
		if (within_cut(x, x->cut, g_array_index(x->watched, uint32_t, i)))
			return true;
	return false;
}

/* Find all maximal prefixes of the run that permit the outcome. */
void find_parts(struct search *x)
{
	g_array_set_size(x->found, 0);
	find_bounds(x);
	if (x->limits->common && x->ask.event != NONE && !x->limits->ended[x->ask.thread])
		add_found(x, x->limits->common, true);
	x->stopped |= reversals_out_of_time(x->limits);
	while (!x->stopped && possible(x, NULL, x->sequence)) {
		grow(x);
		if (x->stopped)
			return;
		give_part(x);
		add_found(x, x->cut, false);
		if (!more_to_find(x))
			return;
		if (x->found->len == MOST_PARTS) {
			x->unanswered = true;
			return;
		}
	}
}

bool find_part(struct search *x)
{
	g_array_set_size(x->found, 0);
	if (x->stopped || !possible(x, NULL, x->sequence))
		return false;
	take_cut(x);
	return true;
}
