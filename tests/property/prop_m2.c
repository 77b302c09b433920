/*
 * prop_m2.c - M2 against exhaustive search on random small traces: no report that is no
 * race, no proof of a race's impossibility, nothing missed where M2 claims to be complete,
 * which it always does for two threads.
 *
 * HEDDLE_TRACES sets the number of traces, HEDDLE_SEED the first seed.
 */
#include "engine/predict/m2_private.h"
#include "engine/witness/check.h"
#include "tests/property/oracle.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text == NULL ? otherwise : g_ascii_strtoull(text, NULL, 10);
}

static struct {
	uint64_t pairs, races, impossible, missed, unclaimed, refused;
} tally;

static bool exact_for_two(const struct random_options *o)
{
	return o->threads == 2 && !o->tries;
}

/* NULL when the answer is right. */
static const char *judge(const struct trace *t, const struct random_options *options,
			 uint32_t e, uint32_t f, bool race, enum m2_verdict verdict,
			 const GArray *witness, const struct proof *proof)
{
	const uint32_t pair[] = { e, f };

	tally.pairs++;
	tally.races += race;
	tally.impossible += verdict == M2_IMPOSSIBLE;
	tally.missed += race && verdict != M2_RACE;
	tally.unclaimed += !race && verdict == M2_REJECTED;
	if (verdict == M2_GAVE_UP)
		return "gave up on a small trace";
	if (verdict == M2_RACE && !race)
		return "reported what is no race";
	if (verdict == M2_IMPOSSIBLE && race)
		return "claimed that a race is impossible";
	if (verdict == M2_REJECTED && exact_for_two(options))
		return race ? "missed a race of two threads" : "no claim for two threads";
	if (verdict == M2_RACE &&
	    !oracle_is_reordering(t, (const uint32_t *)witness->data, witness->len - 2, false))
		return "its witness is no correct reordering";
	if (verdict == M2_RACE &&
	    !witness_check(t, (const uint32_t *)witness->data, witness->len, CLAIM_RACE, pair, 2,
			   NULL, NULL))
		return "its witness is not accepted";
	if (verdict == M2_IMPOSSIBLE &&
	    (proof == NULL || proof->cycle.steps == NULL || proof->cycle.steps->len < 2))
		return "gave no proof";
	return NULL;
}

static bool trial(uint64_t seed)
{
	struct random_options options = random_mix(seed, 16);
	struct trace *t = random_trace(seed, &options);
	uint32_t n = (uint32_t)t->events_count;
	bool *races = oracle_races(t, false);
	struct m2 *m = m2_new(t, NULL, NULL);
	GArray *witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	const char *wrong = NULL;

	/* traces this small would never be cut; make it happen */
	if (seed % 4 < 2)
		m->small = 0;
	for (uint32_t e = 0; e < n && wrong == NULL; e++) {
		for (uint32_t f = e + 1; f < n && wrong == NULL; f++) {
			struct proof *proof = NULL;
			enum m2_verdict verdict;

			if (!events_race_conflict(t, e, f))
				continue;
			verdict = m2_pair(m, e, f, witness, &proof);
			wrong = judge(t, &options, e, f, races[e * n + f], verdict, witness,
				      proof);
			/* the way that keeps no witness has to say the same */
			if (wrong == NULL && m2_pair(m, e, f, NULL, NULL) != verdict)
				wrong = "says something else without a witness";
			proof_free(proof);
			if (wrong != NULL) {
				char *text = trace_text(t);

				fprintf(stderr, "seed %llu: (%u, %u): %s\n%s",
					(unsigned long long)seed, e, f, wrong, text);
				g_free(text);
			}
		}
	}
	tally.refused += m2_refused(m);
	g_array_unref(witness);
	g_free(races);
	m2_free(m);
	trace_close(t);
	return wrong == NULL;
}

START_TEST(agrees_with_the_search)
{
	uint64_t first = setting("HEDDLE_SEED", 1), count = setting("HEDDLE_TRACES", 4000);

	for (uint64_t seed = first; seed < first + count; seed++)
		ck_assert_msg(trial(seed), "M2 and the search disagree");
	fprintf(stderr,
		"%llu traces, %llu pairs: %llu races, %llu missed; %llu proved impossible, %llu "
		"rejected without a claim; %llu sequences refused by the checker\n",
		(unsigned long long)count, (unsigned long long)tally.pairs,
		(unsigned long long)tally.races, (unsigned long long)tally.missed,
		(unsigned long long)tally.impossible, (unsigned long long)tally.unclaimed,
		(unsigned long long)tally.refused);
	ck_assert_uint_gt(tally.races, count / 2);
	ck_assert_uint_gt(tally.impossible, count / 2);
	/* far from everything is missed with three and four threads */
	ck_assert_uint_lt(tally.missed, 1 + tally.races / 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("M2 against search");
	TCase *tests = tcase_create("random traces");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 0);
	tcase_add_test(tests, agrees_with_the_search);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
