/*
 * prop_c11.c - races that are visible only as C11 races, against the definition: some
 * correct reordering of a tiny trace holds both accesses with nothing of its happens-before
 * between them, found by trying all reorderings.
 */
#include "engine/predict/predict.h"
#include "engine/predict/smt/smt.h"
#include "tests/property/c11_order.h"
#include "tests/property/mix.h"
#include "tests/support/coverage.h"

#include <stdio.h>

enum { MAX = 10 };

static unsigned seen;

struct search {
	const struct trace *t;
	uint32_t n, sequence[MAX];
	uint32_t must[MAX];   /* events that must come before each event */
	bool apart[MAX][MAX]; /* both in some reordering, unordered */
};

static void look(struct search *s, uint32_t length)
{
	struct c11_order order;

	c11_order_of(s->t, s->must, s->sequence, length, &order);
	for (uint32_t j = 0; j < length; j++) {
		for (uint32_t i = 0; i < j; i++) {
			uint32_t e = s->sequence[i], f = s->sequence[j];

			if (order.apart[i][j])
				s->apart[MIN(e, f)][MAX(e, f)] = true;
		}
	}
}

static void extend(struct search *s, uint32_t length)
{
	look(s, length);
	for (uint32_t u = 0; u < s->t->threads_count; u++) {
		uint32_t next = NONE;

		for (uint32_t e = 0; e < s->n && next == NONE; e++) {
			bool taken = false;

			for (uint32_t i = 0; i < length; i++)
				taken |= s->sequence[i] == e;
			if (s->t->events[e].thread == u && !taken)
				next = e;
		}
		if (next == NONE)
			continue;
		s->sequence[length] = next;
		if (oracle_is_reordering(s->t, s->sequence, length + 1, false))
			extend(s, length + 1);
	}
}

/* `windows`: regions are tried by windows, however short. */
static bool judge(const struct search *s, struct trace *t, const bool *races, bool windows)
{
	struct smt_options smt_options = { .invocations = true, .window_from = windows };
	struct smt *smt = smt_new(t, &smt_options, NULL);
	struct race_options options;
	bool good = true;

	race_options_init(&options);
	for (uint32_t e = 0; e < s->n && good; e++) {
		for (uint32_t f = e + 1; f < s->n && good; f++) {
			bool next = races[(size_t)e * s->n + f], c11;

			if (!events_race_conflict(t, e, f))
				continue;
			struct finding *found =
			        smt_decide(smt, e, f, &options, MIX_SECONDS, NULL);
			c11 = found->verdict == VERDICT_RACE && found->note != NULL;
			/* the atomics' edges leave it unordered, or it is no candidate at all
			 */
			good = next ? found->verdict == VERDICT_RACE && !c11
			            : c11 == s->apart[e][f];
			if (!good)
				printf("pair %u %u: %s%s\n", e, f, verdict_word(found->verdict),
				       c11 ? ", by C11" : "");
			seen += c11;
			finding_free(found);
		}
	}
	smt_free(smt);
	return good;
}

/* The verdict that a report by events gives a pair; VERDICT_CANDIDATE: not listed. */
static enum verdict verdict_of(const struct report *r, uint32_t e, uint32_t f)
{
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *found = r->findings->pdata[i];

		if (found->first == e && found->second == f)
			return found->verdict;
	}
	return VERDICT_CANDIDATE;
}

/* A whole report by events: no race left out by one that calls itself complete, every
 * "impossible" so. */
static bool judge_report(const struct search *s, const struct report *r, const bool *races,
                         bool exact)
{
	bool good = r->complete || !exact;

	for (uint32_t e = 0; e < s->n && good; e++) {
		for (uint32_t f = e + 1; f < s->n && good; f++) {
			enum verdict v = verdict_of(r, e, f);
			bool race = races[(size_t)e * s->n + f] || s->apart[e][f];

			if (!events_race_conflict(s->t, e, f))
				continue;
			good = v != VERDICT_RACE || race;
			if (race && (v == VERDICT_IMPOSSIBLE || r->complete))
				good = v == VERDICT_RACE;
			if (!good)
				printf("%s: pair %u %u: %s\n", r->analysis, e, f,
				       v == VERDICT_CANDIDATE ? "not listed" : verdict_word(v));
		}
	}
	return good;
}

static bool judge_reports(const struct search *s, struct trace *t, const bool *races, bool all)
{
	static const enum analysis analyses[] = { ANALYSIS_AUTO, ANALYSIS_SMT, ANALYSIS_M2 };
	struct race_options options;
	bool good = true;

	race_options_init(&options);
	options.pairs_events = true;
	options.all_verdicts = all;
	options.budget_pair = options.budget_total = MIX_SECONDS;
	for (size_t i = 0; i < G_N_ELEMENTS(analyses) && good; i++) {
		struct error error;

		options.analysis = analyses[i];
		struct report *r = races_find(t, &options, NULL, &error);
		good = r != NULL && judge_report(s, r, races, analyses[i] != ANALYSIS_M2);
		report_free(r);
	}
	return good;
}

/*
 * Traces of the usual mix rarely hold a release sequence that matters.  These are two plain
 * accesses of x with atomics, fences and sometimes a lock in between: stores of one thread
 * after each other, rmws of other threads among them, and a third thread's store or plain
 * write that ends the sequence, here or only in another reordering.
 */
static struct trace *sequence_trace(uint64_t seed)
{
	static const char *const middle[] = {
		"aw(a);rel",  "aw(a);rlx",      "aw(a);rlx", "rmw(a);rlx", "rmw(a);rel",
		"rmw(a);acq", "rmw(a);acq_rel", "ar(a);acq", "ar(a);rlx",  "ar(a);acq",
		"fence(rel)", "fence(acq)",     "w(a)",      "w(y)",       "r(y)",
	};
	GRand *r = g_rand_new_with_seed((guint32)seed);
	int threads = g_rand_int_range(r, 2, 4), owner = -1;
	int count = g_rand_int_range(r, 2, MAX - 2);
	bool lock = g_rand_int_range(r, 0, 4) == 0;
	GString *text = g_string_new("#! heddle 1\nT0|w(x)|1\n");
	struct error error;

	for (int i = 0; i < count; i++) {
		int u = g_rand_int_range(r, 0, threads);

		if (lock && (owner == -1 || owner == u) && g_rand_int_range(r, 0, 3) == 0) {
			g_string_append_printf(text, "T%d|%s(l)|2\n", u,
			                       owner == u ? "rel" : "acq");
			owner = owner == u ? -1 : u;
			continue;
		}
		g_string_append_printf(text, "T%d|%s|2\n", u,
		                       middle[g_rand_int_range(r, 0, G_N_ELEMENTS(middle))]);
	}
	g_string_append_printf(text, "T1|%s(x)|3\n", g_rand_int_range(r, 0, 2) ? "w" : "r");
	struct trace *t = coverage_trace(trace_from_text("random", text->str, text->len,
	                                                 &(struct trace_options){ 0 }, &error));
	if (t == NULL)
		BUG("%s: %s\n%s", error.where, error.what, text->str);
	g_string_free(text, TRUE);
	g_rand_free(r);
	return t;
}

static struct trace *tiny_trace(uint64_t seed)
{
	struct random_options o = { .threads = 2 + seed / 2 % 2,
		                    .events = MAX - 1,
		                    .variables = 3,
		                    .locks = 1,
		                    .atomics = seed % 4 != 3,
		                    /* a failed try orders in time, and nothing in C11 */
		                    .tries = seed % 4 == 3 || seed % 8 == 1,
		                    .semaphores = seed % 16 == 3,
		                    .rwlocks = seed % 16 == 5,
		                    .blocks = seed % 16 == 9,
		                    .sizes = seed % 16 == 13 };

	return seed % 2 == 0 ? sequence_trace(seed) : random_trace(seed, &o);
}

static bool one(uint64_t seed)
{
	struct trace *t = tiny_trace(seed);
	struct search s = { .t = t, .n = (uint32_t)t->events_count };
	bool *races = oracle_races(t, false), good;

	BUG_ON(s.n > MAX);
	oracle_must(t, s.must);
	extend(&s, 0);
	good = judge(&s, t, races, seed / 2 % 2) && judge_reports(&s, t, races, seed % 3 == 0);
	if (!good) {
		char *text = trace_text(t);

		printf("%s", text);
		g_free(text);
	}
	g_free(races);
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "C11 races against their definition", 1500, one);

	printf("%u races visible only so\n", seen);
	return status != 0 || seen == 0;
}
