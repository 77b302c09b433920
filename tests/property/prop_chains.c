/*
 * prop_chains.c - threads that share places (engine/trace/chains.h) change no answer: every
 * analysis says the same of a random trace of many short threads with and without them,
 * finding by finding, and its witnesses are accepted by the checker, which uses the trace
 * alone.
 *
 * Where two threads share a place, all events of the first precede all events of the second
 * by the oracle's must-order.
 */
#include "engine/trace/chains.h"
#include "engine/trace/index.h"
#include "tests/property/mix.h"
#include "tests/property/says.h"
#include "tests/support/coverage.h"

#include <stdio.h>
#include <string.h>

static uint64_t shared;

/* Does the analysis list, by sites, the pairs that a single pass still sees (pairs.h)? The
 * later thread's access at a place replaces the earlier one's, so a pair of sites may be
 * missing: but the same accesses of each variable race, and so the same variables. */
static bool is_seen(const struct race_options *o)
{
	return !o->pairs_events &&
	       (!analysis_is_sound(o->analysis) || o->analysis == ANALYSIS_SHB ||
	        o->analysis == ANALYSIS_SYNCP);
}

/* M2 leaves some pairs unknown, fewer where threads share places; and by sites it decides
 * pairs until one of each two sites is settled, which may be another one first. Its verdicts
 * must agree with auto's. */
static bool agrees_with_auto(struct trace *t, struct race_options o, const char *m2)
{
	char **lines = g_strsplit(m2, "\n", -1), *all;
	bool good = true, complete;

	o.analysis = ANALYSIS_AUTO;
	all = says(t, &o, false, !is_seen(&o), &complete);
	for (char **line = lines; *line && all; line++) {
		char *end = strstr(*line, " count"), *verdict = strstr(*line, "verdict 3");

		if (end == NULL || verdict != NULL) /* 3: unknown */
			continue;
		*end = '\0';
		good &= strstr(all, *line) != NULL;
	}
	g_strfreev(lines);
	g_free(all);
	return good && all != NULL;
}

static bool same(struct trace *t, enum analysis analysis, bool deadlocks, bool events,
                 bool values)
{
	struct race_options o;
	bool good, complete, shared_complete;

	race_options_init(&o);
	o.analysis = analysis;
	o.all_verdicts = true;
	o.pairs_events = events;
	o.use_values = values;
	o.budget_pair = o.budget_total = MIX_SECONDS;
	bool lines = deadlocks || !is_seen(&o);
	char *without = says(t, &o, deadlocks, lines, &complete);
	o.chains_always = true;
	char *with = says(t, &o, deadlocks, lines, &shared_complete);
	if (with && analysis == ANALYSIS_M2 && !deadlocks) {
		good = without != NULL && agrees_with_auto(t, o, with);
		g_free(without);
		without = good ? g_strdup(with) : g_strdup("(auto says otherwise)\n");
	}
	good = with != NULL && without != NULL && strcmp(with, without) == 0;
	/* More may be complete: relaxed atomics between threads of one place weaken no order.
	 * M2 by sites is as the pairs come. */
	if (analysis != ANALYSIS_M2)
		good &= shared_complete >= complete;
	if (!good) {
		char *text = trace_text(t);
		printf("%s%s, %s:\nthreads apart\n%splaces shared\n%s", text,
		       deadlocks ? "deadlocks" : analysis_word(analysis),
		       events ? "events" : "sites", without ? without : "(refused)\n",
		       with ? with : "(refused)\n");
		g_free(text);
	}
	g_free(with);
	g_free(without);
	return good;
}

/* Before which events must each come: by the must-order and program order, transitively. */
static bool places_are_chains(const struct trace *t, const struct trace *view)
{
	uint32_t n = (uint32_t)t->events_count, last[64];
	bool *before = g_new0(bool, (size_t)n *n);
	bool good = true;

	memset(last, 0xff, sizeof last);
	for (uint32_t f = 0; f < n; f++) {
		struct must_sources sources = must_sources(t, f);
		struct must_edge own = { last[t->events[f].thread], f, NONE, 0 }, edge = own;

		do {
			uint32_t e = edge.before;

			if (e == NONE || edge.condition != NONE)
				continue;
			before[(size_t)e * n + f] = true;
			for (uint32_t d = 0; d < e; d++)
				before[(size_t)d * n + f] |= before[(size_t)d * n + e];
		} while (must_sources_next(&sources, &edge));
		last[t->events[f].thread] = f;
	}
	for (uint32_t f = 0; f < n; f++) {
		for (uint32_t e = 0; e < f; e++)
			good &= view->events[e].thread != view->events[f].thread ||
			        before[(size_t)e * n + f];
	}
	g_free(before);
	return good;
}

static bool one(uint64_t seed)
{
	struct random_options o = mix_options(seed, 5 + seed % 8, 14 + seed % 40);
	bool good = true, cancelled;

	o.forks = o.joins = o.short_lives = true;
	o.values &= seed % 4 == 0;
	struct trace *t = random_trace(seed, &o);
	struct trace *view = trace_by_chains(t, 2, NULL, &cancelled);
	if (view != NULL) {
		shared++;
		coverage_add("traces with threads that share places", 1);
		good = trace_need(t, INDEX_MUST | INDEX_THREADS, NULL) &&
		       places_are_chains(t, view);
		if (!good) {
			char *text = trace_text(t);
			printf("%stwo threads share a place and are not one after the other\n",
			       text);
			g_free(text);
		}
		for (int a = 0; a < ANALYSIS_COUNT && good; a++) {
			if (a != ANALYSIS_RDIT)
				good = same(t, a, false, false, false) &&
				       same(t, a, false, true, false);
		}
		good = good && same(t, ANALYSIS_AUTO, true, true, false);
		if (good && o.values)
			good = same(t, ANALYSIS_AUTO, false, true, true);
	}
	trace_close(view);
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "threads that share places", 1500, one);

	printf("%" G_GUINT64_FORMAT " traces with shared places, %" G_GUINT64_FORMAT
	       " findings\n",
	       shared, says_findings);
	return status != 0 || shared == 0;
}
