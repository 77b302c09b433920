/*
 * reach_bound.c - the search over states within a bound on preemptions (Musuvathi and Qadeer,
 * PLDI 2007): only states that a schedule with so few reaches.
 *
 * A preemption is a switch away from a thread that could have gone on: not from one that has
 * ended, waits for a lock, a condition, a thread, ..., with a limit in time or without, or has
 * no further event in the run. The states are visited by rising numbers of preemptions (0-1
 * shortest paths) together with the thread that moved last. Every event that can block or
 * unblock a thread is visible here (reach.c), so that no count is above that of the program's
 * own schedule; docs/exploration.md says why nothing within the bound is missed.
 */
#include "engine/explore/explore.h"
#include "engine/explore/reversals/reach_private.h"

#include <string.h>

enum { NOT_REACHED = UINT8_MAX };
G_STATIC_ASSERT((int)MOST_PREEMPTIONS < (int)NOT_REACHED);

/* A state, and the thread that led to it. */
struct visit {
	uint32_t state, last;
};

struct bounded {
	struct reach *r;
	GByteArray *least;  /* by state and last thread: least number of preemptions found */
	GArray *now, *next; /* struct visit: with `level` preemptions, and with one more */
	uint32_t level;
	uint32_t *threads, *waiters;
};

static void reach_with(struct bounded *b, struct visit v, bool preempts)
{
	size_t known = b->least->len, size = (size_t)b->r->count * b->r->threads;
	if (size > known) {
		g_byte_array_set_size(b->least, (guint)size);
		memset(b->least->data + known, NOT_REACHED, size - known);
	}
	uint8_t *least = &b->least->data[(size_t)v.state * b->r->threads + v.last];
	if (b->level + preempts >= *least)
		return;
	*least = (uint8_t)(b->level + preempts);
	g_array_append_val(*(preempts ? &b->next : &b->now), v);
}

/* Could the thread that moved last have continued? A thread in a wait for a condition or at a
 * barrier that is woken later did not run in between. */
static bool could_go_on(struct bounded *b, struct visit v)
{
	b->r->barred[v.last] = false;
	struct event_list mine = trace_thread_events(b->r->t, v.last);
	uint32_t done = reach_state(b->r, v.state)[v.last];
	enum op next = done == mine.count ? OP_WAKE : b->r->t->events[mine.items[done]].op;
	bool sleeps = op_acquires(next) && /* sleeps on a futex, until a timeout */
	              sync_waits(b->r, reach_state(b->r, v.state), v.last) != NONE;
	if (next == OP_WAKE || sleeps ||
	    (done < mine.count &&
	     sync_waits_in_time(b->r, reach_state(b->r, v.state), mine.items[done])))
		return false;
	return reach_look_at(b->r, v.state, v.last) != ANSWER_WAITS;
}

static void visit(struct bounded *b, struct visit v)
{
	struct reach *r = b->r;
	bool preempts = could_go_on(b, v);
	bool bars = preempts && b->level == r->x->limits->preemptions;
	for (uint32_t u = 0; u < r->threads; u++)
		r->barred[u] = bars && u != v.last;
	uint32_t count = reach_look(r, v.state, b->threads);
	reach_look_at_early(r, v.state);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t u = b->threads[i];
		r->x->bounded |= r->barred[u];
		uint32_t ways = r->barred[u] ? 0 : reach_waiters(r, v.state, u, b->waiters);
		for (uint32_t w = 0; w < ways; w++) {
			uint32_t s = reach_add_next(r, v.state, u, b->waiters[w]);
			reach_with(b, (struct visit){ s, u }, preempts && u != v.last);
		}
	}
}

static bool is_reached(const struct bounded *b, struct visit v)
{
	return b->least->data[(size_t)v.state * b->r->threads + v.last] == b->level;
}

bool reach_bounded(struct reach *r, uint32_t most)
{
	struct bounded b = { .r = r,
		             .least = g_byte_array_new(),
		             .now = g_array_new(FALSE, FALSE, sizeof(struct visit)),
		             .next = g_array_new(FALSE, FALSE, sizeof(struct visit)),
		             .threads = g_new(uint32_t, r->threads + 1),
		             .waiters = g_new(uint32_t, r->threads + 1) };
	uint64_t visits = 0;
	bool done = true;
	if (r->t->events_count > 0)
		reach_with(&b, (struct visit){ 0, r->t->events[0].thread }, false);
	while (b.now->len > 0 && done) {
		for (guint i = 0; i < b.now->len && done; i++) {
			struct visit v = g_array_index(b.now, struct visit, i);
			if (is_reached(&b, v))
				visit(&b, v);
			done = r->count <= most &&
			       (visits++ % 256 != 0 || !reach_is_stopped(r));
		}
		GArray *empty = b.now;
		g_array_set_size(empty, 0);
		b.now = b.next;
		b.next = empty;
		b.level++;
	}
	g_byte_array_unref(b.least);
	g_array_unref(b.now);
	g_array_unref(b.next);
	g_free(b.threads);
	g_free(b.waiters);
	return done && !r->x->stopped;
}
