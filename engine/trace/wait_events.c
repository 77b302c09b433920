/*
 * wait_events.c - see wait_events.h.
 */
#include "engine/trace/wait_events.h"

#include "engine/trace/index.h"
#include "engine/trace/storage.h"

enum { MOST = 1 << 20 }; /* 24 bytes each */

struct wait_event {
	struct event event;
	uint32_t number;
};

struct wait_events {
	const struct trace *t;
	GArray *of; /* struct wait_event; NULL: too many */
};

struct wait_walk wait_walk(const struct trace *t)
{
	return (struct wait_walk){ .t = t };
}

static bool next_of_all(struct wait_walk *w)
{
	for (; w->next < w->t->events_count; w->next++) {
		w->event = &w->t->events[w->next];
		if (OPERATION(w->event->op) & WAIT_OPERATIONS) {
			w->number = (uint32_t)w->next++;
			return true;
		}
	}
	return false;
}

bool wait_walk_next(struct wait_walk *w)
{
	const GArray *known = w->t->storage->wait_events;
	if (known == NULL)
		return (w->next > 0 || trace_has(w->t, WAIT_OPERATIONS)) && next_of_all(w);
	if (w->next == known->len)
		return false;
	const struct wait_event *e = &g_array_index(known, struct wait_event, w->next++);
	w->event = &e->event;
	w->number = e->number;
	return true;
}

struct wait_events *wait_events_begin(const struct trace *t)
{
	bool part = t->recorded != NULL || (t->index != NULL && t->index->whole != NULL);
	if (part || t->storage->wait_events != NULL)
		return NULL;
	struct wait_events *w = g_new0(struct wait_events, 1);
	w->t = t;
	w->of = g_array_new(FALSE, FALSE, sizeof(struct wait_event));
	return w;
}

void wait_events_see(struct wait_events *w, uint32_t number, const struct event *event)
{
	if (!(OPERATION(event->op) & WAIT_OPERATIONS) || w->of == NULL)
		return;
	struct wait_event e = { *event, number };
	g_array_append_val(w->of, e);
	if (w->of->len == MOST)
		g_clear_pointer(&w->of, g_array_unref);
}

void wait_events_end(struct wait_events *w)
{
	w->t->storage->wait_events = g_steal_pointer(&w->of);
	wait_events_drop(w);
}

void wait_events_drop(struct wait_events *w)
{
	if (w != NULL && w->of != NULL)
		g_array_unref(w->of);
	g_free(w);
}
