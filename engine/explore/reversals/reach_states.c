/*
 * reach_states.c - the states of the search (reach_private.h): which parts of memory they hold,
 * what an event sees and changes in them, and the table in which equal states are one.
 *
 * Only events that other threads can observe (`visible`) make states; those between, which only
 * enable others, are taken at once.
 */
#include "engine/base/hash.h"
#include "engine/explore/awaits/pasts.h"
#include "engine/explore/reversals/reach_private.h"
#include "engine/trace/once.h"

#include <string.h>

/* -- what states hold ---------------------------------------------------------------------- */

/* Does the list have conflicting accesses that forks and joins leave unordered? If not, each
 * has the same outcome in every order. Long lists count as shared. */
static bool is_shared(const struct trace *t, const struct fork_order *o, struct event_list list)
{
	enum { MOST_COMPARED = 256 };
	bool others = false, wrote = false;
	for (uint64_t i = 0; i < list.count; i++) {
		others |= t->events[list.items[i]].thread != t->events[list.items[0]].thread;
		wrote |= op_writes(t->events[list.items[i]].op);
	}
	if (!others || !wrote || list.count > MOST_COMPARED)
		return others && wrote;
	for (uint64_t i = 0; i < list.count; i++)
		for (uint64_t k = i + 1; k < list.count; k++) {
			uint32_t a = list.items[i], b = list.items[k];
			bool writes = op_writes(t->events[a].op) || op_writes(t->events[b].op);
			if (writes && t->events[a].thread != t->events[b].thread &&
			    !fork_ordered(o, a, b))
				return true;
		}
	return false;
}

/* Does another thread have a call that it may not commute with? */
static bool is_contested(const struct reach *r, const struct view_call *call)
{
	const struct view *v = r->x->h->view;
	for (guint i = 0; i < v->calls->len && call->object != NONE; i++) {
		const struct view_call *w = &g_array_index(v->calls, struct view_call, i);
		if (w->thread != call->thread && w->object == call->object &&
		    !(view_commute(v, w, call, true) && view_commute(v, call, w, true)))
			return true;
	}
	return false;
}

static bool is_visible(const struct reach *r, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	const struct view_call *call = view_call_of(r->x->h->view, e);
	uint32_t ends[MOST_LIFETIME_ENDS];
	if (lifetimes_ends_stack(r->x->h->lifetimes, e))
		return true;
	if (event_inert(x))
		return false;
	if (e == r->x->limits->end)
		return true;
	if (call)
		return is_contested(r, call);
	if (lifetimes_ends(r->x->h->lifetimes, e, ends) > 0)
		return true;
	if (op_is_access(x->op)) {
		struct wide run = event_variables(r->t, x);
		if (r->counted[e] != NONE || channel_steps_acts(r->x->h->channels, e))
			return true;
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			if (r->slot_of[v] != NONE)
				return true;
	}
	return sync_is_visible(r, e);
}

/* Can the event block its thread, or let another continue? */
static bool may_unblock(const struct reach *r, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	return !event_inert(x) && op_table[x->op].class == OP_CLASS_SYNC && x->op != OP_FENCE;
}

static void number_objects(struct reach *r)
{
	const struct view *v = r->x->h->view;
	uint64_t count = r->x->h->view->recorded->instances_count;
	r->object_slot = g_new(uint32_t, count + 1);
	for (uint32_t i = 0; i < count; i++)
		r->object_slot[i] = r->x->abstract != NULL && v->by_results[i]
		                            ? r->threads + r->slots + r->objects++
		                            : NONE;
}

/* Set the initial state of objects. */
static void begin_objects(const struct reach *r, uint32_t *state)
{
	for (uint32_t i = 0; i < r->x->h->view->recorded->instances_count; i++)
		if (r->object_slot[i] != NONE)
			state[r->object_slot[i]] = abstract_first(r->x->abstract, i);
}

const struct abstract_step *reach_call_step(const struct reach *r, const uint32_t *state,
                                            const struct view_call *call)
{
	const struct view *v = r->x->h->view;
	if (call == NULL || !view_by_results(v, call))
		return NULL;
	return abstract_after(r->x->abstract, state[r->object_slot[call->object]],
	                      v->call_at[call->event]);
}

/* Find events that may block a thread cut off by the end of the run. */
static void find_keepers(struct reach *r)
{
	const struct trace *t = r->t;
	if (r->x->limits->tail != NONE)
		r->visible[r->x->limits->tail] = true;
	for (uint32_t e = 0; r->x->limits->goes_on && e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (!once_begins_at(t, e) && !may_keep(r->x, e, NONE))
			continue;
		g_array_append_val(r->keepers, e);
		r->visible[e] |= x->op == OP_FREE || x->op == OP_DESTROY;
	}
}

/* A handler may run at any step of its thread. */
static void show_handling(struct reach *r)
{
	for (guint i = 0; i < r->receipts->len; i++) {
		uint32_t e = g_array_index(r->receipts, uint32_t, i);
		const GArray *steps = r->x->h->threads[r->t->events[e].thread].events;
		for (guint k = 0; k < steps->len; k++)
			r->visible[g_array_index(steps, uint32_t, k)] = true;
	}
}

/* (Schedules of a run's class, for reach_linear.c, have the run's own pasts.) */
static void find_left(struct reach *r)
{
	const struct history *h = r->x->h;
	const uint32_t *stops = r->x->limits->stops;
	for (uint32_t u = 0; u < r->threads && r->x->show_calls == NULL; u++) {
		const GArray *events = h->threads[u].events, *prefixes = h->threads[u].prefixes;
		for (guint i = 0; i < events->len; i++)
			r->left[g_array_index(events, uint32_t, i)] = pasts_is_longer(
			        r->x->limits->pasts, g_array_index(prefixes, uint64_t, i + 1));
		if (stops != NULL && stops[u] != NONE)
			r->left[stops[u]] = true;
	}
}

/* Makes visible what the limits' early uses depend on (reach_early.c). */
static void show_early(struct reach *r)
{
	const GArray *early = r->x->limits->early;
	r->early = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; early != NULL && i < early->len; i++) {
		const struct early *y = &g_array_index(early, struct early, i);
		r->visible[y->use] = true;
		if (y->after != NONE)
			r->visible[y->after] = true;
		g_array_append_vals(r->early, &(uint32_t){ NONE }, 1);
	}
}

static void prepare(struct reach *r)
{
	const struct trace *t = r->t;
	struct fork_order *order = fork_order_new(t);
	for (uint32_t v = 0; v < t->variables_count; v++) {
		struct event_list list = event_list_at(&t->index->variable_events, v);
		bool shared = !channel_steps_variable(t, v) && is_shared(t, order, list);
		r->slot_of[v] = shared ? r->slots++ : NONE;
	}
	fork_order_free(order);
	counters_find(r);
	sync_prepare(r);
	for (uint32_t e = 0; e < t->events_count; e++)
		r->visible[e] = is_visible(r, e) || (r->barred != NULL && may_unblock(r, e));
	show_early(r);
	find_keepers(r);
	show_handling(r);
	find_left(r);
	if (r->x->show_calls != NULL)
		r->x->show_calls(r);
	number_objects(r);
	if (r->x->abstract)
		r->symmetry = symmetry_new(r->x->h, r->visible);
	r->bits = r->threads + r->slots + r->objects;
	r->looked = r->bits + BIT_KINDS * ((r->threads + 31) / 32);
	detours_find(r);
	r->channels = r->looked + (r->detours->len + 31) / 32;
	r->size = r->channels + channel_steps_count(r->x->h->channels);
	r->scratch = g_new0(uint32_t, r->size);
	r->looks = g_new0(struct thread_prefix, r->threads + 1);
	r->writers = g_new(uint32_t, t->variables_count + 1);
}

/* -- enabled events ------------------------------------------------------------------------ */

uint32_t reach_last_write(const struct reach *r, const uint32_t *state, uint32_t variable)
{
	uint32_t slot = r->slot_of[variable];
	return slot == NONE ? NONE : state[r->threads + slot] - 1;
}

uint64_t reach_sees(const struct reach *r, const uint32_t *state, uint32_t e, uint32_t *other)
{
	struct wide run = event_variables(r->t, &r->t->events[e]);
	struct event_list writers = trace_writers(r->t, e);
	bool same = true;
	*other = NONE;
	if (channel_steps_has(r->x->h->channels, e))
		return channel_steps_acts(r->x->h->channels, e)
		               ? channel_steps_outcome(r->x->h->channels, state + r->channels,
		                                       e)
		                         .number
		               : history_seen(r->x->h, e);
	if (r->counted[e] != NONE)
		return sync_sees_count(r, state, e);
	if (counters_of(r, e) != NONE)
		return counters_see(r, state, e, counters_of(r, e));
	for (uint32_t i = 0; i < run.count; i++) {
		uint32_t was = writers.items[i], v = run.first + i;
		r->writers[i] = r->slot_of[v] == NONE ? was : reach_last_write(r, state, v);
		if (r->writers[i] != was && (same || *other == NONE))
			*other = r->writers[i];
		same &= r->writers[i] == was;
	}
	return same && lifetimes_ended(r->x->h->lifetimes, e) == NONE
	               ? history_seen(r->x->h, e)
	               : history_would_see(r->x->h, e, r->writers);
}

bool reach_sees_the_same(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t other;
	return reach_sees(r, state, e, &other) == history_seen(r->x->h, e);
}

uint32_t reach_turned_end(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t ends[MOST_LIFETIME_ENDS], was = lifetimes_ended(r->x->h->lifetimes, e);
	unsigned count = lifetimes_ends(r->x->h->lifetimes, e, ends);
	for (unsigned i = 0; i < count; i++)
		if (is_done(r, state, ends[i]))
			return was == NONE ? ends[i] : NONE;
	return was;
}

/* Does the event read what it sees in the run, or nothing that the code uses? */
static bool reads_the_same(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint64_t value;
	if (!op_reads(r->t->events[e].op) || lifetimes_ended(r->x->h->lifetimes, e) != NONE)
		return true;
	if (history_is_unseen(r->x->h, e) && counters_of(r, e) != NONE)
		return counters_value(r, state, counters_of(r, e), &value);
	return reach_sees_the_same(r, state, e);
}

bool reach_leaves_as_in_run(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t step = g_array_index(r->x->h->step_of, uint32_t, e);
	const struct thread_history *th = &r->x->h->threads[r->t->events[e].thread];
	return r->detours->len > 0 && step != NONE &&
	       detours_end(r, state, e, g_array_index(th->prefixes, uint64_t, step + 1));
}

bool reach_comes_as_in_run(const struct reach *r, const uint32_t *state, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	const struct view_call *call = view_call_of(r->x->h->view, e);
	if (event_inert(x))
		return true;
	if (r->left[e] || reach_leaves_as_in_run(r, state, e) ||
	    sync_outcome(r, state, e).answer != ANSWER_SAME ||
	    (call && call->scope && call->scope->ret == NONE))
		return false;
	const struct abstract_step *step = reach_call_step(r, state, call);
	if (step != NULL && !step->same)
		return false;
	if (reach_turned_end(r, state, e) != NONE)
		return false;
	return !op_is_access(x->op) || reads_the_same(r, state, e);
}

bool reach_may_come(const struct reach *r, const uint32_t *state, uint32_t e)
{
	return e != r->x->limits->end && reach_comes_as_in_run(r, state, e);
}

static void take_event(const struct reach *r, uint32_t *state, uint32_t e, uint32_t woken)
{
	const struct event *x = &r->t->events[e];
	if (event_inert(x)) {
		state[x->thread]++;
		return;
	}
	detours_take(r, state, e);
	if (op_wakes(x->op))
		sync_take(r, state, e, woken); /* it wakes the threads that wait before it */
	state[x->thread]++;
	if (!op_wakes(x->op))
		sync_take(r, state, e, NONE);
	const struct view_call *call = view_call_of(r->x->h->view, e);
	const struct abstract_step *step = reach_call_step(r, state, call);
	if (step != NULL)
		state[r->object_slot[call->object]] = step->next;
	if (channel_steps_acts(r->x->h->channels, e)) {
		channel_steps_take(r->x->h->channels, state + r->channels, e);
	} else if (op_is_access(x->op) && op_writes(x->op) && counters_of(r, e) != NONE) {
		counters_take(r, state, e, counters_of(r, e));
	} else if (op_is_access(x->op) && op_writes(x->op)) {
		struct wide run = event_variables(r->t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			if (r->slot_of[v] != NONE)
				state[r->threads + r->slot_of[v]] = e + 1;
	}
}

uint32_t reach_next(const struct reach *r, const uint32_t *state, uint32_t u)
{
	struct event_list mine = trace_thread_events(r->t, u);
	return state[u] < mine.count ? mine.items[state[u]] : NONE;
}

/* Take all events that only enable others. `sequence` may be NULL. */
static void take_all(const struct reach *r, uint32_t *state, GArray *sequence)
{
	for (bool more = true; more;) {
		more = false;
		for (uint32_t u = 0; u < r->threads; u++) {
			uint32_t e = reach_next(r, state, u);
			while (e != NONE && !r->visible[e] && reach_may_come(r, state, e)) {
				take_event(r, state, e, NONE);
				if (sequence)
					g_array_append_val(sequence, e);
				more = true;
				e = reach_next(r, state, u);
			}
		}
	}
}

/* -- states ------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct reach *r, const uint32_t *state)
{
	uint64_t h = 0;
	for (size_t i = 0; i < r->size; i++) {
		h = hash_join(h, state[i]);
		h ^= h >> 29;
	}
	return h;
}

/* The state's entry in the table, or the free one for it. */
static uint32_t *known_slot(const struct reach *r, const uint32_t *state)
{
	uint32_t at = (uint32_t)hash_of(r, state) & r->known_mask;
	while (r->known[at] != 0 &&
	       memcmp(reach_state(r, r->known[at] - 1), state, r->size * sizeof *state) != 0)
		at = (at + 1) & r->known_mask;
	return &r->known[at];
}

static void grow_known(struct reach *r)
{
	g_free(r->known);
	r->known_mask = r->known_mask * 2 + 1;
	r->known = g_new0(uint32_t, r->known_mask + 1);
	for (uint32_t s = 0; s < r->count; s++)
		*known_slot(r, reach_state(r, s)) = s + 1;
}

/* The state's number, whether new or known. */
static uint32_t add_state(struct reach *r, const uint32_t *state, struct origin origin)
{
	if (2 * (r->count + 1) > r->known_mask)
		grow_known(r);
	uint32_t *slot = known_slot(r, state);
	if (*slot != 0)
		return *slot - 1;
	g_array_append_vals(r->states, state, r->size);
	g_array_append_val(r->origins, origin);
	*slot = ++r->count;
	return r->count - 1;
}

void reach_sequence(const struct reach *r, const GArray *way, GArray *sequence)
{
	uint32_t *at = g_new0(uint32_t, r->size);
	g_array_set_size(sequence, 0);
	begin_objects(r, at);
	take_all(r, at, sequence);
	for (guint i = way->len; i-- > 0;) {
		struct origin origin = g_array_index(way, struct origin, i);
		uint32_t e = reach_next(r, at, origin.thread);
		take_event(r, at, e, origin.woken);
		g_array_append_val(sequence, e);
		take_all(r, at, sequence);
	}
	g_free(at);
}

void reach_sequence_to(const struct reach *r, uint32_t state, GArray *sequence)
{
	GArray *way = g_array_new(FALSE, FALSE, sizeof(struct origin));
	while (state != 0) {
		struct origin origin = g_array_index(r->origins, struct origin, state);
		g_array_append_val(way, origin);
		state = origin.state;
	}
	reach_sequence(r, way, sequence);
	g_array_unref(way);
}

uint32_t reach_add_next(struct reach *r, uint32_t s, uint32_t u, uint32_t woken)
{
	memcpy(r->scratch, reach_state(r, s), r->size * sizeof(uint32_t));
	take_event(r, r->scratch, reach_next(r, r->scratch, u), woken);
	take_all(r, r->scratch, NULL);
	return add_state(r, r->scratch, (struct origin){ s, u, woken });
}

bool reach_has_begun(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t thread = r->t->events[e].thread, fork = r->t->threads[thread].fork;
	return state[thread] > 0 || fork == NONE || is_done(r, state, fork);
}

bool reach_stands(const struct reach *r, uint32_t s, uint32_t u)
{
	uint32_t e = reach_next(r, reach_state(r, s), u);
	return e != NONE && reach_has_begun(r, reach_state(r, s), e);
}

void states_begin(struct reach *r)
{
	prepare(r);
	begin_objects(r, r->scratch);
	take_all(r, r->scratch, NULL);
	add_state(r, r->scratch, (struct origin){ NONE, NONE, NONE });
}
