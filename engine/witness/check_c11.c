/*
 * check_c11.c - the checker's claim of a C11 race: both events are in the reordering, unordered
 * by its happens-before (semantics.md, "C11 races").
 */
#include "engine/witness/check_private.h"

/* The events that happen after the first of the pair in this reordering. */
struct after {
	bool *thread;  /* the thread's next event */
	bool *fence;   /* by thread: its last release fence */
	bool *pending; /* by thread: a relaxed read may synchronise at the next acquire fence */
	bool *event;   /* by event: happens after the first, or is it */
	bool *lock, *shared; /* by object: last exclusive release, some shared release */
	bool *written;       /* by variable: its last write */
	bool *plain;         /* by variable: that write is not atomic */
	GArray **heads; /* by variable: threads of its release sequences whose head (or fence
	                   before it) happens after; or NULL */
};

/* C17: a release sequence continues with stores of its head's thread and with RMWs. */
static void after_store(struct after *a, uint32_t v, const struct event *x, bool releases)
{
	GArray **heads = &a->heads[v];
	bool own = false;

	if (*heads == NULL && !releases)
		return;
	if (*heads == NULL)
		*heads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = (*heads)->len; i-- > 0;) {
		if (g_array_index(*heads, uint32_t, i) == x->thread)
			own = true;
		else if (x->op != OP_RMW)
			g_array_remove_index_fast(*heads, i);
	}
	if (releases && !own) {
		uint32_t thread = x->thread;

		g_array_append_val(*heads, thread);
	}
}

static void after_atomic(const struct checker *c, struct after *a, const struct event *x)
{
	struct wide run = event_variables(c->t, x);
	enum memory_order_kind order = event_order(x);

	for (uint32_t v = run.first; op_reads(x->op) && v < run.first + run.count; v++) {
		if (a->heads[v] == NULL || a->heads[v]->len == 0)
			continue;
		a->thread[x->thread] |= order_acquires(order);
		a->pending[x->thread] = true;
	}
	bool releases = (order_releases(order) && a->thread[x->thread]) || a->fence[x->thread];
	for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
		after_store(a, v, x, releases);
}

/* An observation with a plain access orders: otherwise every event after an ordinary race
 * would race. */
static void after_observed(const struct checker *c, struct after *a, const struct event *x)
{
	struct wide run = event_variables(c->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++)
		a->thread[x->thread] |= a->written[v] && (x->op == OP_READ || a->plain[v]);
}

static void after_written(const struct checker *c, struct after *a, const struct event *x)
{
	if (!op_is_access(x->op) || !op_writes(x->op))
		return;
	struct wide run = event_variables(c->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		a->written[v] = a->thread[x->thread];
		a->plain[v] = x->op == OP_WRITE;
	}
}

static void after_needs(const struct checker *c, struct after *a, uint32_t e)
{
	const GArray *needs = c->f.needs;

	for (guint i = facts_first(needs, e);
	     i < needs->len && g_array_index(needs, struct must_need, i).after == e; i++) {
		uint32_t count;
		const uint32_t *before =
		        need_events(&c->f, &g_array_index(needs, struct must_need, i), &count);

		for (uint32_t k = 0; k < count; k++)
			a->thread[at(c, e)->thread] |= a->event[before[k]];
	}
}

/* The begin of a block's life precedes its uses: its alloc; for a stack, the thread's first
 * event. */
static void after_made(const struct checker *c, struct after *a, uint32_t block, uint32_t e)
{
	if (block == NONE)
		return;
	uint32_t made = c->t->blocks[block].alloc;
	for (uint32_t u = 0; made == NONE && u < c->t->threads_count; u++) {
		if (c->t->threads[u].stack == block)
			made = thread_first(c, u);
	}
	if (made != NONE)
		a->thread[at(c, e)->thread] |= a->event[made];
}

static void after_blocks(const struct checker *c, struct after *a, uint32_t e)
{
	const struct event *x = at(c, e);

	/* an inert operation uses no block, although its object is in one */
	if (event_inert(x)) {
		if (op_table[x->op].operand == OPERAND_OBJECT)
			after_made(c, a, c->t->objects[x->target].block, e);
		return;
	}
	after_made(c, a, event_block_used(c->t, x), e);
	if (!op_is_access(x->op))
		return;
	struct wide run = event_variables(c->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		after_made(c, a, c->t->variables[v].block, e);
}

static void after_fence(struct after *a, const struct event *x)
{
	if (order_acquires(event_order(x)) && a->pending[x->thread])
		a->thread[x->thread] = true;
	if (order_releases(event_order(x)))
		a->fence[x->thread] = a->thread[x->thread];
}

/* A plain write ends every release sequence. */
static void after_plain_write(const struct checker *c, struct after *a, const struct event *x)
{
	struct wide run = event_variables(c->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (a->heads[v] != NULL)
			g_array_set_size(a->heads[v], 0);
	}
}

/* `second`: the second event of the pair, whose own plain observation is the race and does
 * not order. */
static void after_event(const struct checker *c, struct after *a, uint32_t e, bool second)
{
	const struct event *x = at(c, e);
	bool *now = &a->thread[x->thread];

	after_needs(c, a, e);
	after_blocks(c, a, e);
	if (event_inert(x)) {
		a->event[e] = *now;
		return;
	}
	if (op_acquires(x->op))
		*now |= a->lock[x->target] || (x->op == OP_ACQ && a->shared[x->target]);
	if (x->op == OP_REL)
		a->lock[x->target] = *now;
	if (x->op == OP_RREL)
		a->shared[x->target] |= *now;
	if (x->op == OP_FENCE)
		after_fence(a, x);
	if (op_is_access(x->op) && op_reads(x->op) && !second)
		after_observed(c, a, x);
	if (op_is_access(x->op) && op_is_atomic(x->op))
		after_atomic(c, a, x);
	else if (x->op == OP_WRITE)
		after_plain_write(c, a, x);
	a->event[e] = *now;
	after_written(c, a, x);
}

static struct after after_new(const struct trace *t)
{
	return (struct after){
		.thread = g_new0(bool, t->threads_count + 1),
		.fence = g_new0(bool, t->threads_count + 1),
		.pending = g_new0(bool, t->threads_count + 1),
		.event = g_new0(bool, t->events_count + 1),
		.lock = g_new0(bool, t->objects_count + 1),
		.shared = g_new0(bool, t->objects_count + 1),
		.written = g_new0(bool, t->variables_count + 1),
		.plain = g_new0(bool, t->variables_count + 1),
		.heads = g_new0(GArray *, t->variables_count + 1),
	};
}

static void after_release(struct after *a, const struct trace *t)
{
	void *arrays[] = { a->thread, a->fence,   a->pending, a->event, a->lock,
		           a->shared, a->written, a->plain,   a->heads };

	for (uint64_t v = 0; v < t->variables_count; v++) {
		if (a->heads[v] != NULL)
			g_array_free(a->heads[v], TRUE);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_free(arrays[i]);
}

bool claim_c11(struct checker *c, const uint32_t *sequence, size_t length, const uint32_t *pair,
               GString *reason)
{
	const struct trace *t = c->t;
	bool started = false, good = true;

	if (!claim_conflicts(c, pair, reason))
		return false;
	if (length < 2 ||
	    !(claim_ends_with(sequence + length - 2, pair) || sequence[length - 1] == pair[0] ||
	      sequence[length - 1] == pair[1])) {
		g_string_append(reason, "the pair: the sequence does not end with one of it");
		return false;
	}
	if (!claim_prefix(c, sequence, length, reason))
		return false;
	struct after a = after_new(t);
	for (size_t i = 0; i < length && good; i++) {
		uint32_t e = sequence[i];
		bool of_pair = e == pair[0] || e == pair[1];

		if (of_pair && started) {
			after_event(c, &a, e, true);
			if (a.thread[at(c, e)->thread])
				good = check_refuse_by(
				        c, reason, "the pair", e, "happens after",
				        e == pair[0] ? pair[1] : pair[0], " in the reordering");
			started = false;
			break;
		}
		if (of_pair) {
			started = true;
			a.thread[at(c, e)->thread] = true;
		}
		after_event(c, &a, e, false);
	}
	if (good && (!taken(c, pair[0]) || !taken(c, pair[1]))) {
		g_string_append(reason, "the pair: not both are in the sequence");
		good = false;
	}
	after_release(&a, t);
	return good;
}
