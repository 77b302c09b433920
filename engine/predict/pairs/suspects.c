/*
 * suspects.c - race_suspects (pairs.h): which variables can have a race at all.
 *
 * A variable keeps the last access of each class (thread, lock set, kind) that no later access
 * covers, and each access is compared with these: a pair of an earlier member of a class is
 * ordered, or under a common lock, if the pair of the last member is. So the pass is exact, but
 * for variables with many classes, whose classes are then merged.
 *
 * An access y covers x when it is ordered after x, holds no lock that x does not hold, and
 * conflicts with whatever x conflicts with: an access that is neither ordered after x nor under
 * a common lock with it is then neither with y, unless it comes before y, when it was compared
 * with x.
 *
 * Most accesses continue a run: the last access of the variable was the same thread's, under
 * the same locks, and the run has an access of this kind. Nothing has to be compared for these,
 * as nothing came between.
 */
#include "engine/predict/pairs/pairs.h"

#include "engine/base/hash.h"
#include "engine/base/scattered.h"
#include "engine/order/causality.h"
#include "engine/predict/pairs/candidates.h"
#include "engine/predict/sync_uses.h"
#include "engine/trace/chains.h"
#include "engine/trace/binary/reel.h"
#include "engine/trace/unexplained.h"
#include "engine/trace/wait_events.h"
#include "engine/trace/weak.h"

enum { AHEAD = 48, TICK = 1 << 20, MANY_SUSPECTS = 32 };
_Static_assert(OP_READ == 0 && OP_WRITE == 1, "kinds of plain accesses, as bits of a run");

/* Kinds of accesses: bits. */
enum { KIND_WRITES = 1, KIND_ATOMIC = 2 };
/* The thread of a class that stands for accesses of any threads, with the locks that all of
 * them held. */
enum { ANY_THREAD = (1 << 30) - 1 };
uint32_t suspects_classes = 32;

/* The last access of a class. */
struct last_access {
	uint32_t event, guard; /* guard: a lock set */
	uint32_t who;          /* thread * 4 + kind */
	uint32_t next;         /* of the variable; 0: none */
};

/* The current run of a variable, and the classes before it. (Aligned, so that none is on two
 * cache lines.) */
struct accessed {
	epoch last;       /* write, for the observations */
	uint32_t recent;  /* the run's last access */
	uint32_t guard;   /* the run's lock set */
	uint32_t what;    /* enum run_flag */
	uint32_t classes; /* the first; 0: none */
} __attribute__((aligned(32)));
_Static_assert(sizeof(struct accessed) % sizeof(epoch) == 0, "observations_borrow");
enum run_flag {
	RUN_READS = 1 << OP_READ,
	RUN_WRITES = 1 << OP_WRITE,
	IS_SUSPECT = 4,
	IS_MERGED = 8,   /* classes are added to those of ANY_THREAD */
	RUN_THREAD = 16, /* times the thread */
	/* Of a lock or the like: each access is looked at (sync_look), as by its number of the
	 * thread it continues no run at once. */
	IS_PART = RUN_THREAD * (EVENT_THREADS + 1),
};
static uint32_t run_thread(const struct accessed *v)
{
	return v->what / RUN_THREAD & EVENT_THREADS;
}

/* State of a thread. */
struct now {
	struct clock_view clock; /* its vector clock */
	uint32_t guard[2]; /* locks held: in any mode, for reads; exclusively, for writes */
	uint32_t end;      /* its last event plus one; 0: none */
};

/* A thread's last sections on a lock; a cell of a direct-mapped table. */
enum { SECTIONS_KEPT = 4, CELL_BITS = 12 };
struct section {
	uint32_t acquire, release; /* release: NONE as long as it is open */
	bool shared;
};
struct lock_cell {
	uint32_t thread, lock, count; /* count: so far, the last ones are kept */
	struct section last[SECTIONS_KEPT];
};
/* With more threads sections are not looked at, as each acquire asks for all threads' last
 * ones. */
enum { SECTION_THREADS = 64 };

struct pass {
	struct trace *t;
	struct unexplained_search *unexplained; /* beside it; or NULL */
	struct sync_look *sync;                 /* the same */
	struct wait_events *waits;              /* the same */
	struct causality *c;
	struct locksets *locksets;
	struct accessed *variables;
	struct now *now;            /* by thread */
	const uint32_t *cells;      /* memory of the vector clocks */
	struct lock_cell *sections; /* by hash of thread and lock; NULL: not known */
	struct last_access *pool;   /* from 1 on */
	uint32_t used, room, free;  /* of the pool; free: the first unused one, a list */
	uint64_t count;             /* suspects so far */
	bool keeps;                 /* events are to stay where there are many */
};

/* The current access. */
struct looked {
	uint32_t event, thread, guard, kind;
	struct clock_view clock;
};

/* -- classes ------------------------------------------------------------------------------- */

static uint32_t class_new(struct pass *p, struct last_access fresh)
{
	uint32_t at = p->free;

	if (at != 0) {
		p->free = p->pool[at].next;
	} else {
		if (p->used == p->room) {
			p->room *= 2;
			p->pool = g_renew(struct last_access, p->pool, p->room);
		}
		at = p->used++;
	}
	p->pool[at] = fresh;
	return at;
}

/* Removes the class that *link names. */
static void class_drop(struct pass *p, uint32_t *link)
{
	uint32_t at = *link;

	*link = p->pool[at].next;
	p->pool[at].next = p->free;
	p->free = at;
}

static void classes_drop(struct pass *p, struct accessed *v)
{
	while (v->classes != 0)
		class_drop(p, &v->classes);
}

static bool holds_all(struct pass *p, uint32_t guard, uint32_t of)
{
	return of == 0 || guard == of || lockset_exclusive(p->locksets, guard, of) == of;
}

/* Does one access conflict with whatever the other conflicts with? */
static bool conflicts_more(uint32_t kind, uint32_t other)
{
	return (kind & KIND_WRITES) >= (other & KIND_WRITES) &&
	       (kind & KIND_ATOMIC) <= (other & KIND_ATOMIC);
}

static bool conflict(uint32_t kind, uint32_t other)
{
	return ((kind | other) & KIND_WRITES) && !(kind & other & KIND_ATOMIC);
}

static bool is_ordered(const struct pass *p, const struct last_access *a,
                       const struct looked *x)
{
	enum { MOST = 256 };
	uint32_t thread = a->who / 4;

	if (thread != ANY_THREAD)
		return thread == x->thread || view_time(x->clock, thread) > a->event;
	for (uint32_t u = 0; u < p->t->threads_count && u < MOST; u++) {
		if (u != x->thread && view_time(x->clock, u) < MIN(a->event + 1, p->now[u].end))
			return false;
	}
	return p->t->threads_count <= MOST;
}

/* The classes by kind alone, with the locks that all of their accesses held. */
static void merge_classes(struct pass *p, struct accessed *v)
{
	uint32_t rest = v->classes;

	v->classes = 0;
	v->what |= IS_MERGED;
	while (rest != 0) {
		struct last_access a = p->pool[rest];
		uint32_t at = v->classes;

		class_drop(p, &rest);
		while (at != 0 && (p->pool[at].who - a.who) % 4 != 0)
			at = p->pool[at].next;
		if (at == 0) {
			a.who |= (uint32_t)ANY_THREAD * 4;
			a.next = v->classes;
			v->classes = class_new(p, a);
			continue;
		}
		p->pool[at].event = MAX(p->pool[at].event, a.event);
		p->pool[at].guard = lockset_exclusive(p->locksets, p->pool[at].guard, a.guard);
	}
}

/* Adds a class, or an access to a class. */
static void add_access(struct pass *p, struct accessed *v, struct last_access fresh)
{
	uint32_t count = 0, *link = &v->classes;

	while (*link != 0) {
		const struct last_access *a = &p->pool[*link];

		if (a->who / 4 == fresh.who / 4 && a->event <= fresh.event &&
		    conflicts_more(fresh.who, a->who) && holds_all(p, a->guard, fresh.guard)) {
			class_drop(p, link);
			continue;
		}
		count++;
		link = &p->pool[*link].next;
	}
	fresh.next = v->classes;
	v->classes = class_new(p, fresh);
	if (count >= suspects_classes || (v->what & IS_MERGED))
		merge_classes(p, v);
}

/* Ends the run: its accesses become classes. */
static void end_run(struct pass *p, struct accessed *v)
{
	struct last_access a = { v->recent, v->guard, run_thread(v) * 4, 0 };
	uint32_t written = epoch_event(v->last);
	uint32_t what = v->what;

	v->what &= IS_SUSPECT | IS_MERGED | IS_PART;
	if ((what & RUN_READS) && !((what & RUN_WRITES) && written == v->recent))
		add_access(p, v, a);
	a.event = written;
	a.who |= KIND_WRITES;
	if (what & RUN_WRITES)
		add_access(p, v, a);
}

/* Is each class that conflicts with the access ordered before it, or under a common lock?
 * Drops those that the access covers. */
static bool compare(struct pass *p, struct accessed *v, const struct looked *x)
{
	uint32_t *link = &v->classes;

	while (*link != 0) {
		const struct last_access *a = &p->pool[*link];
		uint32_t kind = a->who % 4;
		bool covers = conflicts_more(x->kind, kind) && holds_all(p, a->guard, x->guard);

		if (covers || conflict(kind, x->kind)) {
			if (is_ordered(p, a, x)) {
				if (covers) {
					class_drop(p, link);
					continue;
				}
			} else if (conflict(kind, x->kind) &&
			           lockset_exclusive(p->locksets, a->guard, x->guard) == 0) {
				return false;
			}
		}
		link = &p->pool[*link].next;
	}
	if (v->classes == 0)
		v->what &= ~(uint32_t)IS_MERGED;
	return true;
}

static void note_access(struct pass *p, struct accessed *v, const struct looked *x)
{
	bool atomic = x->kind & KIND_ATOMIC;
	uint32_t flag = x->kind & KIND_WRITES ? RUN_WRITES : RUN_READS;
	bool same = !atomic && run_thread(v) == x->thread && v->guard == x->guard;

	if (v->what & IS_SUSPECT)
		return;
	if (!same)
		end_run(p, v);
	if (same && (v->what & flag)) {
		v->recent = x->event;
	} else if (!compare(p, v, x)) {
		classes_drop(p, v);
		v->what = IS_SUSPECT | (v->what & IS_PART);
		if (++p->count == MANY_SUSPECTS && p->keeps)
			trace_keep_events_shortly(p->t);
	} else if (atomic) {
		add_access(
		        p, v,
		        (struct last_access){ x->event, x->guard, x->thread * 4 + x->kind, 0 });
	} else {
		v->what = (v->what & (RUN_THREAD - 1)) | (v->what & IS_PART) |
		          x->thread * RUN_THREAD | flag;
		v->guard = x->guard;
		v->recent = x->event;
	}
}

/* -- the pass ------------------------------------------------------------------------------ */

/* Between events: drop the clocks that no later event asks for. */
static void sweep(struct pass *p)
{
	if (clocks_sweep_due(&p->c->clocks))
		causality_sweep(p->c, NULL, NULL);
}

/* The thread's clock has changed. */
static void view_clocks(struct pass *p, uint32_t thread)
{
	const struct causality *c = p->c;

	p->now[thread].clock = clocks_view(&c->clocks, c->clocks.now[thread]);
	if (G_UNLIKELY(p->cells != c->clocks.cells && !c->clocks.wide)) {
		p->cells = c->clocks.cells;
		for (uint32_t u = 0; u < p->t->threads_count; u++)
			p->now[u].clock = clocks_view(&c->clocks, c->clocks.now[u]);
	}
}

/* A step of causality. */
static void step_causality(struct pass *p, uint32_t e)
{
	causality_step(p->c, e);
	view_clocks(p, p->t->events[e].thread);
}

/* -- sections that come before ------------------------------------------------------------- */

static struct lock_cell *cell_at(const struct pass *p, uint32_t thread, uint32_t lock)
{
	uint64_t key = (uint64_t)thread << 32 | lock;

	return &p->sections[hash_word(key) >> (64 - CELL_BITS)];
}

static void note_section(struct pass *p, const struct event *x, uint32_t e)
{
	struct lock_cell *of = cell_at(p, x->thread, x->target);
	bool same = of->thread == x->thread && of->lock == x->target;

	if (op_acquires(x->op)) {
		if (!same)
			*of = (struct lock_cell){ .thread = x->thread, .lock = x->target };
		of->last[of->count++ % SECTIONS_KEPT] =
		        (struct section){ e, NONE, x->op == OP_RACQ };
	} else if (same && of->count > 0) {
		of->last[(of->count - 1) % SECTIONS_KEPT].release = e;
	}
}

/* The last section with its acquire before `time`, if it is known; else NULL. */
static const struct section *section_before(const struct lock_cell *of, uint32_t time)
{
	uint32_t kept = MIN(of->count, SECTIONS_KEPT);

	for (uint32_t i = 1; i <= kept; i++) {
		const struct section *s = &of->last[(of->count - i) % SECTIONS_KEPT];

		if (s->acquire < time)
			return s;
	}
	return NULL;
}

/* Where the thread holds the lock: it is ordered after the releases of the sections of which it
 * is ordered after the acquire. */
static void follow_sections(struct pass *p, uint32_t e, uint32_t lock, bool shared)
{
	uint32_t thread = p->t->events[e].thread;

	for (uint32_t u = 0; u < p->t->threads_count; u++) {
		const struct lock_cell *of = cell_at(p, u, lock);
		uint32_t time = view_time(p->now[thread].clock, u);

		if (u == thread || of->thread != u || of->lock != lock)
			continue;
		const struct section *s = section_before(of, time);
		if (s == NULL || s->release == NONE || time > s->release ||
		    (s->shared && shared))
			continue;
		causality_edge_after(p->c, e, s->release, u, STEP_OBSERVATION, lock);
		view_clocks(p, thread);
	}
}

struct held {
	struct pass *p;
	uint32_t event;
	bool shared;
};

static bool follow_held(void *context, uint32_t item)
{
	const struct held *held = context;

	follow_sections(held->p, held->event, item / 2, held->shared);
	return false;
}

/* The step of a plain read. The write that it sees may lie in, or behind, other sections on
 * the locks that its thread holds: those then come before. */
static void step_read(struct pass *p, uint32_t e)
{
	const struct now *now = &p->now[p->t->events[e].thread];
	uint32_t before = p->c->clocks.now[p->t->events[e].thread];
	struct held held = { p, e, true };

	step_causality(p, e);
	if (p->sections == NULL || p->c->clocks.now[p->t->events[e].thread] == before)
		return;
	lockset_any(p->locksets, now->guard[0], follow_held, &held);
	held.shared = false;
	if (now->guard[1] != 0)
		lockset_any(p->locksets, now->guard[1], follow_held, &held);
}

/* An access that does not continue a run. */
static __attribute__((noinline)) void step_access(struct pass *p, uint32_t e)
{
	struct causality *c = p->c;
	const struct event *x = &p->t->events[e];
	struct wide run = event_variables(p->t, x);
	bool writes = op_writes(x->op);
	struct looked looked = { e, x->thread, p->now[x->thread].guard[writes],
		                 (writes ? KIND_WRITES : 0) |
		                         (op_is_atomic(x->op) ? KIND_ATOMIC : 0),
		                 p->now[x->thread].clock };

	if (e >= c->next_must || !event_simple(x) ||
	    (x->op == OP_READ && !observations_known(c, x->target, x->thread))) {
		if (x->op == OP_READ)
			step_read(p, e);
		else
			step_causality(p, e);
		looked.clock = clocks_view(&c->clocks, c->unobserved);
	}
	if (event_inert(x))
		return;
	uint32_t what = 0;
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		what |= p->variables[v].what;
		note_access(p, &p->variables[v], &looked);
		if (writes)
			p->variables[v].last = epoch_of(e, x->thread);
	}
	if (G_UNLIKELY(what & IS_PART))
		sync_look_see(p->sync, e, looked.clock);
	sweep(p);
}

/* With shared sections a thread's writes hold fewer locks than its reads. */
static void move_guards(struct pass *p, struct now *now, const struct event *x)
{
	bool exclusive = x->op == OP_ACQ || x->op == OP_REL;
	uint32_t item = x->target * 2 + 1;

	for (int writes = 0; writes <= exclusive; writes++)
		now->guard[writes] =
		        op_acquires(x->op)
		                ? lockset_with(p->locksets, now->guard[writes], item)
		                : lockset_without(p->locksets, now->guard[writes], item);
}

static void step_other(struct pass *p, const struct event *x, uint32_t e)
{
	bool of_lock = op_acquires(x->op) || op_releases(x->op);

	/* without lock edges, only a must-order makes an acquire or release matter */
	if (e >= p->c->next_must || !of_lock)
		step_causality(p, e);
	if (p->waits != NULL)
		wait_events_see(p->waits, e, x);
	if (p->sync != NULL && op_table[x->op].operand == OPERAND_OBJECT)
		sync_look_see(p->sync, e, p->now[x->thread].clock);
	sweep(p);
	if (!of_lock || event_inert(x))
		return;
	move_guards(p, &p->now[x->thread], x);
	if (p->sections == NULL)
		return;
	note_section(p, x, e);
	if (op_acquires(x->op))
		follow_sections(p, e, x->target, x->op == OP_RACQ);
}

static inline __attribute__((always_inline)) void step(struct pass *p, const struct event *x,
                                                       uint32_t e)
{
	struct now *now = &p->now[x->thread];

	now->end = e + 1;
	if (G_LIKELY(event_simple(x))) {
		struct accessed *v = &p->variables[x->target];
		bool writes = x->op;

		if (G_UNLIKELY(e >= p->c->next_must ||
		               !((v->what / RUN_THREAD == x->thread) & (v->what >> writes) &
		                 (v->guard == now->guard[writes])))) {
			step_access(p, e);
		} else {
			v->recent = e;
			v->last = writes ? epoch_of(e, x->thread) : v->last;
		}
		if (G_UNLIKELY(p->c->has_atomics) && writes)
			atomics_plain_write(p->c, e);
	} else if (op_is_access(x->op)) {
		step_access(p, e);
	} else {
		step_other(p, x, e);
	}
}

static void walk_run(struct pass *p, uint32_t from, uint32_t to)
{
	const struct event *events = p->t->events;

	for (uint32_t e = from; e < to; e++) {
		/* (For non-accesses the address is wrong, but harmless.) */
		if (G_LIKELY(e + AHEAD < to)) {
			uint32_t near =
			        MIN(events[e + AHEAD / 2].target, p->t->variables_count);

			__builtin_prefetch(&p->variables[events[e + AHEAD].target], 1);
			__builtin_prefetch(&p->pool[p->variables[near].classes], 1);
		}
		step(p, &events[e], e);
	}
}

static void walk(struct pass *p, uint32_t from, uint32_t to)
{
	for (uint32_t e = from; e < to; e += MIN(UNEXPLAINED_RUN, to - e)) {
		uint32_t end = e + MIN(UNEXPLAINED_RUN, to - e);

		walk_run(p, e, end);
		unexplained_see(p->unexplained, e, end);
	}
}

/* Takes ownership of the causality. */
static struct pass *pass_new(struct trace *t, struct causality *c, bool keeps)
{
	struct pass *p = g_new0(struct pass, 1);

	*p = (struct pass){ .t = t, .c = c, .used = 1, .room = 1 << 8, .keeps = keeps };
	p->unexplained = unexplained_begin(t);
	p->sync = sync_look_begin(t);
	p->waits = wait_events_begin(t);
	p->locksets = locksets_empty();
	p->variables = scattered_new0(struct accessed, t->variables_count + 1);
	for (uint32_t v = 0; p->sync != NULL && v < t->variables_count; v++)
		p->variables[v].what = sync_look_has(p->sync, v) ? IS_PART : 0;
	p->pool = g_new(struct last_access, p->room);
	p->now = g_new0(struct now, t->threads_count + 1);
	/* (With locks that were taken over sections overlap.) */
	if (!t->locks_taken && t->threads_count <= SECTION_THREADS)
		p->sections = g_new0(struct lock_cell, 1 << CELL_BITS);
	for (uint32_t u = 0; u < t->threads_count; u++)
		p->now[u].clock = clocks_view(&c->clocks, 0);
	p->cells = c->clocks.cells;
	observations_borrow(c->observations, &p->variables->last,
	                    sizeof(struct accessed) / sizeof(epoch));
	return p;
}

static void pass_free(struct pass *p)
{
	if (p == NULL)
		return;
	unexplained_drop(p->unexplained);
	sync_look_drop(p->sync);
	wait_events_drop(p->waits);
	causality_free(p->c);
	locksets_free(p->locksets);
	g_free(p->variables);
	g_free(p->pool);
	g_free(p->sections);
	g_free(p->now);
	g_free(p);
}

/* The trace is open to the end, and was seen to it. */
static void end_others(struct pass *p)
{
	unexplained_end(g_steal_pointer(&p->unexplained));
	if (p->sync != NULL)
		sync_look_end(g_steal_pointer(&p->sync));
	if (p->waits != NULL)
		wait_events_end(g_steal_pointer(&p->waits));
}

static uint64_t *suspects_of(const struct pass *p)
{
	uint64_t *suspects = g_new0(uint64_t, p->t->variables_count / 64 + 1);

	for (uint32_t v = 0; v < p->t->variables_count; v++) {
		if (p->variables[v].what & IS_SUSPECT)
			suspects[v / 64] |= (uint64_t)1 << (v % 64);
	}
	return suspects;
}

bool race_suspects(struct trace *t, bool keeps, uint64_t **suspects, uint64_t *count,
                   const struct progress *progress)
{
	struct causality *c =
	        causality_new(t, causality_lasting_kind(t), KEEP_REGIONS, progress);
	uint32_t events = (uint32_t)t->events_count;

	*suspects = NULL;
	*count = 0;
	if (c == NULL)
		return false;
	struct pass *p = pass_new(t, c, keeps);
	bool goes_on = true;
	for (uint32_t e = 0; e < events && goes_on; e += MIN(TICK, events - e)) {
		goes_on = progress_tick(progress, (double)e / events, "observations and locks");
		if (goes_on)
			walk(p, e, e + MIN(TICK, events - e));
	}
	*suspects = suspects_of(p);
	*count = p->count;
	if (goes_on)
		end_others(p);
	pass_free(p);
	return goes_on;
}

/* -- while the trace is opened ------------------------------------------------------------- */

struct first_suspects {
	struct trace_watch watch;
	struct pass
	        *pass; /* NULL: no trace was checked, or of one that is left to race_suspects */
	uint64_t walked;
};

static void first_begin(void *context, struct trace *t)
{
	struct first_suspects *f = context;

	if (trace_model(t) == WEAK_SC && t->weak_count == 0 && t->threads_count < CHAINS_LEAST)
		f->pass = pass_new(t, causality_new_live(t), true);
}

static void first_block(void *context, uint64_t first, uint64_t count, const uint16_t *marks,
                        uint32_t marked)
{
	struct first_suspects *f = context;

	if (f->pass == NULL)
		return;
	causality_live_block(f->pass->c, first, count, marks, marked);
	walk(f->pass, (uint32_t)first, (uint32_t)(first + count));
	f->walked += count;
}

struct first_suspects *first_suspects_new(void)
{
	struct first_suspects *f = g_new0(struct first_suspects, 1);

	f->watch = (struct trace_watch){ f, first_begin, first_block };
	return f;
}

const struct trace_watch *first_suspects_watch(const struct first_suspects *f)
{
	return &f->watch;
}

void first_suspects_free(struct first_suspects *f)
{
	if (f != NULL)
		pass_free(f->pass);
	g_free(f);
}

bool first_suspects_take(struct first_suspects *f, const struct trace *t, bool keeps,
                         uint64_t **suspects, uint64_t *count)
{
	if (f == NULL || f->pass == NULL || f->pass->t != t || f->walked != t->events_count)
		return false;
	*suspects = suspects_of(f->pass);
	*count = f->pass->count;
	end_others(f->pass);
	g_clear_pointer(&f->pass, pass_free);
	if (keeps && *count >= MANY_SUSPECTS)
		trace_keep_events_shortly(t);
	return true;
}
