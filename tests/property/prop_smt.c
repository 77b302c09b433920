/*
 * prop_smt.c - the solver's verdict for every conflicting pair of random small traces,
 * against exhaustive search: a race exactly where the search finds one, impossible
 * everywhere else, and every witness a correct reordering.
 */
#include "engine/predict/predict.h"
#include "engine/predict/smt/smt.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <string.h>

/* How often each kind of answer came: a run that meets one of them never tests nothing. */
static unsigned races, by_past, by_solver;

static bool complain(const struct trace *t, uint32_t e1, uint32_t e2, bool values,
                     const char *what)
{
	char *text = trace_text(t);

	printf("%s\npair %u %u%s: %s\n", text, e1, e2, values ? " with values" : "", what);
	g_free(text);
	return false;
}

/* A race that only C11 sees: no predictable one; prop_c11.c has the search for it. */
static bool by_c11(const struct finding *f)
{
	return f->note != NULL;
}

static bool right(const struct trace *t, const struct finding *f, bool race, bool values)
{
	uint32_t e1 = f->first, e2 = f->second;

	if (by_c11(f))
		return !race || complain(t, e1, e2, values, "a race that needs no C11");

	if (f->verdict == VERDICT_UNKNOWN) /* races by C11 alone, with values: not searched */
		return (values && !race && mix_hides_c11(t)) ||
		       complain(t, e1, e2, values, open_reason_word(f->open));
	if ((f->verdict == VERDICT_RACE) != race)
		return complain(t, e1, e2, values,
		                race ? "a race is called impossible" : "called a race");
	races += race;
	if (!race) {
		if (f->proof == NULL)
			return complain(t, e1, e2, values, "no proof");
		by_past += f->proof->method == PROOF_CONE;
		by_solver += f->proof->method == PROOF_SOLVER;
		return true;
	}
	const uint32_t *w = (const uint32_t *)(const void *)f->witness->data;
	if (f->witness->len < 2 || w[f->witness->len - 2] != e1 || w[f->witness->len - 1] != e2)
		return complain(t, e1, e2, values, "the witness does not end with the pair");
	return oracle_is_reordering(t, w, f->witness->len - 2, values) ||
	       complain(t, e1, e2, values, "the witness is no correct reordering");
}

/* `windows`: regions are tried by windows, however short. */
static bool all_pairs(struct trace *t, bool values, bool windows)
{
	struct smt_options smt_options = { .use_values = values,
		                           .invocations = true,
		                           .window_from = windows };
	struct race_options options;
	struct smt *s = smt_new(t, &smt_options, NULL);
	bool *real = oracle_races(t, values), good = true;
	uint32_t n = (uint32_t)t->events_count;

	race_options_init(&options);
	options.use_values = values;
	for (uint32_t e = 0; e < n && good; e++) {
		for (uint32_t f = e + 1; f < n && good; f++) {
			if (!events_race_conflict(t, e, f))
				continue;
			struct finding *found =
			        smt_decide(s, e, f, &options, MIX_SECONDS, NULL);
			good = right(t, found, real[(size_t)e * n + f], values);
			finding_free(found);
		}
	}
	g_free(real);
	smt_free(s);
	return good;
}

static bool one(uint64_t seed)
{
	struct random_options o = mix_options(seed, 2 + seed % 3, 8 + seed % 13);
	struct trace *t = random_trace(seed, &o);
	bool windows = seed % 2 == 0;
	bool good = all_pairs(t, false, windows) && (!o.values || all_pairs(t, true, windows));

	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "solver against search", 10000, one);

	printf("%u races, %u refuted by causal pasts, %u by the solver\n", races, by_past,
	       by_solver);
	return status != 0 || races == 0 || by_past == 0 || by_solver == 0;
}
