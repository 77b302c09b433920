/*
 * online.c - see online.h. The order's edges come from the rules that whole traces are analysed
 * by (engine/trace/must_rules.h, engine/order/sync_edges.h) as soon as their second event
 * comes; here are the threads' clocks, which the edges join, and the accesses that they leave
 * unordered.
 *
 * A variable has the same states as a cell of fasttrack.c: its last read and last write, or a
 * list of reads, or a list of accesses of all kinds.
 */
#include "engine/predict/pairs/online.h"

#include "engine/base/hash.h"
#include "engine/base/scattered.h"
#include "engine/order/clocks.h"
#include "engine/order/live_sections.h"
#include "engine/order/sync_edges.h"
#include "engine/trace/must_rules.h"

#include <string.h>

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
	uint32_t last;           /* its last event */
	uint32_t held;           /* EDC: live_sections_held; 0: it is inside of no section */
	struct sync_point fence; /* last release fence */
	GArray *pending;         /* struct sync_point: heads read without acquire; or NULL */
};

/* An access of a block, or its free. */
struct use {
	struct online_access at;
	uint32_t variable;
	uint32_t held; /* EDC: live_sections_held */
};
struct block_past {
	/* The last one of all; before the first, and after a free, by thread NONE. */
	struct use last;
	bool freed;
	/* The last ones of other threads; after a free that alone; or NULL. */
	GArray *others; /* struct use */
};

struct online {
	struct online_sink sink;
	struct clocks clocks;
	const struct flow_event *event; /* the current one */
	struct must_rules *must;
	GArray *threads;                /* struct thread_past */
	struct live_sections *sections; /* EDC; NULL: happens-before */
	GArray *locks;                  /* struct lock_points, by object */
	GArray *blocks;                 /* struct block_past */
	struct memory *memory;
	uint32_t memory_count;
	GHashTable
	        *heads; /* variable + 1 -> GArray of struct sync_point: its release sequences */
	bool any_heads; /* there has been one */
	bool atomics;   /* an atomic access has come */
};

/* -- tables that grow ---------------------------------------------------------------------- */

static __attribute__((noinline)) void more_threads(struct online *o, uint32_t thread)
{
	enum { FIRST_THREADS = 16, MOST_THREADS = EVENT_THREADS };
	for (uint32_t i = o->threads->len; i <= thread; i++) {
		struct thread_past fresh = { .fence = NO_SYNC_POINT };
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

static struct lock_points *lock_at(struct online *o, uint32_t object)
{
	for (uint32_t i = o->locks->len; i <= object; i++) {
		struct lock_points fresh = { NO_SYNC_POINT, NULL };
		g_array_append_val(o->locks, fresh);
	}
	return &g_array_index(o->locks, struct lock_points, object);
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

static void free_list(GArray **list)
{
	sync_points_free(*list);
	*list = NULL;
}

/* -- edges --------------------------------------------------------------------------------- */

/* The thread's latest event as the source of edges: its clock stays as it is from here on. */
static struct sync_point latest(void *context, uint32_t thread)
{
	struct online *o = context;
	if (thread >= o->threads->len)
		return NO_SYNC_POINT;
	const struct thread_past *t = &g_array_index(o->threads, struct thread_past, thread);
	return t->begun
	               ? (struct sync_point){ t->last, thread, clocks_hold(&o->clocks, thread) }
	               : NO_SYNC_POINT;
}

static struct sync_point here(struct online *o, const struct flow_event *x)
{
	return (struct sync_point){ x->number, x->thread, clocks_hold(&o->clocks, x->thread) };
}

/* The current event comes after the point. */
static void join(void *context, const struct sync_point *from)
{
	struct online *o = context;
	const struct flow_event *x = o->event;
	if (from->thread != x->thread)
		clocks_join(&o->clocks, x->thread, x->number, from->thread,
		            (struct edge_source){ from->event, from->clock }, true);
}

/* The conditional edge of a wait is implied by others, and EDC orders invocations by their
 * specifications alone, as in must_walk.c. */
static void on_must(void *context, const struct sync_point *before, uint32_t after,
                    enum must_rule rule, uint32_t condition)
{
	const struct online *o = context;
	if (rule != MUST_WAIT && !(rule == MUST_INVOCATION && o->sections))
		join(context, before);
}

/* An event in a block comes after the block's allocation. */
static void join_alloc(struct online *o, uint32_t block)
{
	struct sync_point alloc = must_rules_alloc(o->must, block);
	if (alloc.event != NONE)
		join(o, &alloc);
}

static inline void begin_thread(struct online *o, const struct flow_event *x,
                                struct thread_past *t)
{
	t->last = x->number;
	if (G_LIKELY(t->begun))
		return;
	t->begun = true;
	must_rules_begin(o->must, x);
}

/* EDC. */
static void section_event(struct online *o, const struct flow_event *x)
{
	bool shared = x->op == OP_RACQ || x->op == OP_RREL;
	if (op_acquires(x->op))
		live_sections_acquire(o->sections, x->thread, x->target, shared);
	else
		live_sections_release(o->sections, here(o, x), x->target);
	thread_at(o, x->thread)->held = live_sections_held(o->sections, x->thread);
}

static void lock_event(struct online *o, const struct flow_event *x)
{
	bool shared = x->op == OP_RACQ || x->op == OP_RREL;
	if (o->sections) {
		section_event(o, x);
		return;
	}
	struct lock_points *l = lock_at(o, x->target);
	if (op_acquires(x->op))
		lock_acquire(l, shared, join, o);
	else
		lock_release(l, shared, here(o, x));
}

/* -- atomic accesses ------------------------------------------------------------------------ */

static enum memory_order_kind order_of(const struct flow_event *x)
{
	return (enum memory_order_kind)(x->flags & EVENT_ORDER_MASK);
}

static void fence(struct online *o, const struct flow_event *x, struct thread_past *t)
{
	if (order_acquires(order_of(x)))
		heads_fence(t->pending, join, o);
	if (order_releases(order_of(x)))
		t->fence = here(o, x);
}

static gpointer head_key(uint32_t variable)
{
	return GSIZE_TO_POINTER((gsize)variable + 1);
}

static void write_heads(struct online *o, const struct flow_event *x,
                        const struct thread_past *t, uint32_t variable)
{
	GArray *heads = g_hash_table_lookup(o->heads, head_key(variable)), *old = heads;
	struct sync_point head = t->fence;
	if (x->op != OP_RMW)
		heads_keep(heads, x->thread);
	if (order_releases(order_of(x)))
		head = here(o, x);
	if (head.event == NONE)
		return;
	sync_points_add(&heads, head);
	if (old == NULL)
		g_hash_table_insert(o->heads, head_key(variable), heads);
	o->any_heads = true;
}

static void synchronise(struct online *o, const struct flow_event *x, struct thread_past *t)
{
	bool atomic = op_is_atomic(x->op), any = o->any_heads;
	for (uint32_t i = 0; i < x->variables_count && any && atomic && op_reads(x->op); i++)
		heads_read(g_hash_table_lookup(o->heads, head_key(x->variables[i])), x->thread,
		           order_of(x), &t->pending, join, o);
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

/* -- blocks ------------------------------------------------------------------------------- */

static __attribute__((noinline)) void more_blocks(struct online *o, uint32_t block)
{
	const struct block_past fresh = { .last.at.thread = NONE };
	for (uint32_t i = o->blocks->len; i <= block; i++)
		g_array_append_val(o->blocks, fresh);
}

static inline struct block_past *block_at(struct online *o, uint32_t block)
{
	if (G_UNLIKELY(block >= o->blocks->len))
		more_blocks(o, block);
	return &g_array_index(o->blocks, struct block_past, block);
}

static struct use use_of(const struct online *o, const struct flow_event *x)
{
	return (struct use){ { x->number + 1, x->thread, x->point },
		             x->variables_count ? x->variables[0] : NONE,
		             g_array_index(o->threads, struct thread_past, x->thread).held };
}

/* Is the use, or free, ordered before the current event, or under a lock that it is under,
 * too? */
static bool use_covered(const struct online *o, uint32_t thread, const struct use *u)
{
	const struct thread_past *t = &g_array_index(o->threads, struct thread_past, thread);
	return covered(o, thread, &u->at) ||
	       (o->sections && live_sections_common(o->sections, u->held, t->held));
}

static void add_use(struct block_past *b, struct use use)
{
	if (b->others == NULL)
		b->others = g_array_new(FALSE, FALSE, sizeof(struct use));
	g_array_append_val(b->others, use);
}

/* The first access by its thread since another thread's, or after the free. */
static __attribute__((noinline)) void use_in_turn(struct online *o, const struct flow_event *x,
                                                  struct block_past *b)
{
	struct use other = b->last;
	if (b->freed) {
		const struct use *free = &g_array_index(b->others, struct use, 0);
		join_alloc(o, x->block);
		if (!use_covered(o, x->thread, free))
			o->sink.use_after_free(o->sink.context, &free->at, x, x->block,
			                       x->variables[0]);
		return;
	}
	b->last = use_of(o, x);
	for (guint i = 0; b->others != NULL && i < b->others->len; i++) {
		struct use *u = &g_array_index(b->others, struct use, i);
		if (u->at.thread == x->thread) {
			*u = other;
			return;
		}
	}
	if (other.at.thread != NONE)
		add_use(b, other);
	join_alloc(o, x->block);
}

static inline void use_block(struct online *o, const struct flow_event *x, uint32_t held)
{
	struct block_past *b = block_at(o, x->block);
	if (G_UNLIKELY(b->last.at.thread != x->thread)) {
		use_in_turn(o, x, b);
		return;
	}
	b->last.at.time = x->number + 1;
	b->last.at.point = x->point;
	b->last.variable = x->variables[0];
	b->last.held = held;
}

static void free_against(struct online *o, const struct flow_event *x, const struct use *u)
{
	if (u->at.thread != NONE && !use_covered(o, x->thread, u))
		o->sink.use_after_free(o->sink.context, &u->at, x, x->target, u->variable);
}

static void block_event(struct online *o, const struct flow_event *x)
{
	struct block_past *b = block_at(o, x->target);
	if (x->op == OP_ALLOC) { /* accesses before it are another life's */
		free_list(&b->others);
		*b = (struct block_past){ .last.at.thread = NONE };
		return;
	}
	join_alloc(o, x->target);
	free_against(o, x, &b->last);
	for (guint i = 0; b->others != NULL && i < b->others->len; i++)
		free_against(o, x, &g_array_index(b->others, struct use, i));
	if (b->freed)
		return;
	free_list(&b->others);
	add_use(b, use_of(o, x));
	b->last.at.thread = NONE;
	b->freed = true;
}

/* -- races of variables ------------------------------------------------------------------- */

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
		o->sink.race(o->sink.context, &l->access, x, variable);
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
	if (o->sections)
		live_sections_split(o->sections, from, to);
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
	if (o->sections)
		live_sections_renew(o->sections, variable);
	g_hash_table_remove(o->heads, head_key(variable));
}

/* -- clocks without a use any more ----------------------------------------------------------- */

static void mark(void *context, const struct sync_point *point)
{
	struct online *o = context;
	clocks_mark(&o->clocks, point->clock);
}

/* Would the edge from the event tell no thread anything, now or later? */
static bool all_know(void *context, const struct sync_point *at)
{
	const struct online *o = context;
	for (guint i = 0; i < o->threads->len; i++) {
		const struct thread_past *t = &g_array_index(o->threads, struct thread_past, i);
		if (i != at->thread && !t->joined &&
		    (!t->begun || clocks_now_time(&o->clocks, i, at->thread) <= at->event))
			return false;
	}
	return true;
}

static void sweep(struct online *o)
{
	GHashTableIter heads;
	gpointer list;
	must_rules_forget(o->must, all_know, o);
	clocks_sweep_begin(&o->clocks);
	must_rules_visit(o->must, mark, o);
	if (o->sections)
		live_sections_visit(o->sections, mark, o);
	for (guint i = 0; i < o->threads->len; i++) {
		const struct thread_past *t = &g_array_index(o->threads, struct thread_past, i);
		mark(o, &t->fence);
		sync_points_join(t->pending, mark, o);
	}
	for (guint i = 0; i < o->locks->len; i++) {
		const struct lock_points *l = &g_array_index(o->locks, struct lock_points, i);
		mark(o, &l->release);
		sync_points_join(l->readers, mark, o);
	}
	g_hash_table_iter_init(&heads, o->heads);
	while (g_hash_table_iter_next(&heads, NULL, &list))
		sync_points_join(list, mark, o);
	clocks_sweep_end(&o->clocks);
}

/* -- events -------------------------------------------------------------------------------- */

/* -- items of EDC's critical sections -------------------------------------------------------- */

static void touch(struct online *o, const struct flow_event *x, enum live_kind kind,
                  uint32_t number)
{
	live_sections_touch(o->sections, x->thread, kind, number, join, o);
}

static __attribute__((noinline)) void touch_access(struct online *o, const struct flow_event *x)
{
	for (uint32_t i = 0; i < x->variables_count; i++)
		touch(o, x, op_writes(x->op) ? LIVE_WRITE : LIVE_READ, x->variables[i]);
	if (x->block != NONE)
		touch(o, x, LIVE_USE, x->block);
}

/* The calls that model_calls (engine/commute) finds at an event that is no access. */
static void touch_other(struct online *o, const struct flow_event *x,
                        const struct thread_past *t)
{
	if (t->held == 0)
		return;
	if (x->op == OP_FREE)
		touch(o, x, LIVE_FREE, x->target);
	if (op_table[x->op].operand != OPERAND_OBJECT)
		return;
	if (x->op == OP_WAIT || op_wakes(x->op))
		touch(o, x, x->op == OP_WAIT ? LIVE_WAIT : LIVE_WAKER, x->target);
	if (x->op != OP_WAKE && x->op != OP_DEPART)
		touch(o, x, x->op == OP_DESTROY ? LIVE_DESTROY : LIVE_OBJECT, x->target);
	if (x->block != NONE)
		touch(o, x, LIVE_USE, x->block);
}

static void other_event(struct online *o, const struct flow_event *x, struct thread_past *t)
{
	if (must_rules_takes(x->op)) {
		if (op_table[x->op].operand == OPERAND_BLOCK)
			block_event(o, x);
		touch_other(o, x, t);
		must_rules_event(o->must, x);
		if (x->op == OP_JOIN && x->target < o->threads->len) {
			struct thread_past *other = thread_at(o, x->target);
			other->joined = other->begun;
		}
	} else if (x->op == OP_FENCE) {
		fence(o, x, t);
	} else if (op_table[x->op].operand == OPERAND_OBJECT) {
		touch_other(o, x, t);
		if (op_acquires(x->op) || op_releases(x->op))
			lock_event(o, x);
	}
}

/* Of an access EDC needs its block and its thread's sections alone. */
static inline void edc_access(struct online *o, const struct flow_event *x,
                              struct thread_past *t)
{
	if (x->block != NONE)
		use_block(o, x, t->held);
	if (G_UNLIKELY(t->held != 0))
		touch_access(o, x);
	if (G_UNLIKELY(op_is_atomic(x->op)) || G_UNLIKELY(o->any_heads))
		synchronise(o, x, t);
}

static inline void hb_access(struct online *o, const struct flow_event *x,
                             struct thread_past *t)
{
	if (op_is_atomic(x->op) && x->block != NONE)
		join_alloc(o, x->block); /* before the access publishes its clock */
	if (op_is_atomic(x->op) || o->any_heads)
		synchronise(o, x, t);
	if (x->block != NONE)
		use_block(o, x, 0);
	for (uint32_t i = 0; i < x->variables_count; i++)
		access_one(o, x, x->variables[i]);
}

static __attribute__((noinline)) void take_event(struct online *o, const struct flow_event *x)
{
	bool inert = x->flags & EVENT_INERT, access = op_is_access(x->op);
	struct thread_past *t = thread_at(o, x->thread);
	o->event = x;
	begin_thread(o, x, t);
	if (G_UNLIKELY(!access) || inert) {
		if (x->block != NONE && op_table[x->op].operand != OPERAND_BLOCK)
			join_alloc(o, x->block);
		if (!access && !inert)
			other_event(o, x, t);
	} else if (o->sections) {
		edc_access(o, x, t);
	} else {
		hb_access(o, x, t);
	}
	if (clocks_sweep_due(&o->clocks))
		sweep(o);
}

/* Most events of EDC: an access outside of sections by the thread that used the block last. */
static inline bool edc_quick(struct online *o, const struct flow_event *x)
{
	if (x->op > OP_WRITE || x->flags & EVENT_INERT || o->any_heads ||
	    x->thread >= o->threads->len)
		return false;
	struct thread_past *t = &g_array_index(o->threads, struct thread_past, x->thread);
	if (!t->begun || t->held != 0)
		return false;
	t->last = x->number;
	if (x->block == NONE)
		return true;
	struct block_past *b = &g_array_index(o->blocks, struct block_past, x->block);
	if (x->block >= o->blocks->len || b->last.at.thread != x->thread)
		return false;
	b->last.at.time = x->number + 1;
	b->last.at.point = x->point;
	b->last.variable = x->variables[0];
	b->last.held = 0;
	return true;
}

void online_event(struct online *o, const struct flow_event *x)
{
	if (o->sections == NULL || !edc_quick(o, x))
		take_event(o, x);
}

/* -- making and ending ---------------------------------------------------------------------- */

static void free_heads(gpointer list)
{
	g_array_free(list, TRUE);
}

struct online *online_new(const struct online_sink *sink)
{
	struct online *o = g_new0(struct online, 1);
	o->sink = *sink;
	clocks_init(&o->clocks, 0, 1);
	o->clocks.in_place = true;
	o->must = must_rules_new(&(struct must_sink){ o, latest, on_must });
	o->threads = g_array_new(FALSE, TRUE, sizeof(struct thread_past));
	o->locks = g_array_new(FALSE, FALSE, sizeof(struct lock_points));
	o->blocks = g_array_new(FALSE, FALSE, sizeof(struct block_past));
	o->heads = g_hash_table_new_full(hash_pointer, NULL, NULL, free_heads);
	return o;
}

struct online *online_new_edc(const struct online_sink *sink, uint32_t most)
{
	struct online *o = online_new(sink);
	o->sections = live_sections_new(most);
	return o;
}

void online_free(struct online *o)
{
	if (o == NULL)
		return;
	for (guint i = 0; i < o->locks->len; i++)
		sync_points_free(g_array_index(o->locks, struct lock_points, i).readers);
	for (guint i = 0; i < o->threads->len; i++)
		sync_points_free(g_array_index(o->threads, struct thread_past, i).pending);
	for (uint32_t i = 0; i < o->memory_count; i++)
		free_list(&o->memory[i].list);
	g_free(o->memory);
	for (guint i = 0; i < o->blocks->len; i++)
		free_list(&g_array_index(o->blocks, struct block_past, i).others);
	must_rules_free(o->must);
	live_sections_free(o->sections);
	g_array_free(o->threads, TRUE);
	g_array_free(o->locks, TRUE);
	g_array_free(o->blocks, TRUE);
	g_hash_table_destroy(o->heads);
	clocks_release(&o->clocks);
	g_free(o);
}
