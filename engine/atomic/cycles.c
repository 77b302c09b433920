/*
 * cycles.c - the distinct cycles of a conflict graph, as findings.
 */
#include "engine/atomic/atomic.h"

#include <string.h>

struct cycles {
	const struct trace *t;
	const struct atomic_model *m;
	const struct conflict_graph *g; /* the one at hand */
	uint32_t *component;            /* by unit; NONE: not among those at hand */
	uint32_t *via;                  /* by unit: the edge by which the search came */
	uint64_t *seen;                 /* by unit: the search that saw it */
	uint64_t round;
	GArray *queue;         /* uint32_t */
	GHashTable *instances; /* cycles already counted: key of their accesses */
	GHashTable *searched;  /* code of an edge -> how many such edges have been searched */
	bool capped;           /* some were left out */
	GHashTable *codes;     /* of all cycles that were collected */
	GHashTable *findings;  /* by code (borrowed from codes): struct finding * */
};

#define UNIT(s, i)     (&g_array_index((s)->g->units, struct unit, i))
#define CONFLICT(s, i) (&g_array_index((s)->g->conflicts, struct conflict, i))

/* -- strongly connected components (Tarjan, without recursion) --------------------------- */

struct tarjan {
	uint32_t *number, *low, *next;
	GArray *stack, *path;
	uint32_t counter, components;
};

static void tarjan_enter(struct cycles *s, struct tarjan *j, uint32_t u)
{
	j->number[u] = j->low[u] = ++j->counter;
	j->next[u] = UNIT(s, u)->out;
	g_array_append_val(j->stack, u);
	g_array_append_val(j->path, u);
}

static void tarjan_leave(struct cycles *s, struct tarjan *j, uint32_t u)
{
	g_array_set_size(j->path, j->path->len - 1);
	if (j->path->len) {
		uint32_t up = g_array_index(j->path, uint32_t, j->path->len - 1);
		j->low[up] = MIN(j->low[up], j->low[u]);
	}
	if (j->low[u] != j->number[u])
		return;
	uint32_t v;
	do {
		v = g_array_index(j->stack, uint32_t, j->stack->len - 1);
		g_array_set_size(j->stack, j->stack->len - 1);
		s->component[v] = j->components;
	} while (v != u);
	j->components++;
}

static void tarjan_from(struct cycles *s, struct tarjan *j, uint32_t root)
{
	tarjan_enter(s, j, root);
	while (j->path->len) {
		uint32_t u = g_array_index(j->path, uint32_t, j->path->len - 1);
		if (j->next[u] == NONE) {
			tarjan_leave(s, j, u);
			continue;
		}
		const struct conflict *c = CONFLICT(s, j->next[u]);
		j->next[u] = c->next;
		if (j->number[c->to] == 0)
			tarjan_enter(s, j, c->to);
		else if (s->component[c->to] == NONE)
			j->low[u] = MIN(j->low[u], j->number[c->to]);
	}
}

static void find_components(struct cycles *s, const bool *among)
{
	guint n = s->g->units->len;
	struct tarjan j = { .number = g_new0(uint32_t, n + 1),
		            .low = g_new0(uint32_t, n + 1),
		            .next = g_new0(uint32_t, n + 1),
		            .stack = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		            .path = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	memset(s->component, 0xff, n * sizeof *s->component);
	for (guint u = 0; u < n; u++)
		if (!UNIT(s, u)->dropped && (among == NULL || among[u]) && j.number[u] == 0)
			tarjan_from(s, &j, u);
	g_free(j.number);
	g_free(j.low);
	g_free(j.next);
	g_array_free(j.stack, TRUE);
	g_array_free(j.path, TRUE);
}

/* -- one shortest cycle ------------------------------------------------------------------ */

static void search_breadth_first(struct cycles *s, uint32_t from, uint32_t goal)
{
	s->round++;
	g_array_set_size(s->queue, 0);
	g_array_append_val(s->queue, from);
	s->seen[from] = s->round;
	for (guint head = 0; head < s->queue->len; head++) {
		uint32_t u = g_array_index(s->queue, uint32_t, head);
		if (u == goal)
			return;
		for (uint32_t e = UNIT(s, u)->out; e != NONE; e = CONFLICT(s, e)->next) {
			uint32_t v = CONFLICT(s, e)->to;
			if (s->component[v] != s->component[goal] || s->seen[v] == s->round)
				continue;
			s->seen[v] = s->round;
			s->via[v] = e;
			g_array_append_val(s->queue, v);
		}
	}
}

/* The edges of a shortest cycle that begins with `edge`, which is inside a component. */
static void shortest_cycle(struct cycles *s, uint32_t edge, GArray *cycle)
{
	const struct conflict *first = CONFLICT(s, edge);
	search_breadth_first(s, first->to, first->from);
	BUG_ON(s->seen[first->from] != s->round);
	g_array_set_size(cycle, 0);
	for (uint32_t u = first->from; u != first->to; u = CONFLICT(s, s->via[u])->from)
		g_array_prepend_val(cycle, s->via[u]);
	g_array_prepend_val(cycle, edge);
}

/* -- keys ---------------------------------------------------------------------------------- */

/* The code of one edge: its unit (or, outside of units, the place of the access) and its
 * variable. */
static void append_code(struct cycles *s, uint32_t edge, GString *key)
{
	const struct conflict *c = CONFLICT(s, edge);
	const struct unit *u = UNIT(s, c->from);
	if (u->name == NONE)
		g_string_append_printf(key, "@%u", s->t->events[u->begin].location);
	else
		g_string_append_printf(key, "%u", u->name);
	g_string_append_printf(key, ":%u:%u;", s->t->variables[c->variable].name, c->set);
}

static void append_edge(struct cycles *s, uint32_t edge, GString *key)
{
	const struct conflict *c = CONFLICT(s, edge);
	g_string_append_printf(key, "%u:%u:%u;", c->events[0], c->events[1], c->set);
}

/* The least of the cycle's rotations, so that it does not matter where it begins.  The
 * caller frees it. */
static char *cycle_key(struct cycles *s, const GArray *cycle,
                       void (*append)(struct cycles *, uint32_t, GString *))
{
	char *least = NULL;
	for (guint from = 0; from < cycle->len; from++) {
		GString *key = g_string_new(NULL);
		for (guint i = 0; i < cycle->len; i++)
			append(s, g_array_index(cycle, uint32_t, (from + i) % cycle->len), key);
		if (least == NULL || strcmp(key->str, least) < 0) {
			g_free(least);
			least = g_string_free(key, FALSE);
		} else {
			g_string_free(key, TRUE);
		}
	}
	return least;
}

/* -- findings --------------------------------------------------------------------------------
 */

static struct cycle_unit cycle_unit(struct cycles *s, uint32_t unit)
{
	const struct unit *u = UNIT(s, unit);
	struct cycle_unit out = { .thread = u->thread,
		                  .begin = u->begin,
		                  .end = u->end == NONE ? s->t->events_count - 1 : u->end };
	out.unit = u->name == NONE ? g_strdup_printf("event %u", u->begin)
	                           : g_strdup(trace_string(s->t, u->name));
	return out;
}

static guint set_index(struct cycles *s, struct finding *f, uint32_t set)
{
	const char *name = s->m->sets->pdata[set];
	for (guint i = 0; i < f->sets->len; i++)
		if (strcmp(f->sets->pdata[i], name) == 0)
			return i;
	g_ptr_array_add(f->sets, g_strdup(name));
	return f->sets->len - 1;
}

static void add_edge(struct cycles *s, struct finding *f, const struct conflict *c, guint i,
                     guint n)
{
	struct cycle_unit u = cycle_unit(s, c->from);
	struct cycle_edge e = { .from = i,
		                .to = (i + 1) % n,
		                .variable = c->variable,
		                .events = { c->events[0], c->events[1] },
		                .set = set_index(s, f, c->set) };
	g_array_append_val(f->units, u);
	g_array_append_val(f->edges, e);
	f->grade = MAX(f->grade, g_array_index(s->m->grades, char, c->set));
	if (f->first == NONE || c->events[0] < f->first) {
		f->first = c->events[0];
		f->second = c->events[1];
	}
}

/* People read a cycle from the unit that began first. */
static guint first_unit(struct cycles *s, const GArray *cycle)
{
	guint first = 0;
	uint32_t least = NONE;
	for (guint i = 0; i < cycle->len; i++) {
		uint32_t unit = CONFLICT(s, g_array_index(cycle, uint32_t, i))->from;
		if (UNIT(s, unit)->begin < least) {
			least = UNIT(s, unit)->begin;
			first = i;
		}
	}
	return first;
}

static struct finding *cycle_finding(struct cycles *s, const GArray *cycle)
{
	guint n = cycle->len, start = first_unit(s, cycle);
	struct finding *f = finding_new(FINDING_ATOMIC_SET_VIOLATION, NONE, NONE);
	f->verdict = VERDICT_HAPPENED;
	f->counted_all = true;
	f->count = 0;
	f->grade = 'A';
	f->sets = g_ptr_array_new_with_free_func(g_free);
	f->units = g_array_new(FALSE, FALSE, sizeof(struct cycle_unit));
	f->edges = g_array_new(FALSE, FALSE, sizeof(struct cycle_edge));
	for (guint i = 0; i < n; i++) {
		uint32_t edge = g_array_index(cycle, uint32_t, (start + i) % n);
		add_edge(s, f, CONFLICT(s, edge), i, n);
	}
	f->mixed = f->sets->len > 1;
	return f;
}

static void count_cycle(struct cycles *s, const GArray *cycle)
{
	if (!g_hash_table_add(s->instances, cycle_key(s, cycle, append_edge)))
		return;
	char *code = cycle_key(s, cycle, append_code);
	struct finding *f = g_hash_table_lookup(s->findings, code);
	if (f == NULL) {
		f = cycle_finding(s, cycle);
		g_hash_table_add(s->codes, code);
		g_hash_table_insert(s->findings, code, f);
	} else {
		g_free(code);
	}
	f->count++;
}

static int by_length(gconstpointer a, gconstpointer b)
{
	const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
	if (x->units->len != y->units->len)
		return x->units->len < y->units->len ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->second > y->second) - (x->second < y->second);
}

void cycles_report(struct cycles *s, uint64_t limit, struct report *report)
{
	GPtrArray *all = g_ptr_array_new();
	GHashTableIter iter;
	gpointer f;
	g_hash_table_iter_init(&iter, s->findings);
	while (g_hash_table_iter_next(&iter, NULL, &f))
		g_ptr_array_add(all, f);
	g_hash_table_steal_all(s->findings);
	g_ptr_array_sort(all, by_length);
	for (guint i = 0; i < all->len; i++) {
		((struct finding *)all->pdata[i])->counted_all = !s->capped;
		if (limit && i >= limit)
			finding_free(all->pdata[i]);
		else
			report_add(report, all->pdata[i]);
	}
	if (limit && all->len > limit) {
		report_note(report,
		            "%u distinct cycles; the %" G_GUINT64_FORMAT
		            " shortest are listed (--cycles)",
		            all->len, limit);
		report->complete = false;
	}
	g_ptr_array_free(all, TRUE);
}

/* -- graphs ---------------------------------------------------------------------------------
 */

/* The code of both ends and of what they touch, where a shortest cycle is searched from. */
static char *edge_code(struct cycles *s, uint32_t edge)
{
	const struct unit *to = UNIT(s, CONFLICT(s, edge)->to);
	GString *key = g_string_new(NULL);
	append_code(s, edge, key);
	g_string_append_printf(key, "%u",
	                       to->name == NONE ? s->t->events[to->begin].location : to->name);
	return g_string_free(key, FALSE);
}

/* A loop repeats its conflicts: after so many edges of one code no new cycle is expected. */
#define EDGES_OF_ONE_CODE 2000

static bool worth_searching(struct cycles *s, uint32_t edge)
{
	char *code = edge_code(s, edge);
	gpointer old;
	guint count = 0;
	if (g_hash_table_lookup_extended(s->searched, code, NULL, &old))
		count = GPOINTER_TO_UINT(old);
	if (count == EDGES_OF_ONE_CODE) {
		s->capped = true;
		g_free(code);
		return false;
	}
	g_hash_table_insert(s->searched, code, GUINT_TO_POINTER(count + 1));
	return true;
}

static void graph_begin(struct cycles *s, const struct conflict_graph *g, const bool *among)
{
	guint n = g->units->len;
	s->g = g;
	s->component = g_new(uint32_t, n + 1);
	s->via = g_new(uint32_t, n + 1);
	s->seen = g_new0(uint64_t, n + 1);
	s->queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	find_components(s, among);
}

static void graph_end(struct cycles *s)
{
	g_array_free(s->queue, TRUE);
	g_free(s->component);
	g_free(s->via);
	g_free(s->seen);
	s->g = NULL;
}

static bool on_cycle(struct cycles *s, uint32_t edge)
{
	const struct conflict *c = CONFLICT(s, edge);
	return c->from != NONE && s->component[c->from] != NONE &&
	       s->component[c->from] == s->component[c->to];
}

void cycles_collect(struct cycles *s, const struct conflict_graph *g, const bool *among)
{
	graph_begin(s, g, among);
	GArray *cycle = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint e = 0; e < g->conflicts->len; e++) {
		if (!on_cycle(s, e) || !worth_searching(s, e))
			continue;
		shortest_cycle(s, e, cycle);
		count_cycle(s, cycle);
	}
	g_array_free(cycle, TRUE);
	graph_end(s);
}

static bool one_set(struct cycles *s, const GArray *cycle)
{
	uint32_t set = CONFLICT(s, g_array_index(cycle, uint32_t, 0))->set;
	for (guint i = 1; i < cycle->len; i++)
		if (CONFLICT(s, g_array_index(cycle, uint32_t, i))->set != set)
			return false;
	return true;
}

struct finding *cycles_find_one(struct cycles *s, const struct conflict_graph *g, char **code)
{
	graph_begin(s, g, NULL);
	GArray *cycle = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	GArray *best = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	guint best_cost = G_MAXUINT;
	for (guint e = 0; e < g->conflicts->len; e++) {
		if (!on_cycle(s, e))
			continue;
		shortest_cycle(s, e, cycle);
		guint cost = 2 * cycle->len + !one_set(s, cycle);
		if (cost >= best_cost)
			continue;
		best_cost = cost;
		g_array_set_size(best, 0);
		g_array_append_vals(best, cycle->data, cycle->len);
	}
	struct finding *f = NULL;
	if (best->len > 0) {
		f = cycle_finding(s, best);
		f->count = 1;
		*code = cycle_key(s, best, append_code);
	}
	g_array_free(best, TRUE);
	g_array_free(cycle, TRUE);
	graph_end(s);
	return f;
}

bool cycles_has_code(const struct cycles *s, const char *code)
{
	return g_hash_table_contains(s->codes, code);
}

struct cycles *cycles_new(const struct trace *t, const struct atomic_model *m)
{
	struct cycles *s = g_new0(struct cycles, 1);
	s->t = t;
	s->m = m;
	s->instances = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->searched = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->codes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->findings = g_hash_table_new(g_str_hash, g_str_equal);
	return s;
}

static void free_finding(gpointer code, gpointer finding, gpointer unused)
{
	finding_free(finding);
}

void cycles_free(struct cycles *s)
{
	if (s == NULL)
		return;
	g_hash_table_foreach(s->findings, free_finding, NULL);
	g_hash_table_destroy(s->findings);
	g_hash_table_destroy(s->instances);
	g_hash_table_destroy(s->searched);
	g_hash_table_destroy(s->codes);
	g_free(s);
}

/* -- the whole ------------------------------------------------------------------------------
 */

static void settle(void *context, const struct conflict_graph *g, const bool *settled)
{
	cycles_collect(context, g, settled);
}

struct cycles *atomic_happened(const struct trace *t, const struct atomic_model *m,
                               struct report *r, const struct progress *progress)
{
	struct cycles *c = cycles_new(t, m);
	struct graph_options options = { .settle = settle, .context = c, .progress = progress };
	struct conflict_graph *g = conflict_graph_new(t, m, &options);
	if (g == NULL) {
		cycles_free(c);
		return NULL;
	}
	r->complete = true;
	r->candidates = g->conflict_count;
	cycles_collect(c, g, NULL);
	conflict_graph_free(g);
	return c;
}
