/*
 * prop_memory.c - random litmus programs: the graphs that memory_enumerate visits are those
 * that the axioms allow: the same outcomes, each as often, and no graph twice.
 */
#include "tests/property/oracle_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 10000, MOST_EVENTS = 9 };

static uint32_t below(GRand *r, uint32_t n)
{
	return (uint32_t)g_rand_int_range(r, 0, (gint32)n);
}

static enum memory_order_kind any_order(GRand *r, const char *of)
{
	/* one letter for each that the operation may have */
	switch (of[below(r, (uint32_t)strlen(of))]) {
	case 'a':
		return ORDER_ACQ;
	case 'r':
		return ORDER_REL;
	case 'b':
		return ORDER_ACQ_REL;
	case 's':
		return ORDER_SEQ_CST;
	default:
		return ORDER_RLX;
	}
}

/* How much a program has, so that the oracle can try everything. */
struct size {
	uint32_t loads, stores[2];
};
enum { MOST_LOADS = 4, MOST_STORES = 3 };

static void random_op(GRand *r, struct litmus_op *op, struct size *size)
{
	static const enum litmus_kind kinds[] = { LITMUS_LOAD,   LITMUS_LOAD,     LITMUS_LOAD,
		                                  LITMUS_STORE,  LITMUS_STORE,    LITMUS_STORE,
		                                  LITMUS_FENCE,  LITMUS_EXCHANGE, LITMUS_ADD,
		                                  LITMUS_COMPARE };
	op->kind = kinds[below(r, G_N_ELEMENTS(kinds))];
	op->location = below(r, 2);
	bool no_load = size->loads == MOST_LOADS;
	bool no_store = size->stores[op->location] == MOST_STORES;
	if (op->kind != LITMUS_FENCE && (no_load || no_store))
		op->kind = !no_load ? LITMUS_LOAD : !no_store ? LITMUS_STORE : LITMUS_FENCE;
	op->value = 1 + below(r, 2);
	op->expected = below(r, 3);
	op->result = below(r, 3);
	op->order = any_order(r, op->kind == LITMUS_LOAD    ? "xxass"
	                         : op->kind == LITMUS_STORE ? "xxrss"
	                         : op->kind == LITMUS_FENCE ? "arbss"
	                                                    : "xarbs");
	op->failure_order = any_order(r, "xas");
	if (below(r, 6) == 0) {
		op->when = 1 + below(r, 3);
		op->when_value = below(r, 3);
	}
	if (below(r, 8) == 0 && op->kind == LITMUS_STORE)
		op->plus = 1 + below(r, 3);
	size->loads += op->kind != LITMUS_STORE && op->kind != LITMUS_FENCE;
	size->stores[op->location] += op->kind != LITMUS_LOAD && op->kind != LITMUS_FENCE;
}

static void random_program(GRand *r, struct litmus *l)
{
	memset(l, 0, sizeof *l);
	l->threads = 2 + below(r, 3);
	struct size size = { 0 };
	uint32_t ops = 3 + below(r, MOST_EVENTS - 3);
	for (uint32_t i = 0; i < ops; i++) {
		uint32_t t = i < l->threads ? i : below(r, l->threads);
		random_op(r, &l->ops[t][l->length[t]++], &size);
	}
	if (below(r, 4) != 0)
		return;
	/* two threads are critical sections, in part */
	for (uint32_t t = 0; t < 2; t++) {
		uint32_t begin = below(r, l->length[t] + 1), n = l->length[t];
		if (n + 2 > LITMUS_OPS)
			continue;
		memmove(&l->ops[t][begin + 1], &l->ops[t][begin],
		        (n - begin) * sizeof(struct litmus_op));
		l->ops[t][begin] = (struct litmus_op){ .kind = LITMUS_LOCK, .location = 3 };
		l->ops[t][n + 1] = (struct litmus_op){ .kind = LITMUS_UNLOCK, .location = 3 };
		l->length[t] = n + 2;
	}
}

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
		for (uint32_t i = 0; i < 3; i++)
			g_string_append_printf(s, "%d ", (int)o->registers[t][i]);
	for (uint32_t i = 0; i < 2; i++)
		g_string_append_printf(s, "%c=%d ", "xy"[i], (int)o -> memory[i]);
	return g_string_free(s, FALSE);
}

static void append_name(GString *s, const struct memory_graph *g, uint32_t id)
{
	const struct memory_event *e = &g->events[id];
	g_string_append_printf(s, "%d.%d ", (int)e->thread, (int)e->index);
}

static char *graph_text(const struct memory_graph *g)
{
	GString *s = g_string_new(NULL);
	for (uint32_t t = 0; t < g->threads; t++)
		for (uint32_t i = g->first[t]; i != NONE; i = g->events[i].po_next) {
			append_name(s, g, i);
			if (g->events[i].kind == MEMORY_LOAD)
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

static bool agree(const struct litmus *l, enum memory_model model)
{
	struct memory_counts counts;
	struct tally found = tally_new(l, model), expected = tally_new(l, model);
	litmus_enumerate(l, model, count, &found, &counts);
	uint64_t all = oracle_memory(l, model, count, &expected);
	bool good = counts.complete == all && counts.blocked == 0 && found.twice == 0 &&
	            found.wrong == 0 && equal(found.outcomes, expected.outcomes);
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
		random_program(r, &l);
		locked_total += l.ops[0][0].kind == LITMUS_LOCK;
		for (int m = 0; m < MEMORY_MODEL_COUNT; m++)
			failed += !agree(&l, (enum memory_model)m);
	}
	g_rand_free(r);
	printf("memory: %d programs, %d graphs (%d choices rejected, %d graphs abandoned)\n",
	       cases, (int)graphs_total, (int)rejected_total, (int)abandoned_total);
	return failed != 0;
}
