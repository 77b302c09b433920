/*
 * wellformed.c - checks and adds events: well-formedness (docs/trace-text.md), exceptions of
 * --lenient, and call stacks.
 */
#include "engine/trace/builder/builder_private.h"
#include "engine/trace/storage.h"

#include <stdarg.h>
#include <wchar.h>

/* -- well-formedness ----------------------------------------------------------------------- */

struct refusal {
	struct builder *b;
	struct error *error;
	uint64_t line;
};

static bool refuse(const struct refusal *r, const char *remedy, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static bool refuse(const struct refusal *r, const char *remedy, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_autofree char *what = g_strdup_vprintf(format, ap);
	va_end(ap);
	error_set(r->error, place_line(r->b->name, r->line).text, remedy, "%s", what);
	return false;
}

static const char *object_name(const struct builder *b, uint32_t object)
{
	return builder_text(b, AT(b->objects, struct object, object)->name);
}

static const char *thread_name(const struct builder *b, uint32_t thread)
{
	return builder_text(b, AT(b->threads, struct thread, thread)->name);
}

struct lock *builder_lock(struct builder *b, uint32_t object)
{
	while (b->locks->len <= object) {
		struct lock l = { .owner = NONE };
		g_array_append_val(b->locks, l);
	}
	return AT(b->locks, struct lock, object);
}

static struct holder *reader_of(struct lock *l, uint32_t thread)
{
	for (guint i = 0; l->readers && i < l->readers->len; i++)
		if (AT(l->readers, struct holder, i)->thread == thread)
			return AT(l->readers, struct holder, i);
	return NULL;
}

static const char *const lenient_remedy =
        "--lenient takes the holder to have released it there";
static const char *const want_remedy =
        "want is where the thread stood at the recording's end: its last event";
static const char *const drop_remedy = "--lenient drops such releases";

/* No other thread may hold the lock in an excluding mode. */
static bool acquire_free(const struct refusal *r, struct lock *l, const struct event *e)
{
	struct builder *b = r->b;
	uint32_t other = NONE;
	if (l->owner != NONE && l->owner != e->thread)
		other = l->owner;
	for (guint i = 0; e->op == OP_ACQ && l->readers && i < l->readers->len; i++)
		if (AT(l->readers, struct holder, i)->thread != e->thread)
			other = AT(l->readers, struct holder, i)->thread;
	if (other == NONE)
		return true;
	if (!b->lenient)
		return refuse(r, lenient_remedy,
		              "expected lock %s to be free, found it acquired by %s while %s "
		              "holds it",
		              object_name(b, e->target), thread_name(b, e->thread),
		              thread_name(b, other));
	b->stolen_locks++;
	l->owner = NONE;
	l->depth = 0;
	if (l->readers && e->op == OP_ACQ)
		g_array_set_size(l->readers, 0);
	return true;
}

static bool check_acquire(const struct refusal *r, struct event *e)
{
	struct lock *l = builder_lock(r->b, e->target);
	if (l->owner == e->thread) { /* re-entrant, in either mode */
		l->depth++;
		e->flags |= EVENT_INERT;
		return true;
	}
	if (!acquire_free(r, l, e))
		return false;
	struct holder *h = reader_of(l, e->thread);
	if (h) { /* in shared mode, whatever is requested now: the outermost pair counts */
		h->count++;
		e->flags |= EVENT_INERT;
		return true;
	}
	if (e->op == OP_ACQ) {
		l->owner = e->thread;
		l->depth = 1;
	} else {
		struct holder new_holder = { e->thread, 1 };
		if (l->readers == NULL)
			l->readers = g_array_new(FALSE, FALSE, sizeof(struct holder));
		g_array_append_val(l->readers, new_holder);
	}
	return true;
}

static bool check_release(const struct refusal *r, struct event *e)
{
	struct lock *l = builder_lock(r->b, e->target);
	if (l->owner == e->thread && (e->op == OP_REL || l->depth > 1)) {
		if (--l->depth)
			e->flags |= EVENT_INERT;
		else
			l->owner = NONE;
		return true;
	}
	struct holder *h = reader_of(l, e->thread);
	if (h && (e->op == OP_RREL || h->count > 1)) {
		if (--h->count)
			e->flags |= EVENT_INERT;
		else
			g_array_remove_index_fast(
			        l->readers, (guint)(h - AT(l->readers, struct holder, 0)));
		return true;
	}
	if (!r->b->lenient)
		return refuse(r, drop_remedy,
		              "expected %s to hold lock %s%s, found a release of it",
		              thread_name(r->b, e->thread), object_name(r->b, e->target),
		              e->op == OP_RREL ? " in shared mode" : "");
	r->b->dropped_releases++;
	e->flags |= EVENT_INERT;
	return true;
}

static bool check_fork(const struct refusal *r, const struct event *e)
{
	struct builder *b = r->b;
	struct thread_state *s = builder_state(b, e->target);
	const char *remedy = "put the fork before the thread's events, and only once";
	if (e->target == e->thread || s->started)
		return refuse(r, remedy,
		              "expected no event of %s before its fork, found one at line "
		              "%" G_GUINT64_FORMAT,
		              thread_name(b, e->target),
		              e->target == e->thread ? r->line : s->first_line);
	if (s->forked)
		return refuse(r, remedy, "expected one fork of %s, found a second",
		              thread_name(b, e->target));
	if (s->joined)
		return refuse(r, "a thread is joined after its fork",
		              "expected the fork of %s before its join",
		              thread_name(b, e->target));
	s->forked = true;
	struct thread *thread = AT(b->threads, struct thread, e->target);
	thread->parent = e->thread;
	thread->fork = b->events.count;
	return true;
}

static bool check_join(const struct refusal *r, const struct event *e)
{
	if (e->target == e->thread)
		return refuse(r, "a thread cannot wait for its own end",
		              "expected another thread to join, found %s itself",
		              thread_name(r->b, e->thread));
	if (builder_state(r->b, e->target)->wants)
		return refuse(r, want_remedy, "expected no join of %s after its want",
		              thread_name(r->b, e->target));
	builder_state(r->b, e->target)->joined = true;
	return true;
}

/* The operation that opens the scope closed by this one. */
static enum op opener(enum op op)
{
	return op == OP_RET    ? OP_CALL
	       : op == OP_UEND ? OP_UBEG
	       : op == OP_BACK ? OP_MISS
	                       : OP_ENTER;
}

/* The operand without arguments; an invocation's `dot` and method are separate. */
struct scope_name {
	const char *name, *dot, *method;
};
static struct scope_name scope_name(const struct builder *b, const struct event *e)
{
	if (op_table[e->op].operand != OPERAND_INSTANCE)
		return (struct scope_name){ builder_text(b, e->target), "", "" };
	struct scope_name n = {
		builder_text(b, AT(b->instances, struct instance, e->target)->name), "", ""
	};
	if (e->op == OP_CALL || e->op == OP_RET) {
		n.dot = ".";
		n.method = builder_text(
		        b, AT(b->invocations, struct invocation_part, e->aux)->method);
	}
	return n;
}

static bool same_scope(const struct builder *b, const struct event *open, const struct event *e)
{
	if (open->target != e->target)
		return false;
	return e->op != OP_RET ||
	       AT(b->invocations, struct invocation_part, open->aux)->method ==
	               AT(b->invocations, struct invocation_part, e->aux)->method;
}

static bool check_close(const struct refusal *r, const struct event *e)
{
	struct builder *b = r->b;
	struct column *scopes = &builder_state(b, e->thread)->scopes;
	for (uint64_t i = scopes->count; i-- > 0;) {
		struct scope *s = AT(scopes, struct scope, i);
		if (s->op != opener(e->op))
			continue;
		const struct event open = { .target = s->target, .aux = s->aux, .op = s->op };
		if (same_scope(b, &open, e)) {
			memmove(s, s + 1, (--scopes->count - i) * sizeof *s);
			return true;
		}
		struct scope_name is = scope_name(b, &open), found = scope_name(b, e);
		return refuse(r, "scopes of a kind nest",
		              "expected the end of %s%s%s, which is open (event %u), "
		              "found %s(%s%s%s)",
		              is.name, is.dot, is.method, s->event, op_table[e->op].word,
		              found.name, found.dot, found.method);
	}
	struct scope_name found = scope_name(b, e);
	return refuse(r, "scopes of a kind nest",
	              "expected an open %s of thread %s, found %s(%s%s%s)",
	              op_table[opener(e->op)].word, thread_name(b, e->thread),
	              op_table[e->op].word, found.name, found.dot, found.method);
}

static bool check_thread(const struct refusal *r, const struct event *e)
{
	const struct builder *b = r->b;
	const struct thread_state *s = builder_state(r->b, e->thread);
	if (s->ended || s->joined)
		return refuse(r, "a thread's events end with its end and its join",
		              "expected no event of %s after its %s, found %s",
		              thread_name(b, e->thread), s->ended ? "end" : "join",
		              event_word(e));
	if (s->wants)
		return refuse(r, want_remedy,
		              "expected no event of %s after its want, found %s",
		              thread_name(b, e->thread), event_word(e));
	if (e->op == OP_BEGIN && s->started)
		return refuse(r, "begin is a thread's first event",
		              "expected begin as the first event of %s, found one at line "
		              "%" G_GUINT64_FORMAT,
		              thread_name(b, e->thread), s->first_line);
	return true;
}

static void note_block(struct builder *b, const struct event *e)
{
	struct block *block = AT(b->blocks, struct block, e->target);
	if (e->op == OP_ALLOC)
		block->alloc = b->events.count;
	else if (block->free == NONE)
		block->free = b->events.count;
}

enum sent { SENT_NEVER, SENT_AFTER, SENT_BEFORE };

/* Counts the messages that are received before they are sent: such a receive is ordered after
 * nothing. A message that no event sends comes from outside of the trace. */
static void note_message(struct builder *b, const struct event *e)
{
	if (b->sent == NULL)
		b->sent = g_array_new(FALSE, TRUE, sizeof(uint8_t));
	if (b->sent->len <= e->target)
		g_array_set_size(b->sent, e->target + 1);
	uint8_t *sent = AT(b->sent, uint8_t, e->target);
	if (e->op == OP_RCV && *sent == SENT_NEVER)
		*sent = SENT_AFTER;
	if (e->op == OP_SND) {
		b->early_receives += *sent == SENT_AFTER;
		*sent = SENT_BEFORE;
	}
}

static bool check_event(const struct refusal *r, struct event *e)
{
	switch (e->op) {
	case OP_ACQ:
	case OP_RACQ:
		return check_acquire(r, e);
	case OP_REL:
	case OP_RREL:
		return check_release(r, e);
	case OP_FORK:
		return check_fork(r, e);
	case OP_JOIN:
		return check_join(r, e);
	case OP_RET:
	case OP_UEND:
	case OP_BACK:
	case OP_LEAVE:
		return check_close(r, e);
	case OP_WANT:
		e->aux = builder_lock(r->b, e->target)->semaphore;
		/* fall through */
	case OP_WANTJOIN:
		builder_state(r->b, e->thread)->wants = true;
		e->flags |= EVENT_INERT;
		return true;
	case OP_MISUSE:
	case OP_FLUSH:
		e->flags |= EVENT_INERT;
		return true;
	case OP_SND:
	case OP_RCV:
		note_message(r->b, e);
		return true;
	default:
		return true;
	}
}

/* -- call stacks --------------------------------------------------------------------------- */

/* At the first ENTER: earlier events get empty stacks. */
static bool begin_stacks(struct builder *b)
{
	b->any_scope = true;
	while (b->stacks.count < b->events.count) {
		uint32_t *stack = column_push(&b->stacks);
		if (stack == NULL)
			return false;
		*stack = 0;
	}
	return true;
}

/* False when the disk is full. */
static bool keep(struct builder *b, const struct event *e, uint32_t context)
{
	if (b->any_scope) {
		uint32_t *stack = column_push(&b->stacks);
		if (stack == NULL)
			return false;
		*stack = context;
	}
	struct event *room = column_push(&b->events);
	if (room == NULL)
		return false;
	*room = *e;
	return true;
}

/* Add an event and its stack: an ENTER's is the new context, a LEAVE's the old one. */
static bool push(struct builder *b, struct thread_state *s, const struct event *e)
{
	if (b->namer)
		builder_take_clue(b, e);
	if (e->op == OP_ENTER) {
		if (b->writer == NULL && !b->any_scope && !begin_stacks(b))
			return false;
		s->context = builder_context(
		        b, (struct context){ s->context, e->target, e->location });
		if (b->writer)
			binary_has_stacks(b->writer);
	}
	if (b->writer)
		builder_hand_over(b, e, s->context);
	else if (!keep(b, e, s->context))
		return false;
	if (e->op == OP_LEAVE)
		s->context = AT(b->contexts, struct context, s->context)->parent;
	return true;
}

/* The columns' disk is full: no trace can be made. */
static bool disk_full(const struct refusal *r)
{
	struct builder *b = r->b;
	int why = b->events.failure ? b->events.failure : b->stacks.failure;
	if (b->failure == NULL)
		b->failure = g_strdup_printf("cannot keep its events on the disk: %s",
		                             g_strerror(why));
	return refuse(r, "make room there", "%s", b->failure);
}

static bool add(const struct refusal *r, struct event *e)
{
	struct builder *b = r->b;
	b->plain = NONE;
	if (b->events.count >= NONE - 1)
		return refuse(r, "split the trace", "more than four thousand million events");
	if (b->threads->len > EVENT_THREADS)
		return refuse(r, "split the trace", "more than %d threads", EVENT_THREADS);
	if (b->locations->len > EVENT_LOCATIONS)
		return refuse(r, "split the trace", "more than %d locations", EVENT_LOCATIONS);
	if (!check_thread(r, e) || !check_event(r, e))
		return false;
	struct thread_state *s = builder_state(b, e->thread);
	if (!s->started)
		s->first_line = r->line;
	s->started = true;
	s->ended = e->op == OP_END;
	if (e->op == OP_CALL || e->op == OP_UBEG || e->op == OP_MISS || e->op == OP_ENTER)
		builder_open_scope(b, s, e, (struct call_frame){ 0, 0 });
	if (e->op == OP_ALLOC || e->op == OP_FREE)
		note_block(b, e);
	return push(b, s, e) || disk_full(r);
}

bool builder_add(struct builder *b, struct event e, uint64_t line, struct error *error)
{
	struct refusal r = { b, error, line };
	if (op_is_access(e.op) && builder_needs_no_check(b, e.thread))
		return push(b, AT(b->states, struct thread_state, e.thread), &e) ||
		       disk_full(&r);
	return add(&r, &e);
}
