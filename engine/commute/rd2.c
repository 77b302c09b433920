/* rd2.c - see rd2.h. */
#include "engine/commute/rd2.h"
#include "engine/commute/clock.h"
#include "engine/trace/chains.h"
#include "engine/trace/formats.h"
#include "engine/trace/index.h"
#include "engine/base/hash.h"
#include "engine/commute/place_pair.h"
#include "engine/trace/own_site.h"

#include <string.h>

/* An invocation in the list of a point. */
struct toucher {
	uint32_t event, end, thread;
	uint32_t inside; /* of a built-in event: the instance whose scope it is in, or NONE */
};

/* For commute_pairs: touchers of one thread and source location. */
struct touch_group {
	uint32_t thread, site;
	GArray *touchers; /* struct toucher, in trace order */
};

struct touchers {
	uint32_t count, room;
	struct toucher one;
	union {
		struct toucher *many;       /* from the second on */
		struct touch_group *groups; /* for commute_pairs; `count` counts these */
	};
};

/* The touchers of one point at one key. */
struct keyed_touchers {
	struct val key;
	uint32_t point; /* NONE: unused */
	struct touchers touchers;
};

struct object_state {
	struct touchers *plain;       /* by point without a key */
	struct keyed_touchers *keyed; /* open addressing */
	uint32_t size, used;
	GArray **calls; /* by method (the last: undeclared): struct toucher, for pairwise
	                   comparison */
};

struct rd2 {
	struct model *m;
	const struct trace *t;
	struct trace *chains;   /* the view by chains that the clocks are of; owned, or NULL */
	struct model by_chains; /* m on that reading */
	struct rd2_options options;
	struct scope_clocks *clocks;
	struct report *report;
	struct object_state *objects;
	uint32_t *last_call; /* by object: its last event; NONE: no two of its invocations can
	                        clash */
	uint32_t *marked;    /* by event: the last invocation that it was reported with */
	GHashTable *pairs;   /* struct place_pair -> struct finding */
	bool overflow;
	uint32_t overflow_at;
	uint64_t invocations, pairwise_calls;
	/* commute_pairs: receives every pair, ordered or not */
	pair_visitor *visit;
	void *visit_context;
};

/* -- touchers ----------------------------------------------------------------------------- */

static struct toucher *toucher_at(struct touchers *l, uint32_t i)
{
	return l->many ? &l->many[i] : &l->one;
}

static void toucher_append(struct touchers *l, struct toucher t)
{
	if (l->count == 0 && l->many == NULL) {
		l->one = t;
		l->count = 1;
		return;
	}
	if (l->count >= l->room) {
		uint32_t room = l->room ? l->room * 2 : 4;
		l->many = g_renew(struct toucher, l->many, room);
		if (l->room == 0)
			l->many[0] = l->one;
		l->room = room;
	}
	l->many[l->count++] = t;
}

static uint32_t site_of(const struct rd2 *r, uint32_t event)
{
	return own_site(r->t, event);
}

static void group_note(struct rd2 *r, struct touchers *l, struct toucher t)
{
	uint32_t site = site_of(r, t.event), i = 0;
	while (i < l->count && (l->groups[i].thread != t.thread || l->groups[i].site != site))
		i++;
	if (i == l->count) {
		if (l->count == l->room) {
			l->room = l->room ? l->room * 2 : 2;
			l->groups = g_renew(struct touch_group, l->groups, l->room);
		}
		GArray *list = g_array_new(FALSE, FALSE, sizeof(struct toucher));
		l->groups[l->count++] = (struct touch_group){ t.thread, site, list };
	}
	g_array_append_val(l->groups[i].touchers, t);
}

/* A thread's last touch (in one object's scope, or outside) replaces its earlier ones: they
 * happen before whatever it happens before. When all pairs are wanted, all are kept. */
static void toucher_note(struct rd2 *r, struct touchers *l, struct toucher t)
{
	if (r->visit) {
		group_note(r, l, t);
		return;
	}
	for (uint32_t i = l->count; !r->options.pairs_events && i-- > 0;) {
		struct toucher *old = toucher_at(l, i);
		if (old->thread == t.thread && old->inside == t.inside) {
			*old = t;
			return;
		}
	}
	toucher_append(l, t);
}

static void touchers_release(const struct rd2 *r, struct touchers *l)
{
	for (uint32_t i = 0; r->visit && i < l->count; i++)
		g_array_unref(l->groups[i].touchers);
	g_free(l->many);
}

/* -- the state of an object --------------------------------------------------------------- */

static uint64_t key_hash(uint32_t point, struct val key)
{
	uint64_t h = hash_word((uint64_t)key.n + key.kind);
	h = (h ^ (h >> 32)) + point;
	h *= UINT64_C(0xbf58476d1ce4e5b9);
	return h ^ (h >> 31);
}

static struct keyed_touchers *keyed_slot(const struct object_state *o, uint32_t point,
                                         struct val key)
{
	for (uint32_t i = (uint32_t)key_hash(point, key) & (o->size - 1);;
	     i = (i + 1) & (o->size - 1)) {
		struct keyed_touchers *k = &o->keyed[i];
		if (k->point == NONE || (k->point == point && val_equal(k->key, key)))
			return k;
	}
}

static void keyed_grow(struct object_state *o)
{
	struct object_state larger = { .size = o->size ? o->size * 2 : 8 };
	larger.keyed = g_new(struct keyed_touchers, larger.size);
	for (uint32_t i = 0; i < larger.size; i++)
		larger.keyed[i] = (struct keyed_touchers){ .point = NONE };
	for (uint32_t i = 0; i < o->size; i++)
		if (o->keyed[i].point != NONE)
			*keyed_slot(&larger, o->keyed[i].point, o->keyed[i].key) = o->keyed[i];
	g_free(o->keyed);
	o->keyed = larger.keyed;
	o->size = larger.size;
}

/* The touchers of a point; never NULL with `make`. */
static struct touchers *touchers_of(struct rd2 *r, const struct call *c, uint32_t point,
                                    const struct val *key, bool make)
{
	struct object_state *o = &r->objects[c->object];
	if (key == NULL) {
		if (o->plain == NULL && make)
			o->plain = g_new0(struct touchers,
			                  points_count(r->m->objects[c->object].type->points));
		return o->plain ? &o->plain[point] : NULL;
	}
	if (make && (o->used + 1) * 4 > o->size * 3)
		keyed_grow(o);
	if (o->size == 0)
		return NULL;
	struct keyed_touchers *k = keyed_slot(o, point, *key);
	if (k->point == NONE) {
		if (!make)
			return NULL;
		*k = (struct keyed_touchers){ .point = point, .key = *key };
		o->used++;
	}
	return &k->touchers;
}

static void object_release(const struct rd2 *r, uint32_t object)
{
	struct object_state *o = &r->objects[object];
	const struct model_type *type = r->m->objects[object].type;
	for (uint32_t i = 0; o->plain && i < points_count(type->points); i++)
		touchers_release(r, &o->plain[i]);
	for (uint32_t i = 0; i < o->size; i++)
		if (o->keyed[i].point != NONE)
			touchers_release(r, &o->keyed[i].touchers);
	for (guint i = 0; o->calls && i <= type->o->methods->len; i++)
		if (o->calls[i])
			g_array_unref(o->calls[i]);
	g_free(o->plain);
	g_free(o->keyed);
	g_free(o->calls);
	*o = (struct object_state){ 0 };
}

/* -- reports ------------------------------------------------------------------------------ */

void commute_describe(struct model *m, struct finding *f, const struct call *a,
                      const struct call *b)
{
	const struct points *points = m->objects[a->object].type->points;
	f->methods[0] = model_call_text(m, a);
	f->methods[1] = model_call_text(m, b);
	f->condition = model_condition_text(m, a, b);
	if (m->objects[a->object].pairwise || points_pairwise(points, a->method, b->method))
		return;
	uint32_t counts[2];
	bool overflow = false;
	const struct touch *touches[2] = {
		points_touched(points, a->method, a->names, &m->texts, &counts[0], &overflow),
		points_touched(points, b->method, b->names, &m->texts, &counts[1], &overflow),
	};
	for (uint32_t i = 0; i < counts[0]; i++)
		for (uint32_t k = 0; k < counts[1]; k++) {
			const struct touch *x = &touches[0][i], *y = &touches[1][k];
			const GArray *clashing = points_at(points, x->point)->conflicts;
			bool clash = false;
			for (guint n = 0; n < clashing->len; n++)
				clash |= g_array_index(clashing, uint32_t, n) == y->point;
			if (!clash || (x->slot != NONE &&
			               !val_equal(a->names[x->slot], b->names[y->slot])))
				continue;
			g_free(f->points[0]);
			g_free(f->points[1]);
			f->points[0] = model_point_text(m, a, *x);
			f->points[1] = model_point_text(m, b, *y);
			return;
		}
}

/* The toucher's invocation on the object of `now`. */
static struct call call_of(struct rd2 *r, const struct toucher *earlier, const struct call *now,
                           struct call_scratch *scratch)
{
	struct call calls[MOST_CALLS], found = { 0 };
	uint32_t count = model_calls(r->m, earlier->end, calls, scratch);
	for (uint32_t i = 0; i < count; i++)
		if (calls[i].object == now->object)
			found = calls[i];
	return found;
}

/* False when the visitor skips the older ones of the thread and location. */
static bool visit_pair(struct rd2 *r, const struct toucher *earlier, const struct call *now,
                       uint32_t older)
{
	struct call_scratch scratch;
	if (r->marked[earlier->event] == now->end)
		return true;
	r->marked[earlier->event] = now->end;
	struct call other = call_of(r, earlier, now, &scratch);
	return r->visit(r->visit_context, &other, now, older);
}

static void report_pair(struct rd2 *r, const struct toucher *earlier, const struct call *now)
{
	if (r->visit) {
		visit_pair(r, earlier, now, 0);
		return;
	}
	if (r->marked[earlier->event] == now->end)
		return;
	r->marked[earlier->event] = now->end;
	struct call_scratch scratch;
	r->report->candidates++;
	struct place_pair key = place_pair_of(r->m, earlier->event, now->event, now->object);
	if (!r->options.pairs_events) {
		struct finding *seen = g_hash_table_lookup(r->pairs, &key);
		if (seen != NULL) {
			seen->count++;
			return;
		}
	}
	struct call other = call_of(r, earlier, now, &scratch);
	bool turned = earlier->event > now->event;
	const struct spec_object *o = r->m->objects[now->object].type->o;
	bool freed = strcmp(o->name, "memory") == 0;
	struct finding *f =
	        finding_new(freed ? FINDING_USE_AFTER_FREE : FINDING_COMMUTATIVITY_RACE,
	                    MIN(earlier->event, now->event), MAX(earlier->event, now->event));
	f->verdict = VERDICT_CANDIDATE;
	f->count = 1;
	f->counted_all = r->options.pairs_events;
	f->by = "rd2";
	commute_describe(r->m, f, turned ? now : &other, turned ? &other : now);
	report_add(r->report, f);
	if (!r->options.pairs_events)
		g_hash_table_insert(r->pairs, g_memdup2(&key, sizeof(key)), f);
}

/* -- the algorithm ------------------------------------------------------------------------ */

/* Built-in events in scopes of one object do not conflict (semantics.md, rule 5). */
static bool same_scope(const struct toucher *a, const struct toucher *b)
{
	return a->inside != NONE && a->inside == b->inside;
}

static bool is_unordered(const struct rd2 *r, const struct toucher *earlier,
                         const struct toucher *self, uint32_t clock)
{
	return earlier->thread != self->thread && !same_scope(earlier, self) &&
	       (r->visit != NULL ||
	        earlier->end >= scope_clocks_time(r->clocks, clock, earlier->thread));
}

static void visit_point(struct rd2 *r, const struct call *now, const struct toucher *self,
                        const struct touchers *l)
{
	for (uint32_t i = 0; i < l->count; i++) {
		const GArray *list = l->groups[i].touchers;
		for (guint k = list->len; l->groups[i].thread != self->thread && k-- > 0;) {
			const struct toucher *t = &g_array_index(list, struct toucher, k);
			if (!same_scope(t, self) && !visit_pair(r, t, now, k))
				break;
		}
	}
}

static void check_point(struct rd2 *r, const struct call *now, const struct toucher *self,
                        uint32_t clock, struct touchers *l)
{
	if (r->visit && l != NULL) {
		visit_point(r, now, self, l);
		return;
	}
	for (uint32_t i = 0; l != NULL && i < l->count; i++) {
		const struct toucher *earlier = toucher_at(l, i);
		if (is_unordered(r, earlier, self, clock))
			report_pair(r, earlier, now);
	}
}

static void check_points(struct rd2 *r, const struct call *now, const struct toucher *self,
                         uint32_t clock)
{
	const struct points *points = r->m->objects[now->object].type->points;
	uint32_t count;
	const struct touch *touches = points_touched(points, now->method, now->names,
	                                             &r->m->texts, &count, &r->overflow);
	for (uint32_t i = 0; i < count; i++) {
		const GArray *clashing = points_at(points, touches[i].point)->conflicts;
		const struct val *key =
		        touches[i].slot == NONE ? NULL : &now->names[touches[i].slot];
		for (guint k = 0; k < clashing->len; k++)
			check_point(r, now, self, clock,
			            touchers_of(r, now, g_array_index(clashing, uint32_t, k),
			                        key, false));
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct val *key =
		        touches[i].slot == NONE ? NULL : &now->names[touches[i].slot];
		toucher_note(r, touchers_of(r, now, touches[i].point, key, true), *self);
	}
}

static void compare_with(struct rd2 *r, const struct call *now, const struct toucher *self,
                         uint32_t clock, const GArray *calls)
{
	struct call_scratch scratch;
	struct call others[MOST_CALLS];
	for (guint i = 0; calls != NULL && i < calls->len; i++) {
		const struct toucher *earlier = &g_array_index(calls, struct toucher, i);
		if (!is_unordered(r, earlier, self, clock))
			continue;
		uint32_t count = model_calls(r->m, earlier->end, others, &scratch);
		for (uint32_t k = 0; k < count; k++)
			if (others[k].object == now->object &&
			    !model_commute(r->m, &others[k], now, &r->overflow))
				report_pair(r, earlier, now);
	}
}

/* Compares with each earlier invocation of a method whose condition is outside of the logic of
 * access points (ECL). */
static void compare_pairwise(struct rd2 *r, const struct call *now, const struct toucher *self,
                             uint32_t clock, bool all)
{
	struct object_state *o = &r->objects[now->object];
	const struct model_type *type = r->m->objects[now->object].type;
	uint32_t methods = type->o->methods->len;
	uint32_t method = now->method == NONE ? methods : now->method;
	if (o->calls == NULL)
		o->calls = g_new0(GArray *, methods + 1);
	for (uint32_t other = 0; other <= methods; other++)
		if (all || (other < methods && points_pairwise(type->points, method, other)))
			compare_with(r, now, self, clock, o->calls[other]);
	if (o->calls[method] == NULL)
		o->calls[method] = g_array_new(FALSE, FALSE, sizeof(struct toucher));
	g_array_append_val(o->calls[method], *self);
	r->pairwise_calls++;
}

static void rd2_invocation(struct rd2 *r, const struct call *now)
{
	r->invocations++;
	if (r->last_call[now->object] == NONE)
		return;
	uint32_t thread = r->by_chains.t->events[now->end].thread;
	const struct model_object *o = &r->m->objects[now->object];
	uint32_t clock = now->end == now->event ? scope_clocks_of(r->clocks, thread)
	                                        : scope_clocks_call(r->clocks, thread);
	struct toucher self = { .event = now->event,
		                .end = now->end,
		                .thread = r->visit ? r->t->events[now->end].thread : thread,
		                .inside = o->source == FROM_INSTANCE
		                                  ? NONE
		                                  : scope_clocks_inside(r->clocks, thread) };
	bool overflow = r->overflow;
	if (o->pairwise || r->options.direct) {
		compare_pairwise(r, now, &self, clock, true);
	} else {
		check_points(r, now, &self, clock);
		if (points_any_pairwise(o->type->points, now->method))
			compare_pairwise(r, now, &self, clock, false);
	}
	if (r->overflow && !overflow)
		r->overflow_at = now->event;
	if (r->last_call[now->object] == now->end)
		object_release(r, now->object); /* no later invocation can race with it */
}

static bool rd2_walk(struct rd2 *r, const struct progress *progress)
{
	struct call_scratch scratch;
	struct call calls[MOST_CALLS];
	for (uint32_t e = 0; e < r->t->events_count; e++) {
		if ((e & 0xffff) == 0 &&
		    !progress_tick(progress, (double)e / r->t->events_count,
		                   "commutativity races"))
			return false;
		scope_clocks_before(r->clocks, e);
		uint32_t count = model_calls(r->m, e, calls, &scratch);
		for (uint32_t i = 0; i < count && !r->overflow; i++)
			rd2_invocation(r, &calls[i]);
		scope_clocks_after(r->clocks, e);
		if (r->overflow)
			return false;
	}
	return true;
}

/* May two invocations by methods of this bit set clash, whatever their values? */
static bool any_clash(const struct spec_object *o, uint64_t methods)
{
	for (uint32_t a = 0; a < o->methods->len; a++)
		for (uint32_t b = a; b < o->methods->len; b++) {
			if (!(methods >> a & 1) || !(methods >> b & 1))
				continue;
			const struct spec_condition *c = spec_condition_of(o, a, b);
			if (c == NULL || c->formula->op != X_TRUE)
				return true;
		}
	return false;
}

/* The last event of each object. Objects whose invocations cannot clash are skipped; that is
 * most blocks of memory. */
static void find_last_calls(struct rd2 *r)
{
	enum { ANY = 63 }; /* an undeclared method, or one without a bit */
	struct call_scratch scratch;
	struct call calls[MOST_CALLS];
	g_autofree uint64_t *methods = g_new0(uint64_t, r->m->object_count + 1);
	r->last_call = g_malloc((r->m->object_count + 1) * sizeof(uint32_t));
	memset(r->last_call, 0xff, (r->m->object_count + 1) * sizeof(uint32_t));
	for (uint32_t e = 0; e < r->t->events_count; e++) {
		uint32_t count = model_calls(r->m, e, calls, &scratch);
		for (uint32_t i = 0; i < count; i++) {
			r->last_call[calls[i].object] = e;
			methods[calls[i].object] |= UINT64_C(1) << MIN(calls[i].method, ANY);
		}
	}
	for (uint32_t o = 0; o < r->m->object_count; o++)
		if (r->last_call[o] != NONE && !(methods[o] >> ANY) &&
		    !any_clash(r->m->objects[o].type->o, methods[o]))
			r->last_call[o] = NONE;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* An allocation comes before other threads' accesses of its block. Where the recording has no
 * plain accesses, or a sample of them, that order is not known; a note counts the findings with
 * an allocation between their calls. */
static void note_allocations(struct rd2 *r)
{
	const struct trace *t = r->t;
	const char *filter = trace_note(t, TRACE_FILTER_NOTE);
	if (g_strcmp0(filter, TRACE_FILTER_COMMUTE) != 0 && !trace_sampled(t))
		return;
	g_autofree uint32_t *allocs = g_new(uint32_t, t->blocks_count + 1);
	size_t count = 0;
	for (uint32_t i = 0; i < t->blocks_count; i++)
		if (t->blocks[i].alloc != NONE)
			allocs[count++] = t->blocks[i].alloc;
	qsort(allocs, count, sizeof(uint32_t), by_number);
	guint between = 0;
	for (guint i = 0; i < r->report->findings->len; i++) {
		const struct finding *f = r->report->findings->pdata[i];
		uint32_t first = MIN(f->first, f->second), second = MAX(f->first, f->second);
		size_t low = 0, high = count;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (allocs[middle] > first)
				high = middle;
			else
				low = middle + 1;
		}
		between += low < count && allocs[low] < second;
	}
	if (between)
		report_note(
		        r->report,
		        "%u of the findings may be ordered after all: a block of memory was "
		        "allocated between the two calls, and accesses, which come after the "
		        "allocation, are not in the trace; record without %s for that",
		        between, trace_sampled(t) ? "--sample" : "--filter");
}

static void rd2_conclude(struct rd2 *r)
{
	note_allocations(r);
	for (guint i = 0; i < r->m->notes->len; i++)
		report_note(r->report, "%s", (char *)r->m->notes->pdata[i]);
	if (r->pairwise_calls && !r->options.direct)
		report_note(
		        r->report,
		        "calls that were compared pair by pair, with each earlier one, as their condition has not "
		        "the form ECL, or a value or method is not known: %" G_GUINT64_FORMAT,
		        r->pairwise_calls);
	if (r->invocations == 0)
		report_note(
		        r->report,
		        "no call of an object with a specification is in the trace: nothing was checked");
	else if (r->report->findings->len == 0)
		report_note(
		        r->report,
		        "all calls that nothing orders (by happens-before) commute: where the "
		        "specifications are right, every order of them that the run's "
		        "synchronisation allows ends in the same state");
	r->report->complete = true;
	report_finish(r->report);
}

/* False when cancelled; rd2_release then, too. */
static bool rd2_init(struct rd2 *r, struct model *m, const struct progress *progress)
{
	bool cancelled = !trace_need(m->t, INDEX_MUST, progress);
	r->m = m;
	r->t = m->t;
	if (!cancelled)
		r->chains = trace_by_chains(m->t, CHAINS_LEAST, progress, &cancelled);
	r->by_chains = *m;
	r->by_chains.t = r->chains ? r->chains : m->t;
	if (!cancelled)
		r->clocks = scope_clocks_new(&r->by_chains, progress);
	r->objects = g_new0(struct object_state, m->object_count + 1);
	r->marked = g_malloc((m->t->events_count + 1) * sizeof(uint32_t));
	memset(r->marked, 0xff, (m->t->events_count + 1) * sizeof(uint32_t));
	r->pairs = g_hash_table_new_full(place_pair_hash, place_pair_equal, g_free, NULL);
	find_last_calls(r);
	return r->clocks != NULL;
}

static void rd2_release(struct rd2 *r)
{
	for (uint32_t i = 0; i < r->m->object_count; i++)
		if (r->m->objects[i].type)
			object_release(r, i);
	g_free(r->objects);
	g_free(r->last_call);
	g_free(r->marked);
	g_hash_table_destroy(r->pairs);
	scope_clocks_free(r->clocks);
	trace_close(r->chains);
}

static bool rd2_set_error(const struct rd2 *r, struct error *error)
{
	return r->overflow ? model_overflow(r->m, r->overflow_at, error)
	                   : error_cancelled(error);
}

struct report *rd2_find(struct model *m, const struct rd2_options *options,
                        const struct progress *progress, struct error *error)
{
	struct rd2 r = { .options = *options, .report = report_new(m->t, "rd2") };
	bool whole = rd2_init(&r, m, progress) && rd2_walk(&r, progress);
	if (whole) {
		rd2_conclude(&r);
	} else {
		rd2_set_error(&r, error);
		report_free(r.report);
		r.report = NULL;
	}
	rd2_release(&r);
	return r.report;
}

bool commute_pairs(struct model *m, pair_visitor *visit, void *context,
                   const struct progress *progress, struct error *error)
{
	struct rd2 r = { .visit = visit, .visit_context = context };
	bool whole = rd2_init(&r, m, progress) && rd2_walk(&r, progress);
	if (!whole)
		rd2_set_error(&r, error);
	rd2_release(&r);
	return whole;
}
