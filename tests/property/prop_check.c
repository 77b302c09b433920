/*
 * prop_check.c - the checker and the exhaustive search, written from one page and apart from
 * each other, must agree on every sequence: walks that keep the rules, and the same walks
 * with events swapped, dropped, doubled or cut off. And a walk that is reordered for fewer
 * context switches is still accepted by both, and has fewer. A race's witness that begins with
 * the recording has the verdict of its whole sequence, whatever was asked before it.
 *
 * HEDDLE_TRACES sets the number of traces, HEDDLE_SEED the first seed.
 */
#include "engine/witness/check.h"
#include "engine/witness/regroup.h"
#include "tests/property/mix.h"
#include "tests/property/mutate.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* A random walk: at each place a random thread's next event, when the checker lets it. */
static void walk(const struct trace *t, GRand *random, bool use_values, GArray *sequence)
{
	struct check_options options = { .use_values = use_values };
	struct checker *c = checker_new(t, &options);
	uint32_t n = (uint32_t)t->events_count;

	for (uint32_t i = 0; i < 6 * n; i++) {
		uint32_t e = g_rand_int_range(random, 0, (gint32)n);

		if (checker_step(c, e, NULL))
			g_array_append_val(sequence, e);
	}
	checker_free(c);
}

static uint64_t agreed, accepted, regrouped;

static bool agree(const struct trace *t, const GArray *s, bool use_values)
{
	struct check_options options = { .use_values = use_values };
	GString *reason = g_string_new(NULL);
	const uint32_t *sequence = (const uint32_t *)s->data;
	bool ours = witness_check(t, (struct event_list){ sequence, s->len },
	                          claimed_of(CLAIM_PREFIX, NULL, 0), &options, reason);
	bool theirs = oracle_is_reordering(t, sequence, s->len, use_values);

	if (ours != theirs) {
		char *text = trace_text(t);

		fprintf(stderr, "checker %d, search %d: %s\n%ssequence:", ours, theirs,
		        reason->str, text);
		for (guint i = 0; i < s->len; i++)
			fprintf(stderr, " %u", sequence[i]);
		fprintf(stderr, "\n");
		g_free(text);
	}
	/* a refusal says why */
	if (!ours && reason->len == 0)
		ours = !theirs;
	g_string_free(reason, TRUE);
	agreed++;
	accepted += theirs;
	return ours == theirs;
}

static uint32_t switches(const struct trace *t, const GArray *s)
{
	return witness_count_switches(t, (const uint32_t *)(void *)s->data, s->len);
}

/* The last `fixed` events of a correct reordering stay where they are. */
static bool regroup(const struct trace *t, const GArray *s, uint32_t fixed, bool use_values)
{
	GArray *other = g_array_copy((GArray *)s);
	bool fewer = witness_regroup(t, other, fixed), good;

	good = agree(t, other, use_values) &&
	       oracle_is_reordering(t, (uint32_t *)(void *)other->data, other->len,
	                            use_values) &&
	       (switches(t, other) < switches(t, s)) == fewer;
	for (guint i = 0; i < MIN(fixed, s->len); i++)
		good &= g_array_index(s, uint32_t, s->len - 1 - i) ==
		        g_array_index(other, uint32_t, s->len - 1 - i);
	if (!good)
		fprintf(stderr, "ordered anew: %u switches, %u before\n", switches(t, other),
		        switches(t, s));
	regrouped += fewer;
	g_array_unref(other);
	return good;
}

static uint64_t races, refusals;

/* Compares the claim that the pair races after the tail with that of the whole sequence. */
static bool tails_agree(struct checker *after, struct checker *whole, uint32_t prefix,
                        GArray *tail, uint32_t e1, uint32_t e2)
{
	const uint32_t pair[2] = { e1, e2 };
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t e = 0; e < prefix; e++)
		g_array_append_val(all, e);
	g_array_append_vals(tail, pair, 2);
	g_array_append_vals(all, tail->data, tail->len);
	bool ours = checker_race_after(after, prefix, (const uint32_t *)(void *)tail->data,
	                               tail->len, pair, NULL);
	bool theirs =
	        checker_claim(whole, event_list_of(all), claimed_of(CLAIM_RACE, pair, 2), NULL);
	g_array_set_size(tail, tail->len - 2);
	races += theirs;
	refusals += !theirs;
	if (ours != theirs)
		fprintf(stderr,
		        "events %u and %u after %u recorded ones and %u: %d, whole %d\n", e1,
		        e2, prefix, tail->len, ours, theirs);
	return ours == theirs;
}

/* A random walk after the first `prefix` events of the recording. */
static GArray *walk_after(const struct trace *t, GRand *random, bool use_values,
                          uint32_t prefix)
{
	struct check_options options = { .use_values = use_values };
	GArray *tail = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct checker *c = checker_new(t, &options);
	uint32_t n = (uint32_t)t->events_count,
	         tries = (uint32_t)g_rand_int_range(random, 0, 40);

	for (uint32_t e = 0; e < prefix; e++)
		checker_step(c, e, NULL);
	for (uint32_t i = 0; i < tries; i++) {
		uint32_t e = (uint32_t)g_rand_int_range(random, 0, (gint32)n);

		if (checker_step(c, e, NULL))
			g_array_append_val(tail, e);
	}
	checker_free(c);
	return tail;
}

static bool tail_trial(uint64_t seed, bool use_values)
{
	struct random_options options = random_mix(seed, 18);
	struct check_options check = { .use_values = use_values };
	GRand *random = g_rand_new_with_seed((guint32)seed);
	bool good = true;

	options.values = use_values;
	struct trace *t = random_trace(seed, &options);
	struct checker *after = checker_new(t, &check), *whole = checker_new(t, &check);
	uint32_t n = (uint32_t)t->events_count;
	for (int i = 0; i < 8 && good; i++) {
		uint32_t prefix = (uint32_t)g_rand_int_range(random, 0, (gint32)n + 1);
		g_autoptr(GArray) tail = walk_after(t, random, use_values, prefix);

		if (i % 4 == 3)
			mutate_sequence(random, tail, n);
		for (uint32_t e1 = 0; e1 < n && good; e1++) {
			for (uint32_t e2 = 0; e2 < e1 && good; e2++) {
				if (events_race_conflict(t, e1, e2))
					good = tails_agree(after, whole, prefix, tail, e2, e1);
			}
		}
	}
	if (!good)
		fprintf(stderr, "seed %llu%s\n", (unsigned long long)seed,
		        use_values ? " with values" : "");
	checker_free(after);
	checker_free(whole);
	g_rand_free(random);
	trace_close(t);
	return good;
}

static void tail_trials(bool use_values)
{
	uint64_t first = mix_setting("HEDDLE_SEED", 1),
	         count = mix_setting("HEDDLE_TRACES", 1500);

	races = refusals = 0;
	for (uint64_t seed = first; seed < first + count; seed++)
		ck_assert_msg(tail_trial(seed, use_values), "a tail has another verdict");
	ck_assert_uint_gt(races, count / 2);
	ck_assert_uint_gt(refusals, count);
}

START_TEST(tails_have_the_verdicts_of_whole_sequences)
{
	tail_trials(false);
}
END_TEST

START_TEST(tails_have_the_verdicts_of_whole_sequences_on_values)
{
	tail_trials(true);
}
END_TEST

static bool trial(uint64_t seed, bool use_values)
{
	struct random_options options = random_mix(seed, 18);
	GRand *random = g_rand_new_with_seed((guint32)seed);
	bool good = true;

	options.values = use_values;
	struct trace *t = random_trace(seed, &options);
	for (int i = 0; i < 6 && good; i++) {
		GArray *s = g_array_new(FALSE, FALSE, sizeof(uint32_t));

		walk(t, random, use_values, s);
		good = agree(t, s, use_values) && regroup(t, s, (uint32_t)i % 3, use_values);
		for (int k = 0; k < 4 && good; k++) {
			mutate_sequence(random, s, (uint32_t)t->events_count);
			good = agree(t, s, use_values);
		}
		g_array_unref(s);
	}
	/* the recording is a correct reordering of itself, unless it uses freed memory */
	if (good) {
		GArray *s = g_array_new(FALSE, FALSE, sizeof(uint32_t));

		for (uint32_t e = 0; e < t->events_count; e++)
			g_array_append_val(s, e);
		good = agree(t, s, use_values);
		if (good && !options.blocks)
			good = oracle_is_reordering(t, (uint32_t *)s->data, s->len, use_values);
		g_array_unref(s);
	}
	if (!good)
		fprintf(stderr, "seed %llu%s\n", (unsigned long long)seed,
		        use_values ? " with values" : "");
	g_rand_free(random);
	trace_close(t);
	return good;
}

static void trials(bool use_values)
{
	uint64_t first = mix_setting("HEDDLE_SEED", 1),
	         count = mix_setting("HEDDLE_TRACES", 1500);

	agreed = accepted = regrouped = 0;
	for (uint64_t seed = first; seed < first + count; seed++)
		ck_assert_msg(trial(seed, use_values), "the checker and the search disagree");
	/* both answers have come up, often */
	ck_assert_uint_gt(accepted, count);
	ck_assert_uint_gt(agreed - accepted, count);
	ck_assert_uint_gt(regrouped, count);
}

START_TEST(agrees_with_the_search)
{
	trials(false);
}
END_TEST

START_TEST(agrees_with_the_search_on_values)
{
	trials(true);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("checker against search");
	TCase *tests = tcase_create("random sequences");

	tcase_add_test(tests, agrees_with_the_search);
	tcase_add_test(tests, agrees_with_the_search_on_values);
	tcase_add_test(tests, tails_have_the_verdicts_of_whole_sequences);
	tcase_add_test(tests, tails_have_the_verdicts_of_whole_sequences_on_values);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
