/* chains.c - see chains.h. */
#include "engine/trace/chains.h"

#include "engine/trace/index_private.h"
#include "engine/trace/storage.h"

#include <string.h>

/* Properties of a thread, found in one pass. */
struct life {
	uint32_t place; /* NONE: none yet */
	/* The thread may share its place: it has no fences, and joins release sequences by
	 * RMWs and release stores only, since C11's release sequence depends on "the same
	 * thread". */
	bool alone;
	bool acts;       /* it has events; else its join may come before its fork */
	bool joined;     /* by an earlier event */
	uint32_t wanted; /* the thread whose join of it has begun and not ended; NONE: none */
	bool ended;      /* joined, and its place is free */
	uint32_t open; /* number of critical sections, waits, invocations, units, barrier pairs
	                */
	GArray *free;  /* uint32_t: places of threads it has joined; or NULL */
};

struct maker {
	const struct trace *t;
	struct life *lives; /* by thread */
	uint32_t places;
};

/* 1 or -1 for events that begin or end a scope, which must not span threads. */
static int opens(enum op op)
{
	switch (op) {
	case OP_WAIT:
	case OP_CALL:
	case OP_UBEG:
	case OP_MISS:
	case OP_ARRIVE:
		return 1;
	case OP_WAKE:
	case OP_RET:
	case OP_UEND:
	case OP_BACK:
	case OP_DEPART:
		return -1;
	default:
		return op_acquires(op) - op_releases(op);
	}
}

static bool is_alone(const struct event *x)
{
	return x->op == OP_FENCE || (x->op == OP_AWRITE && !order_releases(event_order(x)));
}

static uint32_t new_place(struct maker *m, struct life *forker)
{
	if (forker == NULL || forker->free == NULL || forker->free->len == 0)
		return m->places++;
	uint32_t place = g_array_index(forker->free, uint32_t, forker->free->len - 1);
	g_array_set_size(forker->free, forker->free->len - 1);
	return place;
}

static void fork_one(struct maker *m, const struct event *x)
{
	struct life *child = &m->lives[x->target];

	if (child->place == NONE)
		child->place = new_place(m, child->alone ? NULL : &m->lives[x->thread]);
}

static void join_one(struct maker *m, const struct event *x)
{
	struct life *ended = &m->lives[x->target], *by = &m->lives[x->thread];

	if (ended->ended || x->target == x->thread)
		return;
	ended->ended = true;
	if (by->free == NULL)
		by->free = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (ended->acts && !ended->alone && ended->open == 0)
		g_array_append_val(by->free, ended->place);
	if (ended->free == NULL)
		return;
	g_array_append_vals(by->free, ended->free->data, ended->free->len);
	g_array_free(g_steal_pointer(&ended->free), TRUE);
}

/* A join by a second thread waits for this thread, not for the next one in its place, whether
 * it begins before the first one's join ends or after it. */
static void note_joiner(struct life *target, const struct event *x)
{
	target->alone |= target->wanted != NONE && target->wanted != x->thread;
	if (x->op == OP_WANTJOIN) {
		target->alone |= target->joined;
		target->wanted = x->thread;
	} else {
		target->joined = true;
		target->wanted = NONE;
	}
}

/* Assign places to threads, in trace order. False when cancelled. */
static bool give_places(struct maker *m, const struct progress *progress)
{
	const struct trace *t = m->t;

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		m->lives[x->thread].alone |= is_alone(x);
		if (x->op == OP_WANTJOIN || x->op == OP_JOIN)
			note_joiner(&m->lives[x->target], x);
	}
	/* A join at the end of the trace waits for this thread alone, too. */
	for (uint64_t u = 0; u < t->threads_count; u++)
		m->lives[u].alone |= m->lives[u].wanted != NONE;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct life *own = &m->lives[x->thread];

		if ((e & 0xfffff) == 0 &&
		    !progress_tick(progress, (double)e / t->events_count, "threads"))
			return false;
		if (own->place == NONE)
			own->place = new_place(m, NULL);
		own->acts = true;
		if (event_inert(x))
			continue;
		own->open += opens(x->op);
		if (x->op == OP_FORK)
			fork_one(m, x);
		else if (x->op == OP_JOIN)
			join_one(m, x);
	}
	for (uint64_t u = 0; u < t->threads_count; u++) {
		if (m->lives[u].place == NONE) /* it has no events */
			m->lives[u].place = 0;
	}
	return true;
}

/* Copies the events with places as threads, also as targets of forks. */
static void own_events(const struct maker *m, struct trace *view)
{
	struct event *events = g_new(struct event, m->t->events_count + 1);
	struct thread *threads = g_new0(struct thread, m->places + 1);

	memcpy(events, m->t->events, m->t->events_count * sizeof *events);
	for (uint32_t e = 0; e < m->t->events_count; e++) {
		struct event *x = &events[e];

		x->thread = m->lives[x->thread].place;
		if (op_table[x->op].operand == OPERAND_THREAD)
			x->target = m->lives[x->target].place;
	}
	for (uint64_t u = m->t->threads_count; u-- > 0;) /* named as the first */
		threads[m->lives[u].place] = m->t->threads[u];
	view->events = trace_own(view, events);
	view->threads = trace_own(view, threads);
	view->threads_count = m->places;
}

/* The must-order without edges inside of a place. */
static void own_must(struct trace *view)
{
	const struct trace_index *whole = view->recorded->index;
	struct trace_index *ix = view->index;
	struct must_edge *must = g_new(struct must_edge, whole->must_count + 1);
	uint32_t *by_before = g_new(uint32_t, whole->must_count + 1);
	uint32_t *now = g_new(uint32_t, whole->must_count + 1);
	uint64_t count = 0, n = 0;

	for (uint64_t i = 0; i < whole->must_count; i++) {
		const struct must_edge *edge = &whole->must[i];
		bool within =
		        view->events[edge->before].thread == view->events[edge->after].thread;

		now[i] = within ? NONE : (uint32_t)count;
		if (!within)
			must[count++] = *edge;
	}
	for (uint64_t i = 0; i < whole->must_count; i++) {
		if (now[whole->must_by_before[i]] != NONE)
			by_before[n++] = now[whole->must_by_before[i]];
	}
	g_free(now);
	ix->must = must;
	ix->must_by_before = by_before;
	ix->must_count = count;
	ix->parts |= INDEX_MUST;
}

struct trace *trace_by_chains(struct trace *t, uint32_t least, const struct progress *progress,
                              bool *cancelled)
{
	struct maker m = { .t = t };
	struct trace *view = NULL;
	bool good = true;

	if (t->threads_count >= least && t->threads_count > 1 && !t->locks_taken &&
	    t->recorded == NULL) {
		m.lives = g_new0(struct life, t->threads_count + 1);
		for (uint64_t u = 0; u < t->threads_count; u++)
			m.lives[u].place = m.lives[u].wanted = NONE;
		good = give_places(&m, progress);
		if (good && m.places < t->threads_count &&
		    (least <= 2 || m.places <= t->threads_count / 2)) {
			good = trace_need(t, INDEX_MUST, progress);
			view = good ? trace_reading(t) : NULL;
		}
		if (view != NULL) {
			own_events(&m, view);
			good = trace_need(view, INDEX_THREADS, progress);
			view->recorded = t;
			if (good)
				own_must(view);
		}
		for (uint64_t u = 0; u < t->threads_count; u++) {
			if (m.lives[u].free != NULL)
				g_array_free(m.lives[u].free, TRUE);
		}
		g_free(m.lives);
	}
	if (!good) {
		trace_close(view);
		view = NULL;
	}
	if (cancelled != NULL)
		*cancelled = !good;
	return view;
}
