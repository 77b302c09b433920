/*
 * conversion_library.c - operations of the thread library in the graph: locks, semaphores,
 * conditions, barriers and once-functions are atomics, and an operation is an access or an
 * update of the object's state.
 */
#include "engine/memory/conversion.h"

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
	uint32_t from = conversion_source(c, event, location, MEMORY_LIBRARY);
	if (!done && l->guard != MEMORY_NOT_RUNNING)
		from = store_that_fails(g, from, (enum memory_guard)l->guard);
	if (from == NONE) {
		conversion_note_unmodelled(c, MEMORY_UNMODELLED_MISUSE);
		return false;
	}
	uint32_t id = conversion_append(c, event, &e);
	g->events[id].order = l->success_order;
	memory_read_from(g, id, from);
	*value = g->events[id].value;
	if (((g->events[id].flags & MEMORY_EXCLUSIVE) != 0) == done)
		return true;
	conversion_note_unmodelled(c, MEMORY_UNMODELLED_MISUSE);
	g->events[id].flags ^= MEMORY_EXCLUSIVE;
	return true;
}

static void store_state(struct conversion *c, uint32_t event, uint32_t location,
                        const struct library *l, uint64_t value)
{
	conversion_add_store(c, event, location, MEMORY_LIBRARY | MEMORY_EXCLUSIVE,
	                     l->store_order, value);
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
	uint32_t location = memory_object_location(c->t, c->world, c->blocks, x->target);
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
		conversion_add_store(c, event, location, MEMORY_LIBRARY, ORDER_REL, 0);
		break;
	case OP_RREL:
		if (!load_state(c, event, location, &releases, 0, true, &readers))
			break;
		if (readers == 0 || readers >= MEMORY_WRITER)
			conversion_note_unmodelled(c, MEMORY_UNMODELLED_MISUSE);
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

void library_find_semaphores(struct conversion *c)
{
	for (uint64_t e = 0; e < c->t->events_count; e++) {
		const struct event *x = &c->t->events[e];
		if (!is_of_semaphore(x) || event_inert(x))
			continue;
		gpointer address = (gpointer)(uintptr_t)c->t->objects[x->target].address;
		gpointer known = g_hash_table_lookup(c->semaphores, address);
		if (known != NULL && GPOINTER_TO_UINT(known) != x->target + 1)
			conversion_note_unmodelled(c, MEMORY_UNMODELLED_SEMAPHORES);
		g_hash_table_insert(c->semaphores, address, GUINT_TO_POINTER(x->target + 1));
	}
}

bool library_reads_count(const struct conversion *c, const struct event *x)
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
	uint32_t location = memory_object_location(c->t, c->world, c->blocks, x->target);
	const struct library *l = x->op == OP_POST ? &releases : &takes_semaphore;
	bool done = x->op != OP_TAKETRYFAIL;
	uint64_t count;
	g_array_index(c->world->initials, struct memory_initial, location).value =
	        (uint64_t)c->t->objects[x->target].count;
	if (load_state(c, event, location, l, tries(x), done, &count) && done)
		store_state(c, event, location, l, x->op == OP_POST ? count + 1 : count - 1);
}

void library_add_count_read(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint64_t address = c->t->variables[event_variables(c->t, x).first].address;
	gpointer known = g_hash_table_lookup(c->semaphores, (gpointer)(uintptr_t)address);
	uint32_t object = GPOINTER_TO_UINT(known) - 1;
	uint32_t location = memory_object_location(c->t, c->world, c->blocks, object);
	struct memory_event e = { .kind = MEMORY_LOAD,
		                  .location = location,
		                  .peer = NONE,
		                  .flags = MEMORY_LIBRARY | MEMORY_UNORDERED };
	g_array_index(c->world->initials, struct memory_initial, location).value =
	        (uint64_t)c->t->objects[object].count;
	uint32_t from = conversion_source(c, event, location, MEMORY_LIBRARY);
	uint32_t id = conversion_append(c, event, &e);
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
		conversion_note_unmodelled(c, otherwise);
		return;
	}
	uint32_t id = conversion_append(c, event, &e);
	c->r->graph->events[id].order = (uint8_t)order;
	c->r->graph->events[id].rf = from;
}

void library_find_barriers(struct conversion *c)
{
	for (uint64_t e = 0; e < c->t->events_count; e++) {
		const struct event *x = &c->t->events[e];
		if (x->op != OP_ARRIVE || event_inert(x))
			continue;
		uint32_t at = memory_object_location(c->t, c->world, c->blocks, x->target);
		uint64_t count = (uint64_t)c->t->objects[x->target].count;
		struct memory_barrier *b = memory_barrier_at(c->world, at);
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
	uint32_t id = conversion_append(c, event, &e);
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
		conversion_note_unmodelled(c, MEMORY_UNMODELLED_MISUSE);
}

/* A barrier modelled as an atomic: the number of threads that have arrived; the last one sets
 * it to 0, which the others wait for. */
static void add_barrier(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint32_t location = memory_object_location(c->t, c->world, c->blocks, x->target);
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
	uint32_t location = memory_object_location(c->t, c->world, c->blocks, x->target);
	uint32_t number = c->r->thread[x->thread], choice = MEMORY_CHOICES;
	uint64_t waiting, own = number < MEMORY_CHOICES ? (uint64_t)1 << number : 0;
	bool limited = c->limited[x->thread];
	if (x->op == OP_WAIT)
		c->limited[x->thread] = x->flags & EVENT_TRY;
	if (own == 0 || (x->op == OP_WAKE && !limited && x->flags & EVENT_TRY))
		conversion_note_unmodelled(c, MEMORY_UNMODELLED_CONDITIONS);
	if (x->op == OP_WAKE && !limited) {
		add_wake(c, event, location, own, ORDER_RLX, MEMORY_UNMODELLED_CONDITIONS);
		return;
	}
	unsigned flags = x->op == OP_SIGNAL ? MEMORY_CHOOSES : 0;
	load_state(c, event, location, &on_condition, flags, true, &waiting);
	if (x->op == OP_SIGNAL && waiting != 0) {
		choice = woken_by(c, event);
		if (choice == MEMORY_CHOICES || !(waiting >> choice & 1))
			conversion_note_unmodelled(c, MEMORY_UNMODELLED_CONDITIONS);
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
		conversion_note_unmodelled(c, MEMORY_UNMODELLED_MESSAGES);
		return;
	}
	uint32_t location = memory_once_location(c->world, c->blocks, address, event);
	conversion_need_init(c, location, event);
	const struct memory_graph *g = c->r->graph;
	now = g->events[memory_newest(g, location)].value;
	if (x->op == OP_SND && now == MEMORY_ONCE_RUNS)
		conversion_add_store(c, event, location, MEMORY_LIBRARY, ORDER_REL,
		                     MEMORY_ONCE_DONE);
	else if (load_state(c, event, location, &enters_once, 0, x->op == OP_SND, &now) &&
	         x->op == OP_SND)
		store_state(c, event, location, &enters_once, MEMORY_ONCE_RUNS);
}

void library_add(struct conversion *c, uint32_t event)
{
	switch (c->t->events[event].op) {
	case OP_ACQ:
	case OP_REL:
	case OP_RACQ:
	case OP_RREL:
	case OP_TRYFAIL:
		add_lock(c, event);
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
