/*
 * cone.c - the causal order of a trace and the cones of pairs; see cone.h.
 *
 * A vector clock changes only at edges from other threads, and then in few entries. So for each
 * pair of threads only the changes are kept (position, value), both ascending: a look-up is a
 * binary search, and "the first event after" searches the same list by value. With many threads
 * each thread has a list of its clocks as trees (clocks.h) instead, searched alike.
 */
#include "engine/base/search.h"
#include "engine/order/clocks.h"
#include "engine/predict/m2/cone.h"
#include "engine/trace/tries.h"

#include <string.h>

/* From `position` on, `value` events of the other thread are before. */
struct tick {
	uint32_t position, value;
};

struct ticks {
	struct tick *items;
	uint32_t count, room;
};

/* From `position` on, the clock of a thread, of many. */
struct wide_tick {
	uint32_t position, root;
};

/* At `position` the thread joins the clock of another thread's event. */
struct arrival {
	uint32_t position;
	uint32_t thread, from; /* the event, as thread and position */
};

/* After the event at `position`, these sections are open. */
struct lock_change {
	uint32_t position;
	uint32_t first, count; /* a range of opens */
	uint32_t settled;      /* the position of the last of their releases, or 0 */
};

struct cones {
	struct trace *t;
	uint32_t threads;
	struct ticks *ticks; /* by pair of threads: thread * threads + other; or NULL */
	GArray **wide;       /* with many threads, by thread: struct wide_tick; or NULL */
	struct wide_nodes nodes;
	GArray **arrivals; /* by thread: struct arrival, by position */
	GArray *sections;  /* struct section, by lock and thread */
	struct lock_use *uses;
	uint32_t *use_start;          /* by object; one more at the end */
	struct lock_change **changes; /* by thread */
	uint32_t *change_count;
	GArray *opens; /* uint32_t: indexes of sections */
	const struct tries *tries;
	uint32_t *inexact; /* by thread: position of the first event that is approximated */
	GArray *late;      /* struct late_access */
};

static uint32_t position_of(const struct cones *c, uint32_t e)
{
	return c->t->index->position[e];
}

static uint32_t event_at(const struct cones *c, uint32_t thread, uint32_t position)
{
	return trace_thread_events(c->t, thread).items[position];
}

/* -- critical sections --------------------------------------------------------------------- */

struct raw_section {
	uint32_t object, thread;
	struct section s;
};

static int raw_compare(gconstpointer a, gconstpointer b)
{
	const struct raw_section *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->s.p < y->s.p ? -1 : x->s.p > y->s.p;
}

static GArray *collect_sections(struct cones *c)
{
	const struct trace *t = c->t;
	GArray *raw = g_array_new(FALSE, FALSE, sizeof(struct raw_section));

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct raw_section s;

		if (!op_acquires(x->op) || event_inert(x))
			continue;
		s = (struct raw_section){ x->target,
			                  x->thread,
			                  { .acquire = e,
			                    .release = t->index->partner[e],
			                    .p = position_of(c, e),
			                    .q = NONE,
			                    .exclusive = x->op == OP_ACQ } };
		if (s.s.release != NONE)
			s.s.q = position_of(c, s.s.release);
		g_array_append_val(raw, s);
	}
	g_array_sort(raw, raw_compare);
	return raw;
}

static void make_sections(struct cones *c)
{
	GArray *raw = collect_sections(c);
	GArray *uses = g_array_new(FALSE, FALSE, sizeof(struct lock_use));
	const struct raw_section *last = NULL;

	c->sections = g_array_sized_new(FALSE, FALSE, sizeof(struct section), raw->len);
	c->use_start = g_new0(uint32_t, c->t->objects_count + 2);
	for (guint i = 0; i < raw->len; i++) {
		const struct raw_section *now = &g_array_index(raw, struct raw_section, i);

		if (last == NULL || last->object != now->object ||
		    last->thread != now->thread) {
			struct lock_use use = { now->thread, i, 0 };

			g_array_append_val(uses, use);
			c->use_start[now->object + 1]++;
		}
		g_array_index(uses, struct lock_use, uses->len - 1).count++;
		g_array_append_val(c->sections, now->s);
		last = now;
	}
	for (uint32_t o = 0; o < c->t->objects_count; o++)
		c->use_start[o + 1] += c->use_start[o];
	c->uses = (struct lock_use *)g_array_free(uses, FALSE);
	g_array_unref(raw);
}

static void open_remove(GArray *open, uint32_t index)
{
	for (guint i = 0; i < open->len; i++) {
		if (g_array_index(open, uint32_t, i) == index) {
			g_array_remove_index(open, i);
			return;
		}
	}
}

/* For each thread, the open sections after each lock event. */
static void make_changes(struct cones *c)
{
	const struct trace *t = c->t;
	uint32_t *by_event; /* acquire or release -> section */
	GArray **open = g_new0(GArray *, c->threads + 1);
	GArray **changes = g_new0(GArray *, c->threads + 1);

	by_event = g_new(uint32_t, t->events_count + 1);
	for (guint i = 0; i < c->sections->len; i++) {
		const struct section *s = cones_section(c, i);

		by_event[s->acquire] = i;
		if (s->release != NONE)
			by_event[s->release] = i;
	}
	for (uint32_t u = 0; u < c->threads; u++) {
		open[u] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		changes[u] = g_array_new(FALSE, FALSE, sizeof(struct lock_change));
	}
	c->opens = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		GArray *o = open[x->thread];
		struct lock_change change = { position_of(c, e), c->opens->len, 0, 0 };

		if (event_inert(x) || !(op_acquires(x->op) || op_releases(x->op)) ||
		    (op_releases(x->op) && t->index->partner[e] == NONE))
			continue;
		if (op_acquires(x->op))
			g_array_append_val(o, by_event[e]);
		else
			open_remove(o, by_event[e]);
		for (guint i = 0; i < o->len; i++) {
			const struct section *s =
			        cones_section(c, g_array_index(o, uint32_t, i));

			if (s->q != NONE)
				change.settled = MAX(change.settled, s->q);
		}
		change.count = o->len;
		g_array_append_vals(c->opens, o->data, o->len);
		g_array_append_val(changes[x->thread], change);
	}
	c->changes = g_new0(struct lock_change *, c->threads + 1);
	c->change_count = g_new0(uint32_t, c->threads + 1);
	for (uint32_t u = 0; u < c->threads; u++) {
		c->change_count[u] = changes[u]->len;
		c->changes[u] = (struct lock_change *)g_array_free(changes[u], FALSE);
		g_array_unref(open[u]);
	}
	g_free(open);
	g_free(changes);
	g_free(by_event);
}

const struct lock_use *cones_lock(const struct cones *c, uint32_t object, uint32_t *count)
{
	*count = c->use_start[object + 1] - c->use_start[object];
	return c->uses + c->use_start[object];
}

const struct section *cones_section(const struct cones *c, uint32_t index)
{
	return &g_array_index(c->sections, struct section, index);
}

static const struct lock_change *change_before(const struct cones *c, uint32_t thread,
                                               uint32_t prefix)
{
	uint32_t low = search_end(i, 0, c->change_count[thread],
	                          c->changes[thread][i].position < prefix);
	return low == 0 ? NULL : &c->changes[thread][low - 1];
}

const uint32_t *cones_open(const struct cones *c, uint32_t thread, uint32_t prefix,
                           uint32_t *count)
{
	const struct lock_change *change = change_before(c, thread, prefix);

	*count = change == NULL ? 0 : change->count;
	return change == NULL ? NULL : &g_array_index(c->opens, uint32_t, change->first);
}

/* -- failed tries -------------------------------------------------------------------------- */

struct event_list cones_tried(const struct cones *c, uint32_t event)
{
	return tries_observed(c->tries, event);
}

static void not_exact(struct cones *c, uint32_t e)
{
	uint32_t u = c->t->events[e].thread;

	c->inexact[u] = MIN(c->inexact[u], position_of(c, e));
}

bool cones_approximate(const struct cones *c)
{
	for (uint32_t u = 0; u < c->threads; u++) {
		if (c->inexact[u] != NONE)
			return true;
	}
	return false;
}

/* Another section would do, and C11 does not know of tries: what they observed only
 * approximates their rule. */
static void make_tries(struct cones *c)
{
	c->tries = trace_tries(c->t);
	c->inexact = g_new(uint32_t, c->threads + 1);
	memset(c->inexact, 0xff, (c->threads + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < c->tries->count; i++) {
		if (c->tries->binding[i])
			not_exact(c, c->tries->events[i]);
	}
}

/* -- the causal order ---------------------------------------------------------------------- */

static uint32_t ticks_value(const struct ticks *s, uint32_t position)
{
	uint32_t end = s->count;

	/* During construction queries are mostly about recent events. */
	if (end > 0 && s->items[end - 1].position <= position)
		return s->items[end - 1].value;
	end = search_end(i, 0u, end, s->items[i].position <= position);
	return end == 0 ? 0 : s->items[end - 1].value;
}

static void ticks_add(struct ticks *s, uint32_t position, uint32_t value)
{
	if (s->count > 0 && s->items[s->count - 1].position == position) {
		s->items[s->count - 1].value = value;
		return;
	}
	if (s->count == s->room) {
		s->room = s->room == 0 ? 4 : s->room + s->room / 2;
		s->items = g_renew(struct tick, s->items, s->room);
	}
	s->items[s->count++] = (struct tick){ position, value };
}

static struct wide_tick wide_tick_at(const struct cones *c, uint32_t thread, guint i)
{
	return g_array_index(c->wide[thread], struct wide_tick, i);
}

/* With many threads: the clock at a position of a thread. */
static uint32_t root_at(const struct cones *c, uint32_t thread, uint32_t position)
{
	guint end = search_end(i, 0, c->wide[thread]->len,
	                       wide_tick_at(c, thread, i).position <= position);

	return end == 0 ? 0 : wide_tick_at(c, thread, end - 1).root;
}

static uint32_t clock_entry(const struct cones *c, uint32_t thread, uint32_t position,
                            uint32_t other)
{
	if (thread == other)
		return position + 1;
	if (c->wide != NULL)
		return wide_time(&c->nodes, root_at(c, thread, position), other);
	return ticks_value(&c->ticks[(size_t)thread * c->threads + other], position);
}

static uint32_t order_predecessors(const void *context, uint32_t j, uint32_t position,
                                   uint32_t i)
{
	return clock_entry(context, j, position, i);
}

static uint32_t wide_successor(const struct cones *c, uint32_t i, uint32_t p, uint32_t j)
{
	guint first = search_end(k, 0, c->wide[j]->len,
	                         wide_time(&c->nodes, wide_tick_at(c, j, k).root, i) <= p);

	return first < c->wide[j]->len ? wide_tick_at(c, j, first).position : NONE;
}

static uint32_t order_successor(const void *context, uint32_t i, uint32_t p, uint32_t j)
{
	const struct cones *c = context;

	if (i == j)
		return p;
	if (c->wide != NULL)
		return wide_successor(c, i, p, j);
	const struct ticks *s = &c->ticks[(size_t)j * c->threads + i];
	uint32_t first = search_end(k, 0u, s->count, s->items[k].value <= p);

	return first < s->count ? s->items[first].position : NONE;
}

struct chain_base cones_order(const struct cones *c)
{
	return (struct chain_base){ c, order_successor, order_predecessors };
}

uint32_t cones_before(const struct cones *c, uint32_t event, uint32_t thread)
{
	return clock_entry(c, c->t->events[event].thread, position_of(c, event), thread);
}

/* With many threads: the event at `position` of u comes after that at `from` of v. */
static void join_wide(struct cones *c, uint32_t u, uint32_t position, uint32_t v, uint32_t from)
{
	uint32_t now = root_at(c, u, position), root;
	struct arrival arrival = { position, v, from };

	if (wide_time(&c->nodes, now, v) > from)
		return;
	g_array_append_val(c->arrivals[u], arrival);
	root = wide_set(&c->nodes, wide_join(&c->nodes, now, root_at(c, v, from)), v, from + 1);
	GArray *list = c->wide[u];
	struct wide_tick tick = { position, root };
	if (list->len > 0 && wide_tick_at(c, u, list->len - 1).position == position)
		g_array_set_size(list, list->len - 1);
	g_array_append_val(list, tick);
}

/* Add an edge source -> e between threads; `now`: the clock of e's thread so far. */
static void join(struct cones *c, uint32_t *now, uint32_t e, uint32_t source)
{
	uint32_t u = c->t->events[e].thread, v = c->t->events[source].thread;
	uint32_t position = position_of(c, e), from = position_of(c, source);

	struct arrival arrival = { position, v, from };

	if (u == v)
		return;
	if (c->wide != NULL) {
		join_wide(c, u, position, v, from);
		return;
	}
	if (now[v] > from)
		return;
	g_array_append_val(c->arrivals[u], arrival);
	for (uint32_t w = 0; w < c->threads; w++) {
		uint32_t value = w == u ? 0 : clock_entry(c, v, from, w);

		if (value <= now[w])
			continue;
		now[w] = value;
		ticks_add(&c->ticks[(size_t)u * c->threads + w], position, value);
	}
}

static bool make_order(struct cones *c, const struct progress *progress)
{
	const struct trace *t = c->t;
	bool wide = c->threads >= clocks_wide;
	size_t pairs = wide ? 0 : (size_t)c->threads * c->threads;
	uint32_t *clocks = g_new0(uint32_t, pairs + 1);
	uint64_t edge = 0;
	bool going = true;

	if (wide) {
		wide_init(&c->nodes, c->threads);
		c->wide = g_new0(GArray *, c->threads + 1);
		for (uint32_t u = 0; u < c->threads; u++)
			c->wide[u] = g_array_new(FALSE, FALSE, sizeof(struct wide_tick));
	} else {
		c->ticks = g_new0(struct ticks, pairs + 1);
	}
	c->arrivals = g_new0(GArray *, c->threads + 1);
	for (uint32_t u = 0; u < c->threads; u++)
		c->arrivals[u] = g_array_new(FALSE, FALSE, sizeof(struct arrival));
	for (uint32_t e = 0; e < t->events_count && going; e++) {
		const struct event *x = &t->events[e];
		uint32_t *now = clocks + (wide ? 0 : (size_t)x->thread * c->threads);

		for (; edge < t->index->must_count && t->index->must[edge].after == e; edge++) {
			if (t->index->must[edge].condition == NONE)
				join(c, now, e, t->index->must[edge].before);
		}
		if (event_inert(x))
			continue;
		if (op_is_access(x->op) && op_reads(x->op)) {
			if (!(x->flags & EVENT_WIDE)) {
				if (t->index->writer[e] != NONE)
					join(c, now, e, t->index->writer[e]);
			} else {
				struct event_list w = trace_writers(t, e);

				for (uint64_t i = 0; i < w.count; i++) {
					if (w.items[i] != NONE)
						join(c, now, e, w.items[i]);
				}
			}
		} else if (op_fails(x->op)) {
			struct event_list needed = cones_tried(c, e);

			for (uint64_t i = 0; i < needed.count; i++)
				join(c, now, e, needed.items[i]);
		}
		if ((e & 0xfffff) == 0)
			going = progress_tick(progress, (double)e / t->events_count,
			                      "causal order");
	}
	g_free(clocks);
	return going;
}

static void note_late(struct cones *c, uint32_t e, uint32_t block)
{
	struct late_access late = { e, block == NONE ? NONE : c->t->blocks[block].free };

	if (late.free != NONE && late.free < e)
		g_array_append_val(c->late, late);
}

/* Accesses to a block after its free: in a reordering they must come before. */
static void make_late(struct cones *c)
{
	const struct trace *t = c->t;
	bool frees = false;

	c->late = g_array_new(FALSE, FALSE, sizeof(struct late_access));
	for (uint64_t b = 0; b < t->blocks_count; b++)
		frees |= t->blocks[b].free != NONE;
	for (uint32_t e = 0; frees && e < t->events_count; e++) {
		if (event_inert(&t->events[e]))
			continue;
		if (!op_is_access(t->events[e].op)) {
			note_late(c, e, event_block_used(t, &t->events[e]));
			continue;
		}
		struct wide run = event_variables(t, &t->events[e]);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			note_late(c, e, t->variables[v].block);
	}
}

const GArray *cones_late(const struct cones *c)
{
	return c->late;
}

struct cones *cones_new(struct trace *t, const struct progress *progress)
{
	if (!trace_need(
	            t, INDEX_THREADS | INDEX_MATCH | INDEX_OBJECTS | INDEX_WRITERS | INDEX_MUST,
	            progress))
		return NULL;
	struct cones *c = g_new0(struct cones, 1);
	c->t = t;
	c->threads = (uint32_t)t->threads_count;
	make_sections(c);
	make_changes(c);
	make_tries(c);
	make_late(c);
	if (!make_order(c, progress)) {
		cones_free(c);
		return NULL;
	}
	return c;
}

void cones_free(struct cones *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; c->ticks != NULL && i < (size_t)c->threads * c->threads; i++)
		g_free(c->ticks[i].items);
	for (uint32_t u = 0; u < c->threads; u++) {
		g_free(c->changes[u]);
		g_array_unref(c->arrivals[u]);
		if (c->wide != NULL)
			g_array_unref(c->wide[u]);
	}
	g_free(c->wide);
	wide_release(&c->nodes);
	g_free(c->arrivals);
	g_free(c->ticks);
	g_free(c->changes);
	g_free(c->change_count);
	g_free(c->uses);
	g_free(c->use_start);
	g_free(c->inexact);
	g_array_unref(c->sections);
	g_array_unref(c->opens);
	g_array_unref(c->late);
	g_free(c);
}

/* -- cones --------------------------------------------------------------------------------- */

/* Join the clock of an event, and the event, into the cone. */
static void include_clock(const struct cones *c, struct cone *cone, uint32_t thread,
                          uint32_t position)
{
	if (c->wide != NULL) {
		wide_join_into(&c->nodes, root_at(c, thread, position), cone->prefix);
		cone->prefix[thread] = MAX(cone->prefix[thread], position + 1);
		return;
	}
	for (uint32_t w = 0; w < c->threads; w++)
		cone->prefix[w] = MAX(cone->prefix[w], clock_entry(c, thread, position, w));
}

/* Number of arrivals of a thread before `position`. */
static guint arrivals_before(const GArray *all, uint32_t position)
{
	return search_end(i, 0, all->len,
	                  g_array_index(all, struct arrival, i).position < position);
}

enum { FEW_ARRIVALS = 16 };

/* Extend the cone to a longer prefix of a thread with its causal past. The past of the cone's
 * old prefix is included already, so only later arrivals matter: few, and mostly included. True
 * when it was longer. */
static bool include(const struct cones *c, struct cone *cone, uint32_t thread, uint32_t prefix)
{
	const GArray *all = c->arrivals[thread];
	guint first = arrivals_before(all, cone->prefix[thread]);

	if (prefix <= cone->prefix[thread])
		return false;
	if (arrivals_before(all, prefix) - first > FEW_ARRIVALS) {
		include_clock(c, cone, thread, prefix - 1);
		return true;
	}
	cone->prefix[thread] = prefix;
	for (guint i = first; i < all->len; i++) {
		const struct arrival *a = &g_array_index(all, struct arrival, i);

		if (a->position >= prefix)
			break;
		if (a->from >= cone->prefix[a->thread])
			include_clock(c, cone, a->thread, a->from);
	}
	return true;
}

void cone_close(const struct cones *c, uint32_t p1, uint32_t p2, struct cone *cone)
{
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t u = 0; u < c->threads; u++) {
			if (u == p1 || u == p2)
				continue;
			const struct lock_change *change = change_before(c, u, cone->prefix[u]);
			if (change != NULL && change->settled >= cone->prefix[u] &&
			    include(c, cone, u, change->settled + 1))
				more = cone->extended = true;
		}
	}
	cone->exact = true;
	for (uint32_t u = 0; u < c->threads; u++)
		cone->exact &= cone->prefix[u] <= c->inexact[u];
}

/* Include the causal past of one event of the pair, without itself. */
static void include_needs(const struct cones *c, uint32_t e, struct cone *cone)
{
	struct must_run must = trace_must_into(c->t, e);

	include(c, cone, c->t->events[e].thread, position_of(c, e));
	for (uint64_t i = must.first; i < must.first + must.count; i++) {
		const struct must_edge *edge = &c->t->index->must[i];

		if (edge->condition == NONE)
			include(c, cone, c->t->events[edge->before].thread,
			        position_of(c, edge->before) + 1);
	}
}

void cone_make(const struct cones *c, uint32_t e1, uint32_t e2, struct cone *cone)
{
	memset(cone->prefix, 0, c->threads * sizeof(uint32_t));
	cone->extended = false;
	include_needs(c, e1, cone);
	include_needs(c, e2, cone);
	cone_close(c, c->t->events[e1].thread, c->t->events[e2].thread, cone);
}

/* -- paths --------------------------------------------------------------------------------- */

/* An edge into `e` from another thread whose source is `from` or after it. */
static bool step_back(const struct cones *c, uint32_t from, uint32_t e, struct step *step)
{
	const struct trace *t = c->t;
	uint32_t u = t->events[from].thread, p = position_of(c, from);
	struct must_run must = trace_must_into(t, e);
	struct event_list tried = cones_tried(c, e);

	for (uint64_t i = must.first; i < must.first + must.count; i++) {
		const struct must_edge *edge = &t->index->must[i];

		if (edge->condition == NONE && cones_before(c, edge->before, u) > p) {
			*step = (struct step){ edge->before, e, STEP_MUST, edge->rule };
			return true;
		}
	}
	for (uint64_t i = 0; i < tried.count; i++) {
		if (cones_before(c, tried.items[i], u) > p) {
			*step = (struct step){ tried.items[i], e, STEP_OBSERVATION, NONE };
			return true;
		}
	}
	if (op_is_access(t->events[e].op) && op_reads(t->events[e].op) &&
	    !event_inert(&t->events[e])) {
		struct event_list writers = trace_writers(t, e);

		for (uint64_t i = 0; i < writers.count; i++) {
			uint32_t w = writers.items[i];

			if (w != NONE && t->events[w].thread != t->events[e].thread &&
			    cones_before(c, w, u) > p) {
				*step = (struct step){ w, e, STEP_OBSERVATION, NONE };
				return true;
			}
		}
	}
	return false;
}

void cones_path(const struct cones *c, uint32_t from, uint32_t to, struct path *path)
{
	const struct trace *t = c->t;
	GArray *back = g_array_new(FALSE, FALSE, sizeof(struct step));
	uint32_t u = t->events[from].thread, e = to;

	while (e != from) {
		uint32_t v = t->events[e].thread;
		/* first event of this thread after `from` */
		uint32_t first =
		        v == u ? from
		               : event_at(c, v, order_successor(c, u, position_of(c, from), v));
		struct step step = { first, e, STEP_PROGRAM, NONE };

		if (first != e)
			g_array_append_val(back, step);
		e = first;
		if (e == from)
			break;
		if (!step_back(c, from, e, &step))
			BUG("no edge into event %u from the past of which %u is part", e, from);
		g_array_append_val(back, step);
		e = step.from;
	}
	for (guint i = back->len; i-- > 0;) {
		const struct step *s = &g_array_index(back, struct step, i);

		path_add(path, s->from, s->to, s->rule, s->detail);
	}
	g_array_unref(back);
}
