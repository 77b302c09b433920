/*
 * prop_cov_witness.c - witnesses of order violations, whole and damaged: the checker accepts a
 * sequence for a pair exactly when the definition does (semantics.md, rule 5 among the rules),
 * as it is written down in cov_search.c.
 *
 * HEDDLE_TRACES sets the number of traces, HEDDLE_SEED the first seed.
 */
#include "engine/base/home.h"
#include "engine/commute/cov.h"
#include "tests/property/cov_search.h"
#include "tests/property/mix.h"
#include "tests/property/mutate.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>

static const struct cov_options by_events = { .pairs_events = true,
	                                      .all_verdicts = true,
	                                      .budget_pair = MIX_SECONDS,
	                                      .budget_total = MIX_SECONDS };

struct tally {
	uint64_t whole, accepted, refused, truths_of_mutants;
};

static void judge(uint64_t seed, struct cov_search *s, struct checker *c,
                  const GArray *sequence, const uint32_t pair[2], struct tally *tally,
                  bool mutant)
{
	const uint32_t *events = (const uint32_t *)(const void *)sequence->data;
	GString *reason = g_string_new(NULL);
	bool ours = checker_claim(c, (struct event_list){ events, sequence->len },
	                          claimed_of(CLAIM_COV, pair, 2), reason);
	bool truth = cov_is_witness(s, events, sequence->len, pair);

	if (ours != truth) {
		for (uint32_t e = 0; e < s->n; e++) {
			GString *line = g_string_new(NULL);
			trace_append_line(s->t, e, line);
			fprintf(stderr, "%2u %s\n", e, line->str);
			g_string_free(line, TRUE);
		}
		fprintf(stderr, "pair %u %u, sequence", pair[0], pair[1]);
		for (guint i = 0; i < sequence->len; i++)
			fprintf(stderr, " %u", events[i]);
		fprintf(stderr, "\n");
	}
	ck_assert_msg(ours == truth,
	              "seed %" G_GUINT64_FORMAT
	              ": the checker %s, by the definition it is %s: %s",
	              seed, ours ? "accepts" : "refuses", truth ? "one" : "none", reason->str);
	ck_assert_msg(ours || reason->len > 0, "a refusal says why");
	tally->accepted += ours;
	tally->refused += !ours;
	tally->truths_of_mutants += mutant && truth;
	g_string_free(reason, TRUE);
}

static void damage(uint64_t seed, GRand *random, struct cov_search *s, struct checker *c,
                   const struct finding *f, struct tally *tally)
{
	for (int i = 0; i < 12; i++) {
		GArray *copy = g_array_copy(f->witness);
		uint32_t pair[2] = { f->first, f->second };

		for (int k = g_rand_int_range(random, 1, 3); k > 0; k--)
			mutate_sequence(random, copy, s->n);
		if (i % 3 == 0)
			mutate_pair(random, pair, s->n);
		judge(seed, s, c, copy, pair, tally, true);
		g_array_unref(copy);
	}
	/* the recorded order, which turns nothing round; with any pair */
	GArray *recorded = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t pair[2] = { f->first, f->second };

	for (uint32_t e = 0; e < s->n; e++)
		g_array_append_val(recorded, e);
	for (int i = 0; i < 4; i++) {
		g_array_set_size(recorded, MAX(pair[0], pair[1]) + 1);
		judge(seed, s, c, recorded, pair, tally, true);
		pair[0] = g_rand_int_range(random, 0, (gint32)recorded->len);
		pair[1] = g_rand_int_range(random, 0, (gint32)recorded->len);
	}
	g_array_unref(recorded);
}

static void trial(uint64_t seed, bool ecl, bool effects, struct tally *tally)
{
	static const char *const used[] = { "specs/memory.spec", "specs/condvar.spec" };
	struct dice d = { seed };
	struct specs *specs = specs_new();
	struct error error = { 0 };

	for (size_t i = 0; i < G_N_ELEMENTS(used); i++) {
		char *path = home_find(used[i]);

		ck_assert(path != NULL && specs_load(specs, path, &error));
		g_free(path);
	}
	const struct spec_object *o = random_object(&d, ecl, effects, specs);
	struct trace *t = cov_random_run(&d, o, effects);
	struct model *m = model_new(t, specs, NULL, &error);
	struct report *r =
	        t->events_count <= COV_MOST ? cov_find(m, &by_events, NULL, &error) : NULL;

	if (r != NULL) {
		struct semantics semantics = model_semantics(m);
		struct check_options options = { .semantics = &semantics };
		struct checker *c = checker_new(t, &options);
		GRand *random = g_rand_new_with_seed((guint32)seed);
		struct cov_search s;

		cov_search_init(&s, m);
		for (guint i = 0; i < r->findings->len; i++) {
			const struct finding *f = r->findings->pdata[i];
			uint32_t pair[2] = { f->first, f->second };

			if (f->witness == NULL)
				continue;
			judge(seed, &s, c, f->witness, pair, tally, false);
			GArray *better = polish_witness(t, f, &options);
			ck_assert_msg(better != NULL, "seed %" G_GUINT64_FORMAT, seed);
			judge(seed, &s, c, better, pair, tally, false);
			g_array_unref(better);
			tally->whole++;
			if (i % 4 == 0)
				damage(seed, random, &s, c, f, tally);
		}
		g_rand_free(random);
		checker_free(c);
		report_free(r);
	}
	model_free(m);
	trace_close(t);
	specs_free(specs);
}

START_TEST(only_what_the_definition_accepts)
{
	uint64_t first = mix_setting("HEDDLE_SEED", 1),
	         count = mix_setting("HEDDLE_TRACES", 400);
	struct tally tally = { 0 };

	for (uint64_t seed = first; seed < first + count; seed++)
		trial(seed, seed & 1, seed & 2, &tally);
	if (!mix_default())
		return;
	ck_assert_uint_gt(tally.whole, count);
	ck_assert_uint_gt(minimised, count / 8);
	ck_assert_uint_gt(tally.refused, 4 * count);
	ck_assert_uint_gt(tally.truths_of_mutants, count / 4);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("witnesses of order violations");
	TCase *tests = tcase_create("against the definition");

	tcase_add_test(tests, only_what_the_definition_accepts);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
