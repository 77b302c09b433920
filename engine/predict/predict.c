/*
 * predict.c - the analyses behind one call: their names, the dispatch table, and the exact
 * answer for one pair.
 *
 * Knows which function runs which analysis and nothing of how any of them works.
 */
#include "engine/predict/predict_private.h"

#include <string.h>

static const struct {
	const char *word, *title;
	bool sound;
} analyses[ANALYSIS_COUNT] = {
#define A(name, word, sound, title) [ANALYSIS_##name] = { word, title, sound },
	ANALYSES(A)
#undef A
};

static race_run *const runs[ANALYSIS_COUNT] = {
#define RUN(name, function) [ANALYSIS_##name] = function,
#include "engine/predict/runs.def"
#undef RUN
};

bool analysis_from_word(const char *word, enum analysis *analysis)
{
	for (int i = 0; i < ANALYSIS_COUNT; i++) {
		if (strcmp(word, analyses[i].word) == 0) {
			*analysis = (enum analysis)i;
			return true;
		}
	}
	return false;
}

const char *analysis_word(enum analysis analysis)
{
	return analyses[analysis].word;
}

const char *analysis_title(enum analysis analysis)
{
	return analyses[analysis].title;
}

bool analysis_is_sound(enum analysis analysis)
{
	return analyses[analysis].sound;
}

void race_options_init(struct race_options *options)
{
	*options = (struct race_options){
		.analysis = ANALYSIS_AUTO,
		.budget_pair = 1,
		.budget_total = 5,
		.candidates = -1,
		.shards = 1,
	};
}

struct report *races_find(struct trace *t, const struct race_options *options,
			  const struct progress *progress, struct error *error)
{
	race_run *run = runs[options->analysis];

	if (run == NULL) {
		error_set(error, "", "choose another with --analysis",
			  "the analysis '%s' is not in this build",
			  analysis_word(options->analysis));
		return NULL;
	}
	return run(t, options, progress, error);
}

uint32_t race_variable(const struct trace *t, uint32_t e1, uint32_t e2)
{
	struct wide x = event_variables(t, &t->events[e1]);
	struct wide y = event_variables(t, &t->events[e2]);

	return MAX(x.first, y.first);
}

struct finding *race_finding(const struct trace *t, uint32_t e1, uint32_t e2,
			     enum verdict verdict, const char *by)
{
	struct finding *f = finding_new(FINDING_DATA_RACE, MIN(e1, e2), MAX(e1, e2));
	uint32_t variable = race_variable(t, e1, e2);

	f->verdict = verdict;
	f->count = 1;
	f->by = by;
	f->variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(f->variables, variable);
	return f;
}

bool race_in_shard(const struct race_options *options, uint32_t site_a, uint32_t site_b)
{
	uint64_t low = MIN(site_a, site_b), high = MAX(site_a, site_b);
	uint64_t hash = (low * 0x9e3779b97f4a7c15u + high) * 0xff51afd7ed558ccdu;

	if (options->shards <= 1)
		return true;
	return (hash >> 32) % options->shards == options->shard;
}
