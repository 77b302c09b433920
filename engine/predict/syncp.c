/*
 * syncp.c - sync-preserving races (Mathur, Pavlogiannis, Viswanathan, POPL 2021): races with
 * a witness in which critical sections on one lock keep their order.
 *
 * The closure of semantics.md is a prefix of each thread, so it is kept as one limit a
 * thread.  What program order, the must-orders and observation ask for is one row of clocks
 * (causality.h, without locks).  The rule for locks can only be broken by a section that
 * is open where a thread's prefix ends: all others have their release in the prefix.  So
 * growing a closure looks at the locks held at the ends of the prefixes, a handful, and
 * never at the events in between; the largest acquire of a lock below a limit is found by
 * binary search.
 *
 * Closures only grow along a thread, so two lists of accesses are compared with one
 * closure and two pointers that move forward.
 */
#include "engine/order/causality.h"
#include "engine/predict/candidates.h"
#include "engine/predict/pairs.h"

#include <string.h>

/* -- locks: who acquired when, and what is held where ------------------------------------- */

struct acquires { /* of one lock by one thread */
	uint32_t thread;
	GArray *all, *exclusive; /* uint32_t, ascending */
};
struct held { /* the locks held from one lock operation to the next: a list, shared tails */
	uint32_t acquire, outer; /* outer: index of the next one out, NONE */
};
struct change {               /* after this event the thread holds ... */
	uint32_t event, held; /* index, NONE for nothing */
};
struct lock_table {
	GArray **acquires; /* by object: struct acquires; or NULL */
	GArray **changes;  /* by thread: struct change */
	GArray *held;      /* struct held */
	uint64_t objects, threads;
};

static struct acquires *acquires_of(struct lock_table *l, uint32_t object, uint32_t thread)
{
	struct acquires fresh = { .thread = thread };
	GArray **list = &l->acquires[object];

	if (*list == NULL)
		*list = g_array_new(FALSE, FALSE, sizeof(struct acquires));
	for (guint i = 0; i < (*list)->len; i++) {
		if (g_array_index(*list, struct acquires, i).thread == thread)
			return &g_array_index(*list, struct acquires, i);
	}
	fresh.all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	fresh.exclusive = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(*list, fresh);
	return &g_array_index(*list, struct acquires, (*list)->len - 1);
}

/* The list without one acquire; what lies inside of it is copied. */
static uint32_t held_without(struct lock_table *l, uint32_t list, uint32_t acquire)
{
	struct held h;

	if (list == NONE)
		return NONE;
	h = g_array_index(l->held, struct held, list);
	if (h.acquire == acquire)
		return h.outer;
	h.outer = held_without(l, h.outer, acquire);
	g_array_append_val(l->held, h);
	return l->held->len - 1;
}

static void lock_event(struct lock_table *l, const struct trace *t, uint32_t e)
{
	const struct event *x = &t->events[e];
	GArray *changes = l->changes[x->thread];
	uint32_t now = NONE;
	struct change change = { e, NONE };

	if (changes->len > 0)
		now = g_array_index(changes, struct change, changes->len - 1).held;
	if (op_acquires(x->op)) {
		struct held h = { e, now };
		struct acquires *a = acquires_of(l, x->target, x->thread);

		change.held = l->held->len;
		g_array_append_val(l->held, h);
		g_array_append_val(a->all, e);
		if (x->op == OP_ACQ)
			g_array_append_val(a->exclusive, e);
	} else {
		change.held = held_without(l, now, t->index->partner[e]);
	}
	g_array_append_val(changes, change);
}

static struct lock_table *lock_table_new(const struct trace *t)
{
	struct lock_table *l = g_new0(struct lock_table, 1);

	l->objects = t->objects_count;
	l->threads = t->threads_count;
	l->acquires = g_new0(GArray *, l->objects + 1);
	l->changes = g_new0(GArray *, l->threads + 1);
	l->held = g_array_new(FALSE, FALSE, sizeof(struct held));
	for (uint64_t u = 0; u < l->threads; u++)
		l->changes[u] = g_array_new(FALSE, FALSE, sizeof(struct change));
	for (uint32_t e = 0; e < t->events_count; e++) {
		uint8_t op = t->events[e].op;

		if ((op_acquires(op) || op_releases(op)) && !event_inert(&t->events[e]))
			lock_event(l, t, e);
	}
	return l;
}

static void lock_table_free(struct lock_table *l)
{
	for (uint64_t o = 0; o < l->objects; o++) {
		for (guint i = 0; l->acquires[o] != NULL && i < l->acquires[o]->len; i++) {
			g_array_free(g_array_index(l->acquires[o], struct acquires, i).all,
			             TRUE);
			g_array_free(
			        g_array_index(l->acquires[o], struct acquires, i).exclusive,
			        TRUE);
		}
		if (l->acquires[o] != NULL)
			g_array_free(l->acquires[o], TRUE);
	}
	for (uint64_t u = 0; u < l->threads; u++)
		g_array_free(l->changes[u], TRUE);
	g_free(l->acquires);
	g_free(l->changes);
	g_array_free(l->held, TRUE);
	g_free(l);
}

/* What a thread holds where its prefix ends: index of l->held, or NONE. */
static uint32_t held_at(const struct lock_table *l, uint32_t thread, uint32_t limit)
{
	const GArray *changes = l->changes[thread];
	uint32_t low = 0, high = changes->len;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (g_array_index(changes, struct change, middle).event < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? NONE : g_array_index(changes, struct change, low - 1).held;
}

/* Is an event of the ascending list in (after, below)? */
static bool any_between(const GArray *list, uint32_t after, uint32_t below)
{
	uint32_t low = 0, high = list->len;

	if (below <= after || high == 0 || g_array_index(list, uint32_t, high - 1) <= after)
		return false;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (g_array_index(list, uint32_t, middle) <= after)
			low = middle + 1;
		else
			high = middle;
	}
	return g_array_index(list, uint32_t, low) < below;
}

/* -- the closure --------------------------------------------------------------------------- */

struct accesses;
struct syncp {
	struct trace *t;
	struct causality *observed;
	struct lock_table *locks;
	struct locksets *locksets;
	uint32_t threads;
	struct accesses *accesses;
};
struct closure {
	uint32_t *limits; /* by thread: events with a smaller id are in */
	uint32_t *held;   /* by thread: what is held there, as far as `held_for` says */
	uint32_t *held_for;
};

static void closure_init(struct closure *c, uint32_t threads)
{
	c->limits = g_new0(uint32_t, threads + 1);
	c->held = g_new(uint32_t, threads + 1);
	c->held_for = g_new0(uint32_t, threads + 1);
	memset(c->held, 255, (threads + 1) * sizeof(uint32_t));
}

static void closure_clear(struct closure *c, uint32_t threads)
{
	memset(c->limits, 0, threads * sizeof(uint32_t));
}

static void closure_copy(struct closure *to, const struct closure *from, uint32_t threads)
{
	memcpy(to->limits, from->limits, threads * sizeof(uint32_t));
	memcpy(to->held, from->held, threads * sizeof(uint32_t));
	memcpy(to->held_for, from->held_for, threads * sizeof(uint32_t));
}

static void closure_release(struct closure *c)
{
	g_free(c->limits);
	g_free(c->held);
	g_free(c->held_for);
}

/* Everything before `event` in its thread, or with `whole` it too, and what that asks for. */
static void take(const struct syncp *s, struct closure *c, uint32_t event, bool whole)
{
	const struct stretch *at = causality_stretch(s->observed, event);
	uint32_t thread = s->t->events[event].thread;

	if (at != NULL) {
		bool own = !whole && at->start == event;
		const uint32_t *row =
		        clocks_row(&s->observed->clocks, own ? at->unobserved : at->row);

		for (uint32_t u = 0; u < s->threads; u++)
			c->limits[u] = MAX(c->limits[u], row[u]);
	}
	c->limits[thread] = MAX(c->limits[thread], event + whole);
}

/* Is a later section on the lock, that this one excludes, begun in the closure? */
static bool overtaken(const struct syncp *s, const struct closure *c, uint32_t acquire)
{
	const struct event *x = &s->t->events[acquire];
	const GArray *list = s->locks->acquires[x->target];

	for (guint i = 0; i < list->len; i++) {
		const struct acquires *a = &g_array_index(list, struct acquires, i);

		if (a->thread != x->thread &&
		    any_between(x->op == OP_ACQ ? a->all : a->exclusive, acquire,
		                c->limits[a->thread]))
			return true;
	}
	return false;
}

/* Close under the rule for locks. */
static void close_locks(const struct syncp *s, struct closure *c)
{
	bool grown = true;

	while (grown) {
		grown = false;
		for (uint32_t u = 0; u < s->threads; u++) {
			if (c->held_for[u] != c->limits[u]) {
				c->held[u] = held_at(s->locks, u, c->limits[u]);
				c->held_for[u] = c->limits[u];
			}
			for (uint32_t h = c->held[u]; h != NONE;) {
				const struct held *held =
				        &g_array_index(s->locks->held, struct held, h);
				uint32_t release = s->t->index->partner[held->acquire];

				if (release != NONE && overtaken(s, c, held->acquire)) {
					take(s, c, release, true);
					grown = true;
				}
				h = held->outer;
			}
		}
	}
}

/* The closure's base for one access: what is before it. */
static void take_past(const struct syncp *s, struct closure *c, uint32_t event)
{
	take(s, c, event, false);
	close_locks(s, c);
}

static bool holds(const struct syncp *s, const struct closure *c, uint32_t event)
{
	return c->limits[s->t->events[event].thread] > event;
}

/* -- accesses of one variable by thread, kind and locks held --------------------------------
 */

/* What is looked at of an access, side by side for each variable: the events themselves lie
 * all over the trace. */
struct access {
	uint32_t event, lockset, site;
	uint16_t thread;
	bool writes, atomic;
};
struct accesses { /* of the variables that two threads access, one of them writing */
	struct access *items;
	uint64_t *start; /* by variable, one more than there are */
};

struct use {
	uint32_t thread, count; /* thread + 1; 0 none */
	bool threads, writes;
};

static void note_use(struct use *use, const struct event *x)
{
	use->threads |= use->thread != 0 && use->thread != x->thread + 1u;
	use->thread = x->thread + 1u;
	use->writes |= op_writes(x->op);
	use->count++;
}

static uint64_t *find_starts(const struct trace *t)
{
	struct use *uses = g_new0(struct use, t->variables_count + 1);
	uint64_t *start = g_new(uint64_t, t->variables_count + 2);

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct wide run;

		if (!op_is_access(x->op) || event_inert(x))
			continue;
		run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			note_use(&uses[v], x);
	}
	start[0] = 0;
	for (uint64_t v = 0; v < t->variables_count; v++)
		start[v + 1] =
		        start[v] + (uses[v].threads && uses[v].writes ? uses[v].count : 0);
	g_free(uses);
	return start;
}

static struct accesses accesses_new(const struct trace *t, const struct locksets *locksets)
{
	struct accesses a = { .start = find_starts(t) };
	uint64_t *next = g_memdup2(a.start, (t->variables_count + 1) * sizeof(uint64_t));

	a.items = g_new(struct access, a.start[t->variables_count] + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct wide run;

		if (!op_is_access(x->op) || event_inert(x))
			continue;
		run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			if (a.start[v] == a.start[v + 1])
				continue;
			a.items[next[v]++] =
			        (struct access){ .event = e,
				                 .lockset = lockset_at(locksets, e),
				                 .site = t->locations[x->location].site,
				                 .thread = x->thread,
				                 .writes = op_writes(x->op),
				                 .atomic = op_is_atomic(x->op) };
		}
	}
	g_free(next);
	return a;
}

struct class
{
	uint32_t lockset, site; /* site: 0 where it does not matter */
	uint16_t thread;
	bool writes, atomic;
	GArray *events; /* uint32_t, ascending */
};
struct classes {
	GArray *of; /* struct class; the first `count` are in use */
	uint32_t count;
};

static struct class *class_of(struct classes *c, const struct access *x, bool by_site)
{
	uint32_t site = by_site ? x->site : 0;
	struct class *class;

	for (uint32_t i = 0; i < c->count; i++) {
		class = &g_array_index(c->of, struct class, i);
		if (class->lockset == x->lockset && class->site == site &&
		    class->thread == x->thread && class->writes == x->writes &&
		    class->atomic == x->atomic)
			return class;
	}
	if (c->count == c->of->len) {
		struct class fresh = { .events = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };

		g_array_append_val(c->of, fresh);
	}
	class = &g_array_index(c->of, struct class, c->count++);
	g_array_set_size(class->events, 0);
	class->lockset = x->lockset;
	class->site = site;
	class->thread = x->thread;
	class->writes = x->writes;
	class->atomic = x->atomic;
	return class;
}

static bool may_race(const struct syncp *s, const struct class *a, const struct class *b)
{
	return a->thread != b->thread && (a->writes || b->writes) &&
	       !(a->atomic && b->atomic) &&
	       lockset_common(s->locksets, a->lockset, b->lockset) == NONE;
}

static void classes_release(struct classes *c)
{
	for (guint i = 0; i < c->of->len; i++)
		g_array_free(g_array_index(c->of, struct class, i).events, TRUE);
	g_array_free(c->of, TRUE);
}

/* The index of the first event of the list, from `begin` on, that is not below `limit`. */
static guint skip(const GArray *list, guint begin, uint32_t limit)
{
	guint low = begin, high = list->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(list, uint32_t, middle) < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* -- every pair ------------------------------------------------------------------------------
 */

struct all_pairs {
	struct syncp *s;
	struct report *report;
	struct closure *past; /* by thread: the closure of its last access looked at */
	struct closure both;
	uint32_t *stamp; /* by thread: variable + 1 that `past` is for */
};

static void add_pair(struct report *report, uint32_t e1, uint32_t e2)
{
	struct finding *f =
	        race_finding(report->trace, e1, e2, VERDICT_CANDIDATE, report->analysis);

	f->counted_all = true;
	report_add(report, f);
}

static void pairs_with(struct all_pairs *p, const struct class *class, uint32_t e2,
                       const struct closure *past, uint32_t variable)
{
	const struct syncp *s = p->s;
	guint i = skip(class->events, 0, past->limits[class->thread]);

	if (i == class->events->len)
		return;
	closure_copy(&p->both, past, s->threads);
	while (i < class->events->len) {
		uint32_t e1 = g_array_index(class->events, uint32_t, i);

		take_past(s, &p->both, e1);
		if (holds(s, &p->both, e2))
			break; /* and so for every later e1 */
		if (holds(s, &p->both, e1)) {
			i = skip(class->events, i + 1, p->both.limits[class->thread]);
			continue;
		}
		if (race_variable(s->t, e1, e2) == variable)
			add_pair(p->report, e1, e2);
		i++;
	}
}

static void variable_pairs(struct all_pairs *p, struct classes *c, uint32_t variable)
{
	const struct accesses *all = p->s->accesses;

	c->count = 0;
	for (uint64_t i = all->start[variable]; i < all->start[variable + 1]; i++) {
		const struct access *x = &all->items[i];
		struct class own = { .lockset = x->lockset,
			             .thread = x->thread,
			             .writes = x->writes,
			             .atomic = x->atomic };
		struct closure *past = &p->past[x->thread];

		if (past->limits == NULL)
			closure_init(past, p->s->threads);
		if (p->stamp[x->thread] != variable + 1)
			closure_clear(past, p->s->threads);
		p->stamp[x->thread] = variable + 1;
		take_past(p->s, past, x->event);
		for (uint32_t j = 0; j < c->count; j++) {
			const struct class *class = &g_array_index(c->of, struct class, j);

			if (may_race(p->s, class, &own))
				pairs_with(p, class, x->event, past, variable);
		}
		g_array_append_val(class_of(c, x, false)->events, x->event);
	}
}

static bool find_pairs(struct syncp *s, struct report *report, const struct progress *progress)
{
	struct all_pairs p = { s, report, g_new0(struct closure, s->threads + 1) };
	struct classes c = { g_array_new(FALSE, FALSE, sizeof(struct class)), 0 };
	bool done = true;

	p.stamp = g_new0(uint32_t, s->threads + 1);
	closure_init(&p.both, s->threads);
	for (uint32_t v = 0; v < s->t->variables_count && done; v++) {
		if ((v & 0xff) == 0)
			done = progress_tick(progress, (double)v / s->t->variables_count,
			                     "sync-preserving pairs");
		variable_pairs(&p, &c, v);
	}
	for (uint32_t u = 0; u < s->threads; u++)
		closure_release(&p.past[u]);
	g_free(p.past);
	closure_release(&p.both);
	g_free(p.stamp);
	classes_release(&c);
	return done;
}

/* -- pairs of sites ---------------------------------------------------------------------------
 */

/* A race between an access of one class and one of the other: one closure, two pointers.
 * Who is in the closure of two is in that of every later two. */
static bool classes_race(const struct syncp *s, struct closure *c, const struct class *a,
                         const struct class *b, uint32_t pair[2])
{
	guint i = 0, j = 0;

	closure_clear(c, s->threads);
	while (i < a->events->len && j < b->events->len) {
		uint32_t e = g_array_index(a->events, uint32_t, i);
		uint32_t f = g_array_index(b->events, uint32_t, j);
		bool e_in, f_in;

		take(s, c, e, false);
		take(s, c, f, false);
		close_locks(s, c);
		e_in = holds(s, c, e);
		f_in = holds(s, c, f);
		if (!e_in && !f_in) {
			pair[0] = MIN(e, f);
			pair[1] = MAX(e, f);
			return true;
		}
		if (e_in)
			i = skip(a->events, i + 1, c->limits[a->thread]);
		if (f_in)
			j = skip(b->events, j + 1, c->limits[b->thread]);
	}
	return false;
}

static uint32_t first_of(const struct class *class)
{
	return g_array_index(class->events, uint32_t, 0);
}

static void variable_sites(struct syncp *s, struct classes *c, struct closure *closure,
                           uint32_t variable, struct site_races *sites)
{
	const struct accesses *all = s->accesses;

	c->count = 0;
	for (uint64_t i = all->start[variable]; i < all->start[variable + 1]; i++)
		g_array_append_val(class_of(c, &all->items[i], true)->events,
		                   all->items[i].event);
	for (uint32_t i = 0; i < c->count; i++) {
		for (uint32_t j = 0; j < i; j++) {
			const struct class *a = &g_array_index(c->of, struct class, i);
			const struct class *b = &g_array_index(c->of, struct class, j);
			uint32_t pair[2];

			/* One race is enough for the variable at these sites. */
			if (may_race(s, a, b) &&
			    !site_races_has(sites, first_of(a), first_of(b), variable) &&
			    classes_race(s, closure, a, b, pair))
				site_races_add(sites, pair[0], pair[1], variable);
		}
	}
}

static bool find_sites(struct syncp *s, struct site_races *sites,
                       const struct progress *progress)
{
	struct classes c = { g_array_new(FALSE, FALSE, sizeof(struct class)), 0 };
	struct closure closure;
	bool done = true;

	closure_init(&closure, s->threads);
	for (uint32_t v = 0; v < s->t->variables_count && done; v++) {
		if ((v & 0xff) == 0)
			done = progress_tick(progress, (double)v / s->t->variables_count,
			                     "sync-preserving races");
		variable_sites(s, &c, &closure, v, sites);
	}
	closure_release(&closure);
	classes_release(&c);
	return done;
}

/* -- the analysis
 * ------------------------------------------------------------------------------ */

static bool closure_limits(void *context, uint32_t e1, uint32_t e2, uint32_t *limits)
{
	struct syncp *s = context;
	struct closure c;
	bool race;

	closure_init(&c, s->threads);
	take(s, &c, e1, false);
	take(s, &c, e2, false);
	close_locks(s, &c);
	race = !holds(s, &c, e1) && !holds(s, &c, e2);
	memcpy(limits, c.limits, s->threads * sizeof(uint32_t));
	closure_release(&c);
	return race;
}

static void syncp_release(struct syncp *s)
{
	if (s->locks != NULL)
		lock_table_free(s->locks);
	locksets_free(s->locksets);
	if (s->accesses != NULL) {
		g_free(s->accesses->items);
		g_free(s->accesses->start);
		g_free(s->accesses);
	}
	causality_free(s->observed);
}

/* False when cancelled. */
static bool syncp_init(struct syncp *s, struct trace *t, const struct progress *progress)
{
	*s = (struct syncp){ .t = t, .threads = (uint32_t)t->threads_count };
	if (!trace_need(t, INDEX_MATCH, progress))
		return false;
	s->observed = causality_walk(t, ORDER_KIND_OBSERVED, KEEP_STRETCHES, NULL, progress);
	if (s->observed == NULL)
		return false;
	s->locks = lock_table_new(t);
	s->locksets = locksets_new(t);
	s->accesses = g_new(struct accesses, 1);
	*s->accesses = accesses_new(t, s->locksets);
	return true;
}

bool syncp_sites(struct trace *t, struct site_races *races, const struct progress *progress)
{
	struct syncp s;
	bool done = syncp_init(&s, t, progress) && find_sites(&s, races, progress);

	syncp_release(&s);
	return done;
}

static bool run(struct syncp *s, const struct race_options *options, struct report *report,
                const struct progress *progress)
{
	struct site_races *sites = NULL;
	bool done;

	if (options->pairs_events) {
		done = find_pairs(s, report, progress);
	} else {
		sites = site_races_new(s->t, options);
		done = find_sites(s, sites, progress);
		site_races_report(sites, report, report->analysis);
	}
	report_keep_shard(report, options);
	report->candidates = report->findings->len;
	done = done && report_witnesses(report, options, sites, closure_limits, s, progress);
	site_races_free(sites);
	return done;
}

struct report *races_syncp(struct trace *t, const struct race_options *options,
                           const struct progress *progress, struct error *error)
{
	struct report *report = report_new(t, "syncp");
	struct syncp s;
	bool done = syncp_init(&s, t, progress) && run(&s, options, report, progress);

	syncp_release(&s);
	if (!done) {
		report_free(report);
		error_set(error, "", NULL, "cancelled");
		return NULL;
	}
	report_finish(report);
	return report;
}
