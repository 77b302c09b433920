/*
 * builder_calls.c - call stacks: their contexts, and calls and returns of a recording's thread
 * of which no more is to be checked (builder_plain.c), which are many.
 */
#include "engine/base/scattered.h"
#include "engine/trace/builder/builder_private.h"

/*
 * The table of contexts. A call's slot is among the NEAR ones at its parent's: those that are
 * at work together lie together, as parents are numbered when they are met. Where these are
 * taken, as of a function that calls a thousand others, it is anywhere.
 */
enum { NEAR = 16, FIRST_CONTEXTS = 256 };

/* The slot of the context, or the free one that it gets. */
static uint32_t *context_slot(const struct builder *b, const struct context *c)
{
	const struct table *h = &b->contexts_table;
	uint64_t hash = mix((uint64_t)c->function << 32 ^ c->call);
	uint32_t from = 2 * c->parent + (uint32_t)(hash & (NEAR / 2 - 1));
	for (uint32_t i = 0;; i++) {
		if (i == NEAR)
			from = (uint32_t)mix(hash ^ c->parent);
		uint32_t *slot = &h->slots[(from + i) & h->mask];
		if (*slot == 0 ||
		    memcmp(AT(b->contexts, struct context, *slot - 1), c, sizeof *c) == 0)
			return slot;
	}
}

static void grow_contexts(struct builder *b)
{
	struct table *h = &b->contexts_table;
	uint32_t size = h->slots ? 2 * (h->mask + 1) : FIRST_CONTEXTS;
	g_free(h->slots);
	h->slots = scattered_new0(uint32_t, size);
	h->mask = size - 1;
	for (uint32_t i = 0; i < h->count; i++)
		*context_slot(b, AT(b->contexts, struct context, i)) = i + 1;
}

uint32_t builder_context(struct builder *b, struct context c)
{
	struct table *h = &b->contexts_table;
	if (2 * (h->count + 1) > h->mask)
		grow_contexts(b);
	uint32_t *slot = context_slot(b, &c);
	if (*slot == 0) {
		g_array_append_val(b->contexts, c);
		*slot = b->contexts->len;
		h->count++;
	}
	return *slot - 1;
}

void builder_open_scope(struct builder *b, struct thread_state *s, const struct event *e,
                        struct call_frame frame)
{
	uint32_t aux =
	        e->op == OP_ENTER && frame.begin ? builder_frame_number(b, frame) : e->aux;
	if (s->scopes.element == 0)
		column_init(&s->scopes, sizeof(struct scope), NULL, 0);
	*(struct scope *)column_push(&s->scopes) =
	        (struct scope){ (uint32_t)b->events.count, e->target, aux, e->op, frame.begin };
}

/* The context of a call in the thread's present one. */
static uint32_t context_of(struct builder *b, const struct thread_state *s,
                           const struct recorded_call *c)
{
	if (c->memo->context == NONE || c->memo->parent != s->context) {
		struct context of = { s->context, c->function, c->location };
		*c->memo = (struct call_memo){ s->context, builder_context(b, of) };
	}
	return c->memo->context;
}

static struct event enter_event(const struct recorded_call *c, uint32_t thread)
{
	return (struct event){ .op = OP_ENTER,
		               .thread = thread,
		               .target = c->function,
		               .aux = c->begin,
		               .location = c->location };
}

static struct event leave_event(uint32_t function, uint32_t thread)
{
	return (struct event){ .op = OP_LEAVE, .thread = thread, .target = function };
}

/* Are these the last functions that the thread is in? */
static bool leaves(const struct thread_state *s, const uint32_t *functions, uint32_t count)
{
	if (s->scopes.count < count)
		return false;
	const struct scope *at = AT(&s->scopes, struct scope, s->scopes.count - count);
	for (uint32_t i = 0; i < count; i++)
		if (at[i].op != OP_ENTER || at[i].target != functions[i])
			return false;
	return true;
}

bool builder_enter(struct builder *b, uint32_t thread, const struct recorded_call *c)
{
	const struct event e = enter_event(c, thread);
	if (!builder_is_plain(b, thread))
		return false;
	struct thread_state *s = b->plain_state;
	builder_open_scope(b, s, &e, c->frame);
	b->clues.calls++;
	s->context = context_of(b, s, c);
	binary_has_stacks(b->writer);
	builder_hand_over(b, &e, s->context);
	return true;
}

bool builder_leave(struct builder *b, uint32_t thread, uint32_t function)
{
	const struct event e = leave_event(function, thread);
	if (!builder_is_plain(b, thread) || !leaves(b->plain_state, &function, 1))
		return false;
	struct thread_state *s = b->plain_state;
	uint32_t context = s->context;
	s->scopes.count--;
	b->clues.calls++;
	s->context = AT(b->contexts, struct context, context)->parent;
	builder_hand_over(b, &e, context);
	return true;
}

/* -- in a room ----------------------------------------------------------------------------- */

/* Does the must-order need no more ENTERs, or LEAVEs, of the thread (is_marked)? Is the last
 * event on the tape the thread's, in this context? */
static inline bool goes_on(const struct builder *b, enum op op, uint32_t context)
{
	const struct tape *t = b->tape->tape;
	const struct track *last = &t->tracks[t->track];
	return t->track_count > 0 && last->thread == b->plain && last->context == context &&
	       b->marked_operations & OPERATION(op);
}

static void put_leave(struct builder *b, struct thread_state *s, uint32_t function,
                      uint32_t number)
{
	const struct event e = leave_event(function, b->plain);
	uint32_t context = s->context;
	s->context = AT(b->contexts, struct context, context)->parent;
	if (goes_on(b, OP_LEAVE, context))
		b->tape->at = tape_put_call(b->tape->tape, &e, s->context, b->tape->at);
	else
		builder_put_event(b, &e, context, number);
}

static void put_enter(struct builder *b, struct thread_state *s, const struct recorded_call *c,
                      uint32_t number)
{
	const struct event e = enter_event(c, b->plain);
	uint32_t before = s->context;
	b->events.count = number;
	builder_open_scope(b, s, &e, c->frame);
	s->context = context_of(b, s, c);
	if (goes_on(b, OP_ENTER, before))
		b->tape->at = tape_put_call(b->tape->tape, &e, s->context, b->tape->at);
	else
		builder_put_event(b, &e, s->context, number);
	binary_has_stacks(b->writer);
}

bool builder_put_calls(struct builder *b, const uint32_t *functions, uint32_t left,
                       const struct recorded_call *enter, uint32_t number)
{
	struct thread_state *s = b->plain_state;
	if (!leaves(s, functions, left))
		return false;
	s->scopes.count -= left;
	b->clues.calls += left + (enter != NULL);
	for (uint32_t i = 0; i < left; i++)
		put_leave(b, s, functions[left - 1 - i], number + i);
	if (enter)
		put_enter(b, s, enter, number + left);
	return true;
}
