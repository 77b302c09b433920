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
#include "engine/order/edc_sections.h"
#include "engine/order/sync_edges.h"
#include "engine/predict/pairs/online_calls.h"
#include "engine/predict/pairs/online_items.h"
#include "engine/predict/pairs/online_turns.h"
#include "engine/trace/must_rules.h"

#include <string.h>

enum { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE };

struct listed {
	struct online_access access;
	uint32_t kind;
};

/* A variable, in 32 bytes, as they are many. The field of its last read may hold a list
 * (struct listed): of plain reads (thread READS), or of all accesses (thread ALL). */
enum { READS = NONE - 1, ALL = NONE };
struct memory {
	union {
		struct {
			struct online_access read, write;
		};
		struct online_access last[2]; /* by operation, from OP_READ on */
	};
};
_Static_assert(sizeof(struct memory) == 32, "two share a cache line");

static inline bool has_list(const struct memory *m)
{
	return m->read.thread >= READS;
}
static inline bool is_full(const struct memory *m)
{
	return m->read.thread == ALL;
}
static inline GArray *list_of(const struct memory *m)
{
	return has_list(m) ? (GArray *)(uintptr_t)m->read.point : NULL;
}
static inline void set_list(struct memory *m, uint32_t kind, const GArray *list)
{
	m->read = (struct online_access){ .thread = kind, .point = (uintptr_t)list };
}
/* Variables in chunks: they never move as the number grows, and chunks that are not used are
 * not touched. The owner of a variable is the thread that accessed it last, + 1, if the access
 * was plain, nothing raced with it, and the variable has no list: then further plain accesses
 * by the owner race with nothing, as its clock only grows. 0: none. */
enum { CHUNK_BITS = 16, CHUNK = 1 << CHUNK_BITS };
struct memory_chunk {
	struct memory at[CHUNK];
	uint32_t owners[CHUNK];
	uint64_t heads[CHUNK / 64]; /* bit set of those that have an entry in online.heads */
};

struct thread_past {
	bool begun, joined;
	uint32_t last;           /* its last event */
	bool inside;             /* EDC: of a section */
	uint32_t scope;          /* EDC: online_calls_scope */
	struct sync_point fence; /* last release fence */
	GArray *pending;         /* struct sync_point: heads read without acquire; or NULL */
};

/* An access of a block, or the block's free. */
struct use {
	struct online_access at;
	uint32_t variable;
	uint32_t scope;        /* EDC: online_calls_scope */
	struct edc_held *held; /* EDC: a reference; NULL: no section */
};
struct block_past {
	/* The last use; before the first, and after a free, with thread NONE. */
	struct use last;
	bool freed;
	/* The last uses of other threads; after a free, that alone; or NULL. */
	GArray *others; /* struct use */
};

/* EDC: the sections and the call that a thread was in (online_stay), of the last ones with any.
 */
enum { STAYS = 1 << 16 };
struct stay {
	uint32_t number, scope; /* number: of the stay + 1; 0: none yet */
	struct edc_held *held;  /* a reference */
};

struct online {
	struct online_sink sink;
	struct clocks clocks;
	const struct flow_event *event; /* the current one */
	struct must_rules *must;
	GArray *threads; /* struct thread_past */
	GArray *locks;   /* struct lock_points, by object */
	GArray *blocks;  /* struct block_past */
	struct edc_rules rules;
	struct edc_sections *sections; /* EDC; NULL: happens-before */
	struct online_items *items;    /* of EDC, as are these */
	struct online_turns *turns;
	struct online_calls *calls;
	struct stay *stays;   /* by number % STAYS; NULL until the first */
	GByteArray *in_stays; /* by number of a stay: 1: it has sections, or a call */
	bool told;            /* uses of blocks before their frees are told by online_used */
	struct memory_chunk **memory;
	uint32_t memory_count; /* of variables */
	GHashTable
	        *heads; /* variable + 1 -> GArray of struct sync_point: its release sequences */
	uint32_t latest; /* number of the last event */
	bool any_heads;  /* a variable has had a release sequence */
	bool atomics;    /* an atomic access has come */
};

/* -- tables that grow ---------------------------------------------------------------------- */

static __attribute__((noinline)) void more_threads(struct online *o, uint32_t thread)
{
	enum { FIRST_THREADS = 16, MOST_THREADS = EVENT_THREADS };
	for (uint32_t i = o->threads->len; i <= thread; i++) {
		struct thread_past fresh = { .fence = NO_SYNC_POINT, .scope = NONE };
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
	uint32_t chunks = (variable >> CHUNK_BITS) + 1;
	o->memory = g_renew(struct memory_chunk *, o->memory, chunks);
	for (uint32_t i = o->memory_count >> CHUNK_BITS; i < chunks; i++)
		o->memory[i] = scattered_new0(struct memory_chunk, 1);
	o->memory_count = chunks << CHUNK_BITS;
}

static inline struct memory *memory_at(struct online *o, uint32_t variable)
{
	if (G_UNLIKELY(variable >= o->memory_count))
		more_memory(o, variable);
	return &o->memory[variable >> CHUNK_BITS]->at[variable & (CHUNK - 1)];
}

static inline uint32_t *owner_at(struct online *o, uint32_t variable)
{
	return &o->memory[variable >> CHUNK_BITS]->owners[variable & (CHUNK - 1)];
}

static void free_list(GArray *list)
{
	if (list != NULL)
		g_array_free(list, TRUE);
}

/* -- edges --------------------------------------------------------------------------------- */

/* The thread's latest event as the source of edges: its clock is immutable from here on. */
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

/* Joins the clock of a point that happens before the current event. */
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

static void on_musts(void *context, struct sync_set *set, uint32_t after, enum must_rule rule)
{
	struct online *o = context;
	if (set->clock == 0)
		set->clock = clocks_joined(&o->clocks,
		                           (const struct sync_point *)(void *)set->points->data,
		                           set->points->len);
	clocks_join_joined(&o->clocks, o->event->thread, after, set->clock);
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

static void join_section(void *context, const struct sync_point *release, uint32_t lock)
{
	join(context, release);
}

/* EDC. */
static void section_event(struct online *o, const struct flow_event *x)
{
	if (op_acquires(x->op)) {
		edc_sections_acquire(o->sections, x->thread, x->number, x->target,
		                     x->op == OP_RACQ);
	} else {
		edc_sections_release(o->sections, here(o, x), x->target);
		online_turns_left(o->turns, x->thread);
	}
	thread_at(o, x->thread)->inside = edc_sections_inside(o->sections, x->thread);
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

/* The release sequences of a variable, or NULL: most have none, and need no look-up. */
static GArray *heads_of(const struct online *o, uint32_t variable)
{
	const struct memory_chunk *chunk =
	        variable < o->memory_count ? o->memory[variable >> CHUNK_BITS] : NULL;
	uint32_t at = variable % CHUNK;
	return chunk && chunk->heads[at / 64] >> at % 64 & 1
	               ? g_hash_table_lookup(o->heads, head_key(variable))
	               : NULL;
}

static void set_heads(struct online *o, uint32_t variable, GArray *heads)
{
	memory_at(o, variable);
	uint32_t at = variable % CHUNK;
	o->memory[variable >> CHUNK_BITS]->heads[at / 64] |= UINT64_C(1) << at % 64;
	o->any_heads = true;
	g_hash_table_insert(o->heads, head_key(variable), heads);
}

static void forget_heads(struct online *o, uint32_t variable)
{
	if (heads_of(o, variable) == NULL)
		return;
	uint32_t at = variable % CHUNK;
	o->memory[variable >> CHUNK_BITS]->heads[at / 64] &= ~(UINT64_C(1) << at % 64);
	g_hash_table_remove(o->heads, head_key(variable));
}

static void write_heads(struct online *o, const struct flow_event *x,
                        const struct thread_past *t, uint32_t variable)
{
	GArray *heads = heads_of(o, variable), *old = heads;
	struct sync_point head = t->fence;
	if (x->op != OP_RMW)
		heads_keep(heads, x->thread);
	if (order_releases(order_of(x)))
		head = here(o, x);
	if (head.event == NONE)
		return;
	sync_points_add(&heads, head);
	if (old == NULL)
		set_heads(o, variable, heads);
}

static void synchronise(struct online *o, const struct flow_event *x, struct thread_past *t)
{
	bool atomic = op_is_atomic(x->op);
	for (uint32_t i = 0; i < x->variables_count && atomic && op_reads(x->op); i++)
		heads_read(heads_of(o, x->variables[i]), x->thread, order_of(x), &t->pending,
		           join, o);
	for (uint32_t i = 0; i < x->variables_count && atomic && op_writes(x->op); i++)
		write_heads(o, x, t, x->variables[i]);
	for (uint32_t i = 0; i < x->variables_count && x->op == OP_WRITE; i++)
		forget_heads(o, x->variables[i]);
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
	struct use u = { { x->number + 1, x->thread, x->point },
		         x->variables_count ? x->variables[0] : NONE,
		         NONE,
		         NULL };
	if (o->sections == NULL)
		return u;
	u.scope = g_array_index(o->threads, struct thread_past, x->thread).scope;
	u.held = edc_held_ref(edc_sections_held(o->sections, x->thread));
	return u;
}

/* Compares an earlier use, or the free, with the current event. */
static void compare_uses(struct online *o, const struct use *u, const struct flow_event *x,
                         uint32_t block)
{
	struct use now;
	if (u->at.thread == NONE || covered(o, x->thread, &u->at))
		return;
	now = use_of(o, x);
	if (o->sections == NULL)
		o->sink.use_after_free(o->sink.context, &u->at, &now.at, block,
		                       u->variable == NONE ? now.variable : u->variable);
	else if (u->scope == NONE || u->scope != now.scope)
		online_turns_add(o->turns,
		                 &(struct online_turn){
		                         { { u->at, u->at.time - 1, u->variable, 0, false },
		                           { now.at, x->number, now.variable, 0, false } },
		                         { u->held, now.held },
		                         block });
	edc_held_unref(now.held);
}

static void add_use(struct block_past *b, struct use use)
{
	if (b->others == NULL)
		b->others = g_array_new(FALSE, FALSE, sizeof(struct use));
	g_array_append_val(b->others, use);
}

static void forget_uses(struct block_past *b)
{
	edc_held_unref(b->last.held);
	for (guint i = 0; b->others != NULL && i < b->others->len; i++)
		edc_held_unref(g_array_index(b->others, struct use, i).held);
	free_list(b->others);
	b->others = NULL;
	b->last = (struct use){ .at.thread = NONE };
}

/* A thread's first use of the block after another thread's, or after the free. */
static __attribute__((noinline)) void use_in_turn(struct online *o, const struct flow_event *x,
                                                  struct block_past *b)
{
	struct use other = b->last;
	if (b->freed) {
		join_alloc(o, x->block);
		compare_uses(o, &g_array_index(b->others, struct use, 0), x, x->block);
		return;
	}
	b->last = use_of(o, x);
	for (guint i = 0; b->others != NULL && i < b->others->len; i++) {
		struct use *u = &g_array_index(b->others, struct use, i);
		if (u->at.thread == x->thread) {
			edc_held_unref(u->held);
			*u = other;
			return;
		}
	}
	if (other.at.thread != NONE)
		add_use(b, other);
	join_alloc(o, x->block);
}

/* Are the block's uses told by online_used, as it lives? */
static bool is_told(struct online *o, const struct flow_event *x, const struct block_past *b)
{
	if (!o->told || b->freed)
		return false;
	join_alloc(o, x->block);
	return true;
}

static inline void use_block(struct online *o, const struct flow_event *x)
{
	struct block_past *b = block_at(o, x->block);
	if (G_UNLIKELY(b->last.at.thread != x->thread)) {
		if (is_told(o, x, b))
			return;
		use_in_turn(o, x, b);
		return;
	}
	b->last.at.time = x->number + 1;
	b->last.at.point = x->point;
	b->last.variable = x->variables[0];
}

/* EDC, as use_block. */
static void use_block_edc(struct online *o, const struct flow_event *x)
{
	struct block_past *b = block_at(o, x->block);
	if (is_told(o, x, b))
		return;
	if (b->last.at.thread != x->thread) {
		use_in_turn(o, x, b);
		return;
	}
	struct edc_held *before = b->last.held;
	b->last = use_of(o, x);
	edc_held_unref(before);
}

static void block_event(struct online *o, const struct flow_event *x)
{
	struct block_past *b = block_at(o, x->target);
	if (x->op == OP_ALLOC) { /* earlier accesses belong to another life */
		forget_uses(b);
		b->freed = false;
		return;
	}
	join_alloc(o, x->target);
	compare_uses(o, &b->last, x, x->target);
	for (guint i = 0; b->others != NULL && i < b->others->len; i++)
		compare_uses(o, &g_array_index(b->others, struct use, i), x, x->target);
	if (b->freed)
		return;
	forget_uses(b);
	add_use(b, use_of(o, x));
	b->freed = true;
}

/* -- races of variables ------------------------------------------------------------------- */

static void put(struct memory *m, uint32_t kind, struct online_access access)
{
	struct listed fresh = { access, kind };
	if (!has_list(m))
		set_list(m, READS, g_array_new(FALSE, FALSE, sizeof(struct listed)));
	GArray *list = list_of(m);
	for (guint i = 0; i < list->len; i++) {
		struct listed *l = &g_array_index(list, struct listed, i);
		if (l->kind == kind && l->access.thread == access.thread) {
			l->access = access;
			return;
		}
	}
	g_array_append_val(list, fresh);
}

/* After a write that is ordered after all reads of the list, only the latest is kept. */
static void drop(struct memory *m)
{
	struct online_access latest = { 0 };
	GArray *list = list_of(m);
	for (guint i = 0; i < list->len; i++) {
		const struct listed *l = &g_array_index(list, struct listed, i);
		if (l->kind == PLAIN_READ && l->access.time > latest.time)
			latest = l->access;
	}
	g_array_free(list, TRUE);
	m->read = latest;
}

/* Reports the races with accesses of these kinds; true when no plain one is among them. */
static bool compare(struct online *o, const struct memory *m, uint32_t wanted,
                    const struct flow_event *x, uint32_t variable)
{
	const GArray *list = list_of(m);
	bool known = true;
	for (guint i = 0; i < list->len; i++) {
		const struct listed *l = &g_array_index(list, struct listed, i);
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
	if (!has_list(m) && m->read.time != 0)
		put(m, PLAIN_READ, m->read);
	if (!atomic && !is_full(m) && covered(o, x->thread, &m->write)) {
		if (!writes)
			put(m, PLAIN_READ, now);
		else if (has_list(m) && compare(o, m, 1 << PLAIN_READ, x, variable))
			drop(m);
		return;
	}
	if (!is_full(m) && m->write.time != 0)
		put(m, PLAIN_WRITE, m->write);
	o->atomics |= atomic;
	bool known = !has_list(m) || compare(o, m, wanted, x, variable);
	put(m, 2 * atomic + writes, now);
	m->read.thread = ALL;
	if (writes && known && !o->atomics)
		drop(m);
}

static inline void access_one(struct online *o, const struct flow_event *x, uint32_t variable)
{
	struct memory *m = memory_at(o, variable);
	struct online_access now = { x->number + 1, x->thread, x->point };
	bool alone = !has_list(m) && x->op <= OP_WRITE && covered(o, x->thread, &m->read) &&
	             covered(o, x->thread, &m->write);
	if (!alone)
		access_listed(o, m, x, now, variable);
	else if (x->op == OP_READ)
		m->read = now;
	if (op_writes(x->op))
		m->write = now;
	*owner_at(o, variable) = alone ? x->thread + 1 : 0;
}

/* EDC: renews the items of a variable; one that no section touched has none. */
static void renew_items(struct online *o, uint32_t variable)
{
	uint32_t item = online_items_known(o->items, ONLINE_VARIABLE, variable);
	if (item == NONE)
		return;
	if (edc_sections_touched(o->sections, item) ||
	    edc_sections_touched(o->sections, item + 1) ||
	    !online_items_renew(o->items, variable, o->latest + 1)) {
		online_items_forget(o->items, variable);
		return;
	}
	edc_sections_renew(o->sections, item);
	edc_sections_renew(o->sections, item + 1);
}

/* The items that the current event touches, of a variable. */
static uint32_t own_items(struct online *o, uint32_t variable)
{
	uint32_t shared = online_items_known(o->items, ONLINE_VARIABLE, variable);
	uint32_t own = online_items_own(o->items, variable, o->latest);
	if (shared != NONE && own != shared) {
		edc_sections_copy(o->sections, shared, own);
		edc_sections_copy(o->sections, shared + 1, own + 1);
	}
	return own;
}

/* Happens-before: the same past for both parts. */
static void split_memory(struct online *o, uint32_t from, uint32_t to)
{
	struct memory *part = memory_at(o, to);
	*part = *memory_at(o, from);
	*owner_at(o, to) = *owner_at(o, from);
	if (has_list(part))
		part->read.point = (uintptr_t)g_array_copy(list_of(part));
}

void online_split(struct online *o, uint32_t from, uint32_t to)
{
	online_renew(o, to);
	if (o->sections)
		online_items_split(o->items, from, to);
	else
		split_memory(o, from, to);
	GArray *heads = heads_of(o, from);
	if (heads != NULL)
		set_heads(o, to, g_array_copy(heads));
}

void online_renew(struct online *o, uint32_t variable)
{
	if (o->sections) {
		renew_items(o, variable);
	} else {
		struct memory *m = memory_at(o, variable);
		free_list(list_of(m));
		*m = (struct memory){ 0 };
		*owner_at(o, variable) = 0;
	}
	forget_heads(o, variable);
}

/* -- clocks without a use any more ----------------------------------------------------------- */

static void mark(void *context, const struct sync_point *point)
{
	struct online *o = context;
	clocks_mark(&o->clocks, point->clock);
}

/* Has every thread, running or not yet begun, joined this event, so that its edge would add
 * to no clock? */
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
	if (o->sections) {
		edc_sections_visit(o->sections, mark, o);
		online_calls_mark(o->calls);
	}
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

/* Touches one of the two items of a block or object. */
static void touch(struct online *o, const struct flow_event *x, enum online_kind kind,
                  uint32_t number, bool second)
{
	edc_sections_touch(o->sections, x->thread, x->number,
	                   online_items_of(o->items, kind, number) + second);
}

/* Accesses inside of a call of an object with a specification are covered by it, except as
 * uses of blocks. */
static __attribute__((noinline)) void touch_access(struct online *o, const struct flow_event *x,
                                                   const struct thread_past *t)
{
	for (uint32_t i = 0; i < x->variables_count && t->scope == NONE; i++)
		edc_sections_touch(o->sections, x->thread, x->number,
		                   own_items(o, x->variables[i]) + op_writes(x->op));
	if (x->block != NONE)
		touch(o, x, ONLINE_BLOCK, x->block, false);
}

/* (It has no number of its own, and is none of a pair: as if several events touched.) */
static void touch_by_none(struct online *o, uint32_t thread, uint32_t late, uint32_t item)
{
	if (late == NONE)
		edc_sections_touch(o->sections, thread, NONE, item);
	else
		edc_sections_touch_late(o->sections, thread, late, item);
}

void online_touch(struct online *o, uint32_t thread, uint32_t number, uint32_t late,
                  struct event_list variables, uint32_t block, bool writes)
{
	const struct flow_event x = { .op = writes ? OP_WRITE : OP_READ,
		                      .thread = thread,
		                      .number = number };
	struct thread_past *t = thread_at(o, thread);
	if (!t->inside)
		return;
	o->event = &x;
	o->latest = number;
	begin_thread(o, &x, t);
	for (uint64_t i = 0; i < variables.count && t->scope == NONE; i++)
		touch_by_none(o, thread, late, own_items(o, variables.items[i]) + writes);
	if (block != NONE)
		touch_by_none(o, thread, late, online_items_of(o->items, ONLINE_BLOCK, block));
	o->event = NULL;
}

static void take_call(struct online *o, const struct flow_event *x)
{
	online_calls_effect(o->calls, x, edc_sections_held(o->sections, x->thread));
	for (uint32_t i = 0; i < x->items_count; i++)
		edc_sections_touch(o->sections, x->thread, x->number, x->items[i]);
}

/* The calls that model_calls (engine/commute) finds at an event that is no access. */
static void touch_other(struct online *o, const struct flow_event *x, struct thread_past *t)
{
	if (x->op == OP_RET || x->op == OP_ACT) {
		take_call(o, x);
		t->scope = online_calls_scope(o->calls, x->thread);
	}
	if (op_table[x->op].operand == OPERAND_OBJECT &&
	    (x->op == OP_WAIT || op_wakes(x->op))) {
		struct flow_event on_condition = *x;
		uint32_t item = online_items_of(o->items, ONLINE_CONDITION, x->target) +
		                (x->op != OP_WAIT);
		on_condition.items = &item;
		on_condition.items_count = 1;
		take_call(o, &on_condition);
	}
	if (!t->inside)
		return;
	if (x->op == OP_FREE)
		touch(o, x, ONLINE_BLOCK, x->target, true);
	if (op_table[x->op].operand != OPERAND_OBJECT)
		return;
	if (x->op != OP_WAKE && x->op != OP_DEPART)
		touch(o, x, ONLINE_OBJECT, x->target, x->op == OP_DESTROY);
	if (x->block != NONE)
		touch(o, x, ONLINE_BLOCK, x->block, false);
}

static void other_event(struct online *o, const struct flow_event *x, struct thread_past *t)
{
	if (must_rules_takes(x->op)) {
		if (op_table[x->op].operand == OPERAND_BLOCK)
			block_event(o, x);
		if (o->sections)
			touch_other(o, x, t);
		must_rules_event(o->must, x);
		if (x->op == OP_JOIN && x->target < o->threads->len) {
			struct thread_past *other = thread_at(o, x->target);
			other->joined = other->begun;
		}
	} else if (x->op == OP_CALL) {
		if (o->sections) {
			online_calls_begin(o->calls, x);
			t->scope = online_calls_scope(o->calls, x->thread);
		}
	} else if (x->op == OP_FENCE) {
		fence(o, x, t);
	} else if (op_table[x->op].operand == OPERAND_OBJECT) {
		if (o->sections)
			touch_other(o, x, t);
		if (op_acquires(x->op) || op_releases(x->op))
			lock_event(o, x);
	}
}

/* EDC needs only an access's block and its thread's sections. */
static inline void edc_access(struct online *o, const struct flow_event *x,
                              struct thread_past *t)
{
	if (x->block != NONE)
		use_block_edc(o, x);
	if (G_UNLIKELY(t->inside))
		touch_access(o, x, t);
	if (G_UNLIKELY(op_is_atomic(x->op)) || (x->op == OP_WRITE && o->any_heads))
		synchronise(o, x, t);
}

static inline void hb_access(struct online *o, const struct flow_event *x,
                             struct thread_past *t)
{
	if (op_is_atomic(x->op) && x->block != NONE)
		join_alloc(o, x->block); /* before the access publishes its clock */
	if (op_is_atomic(x->op) || (x->op == OP_WRITE && o->any_heads))
		synchronise(o, x, t);
	if (x->block != NONE)
		use_block(o, x);
	for (uint32_t i = 0; i < x->variables_count; i++)
		access_one(o, x, x->variables[i]);
}

void online_event(struct online *o, const struct flow_event *x)
{
	bool inert = x->flags & EVENT_INERT, access = op_is_access(x->op);
	struct thread_past *t = thread_at(o, x->thread);
	o->event = x;
	o->latest = x->number;
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

/* -- accesses compared by the caller -------------------------------------------------------- */

void online_segment(struct online *o, uint32_t thread, uint32_t number)
{
	const struct flow_event x = { .op = OP_READ, .thread = thread, .number = number };
	struct thread_past *t = thread_at(o, thread);
	o->event = &x;
	o->latest = number;
	o->told = true;
	begin_thread(o, &x, t);
	o->event = NULL;
}

bool online_unordered(struct online *o, const struct online_access *first,
                      const struct flow_event *x)
{
	online_segment(o, x->thread, x->number);
	return !covered(o, x->thread, first);
}

void online_stay(struct online *o, uint32_t thread, uint32_t number, uint32_t stay)
{
	online_segment(o, thread, number);
	const uint32_t scope = thread_at(o, thread)->scope;
	struct edc_held *held = edc_sections_held(o->sections, thread);
	if (o->stays == NULL)
		o->stays = g_new0(struct stay, STAYS);
	if (stay >= o->in_stays->len) {
		guint before = o->in_stays->len;
		g_byte_array_set_size(o->in_stays, stay + 1);
		memset(o->in_stays->data + before, 0, stay + 1 - before);
	}
	o->in_stays->data[stay] = held != NULL || scope != NONE;
	if (held == NULL && scope == NONE)
		return;
	struct stay *s = &o->stays[stay % STAYS];
	edc_held_unref(s->held);
	*s = (struct stay){ stay + 1, scope, edc_held_ref(held) };
}

void online_used(struct online *o, const struct online_access *use, uint32_t stay,
                 uint32_t block, uint32_t variable)
{
	struct block_past *b = block_at(o, block);
	struct stay in = { .number = stay + 1, .scope = NONE };
	if (o->sections != NULL && stay < o->in_stays->len && o->in_stays->data[stay])
		in = o->stays[stay % STAYS];
	if (!b->freed && in.number == stay + 1)
		add_use(b, (struct use){ *use, variable, in.scope, edc_held_ref(in.held) });
}

/* -- runs of accesses ---------------------------------------------------------------------- */

/* The blocks that a run has used, with their last uses in it, which are written down at its
 * end: in few places, by number. `by_edc` is `last` without EDC. */
enum { RUN_BLOCKS = 4 };
struct run_blocks {
	const struct flow_run *run;
	struct online *o, *edc;
	uint32_t scope;
	struct run_block {
		uint32_t block, access; /* block: NONE: none */
		struct use *last, *by_edc;
	} at[RUN_BLOCKS];
};

/* The last use of the block, if it was by the same thread and outside of sections. */
static struct use *last_use(const struct online *o, uint32_t thread, uint32_t block)
{
	if (block >= o->blocks->len)
		return NULL;
	struct use *last = &g_array_index(o->blocks, struct block_past, block).last;
	return last->at.thread == thread && last->held == NULL ? last : NULL;
}

static void note_use(const struct run_blocks *b, const struct run_block *at)
{
	const struct flow_access *a = &b->run->at[at->access];
	struct use use = {
		{ a->number + 1, b->run->thread, a->point }, a->variable, NONE, NULL
	};
	if (at->block == NONE)
		return;
	*at->last = use;
	use.scope = b->scope;
	if (b->edc)
		*at->by_edc = use;
}

/* Begins to note the uses of another block; false: its last use was another thread's. */
static __attribute__((noinline)) bool use_next(struct run_blocks *b, struct run_block *at,
                                               uint32_t block)
{
	struct use *last = last_use(b->o, b->run->thread, block);
	struct use *by_edc = b->edc ? last_use(b->edc, b->run->thread, block) : last;
	if (last == NULL || by_edc == NULL)
		return false;
	note_use(b, at);
	at->block = block;
	at->last = last;
	at->by_edc = by_edc;
	return true;
}

/* EDC: does an access touch nothing but its block? */
static bool is_outside(const struct online *o, uint32_t thread)
{
	const struct thread_past *t = &g_array_index(o->threads, struct thread_past, thread);
	return thread < o->threads->len && t->begun && !t->inside;
}

/* Fetches the state of the variable of the i-th access, or the last one's: tables by variable
 * do not fit the cache. */
static inline void fetch_access(const struct online *o, const struct flow_run *run, uint32_t i)
{
	uint32_t variable = run->at[MIN(i, run->count - 1)].variable;
	if (G_UNLIKELY(variable >= o->memory_count))
		return;
	const struct memory_chunk *chunk = o->memory[variable >> CHUNK_BITS];
	__builtin_prefetch(&chunk->owners[variable % CHUNK]);
	__builtin_prefetch(&chunk->at[variable % CHUNK], 1);
}

/* Accesses from the i-th on of variables that the thread owns, in blocks that it used last: the
 * number of the first that is none. No analysis has anything to report of them. */
static uint32_t owned(struct online *o, struct online *edc, const struct flow_run *run,
                      uint32_t i)
{
	enum { FETCH_AHEAD = 16 };
	const uint32_t owner = run->thread + 1, known = o->memory_count, first = i;
	struct memory_chunk **const memory = o->memory;
	struct run_blocks blocks = { .run = run, .o = o, .edc = edc, .scope = NONE };
	if (edc)
		blocks.scope = thread_at(edc, run->thread)->scope;
	for (int k = 0; k < RUN_BLOCKS; k++)
		blocks.at[k].block = NONE;
	for (; i < run->count; i++) {
		const struct flow_access *a = &run->at[i];
		const uint32_t variable = a->variable, at = variable % CHUNK,
		               block = a->of.block;
		fetch_access(o, run, i + FETCH_AHEAD);
		if (G_UNLIKELY(variable >= known))
			break;
		struct memory_chunk *chunk = memory[variable >> CHUNK_BITS];
		if (G_UNLIKELY(chunk->owners[at] != owner))
			break;
		if (block != NONE) {
			struct run_block *use = &blocks.at[block % RUN_BLOCKS];
			if (G_UNLIKELY(use->block != block) && !use_next(&blocks, use, block))
				break;
			use->access = i;
		}
		struct online_access *last = &chunk->at[at].last[a->of.op - OP_READ];
		last->time = a->number + 1;
		last->thread = owner - 1;
		last->point = a->point;
	}
	for (int k = 0; k < RUN_BLOCKS; k++)
		note_use(&blocks, &blocks.at[k]);
	if (i > first) {
		thread_at(o, run->thread)->last = o->latest = run->at[i - 1].number;
		if (edc)
			thread_at(edc, run->thread)->last = edc->latest = o->latest;
	}
	return i;
}

static void access_event(struct online *o, const struct flow_run *run, uint32_t i)
{
	const struct flow_access *a = &run->at[i];
	online_event(o, &(struct flow_event){ .op = (enum op)a->of.op,
	                                      .thread = run->thread,
	                                      .number = a->number,
	                                      .target = NONE,
	                                      .block = a->of.block,
	                                      .point = a->point,
	                                      .variables = &a->variable,
	                                      .variables_count = 1 });
}

void online_run(struct online *o, struct online *edc, const struct flow_run *run)
{
	const bool outside = edc && is_outside(edc, run->thread);
	for (uint32_t i = 0; i < run->count; i++) {
		uint32_t to = owned(o, outside ? edc : NULL, run, i);
		for (; edc && !outside && i < to; i++)
			access_event(edc, run, i);
		i = to;
		if (i == run->count)
			break;
		access_event(o, run, i);
		if (edc)
			access_event(edc, run, i);
	}
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
	o->must = must_rules_new(&(struct must_sink){ o, latest, on_must, on_musts });
	o->threads = g_array_new(FALSE, TRUE, sizeof(struct thread_past));
	o->locks = g_array_new(FALSE, FALSE, sizeof(struct lock_points));
	o->blocks = g_array_new(FALSE, FALSE, sizeof(struct block_past));
	o->heads = g_hash_table_new_full(hash_pointer, NULL, NULL, free_heads);
	return o;
}

static struct event_list clashing(void *context, uint32_t item)
{
	const struct online *o = context;
	return online_items_clashing(o->items, item);
}

static uint32_t as_of(void *context, uint32_t item, uint32_t event)
{
	const struct online *o = context;
	return online_items_as_of(o->items, item, event);
}

struct online *online_new_edc(const struct online_sink *sink, uint32_t most)
{
	struct online *o = online_new(sink);
	o->rules = (struct edc_rules){ o, clashing, as_of, join_section, most, false };
	o->items = online_items_new();
	o->sections = edc_sections_new(&o->rules);
	o->turns = online_turns_new(&o->sink, &o->rules);
	o->calls = online_calls_new(&o->sink, &o->clocks, o->items, o->turns);
	o->in_stays = g_byte_array_new();
	return o;
}

struct online_items *online_items(struct online *o)
{
	return o->items;
}

void online_end(struct online *o)
{
	if (o->turns)
		online_turns_end(o->turns);
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
		free_list(list_of(memory_at(o, i)));
	for (uint32_t i = 0; i < o->memory_count >> CHUNK_BITS; i++)
		g_free(o->memory[i]);
	g_free(o->memory);
	for (guint i = 0; i < o->blocks->len; i++)
		forget_uses(&g_array_index(o->blocks, struct block_past, i));
	for (uint32_t i = 0; o->stays && i < STAYS; i++)
		edc_held_unref(o->stays[i].held);
	g_free(o->stays);
	if (o->in_stays)
		g_byte_array_free(o->in_stays, TRUE);
	must_rules_free(o->must);
	online_calls_free(o->calls);
	online_turns_free(o->turns);
	edc_sections_free(o->sections);
	online_items_free(o->items);
	g_array_free(o->threads, TRUE);
	g_array_free(o->locks, TRUE);
	g_array_free(o->blocks, TRUE);
	g_hash_table_destroy(o->heads);
	clocks_release(&o->clocks);
	g_free(o);
}
