/*
 * cone.c - the critical sections of a trace and the cones of pairs; see cone.h.
 */
#include "engine/base/arrays.h"
#include "engine/base/search.h"
#include "engine/predict/m2/cone.h"
#include "engine/trace/tries.h"

#include <string.h>

/* Open sections: an innermost one, and those around it. Lists share what they have in common,
 * so that nested sections need no memory of the square of their depth. */
struct open_list {
	uint32_t section;
	uint32_t around;  /* index of opens; 0: none */
	uint32_t count;   /* sections in the list */
	uint32_t settled; /* the position of the last of their releases, or 0 */
};
/* After the event at `position`, the sections of this list are open. */
struct lock_change {
	uint32_t position, open; /* open: index of opens */
};

struct cones {
	struct trace *t;
	uint32_t threads;
	struct past *past;
	struct lock_sections sections;
	struct lock_change **changes; /* by thread */
	uint32_t *change_count;
	GArray *opens; /* struct open_list; the first is the empty list */
	const struct tries *tries;
	uint32_t *inexact; /* by thread: position of the first event that is approximated */
	GArray *late;      /* struct late_access */
};

static uint32_t position_of(const struct cones *c, uint32_t e)
{
	return c->t->index->position[e];
}

/* -- critical sections --------------------------------------------------------------------- */

static const struct open_list *open_at(const struct cones *c, uint32_t list)
{
	return &g_array_index(c->opens, struct open_list, list);
}

/* The list with one more section inside of it. */
static uint32_t open_add(struct cones *c, uint32_t list, uint32_t section)
{
	const struct open_list *around = open_at(c, list);
	uint32_t q = cones_section(c, section)->q;
	struct open_list fresh = { section, list, around->count + 1,
		                   q == NONE ? around->settled : MAX(around->settled, q) };

	g_array_append_val(c->opens, fresh);
	return c->opens->len - 1;
}

/* The list without a section, which mostly is the innermost one. `inner`: scratch. */
static uint32_t open_remove(struct cones *c, uint32_t list, uint32_t section, GArray *inner)
{
	uint32_t at = list;

	g_array_set_size(inner, 0);
	for (; at != 0 && open_at(c, at)->section != section; at = open_at(c, at)->around)
		g_array_append_val(inner, open_at(c, at)->section);
	if (at == 0)
		return list;
	at = open_at(c, at)->around;
	for (guint i = inner->len; i-- > 0;)
		at = open_add(c, at, g_array_index(inner, uint32_t, i));
	return at;
}

/* For each thread, the open sections after each lock event. */
static void make_changes(struct cones *c)
{
	const struct trace *t = c->t;
	const struct open_list none = { NONE, 0, 0, 0 };
	g_autofree uint32_t *by_event = NULL; /* acquire or release -> section */
	g_autofree uint32_t *open = g_new0(uint32_t, c->threads + 1); /* by thread */
	g_autofree GArray **changes = arrays_new(c->threads, sizeof(struct lock_change));
	g_autoptr(GArray) inner = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	by_event = g_new(uint32_t, t->events_count + 1);
	for (uint32_t i = 0; i < c->sections.count; i++) {
		const struct lock_section *s = cones_section(c, i);

		by_event[s->acquire] = i;
		if (s->release != NONE)
			by_event[s->release] = i;
	}
	c->opens = g_array_new(FALSE, FALSE, sizeof(struct open_list));
	g_array_append_val(c->opens, none);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t *list = &open[x->thread];

		if (event_inert(x) || !(op_acquires(x->op) || op_releases(x->op)) ||
		    (op_releases(x->op) && t->index->partner[e] == NONE))
			continue;
		*list = op_acquires(x->op) ? open_add(c, *list, by_event[e])
		                           : open_remove(c, *list, by_event[e], inner);
		struct lock_change change = { position_of(c, e), *list };
		g_array_append_val(changes[x->thread], change);
	}
	c->changes = g_new0(struct lock_change *, c->threads + 1);
	c->change_count = g_new0(uint32_t, c->threads + 1);
	for (uint32_t u = 0; u < c->threads; u++) {
		c->change_count[u] = changes[u]->len;
		c->changes[u] = (struct lock_change *)g_array_free(changes[u], FALSE);
	}
}

const struct lock_user *cones_lock(const struct cones *c, uint32_t object, uint32_t *count)
{
	return lock_uses(&c->sections, object, count);
}

const struct lock_section *cones_section(const struct cones *c, uint32_t index)
{
	return &c->sections.items[index];
}

uint32_t cones_begun(const struct cones *c, const struct lock_user *use, uint32_t position)
{
	return search_end(i, 0u, use->count, c->sections.items[use->first + i].p < position);
}

/* The sections that are open where the first `prefix` events of the thread have come. */
static const struct open_list *open_before(const struct cones *c, uint32_t thread,
                                           uint32_t prefix)
{
	uint32_t low = search_end(i, 0, c->change_count[thread],
	                          c->changes[thread][i].position < prefix);

	return open_at(c, low == 0 ? 0 : c->changes[thread][low - 1].open);
}

const uint32_t *cones_open(const struct cones *c, uint32_t thread, uint32_t prefix,
                           GArray *into)
{
	const struct open_list *list = open_before(c, thread, prefix);

	g_array_set_size(into, list->count);
	for (; list->count > 0; list = open_at(c, list->around))
		g_array_index(into, uint32_t, list->count - 1) = list->section;
	return (const uint32_t *)(const void *)into->data;
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

/* Observations of failed tries only approximate their rule: another section would do, and C11
 * has no order for tries. */
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

/* -- late accesses ------------------------------------------------------------------------ */

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
	struct past_options options = PAST_DEFAULTS;

	options.tries = true;
	struct past *past = past_new(t, &options, progress);
	if (past == NULL)
		return NULL;
	struct cones *c = g_new0(struct cones, 1);
	c->t = t;
	c->past = past;
	c->threads = (uint32_t)t->threads_count;
	lock_sections_init(&c->sections, t);
	make_changes(c);
	make_tries(c);
	make_late(c);
	return c;
}

const struct past *cones_past(const struct cones *c)
{
	return c->past;
}

void cones_free(struct cones *c)
{
	if (c == NULL)
		return;
	past_free(c->past);
	for (uint32_t u = 0; u < c->threads; u++)
		g_free(c->changes[u]);
	g_free(c->changes);
	g_free(c->change_count);
	g_free(c->inexact);
	lock_sections_release(&c->sections);
	g_array_unref(c->opens);
	g_array_unref(c->late);
	g_free(c);
}

/* -- cones --------------------------------------------------------------------------------- */

/* Extend the cone to a longer prefix of a thread with its causal past; true when it was
 * longer. */
static bool include(const struct cones *c, struct cone *cone, uint32_t thread, uint32_t prefix)
{
	if (prefix <= cone->prefix[thread])
		return false;
	past_extend(c->past, trace_thread_events(c->t, thread).items[prefix - 1], cone->prefix);
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
			uint32_t settled = open_before(c, u, cone->prefix[u])->settled;
			if (settled > 0 && settled >= cone->prefix[u] &&
			    include(c, cone, u, settled + 1))
				more = cone->extended = true;
		}
	}
	cone->exact = true;
	for (uint32_t u = 0; u < c->threads; u++)
		cone->exact &= cone->prefix[u] <= c->inexact[u];
}

void cone_make(const struct cones *c, uint32_t e1, uint32_t e2, struct cone *cone)
{
	memset(cone->prefix, 0, c->threads * sizeof(uint32_t));
	cone->extended = false;
	past_join_before(c->past, e1, cone->prefix);
	past_join_before(c->past, e2, cone->prefix);
	cone_close(c, c->t->events[e1].thread, c->t->events[e2].thread, cone);
}
