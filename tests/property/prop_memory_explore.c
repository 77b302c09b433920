/*
 * prop_memory_explore.c - random litmus programs, explored as a real program under each model:
 * the outcomes of its runs are those that the axioms allow, all of them and no other, and the
 * report says that it is complete. Half of the programs have operations of the thread library:
 * locks, tries, semaphores, conditions, barriers, once-functions. In the others one thread
 * waits: it looks, or tries to exchange, until it reads the value that another thread stores;
 * its outcomes are those of the program without the loop in which it reads that value. Half of
 * the updates are made by a load and compare-and-exchanges until one is done; in every sixth
 * program such a loop has a look elsewhere between.
 */
#include "tests/property/oracle_memory.h"
#include "tests/support/litmus_random.h"

#include <glib/gstdio.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* any.c's kinds beyond LITMUS_FENCE. */
enum {
	ANY_LOOK = LITMUS_FENCE + 1,
	ANY_TRY_ON,
	ANY_LOCK,
	ANY_EXCHANGE_BY_LOOP = 40,
	ANY_ADD_BY_LOOP,
	ANY_SNAPSHOT
};
enum { CASES = 16, STATUSES = 252, TRIES = 30 };

static bool writes_to(const struct litmus_op *o, uint32_t location)
{
	return o->kind != LITMUS_LOAD && o->kind != LITMUS_FENCE && o->location == location;
}

/* Does the thread wait in it, for the only store to the location? Then `o->expected` is its
 * value. */
static bool make_wait(const struct litmus *l, uint32_t thread, struct litmus_op *o)
{
	const struct litmus_op *store = NULL;
	uint32_t others = 0;
	if (o->kind != LITMUS_LOAD && o->kind != LITMUS_COMPARE)
		return false;
	for (uint32_t t = 0; t < l->threads; t++)
		for (uint32_t i = 0; i < l->length[t]; i++) {
			const struct litmus_op *x = &l->ops[t][i];
			if (x == o || !writes_to(x, o->location))
				continue;
			if (x->kind == LITMUS_STORE && t != thread && x->value != 0)
				store = x;
			others++;
		}
	if (store == NULL || others != 1)
		return false;
	o->expected = store->value;
	return true;
}

/* The operation that waits, whose register no later one has; or NULL. */
static struct litmus_op *find_wait(struct litmus *l, uint32_t *thread)
{
	for (uint32_t t = 0; t < l->threads; t++)
		for (uint32_t i = 0; i < l->length[t]; i++)
			if (i + 4 >= l->length[t] && make_wait(l, t, &l->ops[t][i])) {
				*thread = t;
				return &l->ops[t][i];
			}
	return NULL;
}

/* At the end of a thread of a small program, a load, a load elsewhere, and an update where the
 * first one read; or NULL. */
static struct litmus_op *add_snapshot(GRand *r, struct litmus *l, uint32_t *thread)
{
	static const enum memory_order_kind loads[] = { ORDER_RLX, ORDER_ACQ, ORDER_SEQ_CST };
	static const enum memory_order_kind updates[] = { ORDER_RLX, ORDER_ACQ, ORDER_REL,
		                                          ORDER_ACQ_REL, ORDER_SEQ_CST };
	uint32_t all = 0, t = (uint32_t)g_rand_int_range(r, 0, (gint32)l->threads);
	for (uint32_t u = 0; u < l->threads; u++)
		all += l->length[u];
	if (all > 5 || l->length[t] > 2)
		return NULL;
	struct litmus_op *o = &l->ops[t][l->length[t]];
	for (uint32_t k = 0; k < 3; k++)
		o[k] = (struct litmus_op){ .kind = k < 2 ? LITMUS_LOAD : LITMUS_ADD,
			                   .location = k == 1,
			                   .order = loads[g_rand_int_range(r, 0, 3)],
			                   .failure_order = ORDER_RLX };
	o[2].order = updates[g_rand_int_range(r, 0, G_N_ELEMENTS(updates))];
	o[2].value = 1;
	l->length[t] += 3;
	*thread = t;
	return o;
}

static bool has_library(const struct litmus *l)
{
	for (uint32_t t = 0; t < l->threads; t++)
		for (uint32_t i = 0; i < l->length[t]; i++)
			if (l->ops[t][i].kind >= LITMUS_LOCK)
				return true;
	return false;
}

/* As the program any.c has it: results are registers by operation. */
static char *ops_text(struct litmus *l, const struct litmus_op *wait,
                      const struct litmus_op *snapshot, uint32_t seed, uint64_t *loops)
{
	GString *text = g_string_new(NULL);
	for (uint32_t t = 0; t < l->threads; t++)
		for (uint32_t i = 0; i < l->length[t]; i++) {
			struct litmus_op *o = &l->ops[t][i];
			bool library = o->kind >= LITMUS_LOCK;
			if (!library)
				o->result = i % (LITMUS_LIBRARY_RESULT + !has_library(l));
			int kind = o == wait && o->kind == LITMUS_LOAD ? ANY_LOOK
			           : o == wait                         ? ANY_TRY_ON
			           : library ? ANY_LOCK + (int)o->kind - LITMUS_LOCK
			                     : (int)o->kind;
			int expected = (int)o->expected;
			bool updates = o->kind == LITMUS_EXCHANGE || o->kind == LITMUS_ADD;
			if (o == snapshot) {
				kind = ANY_SNAPSHOT;
			} else if (o != wait && updates && (seed / 2 + t + i) % 4) {
				kind = o->kind == LITMUS_ADD ? ANY_ADD_BY_LOOP
				                             : ANY_EXCHANGE_BY_LOOP;
				expected = (seed / 4 + i) % 2;
				++*loops;
			}
			g_string_append_printf(
			        text, "%s%u,%d,%u,%d,%d,%d,%d,%u,%u,%d", text->len ? ";" : "",
			        t, kind, o->location, o->order, o->failure_order, (int)o->value,
			        expected, o->result, o->when, (int)o->when_value);
		}
	return g_string_free(text, FALSE);
}

struct expected {
	const struct litmus *l;
	const struct litmus_op *wait; /* or NULL */
	/* Of the same thread, or NULL: it reads the same as the second one after it. */
	const struct litmus_op *snapshot;
	uint32_t waiter; /* its thread */
	bool status[STATUSES];
};

/* any.c's number of an outcome. */
static void allow(void *context, const struct memory_graph *g, const struct litmus_outcome *o)
{
	struct expected *e = context;
	unsigned hash = 2166136261u;
	if (e->wait && o->registers[e->waiter][e->wait->result] != e->wait->expected)
		return;
	if (e->snapshot && o->registers[e->waiter][e->snapshot[0].result] !=
	                           o->registers[e->waiter][e->snapshot[2].result])
		return;
	for (uint32_t t = 0; t < e->l->threads; t++)
		for (uint32_t k = 0; k < 4; k++)
			hash = (hash ^ (unsigned)o->registers[t][k]) * 16777619u;
	for (uint32_t i = 0; i < 2; i++)
		hash = (hash ^ (unsigned)o->memory[i]) * 16777619u;
	e->status[1 + hash % 251] = true;
}

static char *explore(const char *heddle, const char *program, const struct litmus *l,
                     const char *model, const char *ops, uint32_t calls)
{
	char threads[16], before[16], *out = NULL, *errors = NULL;
	int status;
	g_snprintf(threads, sizeof threads, "%u", l->threads);
	g_snprintf(before, sizeof before, "%u", calls);
	char *argv[] = { (char *)heddle,
		         "explore",
		         "--memory",
		         (char *)model,
		         "--budget",
		         "0",
		         "--runs",
		         "100000",
		         "--format",
		         "json",
		         "--",
		         (char *)program,
		         "1",
		         threads,
		         (char *)ops,
		         "number",
		         before,
		         NULL };
	if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &errors,
	                  &status, NULL))
		BUG("%s cannot be run", heddle);
	if (*errors)
		printf("%s", errors);
	g_free(errors);
	return out;
}

/* Do the report's runs end with the statuses that are expected, and with threads that wait for
 * ever where some graphs do? */
static bool is_right(const struct expected *e, const char *out, bool blocks, uint64_t *runs)
{
	bool blocked = false;
	json_t *report = json_loads(out, 0, NULL), *run;
	bool seen[STATUSES] = { false },
	     good = json_is_true(json_object_get(report, "complete"));
	size_t i;
	if (!good)
		printf("  not complete\n");
	json_array_foreach(json_object_get(report, "runs"), i, run)
	{
		json_int_t status = json_integer_value(json_object_get(run, "status"));
		const char *end = json_string_value(json_object_get(run, "end"));
		if (end && strcmp(end, "blocked") == 0)
			blocked = true;
		else if (status > 0 && status < STATUSES)
			seen[status] = true;
		else
			good = false;
		++*runs;
	}
	for (int s = 0; s < STATUSES; s++) {
		if (seen[s] != e->status[s])
			printf("  outcome %d is %s\n", s, seen[s] ? "not allowed" : "missing");
		good &= seen[s] == e->status[s];
	}
	if (blocked != blocks)
		printf("  threads that wait for ever: %s\n",
		       blocked ? "not allowed" : "missing");
	json_decref(report);
	return good && blocked == blocks;
}

int main(void)
{
	const char *given = g_getenv("HEDDLE_TRACES"), *seed = g_getenv("HEDDLE_SEED");
	const char *heddle = g_getenv("HEDDLE") ? g_getenv("HEDDLE") : "./heddle";
	uint32_t cases = given ? (uint32_t)atoi(given) : CASES, failed = 0;
	uint32_t first = seed ? (uint32_t)strtoul(seed, NULL, 10) : 1;
	uint64_t runs = 0, graphs = 0, waits = 0, of_library = 0, loops = 0;
	char *folder = g_dir_make_tmp("heddle-XXXXXX", NULL);
	char *program = g_build_filename(folder, "any", NULL);
	char *build = g_strdup_printf("%s cc -g -O1 -pthread -o %s "
	                              "tests/e2e/programs/litmus/any.c",
	                              heddle, program);
	BUG_ON(!g_spawn_command_line_sync(build, NULL, NULL, NULL, NULL));
	for (uint32_t i = 0; i < cases; i++) {
		GRand *r = g_rand_new_with_seed(first + i);
		struct litmus l;
		uint32_t waiter = 0;
		struct litmus_op *wait = NULL, *snapshot = NULL;
		litmus_random(r, (first + i) % 2 ? LITMUS_STRAIGHT : LITMUS_LIBRARY, &l);
		bool looks_twice = (first + i) % 6 == 1;
		for (int k = 0; looks_twice && k < TRIES && snapshot == NULL; k++) {
			snapshot = add_snapshot(r, &l, &waiter);
			if (snapshot == NULL)
				litmus_random(r, LITMUS_STRAIGHT, &l);
		}
		for (int k = 0; (first + i) % 2 && !looks_twice && k < TRIES; k++) {
			wait = find_wait(&l, &waiter);
			if (wait != NULL)
				break;
			litmus_random(r, LITMUS_STRAIGHT, &l);
		}
		/* before one operation in four, in two programs of three */
		uint32_t calls = g_rand_int(r) & g_rand_int(r);
		calls = (first + i) % 3 ? calls : 0;
		g_rand_free(r);
		waits += wait != NULL;
		of_library += has_library(&l);
		char *ops = ops_text(&l, wait, snapshot, first + i, &loops),
		     *text = litmus_text(&l);
		for (int m = MEMORY_TSO; m <= MEMORY_RC11; m++) {
			struct expected e = {
				.l = &l, .wait = wait, .snapshot = snapshot, .waiter = waiter
			};
			struct memory_counts counts;
			const char *word = memory_model_word((enum memory_model)m);
			litmus_enumerate(&l, (enum memory_model)m, allow, &e, &counts);
			graphs += counts.complete;
			char *out = explore(heddle, program, &l, word, ops, calls);
			if (!is_right(&e, out, counts.blocked > 0 && wait == NULL, &runs)) {
				printf("%s: %s (HEDDLE_SEED=%u HEDDLE_TRACES=1)\n  %s number %u\n",
				       word, text, first + i, ops, calls);
				failed++;
			}
			g_free(out);
		}
		g_free(ops);
		g_free(text);
	}
	printf("memory_explore: %u programs under two models (%lu with a loop that waits, %lu with "
	       "the thread library; %lu updates by a loop), %lu graphs, %lu runs\n",
	       cases, (unsigned long)waits, (unsigned long)of_library, (unsigned long)loops,
	       (unsigned long)graphs, (unsigned long)runs);
	g_remove(program);
	g_rmdir(folder);
	g_free(build);
	g_free(program);
	g_free(folder);
	return failed != 0;
}
