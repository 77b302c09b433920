/*
 * syncp_walk.c - SyncP's walk over a trace; see syncp_private.h.
 *
 * The walk for program order, must-order and observation (causality.h) has the last write of
 * each variable; other data on variables is stored beside it, and locks are tracked. Most
 * accesses change nothing: one branch tests for all cases.
 */
#include "engine/predict/syncp/syncp_private.h"

#include "engine/base/scattered.h"
#include "engine/trace/unexplained.h"

enum { AHEAD = 24, TICK = 1 << 20 };
_Static_assert(OP_READ == 0 && OP_WRITE == 1 && VARIABLE_WRITTEN == 1,
               "what a plain access is, as a bit");

/* State of a thread. */
struct now {
	struct clock_view clock; /* its vector clock */
	uint32_t guard[2]; /* locks held: in any mode, for reads; exclusively, for writes */
	uint32_t last;     /* its last event */
};
/* Facts about all accesses of a variable, also if its history is given up. */
struct overall {
	uint32_t guard;   /* locks held by all, as variable_use.guard; NONE: no access */
	uint32_t written; /* enum written, or WRITTEN_FROM + time (epoch >> 32) of the last
	                   * write of the first thread, before all others came */
};
enum written { ONE_THREAD, WRITTEN_FROM, WRITTEN_LATER = NONE };
struct walk {
	struct syncp *s;
	struct variable_use *uses;
	struct overall *overall; /* by variable */
	struct now *now;         /* by thread */
	const uint32_t *cells;   /* memory of the vector clocks */
	GArray *strays;
	uint32_t most_strays; /* of a variable */
};

/* The current access. */
struct looked {
	uint32_t event, thread, guard; /* guard: as in struct now */
	uint32_t clock;                /* its vector clock */
	bool writes, plain;
};

/* -- access history
 * ---------------------------------------------------------------------------------- */

static void open_variable(struct variable_use *use)
{
	use->flags |= VARIABLE_OPEN;
	use->guard = NONE;
}

/* Another thread accesses the variable, ordered after the owner, which it replaces. */
static void hand_over(struct variable_use *use, const struct looked *x)
{
	use->before = use->recent + 1;
	use->base = variable_owner(use) | thread_bit(x->thread);
	use->guard = x->guard;
	use->flags &= VARIABLE_OWNER - 1 - VARIABLE_WRITTEN;
	use->flags |= x->thread * VARIABLE_OWNER;
}

/* Restarts the history at an access that is ordered after all others (no strays are left). */
static void begin_anew(struct variable_use *use, const struct looked *x)
{
	use->before = x->event + 1;
	use->base = x->thread | thread_bit(x->thread);
	use->guard = x->guard;
	use->opened = NONE;
	use->flags &= VARIABLE_PLAIN;
	use->flags |= VARIABLE_OWNED | x->thread * VARIABLE_OWNER;
}

/* Is the access known to be ordered after all others? */
static bool follows_all(const struct walk *w, const struct variable_use *use,
                        const struct looked *x, struct clock_view clock)
{
	enum { MOST = 256 };

	if (variable_strays(use) > 0 || w->s->threads > MOST)
		return false;
	for (uint32_t u = 0; u < w->s->threads; u++) {
		if ((use->base & thread_bit(u)) && u != x->thread &&
		    view_time(clock, u) <= use->recent && view_time(clock, u) <= w->now[u].last)
			return false;
	}
	return true;
}

/* Another thread accesses the variable, not ordered after the owner. If it reads, after the
 * owner's last write, that write is the base from now on, with reads only since. */
static void share(struct walk *w, struct variable_use *use, const struct looked *x,
                  struct clock_view clock)
{
	uint32_t owner = variable_owner(use), base = use->base & BASE_THREAD;
	bool written = use->flags & VARIABLE_WRITTEN;

	use->opened = use->before;
	if (written && !x->writes && epoch_within(use->last, view_time(clock, owner)) &&
	    lockset_exclusive(w->s->locksets, use->guard, x->guard) == 0) {
		use->opened = epoch_event(use->last) + 1;
		base = owner;
		use->guard = 0;
		use->flags &= ~(uint32_t)VARIABLE_WRITTEN;
		written = false;
	}
	use->flags &= VARIABLE_OWNER - 1 - VARIABLE_OWNED;
	use->flags |= base * VARIABLE_OWNER;
	use->base |= thread_bit(x->thread);
	if (use->guard == 0 && !written && !x->writes)
		use->flags |= VARIABLE_BARE;
	else if (use->guard == 0)
		open_variable(use);
}

static void stray(struct walk *w, struct variable_use *use, const struct looked *x)
{
	struct stray fresh = { use - w->uses, x->event, x->clock, x->thread };

	if (variable_strays(use) < w->most_strays) {
		use->flags += VARIABLE_STRAY;
		g_array_append_val(w->strays, fresh);
	} else if (!x->writes && !(use->flags & VARIABLE_WRITTEN)) {
		use->flags |= VARIABLE_BARE;
		use->guard = 0;
	} else {
		open_variable(use);
	}
}

/* Checks the access against the guard, and narrows the guard to the locks held. */
static void guard(struct walk *w, struct variable_use *use, const struct looked *x,
                  struct clock_view clock)
{
	uint32_t both = use->guard;

	if (use->flags & VARIABLE_BARE)
		both = x->writes ? 0 : NONE;
	else if (use->guard != x->guard)
		both = lockset_exclusive(w->s->locksets, use->guard, x->guard);
	if (both == NONE)
		return;
	if (both != 0)
		use->guard = both;
	else if (follows_all(w, use, x, clock))
		begin_anew(use, x);
	else if (use->flags & VARIABLE_BARE)
		open_variable(use);
	else
		stray(w, use, x);
}

/* An access by a thread that is not the owner. */
static void note_shared(struct walk *w, struct variable_use *use, const struct looked *x)
{
	struct clock_view clock = clocks_view(&w->s->observed->clocks, x->clock);

	if (use->flags & VARIABLE_OWNED) {
		if (view_time(clock, variable_owner(use)) > use->recent) {
			hand_over(use, x);
			return;
		}
		share(w, use, x, clock);
	}
	uint32_t base = variable_owner(use);
	if (base != x->thread && view_time(clock, base) < use->opened) {
		if (!(use->flags & VARIABLE_OPEN) && follows_all(w, use, x, clock))
			begin_anew(use, x);
		else
			open_variable(use);
	}
	use->base |= thread_bit(x->thread);
	if (!(use->flags & (VARIABLE_OPEN | VARIABLE_OWNED)))
		guard(w, use, x, clock);
}

/* Quiet accesses (quiet_access) hold the guard of the history, which has all of this one's
 * locks; quiet reads are ordered after the last write, and a quiet write is known by the end.
 */
static void note_overall(struct walk *w, struct overall *o, const struct variable_use *use,
                         const struct looked *x)
{
	uint32_t writer = epoch_thread(use->last);

	if (o->guard == NONE)
		o->guard = x->guard;
	else if (o->guard != 0 && o->guard != x->guard)
		o->guard = lockset_exclusive(w->s->locksets, o->guard, x->guard);
	if (use->flags == 0 || (o->written == ONE_THREAD && variable_owner(use) == x->thread))
		return;
	if (o->written == ONE_THREAD)
		o->written = WRITTEN_FROM + (uint32_t)(use->last >> 32);
	if (writer != x->thread &&
	    !epoch_within(use->last, clocks_time(&w->s->observed->clocks, x->clock, writer)))
		o->written = WRITTEN_LATER;
}

/* Is no pair of accesses of the variable a race, whatever its history says? */
static bool is_harmless(const struct overall *o, const struct variable_use *use)
{
	return o->guard != 0 || (o->written != WRITTEN_LATER &&
	                         o->written == WRITTEN_FROM + (uint32_t)(use->last >> 32));
}

static void note(struct walk *w, struct variable_use *use, const struct looked *x)
{
	note_overall(w, &w->overall[use - w->uses], use, x);
	if (use->guard == NONE && !(use->flags & VARIABLE_OPEN)) { /* the first */
		use->guard = x->guard;
		use->opened = NONE;
		use->flags = VARIABLE_OWNED | (uint32_t)x->thread * VARIABLE_OWNER;
		use->base = thread_bit(x->thread);
	}
	if ((use->flags & VARIABLE_OWNED) && variable_owner(use) == x->thread) {
		if (use->guard != 0 && use->guard != x->guard)
			use->guard = lockset_exclusive(w->s->locksets, use->guard, x->guard);
	} else if (!(use->flags & VARIABLE_OPEN)) {
		note_shared(w, use, x);
	}
	use->recent = x->event;
	use->flags |= (x->writes ? VARIABLE_WRITTEN : 0) | (x->plain ? VARIABLE_PLAIN : 0);
	if (x->writes)
		use->last = epoch_of(x->event, x->thread);
}

/* -- the walk ------------------------------------------------------------------------------ */

static inline __attribute__((always_inline)) uint32_t now_time(struct clock_view clock,
                                                               uint32_t thread, bool wide)
{
	return wide ? wide_time(clock.nodes, clock.root, thread) : clock.times[thread];
}

/* A plain access of one variable without must-orders: true when its clock does not change and
 * all is recorded. One branch, as the cases are unpredictable. */
static inline __attribute__((always_inline)) bool quiet_access(struct variable_use *use,
                                                               const struct now *now,
                                                               uint32_t thread, uint32_t writes,
                                                               uint32_t e, bool wide)
{
	struct clock_view clock = now[thread].clock;
	uint32_t flags = use->flags, owner = flags / VARIABLE_OWNER, guard = use->guard;
	uint32_t writer = epoch_thread(use->last);
	uint32_t ordered = (owner == thread) | (now_time(clock, owner, wide) >= use->opened);
	uint32_t guarded = (guard == now[thread].guard[writes]) | (guard == 0);
	uint32_t bare = writes & flags / VARIABLE_BARE;
	uint32_t known = writes | (writer == thread) |
	                 epoch_within(use->last, now_time(clock, writer, wide));

	if (G_UNLIKELY(!(ordered & guarded & known & ~bare)))
		return false;
	use->recent = e;
	use->flags = flags | VARIABLE_PLAIN | writes; /* (written) */
	use->last = writes ? epoch_of(e, thread) : use->last;
	use->base |= thread_bit(thread);
	return true;
}

/* A step of causality, which alone changes vector clocks. */
static void step_causality(struct walk *w, uint32_t e)
{
	struct causality *c = w->s->observed;
	uint32_t thread = w->s->t->events[e].thread;

	causality_step(c, e);
	w->now[thread].clock = clocks_view(&c->clocks, c->clocks.now[thread]);
	if (G_UNLIKELY(w->cells != c->clocks.cells && !c->clocks.wide)) {
		w->cells = c->clocks.cells;
		for (uint32_t u = 0; u < w->s->threads; u++)
			w->now[u].clock = clocks_view(&c->clocks, c->clocks.now[u]);
	}
}

/* An access that changes the history. */
static __attribute__((noinline)) void step_access(struct walk *w, uint32_t e)
{
	struct causality *c = w->s->observed;
	const struct event *x = &w->s->t->events[e];
	struct wide run = event_variables(w->s->t, x);
	struct looked looked = { e, x->thread, w->now[x->thread].guard[op_writes(x->op)] };

	if (e < c->next_must && event_simple(x) &&
	    (x->op == OP_WRITE || observations_known(c, x->target, x->thread))) {
		looked.clock = c->clocks.now[x->thread];
	} else {
		step_causality(w, e);
		looked.clock = c->unobserved;
	}
	if (event_inert(x))
		return;
	looked.writes = op_writes(x->op);
	looked.plain = !op_is_atomic(x->op);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		note(w, &w->uses[v], &looked);
}

/* With shared sections: a thread's guards after a lock operation. */
static void move_guards(struct locksets *sets, uint32_t guard[2], const struct event *x)
{
	bool exclusive = x->op == OP_ACQ || x->op == OP_REL;
	uint32_t item = x->target * 2 + 1;

	for (int writes = 0; writes <= exclusive; writes++)
		guard[writes] = op_acquires(x->op) ? lockset_with(sets, guard[writes], item)
		                                   : lockset_without(sets, guard[writes], item);
}

static void step_other(struct walk *w, const struct event *x, uint32_t e)
{
	struct causality *c = w->s->observed;
	struct syncp *s = w->s;

	bool of_lock = op_acquires(x->op) || op_releases(x->op);

	/* without lock edges, only a must-order makes an acquire or release matter */
	if (e >= c->next_must || !of_lock)
		step_causality(w, e);
	if (!of_lock || event_inert(x))
		return;
	uint32_t set = lock_table_event(&s->locks, s->locksets, x, e);
	if (!s->locks.shared)
		w->now[x->thread].guard[0] = w->now[x->thread].guard[1] = set;
	else
		move_guards(s->locksets, w->now[x->thread].guard, x);
}

static inline __attribute__((always_inline)) void step(struct walk *w, const struct event *x,
                                                       uint32_t e, bool wide)
{
	struct causality *c = w->s->observed;

	w->now[x->thread].last = e;
	if (G_LIKELY(event_simple(x))) {
		if (e >= c->next_must ||
		    !quiet_access(&w->uses[x->target], w->now, x->thread, x->op, e, wide))
			step_access(w, e);
		if (G_UNLIKELY(c->has_atomics) && x->op == OP_WRITE)
			atomics_plain_write(c, e);
	} else if (op_is_access(x->op)) {
		step_access(w, e);
	} else {
		step_other(w, x, e);
	}
}

static inline __attribute__((always_inline)) void walk_events(struct walk *w, uint32_t from,
                                                              uint32_t to, bool wide)
{
	const struct event *events = w->s->t->events;
	uint32_t count = (uint32_t)w->s->t->events_count;

	for (uint32_t e = from; e < to; e++) {
		/* (For non-accesses the address is wrong, but harmless.) */
		if (G_LIKELY(e + AHEAD < count)) {
			__builtin_prefetch(&w->uses[events[e + AHEAD].target], 1);
			__builtin_prefetch(&w->overall[events[e + AHEAD].target], 1);
		}
		step(w, &events[e], e, wide);
	}
}

/* Two functions, as the first is the usual one and fast. */
static __attribute__((noinline)) void walk_few(struct walk *w, uint32_t from, uint32_t to)
{
	walk_events(w, from, to, false);
}

static __attribute__((noinline)) void walk_many(struct walk *w, uint32_t from, uint32_t to)
{
	walk_events(w, from, to, true);
}

/* False when cancelled. */
static bool walk_all(struct walk *w, const struct progress *progress)
{
	struct unexplained_search *beside = unexplained_begin(w->s->t);
	uint32_t count = (uint32_t)w->s->t->events_count;
	bool wide = w->s->observed->clocks.wide, done = true;

	for (uint32_t e = 0, to; e < count && done; e = to) {
		to = e + MIN(UNEXPLAINED_RUN, count - e);
		if (e % TICK == 0)
			done = progress_tick(progress, (double)e / count,
			                     "observations and locks");
		if (!done)
			break;
		(wide ? walk_many : walk_few)(w, e, to);
		unexplained_see(beside, e, to);
	}
	unexplained_end(beside);
	return done;
}

void syncp_walk_release(struct syncp *s)
{
	locksets_free(s->locksets);
	lock_table_release(&s->locks);
	causality_free(s->observed);
	s->locksets = NULL;
	s->observed = NULL;
}

bool syncp_walk(struct syncp *s, struct variable_use **uses, GArray **strays,
                const struct progress *progress)
{
	size_t count = s->t->variables_count + 1;
	struct walk w = { s };

	s->locksets = locksets_empty();
	lock_table_init(&s->locks, s->t);
	s->observed = causality_new(s->t, ORDER_KIND_OBSERVED, KEEP_REGIONS, progress);
	if (s->observed == NULL)
		return false;
	w.uses = scattered_new0(struct variable_use, count);
	w.overall = scattered_new0(struct overall, count);
	for (size_t v = 0; v < count; v++)
		w.uses[v].guard = w.overall[v].guard = NONE;
	w.now = g_new0(struct now, s->threads + 1);
	for (uint32_t u = 0; u < s->threads; u++)
		w.now[u].clock = clocks_view(&s->observed->clocks, 0);
	w.cells = s->observed->clocks.cells;
	/* With many threads a variable with strays is open: each stray has a window a thread.
	 */
	w.most_strays = s->observed->clocks.wide
	                        ? 0
	                        : CLAMP(STRAY_WINDOWS / (s->threads + 1), 4, MOST_STRAYS / 2);
	w.strays = g_array_new(FALSE, FALSE, sizeof(struct stray));
	observations_borrow(s->observed->observations, &w.uses->last,
	                    sizeof(struct variable_use) / sizeof(epoch));
	bool done = walk_all(&w, progress);
	for (size_t v = 0; v < count; v++) {
		if (is_harmless(&w.overall[v], &w.uses[v]))
			w.uses[v] = (struct variable_use){ 0 };
	}
	lock_table_end(&s->locks);
	g_free(w.now);
	g_free(w.overall);
	*uses = w.uses;
	*strays = w.strays;
	return done;
}
