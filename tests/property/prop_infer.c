/*
 * prop_infer.c - the inference's result is an `atomics` block: on random traces of nested
 * functions, objects, globals, pointers and locks, the block, printed and read again, finds
 * the same as the inference; every set holds shared variables alone, and no unit is a start
 * routine.
 *
 * HEDDLE_TRACES sets the number of traces, HEDDLE_SEED the first seed.
 */
#include "engine/atomic/atomic.h"
#include "engine/commute/language/spec.h"
#include "tests/property/mix.h"
#include "tests/support/suite.h"
#include "tests/support/coverage.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define DEEPEST 4

struct maker {
	GRand *random;
	GString *text;
	int depth[THREADS];
	char function[THREADS][DEEPEST];
	int lock[THREADS]; /* held, or -1 */
	bool taken[3];
};

static const char *const variables[] = { "a.x", "a.y", "a.z",     "b.x",       "b.y",   "g",
	                                 "h",   "i",   "arr[1]",  "p0->n",     "p0->m", "p1->n",
	                                 "o.p", "o.q", "g@log.c", "table[2].x" };

static void touch(struct maker *k, int t)
{
	const char *v = variables[g_rand_int_range(k->random, 0, G_N_ELEMENTS(variables))];
	if (g_rand_int_range(k->random, 0, 8) == 0)
		g_string_append_printf(k->text, "T%d|w(%s)=%s|\n", t,
		                       g_rand_boolean(k->random) ? "o.p" : "a.z",
		                       g_rand_boolean(k->random) ? "p0" : "p1");
	else
		g_string_append_printf(k->text, "T%d|%s(%s)|\n", t,
		                       g_rand_int_range(k->random, 0, 40) == 0 ? "aw"
		                       : g_rand_boolean(k->random)             ? "r"
		                                                               : "w",
		                       v);
}

static void call(struct maker *k, int t)
{
	int *depth = &k->depth[t];
	if (*depth < DEEPEST && (*depth == 0 || g_rand_boolean(k->random))) {
		char f = *depth == 0 ? 'r' : (char)('s' + g_rand_int_range(k->random, 0, 4));
		k->function[t][(*depth)++] = f;
		g_string_append_printf(k->text, "T%d|enter(%c)|\n", t, f);
	} else if (*depth > 1) {
		g_string_append_printf(k->text, "T%d|leave(%c)|\n", t,
		                       k->function[t][--*depth]);
	}
}

static void lock(struct maker *k, int t)
{
	int l = g_rand_int_range(k->random, 0, 3);
	if (k->lock[t] >= 0) {
		g_string_append_printf(k->text, "T%d|rel(l%d)|\n", t, k->lock[t]);
		k->taken[k->lock[t]] = false;
		k->lock[t] = -1;
	} else if (!k->taken[l]) {
		g_string_append_printf(k->text, "T%d|acq(l%d)|\n", t, l);
		k->taken[l] = true;
		k->lock[t] = l;
	}
}

static void cut(struct maker *k, int t)
{
	static const char *const cuts[] = { "enter(sleep@libc)|\nT%d|leave(sleep@libc)",
		                            "post(s)",
		                            "enter(read@libc)|\nT%d|leave(read@libc)",
		                            "arrive(b)|\nT%d|depart(b)" };
	char *text = g_strdup_printf("T%%d|%s|\n",
	                             cuts[g_rand_int_range(k->random, 0, G_N_ELEMENTS(cuts))]);
	g_string_append_printf(k->text, text, t, t);
	g_free(text);
}

static struct trace *nested_calls(uint32_t seed)
{
	struct maker k = { .random = g_rand_new_with_seed(seed), .text = g_string_new(NULL) };
	for (int t = 0; t < THREADS; t++)
		k.lock[t] = -1;
	g_string_append(k.text, "T0|alloc(p0,16)|\nT0|alloc(p1,16)|\n");
	for (int t = 0; t < THREADS; t++)
		call(&k, t);
	for (int i = 0; i < 80; i++) {
		int t = g_rand_int_range(k.random, 0, THREADS),
		    what = g_rand_int_range(k.random, 0, 40);
		what < 22   ? touch(&k, t)
		: what < 32 ? call(&k, t)
		: what < 39 ? lock(&k, t)
		            : cut(&k, t);
	}
	struct error e = { 0 };
	struct trace *t =
	        coverage_trace(trace_from_text("random", k.text->str, k.text->len, NULL, &e));
	ck_assert_msg(t != NULL, "seed %u: %s: %s\n%s", seed, e.where, e.what, k.text->str);
	g_string_free(k.text, TRUE);
	g_rand_free(k.random);
	return t;
}

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The cycles as text, but for the names of their sets and their grades. */
static char *cycles_of(struct trace *t, const struct atomic_model *m, guint *count)
{
	struct atomic_options all = { .all = true };
	struct report *r = atomic_find(t, m, &all, NULL);
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		GString *line = g_string_new(NULL);
		for (guint e = 0; e < f->edges->len; e++) {
			const struct cycle_edge *x =
			        &g_array_index(f->edges, struct cycle_edge, e);
			const struct cycle_unit *u =
			        &g_array_index(f->units, struct cycle_unit, e);
			g_string_append_printf(line, "%s %u-%u by %u at %u, %u; ", u->unit,
			                       u->begin, u->end, x->variable, x->events[0],
			                       x->events[1]);
		}
		g_ptr_array_add(lines, g_string_free(line, FALSE));
	}
	*count += r->findings->len;
	g_ptr_array_sort(lines, by_text);
	g_ptr_array_add(lines, NULL);
	char *text = g_strjoinv("\n", (char **)lines->pdata);
	g_ptr_array_free(lines, TRUE);
	report_free(r);
	return text;
}

static void members_are_shared(const struct trace *t, const struct atomic_model *m)
{
	for (uint32_t v = 0; v < t->variables_count; v++) {
		uint32_t first = NONE;
		bool shared = false, atomic = false;
		for (uint64_t i = 0; i < t->events_count; i++) {
			const struct event *e = &t->events[i];
			if (!op_is_access(e->op) || e->target != v)
				continue;
			atomic |= op_is_atomic(e->op);
			shared |= first != NONE && e->thread != first;
			first = first == NONE ? e->thread : first;
		}
		const uint32_t *start = (const uint32_t *)(void *)m->member_start->data;
		if (atomic)
			ck_assert_uint_eq(start[v], start[v + 1]);
		if (!shared)
			ck_assert_uint_eq(g_array_index(m->since, uint32_t, v), NONE);
	}
}

START_TEST(a_saved_block_finds_the_same)
{
	uint64_t first = mix_setting("HEDDLE_SEED", 1),
	         count = mix_setting("HEDDLE_TRACES", 1500);
	guint cycles = 0, again = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct trace *t = nested_calls((uint32_t)seed);
		struct atomic_model *m = atomic_model_inferred(t, NULL, NULL);
		char *inferred = cycles_of(t, m, &cycles);
		members_are_shared(t, m);
		ck_assert_msg(strstr(m->inferred, "unit r on") == NULL, "seed %u: %s",
		              (unsigned)seed, m->inferred);
		struct error e = { 0 };
		struct specs *s = specs_new();
		ck_assert_msg(specs_parse(s, "saved", m->inferred, strlen(m->inferred), &e),
		              "seed %u: %s: %s\n%s", (unsigned)seed, e.where, e.what,
		              m->inferred);
		struct atomic_model *saved = atomic_model_for(t, s, NULL, NULL);
		char *read = cycles_of(t, saved, &again);
		ck_assert_msg(strcmp(inferred, read) == 0,
		              "seed %u:\n%s\ninferred:\n%s\nsaved:\n%s", (unsigned)seed,
		              m->inferred, inferred, read);
		g_free(inferred);
		g_free(read);
		atomic_model_free(m);
		atomic_model_free(saved);
		specs_free(s);
		trace_close(t);
	}
	if (mix_default())
		ck_assert_uint_gt(cycles, count / 4); /* else nothing was compared */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("inferred atomic sets");
	TCase *c = tcase_create("inference");
	tcase_add_test(c, a_saved_block_finds_the_same);
	suite_add_tcase(s, c);
	return suite_run(s);
}
