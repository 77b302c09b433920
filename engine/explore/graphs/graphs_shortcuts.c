/*
 * graphs_shortcuts.c - pasts of a thread that have the same continuations as a shorter one.
 *
 *     r = x;
 *     while (!compare_exchange(&x, &r, r + 1))
 *             ;
 *
 * A thread that reads a, fails and then reads b goes on as if it had read b at once: the
 * registers, the stack and the place are the same. So of its looks since it last changed
 * anything, all but one may be left out, and an earlier one, of the same location, reads what
 * that one did. This makes a graph of the program, too: events are left out, and the earlier
 * look orders no more than the later one in whose place it comes. Every continuation of the
 * longer past is one of the shorter past. So the longer one is not continued: the graph is
 * abandoned.
 *
 * That the states are equal is seen in runs (the runtime's states, memory/rounds.h), by past;
 * when both are known, it holds from the next enumeration on.
 */
#include "engine/explore/graphs/graphs.h"

enum { MOST_LOOKS = 12 };

void graphs_look(GArray *looks, const struct graphs_looked *look)
{
	if (looks->len == MOST_LOOKS)
		g_array_remove_index(looks, 0);
	g_array_append_val(looks, *look);
}

/* Does a look of kind `a` order no more than one of kind `b`? */
static bool orders_no_more(const struct memory_event *a, const struct memory_event *b)
{
	const unsigned locked = MEMORY_LOCKED | MEMORY_EXCLUSIVE;
	return a->order >= ORDER_RLX && a->order <= b->order &&
	       (!(a->flags & locked) || (b->flags & locked));
}

static void leads_to_the_same(struct graphs *s, struct known *known)
{
	if (known->passed != 0 || known->step != MEMORY_STEP_EVENT)
		return;
	known->passed = s->enumeration + 1;
	s->shortens = true;
}

/* The past `mark` has the continuations of `shorter`, if their states are equal. */
static void compare(struct graphs *s, uint64_t mark, uint64_t shorter)
{
	struct known *known = g_hash_table_lookup(s->known, &mark);
	const struct known *other = g_hash_table_lookup(s->known, &shorter);
	if (other != NULL && other->state != 0) {
		if (other->state == known->state)
			leads_to_the_same(s, known);
		return;
	}
	GArray *longer = g_hash_table_lookup(s->longer, &shorter);
	if (longer == NULL) {
		longer = g_array_new(FALSE, FALSE, sizeof(uint64_t));
		g_hash_table_insert(s->longer, g_memdup2(&shorter, sizeof shorter), longer);
	}
	g_array_append_val(longer, mark);
}

void graphs_note_state(struct graphs *s, struct memory_graph *g, const GArray *looks,
                       uint64_t mark, uint64_t state)
{
	struct known *known = g_hash_table_lookup(s->known, &mark);
	if (known == NULL || state == 0 || known->state != 0)
		return;
	known->state = state;
	for (guint i = 0; i < looks->len; i++)
		for (guint k = i + 1; k < looks->len; k++) {
			const struct graphs_looked *earlier =
			        &g_array_index(looks, struct graphs_looked, i);
			const struct memory_event *a = &g->events[earlier->event];
			const struct memory_event *b =
			        &g->events[g_array_index(looks, struct graphs_looked, k).event];
			if (a->location == b->location && orders_no_more(a, b))
				compare(s, mark, graphs_mark_as(g, earlier->before, a, b));
		}
	const GArray *longer = g_hash_table_lookup(s->longer, &mark);
	for (guint i = 0; longer != NULL && i < longer->len; i++) {
		uint64_t other = g_array_index(longer, uint64_t, i);
		struct known *of = g_hash_table_lookup(s->known, &other);
		if (of != NULL && of->state == state)
			leads_to_the_same(s, of);
	}
}
