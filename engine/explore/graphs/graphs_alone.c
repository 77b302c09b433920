/*
 * graphs_alone.c - which graphs need no run, as their threads share nothing but atomics.
 *
 * A thread's behaviour depends on its own past. Where no two threads access the same plain
 * memory with nothing but creation and joins between, use one object of the thread library or
 * free memory, each thread behaves in a run of a graph as it would by itself: a failure is
 * one thread's, and no data race exists. So a graph adds nothing if each of its threads came
 * to the same end in some run. A run that shows otherwise makes all graphs be looked at
 * again.
 */
#include "engine/explore/graphs/graphs.h"

enum { WIDEST = 64 /* bytes */ };

/* An access of a byte by a thread while its children in `live` could run. */
struct use {
	uint64_t live; /* bit set of threads by number */
	uint32_t thread;
	bool writes, atomic;
};

struct sharing {
	struct graphs *s;
	const struct trace *t;
	const struct memory_recorded *r;
	struct memory_blocks *blocks;
	uint64_t *live; /* by thread of the trace */
	uint32_t alive;
};

/* Is the parent's access before the child's creation, or after its join? */
static bool is_apart(const struct graphs *s, const struct use *parent, const struct use *child)
{
	const struct memory_ancestry *a =
	        &g_array_index(s->world.threads, struct memory_ancestry, child->thread);
	return a->parent == parent->thread && !(parent->live >> child->thread & 1);
}

static bool conflicts(const struct graphs *s, const struct use *a, const struct use *b)
{
	return a->thread != b->thread && (a->writes || b->writes) &&
	       !(a->atomic && b->atomic) && !is_apart(s, a, b) && !is_apart(s, b, a);
}

static void note_byte(struct graphs *s, const struct memory_place *byte, const struct use *use)
{
	GArray *uses = g_hash_table_lookup(s->uses, byte);
	if (uses == NULL) {
		uses = g_array_new(FALSE, FALSE, sizeof(struct use));
		g_hash_table_insert(s->uses, g_memdup2(byte, sizeof *byte), uses);
	}
	for (guint i = 0; i < uses->len; i++) {
		const struct use *other = &g_array_index(uses, struct use, i);
		if (other->thread == use->thread && other->live == use->live &&
		    other->writes == use->writes && other->atomic == use->atomic)
			return;
		s->meet |= conflicts(s, other, use);
	}
	g_array_append_val(uses, *use);
}

static void note_access(struct sharing *w, uint32_t event)
{
	const struct event *x = &w->t->events[event];
	struct use use = { w->live[x->thread], w->r->thread[x->thread], op_writes(x->op),
		           op_is_atomic(x->op) };
	struct memory_place place;
	if (event_inert(x) || w->alive < 2)
		return;
	memory_place_of(w->t, w->blocks, event, &place);
	w->s->meet |= place.size == 0 || place.size > WIDEST;
	uint32_t size = MIN(place.size, (uint32_t)WIDEST);
	place.size = 1;
	for (uint32_t i = 0; i < size; i++, place.offset++)
		note_byte(w->s, &place, &use);
}

/* Notes an operation on an object of the thread library, as a write to it; all messages count
 * as one object, and so do all objects in blocks, whose addresses may differ in another run. */
static void note_object(struct sharing *w, uint32_t event)
{
	const struct event *x = &w->t->events[event];
	struct use use = { w->live[x->thread], w->r->thread[x->thread], true, false };
	struct memory_place place = { 0 };
	if (event_inert(x) || w->alive < 2)
		return;
	if (op_table[x->op].operand == OPERAND_MESSAGE)
		place.base = 1;
	else if (w->t->objects[x->target].block != NONE)
		place.base = 2;
	else
		place.offset = w->t->objects[x->target].address;
	note_byte(w->s, &place, &use);
}

static void note_event(struct sharing *w, uint32_t event)
{
	const struct event *x = &w->t->events[event];
	enum operand operand = op_table[x->op].operand;
	if (operand == OPERAND_OBJECT || operand == OPERAND_MESSAGE) {
		note_object(w, event);
		return;
	}
	switch (x->op) {
	case OP_READ:
	case OP_WRITE:
	case OP_AREAD:
	case OP_AWRITE:
	case OP_RMW:
		note_access(w, event);
		break;
	case OP_FORK:
	case OP_JOIN: {
		uint32_t child = w->r->thread[x->target];
		uint64_t bit = child < 64 ? (uint64_t)1 << child : 0;
		w->s->meet |= bit == 0;
		w->live[x->thread] &= ~bit;
		w->live[x->thread] |= x->op == OP_FORK ? bit : 0;
		w->alive += x->op == OP_FORK ? 1 : -1;
		break;
	}
	case OP_FREE:
	case OP_MISS:
	case OP_BACK:
		w->s->meet |= w->alive > 1;
		break;
	case OP_FENCE:
	case OP_BEGIN:
	case OP_END:
	case OP_ALLOC:
	case OP_ENTER:
	case OP_LEAVE:
	case OP_BRANCH:
	case OP_WANTJOIN:
	case OP_FLUSH:
		break;
	default:
		w->s->meet = true;
	}
}

void graphs_note_uses(struct graphs *s, const struct trace *t, const struct memory_recorded *r)
{
	if (s->meet)
		return;
	struct sharing w = { .s = s,
		             .t = t,
		             .r = r,
		             .blocks = memory_blocks_new(t, r->thread),
		             .live = g_new0(uint64_t, t->threads_count + 1),
		             .alive = 1 };
	for (uint32_t e = 0; e < t->events_count && !s->meet; e++)
		note_event(&w, e);
	s->restart |= s->meet && s->spared > 0;
	s->spared = s->meet ? 0 : s->spared;
	memory_blocks_free(w.blocks);
	g_free(w.live);
}

void graphs_note_ends(struct graphs *s, struct memory_graph *g)
{
	for (uint32_t t = 0; t < g->threads; t++) {
		uint64_t mark = graphs_last(g, t);
		g_hash_table_add(s->ends, g_memdup2(&mark, sizeof mark));
	}
}

bool graphs_spare(struct graphs *s, struct memory_graph *g, bool blocked)
{
	for (uint32_t t = 0; t < g->threads && !s->meet && !blocked; t++) {
		uint64_t mark = graphs_last(g, t);
		if (!g_hash_table_contains(s->ends, &mark))
			return false;
	}
	bool spare = !s->meet && !blocked;
	s->spared += spare;
	return spare;
}
