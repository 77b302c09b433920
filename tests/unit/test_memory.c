/*
 * test_memory.c - the litmus tests of design/memory-models.md under each memory model, and
 * numbers of execution graphs counted by hand.
 */
#include "tests/support/litmus.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* The outcome in question: registers "t.r=v" (thread from 1) and final memory "x=v". */
static const struct row {
	const char *name, *program, *outcome;
	bool sc, tso, rc11;
} rows[] = {
	{ "SB", "x=1; a=y | y=1; b=x", "1.a=0 2.b=0", false, true, true },
	{ "SB+rel+acq", "x=1 rel; a=y acq | y=1 rel; b=x acq", "1.a=0 2.b=0", false, true,
	  true },
	{ "SB+sc", "x=1 sc; a=y sc | y=1 sc; b=x sc", "1.a=0 2.b=0", false, false, false },
	{ "SB+F", "x=1; F sc; a=y | y=1; F sc; b=x", "1.a=0 2.b=0", false, false, false },
	{ "SB+xchg", "c=x<1; a=y | c=y<1; b=x", "1.a=0 2.b=0", false, false, true },
	{ "MP", "x=1; y=1 | a=y; b=x", "2.a=1 2.b=0", false, false, true },
	{ "MP+rel+acq", "x=1; y=1 rel | a=y acq; b=x", "2.a=1 2.b=0", false, false, false },
	{ "MP+fences", "x=1; F rel; y=1 | a=y; F acq; b=x", "2.a=1 2.b=0", false, false,
	  false },
	{ "MP+F rel", "x=1; F rel; y=1 | a=y; b=x", "2.a=1 2.b=0", false, false, true },
	{ "MP+F acq", "x=1; y=1 | a=y; F acq; b=x", "2.a=1 2.b=0", false, false, true },
	{ "LB", "a=x; y=1 | b=y; x=1", "1.a=1 2.b=1", false, false, false },
	{ "CoRR", "x=1 | x=2 | a=x; b=x | c=x; d=x", "3.a=1 3.b=2 4.c=2 4.d=1", false, false,
	  false },
	{ "CoRW", "a=x; x=1 | x=2", "1.a=1", false, false, false },
	{ "IRIW", "x=1 | y=1 | a=x; b=y | c=y; d=x", "3.a=1 3.b=0 4.c=1 4.d=0", false, false,
	  true },
	{ "IRIW+rel+acq", "x=1 rel | y=1 rel | a=x acq; b=y acq | c=y acq; d=x acq",
	  "3.a=1 3.b=0 4.c=1 4.d=0", false, false, true },
	{ "IRIW+sc", "x=1 sc | y=1 sc | a=x sc; b=y sc | c=y sc; d=x sc",
	  "3.a=1 3.b=0 4.c=1 4.d=0", false, false, false },
	{ "2+2W", "x=1; y=2 | y=1; x=2", "x=1 y=1", false, false, true },
	{ "2+2W+rel", "x=1 rel; y=2 rel | y=1 rel; x=2 rel", "x=1 y=1", false, false, true },
	{ "2+2W+sc", "x=1 sc; y=2 sc | y=1 sc; x=2 sc", "x=1 y=1", false, false, false },
	{ "S", "x=2; y=1 | a=y; x=1", "2.a=1 x=2", false, false, true },
	{ "S+rel+acq", "x=2; y=1 rel | a=y acq; x=1", "2.a=1 x=2", false, false, false },
	{ "R", "x=1; y=1 | y=2; a=x", "2.a=0 y=2", false, true, true },
	{ "R+F", "x=1; F sc; y=1 | y=2; F sc; a=x", "2.a=0 y=2", false, false, false },
	{ "WRC", "x=1 | a=x; y=1 | b=y; c=x", "2.a=1 3.b=1 3.c=0", false, false, true },
	{ "WRC+rel+acq", "x=1 rel | a=x acq; y=1 rel | b=y acq; c=x", "2.a=1 3.b=1 3.c=0",
	  false, false, false },
	{ "RWC", "x=1 | a=x; b=y | y=1; c=x", "2.a=1 2.b=0 3.c=0", false, true, true },
	{ "RWC+sc", "x=1 sc | a=x sc; b=y sc | y=1 sc; c=x sc", "2.a=1 2.b=0 3.c=0", false,
	  false, false },
	{ "2 fetch_add", "a=x+1 | b=x+1", "x=1", false, false, false },
	{ "release sequence", "y=1; x=1 rel | c=x+1 rlx | a=x acq; b=y", "3.a=2 3.b=0", false,
	  false, false },
};

struct looking {
	const char *outcome;
	uint64_t found;
};

static bool matches(const struct litmus_outcome *o, const char *text)
{
	char **words = g_strsplit(text, " ", -1);
	bool same = true;
	for (char **w = words; *w; w++) {
		const char *at = strchr(*w, '=');
		uint64_t wanted = strtoull(at + 1, NULL, 10), found;
		if ((*w)[1] == '.')
			found = o->registers[**w - '1'][at[-1] - 'a'];
		else
			found = o->memory[**w - 'x'];
		same &= found == wanted;
	}
	g_strfreev(words);
	return same;
}

static void look(void *context, const struct memory_graph *g, const struct litmus_outcome *o)
{
	struct looking *l = context;
	l->found += matches(o, l->outcome);
}

START_TEST(litmus_table)
{
	const struct row *r = &rows[_i];
	const bool allowed[] = { r->sc, r->tso, r->rc11 };
	struct litmus program;
	litmus_parse(&program, r->program);
	for (int m = 0; m < MEMORY_MODEL_COUNT; m++) {
		struct looking l = { r->outcome, 0 };
		struct memory_counts counts;
		litmus_enumerate(&program, (enum memory_model)m, look, &l, &counts);
		ck_assert_msg((l.found > 0) == allowed[m], "%s: %s is %s under %s", r->name,
		              r->outcome, l.found ? "found" : "not found",
		              memory_model_word((enum memory_model)m));
	}
}
END_TEST

static void ignore(void *context, const struct memory_graph *g, const struct litmus_outcome *o)
{
}

static const struct counted {
	const char *program;
	uint64_t complete[MEMORY_MODEL_COUNT], blocked;
} counted[] = {
	/* two loads of two stores each: one combination less under SC */
	{ "x=1; a=y | y=1; b=x", { 3, 4, 4 }, 0 },
	/* n! orders of updates */
	{ "a=x+1 | a=x+1", { 2, 2, 2 }, 0 },
	{ "a=x+1 | a=x+1 | a=x+1", { 6, 6, 6 }, 0 },
	{ "a=x+1 | a=x+1 | a=x+1 | a=x+1", { 24, 24, 24 }, 0 },
	{ "x=1 | x=2 | x=3", { 6, 6, 6 }, 0 },
	{ "lock m; x=1; unlock m | lock m; x=2; unlock m", { 2, 2, 2 }, 0 },
	{ "lock m; x=1; unlock m | lock m; x=2; unlock m | lock m; a=x; unlock m",
	  { 6, 6, 6 },
	  0 },
	/* the classic deadlock: both orders, and one graph in which both wait */
	{ "lock m; lock z; unlock z; unlock m | lock z; lock m; unlock m; unlock z",
	  { 2, 2, 2 },
	  1 },
};

START_TEST(numbers_of_graphs)
{
	struct litmus program;
	litmus_parse(&program, counted[_i].program);
	for (int m = 0; m < MEMORY_MODEL_COUNT; m++) {
		struct memory_counts counts;
		litmus_enumerate(&program, (enum memory_model)m, ignore, NULL, &counts);
		ck_assert_msg(counts.complete == counted[_i].complete[m] &&
		                      counts.blocked == counted[_i].blocked,
		              "%s: %d graphs, %d blocked (%d abandoned, %d rejected) under %s",
		              counted[_i].program, (int)counts.complete, (int)counts.blocked,
		              (int)counts.abandoned, (int)counts.rejected,
		              memory_model_word((enum memory_model)m));
	}
}
END_TEST

/* Numbers of executions that GenMC (0.11, its tests/correct/litmus, keeping modification
 * orders) expects under SC and RC11. Loops, dependencies through addresses and its other tests
 * of the same shapes are left out. Two differ, and have our number for RC11: relseq, where
 * GenMC counts 20, as a later store of the thread does not continue a release sequence for it;
 * Z6.U, where it counts 22 (behaviour_of_z6_u). */
static const struct {
	const char *name, *program;
	uint64_t sc, rc11;
} genmc[] = {
	{ "SB+4sc", "x=1 sc; a=y sc | y=1 sc; a=x sc", 3, 3 },
	{ "SB+3sc+acq", "x=1 sc; a=y sc | y=1 sc; a=x acq", 3, 4 },
	{ "SB+3sc+rel", "x=1 sc; a=y sc | y=1 rel; a=x sc", 3, 4 },
	{ "SB+scfs", "x=1; F sc; a=y | y=1; F sc; a=x", 3, 3 },
	{ "LB", "a=y acq; x=1 rel | a=x acq; y=1 rel", 3, 3 },
	{ "CoRR", "x=1 rel; x=2 rel | a=x acq; b=x acq", 6, 6 },
	{ "CoRR0", "x=1 rel | a=x acq | a=x acq", 4, 4 },
	{ "CoRW", "a=x acq; x=1 rel | x=2 rel", 3, 3 },
	{ "CoWR", "x=1 rel; a=x acq | x=2 rel", 3, 3 },
	{ "2+2W", "x=1 rel; y=2 rel | y=1 rel; x=2 rel", 3, 4 },
	{ "2+2W+4sc", "x=1 sc; y=2 sc | y=1 sc; x=2 sc", 3, 3 },
	{ "2+2W+scfs", "x=1; F sc; y=2 | y=1; F sc; x=2", 3, 3 },
	{ "IRIW-acq-sc", "x=1 sc | a=x acq; b=y sc | a=y acq; b=x sc | y=1 sc", 15, 16 },
	{ "W+RWC", "x=1; z=1 rel | a=z acq; F sc; b=y | y=1; F sc; a=x", 7, 7 },
	{ "RWC+syncs", "x=1 | a=x; F sc; b=y | y=1; F sc; a=x", 7, 7 },
	{ "Z6.U", "x=1 sc; y=1 rel | a=y+1 sc; b=y | y=3 sc; a=x sc", 18, 24 },
	{ "inc2w", "a=x+1 | x=4 rel | a=x+2", 6, 6 },
	{ "relseq", "x=1; y=1 rel; y=2 | a=y<3 | a=y; F acq_rel; b=x", 16, 16 },
	{ "W+RRR+W", "x=1 | a=x; b=x; c=x | x=2", 20, 20 },
	{ "fr+w+w+w+reads", "x=1 | x=2 | x=3 | a=x; b=x; c=x; d=x", 210, 210 },
	{ "inc+inc+RR+W+RR", "a=x+1 | a=x+1 | a=x; b=x | x=42 | a=x; b=x", 600, 600 },
};

START_TEST(as_many_as_genmc)
{
	struct litmus program;
	litmus_parse(&program, genmc[_i].program);
	struct memory_counts sc, rc11;
	litmus_enumerate(&program, MEMORY_SC, ignore, NULL, &sc);
	litmus_enumerate(&program, MEMORY_RC11, ignore, NULL, &rc11);
	ck_assert_msg(sc.complete == genmc[_i].sc && rc11.complete == genmc[_i].rc11,
	              "%s: %d under SC, %d under RC11; expected: %d, %d", genmc[_i].name,
	              (int)sc.complete, (int)rc11.complete, (int)genmc[_i].sc,
	              (int)genmc[_i].rc11);
}
END_TEST

/*
 * The two graphs of Z6.U that GenMC leaves out: the update reads T1's store, T3's store is
 * later and T3 reads that x is 0. Its psc has sb;hb;sb (kat/rc11-genmc.kat), which leads from
 * x=1 over the update's load to its store. The paper's has sb of other locations alone at both
 * ends, so that this behaviour, which Power has, is allowed.
 */
static void count_z6_u(void *context, const struct memory_graph *g,
                       const struct litmus_outcome *o)
{
	if (o->registers[1][0] == 1 && o->registers[2][0] == 0 && o->memory[1] == 3)
		++*(unsigned *)context;
}

START_TEST(behaviour_of_z6_u)
{
	struct litmus program;
	struct memory_counts counts;
	unsigned found = 0;
	litmus_parse(&program, "x=1 sc; y=1 rel | a=y+1 sc; b=y | y=3 sc; a=x sc");
	litmus_enumerate(&program, MEMORY_RC11, count_z6_u, &found, &counts);
	ck_assert_uint_eq(found, 2);
}
END_TEST

/* Graphs that are no executions, and the axiom that says so. */
START_TEST(why_not)
{
	struct memory_graph *g = memory_graph_new();
	struct memory_event store = { .kind = MEMORY_STORE,
		                      .location = 0,
		                      .value = 1,
		                      .peer = NONE,
		                      .order = ORDER_RLX };
	struct memory_event load = {
		.kind = MEMORY_LOAD, .location = 1, .peer = NONE, .order = ORDER_RLX
	};
	memory_init(g, 0, 0);
	memory_init(g, 1, 0);
	uint32_t ids[2][2];
	for (uint32_t t = 0; t < 2; t++) {
		store.thread = load.thread = t;
		store.location = t;
		load.location = !t;
		ids[t][0] = memory_append(g, &store);
		memory_place_after(g, ids[t][0], g->init[t]);
		ids[t][1] = memory_append(g, &load);
		memory_read_from(g, ids[t][1], g->init[!t]);
	}
	struct memory_why why = { 0 };
	ck_assert(!memory_consistent(g, MEMORY_SC, &why));
	ck_assert_str_eq(why.axiom, "sequential consistency");
	ck_assert_uint_eq(why.cycle->len, 4);
	for (guint i = 0; i < 4; i++)
		ck_assert_uint_eq(
		        g_array_index(why.cycle, struct memory_edge, i).to,
		        g_array_index(why.cycle, struct memory_edge, (i + 1) % 4).from);
	memory_why_release(&why);
	ck_assert(memory_consistent(g, MEMORY_TSO, NULL));
	ck_assert(memory_consistent(g, MEMORY_RC11, NULL));
	g->events[ids[0][1]].location = 0; /* its own store, but the one before */
	memory_read_from(g, ids[0][1], g->init[0]);
	ck_assert(!memory_consistent(g, MEMORY_TSO, &why));
	ck_assert_str_eq(why.axiom, "coherence");
	memory_why_release(&why);
	ck_assert(!memory_consistent(g, MEMORY_RC11, &why));
	ck_assert_str_eq(why.axiom, "coherence");
	memory_why_release(&why);
	memory_graph_free(g);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("memory");
	TCase *c = tcase_create("memory");

	tcase_add_loop_test(c, litmus_table, 0, G_N_ELEMENTS(rows));
	tcase_add_loop_test(c, numbers_of_graphs, 0, G_N_ELEMENTS(counted));
	tcase_add_test(c, behaviour_of_z6_u);
	tcase_add_loop_test(c, as_many_as_genmc, 0, G_N_ELEMENTS(genmc));
	tcase_add_test(c, why_not);
	suite_add_tcase(s, c);
	return suite_run(s);
}
