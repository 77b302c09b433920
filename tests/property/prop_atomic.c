/*
 * prop_atomic.c - the conflict graph against its definition, word by word, on random traces
 * of nested units: the edges that lie on cycles are the same, on line and after the fact; a
 * cycle is reported exactly when one exists; and both ways the findings are the same to the
 * last event.
 */
#include "engine/atomic/atomic.h"
#include "tests/property/mix.h"
#include "tests/support/suite.h"
#include "tests/support/coverage.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EVENTS     40
/* A unit's number among its thread's: after a wait several parts may begin at one event, and
 * their names distinguish them. An access's own unit comes after all these. */
#define NAMES          4
#define UNIT(begin, n) ((begin)*NAMES + (n))
#define OWN            UNIT(MAX_EVENTS + 2, 0)
#define NUMBERS        (OWN + MAX_EVENTS + 2)
#define SETS           3

/* -- random traces ------------------------------------------------------------------------- */

struct generator {
	GRand *rand;
	GString *text;
	int depth[3];
	int names[3][8];
};

static int pick(struct generator *g, int n)
{
	return g_rand_int_range(g->rand, 0, n);
}

static void add_unit(struct generator *g, int thread)
{
	static const char *const on[] = { "S0", "S1", "S2", "S0,S1", "S1,S2", "S0,S1,S2" };
	int name = pick(g, NAMES);
	for (int i = 0; i < g->depth[thread]; i++)
		if (g->names[thread][i] ==
		    name) { /* open units of a thread have names of their own */
			name = (name + 1) % NAMES;
			i = -1;
		}
	g->names[thread][g->depth[thread]++] = name;
	g_string_append_printf(g->text, "T%d|ubeg(u%d,%s)|\n", thread, name, on[pick(g, 6)]);
}

static void add_line(struct generator *g)
{
	int thread = pick(g, 3), what = pick(g, 10);
	if (what < 2 && g->depth[thread] < 3)
		add_unit(g, thread);
	else if (what < 4 && g->depth[thread] > 0)
		g_string_append_printf(g->text, "T%d|uend(u%d)|\n", thread,
		                       g->names[thread][--g->depth[thread]]);
	else if (what == 4 && pick(g, 3) == 0)
		g_string_append_printf(g->text, "T%d|wait(c)|\n", thread);
	else
		g_string_append_printf(g->text, "T%d|%s(%c)|\n", thread,
		                       pick(g, 8) == 0 ? "rmw"
		                       : pick(g, 2)    ? "w"
		                                       : "r",
		                       "wxyz"[pick(g, 4)]);
}

static struct trace *random_units(uint32_t seed)
{
	struct generator g = { .rand = g_rand_new_with_seed(seed), .text = g_string_new(NULL) };
	/* x is in two sets, w in none. */
	g_string_append(g.text,
	                "#! atomic-set S0 x y\n#! atomic-set S1 x z\n#! atomic-set S2 y\n");
	int lines = 4 + pick(&g, MAX_EVENTS - 4);
	for (int i = 0; i < lines; i++)
		add_line(&g);
	struct error e;
	struct trace *t =
	        coverage_trace(trace_from_text("random", g.text->str, g.text->len, NULL, &e));
	ck_assert_msg(t != NULL, "%s: %s", e.where, e.what);
	g_string_free(g.text, TRUE);
	g_rand_free(g.rand);
	return t;
}

/* -- the definition ------------------------------------------------------------------------ */

static bool in_set(const char *variable, int set)
{
	static const char *const members[SETS] = { "xy", "xz", "y" };
	return strchr(members[set], *variable) != NULL;
}

static bool on_set(const struct trace *t, uint32_t ubeg, int set)
{
	GString *s = g_string_new(NULL);
	char name[3] = { 'S', (char)('0' + set), 0 };
	trace_append_operation(t, ubeg, s);
	bool found = strstr(s->str, name) != NULL;
	g_string_free(s, TRUE);
	return found;
}

/* The N of "uN". */
static uint32_t number_of_name(const struct trace *t, uint32_t name)
{
	return (uint32_t)(trace_string(t, name)[1] - '0');
}

static uint32_t end_of_unit(const struct trace *t, uint32_t ubeg)
{
	int depth = 0;
	for (uint32_t e = ubeg; e < t->events_count; e++) {
		if (t->events[e].thread != t->events[ubeg].thread)
			continue;
		depth += t->events[e].op == OP_UBEG;
		depth -= t->events[e].op == OP_UEND;
		if (depth == 0)
			return e;
	}
	return (uint32_t)t->events_count;
}

/* The next event of e's thread that takes effect. */
static uint32_t next_of_thread(const struct trace *t, uint32_t e)
{
	uint32_t next = e + 1;

	while (next < t->events_count &&
	       (t->events[next].thread != t->events[e].thread || event_inert(&t->events[next])))
		next++;
	return next;
}

/* The unit of an access for a set, as the event where its part begins: the outermost open
 * one declared on the set, cut at the last wait; the event itself outside of any. */
static uint32_t naive_unit(const struct trace *t, uint32_t event, int set)
{
	for (uint32_t u = 0; u < event; u++) {
		if (t->events[u].op != OP_UBEG ||
		    t->events[u].thread != t->events[event].thread ||
		    end_of_unit(t, u) < event || !on_set(t, u, set))
			continue;
		uint32_t begin = u;
		for (uint32_t w = u; w < event; w++)
			if (t->events[w].op == OP_WAIT &&
			    t->events[w].thread == t->events[event].thread)
				begin = next_of_thread(t, w);
		return UNIT(begin, number_of_name(t, t->events[u].target));
	}
	return event + OWN;
}

struct naive_edge { /* units by (thread, begin) */
	uint32_t from, to, from_thread, to_thread, variable, set;
};

static bool other_write_between(const struct trace *t, uint32_t a, uint32_t b)
{
	for (uint32_t e = a + 1; e < b; e++)
		if (op_is_access(t->events[e].op) && op_writes(t->events[e].op) &&
		    t->events[e].target == t->events[a].target)
			return true;
	return false;
}

static GArray *naive_edges(const struct trace *t)
{
	GArray *edges = g_array_new(FALSE, TRUE, sizeof(struct naive_edge));
	for (uint32_t a = 0; a < t->events_count; a++)
		for (uint32_t b = a + 1; b < t->events_count; b++) {
			const struct event *x = &t->events[a], *y = &t->events[b];
			if (!op_is_access(x->op) || !op_is_access(y->op) ||
			    x->target != y->target ||
			    (!op_writes(x->op) && !op_writes(y->op)) ||
			    other_write_between(t, a, b))
				continue;
			const char *name = trace_variable_name(t, x->target);
			for (int set = 0; set < SETS; set++) {
				struct naive_edge e = { naive_unit(t, a, set),
					                naive_unit(t, b, set),
					                x->thread,
					                y->thread,
					                x->target,
					                (uint32_t)set };
				if (in_set(name, set) &&
				    (e.from != e.to || e.from_thread != e.to_thread))
					g_array_append_val(edges, e);
			}
		}
	return edges;
}

/* -- comparing ----------------------------------------------------------------------------- */

/* Keys of edges on cycles, by closing the relation over units (thread, begin). */
#define NODES (3 * NUMBERS)

static GHashTable *cyclic_keys(const GArray *edges)
{
	static bool reach[NODES][NODES];
	memset(reach, 0, sizeof reach);
#define NODE(thread, begin) ((thread)*NUMBERS + (begin))
	for (guint i = 0; i < edges->len; i++) {
		const struct naive_edge *e = &g_array_index(edges, struct naive_edge, i);
		reach[NODE(e->from_thread, e->from)][NODE(e->to_thread, e->to)] = true;
	}
	for (int k = 0; k < NODES; k++)
		for (int i = 0; i < NODES; i++)
			for (int j = 0; reach[i][k] && j < NODES; j++)
				reach[i][j] |= reach[k][j];
	GHashTable *keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < edges->len; i++) {
		const struct naive_edge *e = &g_array_index(edges, struct naive_edge, i);
		if (reach[NODE(e->to_thread, e->to)][NODE(e->from_thread, e->from)])
			g_hash_table_add(keys,
			                 g_strdup_printf("T%u:%u -> T%u:%u on %u in S%u",
			                                 e->from_thread, e->from, e->to_thread,
			                                 e->to, e->variable, e->set));
	}
	return keys;
}

static const struct trace *of; /* whose graph it is */

static uint32_t engine_unit(const struct trace *t, const struct unit *u)
{
	return u->name == NONE ? u->begin + OWN : UNIT(u->begin, number_of_name(t, u->name));
}

/* The edges out of these units; NULL: of all. */
static void add_engine_edges(GArray *edges, const struct conflict_graph *g,
                             const uint32_t *units, uint32_t count)
{
	for (uint32_t i = 0; i < (units ? count : g->units->len); i++) {
		const struct unit *u =
		        &g_array_index(g->units, struct unit, units ? units[i] : i);
		const struct conflict *c;
		for (uint32_t e = u->dropped ? NONE : u->out; e != NONE; e = c->next) {
			c = &g_array_index(g->conflicts, struct conflict, e);
			const struct unit *v = &g_array_index(g->units, struct unit, c->to);
			struct naive_edge edge = { engine_unit(of, u), engine_unit(of, v),
				                   u->thread,          v->thread,
				                   c->variable,        c->set };
			g_array_append_val(edges, edge);
		}
	}
}

static void add_settled(void *context, const struct conflict_graph *g, const uint32_t *units,
                        uint32_t count)
{
	add_engine_edges(context, g, units, count);
}

static void assert_same(GHashTable *want, GHashTable *got, const struct trace *t, uint32_t seed)
{
	GHashTableIter iter;
	gpointer key;
	GString *text = g_string_new(NULL);
	for (uint32_t e = 0; e < t->events_count; e++) {
		trace_append_line(t, e, text);
		g_string_append_c(text, '\n');
	}
	g_hash_table_iter_init(&iter, want);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		ck_assert_msg(g_hash_table_contains(got, key), "seed %u: missing %s in\n%s",
		              seed, (char *)key, text->str);
	g_hash_table_iter_init(&iter, got);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		ck_assert_msg(g_hash_table_contains(want, key), "seed %u: wrong %s in\n%s",
		              seed, (char *)key, text->str);
	g_string_free(text, TRUE);
}

static int mixed; /* findings that need several sets */

/* -- findings, both ways ------------------------------------------------------------------ */

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *finding_text(const struct finding *f)
{
	GString *s = g_string_new(NULL);
	g_string_printf(s, "%u x %" G_GUINT64_FORMAT ":", f->units->len, f->count);
	for (guint i = 0; i < f->units->len; i++) {
		const struct cycle_unit *u = &g_array_index(f->units, struct cycle_unit, i);
		const struct cycle_edge *e = &g_array_index(f->edges, struct cycle_edge, i);
		g_string_append_printf(s, " T%u %s %u-%u [%u %u,%u %s]", u->thread, u->unit,
		                       u->begin, u->end, e->variable, e->events[0],
		                       e->events[1], (char *)f->sets->pdata[e->set]);
	}
	return g_string_free(s, FALSE);
}

/* All findings as one text, in an order of their own. */
static char *findings_text(const struct report *r)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		ck_assert_uint_ge(f->units->len, 2);
		ck_assert_uint_eq(f->units->len, f->edges->len);
		g_ptr_array_add(lines, finding_text(f));
	}
	g_ptr_array_sort(lines, by_text);
	g_ptr_array_add(lines, NULL);
	char *text = g_strjoinv("\n", (char **)lines->pdata);
	g_ptr_array_unref(lines);
	return text;
}

/*
 * `alone[S]`: keys of the edges on cycles of the set S alone.  Each such set has a finding of
 * its own, and a cycle over several has an edge that is on none of its own set.
 */
static void compare_sets(const struct trace *t, const GArray *naive, const struct report *r,
                         uint32_t seed)
{
	GHashTable *alone[SETS];
	bool found[SETS] = { false };
	for (int set = 0; set < SETS; set++) {
		GArray *edges = g_array_new(FALSE, TRUE, sizeof(struct naive_edge));
		for (guint i = 0; i < naive->len; i++)
			if (g_array_index(naive, struct naive_edge, i).set == (uint32_t)set)
				g_array_append_val(edges,
				                   g_array_index(naive, struct naive_edge, i));
		alone[set] = cyclic_keys(edges);
		g_array_free(edges, TRUE);
	}
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		bool needed = false;
		for (guint k = 0; k < f->edges->len; k++) {
			const struct cycle_edge *e =
			        &g_array_index(f->edges, struct cycle_edge, k);
			int set = ((const char *)f->sets->pdata[e->set])[1] - '0';
			uint32_t a = naive_unit(t, e->events[0], set),
			         b = naive_unit(t, e->events[1], set);
			char *key = g_strdup_printf("T%u:%u -> T%u:%u on %u in S%u",
			                            t->events[e->events[0]].thread, a,
			                            t->events[e->events[1]].thread, b,
			                            e->variable, (uint32_t)set);
			needed |= !g_hash_table_contains(alone[set], key);
			found[set] |= f->sets->len == 1;
			g_free(key);
		}
		ck_assert_msg(f->mixed == (f->sets->len > 1) && f->mixed == needed,
		              "seed %u: a cycle over %u sets %s", seed, f->sets->len,
		              needed ? "needs them" : "needs one");
		mixed += f->mixed;
	}
	for (int set = 0; set < SETS; set++) {
		ck_assert_msg(found[set] == (g_hash_table_size(alone[set]) > 0),
		              "seed %u: the cycles of S%d alone", seed, set);
		g_hash_table_destroy(alone[set]);
	}
}

static void compare_findings(struct trace *t, const struct atomic_model *m, bool cyclic,
                             const GArray *naive, uint32_t seed)
{
	struct atomic_options online = { .all = true },
	                      after = { .all = true, .post_mortem = true };
	struct report *a = atomic_find(t, m, &online, NULL),
	              *b = atomic_find(t, m, &after, NULL);
	char *x = findings_text(a), *y = findings_text(b);
	ck_assert_msg((a->findings->len > 0) == cyclic, "seed %u: %u findings, cyclic %d", seed,
	              a->findings->len, cyclic);
	if (naive)
		compare_sets(t, naive, a, seed);
	ck_assert_msg(strcmp(x, y) == 0, "seed %u: on line\n%s\nafter the fact\n%s", seed, x,
	              y);
	g_free(x);
	g_free(y);
	report_free(a);
	report_free(b);
}

/* -- both ways ---------------------------------------------------------------------------- */

/* On line, and after the fact. */
static const struct graph_options ways[] = { { .settle = add_settled }, { 0 } };

static bool compare(uint32_t seed)
{
	struct trace *t = random_units(seed);
	of = t;
	struct atomic_model *m = atomic_model_declared(t);
	GArray *naive = naive_edges(t);
	GHashTable *want = cyclic_keys(naive);
	bool cyclic = g_hash_table_size(want) > 0;
	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		GArray *engine = g_array_new(FALSE, TRUE, sizeof(struct naive_edge));
		struct graph_options options = ways[i];
		options.context = engine;
		struct conflict_graph *g = conflict_graph_new(t, m, &options);
		add_engine_edges(engine, g, NULL, 0);
		GHashTable *got = cyclic_keys(engine);
		assert_same(want, got, t, seed);
		g_hash_table_destroy(got);
		conflict_graph_free(g);
		g_array_free(engine, TRUE);
	}
	compare_findings(t, m, cyclic, naive, seed);
	g_hash_table_destroy(want);
	g_array_free(naive, TRUE);
	atomic_model_free(m);
	trace_close(t);
	return cyclic;
}

START_TEST(edges_on_cycles_are_the_definition_s)
{
	int cyclic = 0;
	uint32_t first = (uint32_t)mix_setting("HEDDLE_SEED", 1);
	uint32_t count = (uint32_t)mix_setting("HEDDLE_TRACES", 1500);
	mixed = 0;
	for (uint32_t seed = first; seed < first + count; seed++)
		cyclic += compare(seed);
	if (!mix_default())
		return;
	ck_assert_int_gt(mixed, count / 100);
	/* The traces must try both outcomes. */
	ck_assert_int_gt(cyclic, count / 10);
	ck_assert_int_lt(cyclic, count - count / 10);
}
END_TEST

/* Longer ones, where components are dropped on the way: on line against after the fact. */
static struct trace *long_units(uint32_t seed)
{
	struct generator g = { .rand = g_rand_new_with_seed(seed), .text = g_string_new(NULL) };
	int variables = 4 + pick(&g, 60), calm = 1 + pick(&g, 3);
	g_string_append(g.text, "#! atomic-set S0");
	for (int i = 0; i < variables; i++)
		g_string_append_printf(g.text, " v%d", i);
	g_string_append(g.text, "\n#! atomic-set S1 v0 v1\n#! atomic-set S2 v2\n");
	for (int i = 0; i < 1500; i++) {
		int thread = pick(&g, 3);
		if (pick(&g, 8) < calm && g.depth[thread] > 0)
			g_string_append_printf(g.text, "T%d|uend(u%d)|\n", thread,
			                       g.names[thread][--g.depth[thread]]);
		else if (pick(&g, 4) == 0 && g.depth[thread] < 2)
			add_unit(&g, thread);
		else
			g_string_append_printf(g.text, "T%d|%s(v%d)|a.c:%d\n", thread,
			                       pick(&g, 3) ? "r" : "w", pick(&g, variables),
			                       pick(&g, 5));
	}
	struct error e;
	struct trace *t =
	        coverage_trace(trace_from_text("long", g.text->str, g.text->len, NULL, &e));
	ck_assert_msg(t != NULL, "%s: %s", e.where, e.what);
	g_string_free(g.text, TRUE);
	g_rand_free(g.rand);
	return t;
}

START_TEST(on_line_as_after_the_fact)
{
	int cyclic = 0;
	for (uint32_t seed = 1; seed <= 60; seed++) {
		struct trace *t = long_units(seed);
		struct atomic_model *m = atomic_model_declared(t);
		struct conflict_counts counts;
		struct cycles *c = atomic_happened(t, m, false, 0, &counts, NULL);
		struct report *r = report_new(t, "atomic");
		cycles_report(c, 0, r);
		compare_findings(t, m, r->findings->len > 0, NULL, seed);
		cyclic += r->findings->len > 0;
		/* finished units have been dropped on the way */
		ck_assert_uint_lt(counts.largest, counts.units);
		report_free(r);
		cycles_free(c);
		atomic_model_free(m);
		trace_close(t);
	}
	ck_assert_int_gt(cyclic, 20);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("atomic sets against their definition");
	TCase *c = tcase_create("conflict graph");
	tcase_add_test(c, edges_on_cycles_are_the_definition_s);
	tcase_add_test(c, on_line_as_after_the_fact);
	suite_add_tcase(s, c);
	return suite_run(s);
}
