/*
 * check.c - the checker's test for the claim "atomic": does the sequence have a cycle of units?
 * The other tests are in engine/witness.
 */
#include "engine/atomic/atomic.h"

struct wanted {
	const uint32_t *begins;
	size_t count;
	bool found;
};

static bool is_wanted(const struct wanted *w, uint32_t begin)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->begins[i] == begin)
			return true;
	return w->count == 0;
}

/* Does the graph have a cycle through wanted units only? Removes units without incoming edges
 * until none is left. */
static bool has_cycle(const struct conflict_graph *g, const struct wanted *w)
{
	guint n = g->units->len, left = 0;
	g_autofree bool *in = g_new(bool, n + 1);
	g_autofree uint32_t *entering = g_new0(uint32_t, n + 1);
	g_autoptr(GArray) free_units = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < n; i++) {
		const struct unit *u = &g_array_index(g->units, struct unit, i);
		in[i] = !u->dropped && is_wanted(w, u->begin);
		left += in[i];
	}
	for (guint e = 0; e < g->conflicts->len; e++) {
		const struct conflict *c = &g_array_index(g->conflicts, struct conflict, e);
		if (c->from != NONE && in[c->from] && in[c->to])
			entering[c->to]++;
	}
	for (uint32_t i = 0; i < n; i++)
		if (in[i] && entering[i] == 0)
			g_array_append_val(free_units, i);
	for (guint head = 0; head < free_units->len; head++, left--) {
		uint32_t u = g_array_index(free_units, uint32_t, head);
		uint32_t e = g_array_index(g->units, struct unit, u).out;
		for (const struct conflict *c; e != NONE; e = c->next) {
			c = &g_array_index(g->conflicts, struct conflict, e);
			if (in[c->to] && --entering[c->to] == 0)
				g_array_append_val(free_units, c->to);
		}
	}
	return left > 0;
}

bool atomic_check(const struct trace *t, const struct atomic_model *m,
                  struct event_list sequence, struct event_list begins, GString *reason)
{
	struct wanted w = { .begins = begins.items, .count = begins.count };
	struct graph_options o = { .sequence = sequence.items, .length = sequence.count };
	struct conflict_graph *g = conflict_graph_new(t, m, &o);
	bool good = has_cycle(g, &w);
	conflict_graph_free(g);
	if (!good && reason)
		g_string_append(
		        reason,
		        begins.count
		                ? "the cycle: the conflicts of these units form none in the "
		                  "sequence"
		                : "the cycle: no units of work form one in the sequence");
	return good;
}
