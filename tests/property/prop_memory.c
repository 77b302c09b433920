/*
 * prop_memory.c - random litmus programs: the graphs that memory_enumerate visits are those
 * that the axioms allow: the same outcomes, each as often, and no graph twice.
 */
#include "tests/property/oracle_memory.h"
#include "tests/support/litmus_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 1000 };

/* ---- the two sides ---- */

struct tally {
	const struct litmus *l;
	enum memory_model model;
	GHashTable *outcomes; /* text to number of graphs */
	GHashTable *graphs;   /* their texts */
	uint64_t twice, wrong;
};

static char *outcome_text(const struct litmus *l, const struct litmus_outcome *o)
{
	GString *s = g_string_new(NULL);
	for (uint32_t t = 0; t < l->threads; t++)
		for (uint32_t i = 0; i < 4; i++)
			g_string_append_printf(s, "%d ", (int)o->registers[t][i]);
	for (uint32_t i = 0; i < 2; i++)
		g_string_append_printf(s, "%c=%d ", "xy"[i], (int)o -> memory[i]);
	return g_string_free(s, FALSE);
}

static void append_name(GString *s, const struct memory_graph *g, uint32_t id)
{
	const struct memory_event *e = &g->events[id];
	g_string_append_printf(s, "%d.%d=%d ", (int)e->thread, (int)e->index, (int)e->value);
}

static char *graph_text(const struct memory_graph *g)
{
	GString *s = g_string_new(NULL);
	for (uint32_t t = 0; t < g->threads; t++)
		for (uint32_t i = g->first[t]; i != NONE; i = g->events[i].po_next) {
			append_name(s, g, i);
			if (g->events[i].kind == MEMORY_LOAD ||
			    g->events[i].kind == MEMORY_DEPART)
				append_name(s, g, g->events[i].rf);
		}
	for (uint32_t l = 0; l < g->locations; l++)
		for (uint32_t i = g->init[l]; i != NONE; i = g->events[i].mo_next)
			append_name(s, g, i);
	return g_string_free(s, FALSE);
}

static void count(void *context, const struct memory_graph *g, const struct litmus_outcome *o)
{
	struct tally *t = context;
	char *text = outcome_text(t->l, o);
	uintptr_t before = (uintptr_t)g_hash_table_lookup(t->outcomes, text);
	g_hash_table_insert(t->outcomes, text, (void *)(before + 1));
	if (g == NULL)
		return;
	t->wrong += !memory_consistent(g, t->model, NULL);
	t->twice += !g_hash_table_add(t->graphs, graph_text(g));
}

static struct tally tally_new(const struct litmus *l, enum memory_model model)
{
	return (struct tally){ l,
		               model,
		               g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		               g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		               0,
		               0 };
}

static void tally_release(struct tally *t)
{
	g_hash_table_unref(t->outcomes);
	g_hash_table_unref(t->graphs);
}

static bool equal(GHashTable *a, GHashTable *b)
{
	GHashTableIter iter;
	void *key, *value;
	if (g_hash_table_size(a) != g_hash_table_size(b))
		return false;
	g_hash_table_iter_init(&iter, a);
	while (g_hash_table_iter_next(&iter, &key, &value))
		if (g_hash_table_lookup(b, key) != value)
			return false;
	return true;
}

static uint64_t graphs_total, rejected_total, abandoned_total, locked_total;

static bool is_open(const struct litmus *l, const struct litmus_op *op)
{
	return op->kind == LITMUS_ARRIVE && !litmus_has_rounds(l, op);
}

/* May a thread wait for ever? For a post or signal that does not come, or at a barrier where
 * the schedule decides which threads meet; all locks are unlocked, except by waiting
 * threads. */
static bool may_block(const struct litmus *l)
{
	for (uint32_t t = 0; t < l->threads; t++)
		for (uint32_t i = 0; i < l->length[t]; i++)
			if (l->ops[t][i].kind == LITMUS_TAKE ||
			    l->ops[t][i].kind == LITMUS_WAIT || is_open(l, &l->ops[t][i]))
				return true;
	return false;
}

static bool agree(const struct litmus *l, enum memory_model model)
{
	struct memory_counts counts;
	struct tally found = tally_new(l, model), expected = tally_new(l, model);
	litmus_enumerate(l, model, count, &found, &counts);
	uint64_t all = oracle_memory(l, model, count, &expected);
	bool good = counts.complete == all && (counts.blocked == 0 || may_block(l)) &&
	            found.twice == 0 && found.wrong == 0 &&
	            equal(found.outcomes, expected.outcomes);
	if (!good) {
		char *text = litmus_text(l);
		printf("%s: %s\n  %d graphs (%d twice, %d inconsistent, %d blocked), %d outcomes; "
		       "expected %d, %d\n",
		       memory_model_word(model), text, (int)counts.complete, (int)found.twice,
		       (int)found.wrong, (int)counts.blocked,
		       (int)g_hash_table_size(found.outcomes), (int)all,
		       (int)g_hash_table_size(expected.outcomes));
		g_free(text);
	}
	graphs_total += counts.complete;
	rejected_total += counts.rejected;
	abandoned_total += counts.abandoned;
	tally_release(&found);
	tally_release(&expected);
	return good;
}

int main(void)
{
	const char *given = g_getenv("HEDDLE_TRACES"), *seed = g_getenv("HEDDLE_SEED");
	int cases = given ? atoi(given) : CASES, failed = 0;
	GRand *r = g_rand_new_with_seed(seed ? (guint32)strtoul(seed, NULL, 10) : 1);
	for (int i = 0; i < cases && failed < 5; i++) {
		struct litmus l;
		litmus_random(r, LITMUS_ALL, &l);
		locked_total += l.ops[0][0].kind == LITMUS_LOCK;
		for (int m = 0; m < MEMORY_MODEL_COUNT; m++)
			failed += !agree(&l, (enum memory_model)m);
	}
	g_rand_free(r);
	printf("memory: %d programs, %d graphs (%d choices rejected, %d graphs abandoned)\n",
	       cases, (int)graphs_total, (int)rejected_total, (int)abandoned_total);
	return failed != 0;
}
