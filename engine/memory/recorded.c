/* recorded.c - see recorded.h. */
#include "engine/base/hash.h"
#include "engine/base/search.h"
#include "engine/memory/recorded.h"
#include "engine/memory/rounds.h"
#include "engine/trace/weak.h"

#include <stdlib.h>
#include <string.h>

static const char *const unmodelled_words[] = {
#define U(name, words) words,
	MEMORY_UNMODELLED(U)
#undef U
};

const char *memory_unmodelled_words(enum memory_unmodelled what)
{
	return unmodelled_words[what];
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ (b + HASH_FACTOR + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdull;
	return x ^ x >> 32;
}

/* ---- what is the same in all runs ---- */

guint memory_place_hash(const void *key)
{
	const struct memory_place *p = key;
	return (guint)mix(mix(p->base, p->offset), p->size);
}

gboolean memory_place_equal(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct memory_place)) == 0;
}

static void barrier_free(void *data)
{
	struct memory_barrier *b = data;
	g_hash_table_unref(b->threads);
	g_free(b);
}

void memory_world_init(struct memory_world *w)
{
	struct memory_ancestry root = { NONE, 0 };
	w->threads = g_array_new(FALSE, FALSE, sizeof(struct memory_ancestry));
	w->places = g_array_new(FALSE, FALSE, sizeof(struct memory_place));
	w->addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	w->initials = g_array_new(FALSE, FALSE, sizeof(struct memory_initial));
	w->number = g_hash_table_new_full(memory_place_hash, memory_place_equal, g_free, NULL);
	w->barriers = g_hash_table_new_full(NULL, NULL, NULL, barrier_free);
	g_array_append_val(w->threads, root);
}

void memory_world_release(struct memory_world *w)
{
	g_array_free(w->threads, TRUE);
	g_array_free(w->places, TRUE);
	g_array_free(w->addresses, TRUE);
	g_array_free(w->initials, TRUE);
	g_hash_table_unref(w->number);
	g_hash_table_unref(w->barriers);
}

static uint32_t thread_number(struct memory_world *w, uint32_t parent, uint32_t ordinal)
{
	struct memory_ancestry fresh = { parent, ordinal };
	for (guint i = 0; i < w->threads->len; i++) {
		const struct memory_ancestry *a =
		        &g_array_index(w->threads, struct memory_ancestry, i);
		if (a->parent == parent && a->ordinal == ordinal)
			return i;
	}
	g_array_append_val(w->threads, fresh);
	return w->threads->len - 1;
}

static uint32_t location_number(struct memory_world *w, const struct memory_place *place,
                                uint64_t address)
{
	gpointer known = g_hash_table_lookup(w->number, place);
	if (known != NULL)
		return GPOINTER_TO_UINT(known) - 1;
	struct memory_initial unknown = { .value = 0, .known = place->size == 0 };
	g_array_append_val(w->places, *place);
	g_array_append_val(w->addresses, address);
	g_array_append_val(w->initials, unknown);
	g_hash_table_insert(w->number, g_memdup2(place, sizeof *place),
	                    GUINT_TO_POINTER(w->places->len));
	return w->places->len - 1;
}

/* ---- blocks ---- */

struct block_life {
	uint64_t address, size, id;
	uint32_t from; /* event of its allocation; a stack: of its thread's creation */
};
struct memory_blocks {
	uint64_t *id; /* by block; 0: none */
	struct block_life *lives;
	uint32_t count;
};

static int by_address(const void *a, const void *b)
{
	const struct block_life *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

struct memory_blocks *memory_blocks_new(const struct trace *t, const uint32_t *thread)
{
	struct memory_blocks *b = g_new0(struct memory_blocks, 1);
	uint32_t *made = g_new0(uint32_t, t->threads_count + 1);
	b->id = g_new0(uint64_t, t->blocks_count + 1);
	b->lives = g_new0(struct block_life, t->blocks_count + 1);
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (x->op == OP_ALLOC && x->target < t->blocks_count)
			b->id[x->target] =
			        mix(mix(1, thread[x->thread]), ++made[x->thread]) | 1;
	}
	for (uint32_t i = 0; i < t->threads_count; i++)
		if (t->threads[i].stack != NONE)
			b->id[t->threads[i].stack] = mix(2, thread[i]) | 1;
	for (uint32_t i = 0; i < t->blocks_count; i++) {
		const struct block *k = &t->blocks[i];
		if (b->id[i] != 0 && k->address != 0)
			b->lives[b->count++] =
			        (struct block_life){ k->address, MAX(k->size, 1), b->id[i],
				                     k->alloc == NONE ? 0 : k->alloc };
	}
	qsort(b->lives, b->count, sizeof *b->lives, by_address);
	g_free(made);
	return b;
}

void memory_blocks_free(struct memory_blocks *b)
{
	if (b == NULL)
		return;
	g_free(b->id);
	g_free(b->lives);
	g_free(b);
}

/* The life of the block that contains the address at the event, or NULL. */
static const struct block_life *life_at(const struct memory_blocks *b, uint64_t address,
                                        uint32_t event)
{
	enum { BACK = 64 };
	uint32_t low = search_end(i, 0u, b->count, b->lives[i].address <= address);
	for (int i = 0; i < BACK && low > 0; i++, low--) {
		const struct block_life *l = &b->lives[low - 1];
		if (address - l->address < l->size && l->from <= event)
			return l;
	}
	return NULL;
}

/* A value that is the same in all runs: a pointer into a block becomes the block and the
 * offset in it. */
static uint64_t stable_value(const struct memory_blocks *b, uint64_t value, uint32_t event)
{
	const struct block_life *l = life_at(b, value, event);
	return l == NULL ? value : mix(l->id, value - l->address);
}

bool memory_place_of(const struct trace *t, const struct memory_blocks *blocks, uint32_t event,
                     struct memory_place *place)
{
	const struct event *x = &t->events[event];
	struct wide run = event_variables(t, x);
	const struct variable *first = &t->variables[run.first];
	uint32_t size = 0;
	for (uint32_t i = 0; i < run.count; i++)
		size += t->variables[run.first + i].size;
	memset(place, 0, sizeof *place);
	place->size = size;
	place->offset = first->address;
	if (first->block != NONE && blocks->id[first->block] != 0) {
		place->base = blocks->id[first->block];
		place->offset -= t->blocks[first->block].address;
	}
	return size > 0 && size <= 8;
}

/* ---- the walk over the trace ---- */

struct conversion {
	const struct trace *t;
	struct memory_world *world;
	struct memory_recorded *r;
	struct memory_blocks *blocks;
	enum memory_model model;
	const struct memory_choice *choice;
	uint32_t *last_store; /* by location: the last one of the trace, or NONE */
	uint32_t last_room;
	GQueue *waiting; /* TSO, by thread of the trace: events of stores that have not arrived
	                  */
	GHashTable *plain;    /* struct memory_place *: plain writes, their event + 1 */
	uint32_t room;        /* for r->event */
	struct cover *covers; /* by variable of the trace */
	uint32_t alive;       /* threads */
	struct memory_rounds rounds;
	uint32_t *look;  /* by thread of the trace: its last look in its place, or NONE */
	bool *store_due; /* by thread: that look is an update's, whose store has no look yet */
	bool *limited;   /* by thread: it waits for a condition, with a time limit */
	GHashTable *semaphores; /* address to object + 1 */
	GHashTable
	        *same; /* updates in rounds: event + 1 to the event of the store it read + 1 */
};

/* The bytes of a variable that are always accessed as a whole. */
struct cover {
	uint32_t location; /* the location whose events access it, + 1; 0: none yet */
	uint32_t writer;   /* the last plain write before these, + 1 */
	uint32_t storer;   /* thread that stored last while others were alive, + 1 */
	uint32_t behind;   /* the last plain write after an event, + 1 */
	bool plain_store;  /* stores by `storer` or others that are no updates */
	bool several;      /* several threads stored, not by updates alone, while others were
	                    * alive */
	/* TSO, while others were alive: */
	struct memory_place place; /* the first; size 0: none */
	uint32_t user;
	bool users, written, mixed;
};

static uint64_t site_of(const struct conversion *c, uint32_t event)
{
	uint32_t at = c->t->events[event].location;
	const struct location *l = &c->t->locations[at];
	return l->module != NONE ? l->address + 1 : at;
}

static void note_unmodelled(struct conversion *c, enum memory_unmodelled what)
{
	c->r->unmodelled |= 1u << what;
}

static void note_event(struct conversion *c, uint32_t id, uint32_t event)
{
	while (c->room <= id)
		c->room = c->room * 2 + 64;
	c->r->event = g_renew(uint32_t, c->r->event, c->room);
	c->r->event[id] = event;
}

/* Fill in the graph's event from the trace's. */
static void describe(const struct conversion *c, uint32_t event, struct memory_event *e)
{
	const struct event *x = &c->t->events[event];
	e->thread = c->r->thread[x->thread];
	e->order = x->flags & EVENT_ORDER_MASK;
	if (op_table[x->op].class != OP_CLASS_ACCESS && x->op != OP_FENCE)
		e->order = ORDER_PLAIN;
	e->site = site_of(c, event);
}

static uint32_t append(struct conversion *c, uint32_t event, struct memory_event *e)
{
	describe(c, event, e);
	uint32_t id = memory_append(c->r->graph, e);
	note_event(c, id, event);
	if (c->r->graph_of[event] == NONE)
		c->r->graph_of[event] = id;
	return id;
}

/* A thread's begin or end. */
static uint32_t append_edge(struct conversion *c, uint32_t thread, enum memory_kind kind)
{
	struct memory_event e = {
		.thread = thread, .kind = (uint8_t)kind, .location = NONE, .peer = NONE
	};
	uint32_t id = memory_append(c->r->graph, &e);
	note_event(c, id, NONE);
	return id;
}

/* The end of a thread; created where it is missing; NONE: the thread has no event at all. */
static uint32_t need_end(struct conversion *c, uint32_t thread)
{
	const struct memory_graph *g = c->r->graph;
	uint32_t last = thread < g->threads ? g->last[thread] : NONE;
	if (last == NONE || g->events[last].kind == MEMORY_END)
		return last;
	return append_edge(c, thread, MEMORY_END);
}

static uint64_t integer_of(const struct conversion *c, uint32_t event, bool written,
                           bool *known)
{
	const struct event *x = &c->t->events[event];
	struct value v = trace_value(c->t, x->aux);
	if (v.kind == V_PAIR)
		v = trace_value(c->t, written ? v.second : v.first);
	*known = x->aux != 0 && v.kind == V_INT;
	return *known ? stable_value(c->blocks, (uint64_t)v.integer, event) : 0;
}

/* The value that plain writes left at the place before its first event. */
static void learn_initial(struct conversion *c, struct memory_initial *i,
                          const struct memory_place *p, uint32_t event)
{
	uint32_t write = GPOINTER_TO_UINT(g_hash_table_lookup(c->plain, p));
	struct wide run = event_variables(c->t, &c->t->events[event]);
	bool any = false, exact = write != 0, known = false;
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		any |= c->covers[v].writer != 0;
		exact &= c->covers[v].writer == write;
	}
	uint64_t left = exact ? integer_of(c, write - 1, true, &known) : 0;
	if (known && i->known && left != i->value)
		g_array_append_val(c->r->mixed, *p);
	if (known && !i->known) {
		i->value = left;
		i->known = true;
	}
	i->written |= any && !known;
}

/* The initial store of the location; `event` is an access of it. */
static uint32_t need_init(struct conversion *c, uint32_t location, uint32_t event)
{
	struct memory_initial *i =
	        &g_array_index(c->world->initials, struct memory_initial, location);
	const struct memory_place *p =
	        &g_array_index(c->world->places, struct memory_place, location);
	if (p->size > 0)
		learn_initial(c, i, p, event);
	while (c->last_room <= location) {
		c->last_store = g_renew(uint32_t, c->last_store, c->last_room + 1);
		c->last_store[c->last_room++] = NONE;
	}
	uint32_t before = c->r->graph->count;
	uint32_t id = memory_init(c->r->graph, location, i->value);
	if (id == before)
		note_event(c, id, NONE);
	return id;
}

/* The store of the graph that an event of the trace made (an update's is its second event).
 * NONE for a plain write that is not in the graph. */
static uint32_t store_of(const struct conversion *c, uint32_t event)
{
	uint32_t id = event == NONE ? NONE : c->r->graph_of[event];
	gpointer same = g_hash_table_lookup(c->same, GUINT_TO_POINTER(event + 1));
	if (same != NULL)
		return GPOINTER_TO_UINT(same) - 1;
	return id != NONE && c->t->events[event].op == OP_RMW ? c->r->graph->events[id].po_next
	                                                      : id;
}

/* The last store of the thread to the location, if it has not arrived; else NONE. */
static uint32_t own_waiting(const struct conversion *c, uint32_t thread, uint32_t location)
{
	const struct memory_graph *g = c->r->graph;
	uint32_t i = thread < g->threads ? g->last[thread] : NONE;
	while (i != NONE &&
	       (g->events[i].kind != MEMORY_STORE || g->events[i].location != location))
		i = g->events[i].po_prev;
	return i != NONE && g->events[i].mo_prev == NONE ? i : NONE;
}

/* The store that the load of the event reads. */
static uint32_t source_of(struct conversion *c, uint32_t event, uint32_t location)
{
	uint32_t first = need_init(c, location, event), named = NONE;
	uint32_t own = own_waiting(c, c->r->thread[c->t->events[event].thread], location);
	uint32_t last = c->last_store[location];
	if (own != NONE)
		return own;
	if (c->model == MEMORY_TSO || !op_is_atomic(c->t->events[event].op))
		return memory_newest(c->r->graph, location);
	if (c->t->weak_count == 0)
		return last != NONE ? last : first;
	/* A row exists for reads of older stores; it may name NONE, the initial value. */
	named = trace_weak_store(c->t, event, WEAK_READS, event);
	if (named == event)
		return last != NONE ? last : first;
	named = store_of(c, named);
	return named != NONE ? named : first;
}

/* The store that a load reads; an initial store gets its value from the load. */
static uint32_t read_source(struct conversion *c, uint32_t event, uint32_t location,
                            unsigned flags)
{
	struct memory_graph *g = c->r->graph;
	struct memory_initial *init =
	        &g_array_index(c->world->initials, struct memory_initial, location);
	uint32_t from = source_of(c, event, location), first = g->init[location];
	if (from == first && !init->known && (flags & MEMORY_LIBRARY) == 0) {
		init->value = integer_of(c, event, false, &init->known);
		g->events[first].value = init->value;
	}
	return from;
}

static void add_load(struct conversion *c, uint32_t event, uint32_t location, unsigned flags)
{
	struct memory_graph *g = c->r->graph;
	struct memory_event e = { .kind = MEMORY_LOAD,
		                  .location = location,
		                  .peer = NONE,
		                  .flags = (uint16_t)flags };
	uint32_t from = read_source(c, event, location, flags);
	uint32_t id = append(c, event, &e);
	memory_read_from(g, id, from);
	g->events[id].flags = (uint16_t)flags;
}

/* The store that precedes this one in modification order. */
static uint32_t place_of_store(struct conversion *c, uint32_t event, uint32_t location,
                               unsigned flags)
{
	const struct memory_graph *g = c->r->graph;
	uint32_t thread = c->r->thread[c->t->events[event].thread];
	uint32_t named = trace_weak_store(c->t, event, WEAK_AFTER, event);
	if (flags & MEMORY_EXCLUSIVE)
		return g->events[g->last[thread]].rf;
	if (named == event)
		return memory_newest(g, location);
	named = store_of(c, named);
	return named != NONE ? named : g->init[location];
}

/* `order` is for MEMORY_LIBRARY; other stores have their own. */
static void add_store(struct conversion *c, uint32_t event, uint32_t location, unsigned flags,
                      enum memory_order_kind order, uint64_t value)
{
	struct memory_graph *g = c->r->graph;
	struct memory_event e = { .kind = MEMORY_STORE,
		                  .location = location,
		                  .peer = NONE,
		                  .value = value,
		                  .flags = (uint16_t)flags };
	need_init(c, location, event);
	uint32_t after = place_of_store(c, event, location, flags);
	uint32_t id = append(c, event, &e);
	if (flags & MEMORY_LIBRARY)
		g->events[id].order = (uint8_t)order;
	c->last_store[location] = id;
	bool waits =
	        c->model == MEMORY_TSO && flags == 0 && g->events[id].order != ORDER_SEQ_CST;
	if (waits)
		g_queue_push_tail(&c->waiting[c->t->events[event].thread],
		                  GUINT_TO_POINTER(event));
	else
		memory_place_after(g, id, after);
}

/* ---- rounds ---- */

static void add_look(struct conversion *c, uint32_t event, struct memory_event e)
{
	uint32_t thread = c->t->events[event].thread, number = c->r->thread[thread];
	const struct memory_graph *g = c->r->graph;
	struct memory_look look = { e, event, c->look[thread], NONE, 0 };
	look.e.po_prev = look.e.po_next = NONE;
	if (number < g->threads)
		look.after = g->last[number];
	c->look[thread] = c->r->looks->len;
	if (c->r->look_of[event] == NONE)
		c->r->look_of[event] = c->r->looks->len;
	g_array_append_val(c->r->looks, look);
}

/* The store of the update whose load part is the thread's last look, and which wrote the
 * value it had read. */
static void add_due_store(struct conversion *c, uint32_t thread)
{
	if (!c->store_due[thread])
		return;
	struct memory_look look =
	        g_array_index(c->r->looks, struct memory_look, c->look[thread]);
	look.e.kind = MEMORY_STORE;
	look.e.flags = MEMORY_EXCLUSIVE;
	look.e.rf = NONE;
	c->store_due[thread] = false;
	add_look(c, look.event, look.e);
}

static void look_with_fence(struct conversion *c, uint32_t event)
{
	struct memory_event e = { .kind = MEMORY_FENCE, .location = NONE, .peer = NONE };
	add_due_store(c, c->t->events[event].thread);
	describe(c, event, &e);
	e.rf = NONE;
	add_look(c, event, e);
}

/* Adds the chosen fences beside the access. */
static void add_fences(struct conversion *c, uint32_t event, bool after)
{
	const GArray *fences = c->choice->fences;
	const struct event *x = &c->t->events[event];
	const struct location *l = &c->t->locations[x->location];
	for (guint i = 0; fences != NULL && i < fences->len; i++) {
		const struct memory_fence *f = &g_array_index(fences, struct memory_fence, i);
		struct memory_event e = { .kind = MEMORY_FENCE,
			                  .location = NONE,
			                  .peer = NONE,
			                  .rf = NONE,
			                  .thread = c->r->thread[x->thread] };
		if (f->address != l->address || f->module != l->module || f->after != after)
			continue;
		e.order = f->order;
		if (c->rounds.in_vain[event]) {
			add_due_store(c, x->thread);
			add_look(c, event, e);
		} else {
			note_event(c, memory_append(c->r->graph, &e), NONE);
		}
	}
}

static void look_at(struct conversion *c, uint32_t event, uint32_t location, unsigned flags)
{
	struct memory_event e = { .kind = MEMORY_LOAD,
		                  .location = location,
		                  .peer = NONE,
		                  .flags = (uint16_t)flags };
	uint32_t thread = c->t->events[event].thread;
	add_due_store(c, thread);
	describe(c, event, &e);
	e.rf = read_source(c, event, location, flags);
	e.value = c->r->graph->events[e.rf].value;
	add_look(c, event, e);
	if (!(flags & MEMORY_EXCLUSIVE))
		return;
	c->store_due[thread] = true;
	c->last_store[location] = e.rf;
	g_hash_table_insert(c->same, GUINT_TO_POINTER(event + 1), GUINT_TO_POINTER(e.rf + 1));
}

/* Notes that a thread waits after a round that stays in the graph. */
static void wait_in_graph(struct conversion *c, uint32_t first, uint32_t thread)
{
	const struct memory_graph *g = c->r->graph;
	uint32_t begin = c->r->graph_of[first], last = g->last[c->r->thread[thread]];
	if (begin == NONE || c->look[thread] != NONE)
		return;
	while (c->r->event[last] == NONE) /* a fence of memory_choice */
		last = g->events[last].po_prev;
	if (g->events[last].kind == MEMORY_STORE)
		last = g->events[last].po_prev;
	struct memory_wait wait = { last, g->events[last].index - g->events[begin].index + 1 };
	g_array_append_val(c->r->waits, wait);
}

/* Ends a round: the thread is again in the state before the round's first event. */
static void end_round(struct conversion *c, uint32_t event)
{
	uint32_t first = c->rounds.first[event], thread = c->t->events[event].thread, count = 1;
	uint32_t begin = first != NONE ? c->r->look_of[first] : NONE, last = c->look[thread];
	if (begin == NONE && first != NONE)
		wait_in_graph(c, first, thread);
	if (begin == NONE)
		return;
	for (uint32_t i = last; i != begin; count++)
		i = g_array_index(c->r->looks, struct memory_look, i).before;
	g_array_index(c->r->looks, struct memory_look, last).round = count;
	c->look[thread] = g_array_index(c->r->looks, struct memory_look, begin).before;
	c->store_due[thread] = false;
}

/* The thread's stores up to this event arrive in memory. */
static void arrive(struct conversion *c, uint32_t thread, uint32_t event)
{
	struct memory_graph *g = c->r->graph;
	GQueue *mine = &c->waiting[thread];
	while (mine->head != NULL && GPOINTER_TO_UINT(mine->head->data) <= event) {
		uint32_t id = store_of(c, GPOINTER_TO_UINT(g_queue_pop_head(mine)));
		memory_place_after(g, id, memory_newest(g, g->events[id].location));
	}
}

/* Notes that a plain access of an atomic should be an event, where it accesses the same
 * bytes. */
static void note_mixed(struct conversion *c, uint32_t event, const struct cover *v,
                       enum memory_unmodelled otherwise)
{
	struct memory_place place;
	bool small = memory_place_of(c->t, c->blocks, event, &place);
	const struct memory_place *atomic =
	        &g_array_index(c->world->places, struct memory_place, v->location - 1);
	if (small && memory_place_equal(&place, atomic))
		g_array_append_val(c->r->mixed, place);
	else
		note_unmodelled(c, otherwise);
}

/*
 * A plain access of a location that has events in the graph is itself in no graph. A plain
 * store is attributed to the next event that reads it, and another graph has it elsewhere.
 * Its value is determined by the past only where the place of the last store is: where one
 * thread stores at a time, or all of them update.
 */
static void cover_plain(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);
	for (uint32_t i = run.first; i < run.first + run.count; i++) {
		struct cover *v = &c->covers[i];
		if (op_writes(x->op) && v->location == 0)
			v->writer = event + 1;
		else if (op_writes(x->op) && c->alive > 1)
			note_mixed(c, event, v, MEMORY_UNMODELLED_PLAIN);
		else if (op_writes(x->op))
			v->behind = event + 1;
		else if (v->several)
			note_mixed(c, event, v, MEMORY_UNMODELLED_READS);
	}
}

/* An access that is an event of `location`. */
static void cover_event(struct conversion *c, uint32_t event, uint32_t location)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);
	for (uint32_t i = run.first; i < run.first + run.count; i++) {
		struct cover *v = &c->covers[i];
		if (v->location != 0 && v->location != location + 1)
			note_unmodelled(c, MEMORY_UNMODELLED_SIZES);
		if (v->behind)
			note_mixed(c, v->behind - 1, v, MEMORY_UNMODELLED_PLAIN);
		v->location = location + 1;
		if (!op_writes(x->op) || c->alive < 2)
			continue;
		v->plain_store |= x->op != OP_RMW;
		v->several |= v->plain_store && v->storer != 0 && v->storer != x->thread + 1u;
		v->storer = (uint32_t)x->thread + 1;
	}
}

/* TSO: memory that several threads access, and one writes, has events only where all of them
 * access the same 8 bytes or fewer. */
static void cover_shared(struct conversion *c, uint32_t event, const struct memory_place *place)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);
	if (c->model != MEMORY_TSO || c->alive < 2)
		return;
	for (uint32_t i = run.first; i < run.first + run.count; i++) {
		struct cover *v = &c->covers[i];
		if (v->place.size == 0) {
			v->place = *place;
			v->user = x->thread;
		}
		v->users |= v->user != x->thread;
		v->written |= op_writes(x->op);
		v->mixed |= place->size > 8 || place->size != v->place.size ||
		            place->offset != v->place.offset;
		if (v->users && v->written && v->mixed)
			note_unmodelled(c, MEMORY_UNMODELLED_SIZES);
	}
}

static void add_access(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct memory_place place;
	bool known, small = memory_place_of(c->t, c->blocks, event, &place);
	bool atomic = op_is_atomic(x->op);
	if (!small && atomic)
		note_unmodelled(c, MEMORY_UNMODELLED_SIZES);
	const struct memory_choice *choice = c->choice;
	cover_shared(c, event, &place);
	if (!small) {
		cover_plain(c, event);
		return;
	}
	if (!atomic && (choice->wanted == NULL || !choice->wanted(choice->context, &place))) {
		if (x->op == OP_WRITE)
			g_hash_table_insert(c->plain, g_memdup2(&place, sizeof place),
			                    GUINT_TO_POINTER(event + 1));
		cover_plain(c, event);
		return;
	}
	struct wide run = event_variables(c->t, x);
	uint32_t location =
	        location_number(c->world, &place, c->t->variables[run.first].address);
	cover_event(c, event, location);
	unsigned update = x->op == OP_RMW ? MEMORY_EXCLUSIVE : 0;
	unsigned locked = update || (atomic && (x->flags & EVENT_VOLATILE)) ? MEMORY_LOCKED : 0;
	end_round(c, event);
	if (atomic)
		add_fences(c, event, false);
	if (c->rounds.in_vain[event])
		look_at(c, event, location, update | locked);
	else if (op_reads(x->op))
		add_load(c, event, location, update | locked);
	if (op_writes(x->op) && !c->rounds.in_vain[event]) {
		uint64_t value = integer_of(c, event, true, &known);
		add_store(c, event, location, update, ORDER_PLAIN, value);
		if (!known && !atomic)
			note_unmodelled(c, MEMORY_UNMODELLED_PLAIN);
	}
	if (atomic)
		add_fences(c, event, true);
}

static uint32_t lock_location(const struct trace *t, struct memory_world *world,
                              const struct memory_blocks *blocks, uint32_t object)
{
	const struct object *o = &t->objects[object];
	struct memory_place place = { .offset = o->address };
	if (o->block != NONE && blocks->id[o->block] != 0) {
		place.base = blocks->id[o->block];
		place.offset -= t->blocks[o->block].address;
	}
	return location_number(world, &place, o->address);
}

/* The location of a once-function. */
static uint32_t once_location(struct memory_world *world, const struct memory_blocks *blocks,
                              uint64_t address, uint32_t event)
{
	const struct block_life *l = life_at(blocks, address, event);
	struct memory_place place = { .base = l ? l->id : 0,
		                      .offset = l ? address - l->address : address };
	return location_number(world, &place, address);
}

uint32_t memory_lock_location(const struct trace *t, struct memory_world *world,
                              const struct memory_recorded *r, uint32_t object)
{
	struct memory_blocks *blocks = memory_blocks_new(t, r->thread);
	uint32_t location = lock_location(t, world, blocks, object);
	memory_blocks_free(blocks);
	return location;
}

/* ---- the thread library ---- */

/* The effect of an operation on the state of its object, which is an atomic of the graph: the
 * load of an update, and the order of its store. */
struct library {
	uint16_t flags;
	uint8_t guard;
	uint8_t success_order, failure_order, store_order;
};
static const struct library takes_lock = { 0, MEMORY_FREE, ORDER_ACQ, ORDER_RLX, ORDER_ACQ };
static const struct library takes_read_lock = { MEMORY_SHARED, MEMORY_NO_WRITER, ORDER_ACQ,
	                                        ORDER_RLX, ORDER_ACQ };
static const struct library takes_semaphore = { 0, MEMORY_SOME, ORDER_ACQ, ORDER_RLX,
	                                        ORDER_ACQ };
static const struct library enters_once = { 0, MEMORY_NOT_RUNNING, ORDER_ACQ, ORDER_ACQ,
	                                    ORDER_ACQ };
/* Releasing operations: a post, an arrival at a barrier, a read-unlock. */
static const struct library releases = { MEMORY_UPDATES, MEMORY_ANY, ORDER_RLX, ORDER_RLX,
	                                 ORDER_REL };
/* Operations on conditions: a wait, a signal. C11 lets conditions synchronise nothing; their
 * mutex does. */
static const struct library on_condition = { MEMORY_UPDATES | MEMORY_UNORDERED, MEMORY_ANY,
	                                     ORDER_RLX, ORDER_RLX, ORDER_RLX };

/* The newest store that makes a try fail, or NONE. */
static uint32_t store_that_fails(const struct memory_graph *g, uint32_t store,
                                 enum memory_guard guard)
{
	while (store != NONE && memory_passes(guard, g->events[store].value))
		store = g->events[store].mo_prev;
	return store;
}

/* Adds the load of the operation, with further `flags`. `done`: the operation continues with
 * a store. False: it is not modelled. */
static bool load_state(struct conversion *c, uint32_t event, uint32_t location,
                       const struct library *l, unsigned flags, bool done, uint64_t *value)
{
	struct memory_graph *g = c->r->graph;
	struct memory_event e = { .kind = MEMORY_LOAD,
		                  .location = location,
		                  .peer = NONE,
		                  .flags = (uint16_t)(MEMORY_LIBRARY | l->flags | flags),
		                  .guard = l->guard,
		                  .success_order = l->success_order,
		                  .failure_order = l->failure_order };
	uint32_t from = read_source(c, event, location, MEMORY_LIBRARY);
	if (!done && l->guard != MEMORY_NOT_RUNNING)
		from = store_that_fails(g, from, (enum memory_guard)l->guard);
	if (from == NONE) {
		note_unmodelled(c, MEMORY_UNMODELLED_MISUSE);
		return false;
	}
	uint32_t id = append(c, event, &e);
	g->events[id].order = l->success_order;
	memory_read_from(g, id, from);
	*value = g->events[id].value;
	if (((g->events[id].flags & MEMORY_EXCLUSIVE) != 0) == done)
		return true;
	note_unmodelled(c, MEMORY_UNMODELLED_MISUSE);
	g->events[id].flags ^= MEMORY_EXCLUSIVE;
	return true;
}

static void store_state(struct conversion *c, uint32_t event, uint32_t location,
                        const struct library *l, uint64_t value)
{
	add_store(c, event, location, MEMORY_LIBRARY | MEMORY_EXCLUSIVE, l->store_order, value);
}

static unsigned tries(const struct event *x)
{
	return x->flags & EVENT_TRY || x->op == OP_TRYFAIL || x->op == OP_TAKETRYFAIL
	               ? MEMORY_TRIES
	               : 0;
}

static void add_lock(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint32_t location = lock_location(c->t, c->world, c->blocks, x->target);
	bool shared = x->op == OP_RACQ || (x->op == OP_TRYFAIL && x->flags & EVENT_SHARED);
	const struct library *l = shared ? &takes_read_lock : &takes_lock;
	uint64_t readers;
	switch (x->op) {
	case OP_ACQ:
	case OP_RACQ:
		if (load_state(c, event, location, l, tries(x), true, &readers))
			store_state(c, event, location, l,
			            shared ? readers + 1 : MEMORY_WRITER);
		break;
	case OP_REL:
		add_store(c, event, location, MEMORY_LIBRARY, ORDER_REL, 0);
		break;
	case OP_RREL:
		if (!load_state(c, event, location, &releases, 0, true, &readers))
			break;
		if (readers == 0 || readers >= MEMORY_WRITER)
			note_unmodelled(c, MEMORY_UNMODELLED_MISUSE);
		store_state(c, event, location, &releases, readers - 1);
		break;
	default:
		load_state(c, event, location, l, tries(x), false, &readers);
		break;
	}
}

static bool is_of_semaphore(const struct event *x)
{
	return x->op == OP_POST || x->op == OP_TAKE || x->op == OP_TAKETRYFAIL;
}

/* Semaphores by address; a second semaphore created at the same address is not followed. */
static void find_semaphores(struct conversion *c)
{
	for (uint64_t e = 0; e < c->t->events_count; e++) {
		const struct event *x = &c->t->events[e];
		if (!is_of_semaphore(x) || event_inert(x))
			continue;
		gpointer address = (gpointer)(uintptr_t)c->t->objects[x->target].address;
		gpointer known = g_hash_table_lookup(c->semaphores, address);
		if (known != NULL && GPOINTER_TO_UINT(known) != x->target + 1)
			note_unmodelled(c, MEMORY_UNMODELLED_SEMAPHORES);
		g_hash_table_insert(c->semaphores, address, GUINT_TO_POINTER(x->target + 1));
	}
}

/* A load by which the library reads the count of a semaphore. */
static bool looks_at_semaphore(const struct conversion *c, const struct event *x)
{
	uint64_t address = c->t->variables[event_variables(c->t, x).first].address;
	return x->op == OP_AREAD &&
	       g_hash_table_contains(c->semaphores, (gpointer)(uintptr_t)address);
}

/* A semaphore is an atomic that a post increments, to release; a take waits until it is not 0,
 * decrements it, and acquires. */
static void add_semaphore(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint32_t location = lock_location(c->t, c->world, c->blocks, x->target);
	const struct library *l = x->op == OP_POST ? &releases : &takes_semaphore;
	bool done = x->op != OP_TAKETRYFAIL;
	uint64_t count;
	g_array_index(c->world->initials, struct memory_initial, location).value =
	        (uint64_t)c->t->objects[x->target].count;
	if (load_state(c, event, location, l, tries(x), done, &count) && done)
		store_state(c, event, location, l, x->op == OP_POST ? count + 1 : count - 1);
}

/* A read of the count (sem_getvalue): a load that orders nothing. */
static void look_at_count(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint64_t address = c->t->variables[event_variables(c->t, x).first].address;
	gpointer known = g_hash_table_lookup(c->semaphores, (gpointer)(uintptr_t)address);
	uint32_t object = GPOINTER_TO_UINT(known) - 1;
	uint32_t location = lock_location(c->t, c->world, c->blocks, object);
	struct memory_event e = { .kind = MEMORY_LOAD,
		                  .location = location,
		                  .peer = NONE,
		                  .flags = MEMORY_LIBRARY | MEMORY_UNORDERED };
	g_array_index(c->world->initials, struct memory_initial, location).value =
	        (uint64_t)c->t->objects[object].count;
	uint32_t from = read_source(c, event, location, MEMORY_LIBRARY);
	uint32_t id = append(c, event, &e);
	c->r->graph->events[id].order = ORDER_RLX;
	memory_read_from(c->r->graph, id, from);
}

/* Adds the end of a wait, by a store that has none of the bits. */
static void add_wake(struct conversion *c, uint32_t event, uint32_t location, uint64_t bits,
                     enum memory_order_kind order, enum memory_unmodelled otherwise)
{
	struct memory_event e = {
		.kind = MEMORY_WAKE, .location = NONE, .peer = location, .expected = bits
	};
	e.thread = c->r->thread[c->t->events[event].thread];
	uint32_t from = memory_peer(c->r->graph, &e);
	if (from == NONE) {
		note_unmodelled(c, otherwise);
		return;
	}
	uint32_t id = append(c, event, &e);
	c->r->graph->events[id].order = (uint8_t)order;
	c->r->graph->events[id].rf = from;
}

static struct memory_barrier *barrier_of(const struct memory_world *w, uint32_t location)
{
	return g_hash_table_lookup(w->barriers, GUINT_TO_POINTER(location + 1));
}

bool memory_barrier_counted(const struct memory_world *w, uint32_t location)
{
	const struct memory_barrier *b = barrier_of(w, location);
	return b == NULL || b->counted;
}

/* The threads that use each barrier, in all runs so far. */
static void find_barriers(struct conversion *c)
{
	for (uint64_t e = 0; e < c->t->events_count; e++) {
		const struct event *x = &c->t->events[e];
		if (x->op != OP_ARRIVE || event_inert(x))
			continue;
		uint32_t at = lock_location(c->t, c->world, c->blocks, x->target);
		uint64_t count = (uint64_t)c->t->objects[x->target].count;
		struct memory_barrier *b = barrier_of(c->world, at);
		if (b == NULL) {
			b = g_new0(struct memory_barrier, 1);
			b->threads = g_hash_table_new(NULL, NULL);
			b->count = count;
			g_hash_table_insert(c->world->barriers, GUINT_TO_POINTER(at + 1), b);
		}
		g_hash_table_add(b->threads, GUINT_TO_POINTER(c->r->thread[x->thread]));
		bool counted = b->count != count || g_hash_table_size(b->threads) > count;
		c->r->recounted |= counted && !b->counted;
		b->counted |= counted;
	}
}

/* Adds an arrival, or a departure that the last arrival of its round allows, at a barrier
 * modelled by rounds. */
static void add_to_round(struct conversion *c, uint32_t event, uint32_t location)
{
	const struct event *x = &c->t->events[event];
	struct memory_graph *g = c->r->graph;
	uint64_t here = 0, threads = (uint64_t)c->t->objects[x->target].count;
	struct memory_event e = { .kind = x->op == OP_ARRIVE ? MEMORY_ARRIVE : MEMORY_DEPART,
		                  .location = NONE,
		                  .peer = location,
		                  .expected = threads };
	const struct memory_choice *choice = c->choice;
	if (x->op == OP_ARRIVE && choice->is_unseen &&
	    choice->is_unseen(choice->context, c->t, event))
		e.flags = MEMORY_UNSEEN;
	uint32_t id = append(c, event, &e);
	g->events[id].order = x->op == OP_ARRIVE ? ORDER_REL : ORDER_ACQ;
	if (x->op == OP_ARRIVE)
		return;
	for (uint32_t i = 0; i < id; i++) {
		if (!memory_same_round(&g->events[i], &g->events[id]))
			continue;
		g->events[id].rf = i;
		here++;
	}
	if (here != threads)
		note_unmodelled(c, MEMORY_UNMODELLED_MISUSE);
}

/* A barrier modelled as an atomic: the number of threads that have arrived; the last one sets
 * it to 0, which the others wait for. */
static void add_barrier(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint32_t location = lock_location(c->t, c->world, c->blocks, x->target);
	uint64_t threads = (uint64_t)c->t->objects[x->target].count, arrived;
	if (!memory_barrier_counted(c->world, location))
		add_to_round(c, event, location);
	else if (x->op == OP_DEPART)
		add_wake(c, event, location, UINT64_MAX, ORDER_ACQ, MEMORY_UNMODELLED_MISUSE);
	else if (load_state(c, event, location, &releases, 0, true, &arrived))
		store_state(c, event, location, &releases,
		            arrived + 1 >= threads ? 0 : arrived + 1);
}

/* The bit of the thread that a signal woke, as the runtime recorded it; MEMORY_CHOICES:
 * none. */
static uint32_t woken_by(const struct conversion *c, uint32_t event)
{
	uint64_t woken = c->choice->states != NULL ? c->choice->states[event] : 0;
	for (uint32_t i = 0; woken != 0 && i < c->t->threads_count; i++)
		if (c->t->threads[i].recorded + 1ull == woken)
			return MIN(c->r->thread[i], MEMORY_CHOICES);
	return MEMORY_CHOICES;
}

/* A condition's value has a bit for each waiting thread. A signal clears one, of its choice;
 * a wait whose time is up clears its own. */
static void add_condition(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint32_t location = lock_location(c->t, c->world, c->blocks, x->target);
	uint32_t number = c->r->thread[x->thread], choice = MEMORY_CHOICES;
	uint64_t waiting, own = number < MEMORY_CHOICES ? (uint64_t)1 << number : 0;
	bool limited = c->limited[x->thread];
	if (x->op == OP_WAIT)
		c->limited[x->thread] = x->flags & EVENT_TRY;
	if (own == 0 || (x->op == OP_WAKE && !limited && x->flags & EVENT_TRY))
		note_unmodelled(c, MEMORY_UNMODELLED_CONDITIONS);
	if (x->op == OP_WAKE && !limited) {
		add_wake(c, event, location, own, ORDER_RLX, MEMORY_UNMODELLED_CONDITIONS);
		return;
	}
	unsigned flags = x->op == OP_SIGNAL ? MEMORY_CHOOSES : 0;
	load_state(c, event, location, &on_condition, flags, true, &waiting);
	if (x->op == OP_SIGNAL && waiting != 0) {
		choice = woken_by(c, event);
		if (choice == MEMORY_CHOICES || !(waiting >> choice & 1))
			note_unmodelled(c, MEMORY_UNMODELLED_CONDITIONS);
		memory_choose(c->r->graph, c->r->graph_of[event], choice);
	}
	uint64_t woken = choice < MEMORY_CHOICES ? (uint64_t)1 << choice : 0;
	store_state(c, event, location, &on_condition,
	            x->op == OP_WAIT        ? waiting | own
	            : x->op == OP_BROADCAST ? 0
	            : x->op == OP_WAKE      ? waiting & ~own
	                                    : waiting & ~woken);
}

/* A once-function is 0, then MEMORY_ONCE_RUNS while it runs, then MEMORY_ONCE_DONE; the
 * runtime records its address. */
static void add_once(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint64_t address = c->choice->states != NULL ? c->choice->states[event] : 0, now;
	if (address == 0 || x->flags & EVENT_TRY) {
		note_unmodelled(c, MEMORY_UNMODELLED_MESSAGES);
		return;
	}
	uint32_t location = once_location(c->world, c->blocks, address, event);
	need_init(c, location, event);
	const struct memory_graph *g = c->r->graph;
	now = g->events[memory_newest(g, location)].value;
	if (x->op == OP_SND && now == MEMORY_ONCE_RUNS)
		add_store(c, event, location, MEMORY_LIBRARY, ORDER_REL, MEMORY_ONCE_DONE);
	else if (load_state(c, event, location, &enters_once, 0, x->op == OP_SND, &now) &&
	         x->op == OP_SND)
		store_state(c, event, location, &enters_once, MEMORY_ONCE_RUNS);
}

static void add_creation(struct conversion *c, uint32_t event)
{
	uint32_t child = c->r->thread[c->t->events[event].target];
	struct memory_event e = { .kind = MEMORY_CREATE, .location = NONE, .peer = child };
	uint32_t id = append(c, event, &e);
	c->alive++;
	uint32_t begin = append_edge(c, child, MEMORY_BEGIN);
	c->r->graph->events[begin].rf = id;
}

static void add_join(struct conversion *c, uint32_t event)
{
	uint32_t child = c->r->thread[c->t->events[event].target];
	struct memory_event e = { .kind = MEMORY_JOIN, .location = NONE, .peer = child };
	uint32_t end = need_end(c, child);
	c->alive--;
	uint32_t id = append(c, event, &e);
	c->r->graph->events[id].rf = end;
}

static void convert(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct memory_event fence = { .kind = MEMORY_FENCE, .location = NONE, .peer = NONE };
	if (x->op == OP_FLUSH)
		arrive(c, x->thread, x->aux);
	if (op_wants(x->op)) {
		c->r->wants[c->r->thread[x->thread]] = event;
		return;
	}
	if (event_inert(x))
		return;
	switch (x->op) {
	case OP_READ:
	case OP_WRITE:
	case OP_AREAD:
	case OP_AWRITE:
	case OP_RMW:
		if (looks_at_semaphore(c, x))
			look_at_count(c, event);
		else
			add_access(c, event);
		break;
	case OP_FENCE:
		if (c->rounds.in_vain[event])
			look_with_fence(c, event);
		else
			append(c, event, &fence);
		break;
	case OP_ACQ:
	case OP_REL:
	case OP_RACQ:
	case OP_RREL:
	case OP_TRYFAIL:
		add_lock(c, event);
		break;
	case OP_FORK:
		add_creation(c, event);
		break;
	case OP_JOIN:
		add_join(c, event);
		break;
	case OP_WAIT:
	case OP_WAKE:
	case OP_SIGNAL:
	case OP_BROADCAST:
		add_condition(c, event);
		break;
	case OP_POST:
	case OP_TAKE:
	case OP_TAKETRYFAIL:
		add_semaphore(c, event);
		break;
	case OP_ARRIVE:
	case OP_DEPART:
		add_barrier(c, event);
		break;
	case OP_SND:
	case OP_RCV:
		add_once(c, event);
		break;
	default:
		break;
	}
}

/* Is the plain access an event of the graph? */
static bool is_shared(const void *context, uint32_t event)
{
	const struct conversion *c = context;
	struct memory_place place;
	return c->choice->wanted != NULL && memory_place_of(c->t, c->blocks, event, &place) &&
	       c->choice->wanted(c->choice->context, &place);
}

/* Numbers threads first: a block is identified by the thread that allocated it. */
static void number_threads(struct conversion *c)
{
	uint32_t *children = g_new0(uint32_t, c->t->threads_count + 1);
	for (uint64_t i = 0; i < c->t->threads_count; i++)
		c->r->thread[i] = 0;
	for (uint64_t e = 0; e < c->t->events_count; e++) {
		const struct event *x = &c->t->events[e];
		if (x->op == OP_FORK && x->target < c->t->threads_count)
			c->r->thread[x->target] = thread_number(
			        c->world, c->r->thread[x->thread], children[x->thread]++);
	}
	g_free(children);
}

static bool is_among(const GArray *numbers, uint32_t number)
{
	for (guint i = 0; numbers != NULL && i < numbers->len; i++)
		if (g_array_index(numbers, uint32_t, i) == number)
			return true;
	return false;
}

void memory_recorded_init(struct memory_recorded *r, const struct trace *t,
                          struct memory_world *world, enum memory_model model,
                          const struct memory_choice *choice)
{
	memset(r, 0, sizeof *r);
	struct conversion c = { .t = t,
		                .world = world,
		                .r = r,
		                .model = model,
		                .choice = choice,
		                .plain = g_hash_table_new_full(
		                        memory_place_hash, memory_place_equal, g_free, NULL) };
	c.waiting = g_new0(GQueue, t->threads_count + 1);
	c.covers = g_new0(struct cover, t->variables_count + 1);
	c.alive = 1;
	r->graph = memory_graph_new();
	r->looks = g_array_new(FALSE, FALSE, sizeof(struct memory_look));
	r->waits = g_array_new(FALSE, FALSE, sizeof(struct memory_wait));
	r->mixed = g_array_new(FALSE, FALSE, sizeof(struct memory_place));
	r->look_of = g_new(uint32_t, t->events_count + 1);
	memset(r->look_of, 0xff, (t->events_count + 1) * sizeof *r->look_of);
	c.look = g_new(uint32_t, t->threads_count + 1);
	memset(c.look, 0xff, (t->threads_count + 1) * sizeof *c.look);
	c.store_due = g_new0(bool, t->threads_count + 1);
	c.limited = g_new0(bool, t->threads_count + 1);
	c.same = g_hash_table_new(NULL, NULL);
	c.semaphores = g_hash_table_new(NULL, NULL);
	find_semaphores(&c);
	r->graph_of = g_new(uint32_t, t->events_count + 1);
	memset(r->graph_of, 0xff, (t->events_count + 1) * sizeof *r->graph_of);
	r->thread = g_new0(uint32_t, t->threads_count + 1);
	number_threads(&c);
	r->wants = g_new(uint32_t, world->threads->len + 1);
	memset(r->wants, 0xff, (world->threads->len + 1) * sizeof *r->wants);
	c.blocks = memory_blocks_new(t, r->thread);
	find_barriers(&c);
	memory_rounds_init(&c.rounds, t, choice->states, is_shared, &c, choice->keeps_updates,
	                   NULL);
	for (uint32_t e = 0; e < t->events_count; e++)
		convert(&c, e);
	for (uint64_t i = 0; i < t->threads_count; i++)
		arrive(&c, (uint32_t)i, NONE);
	for (uint64_t i = 0; i < t->threads_count; i++)
		if (is_among(choice->ended, t->threads[i].recorded))
			need_end(&c, r->thread[i]);
	memory_blocks_free(c.blocks);
	g_free(c.last_store);
	g_free(c.waiting);
	g_free(c.covers);
	g_free(c.look);
	g_free(c.store_due);
	g_free(c.limited);
	g_hash_table_unref(c.same);
	g_hash_table_unref(c.semaphores);
	memory_rounds_release(&c.rounds);
	g_hash_table_unref(c.plain);
}

void memory_recorded_release(struct memory_recorded *r)
{
	memory_graph_free(r->graph);
	g_array_free(r->looks, TRUE);
	g_array_free(r->waits, TRUE);
	g_array_free(r->mixed, TRUE);
	g_free(r->look_of);
	g_free(r->event);
	g_free(r->graph_of);
	g_free(r->thread);
	g_free(r->wants);
	memset(r, 0, sizeof *r);
}
