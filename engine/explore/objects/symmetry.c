/* symmetry.c - see symmetry.h. */
#include "engine/explore/objects/symmetry.h"
#include "engine/base/hash.h"

#include <string.h>

struct likeness {
	const struct history *h;
	const struct trace *t;
	const uint8_t *visible;
	uint64_t *doing;  /* by thread: number for its behaviour; 0: unique */
	uint32_t *joined; /* by thread: the event that joins it, or NONE */
};

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = hash_join(h, x);
	return h ^ h >> 29;
}

/* The number of a call that returns nothing; 0: it returns, or its order matters. */
static uint64_t call_number(const struct view *v, const struct view_call *call)
{
	struct call_scratch scratch;
	struct call c;
	if (!view_by_results(v, call) || !view_names(v, call, false, &c, &scratch))
		return 0;
	const struct spec_method *m =
	        spec_method_at(v->model->objects[call->object].type->o, c.method);
	uint64_t number = mix(mix(1, call->object), c.method);
	for (uint32_t i = 0; i < m->arguments; i++)
		number = mix(mix(number, scratch.names[0][i].kind),
		             (uint64_t)scratch.names[0][i].n);
	return m->results > 0 ? 0 : number | 1;
}

static uint64_t thread_number(const struct likeness *f, uint32_t thread)
{
	struct event_list mine = trace_thread_events(f->t, thread);
	uint64_t number = 1;
	for (uint64_t i = 0; i < mine.count; i++) {
		uint32_t e = mine.items[i];
		const struct event *x = &f->t->events[e];
		const struct view_call *call = view_call_of(f->h->view, e);
		uint64_t what = 1;
		if (call != NULL)
			what = call_number(f->h->view, call);
		else if (!event_inert(x) &&
		         (f->visible[e] || op_table[x->op].class == OP_CLASS_SYNC))
			what = 0;
		if (what == 0)
			return 0;
		number = mix(mix(number, what), mix(x->op, x->location));
		number = mix(number, event_inert(x));
	}
	return number | 1;
}

/* Does the parent do nothing visible between joins of equivalent threads, so that it may wait
 * for all at once? */
static bool joined_together(const struct likeness *f, uint32_t a, uint32_t b)
{
	uint32_t x = f->joined[a], y = f->joined[b];
	if (x == NONE || y == NONE)
		return x == y;
	if (f->t->events[x].thread != f->t->events[y].thread)
		return false;
	for (uint32_t e = MIN(x, y); e != NONE && e < MAX(x, y); e = trace_next(f->t, e))
		if (f->visible[e])
			return false;
	return true;
}

static bool are_alike(const struct likeness *f, uint32_t a, uint32_t b)
{
	const struct thread *x = &f->t->threads[a], *y = &f->t->threads[b];
	return f->doing[a] != 0 && f->doing[a] == f->doing[b] && x->fork != NONE &&
	       y->fork != NONE &&
	       f->t->events[x->fork].thread == f->t->events[y->fork].thread &&
	       x->fork < y->fork && joined_together(f, a, b);
}

static void find_joins(struct likeness *f)
{
	for (uint32_t e = 0; e < f->t->events_count; e++) {
		const struct event *x = &f->t->events[e];
		if (x->op == OP_JOIN && !event_inert(x) && x->target < f->t->threads_count)
			f->joined[x->target] = e;
	}
}

struct symmetry *symmetry_new(const struct history *h, const uint8_t *visible)
{
	uint32_t threads = h->threads_count;
	struct symmetry *s = g_new(struct symmetry, 1);
	struct likeness f = { h, h->trace, visible, g_new0(uint64_t, threads + 1),
		              g_new(uint32_t, threads + 1) };
	s->ahead = g_new(uint32_t, threads + 1);
	s->kind = g_new(uint32_t, threads + 1);
	memset(s->ahead, 0xff, sizeof *s->ahead * (threads + 1));
	memset(s->kind, 0xff, sizeof *s->kind * (threads + 1));
	memset(f.joined, 0xff, sizeof *f.joined * (threads + 1));
	find_joins(&f);
	for (uint32_t u = 0; u < threads; u++)
		f.doing[u] = thread_number(&f, u);
	for (uint32_t u = 1; u < threads; u++)
		for (uint32_t w = u; w-- > 0 && s->ahead[u] == NONE;) {
			if (!are_alike(&f, w, u))
				continue;
			s->ahead[u] = w;
			if (s->kind[w] == NONE)
				s->kind[w] = w;
			s->kind[u] = s->kind[w];
		}
	g_free(f.doing);
	g_free(f.joined);
	return s;
}

void symmetry_free(struct symmetry *s)
{
	if (s == NULL)
		return;
	g_free(s->ahead);
	g_free(s->kind);
	g_free(s);
}
