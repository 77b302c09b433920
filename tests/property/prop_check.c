/*
 * prop_check.c - the checker and the exhaustive search, written from one page and apart from
 * each other, must agree on every sequence: walks that keep the rules, and the same walks
 * with events swapped, dropped, doubled or cut off. And a walk that is reordered for fewer
 * context switches is still accepted by both, and has fewer.
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
	bool ours = witness_check(t, sequence, s->len, CLAIM_PREFIX, NULL, 0, &options, reason);
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
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
