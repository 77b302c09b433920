/*
 * predict.c - the analyses behind one call: their names and the dispatch table.
 *
 * Knows which function runs which analysis and nothing of how any of them works.
 */
#include "engine/base/hash.h"
#include "engine/order/past.h"
#include "engine/partial/rdit.h"
#include "engine/predict/ladder/behind.h"
#include "engine/predict/predict_private.h"
#include "engine/predict/race.h"
#include "engine/predict/sync_uses.h"
#include "engine/trace/chains.h"
#include "engine/trace/weak.h"

#include <string.h>

static const struct {
	const char *word;
	bool sound;
	race_run *run;
} analyses[ANALYSIS_COUNT] = {
#define ANALYSIS(name, word, sound, run, title) [ANALYSIS_##name] = { word, sound, run },
#include "engine/predict/analyses.def"
#undef ANALYSIS
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
		.witness_events = 32 << 20,
	};
}

/* The analysis on the trace with the must-orders of missing code. */
static struct report *with_missing(struct trace *t, const struct race_options *options,
                                   const struct progress *progress, struct error *error)
{
	struct trace *lent = options->again != NULL ? options->again->view : NULL;
	struct trace *view = lent != NULL ? lent : trace_view_missing(t, INDEX_ALL, progress);
	struct race_options with = *options;

	if (view == NULL) {
		error_cancelled(error);
		return NULL;
	}
	with.use_missing = true;
	struct report *report = analyses[options->analysis].run(view, &with, progress, error);
	if (report != NULL)
		report->trace = t;
	if (lent == NULL)
		trace_view_free(view);
	return report;
}

struct report *by_chains(struct trace *t, const struct race_options *options, race_run *run,
                         const struct progress *progress, struct error *error)
{
	bool cancelled;
	uint32_t least = options->chains_always ? 2 : CHAINS_LEAST;
	struct trace *view = trace_by_chains(t, least, progress, &cancelled);

	if (cancelled) {
		error_cancelled(error);
		return NULL;
	}
	struct report *report = run(view != NULL ? view : t, options, progress, error);
	if (report != NULL)
		report->trace = t;
	trace_close(view);
	return report;
}

/* Does the report lack the impossible pairs, which say themselves what racy reads they depend
 * on, and is it of every reordering in which each read sees what it saw? */
static bool lists_races_alone(const struct race_options *options)
{
	return options->analysis == ANALYSIS_AUTO && !options->all_verdicts &&
	       !options->pairs_events && !options->use_values && !options->use_missing &&
	       options->rules == NULL && options->candidates < 0;
}

/* The program's own accesses to a part of a lock, or the like. */
static bool note_sync_uses(struct trace *t, struct report *r, const struct progress *progress)
{
	if (t->filtered || !t->order_exact)
		return true;
	struct sync_use use;
	bool any;
	if (!sync_use_first(t, &use, &any, progress))
		return false;
	if (!any)
		return true;
	g_autoptr(GString) what = g_string_new(NULL);
	sync_use_append(t, &use, what);
	report_open(r, "the program accesses parts of a lock itself");
	report_note(r,
	            "%s: " SYNC_USE_UNSEEN
	            ", so what conflicts with the access, or is ordered by it, is not known",
	            what->str);
	return true;
}

struct report *races_find(struct trace *t, const struct race_options *options,
                          const struct progress *progress, struct error *error)
{
	if (analyses[options->analysis].run == NULL) {
		error_set(error, "", "choose another with --analysis",
		          "the analysis '%s' is not in this build",
		          analysis_word(options->analysis));
		return NULL;
	}
	bool any = options->analysis == ANALYSIS_LOCKSET || options->analysis == ANALYSIS_HB;
	g_autofree char *who =
	        g_strdup_printf("the analysis '%s'%s", analysis_word(options->analysis),
	                        options->want_witness ? " with witnesses" : "");
	bool allowed = (any && !options->want_witness && !options->use_missing) ||
	               trace_weak_allows(t, who, error);
	if (!allowed)
		return NULL;
	struct race_options with = *options;
	struct behind *behind = lists_races_alone(options) ? behind_new(t, options) : NULL;
	struct report *r;
	with.behind = behind;
	if (options->use_missing || options->analysis == ANALYSIS_RDIT)
		r = with_missing(t, options, progress, error);
	/* lockset also reports pairs that the must-order keeps apart, and keeps little by
	 * thread */
	else if (options->analysis == ANALYSIS_LOCKSET)
		r = races_lockset(t, options, progress, error);
	else
		r = by_chains(t, &with, analyses[options->analysis].run, progress, error);
	if (r != NULL && behind != NULL &&
	    !report_note_behind(t, options, behind, r, progress, error))
		g_clear_pointer(&r, report_free);
	if (behind != NULL)
		behind_free(behind);
	/* a report that is not complete depends on it, too: pairs that it calls impossible */
	if (r != NULL && analyses[options->analysis].sound)
		r->same_pairing = past_waits_vary(t, PAST_REORDERED);
	if (r != NULL && analyses[options->analysis].sound && options->rules == NULL)
		report_note_invocations(r, t,
		                        " (--spec FILE lets those that commute change places)");
	if (r != NULL && analyses[options->analysis].sound && !note_sync_uses(t, r, progress)) {
		g_clear_pointer(&r, report_free);
		error_cancelled(error);
	}
	if (r != NULL) {
		report_look_behind(r);
		races_mark_unseen(t, r);
		findings_mark_hidden(t, r);
	}
	return r;
}
