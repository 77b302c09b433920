/* lifetimes.c - see lifetimes.h. */
#include "engine/explore/lifetimes.h"

#include "engine/trace/index.h"

struct lifetimes {
	const struct trace *t;
	uint32_t *destroyed;    /* by object: first destruction, or NONE */
	uint32_t *stack_thread; /* by block: the thread whose stack it is, or NONE */
	uint32_t *joined;       /* by thread: the event that joined it, or NONE */
	GArray *wants;          /* uint32_t: pending waits at the run's end, in order */
};

static uint32_t *nones(uint64_t count)
{
	uint32_t *array = g_new(uint32_t, count + 1);
	memset(array, 0xff, (count + 1) * sizeof *array);
	return array;
}

static void find_objects(struct lifetimes *l)
{
	const struct trace *t = l->t;
	for (uint32_t o = 0; o < t->objects_count; o++) {
		struct event_list list = event_list_at(&t->index->object_events, o);
		for (uint64_t i = 0; i < list.count && l->destroyed[o] == NONE; i++)
			if (t->events[list.items[i]].op == OP_DESTROY)
				l->destroyed[o] = list.items[i];
	}
}

static void find_stacks(struct lifetimes *l)
{
	const struct trace *t = l->t;
	for (uint32_t u = 0; u < t->threads_count; u++)
		if (t->threads[u].stack != NONE && t->threads[u].fork != NONE)
			l->stack_thread[t->threads[u].stack] = u;
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (t->events[e].op == OP_JOIN && t->events[e].target < t->threads_count)
			l->joined[t->events[e].target] = e;
		if (t->events[e].op == OP_WANT)
			g_array_append_val(l->wants, e);
	}
}

struct lifetimes *lifetimes_new(struct trace *t)
{
	struct lifetimes *l = g_new(struct lifetimes, 1);
	trace_need(t, INDEX_OBJECTS, NULL);
	*l = (struct lifetimes){ .t = t,
		                 .destroyed = nones(t->objects_count),
		                 .stack_thread = nones(t->blocks_count),
		                 .joined = nones(t->threads_count),
		                 .wants = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	find_objects(l);
	find_stacks(l);
	return l;
}

void lifetimes_free(struct lifetimes *l)
{
	if (l == NULL)
		return;
	g_free(l->destroyed);
	g_free(l->stack_thread);
	g_free(l->joined);
	g_array_unref(l->wants);
	g_free(l);
}

/* Must the operation's object exist? Woken threads and departures from barriers may come after
 * its destruction. */
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
		uint32_t block = event_block_used(t, e);
		second = block != NONE ? t->blocks[block].free : NONE;
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
		if (ends[i] < event && ends[i] < ended) /* NONE is greater than all events */
			ended = ends[i];
	return ended;
}

/* The earlier end of life of the object of a pending wait, or NONE. */
static uint32_t ended_wait(const struct lifetimes *l, uint32_t want)
{
	const struct trace *t = l->t;
	uint32_t object = t->events[want].target, block = t->objects[object].block;
	uint32_t freed = block != NONE ? t->blocks[block].free : NONE;
	uint32_t ended = MIN(l->destroyed[object], freed); /* NONE is greater than all events */
	return ended < want ? ended : NONE;
}

GArray *lifetimes_ended_waits(const struct lifetimes *l)
{
	GArray *waits = g_array_new(FALSE, FALSE, sizeof(struct ended_wait));
	for (guint i = 0; i < l->wants->len; i++) {
		uint32_t want = g_array_index(l->wants, uint32_t, i);
		struct ended_wait w = { want, ended_wait(l, want) };
		if (w.end != NONE)
			g_array_append_val(waits, w);
	}
	return waits;
}

bool lifetimes_ends_wait(const struct lifetimes *l, uint32_t event, uint32_t thread)
{
	for (guint i = 0; i < l->wants->len; i++) {
		uint32_t want = g_array_index(l->wants, uint32_t, i);
		if ((thread == NONE || l->t->events[want].thread == thread) &&
		    ended_wait(l, want) == event)
			return true;
	}
	return false;
}
