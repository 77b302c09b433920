/*
 * syncp_walk.c - the one walk of SyncP over a whole trace.  See syncp_private.h.
 *
 * The walk for program order, must-order and observation (causality.h) has the last write of
 * each variable at hand, and what else is kept of a variable lies beside it; the locks are
 * followed on the way.  Most accesses tell nothing new: one branch for all that they are asked.
 */
#include "engine/predict/syncp_private.h"

#include "engine/base/scattered.h"

enum { AHEAD = 24, TICK = 1 << 20, MOST_STRAYS = 64 };

struct holding { /* what a thread holds */
	uint32_t all, exclusive;
};
struct walk {
	struct syncp *s;
	struct variable_use *uses;
	struct holding *holding; /* by thread */
	GArray *strays;
};

/* An access as it is looked at. */
struct looked {
	uint32_t event, thread, guard; /* guard: what the thread holds exclusively */
	uint32_t row;                  /* what is before it */
	bool writes, plain;
};

/* -- what is kept of a variable ------------------------------------------------------------- */

static void open_variable(struct variable_use *use)
{
	use->flags |= VARIABLE_OPEN;
	use->guard = NONE;
}

/* A second thread comes. */
static void share(struct variable_use *use, const struct looked *x, bool known)
{
	bool conflict = (use->flags & VARIABLE_WRITTEN) || x->writes;

	use->flags &= ~VARIABLE_OWNED;
	if (use->guard != 0) {
		use->opened = 0;
	} else if (!conflict) {
		use->opened = 0;
		use->flags |= VARIABLE_BARE;
	} else if (known) {
		use->flags &= ~VARIABLE_WRITTEN;
		use->guard = x->guard;
		use->flags |= x->guard == 0 ? VARIABLE_BARE : 0;
	} else {
		open_variable(use);
	}
}

static void stray(struct walk *w, struct variable_use *use, const struct looked *x)
{
	struct stray fresh = { use - w->uses, x->event, x->row, x->thread };

	if (use->strays < MOST_STRAYS) {
		use->strays++;
		g_array_append_val(w->strays, fresh);
	} else if (!x->writes && !(use->flags & VARIABLE_WRITTEN)) {
		use->flags |= VARIABLE_BARE;
		use->guard = 0;
	} else {
		open_variable(use);
	}
}

/* Is it under the guard? */
static void guard(struct walk *w, struct variable_use *use, const struct looked *x)
{
	uint32_t both;

	if (use->flags & VARIABLE_BARE) {
		if (x->writes)
			open_variable(use);
	} else if (use->guard != x->guard) {
		both = lockset_exclusive(w->s->locksets, use->guard, x->guard);
		if (both == 0)
			stray(w, use, x);
		else
			use->guard = both;
	}
}

static void note_shared(struct walk *w, struct variable_use *use, const struct looked *x)
{
	const uint32_t *row = clocks_row(&w->s->observed->clocks, x->row);
	bool known = use->owner == x->thread || row[use->owner] >= use->opened;

	if (use->flags & VARIABLE_OWNED)
		share(use, x, known);
	else if (!known)
		open_variable(use);
	if (!(use->flags & VARIABLE_OPEN))
		guard(w, use, x);
}

static void note(struct walk *w, struct variable_use *use, const struct looked *x)
{
	if (use->count++ == 0) {
		use->owner = x->thread;
		use->guard = x->guard;
		use->flags = VARIABLE_OWNED;
	}
	if (use->flags & VARIABLE_OWNED && use->owner == x->thread) {
		if (use->guard != 0 && use->guard != x->guard)
			use->guard = lockset_exclusive(w->s->locksets, use->guard, x->guard);
		use->opened = x->event + 1;
	} else if (!(use->flags & VARIABLE_OPEN)) {
		note_shared(w, use, x);
	}
	use->flags |= (x->writes ? VARIABLE_WRITTEN : 0) | (x->plain ? VARIABLE_PLAIN : 0);
	if (x->writes)
		use->last = stamp_of(x->event, x->thread);
}

/* -- the walk ------------------------------------------------------------------------------- */

static inline bool known_to(stamp last, uint32_t thread, const uint32_t *row)
{
	return (stamp_thread(last) == thread) | stamp_within(last, row[stamp_thread(last)]);
}

/*
 * A plain access of one variable that no must-order touches: true when it has learnt nothing
 * and all is noted.  One branch, as nobody can foresee which of the reasons there is.
 */
static inline bool quiet_access(struct walk *w, const struct event *x, uint32_t e)
{
	struct variable_use *use = &w->uses[x->target];
	uint32_t thread = x->thread, flags = use->flags, writes = x->op == OP_WRITE;
	const uint32_t *row = clocks_now(&w->s->observed->clocks, thread);
	bool owned = flags & VARIABLE_OWNED, bare = flags & VARIABLE_BARE;
	bool ordered =
	        (use->owner == thread) | (!owned & (row[use->owner] >= use->opened));
	bool guarded = ((use->guard == 0) | (use->guard == w->holding[thread].exclusive)) &
	               !(writes & bare);

	if (G_UNLIKELY(!(ordered & guarded & (writes | known_to(use->last, thread, row)))))
		return false;
	use->count++;
	use->opened = owned ? e + 1 : use->opened;
	use->flags = flags | VARIABLE_PLAIN | (writes ? VARIABLE_WRITTEN : 0);
	use->last = writes ? stamp_of(e, thread) : use->last;
	return true;
}

/* One that has learnt nothing, but is new to its variable. */
static void note_known(struct walk *w, const struct event *x, uint32_t e)
{
	const struct looked looked = { .event = e,
		                       .thread = x->thread,
		                       .guard = w->holding[x->thread].exclusive,
		                       .row = w->s->observed->clocks.now[x->thread],
		                       .writes = x->op == OP_WRITE,
		                       .plain = true };

	note(w, &w->uses[x->target], &looked);
}

/* Any access. */
static __attribute__((noinline)) void step_access(struct walk *w, uint32_t e)
{
	struct causality *c = w->s->observed;
	const struct event *x = &w->s->t->events[e];
	struct wide run;
	struct looked looked = { e, x->thread, w->holding[x->thread].exclusive };

	if (e < c->next_must && event_simple(x) &&
	    (x->op == OP_WRITE || observations_known(c, x->target, x->thread))) {
		note_known(w, x, e);
		return;
	}
	causality_step(c, e);
	if (event_inert(x))
		return;
	looked.row = c->unobserved;
	looked.writes = op_writes(x->op);
	looked.plain = !op_is_atomic(x->op);
	run = event_variables(w->s->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		note(w, &w->uses[v], &looked);
}

static void step_lock(struct walk *w, const struct event *x, uint32_t e)
{
	struct lock_table *locks = &w->s->locks;
	struct holding *h = &w->holding[x->thread];

	h->all = lock_table_lockset(locks, lock_table_event(locks, w->s->locksets, x, e));
	h->exclusive =
	        locks->shared ? lockset_exclusive(w->s->locksets, h->all, h->all) : h->all;
}

static inline void step(struct walk *w, uint32_t e)
{
	struct causality *c = w->s->observed;
	const struct event *x = &w->s->t->events[e];

	if (G_LIKELY(event_simple(x))) {
		if (e >= c->next_must || !quiet_access(w, x, e))
			step_access(w, e);
		if (G_UNLIKELY(c->has_atomics) && x->op == OP_WRITE)
			atomics_plain_write(c, e);
	} else if (op_is_access(x->op)) {
		step_access(w, e);
	} else {
		if (e >= c->next_must || !causality_quiet_hold(c, e, x))
			causality_step(c, e);
		if ((op_acquires(x->op) || op_releases(x->op)) && !event_inert(x))
			step_lock(w, x, e);
	}
}

static bool walk_all(struct walk *w, const struct progress *progress)
{
	const struct trace *t = w->s->t;
	uint32_t count = (uint32_t)t->events_count;

	for (uint32_t e = 0; e < count; e++) {
		if (e % TICK == 0 &&
		    !progress_tick(progress, (double)e / count, "observations and locks"))
			return false;
		/* (Of what is no access the address is wrong, which is harmless.) */
		if (G_LIKELY(e + AHEAD < count))
			__builtin_prefetch(&w->uses[t->events[e + AHEAD].target], 1);
		step(w, e);
	}
	return true;
}

bool syncp_walk(struct syncp *s, struct variable_use **uses, GArray **strays,
                const struct progress *progress)
{
	size_t count = s->t->variables_count + 1;
	struct walk w = { s };
	bool done;

	s->observed = causality_new(s->t, ORDER_KIND_OBSERVED, KEEP_STRETCHES, progress);
	if (s->observed == NULL)
		return false;
	w.uses = scattered_new0(struct variable_use, count);
	for (size_t v = 0; v < count; v++)
		w.uses[v].guard = NONE;
	w.holding = g_new0(struct holding, s->threads + 1);
	w.strays = g_array_new(FALSE, FALSE, sizeof(struct stray));
	observations_lend(s->observed->observations, &w.uses->last,
	                  sizeof(struct variable_use) / sizeof(stamp));
	done = walk_all(&w, progress);
	g_free(w.holding);
	*uses = w.uses;
	*strays = w.strays;
	return done;
}
