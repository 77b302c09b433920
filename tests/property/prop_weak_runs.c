/*
 * prop_weak_runs.c - random litmus programs, run as a real program under TSO and RC11 with
 * many seeds: the outcomes are exactly those that the axioms allow.
 */
#include "tests/support/litmus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glib/gstdio.h>

enum { CASES = 6, SEEDS = 40, ROUNDS = 120, MOST_OPS = 8 };

static uint32_t below(GRand *r, uint32_t n)
{
	return (uint32_t)g_rand_int_range(r, 0, (gint32)n);
}

static enum memory_order_kind one_of(GRand *r, const char *orders)
{
	return (enum memory_order_kind)(orders[below(r, (uint32_t)strlen(orders))] - '0');
}

static void random_program(GRand *r, struct litmus *l)
{
	memset(l, 0, sizeof *l);
	l->threads = 2 + below(r, 3);
	uint32_t count = l->threads + 1 + below(r, MOST_OPS - l->threads);
	bool weak = below(r, 2); /* more of relaxed */
	for (uint32_t i = 0; i < count; i++) {
		uint32_t t = i < l->threads ? i : below(r, l->threads), kind = below(r, 10);
		if (l->length[t] == 4)
			continue;
		struct litmus_op *op = &l->ops[t][l->length[t]];
		op->kind = kind < 3   ? LITMUS_LOAD
		           : kind < 6 ? LITMUS_STORE
		           : kind < 7 ? LITMUS_EXCHANGE
		           : kind < 8 ? LITMUS_ADD
		           : kind < 9 ? LITMUS_COMPARE
		                      : LITMUS_FENCE;
		op->location = below(r, 2);
		op->value = 1 + below(r, 2);
		op->expected = below(r, 3);
		op->result = l->length[t]++;
		op->order = one_of(r, op->kind == LITMUS_LOAD    ? weak ? "1112" : "125"
		                      : op->kind == LITMUS_STORE ? weak ? "1113" : "135"
		                      : op->kind == LITMUS_FENCE ? "23455"
		                                                 : "12345");
		bool acquires = op->order == ORDER_ACQ || op->order >= ORDER_ACQ_REL;
		op->failure_order = one_of(r, op->order == ORDER_SEQ_CST ? "125"
		                              : acquires                 ? "12"
		                                                         : "1");
	}
}

/* As the program any.c has it. */
static char *ops_text(const struct litmus *l)
{
	GString *text = g_string_new(NULL);
	for (uint32_t t = 0; t < l->threads; t++)
		for (uint32_t i = 0; i < l->length[t]; i++) {
			const struct litmus_op *o = &l->ops[t][i];
			g_string_append_printf(text, "%s%u,%d,%u,%d,%d,%d,%d,%u",
			                       text->len ? ";" : "", t, o->kind, o->location,
			                       o->order, o->failure_order, (int)o->value,
			                       (int)o->expected, o->result);
		}
	return g_string_free(text, FALSE);
}

struct outcomes {
	const struct litmus *l;
	GHashTable *allowed; /* text -> seen? */
};

static void allow(void *context, const struct memory_graph *g,
                  const struct litmus_outcome *outcome)
{
	const struct outcomes *o = context;
	GString *text = g_string_new(NULL);
	for (uint32_t t = 0; t < o->l->threads; t++)
		for (uint32_t k = 0; k < 4; k++)
			g_string_append_printf(text, "%d", (int)outcome->registers[t][k]);
	g_string_append_printf(text, " %d%d", (int)outcome->memory[0], (int)outcome->memory[1]);
	g_hash_table_insert(o->allowed, g_string_free(text, FALSE), GINT_TO_POINTER(0));
}

static void spawn(char **argv, char **out)
{
	char *errors = NULL;
	int status = 1;
	GError *error = NULL;
	bool ran = g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, out, &errors,
	                        &status, &error);
	if (!ran || status != 0) {
		fprintf(stderr, "%s %s: %s\n", argv[0], argv[1],
		        error ? error->message : errors);
		exit(1);
	}
	g_free(errors);
}

/* False: an outcome that is not allowed. */
static bool note_seen(const struct outcomes *o, char *out, uint32_t *seen)
{
	char **lines = g_strsplit(out, "\n", -1);
	bool good = true;
	for (char **line = lines; *line && **line; line++) {
		gpointer key, value;
		if (!g_hash_table_lookup_extended(o->allowed, *line, &key, &value)) {
			printf("outcome %s is not allowed\n", *line);
			good = false;
			break;
		}
		*seen += value == NULL;
		g_hash_table_insert(o->allowed, g_strdup(*line), GINT_TO_POINTER(1));
	}
	g_strfreev(lines);
	return good;
}

struct run {
	bool chosen; /* programs of HEDDLE_SEED, not those that the test has by default */
	const char *heddle, *program, *trace;
	uint64_t runs, seen, allowed;
};

static bool check_case(struct run *run, const struct litmus *l, enum memory_model model)
{
	struct outcomes o = { l, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) };
	struct memory_counts counts;
	char *ops = ops_text(l), rounds[16], threads[16];
	uint32_t seen = 0;
	bool good = true;

	litmus_enumerate(l, model, allow, &o, &counts);
	g_snprintf(rounds, sizeof rounds, "%d", ROUNDS);
	g_snprintf(threads, sizeof threads, "%u", l->threads);
	int seed = 1;
	for (; good && seed <= SEEDS && seen < g_hash_table_size(o.allowed); seed++) {
		char number[16], *out = NULL;
		g_snprintf(number, sizeof number, "%d", seed);
		char *argv[] = { (char *)run->heddle,
			         "record",
			         "-q",
			         "-o",
			         (char *)run->trace,
			         "--memory",
			         (char *)memory_model_word(model),
			         "--no-missing",
			         "--seed",
			         number,
			         "--",
			         (char *)run->program,
			         rounds,
			         threads,
			         ops,
			         NULL };
		spawn(argv, &out);
		good = note_seen(&o, out, &seen);
		g_free(out);
		run->runs++;
	}
	run->seen += seen;
	run->allowed += g_hash_table_size(o.allowed);
	if (good && seen < g_hash_table_size(o.allowed)) {
		printf("%u of %u outcomes after %d seeds\n", seen, g_hash_table_size(o.allowed),
		       SEEDS);
		GHashTableIter it;
		gpointer key, value;
		g_hash_table_iter_init(&it, o.allowed);
		while (g_hash_table_iter_next(&it, &key, &value))
			if (!value)
				printf("  never: %s\n", (char *)key);
		good = run->chosen; /* rare ones of other programs may take more seeds */
	}
	if (!good) {
		char *text = litmus_text(l);
		printf("%s: seed %d: %s\n  %s\n", memory_model_word(model), seed - 1, text,
		       ops);
		g_free(text);
	}
	g_free(ops);
	g_hash_table_destroy(o.allowed);
	return good;
}

int main(void)
{
	const char *cases = getenv("HEDDLE_TRACES"), *seed = getenv("HEDDLE_SEED");
	uint32_t first = seed ? (uint32_t)strtoul(seed, NULL, 10) : 1, bad = 0;
	uint32_t count = cases ? (uint32_t)strtoul(cases, NULL, 10) : CASES;
	char *folder = g_dir_make_tmp("heddle-XXXXXX", NULL);
	char *program = g_build_filename(folder, "any", NULL);
	char *trace = g_build_filename(folder, "any.hdl", NULL);
	struct run run = { .heddle = getenv("HEDDLE") ? getenv("HEDDLE") : "./heddle",
		           .program = program,
		           .trace = trace,
		           .chosen = seed != NULL };
	char *build[] = { (char *)run.heddle,
		          "cc",
		          "-g",
		          "-O1",
		          "-pthread",
		          "-o",
		          program,
		          "tests/e2e/programs/litmus/any.c",
		          NULL };

	spawn(build, NULL);
	for (uint32_t i = 0; i < count; i++) {
		GRand *r = g_rand_new_with_seed(first + i);
		struct litmus l;
		random_program(r, &l);
		g_rand_free(r);
		for (int model = MEMORY_TSO; model <= MEMORY_RC11; model++)
			if (!check_case(&run, &l, (enum memory_model)model)) {
				printf("replay with HEDDLE_SEED=%u HEDDLE_TRACES=1\n",
				       first + i);
				bad++;
			}
	}
	printf("%s - %u programs under two models, %lu runs of %d rounds, %lu of %lu allowed "
	       "outcomes seen\n",
	       bad ? "not ok" : "ok", count, (unsigned long)run.runs, ROUNDS,
	       (unsigned long)run.seen, (unsigned long)run.allowed);
	g_remove(trace);
	g_remove(program);
	g_rmdir(folder);
	g_free(trace);
	g_free(program);
	g_free(folder);
	return bad != 0;
}
