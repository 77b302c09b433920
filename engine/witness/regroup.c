/*
 * regroup.c - list scheduling of a witness (regroup.h).
 *
 * Conflicts give a graph over the positions of the sequence, and every topological order of it
 * is an equivalent run. Greedy schedules are tried: each stays on a thread until it must wait,
 * then a policy chooses the next. Every policy is tried forward and backward, and is abandoned
 * at the best number of switches so far. The position where a thread must wait only grows, so a
 * schedule costs the events, the edges, and for each switch the threads.
 */
#include "engine/witness/regroup.h"
#include "engine/base/hash.h"

#include <string.h>

/* An item that events conflict on. */
struct conflict_item {
	uint64_t key;
	uint32_t writer;  /* position + 1 of the last exclusive event */
	uint32_t readers; /* index + 1 in graph.readers: list of shared events since */
};

struct shared_use {
	uint32_t place, next;
};

/* Adjacency lists by position. */
struct adjacency {
	uint32_t *start, *items;
};

struct conflict_places {
	const struct trace *t;
	const uint32_t *events;
	uint32_t length, threads;
	struct conflict_item *resources; /* hash table; the size is a power of two */
	uint32_t mask, used;
	GArray *readers;           /* struct shared_use */
	GArray *from, *to;         /* uint32_t: edges between threads */
	uint32_t *last;            /* by thread: its last position so far + 1 */
	uint32_t *final;           /* by thread: its last place + 1 */
	GHashTable *stacks;        /* block -> thread whose stack it is + 1 */
	struct adjacency after[2]; /* successors, forward and backward */
	uint32_t *waits[2];        /* by position: number of predecessors */
	struct adjacency own;      /* by thread: its positions */
};

/* -- resources ---------------------------------------------------------------------------- */

enum { KINDS = 8 }; /* of operands */

static uint64_t key_of(uint32_t kind, uint32_t index)
{
	return (uint64_t)index * KINDS + kind + 1;
}

static uint32_t slot_of(const struct conflict_places *g, uint64_t key)
{
	uint32_t i = hash_top(hash_word(key)) & g->mask;

	while (g->resources[i].key != 0 && g->resources[i].key != key)
		i = (i + 1) & g->mask;
	return i;
}

static void resources_grow(struct conflict_places *g)
{
	struct conflict_item *old = g->resources;
	uint32_t size = g->mask + 1;

	g->mask = 2 * size - 1;
	g->resources = g_new0(struct conflict_item, 2 * (size_t)size);
	for (uint32_t i = 0; i < size; i++) {
		if (old[i].key != 0)
			g->resources[slot_of(g, old[i].key)] = old[i];
	}
	g_free(old);
}

static struct conflict_item *resource_of(struct conflict_places *g, uint64_t key)
{
	uint32_t i = slot_of(g, key);

	if (g->resources[i].key == key)
		return &g->resources[i];
	if (2 * ++g->used > g->mask) {
		resources_grow(g);
		i = slot_of(g, key);
	}
	g->resources[i].key = key;
	return &g->resources[i];
}

static uint32_t thread_at(const struct conflict_places *g, uint32_t place)
{
	return g->t->events[g->events[place]].thread;
}

static void add_edge(struct conflict_places *g, uint32_t from, uint32_t to)
{
	if (from == to || thread_at(g, from) == thread_at(g, to))
		return;
	g_array_append_val(g->from, from);
	g_array_append_val(g->to, to);
}

/* The event at `place` uses the resource, shared or exclusively. */
static void resource_use(struct conflict_places *g, uint64_t key, uint32_t place, bool shared)
{
	struct conflict_item *r = resource_of(g, key);

	if (r->writer != 0)
		add_edge(g, r->writer - 1, place);
	if (!shared) {
		for (uint32_t i = r->readers; i != 0;) {
			const struct shared_use *x =
			        &g_array_index(g->readers, struct shared_use, i - 1);

			add_edge(g, x->place, place);
			i = x->next;
		}
		r->writer = place + 1;
		r->readers = 0;
		return;
	}
	if (r->readers != 0) { /* a thread's later shared use covers its earlier one */
		struct shared_use *x =
		        &g_array_index(g->readers, struct shared_use, r->readers - 1);

		if (thread_at(g, x->place) == thread_at(g, place)) {
			x->place = place;
			return;
		}
	}
	struct shared_use x = { place, r->readers };

	g_array_append_val(g->readers, x);
	r->readers = g->readers->len;
}

/* A block by its name, since its lives are ordered; a stack by its thread. */
static void use_block(struct conflict_places *g, uint32_t block, uint32_t place)
{
	if (block == NONE)
		return;
	gpointer owner = g_hash_table_lookup(g->stacks, GUINT_TO_POINTER(block));
	if (owner != NULL)
		resource_use(g, key_of(OPERAND_THREAD, GPOINTER_TO_UINT(owner) - 1), place,
		             true);
	else
		resource_use(g, key_of(OPERAND_BLOCK, g->t->blocks[block].name), place, true);
}

static void use_variables(struct conflict_places *g, const struct event *x, uint32_t place)
{
	struct wide run = event_variables(g->t, x);
	uint32_t block = NONE;

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		resource_use(g, key_of(OPERAND_VARIABLE, v), place, !op_writes(x->op));
		if (g->t->variables[v].block != block) {
			block = g->t->variables[v].block;
			use_block(g, block, place);
		}
	}
}

static void use_operand(struct conflict_places *g, const struct event *x, uint32_t place)
{
	uint32_t kind = op_table[x->op].operand, target = x->target;
	bool shared = x->op == OP_RACQ || x->op == OP_RREL;

	if (op_is_access(x->op)) {
		use_variables(g, x, place);
		return;
	}
	if (kind == OPERAND_NOTHING || kind == OPERAND_NAME || target == NONE)
		return;
	if (kind == OPERAND_BLOCK)
		target = g->t->blocks[target].name;
	use_block(g, event_block_used(g->t, x), place);
	if (x->op == OP_JOIN && target < g->threads && g->last[target] != 0)
		add_edge(g, g->last[target] - 1, place);
	resource_use(g, key_of(kind, target), place, shared);
}

/* Adjacency lists by `from`. */
static struct adjacency make_edges(uint32_t count, const GArray *from, const GArray *to)
{
	struct adjacency e = { g_new0(uint32_t, count + 2), g_new(uint32_t, from->len + 1) };
	const uint32_t *f = (const uint32_t *)(void *)from->data;
	const uint32_t *x = (const uint32_t *)(void *)to->data;

	for (guint i = 0; i < from->len; i++)
		e.start[f[i] + 2]++;
	for (uint32_t i = 2; i < count + 2; i++)
		e.start[i] += e.start[i - 1];
	for (guint i = 0; i < from->len; i++)
		e.items[e.start[f[i] + 1]++] = x[i];
	return e;
}

static uint32_t *count_waits(uint32_t count, const GArray *to)
{
	uint32_t *waits = g_new0(uint32_t, count + 1);

	for (guint i = 0; i < to->len; i++)
		waits[g_array_index(to, uint32_t, i)]++;
	return waits;
}

static void make_threads(struct conflict_places *g)
{
	GArray *of = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), g->length);
	GArray *place = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), g->length);

	for (uint32_t i = 0; i < g->length; i++) {
		uint32_t u = thread_at(g, i);

		g_array_append_val(of, u);
		g_array_append_val(place, i);
		g->final[u] = i + 1;
	}
	g->own = make_edges(g->threads, of, place);
	g_array_unref(of);
	g_array_unref(place);
}

static void graph_init(struct conflict_places *g, const struct trace *t, const uint32_t *events,
                       uint32_t length)
{
	*g = (struct conflict_places){ .t = t,
		                       .events = events,
		                       .length = length,
		                       .threads = (uint32_t)t->threads_count,
		                       .mask = 1023 };
	g->resources = g_new0(struct conflict_item, g->mask + 1);
	g->readers = g_array_new(FALSE, FALSE, sizeof(struct shared_use));
	g->from = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g->to = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g->last = g_new0(uint32_t, g->threads + 1);
	g->final = g_new0(uint32_t, g->threads + 1);
	g->stacks = g_hash_table_new(NULL, NULL);
	for (uint32_t u = 0; u < g->threads; u++) {
		if (t->threads[u].stack != NONE)
			g_hash_table_insert(g->stacks, GUINT_TO_POINTER(t->threads[u].stack),
			                    GUINT_TO_POINTER(u + 1));
	}
	make_threads(g);
	for (uint32_t i = 0; i < length; i++) {
		const struct event *x = &t->events[events[i]];

		/* a stack lives from its thread's first event to its last */
		if (g->last[x->thread] == 0 || g->final[x->thread] == i + 1)
			resource_use(g, key_of(OPERAND_THREAD, x->thread), i, false);
		if (!event_inert(x))
			use_operand(g, x, i);
		else if (op_table[x->op].operand == OPERAND_OBJECT) /* after the alloc */
			use_block(g, t->objects[x->target].block, i);
		g->last[x->thread] = i + 1;
	}
	g->after[0] = make_edges(length, g->from, g->to);
	g->after[1] = make_edges(length, g->to, g->from);
	g->waits[0] = count_waits(length, g->to);
	g->waits[1] = count_waits(length, g->from);
}

static void graph_release(struct conflict_places *g)
{
	g_free(g->resources);
	g_array_unref(g->readers);
	g_array_unref(g->from);
	g_array_unref(g->to);
	g_free(g->last);
	g_free(g->final);
	g_hash_table_destroy(g->stacks);
	for (int i = 0; i < 2; i++) {
		g_free(g->after[i].start);
		g_free(g->after[i].items);
		g_free(g->waits[i]);
	}
	g_free(g->own.start);
	g_free(g->own.items);
}

/* -- scheduling --------------------------------------------------------------------------- */

struct greedy_schedule {
	const struct conflict_places *g;
	bool backward;
	uint32_t *waits; /* by place */
	uint32_t *at;    /* by thread: number of its positions done */
	uint32_t *reach; /* by thread: number that can be done without a switch */
	uint32_t *order; /* positions, the result */
	uint32_t done, switches;
};

static uint32_t own_count(const struct greedy_schedule *s, uint32_t u)
{
	return s->g->own.start[u + 1] - s->g->own.start[u];
}

/* The thread's i-th position in the direction of the schedule. */
static uint32_t own_place(const struct greedy_schedule *s, uint32_t u, uint32_t i)
{
	const struct adjacency *own = &s->g->own;

	return s->backward ? own->items[own->start[u + 1] - 1 - i]
	                   : own->items[own->start[u] + i];
}

/* Number of events that the thread can do now. */
static uint32_t run_length(struct greedy_schedule *s, uint32_t u)
{
	uint32_t count = own_count(s, u);

	s->reach[u] = MAX(s->reach[u], s->at[u]);
	while (s->reach[u] < count && s->waits[own_place(s, u, s->reach[u])] == 0)
		s->reach[u]++;
	return s->reach[u] - s->at[u];
}

static void schedule_thread(struct greedy_schedule *s, uint32_t u)
{
	const struct adjacency *after = &s->g->after[s->backward];

	while (run_length(s, u) > 0) {
		while (s->at[u] < s->reach[u]) {
			uint32_t place = own_place(s, u, s->at[u]++);

			s->order[s->done++] = place;
			for (uint32_t i = after->start[place]; i < after->start[place + 1]; i++)
				s->waits[after->items[i]]--;
		}
	}
}

typedef uint32_t way(struct greedy_schedule *s, uint32_t thread);

/* The thread that comes first in the sequence. */
static uint32_t earliest(struct greedy_schedule *s, uint32_t thread)
{
	uint32_t best = NONE, least = NONE;

	for (uint32_t u = 0; u < s->g->threads; u++) {
		if (run_length(s, u) == 0)
			continue;
		uint32_t place = own_place(s, u, s->at[u]);
		if (s->backward)
			place = s->g->length - 1 - place;
		if (best == NONE || place < least) {
			best = u;
			least = place;
		}
	}
	return best;
}

/* The thread that can do most. */
static uint32_t longest(struct greedy_schedule *s, uint32_t thread)
{
	uint32_t best = NONE, most = 0;

	for (uint32_t u = 0; u < s->g->threads; u++) {
		uint32_t length = run_length(s, u);

		if (length > most) {
			most = length;
			best = u;
		}
	}
	return best;
}

/* A thread that can finish, else the thread that can do least: the others' runs grow
 * meanwhile. */
static uint32_t shortest(struct greedy_schedule *s, uint32_t thread)
{
	uint32_t best = NONE, least = NONE;

	for (uint32_t u = 0; u < s->g->threads; u++) {
		uint32_t length = run_length(s, u);

		if (length == 0)
			continue;
		if (s->reach[u] == own_count(s, u))
			return u;
		if (best == NONE || length < least) {
			best = u;
			least = length;
		}
	}
	return best;
}

/* The thread that the last one waits for, transitively. */
static uint32_t awaited(struct greedy_schedule *s, uint32_t thread)
{
	const struct adjacency *before = &s->g->after[!s->backward];

	while (s->at[thread] < own_count(s, thread)) {
		uint32_t place = own_place(s, thread, s->at[thread]), next = NONE;

		if (s->waits[place] == 0)
			return thread;
		for (uint32_t i = before->start[place]; i < before->start[place + 1]; i++) {
			uint32_t p = before->items[i], u = thread_at(s->g, p);
			uint32_t index = s->at[u];

			if (index < own_count(s, u) &&
			    (s->backward ? own_place(s, u, index) >= p
			                 : own_place(s, u, index) <= p))
				next = u;
		}
		if (next == NONE)
			break;
		thread = next;
	}
	return earliest(s, thread);
}

static way *const ways[] = { longest, awaited, earliest, shortest };

/* Run a schedule; false when it reaches `limit` switches. */
static bool schedule_run(struct greedy_schedule *s, way *next, uint32_t limit)
{
	const struct conflict_places *g = s->g;

	memcpy(s->waits, g->waits[s->backward], g->length * sizeof(uint32_t));
	memset(s->at, 0, g->threads * sizeof(uint32_t));
	memset(s->reach, 0, g->threads * sizeof(uint32_t));
	s->done = s->switches = 0;
	uint32_t thread = earliest(s, 0);
	schedule_thread(s, thread);
	while (s->done < g->length && ++s->switches < limit) {
		thread = next(s, thread);
		BUG_ON(thread == NONE); /* the graph agrees with the sequence */
		schedule_thread(s, thread);
	}
	return s->done == g->length && s->switches < limit;
}

uint32_t witness_count_switches(const struct trace *t, const uint32_t *events, uint32_t length)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < length; i++)
		n += t->events[events[i]].thread != t->events[events[i - 1]].thread;
	return n;
}

/* Keep the schedule if it is better than `best`. */
static bool schedule_keep(const struct greedy_schedule *s, uint32_t *best,
                          uint32_t *best_switches, uint32_t *scratch, uint32_t whole)
{
	const struct conflict_places *g = s->g;

	for (uint32_t i = 0; i < g->length; i++)
		scratch[i] = g->events[s->order[s->backward ? g->length - 1 - i : i]];
	uint32_t n = witness_count_switches(g->t, scratch,
	                                    whole); /* includes switches to the fixed events */
	if (n >= *best_switches)
		return false;
	*best_switches = n;
	memcpy(best, scratch, g->length * sizeof(uint32_t));
	return true;
}

bool witness_regroup(const struct trace *t, GArray *events, uint32_t fixed)
{
	const uint32_t *old = (const uint32_t *)(void *)events->data;
	uint32_t whole = events->len, length = whole > fixed ? whole - fixed : 0;
	uint32_t best = witness_count_switches(trace_recorded(t), old, whole);
	struct greedy_schedule s;
	struct conflict_places g;
	bool better = false;

	t = trace_recorded(t);
	if (length < 3 || best < 2)
		return false;
	graph_init(&g, t, old, length);
	s = (struct greedy_schedule){ .g = &g,
		                      .waits = g_new(uint32_t, length),
		                      .at = g_new(uint32_t, g.threads + 1),
		                      .reach = g_new(uint32_t, g.threads + 1),
		                      .order = g_new(uint32_t, length) };
	uint32_t *scratch = g_memdup2(old, whole * sizeof(uint32_t));
	uint32_t *result = g_memdup2(old, whole * sizeof(uint32_t));
	for (size_t i = 0; i < 2 * G_N_ELEMENTS(ways); i++) {
		s.backward = i % 2;
		if (schedule_run(&s, ways[i / 2], best))
			better |= schedule_keep(&s, result, &best, scratch, whole);
	}
	if (better)
		memcpy(events->data, result, whole * sizeof(uint32_t));
	g_free(scratch);
	g_free(result);
	g_free(s.waits);
	g_free(s.at);
	g_free(s.reach);
	g_free(s.order);
	graph_release(&g);
	return better;
}
