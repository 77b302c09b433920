/*
 * smt_run.c - the scheduler: runs a region's events in recorded order as far as the rules of
 * semantics.md permit.
 *
 * A complete run is a correct reordering. A stuck run yields a constraint for each blocked
 * thread. An event waits only for events that the rules or the chosen orders require before it
 * in every such reordering. Costs a pass over the region.
 */
#include "engine/base/search.h"
#include "engine/predict/smt/smt_private.h"

/* Values of `until` beside events: retry after the next step; never. */
enum { AGAIN = UINT32_MAX - 1, NEVER = UINT32_MAX - 2 };

struct lock_state {
	uint32_t stamp;
	uint32_t holder;                      /* exclusive: its acquire, or NONE */
	uint32_t readers;                     /* number of shared holders */
	uint32_t left_exclusive, left_shared; /* acquires of the region not yet run */
};
struct count_state {
	uint32_t stamp;
	int32_t count;
};
struct write_state {
	uint32_t stamp;
	uint32_t last; /* write, or NONE: initial */
	/* start of pending_read's list: earlier entries are irrelevant in this run */
	uint64_t past;
};

struct scheduler {
	uint32_t stamp;   /* marks the entries set in this run: others are initial */
	uint32_t prefix;  /* the events below have run, in their order */
	uint32_t *done;   /* by thread: number of events run */
	uint32_t *until;  /* by thread: the event its next one waits for, NONE: runnable */
	uint64_t *looked; /* by thread: number of steps when it was set to AGAIN */
	uint32_t *next;   /* by thread: its next event, NONE at the end of the region */
	struct lock_state *locks;
	struct count_state *counts;
	struct write_state *writes;
};

struct obstacle {
	uint32_t until;  /* event, AGAIN or NEVER */
	bool has_clause; /* otherwise an active order */
	struct clause clause;
};

struct scheduler *scheduler_new(const struct smt *s)
{
	struct scheduler *r = g_new0(struct scheduler, 1);

	r->done = g_new0(uint32_t, s->threads + 1);
	r->until = g_new0(uint32_t, s->threads + 1);
	r->looked = g_new0(uint64_t, s->threads + 1);
	r->next = g_new0(uint32_t, s->threads + 1);
	r->locks = g_new0(struct lock_state, s->t->objects_count + 1);
	r->counts = g_new0(struct count_state, s->t->objects_count + 1);
	r->writes = g_new0(struct write_state, s->t->variables_count + 1);
	return r;
}

void scheduler_free(struct scheduler *r)
{
	if (r == NULL)
		return;
	g_free(r->done);
	g_free(r->until);
	g_free(r->looked);
	g_free(r->next);
	g_free(r->locks);
	g_free(r->counts);
	g_free(r->writes);
	g_free(r);
}

/* Holders of the lock at the end of the recorded prefix. */
static void lock_after_prefix(struct smt *s, uint32_t object, struct lock_state *l)
{
	struct event_list list = event_list_at(&s->t->index->object_events, object);
	uint32_t prefix = s->scheduler->prefix;

	for (uint64_t i = event_list_before(list, prefix); i-- > 0; s->work++) {
		uint32_t a = list.items[i], release = s->t->index->partner[a];
		enum op op = (enum op)s->t->events[a].op;

		if (op_acquires(op) && (release == NONE || release >= prefix) &&
		    !past_exempt(s->options.exempt, a)) {
			if (op == OP_ACQ)
				l->holder = a;
			else
				l->readers++;
		}
		if ((op == OP_ACQ || op == OP_REL) && s->options.exempt == NULL)
			break; /* before it the lock was free */
	}
}

static struct lock_state *lock_at(struct smt *s, uint32_t object)
{
	struct lock_state *l = &s->scheduler->locks[object];

	if (l->stamp != s->scheduler->stamp) {
		*l = (struct lock_state){ .stamp = s->scheduler->stamp, .holder = NONE };
		lock_after_prefix(s, object, l);
	}
	return l;
}

static int32_t *count_at(struct smt *s, uint32_t object)
{
	struct count_state *c = &s->scheduler->counts[object];

	if (c->stamp == s->scheduler->stamp)
		return &c->count;
	*c = (struct count_state){ s->scheduler->stamp, s->t->objects[object].count };
	struct event_list list = event_list_at(&s->t->index->object_events, object);
	for (uint64_t i = event_list_before(list, s->scheduler->prefix); i-- > 0; s->work++) {
		enum op op = (enum op)s->t->events[list.items[i]].op;

		c->count += op_count(op);
	}
	return &c->count;
}

static struct write_state *write_at(struct smt *s, uint32_t variable)
{
	struct write_state *w = &s->scheduler->writes[variable];

	if (w->stamp == s->scheduler->stamp)
		return w;
	*w = (struct write_state){ .stamp = s->scheduler->stamp, .last = NONE };
	struct event_list list = event_list_at(&s->t->index->variable_events, variable);
	for (uint64_t i = event_list_before(list, s->scheduler->prefix); i-- > 0; s->work++) {
		if (op_writes(s->t->events[list.items[i]].op)) {
			w->last = list.items[i];
			break;
		}
	}
	return w;
}

static uint32_t last_write(struct smt *s, uint32_t variable)
{
	return write_at(s, variable)->last;
}

static void set_last_write(struct smt *s, uint32_t variable, uint32_t e)
{
	struct write_state *w = write_at(s, variable);

	w->last = e;
	if (!s->options.use_values)
		w->past = 0; /* the list is another */
}

static bool executed(const struct smt *s, uint32_t e)
{
	return cut_has(s->t, s->scheduler->done, e);
}

static bool to_come(const struct smt_query *q, uint32_t e)
{
	return cut_has(q->s->t, q->cut, e) && !executed(q->s, e);
}

static bool wait_for(struct obstacle *o, uint32_t until)
{
	*o = (struct obstacle){ .until = until };
	return true;
}

static bool wait_because(struct obstacle *o, uint32_t until, enum clause_kind kind, uint32_t a,
                         uint32_t b, uint32_t c)
{
	*o = (struct obstacle){ until, true, { kind, { a, b, c } } };
	return true;
}

/* Must-orders, and the wait before its waker where the wake is in the region. */
static bool blocked_by_must(const struct smt_query *q, uint32_t e, struct obstacle *o)
{
	const struct trace *t = q->s->t;
	struct must_sources sources = must_sources(t, e);
	struct must_edge edge;

	while (must_sources_next(&sources, &edge)) {
		if (executed(q->s, edge.before))
			continue;
		if (edge.condition != NONE) {
			if (cut_has(t, q->cut, edge.condition))
				return wait_because(o, edge.before, CLAUSE_CONDITION,
				                    edge.before, e, edge.condition);
		} else if (past_edge_counts(q->s->past, &edge)) {
			return wait_for(o, edge.before);
		}
	}
	return false;
}

static bool blocked_by_choice(const struct smt_query *q, uint32_t e, struct obstacle *o)
{
	const struct order_edge *edges = (const void *)q->chosen->data;
	guint low = search_end(i, 0, q->chosen->len, edges[i].after < e);
	for (; low < q->chosen->len && edges[low].after == e; low++) {
		if (!executed(q->s, edges[low].before))
			return wait_for(o, edges[low].before);
	}
	return false;
}

/* The write that a read must read from in this run. */
static uint32_t source_of(const struct smt_query *q, uint32_t r, uint32_t variable)
{
	gpointer source;

	if (q->sources != NULL &&
	    g_hash_table_lookup_extended(q->sources, GUINT_TO_POINTER(r + 1), NULL, &source))
		return GPOINTER_TO_UINT(source) - 1;
	return seen_write(q->s->t, r, variable);
}

static bool blocked_as_read(const struct smt_query *q, uint32_t e, struct obstacle *o)
{
	struct smt *s = q->s;
	struct wide run = event_variables(s->t, &s->t->events[e]);

	if (past_exempt(s->options.exempt, e) || query_unobserved(q, e))
		return false;
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		uint32_t source = source_of(q, e, v);
		bool coming = source != NONE && to_come(q, source);

		if (!has_choice(s, e)) {
			if (coming)
				return wait_for(o, source);
			continue;
		}
		if (may_see(s, e, v, seen_write(s->t, e, v), last_write(s, v)))
			continue;
		return wait_because(o, AGAIN, CLAUSE_SOURCE, e, 0,
		                    0); /* any write of it will do */
	}
	return false;
}

/* The possible reads of the variable's current value: up to the next write in the trace,
 * which may be a read, too (an RMW). */
static struct event_list readers_now(const struct smt *s, uint32_t variable, uint32_t last)
{
	struct event_list list = event_list_at(&s->t->index->variable_events, variable);

	if (s->options.use_values || last == NONE)
		return list;
	uint64_t from = event_list_before(list, last) + 1;
	return (struct event_list){ list.items + from, list.count - from };
}

/* Is event `r` outstanding, and does it read and observe the variable? */
static bool observes(const struct smt_query *q, uint32_t r, uint32_t variable)
{
	const struct trace *t = q->s->t;

	/* a wide read may see the write in other variables only */
	return op_reads(t->events[r].op) && to_come(q, r) &&
	       variable - event_variables(t, &t->events[r]).first <
	               event_variables(t, &t->events[r]).count &&
	       !past_exempt(q->s->options.exempt, r) && !query_unobserved(q, r);
}

/* An outstanding read of the variable's current value, which the write `e` would overwrite. */
static uint32_t pending_read(const struct smt_query *q, uint32_t e, uint32_t variable,
                             uint32_t *source)
{
	struct smt *s = q->s;
	struct write_state *w = write_at(s, variable);
	struct event_list list = readers_now(s, variable, w->last);
	bool done = false;

	for (uint64_t i = w->past; i < list.count && !done; i++) {
		uint32_t r = list.items[i];

		s->work++;
		done = !s->options.use_values && op_writes(s->t->events[r].op);
		if (!observes(q, r, variable)) {
			/* a write that has run does not come again */
			w->past += i == w->past && !done;
			continue;
		}
		if (r == e)
			continue;
		*source = source_of(q, r, variable);
		if (!s->options.use_values) {
			if (*source == w->last)
				return r;
			continue;
		}
		if (*source != NONE && !executed(s, *source))
			continue;
		if (has_choice(s, r) &&
		    may_see(s, r, variable, seen_write(s->t, r, variable), e))
			continue;
		return r;
	}
	return NONE;
}

static bool blocked_as_write(const struct smt_query *q, uint32_t e, struct obstacle *o)
{
	struct wide run = event_variables(q->s->t, &q->s->t->events[e]);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		uint32_t source = NONE, r = pending_read(q, e, v, &source);

		if (r != NONE)
			return wait_because(o, r, CLAUSE_READ, r, source, e);
	}
	return false;
}

static bool blocked_by_section(const struct smt_query *q, uint32_t a, uint32_t e,
                               struct obstacle *o)
{
	uint32_t release = q->s->t->index->partner[a];

	if (release == NONE || !cut_has(q->s->t, q->cut, release))
		release = NEVER;
	return wait_because(o, release, CLAUSE_SECTIONS, MIN(a, e), MAX(a, e), 0);
}

/* An acquire that excludes e's section, in the given state. */
static uint32_t rival(const struct smt_query *q, uint32_t e, bool held)
{
	const struct trace *t = q->s->t;
	struct event_list list = event_list_at(&t->index->object_events, t->events[e].target);

	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t a = list.items[i], r;

		q->s->work++;
		if (!op_acquires(t->events[a].op) || !sections_exclude(t, a, e) ||
		    past_exempt(q->s->options.exempt, a))
			continue;
		r = t->index->partner[a];
		if (held ? executed(q->s, a) && (r == NONE || !executed(q->s, r))
		         : to_come(q, a))
			return a;
	}
	return NONE;
}

static bool blocked_as_acquire(const struct smt_query *q, uint32_t e, struct obstacle *o)
{
	const struct trace *t = q->s->t;
	struct lock_state *l = lock_at(q->s, t->events[e].target);
	bool exclusive = t->events[e].op == OP_ACQ;
	uint32_t release = t->index->partner[e], a = NONE;

	if (past_exempt(q->s->options.exempt, e))
		return false;
	if (l->holder != NONE)
		return blocked_by_section(q, l->holder, e, o);
	if (exclusive && l->readers > 0) {
		a = rival(q, e, true);
		if (a != NONE)
			return blocked_by_section(q, a, e, o);
	}
	/* a section that stays open comes after all others */
	if ((release == NONE || !cut_has(t, q->cut, release)) &&
	    (l->left_exclusive > exclusive || (exclusive && l->left_shared > 0))) {
		a = rival(q, e, false);
		if (a != NONE)
			return blocked_by_section(q, a, e, o);
	}
	return false;
}

static bool blocked_as_try(const struct smt_query *q, uint32_t e, struct obstacle *o)
{
	uint8_t needs = q->s->needs[e] & NEED_OF_TRY;

	if (needs == 0)
		return false;
	if (needs == NEED_DESTROYED)
		return !executed(q->s, tries_observed(q->s->tries, e).items[0]) &&
		       wait_because(o, AGAIN, CLAUSE_TRY, e, 0, 0);
	const struct lock_state *l = lock_at(q->s, q->s->t->events[e].target);
	if (l->holder != NONE || (needs == NEED_ANY_HOLDER && l->readers > 0))
		return false;
	return wait_because(o, AGAIN, CLAUSE_TRY, e, 0, 0);
}

static bool blocked_as_take_try(const struct smt_query *q, uint32_t e, struct obstacle *o)
{
	if (!(q->s->needs[e] & NEED_EMPTY) || *count_at(q->s, q->s->t->events[e].target) == 0)
		return false;
	return wait_because(o, AGAIN, CLAUSE_EMPTY, e, 0, 0);
}

static bool blocked_by_list(const struct smt_query *q, uint32_t e, struct event_list list,
                            bool earlier, struct obstacle *o)
{
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t f = list.items[i];

		q->s->work++;
		if (f != e && (!earlier || f < e) && to_come(q, f))
			return wait_because(o, f, CLAUSE_CONDITION, f, e, f);
	}
	return false;
}

static bool blocked_as_free(const struct smt_query *q, uint32_t e, struct obstacle *o)
{
	uint32_t block = q->s->t->events[e].target;

	if (block == NONE)
		return false;
	return blocked_by_list(q, e, event_list_at(&q->s->block_accesses, block), false, o);
}

static bool blocked_as_destroy(const struct smt_query *q, uint32_t e, struct obstacle *o)
{
	const struct trace *t = q->s->t;

	return blocked_by_list(
	        q, e, event_list_at(&t->index->object_events, t->events[e].target), true, o);
}

static bool blocked_as_rmw(const struct smt_query *q, uint32_t e, struct obstacle *o)
{
	return blocked_as_read(q, e, o) || blocked_as_write(q, e, o);
}

typedef bool blocked_test(const struct smt_query *q, uint32_t e, struct obstacle *o);
static blocked_test *const tests[OP_COUNT] = {
	[OP_READ] = blocked_as_read,
	[OP_AREAD] = blocked_as_read,
	[OP_WRITE] = blocked_as_write,
	[OP_AWRITE] = blocked_as_write,
	[OP_RMW] = blocked_as_rmw,
	[OP_ACQ] = blocked_as_acquire,
	[OP_RACQ] = blocked_as_acquire,
	[OP_TRYFAIL] = blocked_as_try,
	[OP_TAKETRYFAIL] = blocked_as_take_try,
	[OP_FREE] = blocked_as_free,
	[OP_DESTROY] = blocked_as_destroy,
};

static bool blocked(const struct smt_query *q, uint32_t e, struct obstacle *o)
{
	const struct event *x = &q->s->t->events[e];

	if (q->chosen->len > 0 && blocked_by_choice(q, e, o))
		return true;
	if ((q->s->needs[e] & NEED_MUST) && blocked_by_must(q, e, o))
		return true;
	if (event_inert(x))
		return false;
	return tests[x->op] != NULL && tests[x->op](q, e, o);
}

static void execute(struct smt_query *q, uint32_t e)
{
	struct smt *s = q->s;
	const struct event *x = &s->t->events[e];

	s->scheduler->done[x->thread]++;
	g_array_append_val(q->sequence, e);
	if (event_inert(x))
		return;
	if (op_is_access(x->op)) {
		struct wide run = event_variables(s->t, x);

		for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
			set_last_write(s, v, e);
	} else if (op_acquires(x->op) || op_releases(x->op)) {
		struct lock_state *l = lock_at(s, x->target);

		if (past_exempt(s->options.exempt, e))
			return;
		switch (x->op) {
		case OP_ACQ:
			l->holder = e;
			l->left_exclusive--;
			break;
		case OP_REL:
			l->holder = NONE;
			break;
		case OP_RACQ:
			l->readers++;
			l->left_shared--;
			break;
		default:
			l->readers -= l->readers > 0;
		}
	} else if (op_count(x->op)) {
		*count_at(s, x->target) += x->op == OP_POST ? 1 : -1;
	}
}

static void start(struct smt_query *q, uint32_t prefix)
{
	struct smt *s = q->s;
	const struct trace *t = s->t;
	struct scheduler *r = s->scheduler;

	r->stamp++;
	r->prefix = prefix;
	g_array_set_size(q->sequence, 0);
	for (uint32_t u = 0; u < s->threads; u++) {
		struct event_list list = trace_thread_events(t, u);

		r->done[u] = prefix == 0 ? 0 : (uint32_t)event_list_before(list, prefix);
		r->until[u] = NONE;
		r->next[u] = r->done[u] < q->cut[u] ? list.items[r->done[u]] : NONE;
		for (uint32_t i = r->done[u]; i < q->cut[u]; i++) {
			const struct event *e = &t->events[list.items[i]];

			if (!op_acquires(e->op) || event_inert(e) ||
			    past_exempt(s->options.exempt, list.items[i]))
				continue;
			if (e->op == OP_ACQ)
				lock_at(s, e->target)->left_exclusive++;
			else
				lock_at(s, e->target)->left_shared++;
		}
	}
}

static bool ready(const struct smt *s, uint32_t u, uint64_t steps)
{
	const struct scheduler *r = s->scheduler;

	if (r->next[u] == NONE || r->until[u] == NEVER)
		return false;
	if (r->until[u] == AGAIN)
		return steps > r->looked[u];
	return r->until[u] == NONE || executed(s, r->until[u]);
}

/* The runnable thread whose next event is the earliest in the trace; *limit: the next event of
 * the second. */
static uint32_t pick(const struct smt *s, uint64_t steps, uint32_t *limit)
{
	const struct scheduler *r = s->scheduler;
	uint32_t best = NONE, best_event = NONE;

	*limit = NONE;
	for (uint32_t u = 0; u < s->threads; u++) {
		uint32_t e = r->next[u];

		if (!ready(s, u, steps))
			continue;
		if (e < best_event) {
			*limit = best_event;
			best = u;
			best_event = e;
		} else if (e < *limit) {
			*limit = e;
		}
	}
	return best;
}

/* Does a thread wait for event `e`, or retry? */
static bool awaited(const struct smt *s, uint32_t e)
{
	for (uint32_t u = 0; u < s->threads; u++) {
		if (s->scheduler->until[u] == e || s->scheduler->until[u] == AGAIN)
			return true;
	}
	return false;
}

/* Run one event of thread u; false when it must wait. *waiting: number of waiting threads. */
static bool advance(struct smt_query *q, uint32_t u, uint64_t steps, uint32_t *waiting)
{
	const struct smt *s = q->s;
	struct scheduler *r = s->scheduler;
	uint32_t e = r->next[u];
	struct obstacle o;

	*waiting -= r->until[u] != NONE;
	r->until[u] = NONE;
	if (blocked(q, e, &o)) {
		r->until[u] = o.until;
		r->looked[u] = steps;
		++*waiting;
		return false;
	}
	execute(q, e);
	r->next[u] =
	        r->done[u] < q->cut[u] ? trace_thread_events(s->t, u).items[r->done[u]] : NONE;
	return true;
}

static uint32_t report_obstacles(struct smt_query *q)
{
	uint32_t fresh = 0;

	for (uint32_t u = 0; u < q->s->threads; u++) {
		uint32_t e = q->s->scheduler->next[u];
		struct obstacle o;

		if (e != NONE && blocked(q, e, &o) && o.has_clause)
			fresh += query_add(q, o.clause);
	}
	return fresh;
}

/* Prepend the prefix to the sequence. */
static void put_prefix(struct smt_query *q, uint32_t prefix)
{
	g_autofree uint32_t *ids = g_new(uint32_t, prefix + 1);

	for (uint32_t e = 0; e < prefix; e++)
		ids[e] = e;
	g_array_prepend_vals(q->sequence, ids, prefix);
}

bool scheduler_run(struct smt_query *q, uint32_t prefix, uint32_t *fresh)
{
	struct smt *s = q->s;
	uint64_t total = 0, steps = 0;
	uint32_t waiting = 0, limit, u;

	if (query_stopped(q))
		return false;
	start(q, prefix);
	for (u = 0; u < s->threads; u++)
		total += q->cut[u] - s->scheduler->done[u];
	s->work += prefix + total; /* put_prefix copies it */
	while (steps < total && !query_stopped(q) && (u = pick(s, steps, &limit)) != NONE) {
		uint32_t e;

		do {
			e = s->scheduler->next[u];
			if (!advance(q, u, steps, &waiting))
				break;
			steps++;
			s->work++;
		} while (s->scheduler->next[u] < limit && (waiting == 0 || !awaited(s, e)) &&
		         !query_stopped(q));
	}
	if (q->stopped)
		return false;
	*fresh = steps == total ? 0 : report_obstacles(q);
	if (steps == total && prefix > 0)
		put_prefix(q, prefix);
	return steps == total;
}
