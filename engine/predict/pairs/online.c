/*
 * online.c - see online.h. The edges of happens-before as soon as their second event comes:
 * those of the must-order (engine/trace/must.c finds them in a whole trace), of locks and of
 * atomic accesses (engine/order/locks.c, atomics.c). An edge begins at a kept point: an event
 * and its thread's vector clock there.
 *
 * A variable has the same states as a cell of fasttrack.c: its last read and last write, or a
 * list of reads, or a list of accesses of all kinds.
 */
#include "engine/predict/pairs/online.h"

#include "engine/base/hash.h"
#include "engine/base/scattered.h"
#include "engine/order/clocks.h"

#include <string.h>

/* Where an edge begins. */
struct origin {
	uint32_t event, thread, clock; /* event NONE: there is none */
};
#define NO_ORIGIN ((struct origin){ .event = NONE })

enum { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE };

struct listed {
	struct online_access access;
	uint32_t kind;
};

/* A variable. A list is of plain reads, or (is_full) of all accesses. */
struct memory {
	struct online_access read, write;
	GArray *list; /* struct listed, or NULL */
};
static inline bool is_full(const struct memory *m)
{
	return m->read.thread == NONE;
}

struct thread_past {
	bool begun, joined;
	uint32_t last;       /* its last event */
	struct origin fork;  /* until its first event */
	struct origin fence; /* last release fence */
	GArray *pending;     /* struct origin: heads read without acquire; or NULL */
};

/* A lock, semaphore, barrier or condition. */
struct object_past {
	struct origin release;  /* end of the last exclusive section */
	GArray *readers;        /* struct origin: shared releases since */
	GArray *posts;          /* struct origin */
	uint32_t takes, posted; /* `posted`: posts before the first in the list */
	struct barrier_past *barrier;
	struct condition_past *condition;
};

/* Rounds of a barrier: the rules are those of must.c. */
struct barrier_past {
	GPtrArray *rounds;    /* GArray of struct origin: arrivals; NULL: forgotten */
	uint32_t first;       /* the first round that is not */
	GHashTable *round_of; /* thread -> round of its last arrival */
	bool departed;        /* a thread has left the last round */
};

/* Signals and broadcasts that a waiting thread may have been woken by. */
struct waker {
	struct origin at;
	bool all, used; /* a broadcast; a signal that has woken a thread */
};
struct condition_past {
	GArray *wakers;
	GHashTable *waiting; /* thread -> event of its last wait */
};

struct online {
	online_race *race;
	void *context;
	struct clocks clocks;
	GArray *threads;   /* struct thread_past */
	GArray *objects;   /* struct object_past */
	GPtrArray *sends;  /* by message: GArray of struct origin, or NULL */
	GArray *last_call; /* struct origin, by instance */
	GArray *allocs;    /* struct origin, by block */
	GArray *frees;     /* the same */
	GArray *living;    /* uint32_t: blocks with an allocation or free that may still order
	                      events */
	struct memory *memory;
	uint32_t memory_count;
	GHashTable *heads; /* variable + 1 -> GArray of struct origin: its release sequences */
	bool any_heads;    /* there has been one */
	bool atomics;      /* an atomic access has come */
};

/* -- tables that grow ---------------------------------------------------------------------- */

static struct origin *origin_at(GArray *array, uint32_t i)
{
	for (uint32_t old = array->len; old <= i; old++)
		g_array_append_val(array, NO_ORIGIN);
	return &g_array_index(array, struct origin, i);
}

static __attribute__((noinline)) void more_threads(struct online *o, uint32_t thread)
{
	enum { FIRST_THREADS = 16, MOST_THREADS = EVENT_THREADS };
	for (uint32_t i = o->threads->len; i <= thread; i++) {
		struct thread_past fresh = { .fork = NO_ORIGIN, .fence = NO_ORIGIN };
		g_array_append_val(o->threads, fresh);
	}
	if (thread >= o->clocks.threads) {
		uint32_t more = MAX(FIRST_THREADS, 4 * o->clocks.threads);
		clocks_grow(&o->clocks, more >= clocks_wide ? MOST_THREADS : more);
	}
}

static inline struct thread_past *thread_at(struct online *o, uint32_t thread)
{
	if (G_UNLIKELY(thread >= o->threads->len))
		more_threads(o, thread);
	return &g_array_index(o->threads, struct thread_past, thread);
}

static struct object_past *object_at(struct online *o, uint32_t object)
{
	for (uint32_t i = o->objects->len; i <= object; i++) {
		struct object_past fresh = { .release = NO_ORIGIN };
		g_array_append_val(o->objects, fresh);
	}
	return &g_array_index(o->objects, struct object_past, object);
}

static __attribute__((noinline)) void more_memory(struct online *o, uint32_t variable)
{
	uint32_t more = MAX(variable + 1, MAX(1024, 2 * o->memory_count));
	o->memory = scattered_realloc(o->memory, o->memory_count * sizeof *o->memory,
	                              more * sizeof *o->memory);
	memset(o->memory + o->memory_count, 0, (more - o->memory_count) * sizeof *o->memory);
	o->memory_count = more;
}

static inline struct memory *memory_at(struct online *o, uint32_t variable)
{
	if (G_UNLIKELY(variable >= o->memory_count))
		more_memory(o, variable);
	return &o->memory[variable];
}

static GArray *origins(GArray **list)
{
	if (*list == NULL)
		*list = g_array_new(FALSE, FALSE, sizeof(struct origin));
	return *list;
}

static void free_list(GArray **list)
{
	if (*list != NULL)
		g_array_free(*list, TRUE);
	*list = NULL;
}

/* -- edges --------------------------------------------------------------------------------- */

static struct origin here(struct online *o, const struct flow_event *x)
{
	return (struct origin){ x->number, x->thread, clocks_hold(&o->clocks, x->thread) };
}

static void join(struct online *o, const struct flow_event *x, struct origin from)
{
	if (from.event != NONE && from.thread != x->thread)
		clocks_join(&o->clocks, x->thread, x->number, from.thread,
		            (struct edge_source){ from.event, from.clock }, true);
}

static void join_all(struct online *o, const struct flow_event *x, const GArray *from)
{
	for (guint i = 0; from != NULL && i < from->len; i++)
		join(o, x, g_array_index(from, struct origin, i));
}

/* Of a thread's events the last suffices. */
static void keep_last(GArray *list, struct origin from)
{
	for (guint i = list->len; i-- > 0;) {
		struct origin *other = &g_array_index(list, struct origin, i);
		if (other->thread == from.thread) {
			*other = from;
			return;
		}
	}
	g_array_append_val(list, from);
}

static inline void use_block(struct online *o, const struct flow_event *x)
{
	if (x->block >= o->allocs->len) /* NONE, too */
		return;
	struct origin alloc = g_array_index(o->allocs, struct origin, x->block);
	if (alloc.event != NONE && alloc.thread != x->thread &&
	    clocks_now_time(&o->clocks, x->thread, alloc.thread) <= alloc.event)
		join(o, x, alloc);
}

static inline void begin_thread(struct online *o, const struct flow_event *x,
                                struct thread_past *t)
{
	t->last = x->number;
	if (G_LIKELY(t->begun))
		return;
	join(o, x, t->fork);
	t->begun = true;
	t->fork = NO_ORIGIN;
}

static void fork_or_join(struct online *o, const struct flow_event *x)
{
	struct thread_past *other = thread_at(o, x->target);
	if (x->op == OP_FORK && !other->begun) {
		other->fork = here(o, x);
	} else if (x->op == OP_JOIN && other->begun) {
		join(o, x,
		     (struct origin){ other->last, x->target,
		                      clocks_hold(&o->clocks, x->target) });
		other->joined = true;
	}
}

/* -- barriers and conditions --------------------------------------------------------------- */

/* Rounds before the last one of every thread: no thread can leave them any more. */
static void forget_rounds(struct barrier_past *b)
{
	uint32_t first = b->rounds->len;
	GHashTableIter threads;
	gpointer round;
	g_hash_table_iter_init(&threads, b->round_of);
	while (g_hash_table_iter_next(&threads, NULL, &round))
		first = MIN(first, GPOINTER_TO_UINT(round));
	for (; b->first < first; b->first++)
		free_list((GArray **)&b->rounds->pdata[b->first]);
}

static void barrier_event(struct online *o, const struct flow_event *x, struct object_past *of)
{
	gpointer thread = GUINT_TO_POINTER(x->thread), known;
	struct barrier_past *b = of->barrier;
	if (b == NULL) {
		b = of->barrier = g_new0(struct barrier_past, 1);
		b->rounds = g_ptr_array_new();
		b->round_of = g_hash_table_new(NULL, NULL);
		b->departed = true;
	}
	if (b->departed && (x->op == OP_ARRIVE || b->rounds->len == 0)) {
		forget_rounds(b);
		g_ptr_array_add(b->rounds, g_array_new(FALSE, FALSE, sizeof(struct origin)));
		b->departed = false;
	}
	uint32_t round = b->rounds->len - 1;
	if (x->op == OP_ARRIVE) {
		keep_last(b->rounds->pdata[round], here(o, x));
		g_hash_table_insert(b->round_of, thread, GUINT_TO_POINTER(round));
		return;
	}
	if (g_hash_table_lookup_extended(b->round_of, thread, NULL, &known))
		round = GPOINTER_TO_UINT(known);
	b->departed |= round == b->rounds->len - 1;
	join_all(o, x, b->rounds->pdata[round]);
}

/* A wake is by the first signal after its wait that has woken no thread, or a broadcast. */
static void wake(struct online *o, const struct flow_event *x, struct condition_past *c)
{
	gpointer wait;
	bool timed_out = x->flags & EVENT_TRY;
	if (!g_hash_table_lookup_extended(c->waiting, GUINT_TO_POINTER(x->thread), NULL, &wait))
		return;
	for (guint i = 0; i < c->wakers->len && !timed_out; i++) {
		struct waker *w = &g_array_index(c->wakers, struct waker, i);
		if (w->used || w->at.event < GPOINTER_TO_UINT(wait))
			continue;
		w->used = !w->all;
		join(o, x, w->at);
		break;
	}
	g_hash_table_remove(c->waiting, GUINT_TO_POINTER(x->thread));
}

/* Wakers before all waits, and used signals, wake no thread any more. */
static void forget_wakers(struct condition_past *c)
{
	enum { MANY = 64 };
	uint32_t first = NONE;
	GHashTableIter waits;
	gpointer wait;
	guint kept = 0;
	if (c->wakers->len % MANY != 0)
		return;
	g_hash_table_iter_init(&waits, c->waiting);
	while (g_hash_table_iter_next(&waits, NULL, &wait))
		first = MIN(first, GPOINTER_TO_UINT(wait));
	for (guint i = 0; i < c->wakers->len; i++) {
		struct waker w = g_array_index(c->wakers, struct waker, i);
		if (!w.used && w.at.event >= first)
			g_array_index(c->wakers, struct waker, kept++) = w;
	}
	g_array_set_size(c->wakers, kept);
}

static void condition_event(struct online *o, const struct flow_event *x,
                            struct object_past *of)
{
	struct condition_past *c = of->condition;
	if (c == NULL) {
		c = of->condition = g_new0(struct condition_past, 1);
		c->wakers = g_array_new(FALSE, FALSE, sizeof(struct waker));
		c->waiting = g_hash_table_new(NULL, NULL);
	}
	if (x->op == OP_WAIT) {
		g_hash_table_insert(c->waiting, GUINT_TO_POINTER(x->thread),
		                    GUINT_TO_POINTER(x->number));
	} else if (x->op == OP_WAKE) {
		wake(o, x, c);
	} else {
		struct waker w = { .at = here(o, x), .all = x->op == OP_BROADCAST };
		forget_wakers(c);
		g_array_append_val(c->wakers, w);
	}
}

/* The n-th take comes after the (n-k)-th post. */
static void take(struct online *o, const struct flow_event *x, struct object_past *of)
{
	int64_t nth = (int64_t)++of->takes - x->count - of->posted;
	if (of->posts == NULL || nth < 1 || nth > of->posts->len)
		return;
	join(o, x, g_array_index(of->posts, struct origin, nth - 1));
	if (nth > 64 && 2 * nth > of->posts->len) {
		g_array_remove_range(of->posts, 0, (guint)nth);
		of->posted += (uint32_t)nth;
	}
}

/* -- locks and other synchronisation -------------------------------------------------------- */

static void lock_event(struct online *o, const struct flow_event *x, struct object_past *l)
{
	switch (x->op) {
	case OP_ACQ:
		join_all(o, x, l->readers);
		/* fall through */
	case OP_RACQ:
		join(o, x, l->release);
		break;
	case OP_REL:
		if (l->readers != NULL)
			g_array_set_size(l->readers, 0);
		l->release = here(o, x);
		break;
	default:
		keep_last(origins(&l->readers), here(o, x));
		break;
	}
}

static void object_event(struct online *o, const struct flow_event *x)
{
	struct object_past *of = object_at(o, x->target);
	switch (x->op) {
	case OP_ACQ:
	case OP_RACQ:
	case OP_REL:
	case OP_RREL:
		lock_event(o, x, of);
		break;
	case OP_POST: {
		struct origin at = here(o, x);
		g_array_append_val(origins(&of->posts), at);
		break;
	}
	case OP_TAKE:
		take(o, x, of);
		break;
	case OP_ARRIVE:
	case OP_DEPART:
		barrier_event(o, x, of);
		break;
	case OP_WAIT:
	case OP_WAKE:
	case OP_SIGNAL:
	case OP_BROADCAST:
		condition_event(o, x, of);
		break;
	default:
		break;
	}
}

static void message_event(struct online *o, const struct flow_event *x)
{
	if (x->target >= o->sends->len)
		g_ptr_array_set_size(o->sends, (gint)x->target + 1);
	if (x->op == OP_SND)
		keep_last(origins((GArray **)&o->sends->pdata[x->target]), here(o, x));
	else
		join_all(o, x, o->sends->pdata[x->target]);
}

static void block_event(struct online *o, const struct flow_event *x)
{
	struct origin *alloc = origin_at(o->allocs, x->target);
	struct origin *free = origin_at(o->frees, x->target);
	if (x->op == OP_ALLOC) {
		if (x->block != NONE && x->block != x->target) /* its last life */
			join(o, x, *origin_at(o->frees, x->block));
		*alloc = here(o, x);
		g_array_append_val(o->living, x->target);
	} else {
		join(o, x, *alloc);
		*free = here(o, x);
	}
}

/* -- atomic accesses ------------------------------------------------------------------------ */

static void fence(struct online *o, const struct flow_event *x, struct thread_past *t)
{
	enum memory_order_kind order = x->flags & EVENT_ORDER_MASK;
	if (order_acquires(order) && t->pending != NULL) {
		join_all(o, x, t->pending);
		g_array_set_size(t->pending, 0);
	}
	if (order_releases(order))
		t->fence = here(o, x);
}

/* The later head of a thread replaces the earlier one. */
static void add_head(GArray *list, struct origin head)
{
	for (guint i = 0; i < list->len; i++) {
		struct origin *h = &g_array_index(list, struct origin, i);
		if (h->thread == head.thread) {
			if (h->event < head.event)
				*h = head;
			return;
		}
	}
	g_array_append_val(list, head);
}

static void read_heads(struct online *o, const struct flow_event *x, struct thread_past *t,
                       const GArray *heads)
{
	bool acquires = order_acquires((enum memory_order_kind)(x->flags & EVENT_ORDER_MASK));
	for (guint i = 0; heads != NULL && i < heads->len; i++) {
		struct origin h = g_array_index(heads, struct origin, i);
		if (h.thread == x->thread)
			continue;
		if (acquires)
			join(o, x, h);
		else
			add_head(origins(&t->pending), h);
	}
}

static gpointer head_key(uint32_t variable)
{
	return GSIZE_TO_POINTER((gsize)variable + 1);
}

static void write_heads(struct online *o, const struct flow_event *x,
                        const struct thread_past *t, uint32_t variable)
{
	GArray *heads = g_hash_table_lookup(o->heads, head_key(variable));
	struct origin head = t->fence;
	for (guint i = heads != NULL && x->op != OP_RMW ? heads->len : 0; i-- > 0;) {
		if (g_array_index(heads, struct origin, i).thread != x->thread)
			g_array_remove_index_fast(heads, i);
	}
	if (order_releases((enum memory_order_kind)(x->flags & EVENT_ORDER_MASK)))
		head = here(o, x);
	if (head.event == NONE)
		return;
	if (heads == NULL) {
		heads = g_array_new(FALSE, FALSE, sizeof(struct origin));
		g_hash_table_insert(o->heads, head_key(variable), heads);
		o->any_heads = true;
	}
	add_head(heads, head);
}

static void synchronise(struct online *o, const struct flow_event *x, struct thread_past *t)
{
	bool atomic = op_is_atomic(x->op), any = o->any_heads;
	for (uint32_t i = 0; i < x->variables_count && any && atomic && op_reads(x->op); i++)
		read_heads(o, x, t, g_hash_table_lookup(o->heads, head_key(x->variables[i])));
	for (uint32_t i = 0; i < x->variables_count && atomic && op_writes(x->op); i++)
		write_heads(o, x, t, x->variables[i]);
	for (uint32_t i = 0; i < x->variables_count && any && x->op == OP_WRITE; i++)
		g_hash_table_remove(o->heads, head_key(x->variables[i]));
}

/* -- races --------------------------------------------------------------------------------- */

static inline bool covered(const struct online *o, uint32_t thread,
                           const struct online_access *a)
{
	return a->time == 0 || a->thread == thread ||
	       a->time <= clocks_now_time(&o->clocks, thread, a->thread);
}

static void put(struct memory *m, uint32_t kind, struct online_access access)
{
	struct listed fresh = { access, kind };
	if (m->list == NULL)
		m->list = g_array_new(FALSE, FALSE, sizeof(struct listed));
	for (guint i = 0; i < m->list->len; i++) {
		struct listed *l = &g_array_index(m->list, struct listed, i);
		if (l->kind == kind && l->access.thread == access.thread) {
			l->access = access;
			return;
		}
	}
	g_array_append_val(m->list, fresh);
}

/* After a write ordered after all of them the latest read stands for them. */
static void drop(struct memory *m)
{
	struct online_access latest = { 0 };
	for (guint i = 0; i < m->list->len; i++) {
		const struct listed *l = &g_array_index(m->list, struct listed, i);
		if (l->kind == PLAIN_READ && l->access.time > latest.time)
			latest = l->access;
	}
	free_list(&m->list);
	m->read = latest;
}

/* Name the races with accesses of these kinds; true when no plain one is among them. */
static bool compare(struct online *o, const struct memory *m, uint32_t wanted,
                    const struct flow_event *x, uint32_t variable)
{
	bool known = true;
	for (guint i = 0; i < m->list->len; i++) {
		const struct listed *l = &g_array_index(m->list, struct listed, i);
		if (!(wanted >> l->kind & 1) || covered(o, x->thread, &l->access))
			continue;
		o->race(o->context, &l->access, x, variable);
		known &= l->kind >= ATOMIC_READ;
	}
	return known;
}

static __attribute__((noinline)) void access_listed(struct online *o, struct memory *m,
                                                    const struct flow_event *x,
                                                    struct online_access now, uint32_t variable)
{
	bool writes = op_writes(x->op), atomic = op_is_atomic(x->op);
	uint32_t wanted = 1 << PLAIN_WRITE | (writes ? 1 << PLAIN_READ : 0);
	if (!atomic)
		wanted |= 1 << ATOMIC_WRITE | (writes ? 1 << ATOMIC_READ : 0);
	if (m->list == NULL && m->read.time != 0 && !is_full(m))
		put(m, PLAIN_READ, m->read);
	if (!atomic && !is_full(m) && covered(o, x->thread, &m->write)) {
		if (!writes)
			put(m, PLAIN_READ, now);
		else if (m->list != NULL && compare(o, m, 1 << PLAIN_READ, x, variable))
			drop(m);
		return;
	}
	if (!is_full(m) && m->write.time != 0)
		put(m, PLAIN_WRITE, m->write);
	m->read = (struct online_access){ .thread = NONE };
	o->atomics |= atomic;
	bool known = m->list == NULL || compare(o, m, wanted, x, variable);
	put(m, 2 * atomic + writes, now);
	if (writes && known && !o->atomics)
		drop(m);
}

static inline void access_one(struct online *o, const struct flow_event *x, uint32_t variable)
{
	struct memory *m = memory_at(o, variable);
	struct online_access now = { x->number + 1, x->thread, x->point };
	if (G_UNLIKELY(m->list != NULL) || G_UNLIKELY(x->op > OP_WRITE) ||
	    G_UNLIKELY(!covered(o, x->thread, &m->read)) ||
	    G_UNLIKELY(!covered(o, x->thread, &m->write)))
		access_listed(o, m, x, now, variable);
	else if (x->op == OP_READ)
		m->read = now;
	if (op_writes(x->op))
		m->write = now;
}

void online_split(struct online *o, uint32_t from, uint32_t to)
{
	memory_at(o, MAX(from, to));
	online_renew(o, to);
	o->memory[to] = o->memory[from];
	if (o->memory[to].list != NULL)
		o->memory[to].list = g_array_copy(o->memory[from].list);
	GArray *heads = g_hash_table_lookup(o->heads, head_key(from));
	if (heads != NULL)
		g_hash_table_insert(o->heads, head_key(to), g_array_copy(heads));
}

void online_renew(struct online *o, uint32_t variable)
{
	struct memory *m = memory_at(o, variable);
	free_list(&m->list);
	*m = (struct memory){ 0 };
	g_hash_table_remove(o->heads, head_key(variable));
}

/* -- clocks without a use any more ----------------------------------------------------------- */

static void mark(struct online *o, struct origin at)
{
	clocks_mark(&o->clocks, at.event == NONE ? 0 : at.clock);
}

static void mark_all(struct online *o, const GArray *list)
{
	for (guint i = 0; list != NULL && i < list->len; i++)
		mark(o, g_array_index(list, struct origin, i));
}

static void mark_objects(struct online *o)
{
	for (guint i = 0; i < o->objects->len; i++) {
		const struct object_past *of =
		        &g_array_index(o->objects, struct object_past, i);
		mark(o, of->release);
		mark_all(o, of->readers);
		mark_all(o, of->posts);
		for (guint k = of->barrier ? of->barrier->first : 0;
		     of->barrier != NULL && k < of->barrier->rounds->len; k++)
			mark_all(o, of->barrier->rounds->pdata[k]);
		for (guint k = 0; of->condition != NULL && k < of->condition->wakers->len; k++)
			mark(o, g_array_index(of->condition->wakers, struct waker, k).at);
	}
}

/* Would the edge from the event tell no thread anything, now or later? */
static bool all_know(const struct online *o, struct origin at)
{
	for (guint i = 0; i < o->threads->len; i++) {
		const struct thread_past *t = &g_array_index(o->threads, struct thread_past, i);
		if (i != at.thread && !t->joined &&
		    (!t->begun || clocks_now_time(&o->clocks, i, at.thread) <= at.event))
			return false;
	}
	return true;
}

/* A freed block that all threads know to be free is forgotten. */
static void mark_blocks(struct online *o)
{
	guint kept = 0;
	for (guint i = 0; i < o->living->len; i++) {
		uint32_t block = g_array_index(o->living, uint32_t, i);
		struct origin *alloc = &g_array_index(o->allocs, struct origin, block);
		struct origin *free = &g_array_index(o->frees, struct origin, block);
		if (free->event != NONE && all_know(o, *free)) {
			*alloc = *free = NO_ORIGIN;
			continue;
		}
		mark(o, *alloc);
		mark(o, *free);
		g_array_index(o->living, uint32_t, kept++) = block;
	}
	g_array_set_size(o->living, kept);
}

static void sweep(struct online *o)
{
	GHashTableIter heads;
	gpointer list;
	clocks_sweep_begin(&o->clocks);
	for (guint i = 0; i < o->threads->len; i++) {
		const struct thread_past *t = &g_array_index(o->threads, struct thread_past, i);
		mark(o, t->fork);
		mark(o, t->fence);
		mark_all(o, t->pending);
	}
	mark_objects(o);
	for (guint i = 0; i < o->sends->len; i++)
		mark_all(o, o->sends->pdata[i]);
	mark_all(o, o->last_call);
	mark_blocks(o);
	g_hash_table_iter_init(&heads, o->heads);
	while (g_hash_table_iter_next(&heads, NULL, &list))
		mark_all(o, list);
	clocks_sweep_end(&o->clocks);
}

/* -- events -------------------------------------------------------------------------------- */

static void other_event(struct online *o, const struct flow_event *x)
{
	switch (op_table[x->op].operand) {
	case OPERAND_OBJECT:
		object_event(o, x);
		break;
	case OPERAND_THREAD:
		fork_or_join(o, x);
		break;
	case OPERAND_MESSAGE:
		message_event(o, x);
		break;
	case OPERAND_INSTANCE: /* without a specification none commute */
		if (x->op == OP_ACT || x->op == OP_RET) {
			join(o, x, *origin_at(o->last_call, x->target));
			*origin_at(o->last_call, x->target) = here(o, x);
		}
		break;
	case OPERAND_BLOCK:
		block_event(o, x);
		break;
	default:
		if (x->op == OP_FENCE)
			fence(o, x, thread_at(o, x->thread));
		break;
	}
}

void online_event(struct online *o, const struct flow_event *x)
{
	bool inert = x->flags & EVENT_INERT;
	struct thread_past *t = thread_at(o, x->thread);
	begin_thread(o, x, t);
	if (op_table[x->op].operand != OPERAND_BLOCK)
		use_block(o, x);
	if (!op_is_access(x->op)) {
		if (!inert)
			other_event(o, x);
	} else if (!inert) {
		if (op_is_atomic(x->op) || o->any_heads)
			synchronise(o, x, t);
		for (uint32_t i = 0; i < x->variables_count; i++)
			access_one(o, x, x->variables[i]);
	}
	if (clocks_sweep_due(&o->clocks))
		sweep(o);
}

/* -- making and ending ---------------------------------------------------------------------- */

static void free_origins(gpointer list)
{
	g_array_free(list, TRUE);
}

struct online *online_new(online_race *race, void *context)
{
	struct online *o = g_new0(struct online, 1);
	o->race = race;
	o->context = context;
	clocks_init(&o->clocks, 0, 1);
	o->clocks.in_place = true;
	o->threads = g_array_new(FALSE, TRUE, sizeof(struct thread_past));
	o->objects = g_array_new(FALSE, TRUE, sizeof(struct object_past));
	o->sends = g_ptr_array_new();
	o->last_call = g_array_new(FALSE, FALSE, sizeof(struct origin));
	o->allocs = g_array_new(FALSE, FALSE, sizeof(struct origin));
	o->frees = g_array_new(FALSE, FALSE, sizeof(struct origin));
	o->living = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	o->heads = g_hash_table_new_full(hash_pointer, NULL, NULL, free_origins);
	return o;
}

static void release_object(struct object_past *of)
{
	free_list(&of->readers);
	free_list(&of->posts);
	if (of->barrier != NULL) {
		for (guint i = 0; i < of->barrier->rounds->len; i++)
			free_list((GArray **)&of->barrier->rounds->pdata[i]);
		g_ptr_array_free(of->barrier->rounds, TRUE);
		g_hash_table_destroy(of->barrier->round_of);
		g_free(of->barrier);
	}
	if (of->condition != NULL) {
		g_array_free(of->condition->wakers, TRUE);
		g_hash_table_destroy(of->condition->waiting);
		g_free(of->condition);
	}
}

void online_free(struct online *o)
{
	if (o == NULL)
		return;
	for (guint i = 0; i < o->objects->len; i++)
		release_object(&g_array_index(o->objects, struct object_past, i));
	for (guint i = 0; i < o->threads->len; i++)
		free_list(&g_array_index(o->threads, struct thread_past, i).pending);
	for (guint i = 0; i < o->sends->len; i++)
		free_list((GArray **)&o->sends->pdata[i]);
	for (uint32_t i = 0; i < o->memory_count; i++)
		free_list(&o->memory[i].list);
	g_free(o->memory);
	g_array_free(o->threads, TRUE);
	g_array_free(o->objects, TRUE);
	g_ptr_array_free(o->sends, TRUE);
	g_array_free(o->last_call, TRUE);
	g_array_free(o->allocs, TRUE);
	g_array_free(o->frees, TRUE);
	g_array_free(o->living, TRUE);
	g_hash_table_destroy(o->heads);
	clocks_release(&o->clocks);
	g_free(o);
}
