/*
 * prop_cov.c - order violations against exhaustive search: the rules of semantics.md, rule
 * 5 among them, taken literally on random traces with locks, memory, a block that is freed,
 * and atomic and scoped invocations of random specifications, with effects and without.
 */
#include "engine/base/home.h"
#include "engine/commute/cov.h"
#include "engine/commute/rule5.h"
#include "engine/predict/predict.h"
#include "engine/trace/index.h"
#include "tests/property/mix.h"
#include "tests/property/cov_search.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The comparison. */

static const struct finding *finding_about(const struct report *r, uint32_t e1, uint32_t e2)
{
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		if (f->first == e1 && f->second == e2)
			return f;
	}
	return NULL;
}

/* Where the invocation begins that takes effect at an event. */
static uint32_t begin_of(const struct cov_search *s, uint32_t end)
{
	return s->call[end] == NONE ? end : s->call[end];
}

static const struct cov_options by_events = { .pairs_events = true,
	                                      .all_verdicts = true,
	                                      .budget_pair = MIX_SECONDS,
	                                      .budget_total = MIX_SECONDS },
                                by_locations = { .all_verdicts = true,
	                                         .budget_pair = MIX_SECONDS,
	                                         .budget_total = MIX_SECONDS };

struct tally {
	uint64_t violations, impossible;
	uint64_t races, no_races;
};

static enum verdict better(enum verdict so_far, enum verdict verdict)
{
	if (verdict == VERDICT_HAPPENED ||
	    (verdict == VERDICT_RACE && so_far != VERDICT_HAPPENED))
		return verdict;
	return so_far;
}

/* All events are at one location, so by locations the report has one finding for each type of
 * object: a violation when some pair is one, impossible when every pair is. (A pair that
 * clashes at two points may count twice.) */
static void compare_locations(uint64_t seed, struct model *m, const struct report *pairs)
{
	struct error error = { 0 };
	struct report *r = cov_find(m, &by_locations, NULL, &error);
	enum verdict expected = VERDICT_IMPOSSIBLE, found = VERDICT_IMPOSSIBLE;
	uint64_t count = 0;
	for (guint i = 0; i < pairs->findings->len; i++)
		expected = better(expected,
		                  ((struct finding *)pairs->findings->pdata[i])->verdict);
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		found = better(found, f->verdict);
		count += f->count;
	}
	ck_assert_uint_eq(r->findings->len > 0, pairs->findings->len > 0);
	ck_assert_uint_le(r->findings->len, m->types->len);
	ck_assert_msg(found == expected && count >= pairs->findings->len,
	              "seed %" G_GUINT64_FORMAT ": by locations %" G_GUINT64_FORMAT
	              " of %u pairs, %s",
	              seed, count, pairs->findings->len, verdict_word(found));
	report_free(r);
}

/* Data races under rule 5: every conflicting pair by the solver, and by search. */
static void compare_races(uint64_t seed, struct cov_search *s, struct trace *t,
                          struct tally *tally)
{
	struct semantics semantics = model_semantics(s->m);
	struct rule5 *rule5 = rule5_new(s->m);
	struct race_rules rules = rule5_races(rule5, &semantics);
	struct race_options options;
	race_options_init(&options);
	options.rules = &rules;
	struct smt_options solver = smt_race_options(&options);
	struct smt *smt = smt_new(t, &solver, NULL);
	for (uint32_t e = 0; e < s->n; e++)
		for (uint32_t f = e + 1; f < s->n; f++) {
			if (!events_race_conflict(t, e, f) || cov_same_scope(s, e, f))
				continue;
			struct finding *found =
			        smt_decide(smt, e, f, &options, MIX_SECONDS, NULL);
			bool really = cov_race_exists(s, e, f);
			ck_assert_msg(found->verdict ==
			                      (really ? VERDICT_RACE : VERDICT_IMPOSSIBLE),
			              "seed %" G_GUINT64_FORMAT
			              ": the race %u, %u is %s (%s), by exhaustive search %s",
			              seed, e, f, verdict_word(found->verdict),
			              found->open ? open_reason_word(found->open) : "",
			              really ? "possible" : "impossible");
			tally->races += really;
			tally->no_races += !really;
			finding_free(found);
		}
	smt_free(smt);
	rule5_free(rule5);
}

static void compare(uint64_t seed, bool ecl, bool effects, struct tally *tally)
{
	struct dice d = { seed };
	struct specs *specs = specs_new();
	struct error error = { 0 };
	static const char *const used[] = { "specs/memory.spec", "specs/condvar.spec" };
	for (size_t i = 0; i < G_N_ELEMENTS(used); i++) {
		char *path = home_find(used[i]);
		ck_assert(path != NULL && specs_load(specs, path, &error));
		g_free(path);
	}
	const struct spec_object *o = random_object(&d, ecl, effects, specs);
	struct trace *t = cov_random_run(&d, o, effects);
	struct model *m = model_new(t, specs, NULL, &error);
	if (g_getenv("COV_SEED")) { /* show the case */
		for (uint32_t e = 0; e < t->events_count; e++) {
			GString *line = g_string_new(NULL);
			trace_append_line(t, e, line);
			fprintf(stderr, "%2u %s\n", e, line->str);
			g_string_free(line, TRUE);
		}
	}
	struct report *r =
	        t->events_count <= COV_MOST ? cov_find(m, &by_events, NULL, &error) : NULL;
	if (r == NULL) { /* too long, or an overflow in a formula */
		model_free(m);
		trace_close(t);
		specs_free(specs);
		return;
	}
	struct cov_search s;
	uint32_t expected = 0;
	cov_search_init(&s, m);
	compare_races(seed, &s, t, tally);
	for (guint i = 0; g_getenv("COV_SEED") && i < r->notes->len; i++)
		fprintf(stderr, "note: %s\n", (char *)r->notes->pdata[i]);
	for (uint32_t e = 0; e < s.n; e++)
		for (uint32_t f = e + 1; f < s.n; f++) {
			bool happened;
			if (!cov_clash(&s, e, f, &happened))
				continue;
			bool turned = begin_of(&s, e) > begin_of(&s, f);
			uint32_t one = turned ? f : e, two = turned ? e : f,
			         begins[2] = { begin_of(&s, one), begin_of(&s, two) };
			const struct finding *found = finding_about(r, begins[0], begins[1]);
			if (g_getenv("COV_SEED"))
				fprintf(stderr, "%u, %u: %s\n", begins[0], begins[1],
				        found ? verdict_word(found->verdict) : "-");
			expected++;
			ck_assert_msg(found != NULL,
			              "seed %" G_GUINT64_FORMAT ": %u, %u is no candidate",
			              seed, begins[0], begins[1]);
			bool really = !happened && cov_exists(&s, begins[0], begins[1], two);
			ck_assert_msg(found->verdict == (happened ? VERDICT_HAPPENED
			                                 : really ? VERDICT_RACE
			                                          : VERDICT_IMPOSSIBLE),
			              "seed %" G_GUINT64_FORMAT
			              ": %u, %u is %s, by exhaustive search %s",
			              seed, begins[0], begins[1], verdict_word(found->verdict),
			              really ? "possible" : "impossible");
			tally->violations += really;
			tally->impossible += !really;
		}
	ck_assert_msg(expected == r->findings->len,
	              "seed %" G_GUINT64_FORMAT ": %u candidates of %u", seed, r->findings->len,
	              expected);
	compare_locations(seed, m, r);
	report_free(r);
	model_free(m);
	trace_close(t);
	specs_free(specs);
}

static void many(bool ecl, bool effects)
{
	struct tally tally = { 0 };
	const char *from = g_getenv("COV_SEED"); /* one case, to be shown */
	uint64_t first = from ? strtoull(from, NULL, 10) : mix_setting("HEDDLE_SEED", 1);
	uint64_t last = first + (from ? 1 : mix_setting("HEDDLE_TRACES", 300));
	for (uint64_t seed = first; seed < last; seed++) {
		mix_clocks(seed);
		compare(seed, ecl, effects, &tally);
	}
	/* cases in the default seeds; others may lack a rare one */
	if (from == NULL && mix_default()) {
		ck_assert_uint_gt(tally.violations, 300);
		ck_assert_uint_gt(tally.impossible, 30);
		ck_assert_uint_gt(tally.races, 30);
		ck_assert_uint_gt(tally.no_races, 0);
	}
}

START_TEST(with_effects)
{
	many(true, true);
}
END_TEST

START_TEST(with_effects_not_ecl)
{
	many(false, true);
}
END_TEST

START_TEST(without_effects)
{
	many(true, false);
}
END_TEST

START_TEST(without_effects_not_ecl)
{
	many(false, false);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cov");
	TCase *c = tcase_create("against exhaustive search");
	tcase_add_test(c, with_effects);
	tcase_add_test(c, with_effects_not_ecl);
	tcase_add_test(c, without_effects);
	tcase_add_test(c, without_effects_not_ecl);
	suite_add_tcase(s, c);
	return suite_run(s);
}
