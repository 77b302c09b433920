/*
 * persistent.c - see persistent.h.
 */
#include "engine/predict/deadlock/persistent.h"

/* Kinds of use of an item by a thread.  Of a variable: ANY, WRITE; of a block: ANY, FREE. */
enum use_kind {
	USED_ANY,
	USED_WRITE,
	USED_FREE = USED_WRITE,
	/* of objects alone */
	USED_ACQUIRE = USED_WRITE,
	USED_TRYFAIL,
	USED_TAKE,
	USED_TAKETRYFAIL,
	USED_POST,
	USED_WAIT,
	USED_SIGNAL,
	USED_ODD_WAKE, /* one that a signal prevents, or need not cause */
	USED_ARRIVE,
	USED_DESTROY,
	USED_KINDS
};

/* By item a list of nodes of `width` words: next node, thread, then for each kind the position
 * of the thread's last use + 1. */
struct footprint {
	uint32_t *first, width;
	GArray *words;
};

struct persistent {
	const struct run_state *s;
	const struct trace *t;
	struct footprint variables, objects, blocks, channels;
	uint32_t *stamp, now; /* by thread: the set that it is in */
	uint32_t *list, count, *best;
	uint64_t cost, work; /* of one set, of all */
};

static void footprint_init(struct footprint *f, uint64_t items, uint32_t kinds)
{
	f->width = kinds + 2;
	f->first = g_new0(uint32_t, items + 1);
	f->words = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	g_array_set_size(f->words, f->width); /* node 0 is none */
}

static void footprint_release(struct footprint *f)
{
	g_free(f->first);
	g_array_free(f->words, TRUE);
}

static uint32_t *node_at(const struct footprint *f, uint32_t node)
{
	return &g_array_index(f->words, uint32_t, (size_t)node * f->width);
}

/* Uses are added in the order of the trace. */
static void footprint_add(struct footprint *f, uint32_t item, uint32_t thread, unsigned kind,
                          uint32_t position)
{
	uint32_t node = f->first[item];

	while (node != 0 && node_at(f, node)[1] != thread)
		node = node_at(f, node)[0];
	if (node == 0) {
		node = f->words->len / f->width;
		g_array_set_size(f->words, f->words->len + f->width);
		node_at(f, node)[0] = f->first[item];
		node_at(f, node)[1] = thread;
		f->first[item] = node;
	}
	node_at(f, node)[2 + kind] = position + 1;
	node_at(f, node)[2 + USED_ANY] = position + 1;
}

static void add_thread(struct persistent *p, uint32_t thread)
{
	if (p->stamp[thread] == p->now)
		return;
	p->stamp[thread] = p->now;
	p->list[p->count++] = thread;
}

/* Adds all other threads with such a use in their later events. */
static void add_users(struct persistent *p, const struct footprint *f, uint32_t item,
                      unsigned kind, uint32_t but)
{
	for (uint32_t node = f->first[item]; node != 0; node = node_at(f, node)[0]) {
		const uint32_t *words = node_at(f, node);

		p->cost++;
		if (words[1] != but && words[2 + kind] > p->s->done[words[1]])
			add_thread(p, words[1]);
	}
}

/* -- the tables ----------------------------------------------------------------------------- */

static void collect_object(struct persistent *p, uint32_t e, uint32_t position)
{
	static const uint8_t kinds[OP_COUNT] = {
		[OP_ACQ] = USED_ACQUIRE,
		[OP_RACQ] = USED_ACQUIRE,
		[OP_TRYFAIL] = USED_TRYFAIL,
		[OP_TAKE] = USED_TAKE,
		[OP_TAKETRYFAIL] = USED_TAKETRYFAIL,
		[OP_POST] = USED_POST,
		[OP_WAIT] = USED_WAIT,
		[OP_SIGNAL] = USED_SIGNAL,
		[OP_BROADCAST] = USED_SIGNAL,
		[OP_ARRIVE] = USED_ARRIVE,
		[OP_DESTROY] = USED_DESTROY,
		[OP_MISUSE] = USED_DESTROY, /* and no thread waits for it any more */
	};
	const struct event *x = &p->t->events[e];
	uint32_t u = x->thread, o = x->target, block = event_block_used(p->t, x);

	footprint_add(&p->objects, o, u, kinds[x->op], position);
	if (x->op == OP_TAKETRYFAIL)
		footprint_add(&p->objects, o, u, USED_TAKE, position);
	if (x->op == OP_WAKE && (x->flags & EVENT_TRY || !(p->s->facts[e] & FACT_WAKER)))
		footprint_add(&p->objects, o, u, USED_ODD_WAKE, position);
	if (block != NONE)
		footprint_add(&p->blocks, block, u, USED_ANY, position);
}

static void collect_access(struct persistent *p, const struct event *x, uint32_t position)
{
	struct wide run = event_variables(p->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		uint32_t block = p->t->variables[v].block;

		footprint_add(&p->variables, v, x->thread,
		              op_writes(x->op) ? USED_WRITE : USED_ANY, position);
		if (block != NONE)
			footprint_add(&p->blocks, block, x->thread, USED_ANY, position);
	}
}

static void collect(struct persistent *p)
{
	const struct trace *t = p->t;

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t position = t->index->position[e];

		if (event_inert(x) && x->op != OP_MISUSE)
			continue;
		if (op_is_access(x->op))
			collect_access(p, x, position);
		else if (op_table[x->op].operand == OPERAND_OBJECT)
			collect_object(p, e, position);
		else if (run_state_channel(p->s, e) != NONE)
			footprint_add(&p->channels, run_state_channel(p->s, e), x->thread,
			              USED_ANY, position);
		else if (x->op == OP_FREE && x->target != NONE)
			footprint_add(&p->blocks, x->target, x->thread, USED_FREE, position);
	}
	/* a thread's last event is the end of its stack */
	for (uint32_t u = 0; u < p->s->threads; u++) {
		struct event_list mine = trace_thread_events(t, u);

		if (t->threads[u].stack != NONE && mine.count > 0)
			footprint_add(&p->blocks, t->threads[u].stack, u, USED_FREE,
			              (uint32_t)mine.count - 1);
	}
}

struct persistent *persistent_new(const struct run_state *s)
{
	struct persistent *p = g_new0(struct persistent, 1);

	p->s = s;
	p->t = s->t;
	footprint_init(&p->variables, s->t->variables_count, 2);
	footprint_init(&p->blocks, s->t->blocks_count, 2);
	footprint_init(&p->objects, s->t->objects_count, USED_KINDS);
	footprint_init(&p->channels, run_state_channels(s), 1);
	p->stamp = g_new0(uint32_t, s->threads + 1);
	p->list = g_new(uint32_t, s->threads + 1);
	p->best = g_new(uint32_t, s->threads + 1);
	collect(p);
	return p;
}

void persistent_free(struct persistent *p)
{
	if (p == NULL)
		return;
	footprint_release(&p->variables);
	footprint_release(&p->blocks);
	footprint_release(&p->channels);
	footprint_release(&p->objects);
	g_free(p->stamp);
	g_free(p->list);
	g_free(p->best);
	g_free(p);
}

/* -- dependence ----------------------------------------------------------------------------- */

static void add_object_rivals(struct persistent *p, const struct event *x)
{
	/* by operation: kinds of uses that depend on it, as bits */
	static const uint32_t rivals[OP_COUNT] = {
		[OP_ACQ] = 1 << USED_ACQUIRE | 1 << USED_TRYFAIL,
		[OP_RACQ] = 1 << USED_ACQUIRE | 1 << USED_TRYFAIL,
		[OP_REL] = 1 << USED_TRYFAIL,
		[OP_RREL] = 1 << USED_TRYFAIL,
		[OP_TRYFAIL] = 1 << USED_ANY,
		[OP_TAKE] = 1 << USED_TAKE,
		[OP_TAKETRYFAIL] = 1 << USED_TAKE | 1 << USED_POST,
		[OP_POST] = 1 << USED_TAKETRYFAIL,
		[OP_WAIT] = 1 << USED_SIGNAL,
		[OP_WAKE] = 1 << USED_SIGNAL,
		[OP_SIGNAL] = 1 << USED_WAIT | 1 << USED_SIGNAL | 1 << USED_ODD_WAKE,
		[OP_BROADCAST] = 1 << USED_WAIT | 1 << USED_SIGNAL | 1 << USED_ODD_WAKE,
		[OP_ARRIVE] = 1 << USED_ARRIVE,
		[OP_DESTROY] = 1 << USED_ANY,
		[OP_MISUSE] = 1 << USED_ANY,
	};
	uint32_t block = event_block_used(p->t, x), e = run_state_event(p->s, x->thread);
	/* a wake whose cause has occurred remains caused */
	bool caused = x->op == OP_WAKE && p->s->woken[x->thread] && p->s->facts[e] & FACT_WAKER;

	for (unsigned kind = 0; kind < USED_KINDS; kind++) {
		if (rivals[x->op] >> kind & 1 && !caused)
			add_users(p, &p->objects, x->target, kind, x->thread);
	}
	add_users(p, &p->objects, x->target, USED_DESTROY, x->thread);
	if (block != NONE)
		add_users(p, &p->blocks, block, USED_FREE, x->thread);
}

/* Adds threads with a later event that depends on the next one of `thread`, which runs. */
static void add_rivals(struct persistent *p, uint32_t thread)
{
	uint32_t e = run_state_event(p->s, thread), stack = p->t->threads[thread].stack;
	const struct event *x = &p->t->events[e];

	if (stack != NONE && run_state_event(p->s, thread) != NONE &&
	    p->s->done[thread] + 1 == trace_thread_events(p->t, thread).count)
		add_users(p, &p->blocks, stack, USED_ANY, thread);
	if (event_inert(x) && x->op != OP_MISUSE)
		return;
	if (op_is_access(x->op)) {
		struct wide run = event_variables(p->t, x);

		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			uint32_t block = p->t->variables[v].block;

			add_users(p, &p->variables, v, op_writes(x->op) ? USED_ANY : USED_WRITE,
			          thread);
			if (block != NONE)
				add_users(p, &p->blocks, block, USED_FREE, thread);
		}
	} else if (op_table[x->op].operand == OPERAND_OBJECT) {
		add_object_rivals(p, x);
	} else if (run_state_channel(p->s, e) != NONE) {
		/* a receive takes the bytes that were sent first, as many as there are */
		add_users(p, &p->channels, run_state_channel(p->s, e), USED_ANY, thread);
	} else if (x->op == OP_FREE && x->target != NONE) {
		add_users(p, &p->blocks, x->target, USED_ANY, thread);
	}
}

/* -- needs of a thread that does not run ----------------------------------------------------- */

static void add_writers(struct persistent *p, uint32_t e)
{
	struct wide run = event_variables(p->t, &p->t->events[e]);
	struct event_list writers = trace_writers(p->t, e);

	for (uint32_t i = 0; i < run.count; i++) {
		uint32_t w = i < writers.count ? writers.items[i] : NONE;

		if (p->s->use_values)
			add_users(p, &p->variables, run.first + i, USED_WRITE,
			          p->t->events[e].thread);
		else if (w != NONE && !run_state_has(p->s, w))
			add_thread(p, p->t->events[w].thread);
	}
}

static void add_object_enablers(struct persistent *p, const struct event *x)
{
	static const uint8_t enablers[OP_COUNT] = {
		[OP_TRYFAIL] = USED_ACQUIRE,  [OP_TAKE] = USED_POST,
		[OP_TAKETRYFAIL] = USED_TAKE, [OP_WAKE] = USED_SIGNAL,
		[OP_DEPART] = USED_ARRIVE,
	};

	for (uint32_t i = 0, holder; (holder = run_state_holder(p->s, x->thread, i)) != NONE;
	     i++)
		add_thread(p, holder);
	if (enablers[x->op] != USED_ANY)
		add_users(p, &p->objects, x->target, enablers[x->op], x->thread);
}

/* Adds threads of which at least one must continue before the next event of `thread` can
 * come. */
static void add_enablers(struct persistent *p, uint32_t thread)
{
	uint32_t e = run_state_event(p->s, thread), before = run_state_missing(p->s, thread);
	const struct event *x = e == NONE ? NULL : &p->t->events[e];

	if (before != NONE)
		add_thread(p, p->t->events[before].thread);
	else if (x != NULL && x->op == OP_JOIN)
		add_thread(p, x->target);
	else if (x == NULL || event_inert(x))
		return;
	else if (op_is_access(x->op))
		add_writers(p, e);
	else if (op_table[x->op].operand == OPERAND_OBJECT)
		add_object_enablers(p, x);
	else if (run_state_channel(p->s, e) != NONE)
		add_users(p, &p->channels, run_state_channel(p->s, e), USED_ANY, thread);
	/* the stack of a thread that has not begun */
	for (uint32_t v = 0; x != NULL && op_is_access(x->op) && before == NONE; v++) {
		struct wide run = event_variables(p->t, x);

		if (v == run.count)
			break;
		uint32_t block = p->t->variables[run.first + v].block;
		uint32_t owner = block == NONE ? NONE : p->s->stack_of[block];
		if (owner != NONE && p->s->done[owner] == 0)
			add_thread(p, owner);
	}
}

/* Closes the set that begins with thread `seed`; returns the number of its threads that run. */
static uint32_t close_set(struct persistent *p, uint32_t seed)
{
	uint32_t running = 0;

	p->now++;
	p->count = 0;
	add_thread(p, seed);
	for (uint32_t i = 0; i < p->count; i++) {
		uint32_t u = p->list[i], fork = p->t->threads[u].fork;

		p->cost += 2;
		switch (run_state_next(p->s, u)) {
		case NEXT_RUNS:
			running++;
			add_rivals(p, u);
			break;
		case NEXT_ABSENT:
			add_thread(p, p->t->events[fork].thread);
			break;
		case NEXT_WAITS:
		case NEXT_DIFFERS:
			add_enablers(p, u);
			break;
		case NEXT_ENDED:
			break;
		}
	}
	return running;
}

bool persistent_ends_use(struct persistent *p, uint32_t thread)
{
	const struct event *x = &p->t->events[run_state_event(p->s, thread)];
	uint32_t stack = p->t->threads[thread].stack;

	p->now++;
	p->count = 0;
	if (stack != NONE && p->s->done[thread] + 1 == trace_thread_events(p->t, thread).count)
		add_users(p, &p->blocks, stack, USED_ANY, thread);
	if (x->op == OP_MISUSE || (x->op == OP_DESTROY && !event_inert(x)))
		add_users(p, &p->objects, x->target, USED_ANY, thread);
	if (x->op == OP_FREE && !event_inert(x) && x->target != NONE)
		add_users(p, &p->blocks, x->target, USED_ANY, thread);
	return p->count > 0;
}

enum { MOST_SEEDS = 8 };

uint32_t persistent_set(struct persistent *p, uint32_t *threads, uint64_t *cost)
{
	uint32_t least = NONE, seeds = 0;

	p->cost = 0;
	for (uint32_t u = 0; u < p->s->threads && least != 1; u++) {
		p->cost++;
		if (run_state_next(p->s, u) != NEXT_RUNS)
			continue;
		if (least != NONE && ++seeds > MOST_SEEDS)
			break;
		uint32_t running = close_set(p, u);
		if (running >= least)
			continue;
		least = 0;
		for (uint32_t i = 0; i < p->count; i++) {
			if (run_state_next(p->s, p->list[i]) == NEXT_RUNS)
				threads[least++] = p->list[i];
		}
	}
	*cost += p->cost;
	p->work += p->cost;
	return least == NONE ? 0 : least;
}

uint64_t persistent_work(const struct persistent *p)
{
	return p->work;
}
