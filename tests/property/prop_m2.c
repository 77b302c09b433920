/*
 * prop_m2.c - M2 against exhaustive search on random small traces: every reported race is
 * one, no race is proved impossible, and none is missed where M2 claims to be complete, which
 * it always does for two threads.
 *
 * HEDDLE_TRACES sets the number of traces, HEDDLE_SEED the first seed.
 */
#include "engine/predict/m2/m2_private.h"
#include "engine/predict/predict_private.h"
#include "engine/predict/race.h"
#include "engine/witness/check.h"
#include "tests/property/mix.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

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
	if (verdict == M2_RACE && !witness_check(t, event_list_of(witness),
	                                         claimed_of(CLAIM_RACE, pair, 2), NULL, NULL))
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

			if (!events_race_conflict(t, e, f))
				continue;
			enum m2_verdict verdict = m2_pair(m, e, f, witness, &proof);
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
	uint64_t first = mix_setting("HEDDLE_SEED", 1),
	         count = mix_setting("HEDDLE_TRACES", 4000);

	for (uint64_t seed = first; seed < first + count; seed++)
		ck_assert_msg(trial(seed), "M2 and the search disagree");
	fprintf(stderr,
	        "%llu traces, %llu pairs: %llu races, %llu missed; %llu proved impossible, "
	        "%llu "
	        "rejected without a claim; %llu sequences refused by the checker\n",
	        (unsigned long long)count, (unsigned long long)tally.pairs,
	        (unsigned long long)tally.races, (unsigned long long)tally.missed,
	        (unsigned long long)tally.impossible, (unsigned long long)tally.unclaimed,
	        (unsigned long long)tally.refused);
	if (mix_default()) {
		ck_assert_uint_gt(tally.races, count / 2);
		ck_assert_uint_gt(tally.impossible, count / 2);
	}
	ck_assert_msg(tally.refused == 0, "the checker refused a sequence of M2's");
	/* far from everything is missed with three and four threads */
	ck_assert_uint_lt(tally.missed, 1 + tally.races / 100);
}
END_TEST

/* ---- The whole analysis: candidates, shared proofs, what is claimed ---- */

static uint32_t site_of(const struct trace *t, uint32_t e)
{
	return t->locations[t->events[e].location].site;
}

/* Does the finding represent (e, f)? */
static bool covers(const struct trace *t, const struct finding *x, uint32_t e, uint32_t f,
                   bool by_events)
{
	if (by_events)
		return x->first == e && x->second == f;
	uint32_t a = site_of(t, x->first);
	uint32_t b = site_of(t, x->second);
	uint32_t c = site_of(t, e);
	uint32_t d = site_of(t, f);
	return (a == c && b == d) || (a == d && b == c);
}

static bool names_variable(const struct finding *x, uint32_t v)
{
	for (guint i = 0; i < x->variables->len; i++) {
		if (g_array_index(x->variables, uint32_t, i) == v)
			return true;
	}
	return false;
}

/* NULL if the report is right about one pair, else the fault. */
static const char *judge_pair(const struct trace *t, const struct report *r, uint32_t e,
                              uint32_t f, bool race, bool by_events)
{
	const struct finding *found = NULL;

	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *x = r->findings->pdata[i];

		if (!covers(t, x, e, f, by_events))
			continue;
		if (found != NULL)
			return "two findings for one pair";
		found = x;
		if (x->verdict == VERDICT_IMPOSSIBLE && race)
			return "a race is called impossible";
		if (x->verdict == VERDICT_RACE && by_events && !race)
			return "what is no race is called one";
	}
	if (race && r->complete && (found == NULL || found->verdict != VERDICT_RACE))
		return "a race is missed by a report that calls itself complete";
	if (race && r->complete && !names_variable(found, race_variable(t, e, f)))
		return "a racy variable is not named";
	return NULL;
}

static const char *judge_report(struct trace *t, const bool *races, bool by_events, bool all)
{
	struct race_options options;
	struct error error;
	uint32_t n = (uint32_t)t->events_count;
	const char *wrong = NULL;

	race_options_init(&options);
	options.budget_pair = options.budget_total = MIX_SECONDS;
	options.analysis = ANALYSIS_M2;
	options.pairs_events = by_events;
	options.all_verdicts = all;
	struct report *r = races_find(t, &options, NULL, &error);
	if (r == NULL)
		return "no report";
	for (uint32_t e = 0; e < n && wrong == NULL; e++) {
		for (uint32_t f = e + 1; f < n && wrong == NULL; f++) {
			if (events_race_conflict(t, e, f))
				wrong = judge_pair(t, r, e, f, races[e * n + f], by_events);
		}
	}
	for (guint i = 0; i < r->findings->len && wrong == NULL; i++) {
		const struct finding *x = r->findings->pdata[i];

		if (x->verdict == VERDICT_RACE && !races[x->first * n + x->second])
			wrong = "the pair of a site's race is none";
		if (!all && x->verdict != VERDICT_RACE)
			wrong = "a verdict that was not asked for";
		tally.pairs++;
		tally.races += x->verdict == VERDICT_RACE;
		tally.impossible += x->verdict == VERDICT_IMPOSSIBLE;
	}
	report_free(r);
	return wrong;
}

START_TEST(reports_agree_with_the_search)
{
	uint64_t first = mix_setting("HEDDLE_SEED", 1),
	         count = mix_setting("HEDDLE_TRACES", 3000);

	for (uint64_t seed = first; seed < first + count; seed++) {
		struct random_options options = random_mix(seed, 18);
		struct trace *t = random_trace(seed, &options);
		bool *races = oracle_races(t, false);
		const char *wrong = judge_report(t, races, seed % 2, seed / 2 % 2);
		char *text = trace_text(t);

		ck_assert_msg(wrong == NULL, "seed %llu by %s: %s\n%s",
		              (unsigned long long)seed, seed % 2 ? "events" : "sites", wrong,
		              text);
		g_free(text);
		g_free(races);
		trace_close(t);
	}
	if (!mix_default())
		return;
	ck_assert_uint_gt(tally.races, count / 2);
	ck_assert_uint_gt(tally.impossible, count / 4);
}
END_TEST

/* ---- One pair, exactly: M2, and behind it the solver ---- */

static const char *judge_decision(struct trace *t, uint32_t e, uint32_t f, bool race)
{
	struct race_options options;
	const char *wrong = NULL;

	race_options_init(&options);
	options.budget_pair = options.budget_total = MIX_SECONDS;
	struct finding *x = race_decide(t, f, e, &options, NULL, NULL);
	if (x == NULL)
		return "no decision";
	if (x->note != NULL) { /* visible only as a C11 race */
		const uint32_t pair[] = { e, f };

		if (race ||
		    !oracle_is_reordering(t, (const uint32_t *)x->witness->data,
		                          x->witness->len, false) ||
		    !witness_check(t, event_list_of(x->witness),
		                   claimed_of(CLAIM_C11_RACE, pair, 2), NULL, NULL))
			wrong = "no such race";
		finding_free(x);
		return wrong;
	}
	if (x->verdict != (race ? VERDICT_RACE : VERDICT_IMPOSSIBLE))
		wrong = verdict_word(x->verdict);
	if (race && wrong == NULL &&
	    !oracle_is_reordering(t, (const uint32_t *)x->witness->data, x->witness->len - 2,
	                          false))
		wrong = "its witness is no correct reordering";
	if (!race && wrong == NULL && x->proof == NULL)
		wrong = "no proof";
	finding_free(x);
	return wrong;
}

START_TEST(one_pair_is_decided_exactly)
{
	uint64_t first = mix_setting("HEDDLE_SEED", 1),
	         count = mix_setting("HEDDLE_TRACES", 600);
	uint64_t decided = 0;

	for (uint64_t seed = first; seed < first + count; seed++) {
		struct random_options options = random_mix(seed, 14);
		struct trace *t = random_trace(seed, &options);
		uint32_t n = (uint32_t)t->events_count;
		bool *races = oracle_races(t, false);

		for (uint32_t e = 0; e < n; e++) {
			for (uint32_t f = e + 1; f < n; f++) {
				if (!events_race_conflict(t, e, f))
					continue;
				decided++;
				const char *wrong = judge_decision(t, e, f, races[e * n + f]);
				ck_assert_msg(wrong == NULL, "seed %llu (%u, %u), race %d: %s",
				              (unsigned long long)seed, e, f, races[e * n + f],
				              wrong);
			}
		}
		g_free(races);
		trace_close(t);
	}
	if (mix_default())
		ck_assert_uint_gt(decided, count);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("M2 against search");
	TCase *tests = tcase_create("random traces");

	tcase_add_test(tests, agrees_with_the_search);
	tcase_add_test(tests, reports_agree_with_the_search);
	tcase_add_test(tests, one_pair_is_decided_exactly);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
