/*
 * reversals.c - reversals of reads, waits, uses of freed blocks, and steps of specified
 * objects; see reversals.h.
 */
#include "engine/explore/reversals/reversals_private.h"

#include <string.h>

/* -- reads ------------------------------------------------------------------------------- */

static void collect_writes(const struct search *x, GArray *writes)
{
	struct wide run = event_variables(x->t, &x->t->events[x->ask.event]);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		struct event_list list = event_list_at(&x->t->index->variable_events, v);
		for (uint64_t i = 0; i < list.count; i++) {
			uint32_t e = list.items[i];
			if (op_writes(x->t->events[e].op) && e != x->ask.event)
				g_array_append_val(writes, e);
		}
	}
}

/* Requires that the rival write is excluded, or ordered before the wanted write. */
static void forbid_rival(const struct search *x, struct smt_query *q, uint32_t rival)
{
	struct smt_atom atoms[] = {
		{ ATOM_OUT, rival, NONE },
		{ ATOM_BEFORE, rival, x->ask.other },
	};
	smt_query_require(q, atoms, x->ask.other == NONE ? 1 : 2);
}

/* Is the last write in the sequence the wanted one? */
static bool judge_read(struct search *x, struct smt_query *q, const uint32_t *sequence,
                       uint32_t length)
{
	bool good = true;
	for (uint32_t i = length; i-- > 0 && sequence[i] != x->ask.other && good;)
		for (guint k = 0; k < x->rivals->len && good; k++) {
			if (g_array_index(x->rivals, uint32_t, k) != sequence[i])
				continue;
			forbid_rival(x, q, sequence[i]);
			good = false;
		}
	return good;
}

/* Set the value that the read of the query is to see. */
static void expect(struct search *x, const uint32_t *writers)
{
	x->ask.seen = history_would_see(x->h, x->ask.event, writers);
	x->ask.prefix = history_after(x->h, x->ask.event, x->ask.seen);
}

/* Let the read read from `write`: excludes every other write that is not ordered after the read
 * or before the write. */
static void reversal_read(struct search *x, uint32_t write, const GArray *writes)
{
	const struct past *past = smt_past(x->smt);
	struct asked *a = ask_new(x, REVERSAL_READ, x->ask.event);
	a->other = a->in[0] = write;
	a->judge = judge_read;
	expect(x, &write);
	for (guint i = 0; i < writes->len; i++) {
		uint32_t w = g_array_index(writes, uint32_t, i);
		if (w == write || past_has(past, w, x->ask.event) ||
		    (write != NONE && past_has(past, write, w)))
			continue;
		g_array_append_val(x->rivals, w);
	}
	find_parts(x);
}

/* Has every variable of the read its wanted last writer? */
static bool judge_wide_read(struct search *x, struct smt_query *q, const uint32_t *sequence,
                            uint32_t length)
{
	struct wide run = event_variables(x->t, &x->t->events[x->ask.event]);
	bool good = true;
	for (uint32_t v = 0; v < run.count; v++) {
		uint32_t wanted = g_array_index(x->rivals, uint32_t, v), last = NONE;
		for (uint32_t i = length; i-- > 0 && last == NONE;) {
			const struct event *e = &x->t->events[sequence[i]];
			struct wide written = event_variables(x->t, e);
			if (op_is_access(e->op) && op_writes(e->op) &&
			    run.first + v - written.first < written.count)
				last = sequence[i];
		}
		if (last == wanted || last == NONE)
			continue;
		struct smt_atom atoms[] = { { ATOM_OUT, last, NONE },
			                    { ATOM_BEFORE, last, wanted } };
		smt_query_require(q, atoms, wanted == NONE ? 1 : 2);
		good = false;
	}
	return good;
}

/* Reversal to the given writers of the read's variables, by index in their lists (`at`). */
static void reversal_wide_read(struct search *x, const GArray *const *lists, const guint *at,
                               uint32_t count)
{
	struct asked *a = ask_new(x, REVERSAL_READ, x->ask.event);
	struct event_list now = trace_writers(x->t, a->event);
	bool same = true;
	a->judge = judge_wide_read;
	for (uint32_t v = 0; v < count; v++) {
		uint32_t w = g_array_index(lists[v], uint32_t, at[v]);
		g_array_append_val(x->rivals, w);
		if (w != NONE)
			g_array_append_val(x->required, w);
		if (w != now.items[v] && same)
			a->other = w;
		same &= w == now.items[v];
	}
	expect(x, (const uint32_t *)(void *)x->rivals->data);
	if (!same && a->seen != history_seen(x->h, a->event))
		find_parts(x);
}

/* Writes (NONE: none) that the read may read from in a variable. */
static GArray *visible_writes(const struct search *x, uint32_t variable)
{
	const struct past *past = smt_past(x->smt);
	struct event_list list = event_list_at(&x->t->index->variable_events, variable);
	GArray *writes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t none = NONE;
	g_array_append_val(writes, none);
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t e = list.items[i];
		if (op_writes(x->t->events[e].op) && e != x->ask.event &&
		    !past_has(past, e, x->ask.event))
			g_array_append_val(writes, e);
	}
	for (uint64_t i = 0; i < list.count; i++) { /* writes that hide earlier ones */
		uint32_t e = list.items[i];
		if (!op_writes(x->t->events[e].op) || e == x->ask.event ||
		    !past_has_before(past, x->ask.event, e))
			continue;
		for (guint k = writes->len; k-- > 0;) {
			uint32_t w = g_array_index(writes, uint32_t, k);
			if (w != e && (w == NONE || past_has(past, e, w)))
				g_array_remove_index(writes, k);
		}
	}
	return writes;
}

/* The outcome of a read of several variables is the combination of their writers. */
static void reversal_wide_reads(struct search *x, struct wide run)
{
	enum { MOST_TOGETHER = 256 };
	GArray **lists = g_new0(GArray *, run.count);
	guint *at = g_new0(guint, run.count), together = 1;
	for (uint32_t v = 0; v < run.count; v++) {
		lists[v] = visible_writes(x, run.first + v);
		together = MIN(together * lists[v]->len, MOST_TOGETHER + 1);
	}
	x->unanswered |= together > MOST_TOGETHER;
	for (guint i = 0; i < together && together <= MOST_TOGETHER && !x->stopped; i++) {
		reversal_wide_read(x, (const GArray *const *)lists, at, run.count);
		for (uint32_t v = 0; v < run.count && ++at[v] == lists[v]->len; v++)
			at[v] = 0;
	}
	for (uint32_t v = 0; v < run.count; v++)
		g_array_unref(lists[v]);
	g_free(lists);
	g_free(at);
}

static void reversal_reads(struct search *x)
{
	const struct past *past = smt_past(x->smt);
	struct wide run = event_variables(x->t, &x->t->events[x->ask.event]);
	if (run.count > 1) {
		reversal_wide_reads(x, run);
		return;
	}
	GArray *writes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint64_t now = history_seen(x->h, x->ask.event);
	collect_writes(x, writes);
	for (guint i = 0; i <= writes->len && !x->stopped; i++) {
		uint32_t w = i < writes->len ? g_array_index(writes, uint32_t, i) : NONE;
		if (history_would_see(x->h, x->ask.event, &w) == now ||
		    (w != NONE && past_has(past, w, x->ask.event)))
			continue;
		bool hidden = false; /* hidden in every order, by a write in between */
		for (guint k = 0; k < writes->len && !hidden; k++) {
			uint32_t other = g_array_index(writes, uint32_t, k);
			hidden = other != w && (w == NONE || past_has(past, other, w)) &&
			         past_has_before(past, x->ask.event, other);
		}
		if (!hidden)
			reversal_read(x, w, writes);
	}
	g_array_unref(writes);
}

/* -- waits ------------------------------------------------------------------------------- */

static uint32_t signals_in(const struct search *x)
{
	uint32_t object = x->t->events[x->ask.event].target, count = 0;
	for (guint i = 0; i < x->sequence->len; i++) {
		const struct event *e = &x->t->events[g_array_index(x->sequence, uint32_t, i)];
		count += op_wakes(e->op) && e->target == object;
	}
	return count;
}

static uint64_t prefix_of_wait(const struct search *x)
{
	return history_after(x->h, x->ask.event, signals_in(x));
}

/* A wait depends on the signals before it: later ones may be missed, missed ones may come
 * later. */
static void reversal_wait(struct search *x)
{
	struct event_list list =
	        event_list_at(&x->t->index->object_events, x->t->events[x->ask.event].target);
	for (uint64_t i = 0; i < list.count && !x->stopped; i++) {
		uint32_t e = list.items[i];
		enum op op = x->t->events[e].op;
		if (!op_wakes(op) ||
		    x->t->events[e].thread == x->t->events[x->ask.event].thread)
			continue;
		struct asked *a = ask_new(x, REVERSAL_WAIT, x->ask.event);
		a->other = e;
		*(e > a->event ? a->in : a->out) = e;
		a->prefix_of = prefix_of_wait;
		find_parts(x);
	}
}

/* -- memory ------------------------------------------------------------------------------ */

/* Reverse a use and the end of life of its object. */
static void reversal_use(struct search *x, uint32_t event, uint32_t end)
{
	bool after = end > event;
	if (x->t->events[end].thread == x->t->events[event].thread ||
	    past_has(smt_past(x->smt), after ? end : event, after ? event : end))
		return;
	struct asked *a = ask_new(x, after ? REVERSAL_USE : REVERSAL_ALIVE, event);
	a->other = end;
	*(after ? a->in : a->out) = end;
	a->stands = !after && !op_is_access(x->t->events[event].op);
	a->prefix = history_after(x->h, event, after ? SEEN_AFTER_END : 0);
	find_parts(x);
}

static void reversal_uses(struct search *x, uint32_t event)
{
	uint32_t ends[MOST_LIFETIME_ENDS];
	unsigned count = lifetimes_ends(x->h->lifetimes, event, ends);
	for (unsigned i = 0; i < count && !x->stopped; i++)
		reversal_use(x, event, ends[i]);
}

/* -- specified objects --------------------------------------------------------------------- */

static uint32_t call_event(const struct search *x, uint32_t call)
{
	return g_array_index(x->h->view->calls, struct view_call, call).event;
}

/* Does a call that precedes it in this run not precede it in the sequence? */
static bool judge_call(struct search *x, struct smt_query *q, const uint32_t *sequence,
                       uint32_t length)
{
	const GArray *before = x->ask.call->before;
	struct smt_atom *atoms = g_new(struct smt_atom, before->len + 1);
	bool good = false;
	(void)sequence;
	(void)length;
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

/* A call that it now precedes. */
static uint32_t turned_call(const struct search *x)
{
	const GArray *before = x->ask.call->before;
	for (guint i = before->len; i-- > 0;) {
		uint32_t e = call_event(x, g_array_index(before, uint32_t, i));
		if (!within_cut(x, x->cut, e))
			return e;
	}
	return NONE;
}

/* A call sees the effects of preceding non-commuting calls: each possible set of these,
 * except this run's. As its result is unknown then, every call that it may not commute with
 * counts. */
static void reversal_call(struct search *x, const struct view_call *call)
{
	const struct view *v = x->h->view;
	const struct past *past = smt_past(x->smt);
	if (call->before->len == 0)
		return;
	struct asked *a = ask_new(x, REVERSAL_CALL, call->event);
	uint32_t step = g_array_index(x->h->step_of, uint32_t, call->event);
	a->call = call;
	a->stands = true;
	a->judge = judge_call;
	a->other_of = turned_call;
	a->prefix = g_array_index(x->h->threads[call->thread].prefixes, uint64_t, step);
	for (guint i = 0; i < v->calls->len; i++) {
		const struct view_call *w = &g_array_index(v->calls, struct view_call, i);
		if (w->thread == call->thread || past_has(past, w->event, call->event) ||
		    view_commute(v, w, call, true))
			continue;
		g_array_append_val(x->watched, w->event);
	}
	if (x->watched->len > 0)
		find_parts(x);
}

static void reversal_event(struct search *x, uint32_t e)
{
	const struct event *event = &x->t->events[e];
	const struct view_call *call = view_call_of(x->h->view, e);
	x->ask.event = e;
	if (!call)
		reversal_uses(x, e);
	x->ask.event = e;
	if (call) {
		reversal_call(x, call);
	} else if (event->op == OP_WAIT) {
		reversal_wait(x);
	} else if (!op_is_access(event->op)) {
		reversal_outcomes(x, e);
	} else if (op_reads(event->op) && !history_is_unseen(x->h, e) &&
	           !channel_steps_has(x->h->channels, e)) {
		reversal_reads(x);
	}
}

static bool any_by_results(const struct view *v)
{
	for (guint i = 0; v->by_results != NULL && i < v->calls->len; i++)
		if (view_by_results(v, &g_array_index(v->calls, struct view_call, i)))
			return true;
	return false;
}

/* -- initialisations ----------------------------------------------------------------------- */

static void reversal_early(struct search *x, const struct early *early)
{
	struct asked *a = ask_new(x, REVERSAL_EARLY, early->use);
	a->other = a->out[0] = early->after;
	a->stands = true;
	a->text = early->text;
	if (find_part(x))
		give_part(x);
}

/* -- the search -------------------------------------------------------------------------- */

struct reversals {
	struct search search;
	uint64_t left; /* number of events not yet queried */
	bool ends_left;
	guint early; /* number of limits->early queried */
};

struct reversals *reversals_new(const struct history *h, const struct reversal_limits *limits,
                                reversal_taker *take, void *context)
{
	struct reversals *r = g_new(struct reversals, 1);
	*r = (struct reversals){ .left = h->trace->events_count, .ends_left = true };
	r->search = (struct search){ .h = h,
		                     .t = (struct trace *)h->trace,
		                     .limits = limits,
		                     .take = take,
		                     .context = context,
		                     .rivals = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		                     .bound = g_new0(uint32_t, h->threads_count + 1),
		                     .cut = g_new0(uint32_t, h->threads_count + 1),
		                     .judged = g_new0(uint32_t, h->threads_count + 1),
		                     .found = g_array_new(FALSE, FALSE, sizeof(struct found)),
		                     .watched = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		                     .extras = g_array_new(FALSE, FALSE,
		                                           sizeof(struct thread_prefix)),
		                     .required = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		                     .limit = g_new0(uint32_t, h->threads_count + 1),
		                     .sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	g_array_set_clear_func(r->search.found, clear_found);
	if (any_by_results(h->view))
		r->search.abstract = abstract_new(h);
	return r;
}

void reversals_free(struct reversals *r)
{
	if (r == NULL)
		return;
	struct search *x = &r->search;
	abstract_free(x->abstract);
	g_array_unref(x->rivals);
	g_array_unref(x->required);
	g_array_unref(x->extras);
	g_array_unref(x->watched);
	g_array_unref(x->sequence);
	g_array_unref(x->found);
	g_free(x->bound);
	g_free(x->limit);
	g_free(x->cut);
	g_free(x->judged);
	g_free(r);
}

bool reversals_by_states(struct reversals *r, uint32_t most)
{
	return reach_by_states(&r->search, most);
}

enum linear_answer reversals_linear(struct reversals *r, const struct linear_part *part,
                                    uint32_t most, const GArray **sequence)
{
	*sequence = r->search.sequence;
	return reach_linear(&r->search, part, most);
}

void reversals_by_walks(struct reversals *r, uint64_t seed, uint64_t looks)
{
	reach_by_walks(&r->search, seed, looks);
}

/* Finds reversals by ends of threads and of the program. */
static void reversal_rest(struct search *x)
{
	if (x->limits->goes_on && !x->stopped)
		reversal_ends(x);
	if (x->limits->finals && !x->stopped)
		reversal_finals(x);
}

bool reversals_by_solver(struct reversals *r, struct smt *smt)
{
	struct search *x = &r->search;
	uint32_t given = x->given;
	x->smt = smt;
	if (x->abstract != NULL)
		return false; /* the solver ignores effects */
	while (x->limits->early && r->early < x->limits->early->len && !x->stopped)
		reversal_early(x, &g_array_index(x->limits->early, struct early, r->early++));
	while (r->left > 0 && !x->stopped && x->given == given)
		if (g_array_index(x->h->step_of, uint32_t, --r->left) != NONE)
			reversal_event(x, (uint32_t)r->left);
	if (r->left > 0 || x->given != given || x->stopped)
		return true;
	if (r->ends_left)
		reversal_rest(x);
	r->ends_left = false;
	return false;
}

enum reversals_races reversals_races(const struct reversals *r)
{
	return r->search.races;
}

bool reversals_stopped(const struct reversals *r)
{
	return r->search.stopped;
}

bool reversals_unanswered(const struct reversals *r)
{
	return r->search.unanswered;
}

bool reversals_merge(const struct reversals *r)
{
	return r->search.merges;
}

bool reversals_bounded(const struct reversals *r)
{
	return r->search.bounded;
}

bool reversals_uncounted(const struct reversals *r)
{
	return r->search.uncounted;
}
