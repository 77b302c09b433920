/*
 * syncp.c - sync-preserving races (Mathur, Pavlogiannis, Viswanathan, POPL 2021): races with a
 * witness that keeps the order of critical sections of each lock.
 *
 * The closure of semantics.md is a prefix of each thread, stored as a limit for each. The
 * requirements of program order, must-orders and observation are a vector clock (causality.h,
 * without locks). The rule for locks is only violated by sections open at the end of a prefix,
 * since others have their release in it. So a closure step examines the few locks held at the
 * ends, and finds the last acquire of a lock before a limit by binary search.
 *
 * Closures are monotone along a thread, so two lists of accesses are compared with one closure
 * and two advancing pointers. Most pairs are decided by vector clocks alone.
 */
#include "engine/base/search.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/predict/syncp/syncp_private.h"
#include "engine/predict/predict_private.h"

#include <stdlib.h>
#include <string.h>

/* Is an event of an ascending list in (after, below)? */
static bool any_between(const uint32_t *events, uint32_t count, uint32_t after, uint32_t below)
{
	if (below <= after || count == 0 || events[count - 1] <= after)
		return false;
	return events[search_end(i, 0u, count, events[i] <= after)] < below;
}

/* -- the closure --------------------------------------------------------------------------- */

struct closure {
	uint32_t *limits; /* by thread: events with smaller ids are included */
	uint32_t *held;   /* by thread: locks held at the end, valid for `held_for` */
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

/* A component of the vector clock of an access, without its own observation. */
static uint32_t time_of(const struct syncp *s, const struct access *x, uint32_t thread)
{
	return clocks_time(&s->observed->clocks, x->clock, thread);
}

static void join_clock(const struct syncp *s, struct closure *c, uint32_t clock)
{
	clocks_join_into(&s->observed->clocks, clock, c->limits);
}

/* Join everything before an access in its thread, and its requirements. */
static void take(const struct syncp *s, struct closure *c, const struct access *x)
{
	join_clock(s, c, x->clock);
	c->limits[x->thread] = MAX(c->limits[x->thread], x->event);
}

/* Join an event of a thread and everything before it. (The thread is not looked up in the
 * trace, whose events may have to be decoded.) */
static void take_whole(const struct syncp *s, struct closure *c, uint32_t event,
                       uint32_t thread)
{
	const struct sync_region *at = regions_find(&s->observed->regions[thread], event);

	if (at != NULL)
		join_clock(s, c, at->clock);
	c->limits[thread] = MAX(c->limits[thread], event + 1);
}

/* Did another thread acquire a lock (object * 2 + exclusive) after an event, in the closure? */
static bool acquired_after(const struct syncp *s, const struct closure *c, uint32_t lock,
                           uint32_t event, uint32_t thread)
{
	const struct lock_table *l = &s->locks;

	for (uint32_t i = l->first[lock]; i != NONE; i = l->acquires[i].next) {
		const struct acquires *a = &l->acquires[i];

		if (a->thread != thread &&
		    any_between(l->events + a->start, a->count, event, c->limits[a->thread]))
			return true;
	}
	return false;
}

/* Does the closure have a later section on the lock that this one excludes? */
static bool overtaken(const struct syncp *s, const struct closure *c, const struct section *x,
                      uint32_t thread)
{
	return acquired_after(s, c, x->lock | 1, x->acquire, thread) ||
	       ((x->lock & 1) && acquired_after(s, c, x->lock & ~1u, x->acquire, thread));
}

/* Close the sections held at the end of a thread's prefix; true when the closure grew. */
static bool close_held(const struct syncp *s, struct closure *c, uint32_t thread)
{
	const struct section_list *list = &s->locks.of[thread];
	bool grown = false;

	for (uint32_t h = c->held[thread]; h != NONE; h = list->items[h].outer) {
		uint32_t release = section_release(list, h);

		if (release != NONE && release >= c->limits[thread] &&
		    overtaken(s, c, &list->items[h], thread)) {
			take_whole(s, c, release, thread);
			grown = true;
		}
	}
	return grown;
}

/* Close under the rule for locks. */
static void close_locks(const struct syncp *s, struct closure *c)
{
	bool grown = true;

	while (grown) {
		grown = false;
		for (uint32_t u = 0; u < s->threads; u++) {
			if (c->held_for[u] != c->limits[u]) {
				c->held[u] = lock_table_held(&s->locks, u, c->limits[u]);
				c->held_for[u] = c->limits[u];
			}
			grown |= close_held(s, c, u);
		}
	}
}

/* Count a closure; false when the budget is spent. */
static bool closure_paid(const struct syncp *s)
{
	return effort_more(s->effort, 2 + s->threads / 4);
}

static bool holds(const struct closure *c, const struct access *x)
{
	return c->limits[x->thread] > x->event;
}

/* -- classes of accesses ------------------------------------------------------------------- */

/* Index of the first member from `begin` on at or after `limit`. */
static uint32_t skip(const struct access_class *class, uint32_t begin, uint32_t limit)
{
	return search_end(i, begin, class->count, class->members[i]->event < limit);
}

/* -- every pair ---------------------------------------------------------------------------- */

struct all_pairs {
	struct syncp *s;
	struct report *report;
	struct closure *past; /* by thread: closure of its last access */
	struct closure both;
	uint32_t *stamp; /* by thread: variable + 1 of `past` */
};

static void add_pair(struct report *report, uint32_t e1, uint32_t e2)
{
	struct finding *f =
	        race_finding(report->trace, e1, e2, VERDICT_CANDIDATE, report->analysis);

	f->counted_all = true;
	report_add(report, f);
}

static void pairs_with(struct all_pairs *p, const struct access_class *class, uint32_t i,
                       const struct access *second, const struct closure *past,
                       uint32_t variable)
{
	const struct syncp *s = p->s;

	i = skip(class, i, past->limits[class->thread]);
	if (i == class->count)
		return;
	closure_copy(&p->both, past, s->threads);
	while (i < class->count && closure_paid(s)) {
		const struct access *first = class->members[i];

		take(s, &p->both, first);
		close_locks(s, &p->both);
		if (holds(&p->both, second))
			break; /* and so it is for every later `first` */
		if (holds(&p->both, first)) {
			i = skip(class, i + 1, p->both.limits[class->thread]);
			continue;
		}
		if (race_variable(s->t, first->event, second->event) == variable)
			add_pair(p->report, first->event, second->event);
		i++;
	}
}

/* Compare one access with all earlier ones. */
static void access_pairs(struct all_pairs *p, struct access_classes *c,
                         const struct access_class *own, const struct access *x,
                         uint32_t variable)
{
	const struct syncp *s = p->s;
	struct closure *past = &p->past[x->thread];
	bool closed = false;

	if (past->limits == NULL)
		closure_init(past, s->threads);
	if (p->stamp[x->thread] != variable + 1)
		closure_clear(past, s->threads);
	p->stamp[x->thread] = variable + 1;
	for (uint32_t j = 0; j < c->count && effort_more(s->effort, 1); j++) {
		const struct access_class *class = &c->of[j];

		if (!access_classes_may_race(c, class, own))
			continue;
		uint32_t i = skip(class, 0, time_of(s, x, class->thread));
		if (i == class->count)
			continue;
		if (!closed) {
			take(s, past, x);
			close_locks(s, past);
			closed = true;
		}
		pairs_with(p, class, i, x, past, variable);
	}
}

static void variable_pairs(struct all_pairs *p, struct access_classes *c, uint32_t index)
{
	const struct accesses *all = &p->s->accesses;

	access_classes_of(c, all, index, false);
	/* an access is compared with earlier members only */
	for (uint32_t j = 0; j < c->count; j++)
		c->of[j].count = 0;
	for (uint64_t i = all->start[index]; i < all->start[index + 1] && !p->s->effort->over;
	     i++) {
		struct access_class *own = &c->of[c->number[i - all->start[index]]];

		access_pairs(p, c, own, &all->items[i], all->variables[index]);
		own->count++;
	}
}

static bool find_pairs(struct syncp *s, struct report *report, const struct progress *progress)
{
	struct all_pairs p = { s, report, g_new0(struct closure, s->threads + 1) };
	struct access_classes c;
	bool done = true;

	access_classes_init(&c, s->locksets);
	p.stamp = g_new0(uint32_t, s->threads + 1);
	closure_init(&p.both, s->threads);
	for (uint32_t i = 0; i < s->accesses.count && done && !s->effort->over; i++) {
		if ((i & 0xff) == 0)
			done = progress_tick(progress, (double)i / s->accesses.count,
			                     "sync-preserving pairs");
		variable_pairs(&p, &c, i);
	}
	for (uint32_t u = 0; u < s->threads; u++)
		closure_release(&p.past[u]);
	g_free(p.past);
	closure_release(&p.both);
	g_free(p.stamp);
	access_classes_release(&c);
	return done;
}

/* -- pairs of sites ------------------------------------------------------------------------ */

/* Find a race between two classes with one closure and two pointers: an access in the closure
 * of a pair is in those of all later pairs. */
static bool classes_race(const struct syncp *s, struct closure *c, const struct access_class *a,
                         const struct access_class *b, uint32_t pair[2])
{
	uint32_t i = 0, j = 0;

	closure_clear(c, s->threads);
	while (i < a->count && j < b->count && effort_more(s->effort, 2)) {
		const struct access *e = a->members[i], *f = b->members[j];
		uint32_t e_knows = time_of(s, e, f->thread), f_knows = time_of(s, f, e->thread);

		/* Accesses ordered by vector clocks need no closure. */
		if (e_knows <= f->event && f_knows <= e->event) {
			if (!closure_paid(s))
				return false;
			take(s, c, e);
			take(s, c, f);
			close_locks(s, c);
			e_knows = c->limits[f->thread];
			f_knows = c->limits[e->thread];
		}
		if (e_knows <= f->event && f_knows <= e->event) {
			pair[0] = MIN(e->event, f->event);
			pair[1] = MAX(e->event, f->event);
			return true;
		}
		if (f_knows > e->event)
			i = skip(a, i + 1, f_knows);
		if (e_knows > f->event)
			j = skip(b, j + 1, e_knows);
	}
	return false;
}

static int by_site(const void *a, const void *b)
{
	const struct access_class *x = *(void *const *)a, *y = *(void *const *)b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return x->members[0]->event < y->members[0]->event ? -1 : x != y;
}

/* The classes of two sites, each from its first access on. */
struct two_sites {
	const struct access_class *const *of[2];
	uint32_t count[2];
	bool same;
};

/* The race of two sites with the earliest later access: two classes have none before both of
 * their first accesses.  False: they do not race. */
static bool first_race(const struct syncp *s, struct access_classes *c, struct closure *closure,
                       const struct two_sites *t, uint32_t first[2])
{
	uint32_t pair[2];

	first[1] = NONE;
	for (uint32_t i = 0; i < t->count[0]; i++) {
		const struct access_class *a = t->of[0][i];
		uint32_t others = t->same ? i : t->count[1];

		if (a->members[0]->event >= first[1])
			break;
		for (uint32_t j = 0; j < others && effort_more(s->effort, 1); j++) {
			const struct access_class *b = t->of[1][j];

			if (b->members[0]->event >= first[1])
				break;
			if (!access_classes_may_race(c, a, b) ||
			    !classes_race(s, closure, a, b, pair) || pair[1] >= first[1])
				continue;
			first[0] = pair[0];
			first[1] = pair[1];
		}
	}
	return first[1] != NONE;
}

static void variable_sites(struct syncp *s, struct access_classes *c, struct closure *closure,
                           uint32_t index, struct site_races *sites)
{
	uint32_t variable = s->accesses.variables[index], first[2];

	access_classes_of(c, &s->accesses, index, true);
	g_autofree const struct access_class **by =
	        g_new(const struct access_class *, c->count + 1);
	uint32_t *start = g_new(uint32_t, c->count + 1), starts = 0;
	for (uint32_t i = 0; i < c->count; i++)
		by[i] = &c->of[i];
	qsort(by, c->count, sizeof *by, by_site);
	for (uint32_t i = 0; i < c->count; i++) {
		if (i == 0 || by[i]->site != by[i - 1]->site)
			start[starts++] = i;
	}
	start[starts] = c->count;
	for (uint32_t one = 0; one < starts; one++) {
		for (uint32_t other = 0; other <= one && effort_more(s->effort, 1); other++) {
			struct two_sites two = {
				{ by + start[one], by + start[other] },
				{ start[one + 1] - start[one],
				  start[other + 1] - start[other] },
				one == other,
			};

			if (first_race(s, c, closure, &two, first))
				site_races_add(sites, first[0], first[1], variable);
		}
	}
	g_free(start);
}

static bool find_sites(struct syncp *s, struct site_races *sites,
                       const struct progress *progress)
{
	struct access_classes c;
	struct closure closure;
	bool done = true;

	access_classes_init(&c, s->locksets);
	closure_init(&closure, s->threads);
	for (uint32_t i = 0; i < s->accesses.count && done && !s->effort->over; i++) {
		if ((i & 0xff) == 0)
			done = progress_tick(progress, (double)i / s->accesses.count,
			                     "sync-preserving races");
		variable_sites(s, &c, &closure, i, sites);
	}
	closure_release(&closure);
	access_classes_release(&c);
	return done;
}

/* -- the analysis -------------------------------------------------------------------------- */

/* Join everything before an event, without its own observation. */
static void take_past(const struct syncp *s, struct closure *c, uint32_t event)
{
	uint32_t thread = s->t->events[event].thread;

	join_clock(s, c, region_past(causality_region(s->observed, event), event));
	c->limits[thread] = MAX(c->limits[thread], event);
}

static bool closure_limits(void *context, uint32_t e1, uint32_t e2, uint32_t *limits)
{
	struct syncp *s = context;
	struct closure c;

	closure_init(&c, s->threads);
	take_past(s, &c, e1);
	take_past(s, &c, e2);
	close_locks(s, &c);
	memcpy(limits, c.limits, s->threads * sizeof(uint32_t));
	closure_release(&c);
	return limits[s->t->events[e1].thread] <= e1 && limits[s->t->events[e2].thread] <= e2;
}

static void syncp_release(struct syncp *s)
{
	syncp_walk_release(s);
	accesses_free(&s->accesses);
}

/* False when cancelled. */
static bool syncp_init(struct syncp *s, struct trace *t, struct effort *effort,
                       const struct progress *progress)
{
	*s = (struct syncp){ .t = t, .threads = (uint32_t)t->threads_count, .effort = effort };
	return syncp_collect(s, progress);
}

bool syncp_sites(struct trace *t, struct site_races *races, const struct progress *progress)
{
	struct effort unbounded = { .free_work = UINT64_MAX, .next_look = UINT64_MAX };
	struct syncp s;
	bool done = syncp_init(&s, t, &unbounded, progress) && find_sites(&s, races, progress);

	syncp_release(&s);
	return done;
}

/* The cause of a failed try is kept as recorded, although another might do. */
static void note_failed_tries(const struct trace *t, struct report *report)
{
	if (trace_has(t, OPERATION(OP_TRYFAIL) |
	                         OPERATION(OP_TAKETRYFAIL))) /* no number in the note: notes
	                                                      * of shards are merged */
		report_note(
		        report,
		        "approximate: failed tries are kept to the sections and counts that "
		        "made them fail in the trace; a race that needs others is missed");
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
	done = done && report_witnesses(s->t, report, options, sites, closure_limits, s,
	                                s->effort, progress);
	site_races_free(sites);
	if (s->effort->over)
		report_note_effort(report, options);
	note_failed_tries(s->t, report);
	return done;
}

struct report *races_syncp(struct trace *t, const struct race_options *options,
                           const struct progress *progress, struct error *error)
{
	struct report *report = report_new(t, "syncp");
	struct effort effort;
	struct syncp s;

	effort_init(&effort, t->events_count, options);
	bool done = syncp_init(&s, t, &effort, progress) && run(&s, options, report, progress);
	syncp_release(&s);
	if (!done) {
		report_free(report);
		error_cancelled(error);
		return NULL;
	}
	report_finish(report);
	report_open(report,
	            "orders in which critical sections of one lock change places are not "
	            "looked at ('--analysis auto': every one)");
	return report;
}
