/* recorded.c - see recorded.h. */
#include "engine/memory/recorded.h"

#include "engine/memory/conversion.h"

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
			conversion_add_due_store(c, x->thread);
			conversion_add_look(c, event, e);
		} else {
			conversion_note_event(c, memory_append(c->r->graph, &e), NONE);
		}
	}
}

/* The thread's stores up to this event arrive in memory. */
static void arrive(struct conversion *c, uint32_t thread, uint32_t event)
{
	struct memory_graph *g = c->r->graph;
	GQueue *mine = &c->waiting[thread];
	while (mine->head != NULL && GPOINTER_TO_UINT(mine->head->data) <= event) {
		uint32_t id = conversion_store_of(c, GPOINTER_TO_UINT(g_queue_pop_head(mine)));
		memory_place_after(g, id, memory_newest(g, g->events[id].location));
	}
}

static void add_access(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct memory_place place;
	bool known, small = memory_place_of(c->t, c->blocks, event, &place);
	bool atomic = op_is_atomic(x->op);
	if (!small && atomic)
		conversion_note_unmodelled(c, MEMORY_UNMODELLED_SIZES);
	const struct memory_choice *choice = c->choice;
	covers_add_shared(c, event, &place);
	if (!small) {
		covers_add_plain(c, event);
		return;
	}
	if (!atomic && (choice->wanted == NULL || !choice->wanted(choice->context, &place))) {
		if (x->op == OP_WRITE)
			g_hash_table_insert(c->plain, g_memdup2(&place, sizeof place),
			                    GUINT_TO_POINTER(event + 1));
		covers_add_plain(c, event);
		return;
	}
	struct wide run = event_variables(c->t, x);
	uint32_t location =
	        memory_location_number(c->world, &place, c->t->variables[run.first].address);
	covers_add_event(c, event, location);
	unsigned update = x->op == OP_RMW ? MEMORY_EXCLUSIVE : 0;
	unsigned locked = update || (atomic && (x->flags & EVENT_VOLATILE)) ? MEMORY_LOCKED : 0;
	conversion_end_round(c, event);
	if (atomic)
		add_fences(c, event, false);
	if (c->rounds.in_vain[event])
		conversion_look(c, event, location, update | locked);
	else if (op_reads(x->op))
		conversion_add_load(c, event, location, update | locked);
	if (op_writes(x->op) && !c->rounds.in_vain[event]) {
		uint64_t value = conversion_integer(c, event, true, &known);
		conversion_add_store(c, event, location, update, ORDER_PLAIN, value);
		if (!known && !atomic)
			conversion_note_unmodelled(c, MEMORY_UNMODELLED_PLAIN);
	}
	if (atomic)
		add_fences(c, event, true);
}

uint32_t memory_lock_location(const struct trace *t, struct memory_world *world,
                              const struct memory_recorded *r, uint32_t object)
{
	struct memory_blocks *blocks = memory_blocks_new(t, r->thread);
	uint32_t location = memory_object_location(t, world, blocks, object);
	memory_blocks_free(blocks);
	return location;
}

static void add_creation(struct conversion *c, uint32_t event)
{
	uint32_t child = c->r->thread[c->t->events[event].target];
	struct memory_event e = { .kind = MEMORY_CREATE, .location = NONE, .peer = child };
	uint32_t id = conversion_append(c, event, &e);
	c->alive++;
	uint32_t begin = conversion_append_edge(c, child, MEMORY_BEGIN);
	c->r->graph->events[begin].rf = id;
}

static void add_join(struct conversion *c, uint32_t event)
{
	uint32_t child = c->r->thread[c->t->events[event].target];
	struct memory_event e = { .kind = MEMORY_JOIN, .location = NONE, .peer = child };
	uint32_t end = conversion_need_end(c, child);
	c->alive--;
	uint32_t id = conversion_append(c, event, &e);
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
		if (library_reads_count(c, x))
			library_add_count_read(c, event);
		else
			add_access(c, event);
		break;
	case OP_FENCE:
		if (c->rounds.in_vain[event])
			conversion_look_with_fence(c, event);
		else
			conversion_append(c, event, &fence);
		break;
	case OP_FORK:
		add_creation(c, event);
		break;
	case OP_JOIN:
		add_join(c, event);
		break;
	default:
		library_add(c, event);
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
			c->r->thread[x->target] = memory_thread_number(
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
	c.covers = covers_new(t);
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
	library_find_semaphores(&c);
	r->graph_of = g_new(uint32_t, t->events_count + 1);
	memset(r->graph_of, 0xff, (t->events_count + 1) * sizeof *r->graph_of);
	r->thread = g_new0(uint32_t, t->threads_count + 1);
	number_threads(&c);
	r->wants = g_new(uint32_t, world->threads->len + 1);
	memset(r->wants, 0xff, (world->threads->len + 1) * sizeof *r->wants);
	c.blocks = memory_blocks_new(t, r->thread);
	library_find_barriers(&c);
	memory_rounds_init(&c.rounds, t, choice->states, is_shared, &c, choice->keeps_updates,
	                   NULL);
	for (uint32_t e = 0; e < t->events_count; e++)
		convert(&c, e);
	for (uint64_t i = 0; i < t->threads_count; i++)
		arrive(&c, (uint32_t)i, NONE);
	for (uint64_t i = 0; i < t->threads_count; i++)
		if (is_among(choice->ended, t->threads[i].recorded))
			conversion_need_end(&c, r->thread[i]);
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
