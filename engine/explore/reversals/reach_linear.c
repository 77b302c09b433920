/*
 * reach_linear.c - the schedules of a run's class by the order of calls and returns: is the
 * history of each linearizable?
 *
 * A class does not fix which invocation returns before which is called. The more such pairs a
 * schedule has, the fewer orders explain its history; so calls come as late as they can, just
 * before the first event of the invocation that others could notice, and returns as early, just
 * after the last. What is left to choose is the order of events that others notice: the paths
 * through the states of the run (reach.c). Each is followed with the set of configurations that
 * explain its history so far (linear.h). Of two sets in one state the one with fewer
 * configurations is enough.
 *
 * Results that an invocation has later in the run are used before it returns. So an empty set
 * counts only when all invocations that ran by then have returned: then no order explains the
 * history up to there.
 */
#include "engine/base/hash.h"
#include "engine/explore/reversals/reach_private.h"

/* Configurations in order; or none, and `owed`. */
struct set {
	struct linear_config *configs; /* owned */
	uint32_t count;
	uint64_t owed; /* bits by thread: invocations that must return before it counts */
	bool unclear;  /* effects left a result open: configurations may be missing */
};

struct node {
	uint32_t state, set;
	uint32_t before;      /* the node before, or NONE */
	struct origin origin; /* the step from there */
	uint32_t next;        /* of its state, or NONE */
};

struct calls_search {
	struct reach *r;
	const struct linear_part *part;
	struct linear *linear;
	uint32_t *begins;  /* by invocation: the event by which it has been called, or NONE */
	GPtrArray *sets;   /* struct set *, owned */
	GHashTable *known; /* struct set * -> its number + 1 */
	GArray *nodes;     /* struct node */
	GArray *first;     /* uint32_t, by state: its nodes, or NONE */
	GArray *running, *in, *out; /* scratch: invocations; struct linear_config */
	uint32_t found;             /* a node whose history is not linearizable, or NONE */
	bool undecided;
};

/* -- where invocations begin --------------------------------------------------------------- */

/* Can the event's place matter to other threads? */
static bool is_noticed(const struct reach *r, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	return r->visible[e] ||
	       (!event_inert(x) && op_table[x->op].class == OP_CLASS_SYNC && x->op != OP_FENCE);
}

/* Makes the events visible at which invocations begin. */
static void show_calls(struct reach *r)
{
	struct calls_search *s = r->x->calls;
	for (uint32_t i = 0; i < s->part->h.count; i++) {
		const struct linear_call *c = &s->part->calls[i];
		struct event_list mine =
		        trace_thread_events(r->t, r->t->events[c->call].thread);
		s->begins[i] = NONE;
		for (uint64_t k = r->t->index->position[c->call]; k < mine.count; k++) {
			uint32_t e = mine.items[k];
			if (e == c->ret || s->begins[i] != NONE)
				break;
			if (is_noticed(r, e))
				s->begins[i] = e;
		}
		if (s->begins[i] == NONE && c->ret != NONE)
			s->begins[i] = c->call; /* in one moment, anywhere */
		if (s->begins[i] != NONE)
			r->visible[s->begins[i]] = true;
	}
}

static bool has_begun(const struct calls_search *s, const uint32_t *state, uint32_t call)
{
	return s->begins[call] != NONE && is_done(s->r, state, s->begins[call]);
}

/* Has the call returned in the state? The last event of the thread that ends the program is
 * not taken in a state. */
static bool has_returned(const struct calls_search *s, const uint32_t *state, uint32_t call)
{
	const struct linear_call *c = &s->part->calls[call];
	const struct trace *t = s->r->t;
	return c->ret != NONE && has_begun(s, state, call) &&
	       (is_done(s->r, state, c->ret) ||
	        (c->ret == s->r->x->limits->end && c->ret != c->call &&
	         t->index->position[c->ret] == state[t->events[c->ret].thread]));
}

/* -- sets ---------------------------------------------------------------------------------- */

static int by_config(const void *a, const void *b)
{
	const struct linear_config *x = a, *y = b;
	if (x->taken != y->taken)
		return x->taken < y->taken ? -1 : 1;
	return x->state < y->state ? -1 : x->state > y->state;
}

static guint set_hash(gconstpointer p)
{
	const struct set *s = p;
	uint64_t h = s->owed * 2 + s->unclear;
	for (uint32_t i = 0; i < s->count; i++)
		h = (h ^ s->configs[i].taken ^ (uint64_t)s->configs[i].state << 32) *
		    HASH_FACTOR;
	return (guint)(h >> 32);
}

static gboolean set_equal(gconstpointer a, gconstpointer b)
{
	const struct set *x = a, *y = b;
	if (x->count != y->count || x->owed != y->owed || x->unclear != y->unclear)
		return false;
	for (uint32_t i = 0; i < x->count; i++)
		if (by_config(&x->configs[i], &y->configs[i]) != 0)
			return false;
	return true;
}

static void set_free(gpointer data)
{
	struct set *s = data;
	g_free(s->configs);
	g_free(s);
}

/* The number of a set of these configurations. */
static uint32_t set_number(struct calls_search *s, GArray *configs, uint64_t owed, bool unclear)
{
	g_array_sort(configs, by_config);
	struct set set = { .configs = (struct linear_config *)(void *)configs->data,
		           .count = configs->len,
		           .owed = owed,
		           .unclear = unclear };
	uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(s->known, &set));
	if (known > 0)
		return known - 1;
	struct set *fresh = g_memdup2(&set, sizeof set);
	fresh->configs = g_memdup2(set.configs, sizeof *set.configs * set.count);
	g_ptr_array_add(s->sets, fresh);
	g_hash_table_insert(s->known, fresh, GUINT_TO_POINTER(s->sets->len));
	return s->sets->len - 1;
}

static const struct set *set_at(const struct calls_search *s, uint32_t set)
{
	return s->sets->pdata[set];
}

/* Is each configuration of `a` also in `b`? Then every failure from `b` on is one from `a`
 * on. */
static bool is_within(const struct set *a, const struct set *b)
{
	if (a->unclear && !b->unclear)
		return false;
	if (a->count == 0)
		return b->count > 0 || (a->owed & ~b->owed) == 0;
	uint32_t i = 0;
	for (uint32_t k = 0; k < b->count && i < a->count; k++)
		i += by_config(&a->configs[i], &b->configs[k]) == 0;
	return i == a->count;
}

/* -- steps --------------------------------------------------------------------------------- */

static uint64_t own_bit(const struct calls_search *s, uint32_t call)
{
	return UINT64_C(1) << s->part->calls[call].thread;
}

/* Finds the invocations that have run in the step from `before` to `after`; returns the
 * number that return in it. */
static uint32_t find_running(struct calls_search *s, const uint32_t *before,
                             const uint32_t *after)
{
	uint32_t returns = 0;
	g_array_set_size(s->running, 0);
	for (uint32_t i = 0; i < s->part->h.count; i++) {
		if (!has_begun(s, after, i) || has_returned(s, before, i))
			continue;
		g_array_append_val(s->running, i);
		returns += has_returned(s, after, i);
	}
	return returns;
}

/* Handles one return. False: no configuration is left; *owed: the invocations still running. */
static bool return_from(struct calls_search *s, guint at, bool *unclear, uint64_t *owed)
{
	uint32_t call = g_array_index(s->running, uint32_t, at), open = NONE;
	g_array_set_size(s->out, 0);
	if (!linear_return(s->linear, s->in, (const uint32_t *)(void *)s->running->data,
	                   s->running->len, call, s->out, &open))
		s->undecided = true;
	*unclear |= open != NONE;
	g_array_remove_index(s->running, at);
	*owed = 0;
	for (guint i = 0; i < s->running->len; i++) {
		uint32_t other = g_array_index(s->running, uint32_t, i);
		if (s->part->calls[other].ret != NONE)
			*owed |= own_bit(s, other);
	}
	GArray *old = s->in;
	s->in = s->out;
	s->out = old;
	return s->in->len > 0;
}

/* The set after the step to `after`; NONE: unknown. *found: no order explains the history up
 * to there. */
static uint32_t set_after(struct calls_search *s, uint32_t set_id, const uint32_t *before,
                          const uint32_t *after, bool *found)
{
	struct set set = *set_at(s, set_id);
	*found = false;
	if (find_running(s, before, after) == 0)
		return set_id;
	g_array_set_size(s->in, 0);
	g_array_append_vals(s->in, set.configs, set.count);
	for (guint i = 0; i < s->running->len;) {
		uint32_t call = g_array_index(s->running, uint32_t, i);
		if (!has_returned(s, after, call)) {
			i++;
			continue;
		}
		if (set.count == 0) {
			set.owed &= ~own_bit(s, call);
			g_array_remove_index(s->running, i);
		} else if (!return_from(s, i, &set.unclear, &set.owed)) {
			set.count = 0;
			s->undecided |= set.unclear;
		} else {
			set.owed = 0;
		}
		if (s->undecided)
			return NONE;
		i = 0;
	}
	*found = set.count == 0 && set.owed == 0;
	return set_number(s, s->in, set.owed, set.unclear);
}

static void add_node(struct calls_search *s, struct node n)
{
	uint32_t none = NONE;
	while (s->first->len <= n.state)
		g_array_append_val(s->first, none);
	uint32_t *first = &g_array_index(s->first, uint32_t, n.state);
	for (uint32_t i = *first; i != NONE; i = g_array_index(s->nodes, struct node, i).next)
		if (is_within(set_at(s, g_array_index(s->nodes, struct node, i).set),
		              set_at(s, n.set)))
			return;
	n.next = *first;
	*first = s->nodes->len;
	g_array_append_val(s->nodes, n);
}

static void take_step(struct calls_search *s, uint32_t from, uint32_t thread, uint32_t woken)
{
	struct node n = g_array_index(s->nodes, struct node, from);
	uint32_t to = reach_add_next(s->r, n.state, thread, woken);
	bool found;
	uint32_t set =
	        set_after(s, n.set, reach_state(s->r, n.state), reach_state(s->r, to), &found);
	if (set == NONE)
		return;
	if (found && s->found == NONE)
		s->found = s->nodes->len;
	struct node then = { .state = to,
		             .set = set,
		             .before = from,
		             .origin = { NONE, thread, woken },
		             .next = NONE };
	if (found)
		g_array_append_val(s->nodes, then);
	else
		add_node(s, then);
}

static void search(struct calls_search *s, uint32_t most)
{
	struct reach *r = s->r;
	uint32_t *waiters = g_new(uint32_t, r->threads + 1);
	struct linear_config config = linear_first(s->linear);
	g_array_append_val(s->in, config);
	add_node(s, (struct node){ .state = 0,
	                           .set = set_number(s, s->in, 0, false),
	                           .before = NONE,
	                           .next = NONE });
	for (guint i = 0; i < s->nodes->len && s->found == NONE && !s->undecided; i++) {
		uint32_t state = g_array_index(s->nodes, struct node, i).state;
		for (uint32_t u = 0; u < r->threads && s->found == NONE; u++) {
			uint32_t ways = reach_can_go(r, state, u)
			                        ? reach_waiters(r, state, u, waiters)
			                        : 0;
			for (uint32_t w = 0; w < ways && s->found == NONE; w++)
				take_step(s, i, u, waiters[w]);
		}
		s->undecided |= s->nodes->len > most || r->count > most ||
		                (i % 256 == 0 && reach_is_stopped(r));
	}
	g_free(waiters);
}

/* -- the schedule -------------------------------------------------------------------------- */

static const uint32_t *find_call(const struct calls_search *s, uint32_t event)
{
	for (uint32_t i = 0; i < s->part->h.count; i++)
		if (s->part->calls[i].call == event)
			return &s->begins[i];
	return NULL;
}

/* Moves each call just before the event by which it has been called; drops one without such
 * an event. */
static void delay_calls(const struct calls_search *s, GArray *sequence)
{
	uint32_t threads = s->r->threads;
	GArray **held = g_new0(GArray *, threads + 1);
	uint32_t *until = g_new(uint32_t, threads + 1), length = sequence->len;
	GArray *all = g_array_copy(sequence);
	for (uint32_t u = 0; u < threads; u++)
		held[u] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_set_size(sequence, 0);
	for (uint32_t i = 0; i < length; i++) {
		uint32_t e = g_array_index(all, uint32_t, i);
		uint32_t u = s->r->t->events[e].thread;
		const uint32_t *begins = held[u]->len == 0 ? find_call(s, e) : NULL;
		if (begins != NULL && *begins != e) {
			until[u] = *begins;
		} else if (held[u]->len == 0 || until[u] == e) {
			g_array_append_vals(sequence, held[u]->data, held[u]->len);
			g_array_set_size(held[u], 0);
			g_array_append_val(sequence, e);
			continue;
		}
		g_array_append_val(held[u], e);
	}
	for (uint32_t u = 0; u < threads; u++)
		g_array_unref(held[u]);
	g_array_unref(all);
	g_free(held);
	g_free(until);
}

static void sequence_of(const struct calls_search *s, GArray *sequence)
{
	GArray *way = g_array_new(FALSE, FALSE, sizeof(struct origin));
	for (uint32_t i = s->found; i != NONE;) {
		const struct node *n = &g_array_index(s->nodes, struct node, i);
		if (n->before != NONE)
			g_array_append_val(way, n->origin);
		i = n->before;
	}
	reach_sequence(s->r, way, sequence);
	delay_calls(s, sequence);
	g_array_unref(way);
}

enum linear_answer reach_linear(struct search *x, const struct linear_part *part, uint32_t most)
{
	struct reach r;
	struct calls_search s = { .r = &r,
		                  .part = part,
		                  .linear = linear_new(&part->h, (uint64_t)most * 16),
		                  .begins = g_new(uint32_t, part->h.count + 1),
		                  .sets = g_ptr_array_new_with_free_func(set_free),
		                  .known = g_hash_table_new(set_hash, set_equal),
		                  .nodes = g_array_new(FALSE, FALSE, sizeof(struct node)),
		                  .first = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		                  .running = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		                  .in = g_array_new(FALSE, FALSE, sizeof(struct linear_config)),
		                  .out = g_array_new(FALSE, FALSE,
		                                     sizeof(struct linear_config)),
		                  .found = NONE };
	x->calls = &s;
	x->show_calls = show_calls;
	reach_begin(&r, x);
	search(&s, most);
	if (s.found != NONE)
		sequence_of(&s, x->sequence);
	reach_end(&r);
	x->calls = NULL;
	x->show_calls = NULL;
	linear_free(s.linear);
	g_hash_table_unref(s.known);
	g_ptr_array_unref(s.sets);
	GArray *arrays[] = { s.nodes, s.first, s.running, s.in, s.out };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_array_unref(arrays[i]);
	g_free(s.begins);
	return s.found != NONE ? LINEAR_NO : s.undecided ? LINEAR_UNDECIDED : LINEAR_YES;
}
