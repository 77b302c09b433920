/* lifetimes.c - see lifetimes.h. */
#include "engine/explore/runs/lifetimes.h"

#include "engine/explore/runs/frames.h"
#include "engine/trace/index.h"

struct lifetimes {
	struct trace *t;
	uint32_t *destroyed;    /* by object: first destruction, or NONE */
	uint32_t *stack_thread; /* by block: the thread whose stack it is, or NONE */
	uint32_t *left; /* by thread whose stack others use: the event that ends it, or NONE */
	GHashTable *returns;  /* event + 1 that uses a local variable of another thread -> the
	                       * end  of its frame */
	GHashTable *last;     /* the set of these ends, + 1 */
	uint64_t *unobserved; /* bit set of such reads after the end; NULL: there are none */
	bool *mortal;         /* by event: the block or object it uses ends */
	GArray *wants;        /* uint32_t: pending waits at the run's end, in order */
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

/* The thread, if another one, in whose stack lies what the event uses, and its address (NULL:
 * not asked for); else NONE. */
static uint32_t stack_used(const struct lifetimes *l, const struct event *e, uint64_t *address)
{
	const struct trace *t = l->t;
	uint32_t block = NONE;
	uint64_t at = 0;
	if (op_is_access(e->op)) {
		const struct variable *v = &t->variables[event_variables(t, e).first];
		block = v->block;
		at = v->address;
	} else if (op_table[e->op].operand == OPERAND_OBJECT && e->target < t->objects_count) {
		block = t->objects[e->target].block;
		at = t->objects[e->target].address;
	}
	if (address != NULL)
		*address = at;
	uint32_t thread = block != NONE ? l->stack_thread[block] : NONE;
	return thread != e->thread ? thread : NONE;
}

/* The thread, if another one that ends, whose stack the event uses; else NONE. The first
 * thread's stack is there until the program ends. */
static uint32_t ending_stack(const struct lifetimes *l, const struct event *e)
{
	uint32_t thread = stack_used(l, e, NULL);
	return thread != NONE && l->t->threads[thread].fork != NONE ? thread : NONE;
}

/* A thread's end: its last event with an effect, since nothing can block the thread after it.
 * Threads that have left their first function (also by pthread_exit) or were joined have one.
 */
static void find_ends(struct lifetimes *l, const bool *used)
{
	const struct trace *t = l->t;
	uint32_t *depth = g_new0(uint32_t, t->threads_count + 1);
	uint32_t *last = nones(t->threads_count);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		enum op_class class = op_table[x->op].class;
		if (x->op == OP_ENTER)
			depth[x->thread]++;
		else if (x->op == OP_LEAVE && depth[x->thread] > 0 && --depth[x->thread] == 0 &&
		         used[x->thread] && !(x->flags & EVENT_LEFT))
			l->left[x->thread] = last[x->thread];
		else if (x->op == OP_JOIN && x->target < t->threads_count && used[x->target])
			l->left[x->target] = last[x->target];
		if (!event_inert(x) && class != OP_CLASS_SCOPE && class != OP_CLASS_MARKER)
			last[x->thread] = e;
	}
	g_free(last);
	g_free(depth);
}

static void find_stacks(struct lifetimes *l)
{
	const struct trace *t = l->t;
	bool *used = g_new0(bool, t->threads_count + 1);
	for (uint32_t u = 0; u < t->threads_count; u++)
		if (t->threads[u].stack != NONE)
			l->stack_thread[t->threads[u].stack] = u;
	for (uint32_t e = 0; e < t->events_count; e++) {
		uint32_t thread = ending_stack(l, &t->events[e]);
		if (thread != NONE)
			used[thread] = true;
		if (t->events[e].op == OP_WANT)
			g_array_append_val(l->wants, e);
	}
	find_ends(l, used);
	g_free(used);
}

/* Looks at each use of something in another thread's stack, whose function may have returned.
 */
struct return_search {
	struct frames **frames; /* by thread; NULL: not needed yet */
	struct past *past;      /* NULL: not needed yet */
	bool again; /* a read was found to come after an end: others may know less than the past
	             * says */
};

static void find_return(struct lifetimes *l, struct return_search *s, uint32_t event)
{
	const struct past_options options = { .pairing = true,
		                              .invocations = true,
		                              .exempt = l->unobserved };
	const struct event *e = &l->t->events[event];
	uint64_t address;
	uint32_t thread = stack_used(l, e, &address);
	if (thread == NONE || event_inert(e))
		return;
	if (s->frames[thread] == NULL) {
		uint32_t stack = l->t->threads[thread].stack;
		s->frames[thread] = frames_new(l->t, thread, l->t->blocks[stack].address);
	}
	if (!frames_may_end(s->frames[thread], address))
		return;
	if (s->past == NULL)
		s->past = past_new(l->t, &options, NULL);
	uint32_t end = frames_end(s->frames[thread], s->past, event, address);
	if (end == NONE)
		return;
	g_hash_table_insert(l->returns, GUINT_TO_POINTER(event + 1), GUINT_TO_POINTER(end));
	g_hash_table_add(l->last, GUINT_TO_POINTER(end + 1));
	if (end > event || !op_reads(e->op) || past_exempt(l->unobserved, event))
		return;
	if (l->unobserved == NULL)
		l->unobserved = g_new0(uint64_t, l->t->events_count / 64 + 1);
	l->unobserved[event / 64] |= UINT64_C(1) << (event % 64);
	s->again = true;
}

/* A read after the end sees what a later function left there, and knows nothing by it. */
static void find_returns(struct lifetimes *l)
{
	struct return_search s = { .frames = g_new0(struct frames *, l->t->threads_count + 1) };
	do {
		s.again = false;
		for (uint32_t e = 0; e < l->t->events_count; e++)
			find_return(l, &s, e);
		g_clear_pointer(&s.past, past_free);
	} while (s.again);
	for (uint32_t u = 0; u < l->t->threads_count; u++)
		frames_free(s.frames[u]);
	g_free(s.frames);
}

/* The end of what an event uses in another thread's stack, by the return of its function or by
 * the thread's end; or NONE. */
static uint32_t stack_end(const struct lifetimes *l, uint32_t event)
{
	gpointer end;
	if (g_hash_table_lookup_extended(l->returns, GUINT_TO_POINTER(event + 1), NULL, &end))
		return GPOINTER_TO_UINT(end);
	uint32_t thread = ending_stack(l, &l->t->events[event]);
	return thread != NONE ? l->left[thread] : NONE;
}

/* Must the operation's object exist? Woken threads and departures from barriers may come after
 * its destruction. */
static bool uses_object(enum op op)
{
	return op_table[op].operand == OPERAND_OBJECT && op != OP_WAKE && op != OP_DEPART;
}

static unsigned find_ends_of(const struct lifetimes *l, uint32_t event,
                             uint32_t ends[MOST_LIFETIME_ENDS])
{
	const struct trace *t = l->t;
	const struct event *e = &t->events[event];
	uint32_t first = NONE, second = NONE;
	if (op_is_access(e->op)) {
		uint32_t block = t->variables[event_variables(t, e).first].block;
		if (block != NONE && t->blocks[block].free != NONE)
			first = t->blocks[block].free;
		else
			first = stack_end(l, event);
	} else if (e->op == OP_FREE && e->target < t->blocks_count) {
		first = t->blocks[e->target].free;
	} else if (uses_object(e->op) && e->target < t->objects_count) {
		first = l->destroyed[e->target];
		uint32_t block = event_block_used(t, e);
		second = block != NONE && t->blocks[block].free != NONE ? t->blocks[block].free
		                                                        : stack_end(l, event);
	}
	unsigned count = 0;
	if (first != NONE && first != event)
		ends[count++] = first;
	if (second != NONE)
		ends[count++] = second;
	return count;
}

struct lifetimes *lifetimes_new(struct trace *t)
{
	struct lifetimes *l = g_new(struct lifetimes, 1);
	trace_need(t, INDEX_OBJECTS | INDEX_THREADS, NULL);
	*l = (struct lifetimes){ .t = t,
		                 .destroyed = nones(t->objects_count),
		                 .stack_thread = nones(t->blocks_count),
		                 .left = nones(t->threads_count),
		                 .returns = g_hash_table_new(NULL, NULL),
		                 .last = g_hash_table_new(NULL, NULL),
		                 .wants = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	find_objects(l);
	find_stacks(l);
	find_returns(l);
	l->mortal = g_new(bool, t->events_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		uint32_t ends[MOST_LIFETIME_ENDS];
		l->mortal[e] = find_ends_of(l, e, ends) > 0;
	}
	return l;
}

void lifetimes_free(struct lifetimes *l)
{
	if (l == NULL)
		return;
	g_free(l->destroyed);
	g_free(l->stack_thread);
	g_free(l->left);
	g_array_unref(l->wants);
	g_hash_table_unref(l->returns);
	g_hash_table_unref(l->last);
	g_free(l->unobserved);
	g_free(l->mortal);
	g_free(l);
}

unsigned lifetimes_ends(const struct lifetimes *l, uint32_t event,
                        uint32_t ends[MOST_LIFETIME_ENDS])
{
	return l->mortal[event] ? find_ends_of(l, event, ends) : 0;
}

bool lifetimes_ends_stack(const struct lifetimes *l, uint32_t event)
{
	return l->left[l->t->events[event].thread] == event ||
	       g_hash_table_contains(l->last, GUINT_TO_POINTER(event + 1));
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

bool lifetimes_apart(const struct lifetimes *l, uint32_t use, uint32_t later)
{
	uint32_t ends[MOST_LIFETIME_ENDS];
	for (unsigned i = lifetimes_ends(l, use, ends); i-- > 0;)
		if (ends[i] < later &&
		    l->t->events[ends[i]].thread == l->t->events[later].thread)
			return true;
	return false;
}

const uint64_t *lifetimes_unobserved(const struct lifetimes *l)
{
	return l->unobserved;
}

bool lifetimes_any_return(const struct lifetimes *l)
{
	GHashTableIter i;
	gpointer use, end;
	g_hash_table_iter_init(&i, l->returns);
	while (g_hash_table_iter_next(&i, &use, &end))
		if (GPOINTER_TO_UINT(end) < GPOINTER_TO_UINT(use) - 1)
			return true;
	return false;
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
