/* lifetimes.c - see lifetimes.h. */
#include "engine/explore/lifetimes.h"

#include "engine/trace/index.h"

struct lifetimes {
	const struct trace *t;
	uint32_t *destroyed;    /* by object: its first destruction, or NONE */
	uint32_t *freed;        /* by object: the free of the block that it lies in, or NONE */
	uint32_t *stack_thread; /* by block: whose stack it is, or NONE */
	uint32_t *joined;       /* by thread: the event that waited for its end, or NONE */
};

static uint32_t *nones(uint64_t count)
{
	uint32_t *array = g_new(uint32_t, count + 1);
	memset(array, 0xff, (count + 1) * sizeof *array);
	return array;
}

static int by_address(const void *a, const void *b, void *blocks)
{
	const struct block *x = (const struct block *)blocks + *(const uint32_t *)a;
	const struct block *y = (const struct block *)blocks + *(const uint32_t *)b;
	return x->address != y->address ? (x->address < y->address ? -1 : 1) : 0;
}

/* Blocks that are freed, by address.  Lives at one place follow each other, so that those that
 * begin near an address are few. */
static uint32_t *sorted_blocks(const struct trace *t, uint32_t *count)
{
	uint32_t *order = g_new(uint32_t, t->blocks_count + 1);
	*count = 0;
	for (uint32_t b = 0; b < t->blocks_count; b++)
		if (t->blocks[b].free != NONE && t->blocks[b].address != 0)
			order[(*count)++] = b;
	g_qsort_with_data(order, (gint)*count, sizeof *order, by_address, (gpointer)t->blocks);
	return order;
}

/* The free of the life that `address` lay in at `event`: of the latest that had begun. */
static uint32_t free_of(const struct trace *t, const uint32_t *order, uint32_t count,
                        uint64_t address, uint32_t event)
{
	enum { BACK = 64 };
	uint32_t low = 0, high = count, found = NONE, begun = 0;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (t->blocks[order[middle]].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (int i = 0; i < BACK && low > 0; i++, low--) {
		const struct block *b = &t->blocks[order[low - 1]];
		uint32_t alloc = b->alloc == NONE ? 0 : b->alloc;
		if (address - b->address < b->size && alloc <= event && alloc >= begun) {
			found = b->free;
			begun = alloc;
		}
	}
	return found;
}

static void find_objects(struct lifetimes *l)
{
	const struct trace *t = l->t;
	uint32_t count, *order = sorted_blocks(t, &count);
	for (uint32_t o = 0; o < t->objects_count; o++) {
		struct event_list list = event_list_at(&t->index->object_events, o);
		for (uint64_t i = 0; i < list.count && l->destroyed[o] == NONE; i++)
			if (t->events[list.items[i]].op == OP_DESTROY)
				l->destroyed[o] = list.items[i];
		if (list.count > 0 && t->objects[o].address != 0)
			l->freed[o] =
			        free_of(t, order, count, t->objects[o].address, list.items[0]);
	}
	g_free(order);
}

static void find_stacks(struct lifetimes *l)
{
	const struct trace *t = l->t;
	for (uint32_t u = 0; u < t->threads_count; u++)
		if (t->threads[u].stack != NONE && t->threads[u].fork != NONE)
			l->stack_thread[t->threads[u].stack] = u;
	for (uint32_t e = 0; e < t->events_count; e++)
		if (t->events[e].op == OP_JOIN && t->events[e].target < t->threads_count)
			l->joined[t->events[e].target] = e;
}

struct lifetimes *lifetimes_new(struct trace *t)
{
	struct lifetimes *l = g_new(struct lifetimes, 1);
	trace_need(t, INDEX_OBJECTS, NULL);
	*l = (struct lifetimes){ .t = t,
		                 .destroyed = nones(t->objects_count),
		                 .freed = nones(t->objects_count),
		                 .stack_thread = nones(t->blocks_count),
		                 .joined = nones(t->threads_count) };
	find_objects(l);
	find_stacks(l);
	return l;
}

void lifetimes_free(struct lifetimes *l)
{
	if (l == NULL)
		return;
	g_free(l->destroyed);
	g_free(l->freed);
	g_free(l->stack_thread);
	g_free(l->joined);
	g_free(l);
}

/* Does the operation need its object to be there?  A thread that was woken, or leaves a
 * barrier, may come after its destruction. */
static bool uses_object(enum op op)
{
	return op_table[op].operand == OPERAND_OBJECT && op != OP_WAKE && op != OP_DEPART;
}

unsigned lifetimes_ends(const struct lifetimes *l, uint32_t event,
                        uint32_t ends[MOST_LIFETIME_ENDS])
{
	const struct trace *t = l->t;
	const struct event *e = &t->events[event];
	uint32_t first = NONE, second = NONE;
	if (op_is_access(e->op)) {
		uint32_t block = t->variables[event_variables(t, e).first].block;
		if (block != NONE && t->blocks[block].free != NONE)
			first = t->blocks[block].free;
		else if (block != NONE && l->stack_thread[block] != NONE)
			first = l->joined[l->stack_thread[block]];
	} else if (e->op == OP_FREE && e->target < t->blocks_count) {
		first = t->blocks[e->target].free;
	} else if (uses_object(e->op) && e->target < t->objects_count) {
		first = e->op == OP_DESTROY ? NONE : l->destroyed[e->target];
		second = l->freed[e->target];
	}
	unsigned count = 0;
	if (first != NONE && first != event)
		ends[count++] = first;
	if (second != NONE)
		ends[count++] = second;
	return count;
}

uint32_t lifetimes_ended(const struct lifetimes *l, uint32_t event)
{
	uint32_t ends[MOST_LIFETIME_ENDS], ended = NONE;
	if (event_inert(&l->t->events[event]))
		return NONE;
	for (unsigned i = lifetimes_ends(l, event, ends); i-- > 0;)
		if (ends[i] < event && ends[i] < ended) /* NONE is above all events */
			ended = ends[i];
	return ended;
}
