/*
 * reach.c - flips without the solver: all that can be put together from a run, state by state.
 *
 * A state is a cut (how far each thread is), the last write of each variable that threads
 * share, the abstract state of each object that is looked at by results, and which wakes have
 * lost their signal.  Since reads must see what they saw, there are
 * few: from each state, what comes next and would see something else is a flip, and the
 * largest cuts of each are its parts.  Events that only enable others are taken at once.
 * What is not modelled here (tries that failed) and runs with too many states are left to the
 * solver, with the same result.
 */
#include "engine/explore/flips_private.h"
#include "engine/explore/symmetry.h"

#include <string.h>

enum { MOST_STATES = 60000, MOST_WAKES = 64 };

struct origin {
	uint32_t state;  /* it came from, NONE: the first */
	uint32_t thread; /* whose event was taken */
};

/* A flip in a state. */
struct candidate {
	uint32_t event, state, other;
	uint64_t key;     /* the same: the same outcome */
	const char *text; /* as in struct flip */
	enum flip_kind kind;
};

struct reach {
	struct search *x;
	const struct trace *t;
	uint32_t threads, slots, objects;
	size_t size;               /* of a state, in words */
	uint8_t *visible;          /* by event */
	uint32_t *slot_of;         /* by variable: NONE where threads do not share it */
	uint32_t *object_slot;     /* by object of the model: its abstract state, or NONE */
	struct symmetry *symmetry; /* where objects are looked at by results, else NULL */
	uint32_t *wake_bit;        /* by event: of a wake, or NONE */
	GArray *states;    /* uint32_t: done by thread, last write + 1 by slot, abstract states,
	                    * two of wakes */
	GArray *origins;   /* struct origin */
	GHashTable *known; /* hash -> GArray of states */
	GHashTable *candidates; /* what makes them alike -> GArray of struct candidate */
	GArray **rivals;        /* by call: events, or NULL: not looked at yet */
	uint32_t *scratch, *cut;
	uint32_t count;
};

static uint32_t *state_at(const struct reach *r, uint32_t state)
{
	return &g_array_index(r->states, uint32_t, state * r->size);
}

static uint64_t *spoilt(const struct reach *r, uint32_t *state)
{
	return (uint64_t *)(void *)(state + r->size - 2);
}

static bool is_done(const struct reach *r, const uint32_t *state, uint32_t event)
{
	return r->t->index->position[event] < state[r->t->events[event].thread];
}

/* -- what threads share ------------------------------------------------------------------- */

static bool shared_by_threads(const struct trace *t, struct event_list list, bool writes)
{
	bool others = false, wrote = !writes;
	for (uint64_t i = 0; i < list.count; i++) {
		others |= t->events[list.items[i]].thread != t->events[list.items[0]].thread;
		wrote |= op_writes(t->events[list.items[i]].op);
	}
	return others && wrote;
}

/* Is there one of another thread that it may not commute with? */
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
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			if (r->slot_of[v] != NONE)
				return true;
	}
	if (op_acquires(x->op))
		return shared_by_threads(
		        r->t, event_list_at(&r->t->index->object_events, x->target), false);
	return x->op == OP_FREE || x->op == OP_DESTROY || x->op == OP_WAIT ||
	       x->op == OP_WAKE || x->op == OP_SIGNAL || x->op == OP_BROADCAST;
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

/* What is there before anything. */
static void begin_objects(const struct reach *r, uint32_t *state)
{
	for (uint32_t i = 0; i < r->x->h->view->recorded->instances_count; i++)
		if (r->object_slot[i] != NONE)
			state[r->object_slot[i]] = abstract_first(r->x->abstract, i);
}

/* A call in a state, of an object that is looked at by results; else NULL. */
static const struct abstract_step *step_in(const struct reach *r, const uint32_t *state,
                                           const struct view_call *call)
{
	const struct view *v = r->x->h->view;
	if (call == NULL || !view_by_results(v, call))
		return NULL;
	return abstract_after(r->x->abstract, state[r->object_slot[call->object]],
	                      v->call_at[call->event]);
}

/* False where there is something that only the solver knows. */
static bool prepare(struct reach *r)
{
	const struct trace *t = r->t;
	uint32_t wakes = 0;
	for (uint32_t v = 0; v < t->variables_count; v++)
		r->slot_of[v] =
		        shared_by_threads(t, event_list_at(&t->index->variable_events, v), true)
		                ? r->slots++
		                : NONE;
	for (uint32_t e = 0; e < t->events_count; e++) {
		enum op op = t->events[e].op;
		if (op == OP_TRYFAIL || op == OP_TAKETRYFAIL)
			return false;
		r->wake_bit[e] = op == OP_WAKE ? wakes++ : NONE;
		r->visible[e] = is_visible(r, e);
	}
	number_objects(r);
	if (r->x->abstract)
		r->symmetry = symmetry_new(r->x->h, r->visible);
	r->size = (r->threads + r->slots + r->objects + 1) / 2 * 2 + 2;
	r->scratch = g_new0(uint32_t, r->size);
	return wakes <= MOST_WAKES;
}

/* -- may it come now? ---------------------------------------------------------------------- */

static bool must_hold(const struct reach *r, const uint32_t *state, uint32_t e)
{
	struct must_run run = trace_must_into(r->t, e);
	for (uint64_t i = 0; i < run.count; i++) {
		const struct must_edge *edge = &r->t->index->must[run.first + i];
		if (edge->condition == NONE && !is_done(r, state, edge->before))
			return false;
	}
	return true;
}

static bool lock_is_free(const struct reach *r, const uint32_t *state, uint32_t e)
{
	const struct trace *t = r->t;
	struct event_list list = event_list_at(&t->index->object_events, t->events[e].target);
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t a = list.items[i], release;
		if (!op_acquires(t->events[a].op) || !is_done(r, state, a) ||
		    t->events[a].thread == t->events[e].thread ||
		    (t->events[a].op == OP_RACQ && t->events[e].op == OP_RACQ))
			continue;
		release = t->index->partner[a];
		if (release == NONE || !is_done(r, state, release))
			return false;
	}
	return true;
}

/* What a variable would be seen as: the event of its last write, or NONE. */
static uint32_t last_of(const struct reach *r, const uint32_t *state, uint32_t variable)
{
	uint32_t slot = r->slot_of[variable];
	return slot == NONE ? NONE : state[r->threads + slot] - 1;
}

static bool sees_the_same(const struct reach *r, const uint32_t *state, uint32_t e)
{
	struct wide run = event_variables(r->t, &r->t->events[e]);
	struct event_list writers = trace_writers(r->t, e);
	if (run.count == 1 && r->slot_of[run.first] != NONE)
		return history_would_see(r->x->h, e, last_of(r, state, run.first)) ==
		       history_seen(r->x->h, e);
	for (uint32_t i = 0; i < run.count; i++)
		if (r->slot_of[run.first + i] != NONE &&
		    last_of(r, state, run.first + i) != writers.items[i])
			return false;
	return true;
}

/* The end of what the event uses, when it comes on the other side of it than in the run; NONE:
 * it is as in the run. */
static uint32_t turned_end(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t ends[MOST_LIFETIME_ENDS], was = lifetimes_ended(r->x->h->lifetimes, e);
	unsigned count = lifetimes_ends(r->x->h->lifetimes, e, ends);
	for (unsigned i = 0; i < count; i++)
		if (is_done(r, state, ends[i]))
			return was == NONE ? ends[i] : NONE;
	return was;
}

/* Threads of one kind are waited for together. */
static bool all_ended(const struct reach *r, const uint32_t *state, uint32_t thread)
{
	const uint32_t *kind = r->symmetry ? r->symmetry->kind : NULL;
	for (uint32_t u = 0; kind && kind[thread] != NONE && u < r->threads; u++)
		if (kind[u] == kind[thread] && state[u] < trace_thread_events(r->t, u).count)
			return false;
	return true;
}

static bool may_come(const struct reach *r, uint32_t *state, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	const struct view_call *call = view_call_of(r->x->h->view, e);
	if (e == r->x->limits->end)
		return false;
	if (event_inert(x))
		return true;
	if (!must_hold(r, state, e) || (call && call->scope && call->scope->ret == NONE))
		return false;
	const struct abstract_step *step = step_in(r, state, call);
	if (step != NULL && !step->same)
		return false;
	if (x->op == OP_JOIN)
		return all_ended(r, state, x->target);
	if (turned_end(r, state, e) != NONE)
		return false;
	if (op_is_access(x->op))
		return !op_reads(x->op) || lifetimes_ended(r->x->h->lifetimes, e) != NONE ||
		       sees_the_same(r, state, e);
	if (op_acquires(x->op))
		return lock_is_free(r, state, e);
	return r->wake_bit[e] == NONE || !(*spoilt(r, state) >> r->wake_bit[e] & 1);
}

static void take_event(const struct reach *r, uint32_t *state, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	state[x->thread]++;
	if (event_inert(x))
		return;
	const struct view_call *call = view_call_of(r->x->h->view, e);
	const struct abstract_step *step = step_in(r, state, call);
	if (step != NULL)
		state[r->object_slot[call->object]] = step->next;
	if (op_is_access(x->op) && op_writes(x->op)) {
		struct wide run = event_variables(r->t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			if (r->slot_of[v] != NONE)
				state[r->threads + r->slot_of[v]] = e + 1;
	}
	if (x->op != OP_SIGNAL && x->op != OP_BROADCAST)
		return;
	struct must_run run = trace_must_into(r->t, e);
	for (uint64_t i = 0; i < run.count; i++) { /* a signal that came before the wait */
		const struct must_edge *edge = &r->t->index->must[run.first + i];
		if (edge->condition != NONE && !is_done(r, state, edge->before))
			*spoilt(r, state) |= UINT64_C(1) << r->wake_bit[edge->condition];
	}
}

static uint32_t next_of(const struct reach *r, const uint32_t *state, uint32_t u)
{
	struct event_list mine = trace_thread_events(r->t, u);
	return state[u] < mine.count ? mine.items[state[u]] : NONE;
}

/* Everything that only lets others go on.  `sequence` may be NULL. */
static void take_all(const struct reach *r, uint32_t *state, GArray *sequence)
{
	for (bool more = true; more;) {
		more = false;
		for (uint32_t u = 0; u < r->threads; u++) {
			uint32_t e = next_of(r, state, u);
			while (e != NONE && !r->visible[e] && may_come(r, state, e)) {
				take_event(r, state, e);
				if (sequence)
					g_array_append_val(sequence, e);
				more = true;
				e = next_of(r, state, u);
			}
		}
	}
}

/* -- states ------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct reach *r, const uint32_t *state)
{
	uint64_t h = 0;
	for (size_t i = 0; i < r->size; i++) {
		h = (h ^ state[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h;
}

static void free_list(gpointer list)
{
	g_array_unref(list);
}

static void add_state(struct reach *r, const uint32_t *state, uint32_t from, uint32_t thread)
{
	uint64_t hash = hash_of(r, state);
	GArray *same = g_hash_table_lookup(r->known, &hash);
	for (guint i = 0; same && i < same->len; i++)
		if (memcmp(state_at(r, g_array_index(same, uint32_t, i)), state,
		           r->size * sizeof *state) == 0)
			return;
	if (same == NULL) {
		same = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_hash_table_insert(r->known, g_memdup2(&hash, sizeof hash), same);
	}
	struct origin origin = { from, thread };
	g_array_append_val(same, r->count);
	g_array_append_vals(r->states, state, r->size);
	g_array_append_val(r->origins, origin);
	r->count++;
}

/* The events that lead to a state. */
static void sequence_to(const struct reach *r, uint32_t state, GArray *sequence)
{
	GArray *way = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t *at = g_new0(uint32_t, r->size);
	for (; state != 0; state = g_array_index(r->origins, struct origin, state).state) {
		uint32_t thread = g_array_index(r->origins, struct origin, state).thread;
		g_array_append_val(way, thread);
	}
	g_array_set_size(sequence, 0);
	begin_objects(r, at);
	take_all(r, at, sequence);
	for (guint i = way->len; i-- > 0;) {
		uint32_t e = next_of(r, at, g_array_index(way, uint32_t, i));
		take_event(r, at, e);
		g_array_append_val(sequence, e);
		take_all(r, at, sequence);
	}
	g_array_unref(way);
	g_free(at);
}

/* -- flips -------------------------------------------------------------------------------- */

static bool covers(const struct reach *r, uint32_t big, uint32_t small)
{
	const uint32_t *a = state_at(r, big), *b = state_at(r, small);
	for (uint32_t u = 0; u < r->threads; u++)
		if (a[u] < b[u])
			return false;
	return true;
}

/* The candidates that have the same outcome of the same event. */
static GArray *candidates_like(struct reach *r, const struct candidate *c)
{
	uint64_t key = (c->key * 0x9e3779b97f4a7c15ull + c->event) * 31 + c->kind;
	GArray *list = g_hash_table_lookup(r->candidates, &key);
	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, sizeof(struct candidate));
		g_hash_table_insert(r->candidates, g_memdup2(&key, sizeof key), list);
	}
	return list;
}

static void add_candidate(struct reach *r, struct candidate c)
{
	GArray *list = candidates_like(r, &c);
	for (guint i = 0; i < list->len; i++) {
		uint32_t known = g_array_index(list, struct candidate, i).state;
		if (covers(r, known, c.state))
			return;
		if (covers(r, c.state, known))
			g_array_remove_index_fast(list, i--);
	}
	g_array_append_val(list, c);
}

static void look_at_read(struct reach *r, const uint32_t *state, uint32_t state_id, uint32_t e)
{
	struct wide run = event_variables(r->t, &r->t->events[e]);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		uint32_t w = last_of(r, state, v);
		if (r->slot_of[v] == NONE)
			continue;
		uint64_t sees = history_would_see(r->x->h, e, w);
		if (sees == history_seen(r->x->h, e) ||
		    (run.count > 1 && trace_writers(r->t, e).items[v - run.first] == w))
			continue;
		add_candidate(r, (struct candidate){ e, state_id, w, sees, NULL, FLIP_READ });
	}
}

static const GArray *rivals_of(struct reach *r, const struct view_call *call)
{
	const struct view *v = r->x->h->view;
	uint32_t at = v->call_at[call->event];
	if (r->rivals[at] != NULL)
		return r->rivals[at];
	GArray *list = r->rivals[at] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < v->calls->len; i++) {
		const struct view_call *w = &g_array_index(v->calls, struct view_call, i);
		if (w->thread != call->thread && !view_commute(v, w, call, true))
			g_array_append_val(list, w->event);
	}
	return list;
}

static void look_at_call(struct reach *r, const uint32_t *state, uint32_t state_id,
                         const struct view_call *call)
{
	const struct view *v = r->x->h->view;
	const GArray *rivals = rivals_of(r, call);
	uint32_t turned = NONE;
	uint64_t key = 1;
	for (guint i = 0; i < call->before->len; i++) {
		uint32_t at = g_array_index(call->before, uint32_t, i);
		uint32_t e = g_array_index(v->calls, struct view_call, at).event;
		if (!is_done(r, state, e))
			turned = e;
	}
	for (guint i = 0; i < rivals->len; i++)
		key = key * 0x9e3779b97f4a7c15ull +
		      is_done(r, state, g_array_index(rivals, uint32_t, i));
	if (turned != NONE)
		add_candidate(r, (struct candidate){ call->event, state_id, turned, key, NULL,
		                                     FLIP_CALL });
}

static void look_at_wait(struct reach *r, const uint32_t *state, uint32_t state_id, uint32_t e)
{
	struct event_list list =
	        event_list_at(&r->t->index->object_events, r->t->events[e].target);
	uint32_t count = 0, other = NONE;
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t s = list.items[i];
		bool in = is_done(r, state, s);
		if (r->t->events[s].op != OP_SIGNAL && r->t->events[s].op != OP_BROADCAST)
			continue;
		count += in;
		if (in != (s < e))
			other = s;
	}
	if (count != r->x->h->signals[e] && other != NONE)
		add_candidate(r,
		              (struct candidate){ e, state_id, other, count, NULL, FLIP_WAIT });
}

/* What a use sees that comes on the other side of the end of what it uses. */
static uint64_t seen_beside(const struct reach *r, const uint32_t *state, uint32_t e,
                            uint32_t end)
{
	const struct event *x = &r->t->events[e];
	if (end > e)
		return SEEN_AFTER_END;
	if (!op_is_access(x->op) || !op_reads(x->op))
		return 0;
	uint32_t v = event_variables(r->t, x).first;
	return history_would_see(r->x->h, e, last_of(r, state, v));
}

/* May the thread stand before its event at all? */
static bool stands(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t thread = r->t->events[e].thread, fork = r->t->threads[thread].fork;
	return state[thread] > 0 || fork == NONE || is_done(r, state, fork);
}

static void look_at(struct reach *r, uint32_t state_id, uint32_t e)
{
	const uint32_t *state = state_at(r, state_id);
	const struct event *x = &r->t->events[e];
	const struct view_call *call = view_call_of(r->x->h->view, e);
	if (g_array_index(r->x->h->step_of, uint32_t, e) == NONE || !stands(r, state, e))
		return;
	const struct abstract_step *step = step_in(r, state, call);
	if (step != NULL && !step->same)
		add_candidate(r, (struct candidate){ .event = e,
		                                     .state = state_id,
		                                     .other = NONE,
		                                     .key = step->number,
		                                     .text = step->text,
		                                     .kind = FLIP_RETURNS });
	if (call) {
		look_at_call(r, state, state_id, call);
		return;
	}
	if (!must_hold(r, state, e))
		return;
	if (x->op == OP_WAIT)
		look_at_wait(r, state, state_id, e);
	uint32_t end = turned_end(r, state, e);
	bool waits = end != NONE && op_acquires(x->op) && r->t->events[end].op != OP_DESTROY &&
	             !lock_is_free(r, state, e);
	if (waits)
		return;
	if (end != NONE)
		add_candidate(r, (struct candidate){ e, state_id, end,
		                                     seen_beside(r, state, e, end), NULL,
		                                     end > e ? FLIP_USE : FLIP_ALIVE });
	else if (op_is_access(x->op) && op_reads(x->op) &&
	         lifetimes_ended(r->x->h->lifetimes, e) == NONE)
		look_at_read(r, state, state_id, e);
}

/* -- the search --------------------------------------------------------------------------- */

/* One of its kind is to go first. */
static bool is_behind(const struct reach *r, const uint32_t *state, uint32_t thread)
{
	uint32_t ahead = r->symmetry ? r->symmetry->ahead[thread] : NONE;
	return ahead != NONE && state[ahead] <= state[thread];
}

static bool search_states(struct reach *r)
{
	begin_objects(r, r->scratch);
	take_all(r, r->scratch, NULL);
	add_state(r, r->scratch, NONE, NONE);
	for (uint32_t s = 0; s < r->count; s++) {
		for (uint32_t u = 0; u < r->threads; u++) {
			uint32_t e = next_of(r, state_at(r, s), u);
			if (e == NONE)
				continue;
			if (r->visible[e])
				look_at(r, s, e);
			if (is_behind(r, state_at(r, s), u))
				continue;
			memcpy(r->scratch, state_at(r, s), r->size * sizeof(uint32_t));
			if (!may_come(r, r->scratch, e))
				continue;
			take_event(r, r->scratch, e);
			take_all(r, r->scratch, NULL);
			add_state(r, r->scratch, s, u);
		}
		if (s % 256 == 0)
			r->x->stopped |= !progress_tick(r->x->limits->progress, 0, "states") ||
			                 flips_out_of_time(r->x->limits);
		if (r->count > MOST_STATES || r->x->stopped)
			return false;
	}
	return true;
}

static uint64_t prefix_of(const struct reach *r, const struct candidate *c)
{
	const struct history *h = r->x->h;
	uint32_t own = r->t->events[c->event].thread;
	if (c->kind == FLIP_CALL)
		return g_array_index(h->threads[own].prefixes, uint64_t,
		                     g_array_index(h->step_of, uint32_t, c->event));
	return history_after(h, c->event, c->key);
}

static void give_candidate(struct reach *r, const struct candidate *c)
{
	struct search *x = r->x;
	struct asked *a = ask_new(x, c->kind, c->event);
	const struct flip_limits *l = x->limits;
	bool fresh = l->common == NULL || l->ended[a->thread];
	sequence_to(r, c->state, x->sequence);
	memset(x->cut, 0, sizeof *x->cut * r->threads);
	for (guint i = 0; i < x->sequence->len; i++) {
		uint32_t e = g_array_index(x->sequence, uint32_t, i);
		uint32_t step = g_array_index(x->h->step_of, uint32_t, e);
		if (step != NONE)
			x->cut[r->t->events[e].thread] = step + 1;
	}
	for (uint32_t u = 0; u < r->threads && !fresh; u++)
		fresh = x->cut[u] > l->common[u];
	a->other = c->other;
	a->text = c->text;
	a->prefix = prefix_of(r, c);
	if (fresh)
		give_part(x);
}

static int late_first(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = a, *y = b;
	if (x->event != y->event)
		return x->event > y->event ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static GArray *all_candidates(const struct reach *r)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct candidate));
	GHashTableIter it;
	gpointer list;
	g_hash_table_iter_init(&it, r->candidates);
	while (g_hash_table_iter_next(&it, NULL, &list))
		g_array_append_vals(all, ((GArray *)list)->data, ((GArray *)list)->len);
	g_array_sort(all, late_first);
	return all;
}

static void reach_release(struct reach *r)
{
	guint calls = r->x->h->view->calls ? r->x->h->view->calls->len : 0;
	for (guint i = 0; i < calls; i++)
		if (r->rivals[i])
			g_array_unref(r->rivals[i]);
	g_free(r->rivals);
	g_free(r->object_slot);
	symmetry_free(r->symmetry);
	g_free(r->visible);
	g_free(r->slot_of);
	g_free(r->wake_bit);
	g_free(r->scratch);
	g_array_unref(r->states);
	g_array_unref(r->origins);
	g_hash_table_unref(r->candidates);
	g_hash_table_unref(r->known);
}

bool reach_flips(struct search *x)
{
	const struct trace *t = x->t;
	struct reach r = {
		.x = x,
		.t = t,
		.threads = x->h->threads_count,
		.visible = g_new0(uint8_t, t->events_count + 1),
		.slot_of = g_new(uint32_t, t->variables_count + 1),
		.wake_bit = g_new(uint32_t, t->events_count + 1),
		.states = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.origins = g_array_new(FALSE, FALSE, sizeof(struct origin)),
		.candidates =
		        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_list),
		.known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_list),
		.rivals = g_new0(GArray *, x->h->view->calls ? x->h->view->calls->len + 1 : 1),
	};
	bool done = prepare(&r) && search_states(&r);
	GArray *candidates = done ? all_candidates(&r) : NULL;
	for (guint i = 0; done && i < candidates->len && !x->stopped; i++)
		give_candidate(&r, &g_array_index(candidates, struct candidate, i));
	if (candidates)
		g_array_unref(candidates);
	reach_release(&r);
	return done;
}
