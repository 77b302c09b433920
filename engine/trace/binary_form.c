/*
 * binary_form.c - checks the events of a binary trace for properties guaranteed by the builder
 * and assumed by analyses: a thread's events are between its fork and its end or join, a
 * block's between alloc and free. Otherwise orders between threads could lead back in time.
 *
 * Locks are not checked: overlapping holders are wrong, but harmless.
 */
#include "engine/trace/weak.h"
#include "engine/trace/storage.h"

struct life {
	bool forked, started, over;
};

static const char *check_fork(const struct trace *t, struct life *lives, uint32_t e)
{
	const struct event *x = &t->events[e];
	struct life *child = &lives[x->target];
	if (x->target == x->thread || child->started)
		return "a thread has an event before its fork";
	if (child->forked)
		return "a thread is forked twice";
	if (t->threads[x->target].fork != e || t->threads[x->target].parent != x->thread)
		return "the table of threads says otherwise of a fork";
	child->forked = true;
	return NULL;
}

static const char *check_block(const struct trace *t, uint32_t e)
{
	const struct event *x = &t->events[e];
	const struct block *b = &t->blocks[x->target];
	if (x->op == OP_ALLOC)
		return b->alloc == e ? NULL : "the table of blocks says otherwise of an alloc";
	/* The first of several frees counts. */
	return b->free <= e ? NULL : "the table of blocks says otherwise of a free";
}

static const char *check_event(const struct trace *t, struct life *lives, uint32_t e)
{
	const struct event *x = &t->events[e];
	switch (x->op) {
	case OP_FORK:
		return check_fork(t, lives, e);
	case OP_JOIN:
		if (x->target == x->thread)
			return "a thread waits for its own end";
		lives[x->target].over = true;
		return NULL;
	case OP_END:
		lives[x->thread].over = true;
		return NULL;
	case OP_ALLOC:
	case OP_FREE:
		return check_block(t, e);
	case OP_FLUSH:
		return trace_model(t) == WEAK_TSO
		               ? NULL
		               : "a store arrives in a trace that is not of tso";
	default:
		return NULL;
	}
}

/* Events referred to by tables must have the expected operation. */
static const char *check_named(const struct trace *t)
{
	for (uint64_t i = 0; i < t->threads_count; i++) {
		uint32_t fork = t->threads[i].fork;
		if (fork != NONE &&
		    (t->events[fork].op != OP_FORK || t->events[fork].target != i))
			return "the table of threads names an event that is no fork of it";
	}
	for (uint64_t i = 0; i < t->blocks_count; i++) {
		uint32_t alloc = t->blocks[i].alloc, end = t->blocks[i].free;
		if (alloc != NONE &&
		    (t->events[alloc].op != OP_ALLOC || t->events[alloc].target != i))
			return "the table of blocks names an event that is no alloc of it";
		if (end != NONE && (t->events[end].op != OP_FREE || t->events[end].target != i))
			return "the table of blocks names an event that is no free of it";
		if (alloc != NONE && end != NONE && alloc > end)
			return "a block is freed before it is allocated";
	}
	return NULL;
}

const char *binary_malformed(const struct trace *t, uint32_t *event)
{
	struct life *lives = g_new0(struct life, t->threads_count + 1);
	const char *wrong = NULL;
	uint32_t e = 0;
	for (; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct life *own = &lives[x->thread];
		if (G_UNLIKELY(own->over))
			wrong = "a thread has an event after its end or join";
		own->started = true;
		if (G_UNLIKELY(!op_is_access(x->op)) && wrong == NULL)
			wrong = check_event(t, lives, e);
		if (G_UNLIKELY(wrong != NULL))
			break;
	}
	g_free(lives);
	*event = wrong ? e : NONE;
	return wrong ? wrong : check_named(t);
}
