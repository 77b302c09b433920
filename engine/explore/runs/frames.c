/* frames.c - see frames.h. */
#include "engine/explore/runs/frames.h"

#include "engine/trace/index.h"
#include "engine/trace/own_code.h"

#include <string.h>

struct call {
	uint64_t begin;  /* of its frame; 0: unknown */
	uint32_t parent; /* the call around it, or NONE */
	uint32_t last;   /* its last event with an effect, calls in it included; or NONE */
	uint32_t unseen; /* its last event that may wait in a way that is not recorded, or NONE
	                  */
	bool nobody;     /* a call of the C library: no variable lies in its frame */
	bool returned;
};

struct frames {
	const struct trace *t;
	uint32_t thread;
	GArray *calls;     /* struct call */
	uint32_t *current; /* by the thread's events: the innermost call behind it, or NONE */
	uint64_t highest;  /* begin of a call that has returned; 0: none has */
};

static struct call *call_at(const struct frames *f, uint32_t i)
{
	return &g_array_index(f->calls, struct call, i);
}

/* Calls of the C library that wait for time alone: whatever other threads do, they return. */
static bool only_sleeps(const char *call)
{
	static const char *const sleeps[] = { "sleep", "usleep", "nanosleep",
		                              "clock_nanosleep" };
	for (size_t i = 0; i < G_N_ELEMENTS(sleeps); i++)
		if (strcmp(call, sleeps[i]) == 0)
			return true;
	return false;
}

/* May the thread wait here for another one without an event that says so? */
static bool may_wait_unseen(const struct trace *t, const struct event *e)
{
	const char *call = e->op == OP_ENTER && e->aux == EVENT_FRAME_OF_NOBODY
	                           ? own_code_library_call(trace_string(t, e->target))
	                           : NULL;
	return e->op == OP_MISS || (call != NULL && !only_sleeps(call));
}

static uint32_t enter(struct frames *f, const struct event *e, uint64_t stack, uint32_t parent)
{
	struct call c = { .begin = event_frame_begin(stack, e),
		          .parent = parent,
		          .last = NONE,
		          .unseen = NONE,
		          .nobody = e->aux == EVENT_FRAME_OF_NOBODY };
	g_array_append_val(f->calls, c);
	return f->calls->len - 1;
}

static uint32_t later(uint32_t a, uint32_t b)
{
	return a == NONE || (b != NONE && b > a) ? b : a;
}

static uint32_t leave(struct frames *f, const struct event *e, uint32_t call)
{
	struct call *c = call_at(f, call);
	c->returned = !(e->flags & EVENT_LEFT);
	if (c->returned)
		f->highest = MAX(f->highest, c->begin);
	if (c->parent == NONE)
		return NONE;
	struct call *around = call_at(f, c->parent);
	around->last = later(around->last, c->last);
	around->unseen = later(around->unseen, c->unseen);
	return c->parent;
}

struct frames *frames_new(const struct trace *t, uint32_t thread, uint64_t stack)
{
	struct event_list mine = trace_thread_events(t, thread);
	struct frames *f = g_new0(struct frames, 1);
	uint32_t now = NONE;
	*f = (struct frames){ .t = t,
		              .thread = thread,
		              .calls = g_array_new(FALSE, FALSE, sizeof(struct call)),
		              .current = g_new(uint32_t, mine.count + 1) };
	for (uint64_t i = 0; i < mine.count; i++) {
		uint32_t event = mine.items[i];
		const struct event *e = &t->events[event];
		enum op_class class = op_table[e->op].class;
		if (e->op == OP_ENTER)
			now = enter(f, e, stack, now);
		if (now != NONE && may_wait_unseen(t, e))
			call_at(f, now)->unseen = event;
		else if (now != NONE && !event_inert(e) && class != OP_CLASS_SCOPE &&
		         class != OP_CLASS_MARKER)
			call_at(f, now)->last = event;
		if (e->op == OP_LEAVE && now != NONE)
			now = leave(f, e, now);
		f->current[i] = now;
	}
	return f;
}

void frames_free(struct frames *f)
{
	if (f == NULL)
		return;
	g_array_unref(f->calls);
	g_free(f->current);
	g_free(f);
}

bool frames_may_end(const struct frames *f, uint64_t address)
{
	return f->highest > address;
}

/* The call in whose frame the address lies, from this one outwards; NULL: it is unknown. */
static const struct call *holder(const struct frames *f, uint32_t call, uint64_t address)
{
	for (; call != NONE; call = call_at(f, call)->parent) {
		const struct call *c = call_at(f, call);
		if (!c->nobody && c->begin == 0)
			return NULL; /* it may be this one's */
		if (c->begin > address)
			return c;
	}
	return NULL;
}

uint32_t frames_end(const struct frames *f, const struct past *past, uint32_t use,
                    uint64_t address)
{
	g_autofree uint32_t *cut = g_new0(uint32_t, f->t->threads_count + 1);
	past_join_before(past, use, cut);
	uint32_t known = cut[f->thread];
	const struct call *c = known ? holder(f, f->current[known - 1], address) : NULL;
	if (c == NULL || !c->returned || c->last == NONE ||
	    (c->unseen != NONE && c->unseen > c->last))
		return NONE;
	return c->last;
}

/* -- pointers into frames ----------------------------------------------------------------- */

struct span { /* of a stack, what functions have that others called */
	uint64_t low, high;
};

/* Where the frames of the functions lie that each thread's first function called, with all that
 * they called: an array of struct span. */
static GArray *inner_spans(const struct trace *t)
{
	g_autofree uint32_t *depth = g_new0(uint32_t, t->threads_count + 1);
	g_autofree uint64_t *high = g_new0(uint64_t, t->threads_count + 1);
	GArray *spans = g_array_new(FALSE, FALSE, sizeof(struct span));
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t stack = t->threads[x->thread].stack;
		if (x->op == OP_ENTER && ++depth[x->thread] == 2 && stack != NONE)
			high[x->thread] = MAX(high[x->thread],
			                      event_frame_begin(t->blocks[stack].address, x));
		else if (x->op == OP_LEAVE && depth[x->thread] > 0)
			depth[x->thread]--;
	}
	for (uint32_t u = 0; u < t->threads_count; u++) {
		if (high[u] == 0)
			continue;
		struct span s = { t->blocks[t->threads[u].stack].address, high[u] };
		g_array_append_val(spans, s);
	}
	return spans;
}

static bool points_there(const struct trace *t, uint32_t value, const GArray *spans)
{
	struct value v = trace_value(t, value);
	if (v.kind == V_PAIR)
		return points_there(t, v.first, spans) || points_there(t, v.second, spans);
	for (guint i = 0; v.kind == V_INT && i < spans->len; i++) {
		const struct span *s = &g_array_index(spans, struct span, i);
		if ((uint64_t)v.integer >= s->low && (uint64_t)v.integer < s->high)
			return true;
	}
	return false;
}

uint64_t *frames_pointers(const struct trace *t)
{
	g_autoptr(GArray) spans = inner_spans(t);
	uint64_t *found = NULL;
	for (uint32_t e = 0; spans->len > 0 && e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (!op_is_access(x->op) || x->aux == 0 || !points_there(t, x->aux, spans))
			continue;
		if (found == NULL)
			found = g_new0(uint64_t, t->events_count / 64 + 1);
		found[e / 64] |= UINT64_C(1) << (e % 64);
	}
	return found;
}
