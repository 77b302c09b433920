/*
 * binary_form.c - checks the events of a binary trace for properties guaranteed by the builder
 * and assumed by analyses: a thread's events are between its fork and its end or join, a
 * block's between alloc and free. Otherwise orders between threads could lead back in time.
 *
 * Locks are not checked: overlapping holders are wrong, but harmless.
 */
#include "engine/trace/binary/binary_private.h"
#include "engine/trace/weak.h"

struct life {
	bool forked, started, over;
};

struct form {
	const struct trace *t;
	struct life *lives;            /* by thread */
	uint64_t forks, allocs, frees; /* numbers of events that the tables name */
};

static const char *check_fork(struct form *f, uint32_t e)
{
	const struct trace *t = f->t;
	const struct event *x = &t->events[e];
	struct life *child = &f->lives[x->target];
	if (x->target == x->thread || child->started)
		return "a thread has an event before its fork";
	if (child->forked)
		return "a thread is forked twice";
	if (t->threads[x->target].fork != e || t->threads[x->target].parent != x->thread)
		return "the table of threads says otherwise of a fork";
	child->forked = true;
	f->forks++;
	return NULL;
}

static const char *check_block(struct form *f, uint32_t e)
{
	const struct trace *t = f->t;
	const struct event *x = &t->events[e];
	const struct block *b = &t->blocks[x->target];
	f->allocs += x->op == OP_ALLOC;
	f->frees += x->op == OP_FREE && b->free == e;
	if (x->op == OP_ALLOC)
		return b->alloc == e ? NULL : "the table of blocks says otherwise of an alloc";
	/* the first of several frees counts */
	return b->free <= e ? NULL : "the table of blocks says otherwise of a free";
}

static const char *check_event(struct form *f, uint32_t e)
{
	const struct trace *t = f->t;
	const struct event *x = &t->events[e];
	switch (x->op) {
	case OP_FORK:
		return check_fork(f, e);
	case OP_JOIN:
		if (x->target == x->thread)
			return "a thread waits for its own end";
		f->lives[x->target].over = true;
		return NULL;
	case OP_END:
		f->lives[x->thread].over = true;
		return NULL;
	case OP_ALLOC:
	case OP_FREE:
		return check_block(f, e);
	case OP_FLUSH:
		return trace_model(t) == WEAK_TSO
		               ? NULL
		               : "a store arrives in a trace that is not of tso";
	default:
		return NULL;
	}
}

/* Checks that events named by tables have the expected operation. Each event of these
 * operations is named by one table entry, so the numbers must agree. */
static const char *check_named(const struct form *f)
{
	const struct trace *t = f->t;
	uint64_t forks = 0, allocs = 0, frees = 0;

	for (uint64_t i = 0; i < t->threads_count; i++)
		forks += t->threads[i].fork != NONE;
	for (uint64_t i = 0; i < t->blocks_count; i++) {
		uint32_t alloc = t->blocks[i].alloc, end = t->blocks[i].free;

		allocs += alloc != NONE;
		frees += end != NONE;
		if (alloc != NONE && end != NONE && alloc > end)
			return "a block is freed before it is allocated";
	}
	return forks != f->forks ? "the table of threads names an event that is no fork of it"
	       : allocs != f->allocs
	               ? "the table of blocks names an event that is no alloc of it"
	       : frees != f->frees ? "the table of blocks names an event that is no free of it"
	                           : NULL;
}

struct form *binary_form_new(const struct trace *t)
{
	struct form *f = g_new0(struct form, 1);

	f->t = t;
	f->lives = g_new0(struct life, t->threads_count + 1);
	return f;
}

const char *binary_form_event(struct form *f, uint32_t e)
{
	const struct event *x = &f->t->events[e];
	struct life *own = &f->lives[x->thread];

	own->started = true;
	if (own->over)
		return "a thread has an event after its end or join";
	return op_is_access(x->op) ? NULL : check_event(f, e);
}

/* Sets and reach lists must be lists of names. */
bool binary_is_list_of_names(const struct trace *t, uint32_t value)
{
	const struct value list = trace_value(t, value);
	if (list.kind != V_LIST)
		return false;
	for (uint32_t i = 0; i < list.count; i++) {
		uint32_t kind = trace_value(t, t->value_lists[list.first + i]).kind;
		if (kind != V_TOKEN && kind != V_STRING)
			return false;
	}
	return true;
}

const char *binary_form_end(const struct form *f)
{
	return check_named(f);
}

void binary_form_free(struct form *f)
{
	g_free(f->lives);
	g_free(f);
}
