/*
 * syncp_walk.c - the one walk of SyncP over a whole trace.  See syncp_private.h.
 *
 * The walk for program order, must-order and observation (causality.h) has the last write of
 * each variable at hand, and what else is kept of a variable lies beside it; the locks are
 * followed on the way.  Most accesses tell nothing new: one branch for all that they are asked.
 */
#include "engine/predict/syncp_private.h"

#include "engine/base/scattered.h"

enum { AHEAD = 24, TICK = 1 << 20 };
_Static_assert(OP_READ == 0 && OP_WRITE == 1 && VARIABLE_WRITTEN == 1,
               "what a plain access is, as a bit");

struct now {                 /* where a thread is */
	const uint32_t *row; /* what it knows */
	uint32_t guard;      /* what it holds exclusively */
};
struct walk {
	struct syncp *s;
	struct variable_use *uses;
	struct now *now;       /* by thread */
	const uint32_t *cells; /* that the rows lie in */
	GArray *strays;
	uint32_t most_strays; /* of a variable */
};

/* An access as it is looked at. */
struct looked {
	uint32_t event, thread, guard; /* guard: what the thread holds exclusively */
	uint32_t row;                  /* what is before it */
	bool writes, plain;
};

/* -- what is kept of a variable -------------------------------------------------------- */

static void open_variable(struct variable_use *use)
{
	use->what |= VARIABLE_OPEN;
	use->guard = NONE;
}

/* A second thread comes. */
static void share(struct variable_use *use, const struct looked *x, const uint32_t *row)
{
	bool known = row[variable_owner(use)] > use->recent;
	bool conflict = (use->what & VARIABLE_WRITTEN) || x->writes;

	use->what &= ~VARIABLE_OWNED;
	use->opened = 0;
	if (use->guard != 0)
		return;
	if (!conflict) {
		use->what |= VARIABLE_BARE;
	} else if (known) {
		use->opened = use->recent + 1;
		use->what &= ~VARIABLE_WRITTEN;
		use->guard = x->guard;
		use->what |= x->guard == 0 ? VARIABLE_BARE : 0;
	} else {
		open_variable(use);
	}
}

static void stray(struct walk *w, struct variable_use *use, const struct looked *x)
{
	struct stray fresh = { use - w->uses, x->event, x->row, x->thread };

	if (variable_strays(use) < w->most_strays) {
		use->what += VARIABLE_STRAY;
		g_array_append_val(w->strays, fresh);
	} else if (!x->writes && !(use->what & VARIABLE_WRITTEN)) {
		use->what |= VARIABLE_BARE;
		use->guard = 0;
	} else {
		open_variable(use);
	}
}

/* Is it under the guard? */
static void guard(struct walk *w, struct variable_use *use, const struct looked *x)
{
	uint32_t both;

	if (use->what & VARIABLE_BARE) {
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
	const uint32_t *row = clocks_at(&w->s->observed->clocks, x->row);
	uint32_t owner = variable_owner(use);

	if (use->what & VARIABLE_OWNED)
		share(use, x, row);
	else if (owner != x->thread && row[owner] < use->opened)
		open_variable(use);
	if (!(use->what & VARIABLE_OPEN))
		guard(w, use, x);
}

static void note(struct walk *w, struct variable_use *use, const struct looked *x)
{
	if (use->guard == NONE && !(use->what & VARIABLE_OPEN)) { /* the first */
		use->guard = x->guard;
		use->opened = NONE;
		use->what = VARIABLE_OWNED | (uint32_t)x->thread * VARIABLE_OWNER;
	}
	if ((use->what & VARIABLE_OWNED) && variable_owner(use) == x->thread) {
		if (use->guard != 0 && use->guard != x->guard)
			use->guard = lockset_exclusive(w->s->locksets, use->guard, x->guard);
	} else if (!(use->what & VARIABLE_OPEN)) {
		note_shared(w, use, x);
	}
	use->recent = x->event;
	use->what |= (x->writes ? VARIABLE_WRITTEN : 0) | (x->plain ? VARIABLE_PLAIN : 0);
	if (x->writes)
		use->last = epoch_of(x->event, x->thread);
}

/* -- the walk -------------------------------------------------------------------------- */

/*
 * A plain access of one variable that no must-order touches: true when it has learnt nothing
 * and all is noted.  One branch, as nobody can foresee which of the reasons there is.
 */
static inline __attribute__((always_inline)) bool quiet_access(struct variable_use *use,
                                                               const struct now *now,
                                                               uint32_t thread, uint32_t writes,
                                                               uint32_t e)
{
	const uint32_t *row = now[thread].row;
	uint32_t what = use->what, owner = what / VARIABLE_OWNER, guard = use->guard;
	uint32_t writer = epoch_thread(use->last);
	uint32_t ordered = (owner == thread) | (row[owner] >= use->opened);
	uint32_t guarded = (guard == now[thread].guard) | (guard == 0);
	uint32_t bare = writes & what / VARIABLE_BARE;
	uint32_t known = writes | (writer == thread) | epoch_within(use->last, row[writer]);

	if (G_UNLIKELY(!(ordered & guarded & known & ~bare)))
		return false;
	use->recent = e;
	use->what = what | VARIABLE_PLAIN | writes; /* (written) */
	use->last = writes ? epoch_of(e, thread) : use->last;
	return true;
}

/* The step of the causality, which alone changes what a thread knows. */
static void step_causality(struct walk *w, uint32_t e)
{
	struct causality *c = w->s->observed;
	uint32_t thread = w->s->t->events[e].thread;

	causality_step(c, e);
	w->now[thread].row = clocks_now(&c->clocks, thread);
	if (G_UNLIKELY(w->cells != c->clocks.cells)) {
		w->cells = c->clocks.cells;
		for (uint32_t u = 0; u < w->s->threads; u++)
			w->now[u].row = clocks_now(&c->clocks, u);
	}
}

/* An access that tells something new. */
static __attribute__((noinline)) void step_access(struct walk *w, uint32_t e)
{
	struct causality *c = w->s->observed;
	const struct event *x = &w->s->t->events[e];
	struct wide run = event_variables(w->s->t, x);
	struct looked looked = { e, x->thread, w->now[x->thread].guard };

	if (e < c->next_must && event_simple(x) &&
	    (x->op == OP_WRITE || observations_known(c, x->target, x->thread))) {
		looked.row = c->clocks.now[x->thread];
	} else {
		step_causality(w, e);
		looked.row = c->unobserved;
	}
	if (event_inert(x))
		return;
	looked.writes = op_writes(x->op);
	looked.plain = !op_is_atomic(x->op);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		note(w, &w->uses[v], &looked);
}

static void step_other(struct walk *w, const struct event *x, uint32_t e)
{
	struct causality *c = w->s->observed;
	struct syncp *s = w->s;

	if (e >= c->next_must || !causality_quiet_hold(c, e, x))
		step_causality(w, e);
	if (!(op_acquires(x->op) || op_releases(x->op)) || event_inert(x))
		return;
	uint32_t set = lock_table_event(&s->locks, s->locksets, x, e);
	w->now[x->thread].guard =
	        s->locks.shared ? lockset_exclusive(s->locksets, set, set) : set;
}

static inline void step(struct walk *w, const struct event *x, uint32_t e)
{
	struct causality *c = w->s->observed;

	if (G_LIKELY(event_simple(x))) {
		if (e >= c->next_must ||
		    !quiet_access(&w->uses[x->target], w->now, x->thread, x->op, e))
			step_access(w, e);
		if (G_UNLIKELY(c->has_atomics) && x->op == OP_WRITE)
			atomics_plain_write(c, e);
	} else if (op_is_access(x->op)) {
		step_access(w, e);
	} else {
		step_other(w, x, e);
	}
}

static bool walk_all(struct walk *w, const struct progress *progress)
{
	const struct event *events = w->s->t->events;
	uint32_t count = (uint32_t)w->s->t->events_count;

	for (uint32_t e = 0; e < count; e++) {
		if (e % TICK == 0 &&
		    !progress_tick(progress, (double)e / count, "observations and locks"))
			return false;
		/* (Of what is no access the address is wrong, which is harmless.) */
		if (G_LIKELY(e + AHEAD < count))
			__builtin_prefetch(&w->uses[events[e + AHEAD].target], 1);
		step(w, &events[e], e);
	}
	return true;
}

bool syncp_walk(struct syncp *s, struct variable_use **uses, GArray **strays,
                const struct progress *progress)
{
	size_t count = s->t->variables_count + 1;
	struct walk w = { s };

	s->observed = causality_new(s->t, ORDER_KIND_OBSERVED, KEEP_REGIONS, progress);
	if (s->observed == NULL)
		return false;
	w.uses = scattered_new0(struct variable_use, count);
	for (size_t v = 0; v < count; v++)
		w.uses[v].guard = NONE;
	w.now = g_new0(struct now, s->threads + 1);
	for (uint32_t u = 0; u < s->threads; u++)
		w.now[u].row = clocks_now(&s->observed->clocks, u);
	w.cells = s->observed->clocks.cells;
	w.most_strays = CLAMP(STRAY_WINDOWS / (s->threads + 1), 4, MOST_STRAYS / 2);
	w.strays = g_array_new(FALSE, FALSE, sizeof(struct stray));
	observations_borrow(s->observed->observations, &w.uses->last,
	                    sizeof(struct variable_use) / sizeof(epoch));
	bool done = walk_all(&w, progress);
	lock_table_end(&s->locks);
	g_free(w.now);
	*uses = w.uses;
	*strays = w.strays;
	return done;
}
