/* edc.c - see edc.h. */
#include "engine/base/arrays.h"
#include "engine/commute/edc.h"
#include "engine/commute/point_items.h"
#include "engine/commute/rd2.h"
#include "engine/trace/index.h"
#include "engine/base/hash.h"
#include "engine/commute/place_pair.h"

#include <string.h>

/* One event touches one item. Items: 2v and 2v + 1 are a read and a write of variable v; then
 * access points, in the order of their first touch; then single invocations. */
struct edc_touch {
	uint32_t event, item;
};
struct edc_clash {
	uint32_t a, b;
};

struct edc_items {
	struct model *m;
	const struct trace *t;
	GHashTable *numbers; /* point_items.h */
	GArray *keys;        /* struct point_item of the items from first_point on */
	uint32_t first_point, count;
	GArray *touching;    /* struct edc_touch */
	GArray *clashes;     /* struct edc_clash, in both directions */
	GHashTable *singles; /* end event of an invocation -> its own item */
	uint32_t *inside;    /* model_scopes */
	bool overflow;
	uint32_t overflow_at; /* event */
};

static uint32_t item_of(struct edc_items *s, struct point_item key)
{
	uint32_t item = point_items_find(s->numbers, key);
	if (item != NONE)
		return item;
	point_items_add(s->numbers, key, s->count);
	g_array_append_val(s->keys, key);
	return s->count++;
}

static void add_touch(struct edc_items *s, uint32_t event, uint32_t item)
{
	struct edc_touch t = { event, item };
	g_array_append_val(s->touching, t);
}

static void add_clash(struct edc_items *s, uint32_t a, uint32_t b)
{
	struct edc_clash c = { a, b };
	g_array_append_val(s->clashes, c);
	if (a != b) {
		c = (struct edc_clash){ b, a };
		g_array_append_val(s->clashes, c);
	}
}

/* -- memory ------------------------------------------------------------------------------- */

static void add_access(struct edc_items *s, uint32_t e)
{
	const struct event *x = &s->t->events[e];
	struct wide run = event_variables(s->t, x);
	if (s->inside[e] != NONE)
		return;
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		add_touch(s, e, 2 * v + op_writes(x->op));
}

/* -- invocations -------------------------------------------------------------------------- */

static void add_points(struct edc_items *s, const struct call *c)
{
	uint32_t count;
	const struct points *points = s->m->objects[c->object].type->points;
	const struct touch *t =
	        points_touched(points, c->method, c->names, &s->m->texts, &count, &s->overflow);
	for (uint32_t i = 0; i < count; i++) {
		struct point_item key = { .object = c->object, .point = t[i].point };
		if (t[i].slot != NONE)
			key.key = c->names[t[i].slot];
		add_touch(s, c->end, item_of(s, key));
	}
}

/* The item of one invocation, for pairs that are not ECL. Called for ECL pairs too, whose
 * points clash anyway. */
static uint32_t own_item(struct edc_items *s, const struct call *c)
{
	gpointer found = g_hash_table_lookup(s->singles, GUINT_TO_POINTER(c->end + 1));
	if (found == NULL) {
		found = GUINT_TO_POINTER(s->count++);
		struct point_item none = { .object = NONE };
		g_array_append_val(s->keys, none);
		g_hash_table_insert(s->singles, GUINT_TO_POINTER(c->end + 1), found);
		add_touch(s, c->end, GPOINTER_TO_UINT(found));
	}
	return GPOINTER_TO_UINT(found);
}

static bool visit_not_ecl(void *context, const struct call *earlier, const struct call *later,
                          uint32_t older)
{
	struct edc_items *s = context;
	const struct model_object *o = &s->m->objects[later->object];
	if (o->pairwise || points_pairwise(o->type->points, earlier->method, later->method))
		add_clash(s, own_item(s, earlier), own_item(s, later));
	return true;
}

static bool any_not_ecl(const struct model *m)
{
	for (uint32_t i = 0; i < m->object_count; i++) {
		const struct model_object *o = &m->objects[i];
		if (o->type != NULL && o->pairwise)
			return true;
		for (guint k = 0; o->type != NULL && k < o->type->o->methods->len; k++)
			if (points_any_pairwise(o->type->points, k))
				return true;
	}
	return false;
}

static void point_clashes(struct edc_items *s)
{
	for (uint32_t v = 0; v < s->t->variables_count; v++) {
		add_clash(s, 2 * v, 2 * v + 1);
		add_clash(s, 2 * v + 1, 2 * v + 1);
	}
	uint32_t points = s->count;
	for (uint32_t i = s->first_point; i < points; i++) {
		struct point_item key =
		        g_array_index(s->keys, struct point_item, i - s->first_point);
		if (key.object == NONE)
			continue;
		const struct points *p = s->m->objects[key.object].type->points;
		const GArray *others = points_at(p, key.point)->conflicts;
		for (guint k = 0; k < others->len; k++) {
			struct point_item other = { key.object,
				                    g_array_index(others, uint32_t, k),
				                    key.key };
			uint32_t found = point_items_find(s->numbers, other);
			if (found != NONE && found >= i)
				add_clash(s, i, found);
		}
	}
}

/* Lists by first member, by counting sort. */
static struct event_lists lists_of(const GArray *pairs, uint64_t lists)
{
	uint64_t *start = g_new0(uint64_t, lists + 2);
	uint32_t *items = g_new(uint32_t, pairs->len + 1);
	for (guint i = 0; i < pairs->len; i++)
		start[g_array_index(pairs, struct edc_clash, i).a + 2]++;
	for (uint64_t i = 2; i < lists + 2; i++)
		start[i] += start[i - 1];
	for (guint i = 0; i < pairs->len; i++) {
		struct edc_clash c = g_array_index(pairs, struct edc_clash, i);
		items[start[c.a + 1]++] = c.b;
	}
	return (struct event_lists){ start, items };
}

static void items_release(struct edc_items *s)
{
	g_hash_table_destroy(s->numbers);
	g_hash_table_destroy(s->singles);
	g_array_unref(s->keys);
	g_array_unref(s->touching);
	g_array_unref(s->clashes);
	g_free(s->inside);
}

static void collect_items(struct edc_items *s)
{
	struct call_scratch scratch;
	struct call calls[MOST_CALLS];
	for (uint32_t e = 0; e < s->t->events_count; e++) {
		const struct event *x = &s->t->events[e];
		if (op_is_access(x->op) && !event_inert(x))
			add_access(s, e);
		uint32_t count = model_calls(s->m, e, calls, &scratch);
		for (uint32_t i = 0; i < count; i++)
			if (!s->m->objects[calls[i].object].pairwise && !s->overflow) {
				add_points(s, &calls[i]);
				s->overflow_at = calls[i].event;
			}
	}
}

struct edc {
	const struct trace *t;
	struct order *order;
	struct order_touches touches; /* its lists are owned */
	/* By event: the acquire of the innermost critical section around it, or NONE; for an
	 * acquire, the enclosing one. The section may have ended since: see open_at. */
	uint32_t *innermost;
	GHashTable *sections; /* acquire -> struct edc_section */
};

static uint32_t *find_innermost(const struct trace *t)
{
	uint32_t *innermost = g_new(uint32_t, t->events_count + 1);
	GArray **open = arrays_new(t->threads_count, sizeof(uint32_t));
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		GArray *held = open[x->thread];
		innermost[e] = held->len ? g_array_index(held, uint32_t, held->len - 1) : NONE;
		if (event_inert(x))
			continue;
		if (op_acquires(x->op))
			g_array_append_val(held, e);
		for (guint i = op_releases(x->op) ? held->len : 0; i-- > 0;)
			if (g_array_index(held, uint32_t, i) == t->index->partner[e])
				g_array_remove_index(held, i);
	}
	arrays_free(open, t->threads_count);
	return innermost;
}

static void release_section(gpointer section)
{
	edc_section_unref(section);
}

static const struct edc_section *section_of(const struct edc *e, uint32_t acquire)
{
	return g_hash_table_lookup(e->sections, GUINT_TO_POINTER(acquire));
}

struct edc *edc_new(struct model *m, bool bounded, const struct progress *progress,
                    struct error *error)
{
	struct edc_items s = { .m = m, .t = m->t };
	bool whole = true;
	s.numbers = point_items_new();
	s.singles = g_hash_table_new(hash_pointer, NULL);
	s.keys = g_array_new(FALSE, FALSE, sizeof(struct point_item));
	s.touching = g_array_new(FALSE, FALSE, sizeof(struct edc_touch));
	s.clashes = g_array_new(FALSE, FALSE, sizeof(struct edc_clash));
	s.inside = model_scopes(m);
	s.first_point = s.count = 2 * (uint32_t)m->t->variables_count + 1;
	collect_items(&s);
	point_clashes(&s);
	if (s.overflow)
		whole = model_overflow(m, s.overflow_at, error);
	else if (any_not_ecl(m))
		whole = commute_pairs(m, visit_not_ecl, &s, progress, error);
	struct edc *e = g_new0(struct edc, 1);
	e->t = m->t;
	e->touches =
	        (struct order_touches){ .touched = lists_of(s.touching, m->t->events_count),
		                        .clashing = lists_of(s.clashes, s.count),
		                        .items = s.count,
		                        .bounded = bounded };
	items_release(&s);
	e->innermost = find_innermost(m->t);
	e->sections = g_hash_table_new_full(NULL, NULL, NULL, release_section);
	if (whole)
		e->order = order_new_edc(m->t, &e->touches, e->sections, progress);
	if (e->order != NULL)
		return e;
	if (whole)
		error_cancelled(error);
	edc_free(e);
	return NULL;
}

void edc_free(struct edc *e)
{
	if (e == NULL)
		return;
	order_free(e->order);
	g_hash_table_destroy(e->sections);
	g_free(e->innermost);
	g_free((void *)e->touches.touched.start);
	g_free((void *)e->touches.touched.items);
	g_free((void *)e->touches.clashing.start);
	g_free((void *)e->touches.clashing.items);
	g_free(e);
}

const struct order *edc_order(const struct edc *e)
{
	return e->order;
}

struct order *edc_order_new(struct model *m, const struct progress *progress,
                            struct error *error)
{
	struct edc *e = edc_new(m, false, progress, error);
	struct order *order = e ? e->order : NULL;
	if (e != NULL)
		e->order = NULL;
	edc_free(e);
	return order;
}

/* -- the report --------------------------------------------------------------------------- */

static bool ordered_before(const struct edc *e, uint32_t e1, uint32_t e2)
{
	uint32_t previous = trace_previous(e->t, e2);
	if (previous != NONE && order_ordered(e->order, e1, previous))
		return true;
	struct must_sources sources = must_sources(e->t, e2);
	struct must_edge edge;
	while (must_sources_next(&sources, &edge)) {
		if (edge.rule != MUST_WAIT && edge.rule != MUST_INVOCATION &&
		    (edge.before == e1 || order_ordered(e->order, e1, edge.before)))
			return true;
	}
	return false;
}

static struct event_list clashing(void *context, uint32_t item)
{
	const struct edc *e = context;
	return event_list_at(&e->touches.clashing, item);
}

static bool open_at(const struct edc *e, uint32_t acquire, uint32_t event)
{
	uint32_t release = e->t->index->partner[acquire];
	return release == NONE || release > event;
}

/* The thesis's deferred check at the release of the second section on a common lock. */
static bool sections_ordered(const struct edc *e, uint32_t e1, uint32_t e2)
{
	const struct edc_rules rules = { .context = (void *)(uintptr_t)e,
		                         .clashing = clashing };
	const struct edc_pair pair = {
		{ e1, e2 }, { e->t->events[e1].op == OP_FREE, e->t->events[e2].op == OP_FREE }
	};
	for (uint32_t a = e->innermost[e1]; a != NONE; a = e->innermost[a])
		for (uint32_t b = e->innermost[e2]; b != NONE; b = e->innermost[b])
			if (e->t->events[a].target == e->t->events[b].target &&
			    open_at(e, a, e1) && open_at(e, b, e2) &&
			    edc_sections_clash(&rules, section_of(e, a), section_of(e, b),
			                       &pair))
				return true;
	return false;
}

bool edc_orders_pair(const struct edc *e, const uint32_t events[2], const uint32_t ends[2])
{
	uint32_t first = ends[0] > ends[1];
	return ordered_before(e, events[0], events[1]) ||
	       sections_ordered(e, ends[first], ends[!first]);
}

struct edc_gathering {
	struct model *m;
	const struct edc *edc;
	struct report *report;
	bool pairs_events;
	GHashTable *pairs; /* struct place_pair, owned -> finding */
};

static bool edc_visit(void *context, const struct call *earlier, const struct call *later,
                      uint32_t older)
{
	struct edc_gathering *g = context;
	bool turned = earlier->event > later->event;
	const struct call *a = turned ? later : earlier, *b = turned ? earlier : later;
	const struct spec_object *o = g->m->objects[later->object].type->o;
	if (a->method != NONE && b->method != NONE &&
	    spec_good_order(o, a->method, b->method) < 0)
		return true;
	if (edc_orders_pair(g->edc, (uint32_t[]){ a->event, b->event },
	                    (uint32_t[]){ a->end, b->end }))
		return turned; /* the older ones are ordered, too */
	g->report->candidates++;
	struct place_pair key = place_pair_of(g->m, a->event, b->event, later->object);
	struct finding *seen = g->pairs_events ? NULL : g_hash_table_lookup(g->pairs, &key);
	if (seen != NULL) {
		seen->count += 1 + older; /* an upper bound */
		return false;
	}
	struct finding *f =
	        finding_new(strcmp(o->name, "memory") == 0 ? FINDING_USE_AFTER_FREE
	                                                   : FINDING_ORDER_VIOLATION,
	                    a->event, b->event);
	f->verdict = VERDICT_CANDIDATE;
	f->count = 1;
	f->counted_all = g->pairs_events;
	f->by = "edc";
	commute_describe(g->m, f, a, b);
	report_add(g->report, f);
	if (!g->pairs_events)
		g_hash_table_insert(g->pairs, g_memdup2(&key, sizeof key), f);
	return true;
}

struct report *edc_find(struct model *m, const struct edc_options *options,
                        const struct progress *progress, struct error *error)
{
	struct edc *edc = edc_new(m, options->bounded, progress, error);
	if (edc == NULL)
		return NULL;
	struct edc_gathering g = { .m = m,
		                   .edc = edc,
		                   .report = report_new(m->t, "edc"),
		                   .pairs_events = options->pairs_events,
		                   .pairs = g_hash_table_new_full(
		                           place_pair_hash, place_pair_equal, g_free, NULL) };
	bool whole = commute_pairs(m, edc_visit, &g, progress, error);
	for (guint i = 0; i < m->notes->len; i++)
		report_note(g.report, "%s", (char *)m->notes->pdata[i]);
	if (options->bounded)
		report_note(g.report,
		            "four critical sections were kept for each location: edges "
		            "may be missing, and there may be more candidates than without "
		            "--bounded");
	report_finish(g.report);
	report_open(g.report,
	            "one order of this run is looked at ('--analysis cov': every one)");
	g_hash_table_destroy(g.pairs);
	edc_free(edc);
	if (whole)
		return g.report;
	report_free(g.report);
	return NULL;
}
