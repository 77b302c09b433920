/*
 * reach.c - reversals without the solver: explores recompositions of a run, state by state.
 *
 * A state is a cut (the number of steps of each thread) and the relevant past
 * (reach_private.h). As reads must keep their values, states are few: in each, next events with
 * another outcome are reversals, and their maximal cuts the prefixes; a state where no thread
 * can continue is one, too. Events that only enable others are taken immediately. Runs with too
 * many states are left to the solver, which considers less synchronisation.
 */
#include "engine/explore/awaits/awaits.h"
#include "engine/explore/runs/final.h"
#include "engine/explore/awaits/pasts.h"
#include "engine/explore/reversals/reach_private.h"
#include "engine/base/hash.h"
#include "engine/memory/rounds.h"
#include "engine/trace/once.h"

#include <inttypes.h>
#include <string.h>

static const uint32_t *state_at(const struct reach *r, uint32_t state)
{
	return reach_state(r, state);
}

/* -- shared variables ---------------------------------------------------------------------- */

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
	if (lifetimes_ends_thread(r->x->h->lifetimes, e))
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
		if (r->counted[e] != NONE)
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

/* A call in a state, of an object viewed by results; else NULL. */
static const struct abstract_step *step_in(const struct reach *r, const uint32_t *state,
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

/* -- counters ------------------------------------------------------------------------------ */

/* The value that an access of a counter reads, or writes. */
static uint64_t counted_at(const struct reach *r, uint32_t e, bool written)
{
	struct access_value v = access_value(r->t, e, written);
	return v.size >= sizeof v.integer ? v.integer
	                                  : v.integer & ((UINT64_C(1) << 8 * v.size) - 1);
}

/* Are all accesses of the variable of it alone, and their values known? Then its value is known
 * in each state. */
static bool has_values(const struct reach *r, struct event_list list)
{
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *x = &r->t->events[list.items[i]];
		if (event_inert(x))
			continue;
		if (event_variables(r->t, x).count != 1 ||
		    (op_reads(x->op) && !access_value(r->t, list.items[i], false).known) ||
		    (op_writes(x->op) && !access_value(r->t, list.items[i], true).known))
			return false;
	}
	return true;
}

/* Its value at the beginning, if that of static data is known, or it was read before it was
 * written. */
static void find_first_value(const struct reach *r, uint32_t v, struct event_list list)
{
	struct counter *c = &r->counters[v];
	c->begins_known = history_begins_with(r->x->h, v, &c->begins);
	for (uint64_t i = 0; i < list.count && !c->begins_known; i++) {
		uint32_t e = list.items[i];
		const struct event *x = &r->t->events[e];
		if (event_inert(x) || !op_reads(x->op) ||
		    trace_writers(r->t, e).items[0] != NONE)
			continue;
		c->begins = counted_at(r, e, false);
		c->begins_known = true;
	}
}

static void find_counters(struct reach *r)
{
	const struct trace *t = r->t;
	for (uint32_t e = 0; r->x->h->unseen && e < t->events_count; e++) {
		uint32_t v = event_variables(t, &t->events[e]).first;
		if (!history_is_unseen(r->x->h, e) || r->slot_of[v] == NONE)
			continue;
		if (r->counters == NULL)
			r->counters = g_new0(struct counter, t->variables_count + 1);
		if (r->counters[v].is)
			continue;
		struct event_list list = event_list_at(&t->index->variable_events, v);
		r->counters[v].is = has_values(r, list);
		r->x->uncounted |= !r->counters[v].is;
		find_first_value(r, v, list);
	}
	if (r->counters == NULL)
		return;
	r->values = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	r->valued = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	r->texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

/* The counter that the event accesses, as its variable; NONE: it accesses none. */
static uint32_t counter_of(const struct reach *r, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	uint32_t v = r->counters == NULL || !op_is_access(x->op)
	                     ? NONE
	                     : event_variables(r->t, x).first;
	return v != NONE && r->counters[v].is ? v : NONE;
}

/* A counter's value in a state; false: it is not known. */
static bool counts_in(const struct reach *r, const uint32_t *state, uint32_t counter,
                      uint64_t *value)
{
	uint32_t place = state[r->threads + r->slot_of[counter]];
	*value = place == 0 ? r->counters[counter].begins
	                    : g_array_index(r->values, uint64_t, place - 1);
	bool known = place != 0 || r->counters[counter].begins_known;
	r->x->uncounted |= !known;
	return known;
}

static uint32_t place_of_value(const struct reach *r, uint64_t value)
{
	uint32_t place = GPOINTER_TO_UINT(g_hash_table_lookup(r->valued, &value));
	if (place != 0)
		return place;
	g_array_append_val(r->values, value);
	g_hash_table_insert(r->valued, g_memdup2(&value, sizeof value),
	                    GUINT_TO_POINTER(r->values->len));
	return r->values->len;
}

/* An event writes a counter. */
static void count(const struct reach *r, uint32_t *state, uint32_t e, uint32_t counter)
{
	uint64_t value = counted_at(r, e, true), now;
	uint64_t size = access_value(r->t, e, true).size;
	if (history_is_unseen(r->x->h, e) && counts_in(r, state, counter, &now))
		value = now + value - counted_at(r, e, false);
	if (size < sizeof value)
		value &= (UINT64_C(1) << 8 * size) - 1;
	state[r->threads + r->slot_of[counter]] = place_of_value(r, value);
}

/* The number of the value that the read of a counter sees in a state; `counts`: it is known. */
static uint64_t sees_counter(const struct reach *r, const uint32_t *state, uint32_t e,
                             uint32_t counter)
{
	uint32_t initial = NONE;
	uint64_t value;
	if (!counts_in(r, state, counter, &value))
		return history_would_see(r->x->h, e, &initial);
	return history_would_read(r->x->h, e, value);
}

/* The value that a read of a counter sees, in words; NULL: it reads none. */
static const char *counted_text(struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t counter = counter_of(r, e);
	uint64_t value;
	if (counter == NONE || !counts_in(r, state, counter, &value))
		return NULL;
	uint64_t size = access_value(r->t, e, false).size;
	bool negative = size < sizeof value && value >> (8 * size - 1) & 1;
	int64_t number = (int64_t)(negative ? value - (UINT64_C(1) << 8 * size) : value);
	char *text = g_strdup_printf("%" PRId64, number);
	gpointer known;
	if (g_hash_table_lookup_extended(r->texts, text, &known, NULL)) {
		g_free(text);
		return known;
	}
	g_hash_table_add(r->texts, text);
	return text;
}

/* -- the run ------------------------------------------------------------------------------- */

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

static uint64_t end_in(const struct reach *r, const uint32_t *state);

static void prepare(struct reach *r)
{
	const struct trace *t = r->t;
	struct fork_order *order = fork_order_new(t);
	for (uint32_t v = 0; v < t->variables_count; v++) {
		struct event_list list = event_list_at(&t->index->variable_events, v);
		r->slot_of[v] = is_shared(t, order, list) ? r->slots++ : NONE;
	}
	fork_order_free(order);
	find_counters(r);
	sync_prepare(r);
	for (uint32_t e = 0; e < t->events_count; e++)
		r->visible[e] = is_visible(r, e) || (r->barred != NULL && may_unblock(r, e));
	find_keepers(r);
	find_left(r);
	if (r->x->show_calls != NULL)
		r->x->show_calls(r);
	number_objects(r);
	if (r->x->abstract)
		r->symmetry = symmetry_new(r->x->h, r->visible);
	r->bits = r->threads + r->slots + r->objects;
	r->looked = r->bits + BIT_KINDS * ((r->threads + 31) / 32);
	detours_find(r);
	r->size = r->looked + (r->detours->len + 31) / 32;
	r->scratch = g_new0(uint32_t, r->size);
	r->looks = g_new0(struct thread_prefix, r->threads + 1);
	r->writers = g_new(uint32_t, t->variables_count + 1);
	if (r->x->limits->finals)
		r->end = end_in(r, NULL);
}

/* -- enabled events ------------------------------------------------------------------------ */

/* The event of a variable's last write in a state, or NONE. */
static uint32_t last_of(const struct reach *r, const uint32_t *state, uint32_t variable)
{
	uint32_t slot = r->slot_of[variable];
	return slot == NONE ? NONE : state[r->threads + slot] - 1;
}

/* The number of the value that a read sees in a state. *other: a write that it did not see in
 * the run, or NONE. */
static uint64_t sees_in(const struct reach *r, const uint32_t *state, uint32_t e,
                        uint32_t *other)
{
	struct wide run = event_variables(r->t, &r->t->events[e]);
	struct event_list writers = trace_writers(r->t, e);
	bool same = true;
	*other = NONE;
	if (r->counted[e] != NONE)
		return sync_sees_count(r, state, e);
	if (counter_of(r, e) != NONE)
		return sees_counter(r, state, e, counter_of(r, e));
	for (uint32_t i = 0; i < run.count; i++) {
		uint32_t was = writers.items[i], v = run.first + i;
		r->writers[i] = r->slot_of[v] == NONE ? was : last_of(r, state, v);
		if (r->writers[i] != was && (same || *other == NONE))
			*other = r->writers[i];
		same &= r->writers[i] == was;
	}
	return same && lifetimes_ended(r->x->h->lifetimes, e) == NONE
	               ? history_seen(r->x->h, e)
	               : history_would_see(r->x->h, e, r->writers);
}

static bool sees_the_same(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t other;
	return sees_in(r, state, e, &other) == history_seen(r->x->h, e);
}

/* The end of life of the event's object, if their order differs from the run; else NONE. */
static uint32_t turned_end(const struct reach *r, const uint32_t *state, uint32_t e)
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
	if (history_is_unseen(r->x->h, e) && counter_of(r, e) != NONE)
		return counts_in(r, state, counter_of(r, e), &value);
	return sees_the_same(r, state, e);
}

/* Would the event, with its outcome in the run, end a detour that nobody has seen? */
static bool leaves_as_in_run(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t step = g_array_index(r->x->h->step_of, uint32_t, e);
	const struct thread_history *th = &r->x->h->threads[r->t->events[e].thread];
	return r->detours->len > 0 && step != NONE &&
	       detours_end(r, state, e, g_array_index(th->prefixes, uint64_t, step + 1));
}

/* May the event come next with the outcome that it has in the run? */
static bool comes_as_in_run(const struct reach *r, const uint32_t *state, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	const struct view_call *call = view_call_of(r->x->h->view, e);
	if (event_inert(x))
		return true;
	if (r->left[e] || leaves_as_in_run(r, state, e) ||
	    sync_outcome(r, state, e).answer != ANSWER_SAME ||
	    (call && call->scope && call->scope->ret == NONE))
		return false;
	const struct abstract_step *step = step_in(r, state, call);
	if (step != NULL && !step->same)
		return false;
	if (turned_end(r, state, e) != NONE)
		return false;
	return !op_is_access(x->op) || reads_the_same(r, state, e);
}

static bool may_come(const struct reach *r, const uint32_t *state, uint32_t e)
{
	return e != r->x->limits->end && comes_as_in_run(r, state, e);
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
	const struct abstract_step *step = step_in(r, state, call);
	if (step != NULL)
		state[r->object_slot[call->object]] = step->next;
	if (op_is_access(x->op) && op_writes(x->op) && counter_of(r, e) != NONE) {
		count(r, state, e, counter_of(r, e));
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
			while (e != NONE && !r->visible[e] && may_come(r, state, e)) {
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

static void free_list(gpointer list)
{
	g_array_unref(list);
}

/* The state's entry in the table, or the free one for it. */
static uint32_t *known_slot(const struct reach *r, const uint32_t *state)
{
	uint32_t at = (uint32_t)hash_of(r, state) & r->known_mask;
	while (r->known[at] != 0 &&
	       memcmp(state_at(r, r->known[at] - 1), state, r->size * sizeof *state) != 0)
		at = (at + 1) & r->known_mask;
	return &r->known[at];
}

static void grow_known(struct reach *r)
{
	g_free(r->known);
	r->known_mask = r->known_mask * 2 + 1;
	r->known = g_new0(uint32_t, r->known_mask + 1);
	for (uint32_t s = 0; s < r->count; s++)
		*known_slot(r, state_at(r, s)) = s + 1;
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

/* -- reversals ----------------------------------------------------------------------------- */

static bool covers(const struct reach *r, uint32_t big, uint32_t small)
{
	const uint32_t *a = state_at(r, big), *b = state_at(r, small);
	for (uint32_t u = 0; u < r->threads; u++)
		if (a[u] < b[u])
			return false;
	return true;
}

/* The candidates with the same event and outcome. */
static GArray *candidates_like(struct reach *r, const struct candidate *c)
{
	uint64_t key = (hash_word(c->key) + c->event) * 31 + c->kind;
	key = key * 31 + c->thread;
	GArray *list = g_hash_table_lookup(r->candidates, &key);
	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, sizeof(struct candidate));
		g_hash_table_insert(r->candidates, g_memdup2(&key, sizeof key), list);
	}
	return list;
}

/* Is it a reversal at the end of a run, where no thread continues? */
static bool is_end(enum reversal_kind kind)
{
	return kind == REVERSAL_STUCK || kind == REVERSAL_IDLE;
}

static void add_candidate(struct reach *r, struct candidate c)
{
	if (c.event != NONE)
		c.thread = r->t->events[c.event].thread;
	if (r->barred != NULL && r->barred[c.thread] && !is_end(c.kind) &&
	    c.kind != REVERSAL_FINAL) {
		r->x->bounded = true;
		return;
	}
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

static enum answer look_at_read(struct reach *r, const uint32_t *state, uint32_t state_id,
                                uint32_t e)
{
	const struct reversal_limits *l = r->x->limits;
	uint32_t other;
	if (history_is_unseen(r->x->h, e)) /* else its variable's values are not known */
		return leaves_as_in_run(r, state, e) ? ANSWER_LEFT : ANSWER_OTHER;
	uint64_t sees = sees_in(r, state, e, &other);
	if ((r->left[e] && sees == history_seen(r->x->h, e)) ||
	    pasts_is_longer(l->pasts, history_after(r->x->h, e, sees)) ||
	    detours_end(r, state, e, history_after(r->x->h, e, sees)))
		return ANSWER_LEFT;
	if (awaits_in_vain(l->awaits, l->states, r->x->h, e, sees))
		return ANSWER_WAITS;
	if (sees != history_seen(r->x->h, e))
		add_candidate(r, (struct candidate){ .event = e,
		                                     .state = state_id,
		                                     .other = other,
		                                     .key = sees,
		                                     .text = counted_text(r, state, e),
		                                     .kind = REVERSAL_READ,
		                                     .op = OP_COUNT });
	return ANSWER_OTHER;
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
		key = hash_word(key) + is_done(r, state, g_array_index(rivals, uint32_t, i));
	if (turned != NONE)
		add_candidate(r, (struct candidate){ .event = call->event,
		                                     .state = state_id,
		                                     .other = turned,
		                                     .key = key,
		                                     .kind = REVERSAL_CALL,
		                                     .op = OP_COUNT });
}

/* The outcome of a use on the other side of its object's end of life. */
static uint64_t seen_beside(const struct reach *r, const uint32_t *state, uint32_t e,
                            uint32_t end)
{
	const struct event *x = &r->t->events[e];
	if (end > e)
		return SEEN_AFTER_END;
	if (!op_is_access(x->op) || !op_reads(x->op))
		return 0;
	uint32_t other;
	return sees_in(r, state, e, &other);
}

/* Can the thread have started, to be before this event? */
static bool stands(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t thread = r->t->events[e].thread, fork = r->t->threads[thread].fork;
	return state[thread] > 0 || fork == NONE || is_done(r, state, fork);
}

/* Adds reversals of a use to the other side of its object's end of life. */
static void look_at_use(struct reach *r, uint32_t state_id, uint32_t e, uint32_t end)
{
	add_candidate(r,
	              (struct candidate){ .event = e,
	                                  .state = state_id,
	                                  .other = end,
	                                  .key = seen_beside(r, state_at(r, state_id), e, end),
	                                  .kind = end > e ? REVERSAL_USE : REVERSAL_ALIVE,
	                                  .op = OP_COUNT });
}

/* A lock in a freed block may still be held. */
static bool waits_for_lock(const struct reach *r, uint32_t state_id, uint32_t e, uint32_t end)
{
	return op_acquires(r->t->events[e].op) && r->t->events[end].op != OP_DESTROY &&
	       sync_outcome(r, state_at(r, state_id), e).answer == ANSWER_WAITS;
}

/* A try that fails now, with which its thread ends a round that leads nowhere? */
static bool fails_in_vain(const struct reach *r, uint32_t e, const struct outcome *o)
{
	const struct reversal_limits *l = r->x->limits;
	return o->answer == ANSWER_OTHER && o->kind == REVERSAL_FAILS &&
	       awaits_fails_in_vain(l->awaits, l->states, r->x->h, e, o->op);
}

/* Other possible outcomes of an event that cannot come as in the run. */
static enum answer look_at_other(struct reach *r, uint32_t state_id, uint32_t e)
{
	const uint32_t *state = state_at(r, state_id);
	const struct event *x = &r->t->events[e];
	uint32_t end = turned_end(r, state, e);
	if (!sync_must_hold(r, state, e) ||
	    (end != NONE && waits_for_lock(r, state_id, e, end)))
		return ANSWER_WAITS;
	if (end != NONE) {
		look_at_use(r, state_id, e, end);
		return ANSWER_OTHER;
	}
	if (op_is_access(x->op)) {
		if (op_reads(x->op) && lifetimes_ended(r->x->h->lifetimes, e) == NONE)
			return look_at_read(r, state, state_id, e);
		return ANSWER_OTHER;
	}
	struct outcome o = sync_outcome(r, state, e);
	if (r->left[e] && o.answer == ANSWER_SAME)
		return ANSWER_LEFT;
	if (fails_in_vain(r, e, &o))
		return ANSWER_WAITS;
	if (o.answer == ANSWER_OTHER)
		add_candidate(r, (struct candidate){ .event = e,
		                                     .state = state_id,
		                                     .other = o.other,
		                                     .key = o.seen,
		                                     .kind = o.kind,
		                                     .op = o.op });
	return o.answer;
}

/* Examines the next event of a thread; adds a reversal if its outcome differs from the run. */
static enum answer look_at(struct reach *r, uint32_t state_id, uint32_t e)
{
	const uint32_t *state = state_at(r, state_id);
	const struct view_call *call = view_call_of(r->x->h->view, e);
	bool comes = comes_as_in_run(r, state, e);
	if (e == r->x->limits->end && comes)
		return ANSWER_OTHER; /* the program may end */
	if (g_array_index(r->x->h->step_of, uint32_t, e) == NONE)
		return comes ? ANSWER_SAME : ANSWER_WAITS;
	const struct abstract_step *step = step_in(r, state, call);
	if (step != NULL && !step->same)
		add_candidate(r, (struct candidate){ .event = e,
		                                     .state = state_id,
		                                     .other = NONE,
		                                     .key = step->number,
		                                     .text = step->text,
		                                     .kind = REVERSAL_RETURNS,
		                                     .op = OP_COUNT });
	if (call) {
		if (r->visible[e])
			look_at_call(r, state, state_id, call);
		return comes ? ANSWER_SAME : step && !step->same ? ANSWER_OTHER : ANSWER_WAITS;
	}
	return comes ? ANSWER_SAME : look_at_other(r, state_id, e);
}

/* -- ends ---------------------------------------------------------------------------------- */

static void add_end(struct reach *r, uint32_t state, uint32_t thread, uint32_t other,
                    enum reversal_kind kind, uint64_t key)
{
	add_candidate(r, (struct candidate){ .event = NONE,
	                                     .thread = thread,
	                                     .state = state,
	                                     .other = other,
	                                     .key = key,
	                                     .kind = kind,
	                                     .op = OP_COUNT });
}

/* A signal or broadcast that may have woken the thread. */
static uint32_t waker_of(const struct reach *r, const uint32_t *state, uint32_t wait)
{
	struct event_list list =
	        event_list_at(&r->t->index->object_events, r->t->events[wait].target);
	uint32_t waker = NONE;
	for (uint64_t i = 0; i < list.count; i++) {
		enum op op = r->t->events[list.items[i]].op;
		if (op_wakes(op) && is_done(r, state, list.items[i]))
			waker = list.items[i];
	}
	return waker;
}

/* Was the thread, whose last step is this wait, cut off before it released the mutex? */
static bool keeps_mutex(const struct reach *r, const uint32_t *state, uint32_t u, uint32_t wait)
{
	struct event_list mine = trace_thread_events(r->t, u);
	uint32_t i = state[u];
	while (mine.items[--i] != wait)
		if (r->t->events[mine.items[i]].op == OP_REL)
			return false;
	return r->t->events[wait].op == OP_WAIT;
}

/* May a thread that has done all its recorded steps without ending continue here? */
static enum answer look_at_going(struct reach *r, uint32_t state_id, uint32_t u)
{
	const uint32_t *state = state_at(r, state_id);
	uint32_t wait = sync_waits(r, state, u), tail = r->x->limits->tail;
	bool stuck = r->x->limits->stuck;
	if (wait != NONE && r->t->events[wait].op == OP_ARRIVE) {
		if (!bit_of(r, state, BIT_RELEASED, u))
			return ANSWER_WAITS;
		add_end(r, state_id, u, NONE, REVERSAL_GOES_ON, 0);
		return ANSWER_OTHER;
	}
	if (wait != NONE && bit_of(r, state, BIT_WOKEN, u)) {
		add_end(r, state_id, u, waker_of(r, state, wait), REVERSAL_WOKEN, 0);
		return ANSWER_OTHER;
	}
	if (wait != NONE && !(r->t->events[wait].flags & EVENT_TRY) &&
	    !keeps_mutex(r, state, u, wait))
		return ANSWER_WAITS;
	if (!stuck && (tail == NONE || !is_done(r, state, tail)))
		add_end(r, state_id, u, tail, REVERSAL_GOES_ON, 1);
	for (guint i = 0; i < r->keepers->len; i++) {
		uint32_t e = g_array_index(r->keepers, uint32_t, i);
		if (r->t->events[e].thread != u && !is_done(r, state, e))
			add_end(r, state_id, u, e, REVERSAL_GOES_ON, 2 + (uint64_t)e);
	}
	return ANSWER_WAITS; /* its wait is unknown */
}

/* Values of the variables of --final in a state (NULL: at the end of the run), as a number. */
static uint64_t end_in(const struct reach *r, const uint32_t *state)
{
	const GPtrArray *names = r->x->limits->finals;
	uint64_t number = 0;
	for (guint i = 0; i < names->len; i++) {
		struct wide range = final_range(r->t, names->pdata[i]);
		if (range.count == 0)
			continue;
		for (uint32_t k = 0; k < range.count; k++) {
			uint32_t v = range.first + k;
			bool shared = state != NULL && r->slot_of[v] != NONE;
			r->writers[k] = shared ? last_of(r, state, v) : final_write(r->t, v);
		}
		number += history_final(r->x->h, range, r->writers).prefix;
	}
	return number;
}

/* The number of the class of a run that ends here. */
static uint64_t class_in(const struct reach *r, const uint32_t *state)
{
	const struct history *h = r->x->h;
	uint64_t class_ = 0;
	for (uint32_t u = 0; u < r->threads; u++) {
		struct event_list mine = trace_thread_events(r->t, u);
		uint32_t steps = 0, fork = r->t->threads[u].fork;
		for (uint64_t i = state[u]; i-- > 0 && steps == 0;) {
			uint32_t step = g_array_index(h->step_of, uint32_t, mine.items[i]);
			steps = step == NONE ? 0 : step + 1;
		}
		if (fork == NONE || is_done(r, state, fork))
			class_ += history_class_part(h, u, steps);
	}
	return class_;
}

/* Adds other values of --final, when all threads have ended. */
static void look_at_final(struct reach *r, uint32_t state_id)
{
	const uint32_t *state = state_at(r, state_id);
	for (uint32_t u = 0; u < r->threads; u++)
		if (state[u] < trace_thread_events(r->t, u).count)
			return;
	if (end_in(r, state) != r->end)
		add_end(r, state_id, 0, NONE, REVERSAL_FINAL, end_in(r, state));
}

/* -- the search --------------------------------------------------------------------------- */

/* Must an equivalent thread go first? */
static bool is_behind(const struct reach *r, const uint32_t *state, uint32_t thread)
{
	uint32_t ahead = r->symmetry ? r->symmetry->ahead[thread] : NONE;
	return ahead != NONE && state[ahead] <= state[thread];
}

uint32_t reach_add_next(struct reach *r, uint32_t s, uint32_t u, uint32_t woken)
{
	memcpy(r->scratch, state_at(r, s), r->size * sizeof(uint32_t));
	take_event(r, r->scratch, reach_next(r, r->scratch, u), woken);
	take_all(r, r->scratch, NULL);
	return add_state(r, r->scratch, (struct origin){ s, u, woken });
}

uint32_t reach_waiters(const struct reach *r, uint32_t s, uint32_t u, uint32_t *waiters)
{
	uint32_t e = reach_next(r, state_at(r, s), u), count = 0;
	for (uint32_t w = 0; w < r->threads && r->t->events[e].op == OP_SIGNAL; w++)
		if (sync_may_wake(r, state_at(r, s), e, w))
			waiters[count++] = w;
	if (count == 0)
		waiters[count++] = NONE;
	return count;
}

enum answer reach_look_at(struct reach *r, uint32_t s, uint32_t u)
{
	uint32_t e = reach_next(r, state_at(r, s), u);
	const bool *goes_on = r->x->limits->goes_on;
	if (e == NONE) {
		uint32_t fork = r->t->threads[u].fork;
		if (u == r->x->limits->ender)
			return ANSWER_OTHER; /* the program may end */
		if (fork != NONE && !is_done(r, state_at(r, s), fork))
			return ANSWER_WAITS; /* it did nothing in the run, and has not begun
			                      * yet */
		return goes_on != NULL && goes_on[u] ? look_at_going(r, s, u) : ANSWER_WAITS;
	}
	return stands(r, state_at(r, s), e) ? look_at(r, s, e) : ANSWER_WAITS;
}

bool reach_stands(const struct reach *r, uint32_t s, uint32_t u)
{
	uint32_t e = reach_next(r, state_at(r, s), u);
	return e != NONE && stands(r, state_at(r, s), e);
}

bool reach_can_go(const struct reach *r, uint32_t s, uint32_t u)
{
	const uint32_t *state = state_at(r, s);
	uint32_t e = reach_next(r, state, u);
	return e != NONE && stands(r, state, e) && may_come(r, state, e);
}

bool reach_may_go(const struct reach *r, uint32_t s, uint32_t u, enum answer answer)
{
	return answer == ANSWER_SAME && reach_next(r, state_at(r, s), u) != NONE &&
	       !is_behind(r, state_at(r, s), u);
}

/* Does the thread's next acquire begin a section in which a read has another outcome than in
 * the run? Checks the first read of each variable in the section. */
bool reach_is_premature(const struct reach *r, uint32_t s, uint32_t u)
{
	enum { MOST_AHEAD = 64 };
	const uint32_t *state = state_at(r, s);
	struct event_list mine = trace_thread_events(r->t, u);
	uint32_t e = reach_next(r, state, u), release = NONE;
	if (e == NONE || !op_acquires(r->t->events[e].op))
		return false;
	release = r->t->index->partner[e];
	for (uint64_t i = state[u] + 1; i < mine.count && i < state[u] + MOST_AHEAD; i++) {
		const struct event *x = &r->t->events[mine.items[i]];
		if (mine.items[i] == release || (op_is_access(x->op) && op_writes(x->op)))
			return false;
		if (op_is_access(x->op) && op_reads(x->op) && !event_inert(x) &&
		    !sees_the_same(r, state, mine.items[i]))
			return true;
	}
	return false;
}

/* May the event be a look without effect? If it is, and no other thread can continue, the
 * threads wait for ever. */
static bool may_be_in_vain(const struct reach *r, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	bool reads = op_is_access(x->op) && op_reads(x->op);
	bool tries = (op_acquires(x->op) && event_is_try(x)) || x->op == OP_TAKE;
	return r->x->limits->states[e] != 0 && (reads || tries);
}

static bool is_of_several(const struct reach *r, const struct event *x)
{
	struct wide run = event_variables(r->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		if (r->slot_of[v] != NONE)
			return true;
	return false;
}

/* The number of the thread's history with the outcome that its next event, a look, has in the
 * state; 0: not known. */
static uint64_t prefix_after_look(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t other;
	if (turned_end(r, state, e) != NONE || view_call_of(r->x->h->view, e) != NULL)
		return 0;
	if (op_is_access(r->t->events[e].op))
		return history_after(r->x->h, e, sees_in(r, state, e, &other));
	struct outcome o = sync_outcome(r, state, e);
	return o.answer == ANSWER_OTHER ? history_after_as(r->x->h, e, o.op, o.seen) : 0;
}

/* may_be_in_vain for an acquire that may begin a round in vain: would one of the thread's
 * reads, up to its next change of memory, have another outcome than in the run? *prefix: the
 * number of the thread's history with the first of them; 0: not known. */
static bool may_begin_in_vain(const struct reach *r, const uint32_t *state, uint32_t e,
                              uint64_t *prefix)
{
	enum { MOST_AHEAD = 64 };
	struct event_list mine = trace_thread_events(r->t, r->t->events[e].thread);
	uint64_t from = r->t->index->position[e];
	*prefix = 0;
	if (!awaits_begins(r->x->limits->awaits, r->x->limits->states, r->x->h, e))
		return false;
	for (uint64_t i = from + 1; i < mine.count && i < from + MOST_AHEAD; i++) {
		const struct event *x = &r->t->events[mine.items[i]];
		if (event_inert(x) || memory_is_section(x) || !op_is_access(x->op))
			continue;
		if (op_reads(x->op) && !sees_the_same(r, state, mine.items[i])) {
			*prefix = prefix_after_look(r, state, mine.items[i]);
			return true;
		}
		if (x->op != OP_RMW && op_writes(x->op) && is_of_several(r, x))
			return false;
	}
	return from + MOST_AHEAD <= mine.count;
}

/* Does the thread stand before a look that may be without effect, by the answer of
 * reach_look_at? *prefix: as above. */
static bool stands_before_look(const struct reach *r, uint32_t s, uint32_t thread,
                               enum answer answer, uint64_t *prefix)
{
	const uint32_t *state = state_at(r, s);
	uint32_t e = reach_next(r, state, thread);
	*prefix = 0;
	if (e == NONE)
		return false;
	if (answer == ANSWER_SAME)
		return stands(r, state, e) && may_begin_in_vain(r, state, e, prefix);
	if (answer != ANSWER_OTHER || !may_be_in_vain(r, e))
		return false;
	*prefix = prefix_after_look(r, state, e);
	return true;
}

/* The identity of a state in which no thread continues but by looks: the class of a run that
 * ends there, and what the looks see, which the class does not say. */
static uint64_t idle_key(const struct reach *r, uint32_t s, const struct thread_prefix *looks,
                         uint32_t count)
{
	uint64_t key = class_in(r, state_at(r, s));
	for (uint32_t i = 0; i < count; i++)
		key += history_summand(looks[i].prefix);
	return key;
}

uint32_t reach_look(struct reach *r, uint32_t s, uint32_t *threads)
{
	bool ends = true, waits = false;
	uint32_t count = 0, looks = 0;
	for (uint32_t u = 0; u < r->threads; u++) {
		bool stood = reach_stands(r, s, u);
		enum answer answer = reach_look_at(r, s, u);
		bool look =
		        ends && stands_before_look(r, s, u, answer, &r->looks[looks].prefix);
		ends &= answer == ANSWER_WAITS || look;
		looks += look;
		waits |= answer == ANSWER_WAITS && stood;
		if (reach_may_go(r, s, u, answer))
			threads[count++] = u;
	}
	if (r->x->limits->finals)
		look_at_final(r, s);
	if (ends && looks > 0)
		add_end(r, s, 0, NONE, REVERSAL_IDLE, idle_key(r, s, r->looks, looks));
	else if (ends && waits)
		add_end(r, s, 0, NONE, REVERSAL_STUCK, class_in(r, state_at(r, s)));
	return count;
}

bool reach_is_stopped(struct reach *r)
{
	r->x->stopped |= !progress_tick(r->x->limits->progress, 0, "states") ||
	                 reversals_out_of_time(r->x->limits);
	return r->x->stopped;
}

static uint64_t prefix_of(const struct reach *r, const struct candidate *c)
{
	const struct history *h = r->x->h;
	const GArray *prefixes = h->threads[c->thread].prefixes;
	if (c->event == NONE)
		return g_array_index(prefixes, uint64_t, h->threads[c->thread].events->len);
	if (c->kind == REVERSAL_CALL)
		return g_array_index(prefixes, uint64_t,
		                     g_array_index(h->step_of, uint32_t, c->event));
	return c->op == OP_COUNT ? history_after(h, c->event, c->key)
	                         : history_after_as(h, c->event, c->op, c->key);
}

/* Identified by the class that it would have; with the looks of REVERSAL_IDLE. (Their threads
 * are looked at again, which adds no candidate that is not there.) */
static void give_stuck(struct reach *r, const struct candidate *c)
{
	struct search *x = r->x;
	uint32_t looks = 0;
	r->looks[looks++] =
	        (struct thread_prefix){ .prefix = class_in(r, state_at(r, c->state)) };
	for (uint32_t u = 0; u < r->threads && c->kind == REVERSAL_IDLE; u++)
		looks += stands_before_look(r, c->state, u, reach_look_at(r, c->state, u),
		                            &r->looks[looks].prefix);
	struct reversal reversal = { .kind = c->kind,
		                     .event = NONE,
		                     .other = NONE,
		                     .thread = c->thread,
		                     .sequence = x->sequence,
		                     .parts = r->looks,
		                     .parts_count = looks };
	x->stopped |= !x->take(x->context, &reversal);
}

void reach_give(struct reach *r, const struct candidate *c)
{
	struct search *x = r->x;
	struct asked *a = ask_new(x, c->kind, c->event);
	const struct reversal_limits *l = x->limits;
	bool fresh = l->common == NULL || c->event == NONE || l->ended[c->thread];
	reach_sequence_to(r, c->state, x->sequence);
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
	a->thread = c->thread;
	a->prefix = prefix_of(r, c);
	a->seen = c->kind == REVERSAL_READ ? c->key : 0;
	if (c->kind == REVERSAL_FINAL)
		final_values(x, (const uint32_t *)(void *)x->sequence->data, x->sequence->len);
	if (is_end(c->kind))
		give_stuck(r, c);
	else if (fresh)
		give_part(x);
}

void reach_end(struct reach *r)
{
	guint calls = r->x->h->view->calls ? r->x->h->view->calls->len : 0;
	for (guint i = 0; i < calls; i++)
		if (r->rivals[i])
			g_array_unref(r->rivals[i]);
	g_free(r->rivals);
	g_free(r->object_slot);
	symmetry_free(r->symmetry);
	g_free(r->visible);
	g_free(r->left);
	g_free(r->slot_of);
	g_free(r->counters);
	g_clear_pointer(&r->values, g_array_unref);
	g_clear_pointer(&r->valued, g_hash_table_unref);
	g_clear_pointer(&r->texts, g_hash_table_unref);
	sync_release(r);
	g_array_unref(r->detours);
	g_array_unref(r->keepers);
	g_array_unref(r->races);
	g_hash_table_unref(r->raced);
	g_free(r->accesses);
	g_free(r->scratch);
	g_free(r->looks);
	g_free(r->barred);
	g_free(r->writers);
	g_array_unref(r->states);
	g_array_unref(r->origins);
	g_hash_table_unref(r->candidates);
	g_free(r->known);
}

void reach_begin(struct reach *r, struct search *x)
{
	const struct trace *t = x->t;
	*r = (struct reach){
		.x = x,
		.t = t,
		.threads = x->h->threads_count,
		.visible = g_new0(uint8_t, t->events_count + 1),
		.left = g_new0(bool, t->events_count + 1),
		.slot_of = g_new(uint32_t, t->variables_count + 1),
		.keepers = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.states = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.origins = g_array_new(FALSE, FALSE, sizeof(struct origin)),
		.candidates =
		        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_list),
		.races = g_array_new(FALSE, FALSE, sizeof(struct reach_race)),
		.raced = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
		.accesses = g_new(uint32_t, x->h->threads_count + 1),
		.known = g_new0(uint32_t, 1024),
		.known_mask = 1023,
		.rivals = g_new0(GArray *, x->h->view->calls ? x->h->view->calls->len + 1 : 1),
	};
	if (x->limits->preemptions != NONE)
		r->barred = g_new0(bool, r->threads + 1);
	prepare(r);
	begin_objects(r, r->scratch);
	take_all(r, r->scratch, NULL);
	add_state(r, r->scratch, (struct origin){ NONE, NONE, NONE });
}
