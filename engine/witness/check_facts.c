/*
 * check_facts.c - facts about the trace, computed once in linear passes from the events alone:
 * program order, must-order (rule 4), reads-from (rule 2), holders at failed tries, ends of
 * blocks and objects.
 *
 * Does not use engine/trace/must.c or index.h, so that a mistake there is not repeated here.
 */
#include "engine/base/hash.h"
#include "engine/base/search.h"
#include "engine/witness/check_private.h"

#include <string.h>

/* `before` comes before `after`, by the pairing of an object's operations; NONE: by no object.
 */
static void facts_pair(struct facts *f, uint32_t after, uint32_t before, uint32_t object)
{
	struct must_need n = { after, before, false, object };

	g_array_append_val(f->needs, n);
	f->blocked[after / 64] |= (uint64_t)1 << (after % 64);
}

/* All events of a list (copied into f->lists, where *number is NONE) come before `after`. */
static void facts_pairs(struct facts *f, uint32_t after, const GArray *list, uint32_t *number,
                        uint32_t object)
{
	enum { FEW = 2 };
	struct must_need n = { after, *number, true, object };

	for (guint i = 0; i < list->len && list->len <= FEW; i++)
		facts_pair(f, after, g_array_index(list, uint32_t, i), object);
	if (list->len <= FEW)
		return;
	if (*number == NONE) {
		n.before = *number = f->lists->len;
		g_ptr_array_add(f->lists, g_array_copy((GArray *)list));
	}
	g_array_append_val(f->needs, n);
	f->blocked[after / 64] |= (uint64_t)1 << (after % 64);
}

void facts_need(struct facts *f, uint32_t after, uint32_t before)
{
	facts_pair(f, after, before, NONE);
}

GArray *facts_list(GHashTable *lists, uint32_t key)
{
	GArray *list = g_hash_table_lookup(lists, GUINT_TO_POINTER(key + 1));

	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_hash_table_insert(lists, GUINT_TO_POINTER(key + 1), list);
	}
	return list;
}

GHashTable *facts_lists(void)
{
	return g_hash_table_new_full(hash_pointer, NULL, NULL, (GDestroyNotify)g_array_unref);
}

guint facts_first(const GArray *table, uint32_t key)
{
	guint size = g_array_get_element_size((GArray *)table);

	return search_end(i, 0u, table->len,
	                  *(const uint32_t *)(table->data + (size_t)i * size) < key);
}

static int need_compare(gconstpointer a, gconstpointer b)
{
	const struct must_need *x = a, *y = b;

	if (x->after != y->after)
		return x->after < y->after ? -1 : 1;
	return x->before < y->before ? -1 : x->before > y->before;
}

static int wake_compare(gconstpointer a, gconstpointer b)
{
	const struct condition_wake *x = a, *y = b;

	return x->waker < y->waker ? -1 : x->waker > y->waker;
}

/* Events that are neither accesses nor inert. Acquires and releases are included only when the
 * trace has a failed try or a destruction, since other facts do not need them. */
struct other_events {
	GArray *events; /* uint32_t */
	uint64_t seen;  /* bit set of operations */
};
_Static_assert(OP_COUNT <= 64, "a bit for each");

static bool others_have(const struct other_events *others, enum op op)
{
	return others->seen >> op & 1;
}

static inline bool is_lock(enum op op)
{
	return op_acquires(op) || op_releases(op);
}

/* Collects the events again, now with acquires and releases. */
static void facts_locks(const struct trace *t, struct other_events *others)
{
	if (!others_have(others, OP_TRYFAIL) && !others_have(others, OP_DESTROY))
		return;
	g_array_set_size(others->events, 0);
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (!op_is_access(t->events[e].op) && !event_inert(&t->events[e]))
			g_array_append_val(others->events, e);
	}
}

/* Reads-from of an event that is no plain access of one variable, or with --values. `last`: by
 * variable, its last write. */
static void observe_any(struct checker *c, uint32_t e, uint32_t *last)
{
	const struct trace *t = c->t;
	const struct event *x = &t->events[e];
	struct facts *f = &c->f;

	f->writer[e] = NONE;
	if (!op_is_access(x->op) || event_inert(x))
		return;
	struct wide run = event_variables(t, x);
	if (op_reads(x->op)) {
		f->writer[e] = run.count == 1 ? last[run.first] : f->wide->len;
		if (run.count != 1)
			g_array_append_vals(f->wide, last + run.first, run.count);
		if (f->initial != NULL && run.count == 1 && last[run.first] == NONE &&
		    f->initial[run.first] == 0)
			f->initial[run.first] = x->op == OP_RMW && x->aux != 0
			                                ? trace_value(t, x->aux).first
			                                : x->aux;
	}
	for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
		last[v] = e;
}

static inline void place(struct facts *f, uint32_t e, const struct event *x)
{
	struct thread_facts *own = &f->threads[x->thread];

	own->first = own->count == 0 ? e : own->first;
	own->last = e;
	f->place[e] = own->count++;
}

static inline void note_other(struct other_events *others, uint32_t e, const struct event *x)
{
	others->seen |= (uint64_t)1 << x->op;
	if (G_UNLIKELY(!(op_is_access(x->op) | is_lock(x->op) | event_inert(x))))
		g_array_append_val(others->events, e);
}

static inline void observe(struct checker *c, uint32_t e, const struct event *x, uint32_t *last)
{
	if (G_UNLIKELY(!event_simple(x) || c->f.initial != NULL)) {
		observe_any(c, e, last);
		return;
	}
	uint32_t *written = &last[x->target];

	/* no branch: it could not be predicted */
	c->f.writer[e] = x->op == OP_READ ? *written : NONE;
	*written = x->op == OP_READ ? *written : e;
}

/* Program order, reads-from, and the list of other events: in one pass, as blocks of a long
 * trace are decoded for each. */
static void facts_events(struct checker *c, struct other_events *others)
{
	enum { AHEAD = 16 };
	const struct trace *t = c->t;
	struct facts *f = &c->f;
	/* by variable, its last write */
	g_autofree uint32_t *last = g_new(uint32_t, t->variables_count + 1);

	memset(last, 0xff, sizeof(uint32_t) * (t->variables_count + 1));
	f->place = g_new(uint32_t, t->events_count + 1);
	f->writer = g_new(uint32_t, t->events_count + 1);
	f->wide = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (c->options.use_values)
		f->initial = g_new0(uint32_t, t->variables_count + 1);
	f->threads = g_new0(struct thread_facts, t->threads_count + 1);
	*others = (struct other_events){ g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		/* (For non-accesses the address is wrong, but harmless.) */
		if (G_LIKELY(e + AHEAD < t->events_count))
			__builtin_prefetch(&last[t->events[e + AHEAD].target], 1);
		place(f, e, x);
		note_other(others, e, x);
		observe(c, e, x, last);
	}
	facts_locks(t, others);
}

const uint32_t *facts_own(const struct checker *c, uint32_t thread)
{
	struct facts *f = (struct facts *)&c->f; /* made on demand */
	const struct trace *t = c->t;

	if (f->own == NULL) {
		g_autofree uint32_t *next = g_new0(uint32_t, t->threads_count + 1);
		uint32_t sum = 0;

		for (uint32_t u = 0; u < t->threads_count; u++) {
			next[u] = f->threads[u].start = sum;
			sum += f->threads[u].count;
		}
		f->own = g_new(uint32_t, t->events_count + 1);
		for (uint32_t e = 0; e < t->events_count; e++)
			f->own[next[t->events[e].thread]++] = e;
	}
	return f->own + f->threads[thread].start;
}

/* Events that several come after. */
struct before {
	GArray *events;  /* uint32_t */
	uint32_t number; /* of the list in facts.lists, or NONE: none yet */
};

static void before_free(gpointer before)
{
	g_array_unref(((struct before *)before)->events);
	g_free(before);
}

static GHashTable *befores_new(void)
{
	return g_hash_table_new_full(hash_pointer, NULL, NULL, before_free);
}

/* Created on demand. */
static struct before *before_at(GHashTable *befores, gpointer key)
{
	struct before *b = g_hash_table_lookup(befores, key);

	if (b == NULL) {
		b = g_new(struct before, 1);
		*b = (struct before){ g_array_new(FALSE, FALSE, sizeof(uint32_t)), NONE };
		g_hash_table_insert(befores, key, b);
	}
	return b;
}

/* State of the single pass over synchronisation events. */
struct facts_pass {
	GHashTable *posts;   /* by object: number of takes so far */
	uint32_t *takes;     /* by object: number of takes so far */
	GHashTable *arrived; /* (object, round + 1) -> struct before */
	uint32_t *round;     /* by object: number of the open round */
	bool *departed;      /* by object: the open round has a depart */
	GHashTable *arrival; /* (object, thread) -> round + 1 of the thread's last arrive */
	GHashTable *waiting; /* (object, thread) -> wait event + 1 */
	GHashTable *wakers;  /* by object: signals and broadcasts so far */
	GHashTable *used;    /* set of signals that woke a thread */
	GHashTable *sent;    /* by message: struct before, last send of each thread */
	GHashTable *held;    /* by object that is tried: open acquires */
	uint32_t *destroyed; /* by object: last destruction, unless acquired since */
	uint32_t *effect;    /* by instance: last invocation that took effect */
};

static gpointer pair_key(uint32_t a, uint32_t b)
{
	return (gpointer)(((uintptr_t)a << 32) | b);
}

static void semaphore_take(struct checker *c, struct facts_pass *p, uint32_t e, uint32_t o)
{
	GArray *posts = facts_list(p->posts, o);
	int64_t wanted = (int64_t)++p->takes[o] - c->t->objects[o].count; /* counted from 1 */

	if (wanted >= 1 && wanted <= posts->len)
		facts_pair(&c->f, e, g_array_index(posts, uint32_t, wanted - 1), o);
}

/* A message may be sent more than once (annotations): keep each thread's last send. */
static void send_message(struct checker *c, struct before *before, uint32_t e)
{
	GArray *sent = before->events;

	before->number = NONE;
	for (guint i = 0; i < sent->len; i++) {
		uint32_t *earlier = &g_array_index(sent, uint32_t, i);

		if (at(c, *earlier)->thread == at(c, e)->thread) {
			*earlier = e;
			return;
		}
	}
	g_array_append_val(sent, e);
}

static void barrier_event(struct checker *c, struct facts_pass *p, uint32_t e, uint32_t o)
{
	gpointer own = pair_key(o, at(c, e)->thread);
	uint32_t round;
	struct before *arrived;

	if (at(c, e)->op == OP_ARRIVE) {
		if (p->departed[o]) {
			p->round[o]++;
			p->departed[o] = false;
		}
		g_hash_table_insert(p->arrival, own, GUINT_TO_POINTER(p->round[o] + 1));
		arrived = before_at(p->arrived, pair_key(o, p->round[o] + 1));
		arrived->number = NONE;
		g_array_append_val(arrived->events, e);
		return;
	}
	round = GPOINTER_TO_UINT(g_hash_table_lookup(p->arrival, own));
	round = round == 0 ? p->round[o] : round - 1;
	if (round == p->round[o])
		p->departed[o] = true;
	arrived = before_at(p->arrived, pair_key(o, round + 1));
	facts_pairs(&c->f, e, arrived->events, &arrived->number, o);
}

static void condition_wake(struct checker *c, struct facts_pass *p, uint32_t e, uint32_t o)
{
	gpointer own = pair_key(o, at(c, e)->thread);
	uintptr_t wait = (uintptr_t)g_hash_table_lookup(p->waiting, own);
	GArray *wakers = facts_list(p->wakers, o);

	if (wait == 0 || at(c, e)->flags & EVENT_TRY)
		return; /* recorded as ended by no signal */
	for (guint k = search_end(i, 0u, wakers->len,
	                          g_array_index(wakers, uint32_t, i) <= wait - 1);
	     k < wakers->len; k++) {
		uint32_t s = g_array_index(wakers, uint32_t, k);
		struct condition_wake w = { s, (uint32_t)(wait - 1), e };

		if (at(c, s)->op == OP_SIGNAL &&
		    !g_hash_table_add(p->used, GUINT_TO_POINTER(s + 1)))
			continue;
		facts_pair(&c->f, e, s, o);
		g_array_append_val(c->f.wakes, w);
		return;
	}
}

static void held_remove(const struct checker *c, GArray *held, uint32_t e)
{
	for (guint i = 0; i < held->len; i++) {
		uint32_t a = g_array_index(held, uint32_t, i);

		if (at(c, a)->thread == at(c, e)->thread &&
		    (at(c, a)->op == OP_RACQ) == (at(c, e)->op == OP_RREL)) {
			g_array_remove_index(held, i);
			return;
		}
	}
}

/* A failed try: record its holders' mode. When its own thread held the lock, it fails
 * anywhere. */
static void failed_try(struct checker *c, const struct facts_pass *p, const GArray *held,
                       uint32_t e)
{
	uint32_t destroyed = p->destroyed[at(c, e)->target];
	enum tried need = TRIED_ANY;

	if (held->len == 0 && destroyed != NONE)
		g_hash_table_insert(c->f.tried, GUINT_TO_POINTER(e + 1),
		                    GUINT_TO_POINTER(TRIED_DESTROYED + destroyed));
	for (guint i = 0; i < held->len; i++) {
		const struct event *x = at(c, g_array_index(held, uint32_t, i));

		if (x->thread == at(c, e)->thread)
			return;
		if (x->op != OP_RACQ)
			need = TRIED_EXCLUSIVE;
	}
	if (held->len > 0)
		g_hash_table_insert(c->f.tried, GUINT_TO_POINTER(e + 1),
		                    GUINT_TO_POINTER(need));
}

/* Track holders and destruction of locks that are tried. */
static void tried_lock(struct checker *c, struct facts_pass *p, uint32_t e, uint32_t o)
{
	GArray *held = g_hash_table_lookup(p->held, GUINT_TO_POINTER(o + 1));

	if (held == NULL || op_table[at(c, e)->op].operand != OPERAND_OBJECT)
		return;
	if (op_acquires(at(c, e)->op)) {
		g_array_append_val(held, e);
		p->destroyed[o] = NONE;
	} else if (op_releases(at(c, e)->op)) {
		held_remove(c, held, e);
	} else if (at(c, e)->op == OP_TRYFAIL) {
		failed_try(c, p, held, e);
	} else if (at(c, e)->op == OP_DESTROY) {
		p->destroyed[o] = e;
	}
}

static void sync_event(struct checker *c, struct facts_pass *p, uint32_t e)
{
	const struct event *x = at(c, e);
	uint32_t o = x->target;

	switch (x->op) {
	case OP_FORK:
		if (o != NONE && thread_first(c, o) != NONE)
			facts_need(&c->f, thread_first(c, o), e);
		break;
	case OP_JOIN:
		if (o != NONE && thread_last(c, o) != NONE && thread_last(c, o) < e)
			facts_need(&c->f, e, thread_last(c, o));
		break;
	case OP_SND:
		send_message(c, before_at(p->sent, GUINT_TO_POINTER(o + 1)), e);
		break;
	case OP_RCV: {
		struct before *sent = before_at(p->sent, GUINT_TO_POINTER(o + 1));

		facts_pairs(&c->f, e, sent->events, &sent->number, NONE);
		break;
	}
	case OP_POST:
		g_array_append_val(facts_list(p->posts, o), e);
		break;
	case OP_TAKE:
		semaphore_take(c, p, e, o);
		break;
	case OP_TAKETRYFAIL:
		if (c->t->objects[o].count + (int64_t)facts_list(p->posts, o)->len ==
		    p->takes[o])
			g_hash_table_add(c->f.empty, GUINT_TO_POINTER(e + 1));
		break;
	case OP_ARRIVE:
	case OP_DEPART:
		barrier_event(c, p, e, o);
		break;
	case OP_WAIT:
		g_hash_table_insert(p->waiting, pair_key(o, x->thread),
		                    (gpointer)((uintptr_t)e + 1));
		break;
	case OP_SIGNAL:
	case OP_BROADCAST:
		g_array_append_val(facts_list(p->wakers, o), e);
		break;
	case OP_WAKE:
		condition_wake(c, p, e, o);
		break;
	case OP_ACT:
	case OP_RET:
		if (specified(c, o))
			break;
		if (p->effect[o] != NONE)
			facts_need(&c->f, e, p->effect[o]);
		p->effect[o] = e;
		break;
	default:
		tried_lock(c, p, e, o);
	}
}

static void facts_must(struct checker *c, const struct other_events *others)
{
	const struct trace *t = c->t;
	struct facts_pass p = {
		.posts = facts_lists(),
		.takes = g_new0(uint32_t, t->objects_count + 1),
		.arrived = befores_new(),
		.round = g_new0(uint32_t, t->objects_count + 1),
		.departed = g_new0(bool, t->objects_count + 1),
		.arrival = g_hash_table_new(hash_pointer, NULL),
		.waiting = g_hash_table_new(hash_pointer, NULL),
		.wakers = facts_lists(),
		.used = g_hash_table_new(hash_pointer, NULL),
		.sent = befores_new(),
		.held = facts_lists(),
		.destroyed = g_new(uint32_t, t->objects_count + 1),
		.effect = g_new(uint32_t, t->instances_count + 1),
	};

	memset(p.effect, 0xff, sizeof(uint32_t) * (t->instances_count + 1));
	memset(p.destroyed, 0xff, sizeof(uint32_t) * (t->objects_count + 1));
	for (guint i = 0; others_have(others, OP_TRYFAIL) && i < others->events->len; i++) {
		const struct event *x = at(c, g_array_index(others->events, uint32_t, i));

		if (x->op == OP_TRYFAIL)
			facts_list(p.held, x->target);
	}
	for (guint i = 0; i < others->events->len; i++)
		sync_event(c, &p, g_array_index(others->events, uint32_t, i));
	g_hash_table_destroy(p.posts);
	g_hash_table_destroy(p.arrived);
	g_hash_table_destroy(p.arrival);
	g_hash_table_destroy(p.waiting);
	g_hash_table_destroy(p.wakers);
	g_hash_table_destroy(p.used);
	g_hash_table_destroy(p.sent);
	g_hash_table_destroy(p.held);
	g_free(p.takes);
	g_free(p.round);
	g_free(p.departed);
	g_free(p.destroyed);
	g_free(p.effect);
}

/* Blocks: must-orders between alloc and free, and from the free to the next alloc of the same
 * name. Blocks with different names at one address may be alive together, since another order
 * may get other addresses from the allocator. */
static void facts_blocks(struct checker *c, const struct other_events *others)
{
	const struct trace *t = c->t;
	g_autoptr(GHashTable) ended =
	        g_hash_table_new(hash_pointer, NULL); /* name -> free + 1 */

	for (guint i = 0; i < others->events->len; i++) {
		uint32_t e = g_array_index(others->events, uint32_t, i), before;
		const struct event *x = &t->events[e];

		if ((x->op != OP_ALLOC && x->op != OP_FREE) || x->target == NONE)
			continue;
		const struct block *b = &t->blocks[x->target];
		gpointer life = pair_key(1, b->name);
		if (x->op == OP_FREE) {
			if (b->alloc != NONE && b->free == e)
				facts_need(&c->f, e, b->alloc);
			g_hash_table_insert(ended, life, GUINT_TO_POINTER(e + 1));
			continue;
		}
		before = GPOINTER_TO_UINT(g_hash_table_lookup(ended, life));
		if (before != 0)
			facts_need(&c->f, e, before - 1);
	}
}

static void facts_stacks(struct checker *c)
{
	const struct trace *t = c->t;

	c->f.stack_of = g_new(uint32_t, t->blocks_count + 1);
	memset(c->f.stack_of, 0xff, sizeof(uint32_t) * (t->blocks_count + 1));
	for (uint32_t u = 0; u < t->threads_count; u++) {
		if (t->threads[u].stack != NONE)
			c->f.stack_of[t->threads[u].stack] = u;
	}
}

/* By event: the next destruction of its object. */
static void facts_destroyed(struct checker *c, const struct other_events *others)
{
	const struct trace *t = c->t;
	uint32_t *next = NULL;

	for (guint i = others->events->len; others_have(others, OP_DESTROY) && i-- > 0;) {
		uint32_t e = g_array_index(others->events, uint32_t, i);
		const struct event *x = &t->events[e];

		if (op_table[x->op].operand != OPERAND_OBJECT)
			continue;
		if (x->op == OP_DESTROY && next == NULL) {
			next = g_new(uint32_t, t->objects_count + 1);
			memset(next, 0xff, sizeof(uint32_t) * (t->objects_count + 1));
			c->f.destroy = g_new0(uint32_t, t->events_count + 1);
		}
		if (next == NULL)
			continue;
		c->f.destroy[e] = next[x->target] + 1;
		if (x->op == OP_DESTROY)
			next[x->target] = e;
	}
	g_free(next);
}

void facts_make(struct checker *c)
{
	const struct trace *t = c->t;
	struct other_events others;

	c->f.needs = g_array_new(FALSE, FALSE, sizeof(struct must_need));
	c->f.lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	c->f.wakes = g_array_new(FALSE, FALSE, sizeof(struct condition_wake));
	c->f.blocked = g_new0(uint64_t, t->events_count / 64 + 1);
	c->f.tried = g_hash_table_new(hash_pointer, NULL);
	c->f.empty = g_hash_table_new(hash_pointer, NULL);
	facts_events(c, &others);
	facts_must(c, &others);
	facts_blocks(c, &others);
	facts_stacks(c);
	facts_destroyed(c, &others);
	g_array_free(others.events, TRUE);
}

void facts_sort(struct checker *c)
{
	g_array_sort(c->f.needs, need_compare);
	g_array_sort(c->f.wakes, wake_compare);
	c->f.woken = g_hash_table_new(hash_pointer, NULL);
	for (guint i = 0; i < c->f.wakes->len; i++)
		g_hash_table_insert(
		        c->f.woken,
		        GUINT_TO_POINTER(
		                g_array_index(c->f.wakes, struct condition_wake, i).wake + 1),
		        GUINT_TO_POINTER(i + 1));
}

void facts_release(struct facts *f)
{
	void *arrays[] = { f->place,      f->threads,    f->own,     f->blocked,
		           f->writer,     f->initial,    f->destroy, f->scope,
		           f->lock_owner, f->unreliable, f->stack_of };

	g_array_unref(f->needs);
	g_ptr_array_unref(f->lists);
	g_array_unref(f->wakes);
	g_array_unref(f->wide);
	g_hash_table_destroy(f->woken);
	g_hash_table_destroy(f->tried);
	g_hash_table_destroy(f->empty);
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_free(arrays[i]);
}
