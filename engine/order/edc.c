/*
 * edc.c - EDC's edges from critical sections (extended doesn't-commute, rule (a)) of a whole
 * trace. They do not depend on each other, so one pass over the trace finds them all
 * (edc_sections.h), and causality.c walks with them.
 */
#include "engine/order/order_private.h"

enum { WORDS = 4 }; /* sections kept for an item when bounded, as in the thesis */

struct edc_pass {
	const struct order_touches *touches;
	GArray *edges;  /* struct forced_edge */
	uint32_t event; /* the current one */
};

static struct event_list clashing(void *context, uint32_t item)
{
	const struct edc_pass *p = context;
	return event_list_at(&p->touches->clashing, item);
}

/* Several items of an event may clash with those of one section. */
static void add_edge(void *context, const struct sync_point *release, uint32_t lock)
{
	struct edc_pass *p = context;
	for (guint i = p->edges->len; i-- > 0;) {
		const struct forced_edge *e = &g_array_index(p->edges, struct forced_edge, i);
		if (e->to != p->event)
			break;
		if (e->from == release->event)
			return;
	}
	struct forced_edge e = { release->event, p->event, lock, STEP_CONFLICT_SECTION };
	g_array_append_val(p->edges, e);
}

static void lock_event(struct edc_sections *s, GHashTable *kept, uint32_t e,
                       const struct event *x)
{
	struct sync_point here = { e, x->thread, 0 };
	if (op_releases(x->op))
		edc_sections_release(s, here, x->target);
	if (!op_acquires(x->op))
		return;
	struct edc_section *section =
	        edc_sections_acquire(s, x->thread, e, x->target, x->op == OP_RACQ);
	if (kept != NULL)
		g_hash_table_insert(kept, GUINT_TO_POINTER(e), edc_section_ref(section));
}

GArray *edc_edges(struct trace *t, const struct order_touches *touches, GHashTable *sections,
                  const struct progress *progress)
{
	struct edc_pass p = { .touches = touches };
	const struct edc_rules rules = { .context = &p,
		                         .clashing = clashing,
		                         .join = add_edge,
		                         .most = touches->bounded ? WORDS : 0,
		                         .lenient = t->locks_taken };
	struct edc_sections *s = edc_sections_new(&rules);
	bool whole = true;
	p.edges = g_array_new(FALSE, FALSE, sizeof(struct forced_edge));
	for (; whole && p.event < t->events_count; p.event++) {
		const struct event *x = &t->events[p.event];
		if ((p.event & 0xfffff) == 0)
			whole = progress_tick(progress, (double)p.event / t->events_count,
			                      "critical sections");
		struct event_list touched = event_list_at(&touches->touched, p.event);
		for (uint64_t i = 0; i < touched.count; i++)
			edc_sections_touch(s, x->thread, p.event, touched.items[i]);
		if (!event_inert(x) && (op_acquires(x->op) || op_releases(x->op)))
			lock_event(s, sections, p.event, x);
	}
	edc_sections_free(s);
	if (whole)
		return p.edges;
	g_array_unref(p.edges);
	return NULL;
}
