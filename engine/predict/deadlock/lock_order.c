/*
 * lock_order.c - strongly connected components of the lock order; see lock_order.h.
 */
#include "engine/predict/deadlock/lock_order.h"

#include <string.h>

/* Tarjan's algorithm with an explicit stack, since chains of locks may be long. */
struct walk {
	const uint64_t *start; /* by lock, into wanted */
	const uint32_t *wanted;
	uint32_t *index, *low, *component; /* by lock; index NONE: unvisited */
	uint64_t *next;                    /* by lock: the next edge */
	uint32_t *path, *open;             /* both stacks of locks */
	uint32_t path_count, open_count, met, components;
};

static void enter(struct walk *w, uint32_t lock)
{
	w->index[lock] = w->low[lock] = w->met++;
	w->next[lock] = w->start[lock];
	w->path[w->path_count++] = lock;
	w->open[w->open_count++] = lock;
}

/* Finishes `lock`, all of whose successors were visited. */
static void leave(struct walk *w, uint32_t lock)
{
	uint32_t member;

	w->path_count--;
	if (w->path_count > 0) {
		uint32_t before = w->path[w->path_count - 1];

		w->low[before] = MIN(w->low[before], w->low[lock]);
	}
	if (w->low[lock] != w->index[lock])
		return;
	do {
		member = w->open[--w->open_count];
		w->component[member] = w->components;
	} while (member != lock);
	w->components++;
}

static void walk_from(struct walk *w, uint32_t root)
{
	enter(w, root);
	while (w->path_count > 0) {
		uint32_t lock = w->path[w->path_count - 1];

		if (w->next[lock] == w->start[lock + 1]) {
			leave(w, lock);
			continue;
		}
		uint32_t to = w->wanted[w->next[lock]++];

		if (w->index[to] == NONE)
			enter(w, to);
		else if (w->component[to] == NONE)
			w->low[lock] = MIN(w->low[lock], w->index[to]);
	}
}

static void sort_edges(uint64_t *start, uint32_t *wanted, uint32_t locks,
                       const struct lock_edge *edges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		start[edges[i].held + 1]++;
	for (uint32_t l = 0; l < locks; l++)
		start[l + 1] += start[l];
	for (size_t i = count; i-- > 0;) /* start[held] moves to its end and back */
		wanted[start[edges[i].held]++] = edges[i].wanted;
	memmove(start + 1, start, locks * sizeof(*start));
	start[0] = 0;
}

uint32_t *lock_order_components(uint32_t locks, const struct lock_edge *edges, size_t count)
{
	g_autofree uint64_t *start = g_new0(uint64_t, locks + 2);
	g_autofree uint32_t *wanted = g_new(uint32_t, count + 1);
	struct walk w = { .start = start,
		          .wanted = wanted,
		          .index = g_new(uint32_t, locks + 1),
		          .low = g_new(uint32_t, locks + 1),
		          .component = g_new(uint32_t, locks + 1),
		          .next = g_new(uint64_t, locks + 1),
		          .path = g_new(uint32_t, locks + 1),
		          .open = g_new(uint32_t, locks + 1) };

	sort_edges(start, wanted, locks, edges, count);
	memset(w.index, 0xff, (locks + 1) * sizeof(uint32_t));
	memset(w.component, 0xff, (locks + 1) * sizeof(uint32_t));
	for (uint32_t l = 0; l < locks; l++) {
		if (w.index[l] == NONE)
			walk_from(&w, l);
	}
	g_free(w.index);
	g_free(w.low);
	g_free(w.next);
	g_free(w.path);
	g_free(w.open);
	return w.component;
}
