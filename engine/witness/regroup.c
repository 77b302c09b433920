/*
 * regroup.c - schedules of a witness with few context switches (regroup.h).
 *
 * Conflicts give a graph over the positions of the sequence, and every topological order of it
 * is an equivalent run. A beam search goes through these: a schedule goes on with a thread
 * until that must wait; of all schedules with the same number of switches those that have done
 * most are continued. It is done forward and backward. The position where a thread must wait
 * only grows, so a search costs the events and the edges for each schedule that is kept, and
 * for each switch the threads; the more these are, the fewer schedules are kept.
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
	uint32_t *rank;            /* by position: number of its thread's positions before it */
	struct adjacency own;      /* by thread: its positions */
};

/* -- resources ---------------------------------------------------------------------------- */

enum { KINDS = 8 }; /* of operands */
/* Bounds on the schedules kept, and on their number times switches times threads. */
enum { BEAM_WIDTH = 16, BEAM_WORK = 4000000 };

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

static void make_threads(struct conflict_places *g)
{
	g_autoptr(GArray) of = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), g->length);
	g_autoptr(GArray) place = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), g->length);

	for (uint32_t i = 0; i < g->length; i++) {
		uint32_t u = thread_at(g, i);

		g_array_append_val(of, u);
		g_array_append_val(place, i);
		g->final[u] = i + 1;
	}
	g->own = make_edges(g->threads, of, place);
	g->rank = g_new(uint32_t, g->length + 1);
	for (uint32_t u = 0; u < g->threads; u++)
		for (uint32_t i = g->own.start[u]; i < g->own.start[u + 1]; i++)
			g->rank[g->own.items[i]] = i - g->own.start[u];
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
	}
	g_free(g->rank);
	g_free(g->own.start);
	g_free(g->own.items);
}

/* -- scheduling --------------------------------------------------------------------------- */

/* The prefix of a schedule; the set of its events decides which may follow. */
struct begun_schedule {
	uint32_t *at;    /* by thread: number of its positions done */
	uint32_t *reach; /* by thread: number that can be done without a switch, as far as known
	                  */
	uint32_t done, thread;
	uint64_t hash; /* of `at` and `thread` */
	uint32_t run;  /* index of its last run in beam.runs */
};

/* A run of one thread in a schedule, and the runs before it. */
struct thread_run {
	uint32_t before;             /* index of the run before, or NONE */
	uint32_t thread, begin, end; /* of the thread's positions */
};

struct run_choice {
	uint32_t from; /* index of the schedule that it continues */
	uint32_t thread, done;
	uint64_t hash;
};

/* The best `width` prefixes of schedules with the same number of switches. */
struct beam {
	const struct conflict_places *g;
	bool backward;
	uint32_t width, count;
	struct begun_schedule *now, *next;
	GArray *runs;    /* struct thread_run */
	GArray *choices; /* struct run_choice */
};

static uint32_t own_count(const struct conflict_places *g, uint32_t u)
{
	return g->own.start[u + 1] - g->own.start[u];
}

/* The thread's i-th position in the direction of the schedule. */
static uint32_t own_place(const struct beam *b, uint32_t u, uint32_t i)
{
	const struct adjacency *own = &b->g->own;

	return b->backward ? own->items[own->start[u + 1] - 1 - i]
	                   : own->items[own->start[u] + i];
}

/* Has the schedule done this position? */
static bool has_done(const struct beam *b, const struct begun_schedule *s, uint32_t place)
{
	uint32_t u = thread_at(b->g, place), rank = b->g->rank[place];

	return (b->backward ? own_count(b->g, u) - 1 - rank : rank) < s->at[u];
}

static bool can_go(const struct beam *b, const struct begun_schedule *s, uint32_t place)
{
	const struct adjacency *before = &b->g->after[!b->backward];

	for (uint32_t i = before->start[place]; i < before->start[place + 1]; i++)
		if (!has_done(b, s, before->items[i]))
			return false;
	return true;
}

static void find_reach(const struct beam *b, struct begun_schedule *s, uint32_t u)
{
	uint32_t count = own_count(b->g, u);

	s->reach[u] = MAX(s->reach[u], s->at[u]);
	while (s->reach[u] < count && can_go(b, s, own_place(b, u, s->reach[u])))
		s->reach[u]++;
}

static uint64_t hash_of_place(uint32_t u, uint32_t at)
{
	return hash_word((uint64_t)u << 32 | at);
}

/* Adds the schedules that continue with another thread for as long as it can run. */
static void add_choices(struct beam *b, uint32_t from)
{
	struct begun_schedule *s = &b->now[from];

	for (uint32_t u = 0; u < b->g->threads; u++) {
		if (u == s->thread || s->at[u] == own_count(b->g, u))
			continue;
		find_reach(b, s, u);
		if (s->reach[u] == s->at[u])
			continue;
		struct run_choice c = { .from = from,
			                .thread = u,
			                .done = s->done + s->reach[u] - s->at[u] };
		c.hash = s->hash ^ hash_of_place(u, s->at[u]) ^ hash_of_place(u, s->reach[u]);
		g_array_append_val(b->choices, c);
	}
}

/* Orders schedules by the events done, most first; equal ones are adjacent. */
static int by_done(const void *a, const void *b)
{
	const struct run_choice *x = a, *y = b;

	if (x->done != y->done)
		return x->done > y->done ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static void take_choice(struct beam *b, const struct run_choice *c, struct begun_schedule *to)
{
	const struct begun_schedule *s = &b->now[c->from];
	size_t size = b->g->threads * sizeof(uint32_t);
	struct thread_run run = { s->run, c->thread, s->at[c->thread], s->reach[c->thread] };

	memcpy(to->at, s->at, size);
	memcpy(to->reach, s->reach, size);
	to->at[c->thread] = s->reach[c->thread];
	to->done = c->done;
	to->thread = c->thread;
	to->hash = c->hash;
	to->run = b->runs->len;
	g_array_append_val(b->runs, run);
}

/* Continue every schedule by one run. */
static void beam_step(struct beam *b)
{
	uint32_t kept = 0;

	g_array_set_size(b->choices, 0);
	for (uint32_t i = 0; i < b->count; i++)
		add_choices(b, i);
	BUG_ON(b->choices->len == 0); /* the graph agrees with the sequence */
	g_array_sort(b->choices, by_done);
	for (guint i = 0; i < b->choices->len && kept < b->width; i++) {
		const struct run_choice *c = &g_array_index(b->choices, struct run_choice, i);

		if (i == 0 || c->hash != c[-1].hash || c->thread != c[-1].thread)
			take_choice(b, c, &b->next[kept++]);
	}
	struct begun_schedule *old = b->now;

	b->now = b->next;
	b->next = old;
	b->count = kept;
}

/* The events of the best schedule. */
static void beam_events(const struct beam *b, uint32_t *events)
{
	uint32_t left = b->g->length;

	for (uint32_t r = b->now[0].run; r != NONE;) {
		const struct thread_run *x = &g_array_index(b->runs, struct thread_run, r);

		for (uint32_t i = x->end; i-- > x->begin;) {
			uint32_t to = --left;

			events[b->backward ? b->g->length - 1 - to : to] =
			        b->g->events[own_place(b, x->thread, i)];
		}
		r = x->before;
	}
}

static struct begun_schedule *new_schedules(uint32_t count, uint32_t threads)
{
	struct begun_schedule *s = g_new0(struct begun_schedule, count);

	for (uint32_t i = 0; i < count; i++) {
		s[i].at = g_new0(uint32_t, threads + 1);
		s[i].reach = g_new0(uint32_t, threads + 1);
	}
	return s;
}

static void free_schedules(struct begun_schedule *s, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		g_free(s[i].at);
		g_free(s[i].reach);
	}
	g_free(s);
}

/* Find a schedule with fewer runs than `most` into `events`; false: none was found. */
static bool beam_search(const struct conflict_places *g, bool backward, uint32_t most,
                        uint32_t *events)
{
	uint64_t step = (uint64_t)g->threads * most;
	struct beam b = { .g = g,
		          .backward = backward,
		          .width = (uint32_t)CLAMP(BEAM_WORK / MAX(step, 1), 1, BEAM_WIDTH),
		          .count = 1,
		          .runs = g_array_new(FALSE, FALSE, sizeof(struct thread_run)),
		          .choices = g_array_new(FALSE, FALSE, sizeof(struct run_choice)) };
	uint32_t width = b.width, runs = 0;

	b.now = new_schedules(width, g->threads);
	b.next = new_schedules(width, g->threads);
	b.now[0].thread = b.now[0].run = NONE;
	while (b.now[0].done < g->length && runs < most) {
		beam_step(&b);
		runs++;
	}
	bool found = b.now[0].done == g->length;

	if (found)
		beam_events(&b, events);
	free_schedules(b.now, width);
	free_schedules(b.next, width);
	g_array_unref(b.runs);
	g_array_unref(b.choices);
	return found;
}

uint32_t witness_count_switches(const struct trace *t, const uint32_t *events, uint32_t length)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < length; i++)
		n += t->events[events[i]].thread != t->events[events[i - 1]].thread;
	return n;
}

bool witness_regroup(const struct trace *t, GArray *events, uint32_t fixed)
{
	const uint32_t *old = (const uint32_t *)(void *)events->data;
	uint32_t whole = events->len, length = whole > fixed ? whole - fixed : 0;
	uint32_t best = witness_count_switches(trace_recorded(t), old, whole);
	struct conflict_places g;
	bool better = false;

	t = trace_recorded(t);
	if (length < 3 || best < 2)
		return false;
	graph_init(&g, t, old, length);
	g_autofree uint32_t *trial = g_memdup2(old, whole * sizeof(uint32_t));
	g_autofree uint32_t *result = g_memdup2(old, whole * sizeof(uint32_t));
	for (int backward = 0; backward < 2; backward++) {
		if (!beam_search(&g, backward, best + 1, trial))
			continue;
		uint32_t n =
		        witness_count_switches(t, trial, whole); /* with the fixed events */
		if (n >= best)
			continue;
		best = n;
		memcpy(result, trial, length * sizeof(uint32_t));
		better = true;
	}
	if (better)
		memcpy(events->data, result, whole * sizeof(uint32_t));
	graph_release(&g);
	return better;
}
