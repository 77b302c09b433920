/*
 * syncp_collect.c - collects accesses that may be in a sync-preserving race, after the walk;
 * see syncp_private.h.
 *
 * A second pass over the events. Of open variables all accesses are collected; of guarded ones
 * those unordered with an unguarded access ("stray") by vector clocks: of two racing accesses,
 * at least one is a stray.
 */
#include "engine/base/search.h"
#include "engine/predict/syncp/syncp_private.h"

#include "engine/base/scattered.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/trace/binary/reel.h"
#include "engine/trace/own_site.h"

#include <string.h>

/* Events [from, to) of a thread that are unordered with a stray. */
struct window {
	uint32_t from, to;
};
/* State of a variable. The windows of strays are short and follow the recording: accesses are
 * examined from the first event in the window of a stray at or after `past`. */
struct chosen {
	uint32_t strays; /* number of strays; open: none */
	uint32_t first;  /* index of its first stray */
	uint32_t past;
};
/* An access to collect. */
struct found {
	uint32_t event, index;
};
/* Position in a thread's list. */
struct moment {
	uint32_t regions, sections;
};
struct collecting {
	struct syncp *s;
	uint32_t *index; /* by variable: in accesses.variables, or NONE */
	struct chosen *chosen;
	struct stray *strays;   /* by variable */
	struct window *windows; /* by variable, thread, stray */
	struct window *spans;   /* by variable, stray: unions of windows */
	uint32_t *from;         /* by variable: first event to examine, or NONE */
	GArray *found;          /* in recorded order */
	struct moment *moments;
};

/* -- which variables ----------------------------------------------------------------------- */

static bool is_open(const struct variable_use *use)
{
	return use->flags & VARIABLE_OPEN;
}

static void choose(struct collecting *c, const struct variable_use *uses)
{
	size_t variables = c->s->t->variables_count + 1;
	struct accesses *a = &c->s->accesses;
	uint32_t strays = 0;

	c->index = g_new(uint32_t, variables);
	memset(c->index, 255, variables * sizeof(uint32_t));
	for (uint32_t v = 0; v + 1 < variables; v++) {
		if (variable_suspect(&uses[v]))
			c->index[v] = a->count++;
	}
	a->variables = g_new(uint32_t, a->count + 1);
	c->chosen = g_new0(struct chosen, a->count + 1);
	for (uint32_t v = 0; v + 1 < variables; v++) {
		uint32_t i = c->index[v];

		if (i == NONE)
			continue;
		a->variables[i] = v;
		c->chosen[i].strays = is_open(&uses[v]) ? 0 : variable_strays(&uses[v]);
		c->chosen[i].first = strays;
		strays += c->chosen[i].strays;
	}
	c->chosen[a->count].first = strays;
}

static void sort_strays(struct collecting *c, const GArray *strays)
{
	uint32_t count = c->s->accesses.count;
	g_autofree uint32_t *next = g_new(uint32_t, count + 1);

	c->strays = g_new(struct stray, c->chosen[count].first + 1);
	for (uint32_t i = 0; i < count; i++)
		next[i] = c->chosen[i].first;
	for (guint i = 0; i < strays->len; i++) {
		struct stray s = g_array_index(strays, struct stray, i);
		uint32_t at = c->index[s.variable];

		if (at != NONE && c->chosen[at].strays > 0)
			c->strays[next[at]++] = s;
	}
}

/* -- windows of strays
 * ----------------------------------------------------------------------------- */

static bool clock_covers(const struct syncp *s, uint32_t clock, const struct stray *stray)
{
	return clocks_time(&s->observed->clocks, clock, stray->thread) > stray->event;
}

/* The first sync region of a thread whose clock covers a stray. */
static uint32_t first_covering(const struct syncp *s, const struct sync_regions *list,
                               const struct stray *stray)
{
	const struct sync_region *of = list->of;

	/* (Earlier regions cannot.) */
	return search_end(i, 0u, list->count,
	                  of[i].start < stray->event || !clock_covers(s, of[i].clock, stray));
}

static struct window window_of(const struct syncp *s, const struct stray *stray,
                               uint32_t thread)
{
	const struct sync_regions *list = &s->observed->regions[thread];
	struct window w = { .to = NONE };

	if (thread == stray->thread) /* itself */
		return (struct window){ stray->event, stray->event + 1 };
	w.from = clocks_time(&s->observed->clocks, stray->clock, thread);
	uint32_t knowing = first_covering(s, list, stray);
	if (knowing < list->count) {
		const struct sync_region *at = &list->of[knowing];

		/* Without its own observation the first event may be unordered. */
		w.to = at->start + !clock_covers(s, at->unobserved, stray);
	}
	return w;
}

static void make_windows(struct collecting *c)
{
	uint32_t count = c->s->accesses.count, threads = c->s->threads;

	c->windows = g_new(struct window, (size_t)c->chosen[count].first * threads + 1);
	for (uint32_t i = 0; i < count; i++) {
		const struct chosen *chosen = &c->chosen[i];
		struct window *w = c->windows + (size_t)chosen->first * threads;

		for (uint32_t u = 0; u < threads; u++) {
			for (uint32_t k = 0; k < chosen->strays; k++)
				*w++ = window_of(c->s, &c->strays[chosen->first + k], u);
		}
	}
}

/* Spans: from the first event in windows of a stray or a later one, to the last in those of it
 * or an earlier one. */
static void make_spans(struct collecting *c, const struct chosen *chosen)
{
	const struct window *w = c->windows + (size_t)chosen->first * c->s->threads;
	struct window *spans = c->spans + chosen->first;
	uint32_t count = chosen->strays;

	for (uint32_t k = 0; k < count; k++) {
		spans[k] = (struct window){ NONE, 0 };
		for (uint32_t u = 0; u < c->s->threads; u++) {
			spans[k].from = MIN(spans[k].from, w[u * count + k].from);
			spans[k].to = MAX(spans[k].to, w[u * count + k].to);
		}
	}
	for (uint32_t k = 1; k < count; k++) {
		spans[k].to = MAX(spans[k].to, spans[k - 1].to);
		spans[count - 1 - k].from =
		        MIN(spans[count - 1 - k].from, spans[count - k].from);
	}
}

static void make_gates(struct collecting *c)
{
	size_t variables = c->s->t->variables_count + 1;
	const struct accesses *a = &c->s->accesses;

	c->from = g_new(uint32_t, variables);
	memset(c->from, 255, variables * sizeof(uint32_t));
	c->spans = g_new(struct window, c->chosen[a->count].first + 1);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct chosen *chosen = &c->chosen[i];

		make_spans(c, chosen);
		c->from[a->variables[i]] =
		        chosen->strays == 0 ? 0 : c->spans[chosen->first].from;
	}
}

static inline bool near_stray(const struct collecting *c, const struct chosen *chosen,
                              uint32_t event, uint32_t thread)
{
	const struct window *w = c->windows + (size_t)chosen->first * c->s->threads +
	                         (size_t)thread * chosen->strays;

	for (uint32_t k = 0; k < chosen->strays; k++) {
		if (event >= w[k].from && event < w[k].to)
			return true;
	}
	return false;
}

/* -- the accesses -------------------------------------------------------------------------- */

/* Skip strays whose windows have passed. */
static void pass_strays(struct collecting *c, struct chosen *chosen, uint32_t event,
                        uint32_t variable)
{
	const struct window *spans = c->spans + chosen->first;

	while (chosen->past < chosen->strays && event >= spans[chosen->past].to)
		chosen->past++;
	c->from[variable] = chosen->past < chosen->strays ? spans[chosen->past].from : NONE;
}

static void look(struct collecting *c, uint32_t event, uint32_t thread, uint32_t variable)
{
	struct chosen *chosen = &c->chosen[c->index[variable]];
	struct found found = { event, c->index[variable] };

	if (chosen->strays > 0) {
		pass_strays(c, chosen, event, variable);
		if (!near_stray(c, chosen, event, thread))
			return;
	}
	g_array_append_val(c->found, found);
}

static __attribute__((noinline)) void look_at(struct collecting *c, const struct event *x,
                                              uint32_t event)
{
	struct wide run = event_variables(c->s->t, x);

	if (event_inert(x))
		return;
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (c->from[v] <= event)
			look(c, event, x->thread, v);
	}
}

/* False when cancelled. */
static bool look_all(struct collecting *c, const struct progress *progress)
{
	enum { TICK = 1 << 20 };
	const struct event *events = c->s->t->events;
	const uint32_t *from = c->from;
	uint32_t count = (uint32_t)c->s->t->events_count;
	uint32_t variables = (uint32_t)c->s->t->variables_count;

	for (uint32_t e = 0; e < count; e++) {
		const struct event *x = &events[e];
		/* Event kinds are unpredictable: no separate branch. */
		uint32_t wanted = from[MIN(x->target, variables)] <= e;

		wanted |= x->flags & EVENT_WIDE;

		if (e % TICK == 0 && !progress_tick(progress, (double)e / count, "accesses"))
			return false;
		if (G_UNLIKELY(wanted & -(uint32_t)op_is_access(x->op)))
			look_at(c, x, e);
	}
	return true;
}

static uint32_t clock_index_of(struct collecting *c, uint32_t event, uint32_t thread)
{
	const struct sync_regions *list = &c->s->observed->regions[thread];
	uint32_t *begun = &c->moments[thread].regions;

	while (*begun < list->count && list->of[*begun].start <= event)
		++*begun;
	return region_past(*begun == 0 ? NULL : &list->of[*begun - 1], event);
}

static uint32_t lockset_of(struct collecting *c, uint32_t event, uint32_t thread)
{
	const struct section_list *list = &c->s->locks.of[thread];
	uint32_t *begun = &c->moments[thread].sections, held;

	while (*begun < list->count && list->items[*begun].since < event)
		++*begun;
	held = sections_held(list, *begun == 0 ? NONE : *begun - 1, event);
	return held == NONE ? 0 : list->items[held].lockset;
}

/* Group collected accesses by variable. */
static void place_found(struct collecting *c)
{
	const struct trace *t = c->s->t;
	struct accesses *a = &c->s->accesses;
	const struct found *found = (const struct found *)(void *)c->found->data;

	a->start = g_new0(uint64_t, a->count + 2);
	a->items = scattered_new(struct access, c->found->len + 1);
	c->moments = g_new0(struct moment, c->s->threads + 1);
	for (guint i = 0; i < c->found->len; i++)
		a->start[found[i].index + 2]++;
	for (uint32_t i = 0; i < a->count; i++)
		a->start[i + 2] += a->start[i + 1];
	for (guint i = 0; i < c->found->len; i++) {
		uint32_t e = found[i].event;
		const struct event *x = &t->events[e];

		/* (The start of the next one moves on to where it belongs.) */
		a->items[a->start[found[i].index + 1]++] =
		        (struct access){ .event = e,
			                 .lockset = lockset_of(c, e, x->thread),
			                 .site = own_site(t, e),
			                 .clock = clock_index_of(c, e, x->thread),
			                 .thread = x->thread,
			                 .writes = op_writes(x->op),
			                 .atomic = op_is_atomic(x->op) };
	}
	g_free(c->moments);
}

/* May some variable race? Not asked where the lists take less memory than the events that stay.
 * False when cancelled. */
static bool look_for_any(const struct syncp *s, bool *any, const struct progress *progress)
{
	g_autofree uint64_t *suspects = NULL;
	uint64_t count = 1;
	bool done =
	        trace_stays(s->t) || race_suspects(s->t, false, &suspects, &count, progress);

	*any = count > 0;
	return done;
}

bool syncp_collect(struct syncp *s, const struct progress *progress)
{
	struct collecting c = { s };
	struct variable_use *uses = NULL;
	GArray *strays = NULL;
	bool any, done = look_for_any(s, &any, progress);

	if (!done || !any)
		return done;
	done = syncp_walk(s, &uses, &strays, progress);
	if (done) {
		choose(&c, uses);
		sort_strays(&c, strays);
	}
	g_free(uses);
	if (strays != NULL)
		g_array_free(strays, TRUE);
	if (!done)
		return false;
	make_windows(&c);
	make_gates(&c);
	c.found = g_array_new(FALSE, FALSE, sizeof(struct found));
	if (s->accesses.count > 0)
		done = look_all(&c, progress);
	place_found(&c);
	g_array_free(c.found, TRUE);
	g_free(c.windows);
	g_free(c.spans);
	g_free(c.from);
	g_free(c.strays);
	g_free(c.chosen);
	g_free(c.index);
	return done;
}
