/*
 * points_pane.c - access points at an event: for the last used object the touched points with
 * threads and vector clocks, and unordered conflicts (PLDI 2014, Fig. 3).
 */
#include "engine/commute/clock.h"
#include "tui/explorer/views/state_pane.h"

#include <string.h>

/* Clocks are recomputed for every event shown, so only in small traces. */
enum { LOOK_BACK = 4000, MOST_POINTS = 40, CLOCK_THREADS = 16, MOST_EVENTS = 1 << 20 };

/* An access point and its last touch by a thread. */
struct touched {
	char *text;
	uint32_t point, event, end, thread;
	uint32_t *clock; /* at the call: number of events by thread */
};

static void touched_clear(void *touched)
{
	g_free(((struct touched *)touched)->text);
	g_free(((struct touched *)touched)->clock);
}

/* The last invocation on an instance that ended at or before the event; false: none. */
static bool last_call(const struct session *s, struct call *found, struct call_scratch *scratch)
{
	struct call calls[MOST_CALLS];
	uint32_t end = s->event > LOOK_BACK ? s->event - LOOK_BACK : 0;
	for (uint32_t e = s->event + 1; e-- > end;) {
		if (op_table[s->trace->events[e].op].class != OP_CLASS_CALL ||
		    model_calls(s->model, e, calls, scratch) == 0)
			continue;
		const struct model_object *o = &s->model->objects[calls[0].object];
		*found = calls[0];
		return !o->pairwise && o->source == FROM_INSTANCE;
	}
	return false;
}

static void note(GArray *list, struct touched new)
{
	for (guint i = 0; i < list->len; i++) {
		const struct touched *old = &g_array_index(list, struct touched, i);
		if (old->thread == new.thread && strcmp(old->text, new.text) == 0) {
			g_free(new.text); /* keep the later one */
			return;
		}
	}
	g_array_append_val(list, new);
}

/* The object's touches, from the event backwards. */
static GArray *touched_of(const struct session *s, uint32_t object)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct touched));
	g_array_set_clear_func(list, touched_clear);
	const struct points *points = s->model->objects[object].type->points;
	uint32_t end = s->event > LOOK_BACK ? s->event - LOOK_BACK : 0;
	struct call_scratch scratch;
	struct call calls[MOST_CALLS];
	for (uint32_t e = s->event + 1; e-- > end && list->len < MOST_POINTS;) {
		if (op_table[s->trace->events[e].op].class != OP_CLASS_CALL ||
		    model_calls(s->model, e, calls, &scratch) == 0 ||
		    calls[0].object != object || calls[0].method == NONE)
			continue;
		uint32_t count;
		bool overflow = false;
		const struct touch *touches =
		        points_touched(points, calls[0].method, calls[0].names,
		                       &s->model->texts, &count, &overflow);
		for (uint32_t i = 0; i < count; i++)
			note(list, (struct touched){ .text = model_point_text(
			                                     s->model, &calls[0], touches[i]),
			                             .point = touches[i].point,
			                             .event = calls[0].event,
			                             .end = e,
			                             .thread = s->trace->events[e].thread });
	}
	return list;
}

static bool clash(const struct points *points, const struct touched *a, const struct touched *b)
{
	const struct point *p = points_at(points, a->point), *q = points_at(points, b->point);
	bool conflicts = false;
	for (guint i = 0; i < p->conflicts->len; i++)
		conflicts |= g_array_index(p->conflicts, uint32_t, i) == b->point;
	if (!conflicts || p->key == NULL || q->key == NULL)
		return conflicts;
	/* "dict1:w:\"a.com\"": the key follows the point's name */
	const char *k = strchr(a->text, ':'), *l = strchr(b->text, ':');
	k = k ? strchr(k + 1, ':') : NULL;
	l = l ? strchr(l + 1, ':') : NULL;
	return k != NULL && l != NULL && strcmp(k, l) == 0;
}

/* The clock of an event as numbers of events, including the event itself. */
static uint32_t *counts_at(const struct scope_clocks *c, const struct trace *t, uint32_t event)
{
	uint32_t own = t->events[event].thread, clock = scope_clocks_of(c, own);
	uint32_t *counts = g_new(uint32_t, t->threads_count);

	for (uint32_t u = 0; u < t->threads_count; u++)
		counts[u] = trace_events_before(
		        t, u, u == own ? event + 1 : scope_clocks_time(c, clock, u));
	return counts;
}

/* Clocks of commutativity race detection: synchronisation inside an object's invocations does
 * not order. */
static void find_clocks(const struct session *s, GArray *list)
{
	struct scope_clocks *c = scope_clocks_new(s->model, NULL);
	for (uint32_t e = 0; e <= s->event; e++) {
		scope_clocks_before(c, e);
		for (guint i = 0; i < list->len; i++) {
			struct touched *a = &g_array_index(list, struct touched, i);
			if (a->event == e)
				a->clock = counts_at(c, s->trace, e);
		}
		scope_clocks_after(c, e);
	}
	scope_clocks_free(c);
}

static void append_clock(const struct session *s, const uint32_t *clock, GString *out)
{
	g_string_append(out, " ⟨");
	for (uint32_t j = 0; j < MIN(s->trace->threads_count, CLOCK_THREADS); j++)
		g_string_append_printf(out, "%s%u", j ? ", " : "", clock[j]);
	g_string_append(out, s->trace->threads_count > CLOCK_THREADS ? ", …⟩" : "⟩");
}

/* The event of an unordered conflicting touch, as text; or NULL. */
static char *remark(const struct trace *t, const struct points *points, const GArray *list,
                    const struct touched *a)
{
	for (guint i = 0; i < list->len; i++) {
		const struct touched *b = &g_array_index(list, struct touched, i);
		const struct touched *first = a->end < b->end ? a : b,
		                     *second = first == a ? b : a;
		if (b->thread != a->thread && clash(points, a, b) &&
		    t->index->position[first->end] >= second->clock[first->thread])
			return g_strdup_printf("  races with %u", b->event);
	}
	return NULL;
}

void add_access_points(const struct app *app, GArray *rows)
{
	const struct session *s = app->session;
	struct call_scratch scratch;
	struct call last;
	if (s->model == NULL || !session_has(s, INDEX_ALL) || s->event >= MOST_EVENTS ||
	    !last_call(s, &last, &scratch))
		return;
	const struct points *points = s->model->objects[last.object].type->points;
	g_autoptr(GArray) list = touched_of(s, last.object);
	find_clocks(s, list);
	for (guint i = 0; i < list->len; i++) {
		const struct touched *a = &g_array_index(list, struct touched, i);
		const char *name = trace_thread_name(s->trace, a->thread);
		GString *text = g_string_new(NULL);
		append_escaped(text, a->text, strlen(a->text));
		g_string_append(text, "  ");
		append_escaped(text, name, strlen(name));
		g_string_append_printf(text, " at %u", a->event);
		append_clock(s, a->clock, text);
		struct state_row row = { style_of_thread(a->thread), g_string_free(text, FALSE),
			                 remark(s->trace, points, list, a) };
		g_array_append_val(rows, row);
	}
}
