/*
 * predict.h - the data-race analyses behind one call.
 */
#ifndef HEDDLE_PREDICT_H
#define HEDDLE_PREDICT_H

#include "engine/finding.h"

enum analysis {
#define ANALYSIS(name, word, sound, run, title) ANALYSIS_##name,
#include "engine/predict/analyses.def"
#undef ANALYSIS
	ANALYSIS_COUNT
};
bool analysis_from_word(const char *word, enum analysis *analysis);
const char *analysis_word(enum analysis analysis);
bool analysis_is_sound(enum analysis analysis);

struct race_rules; /* smt.h */
struct race_tools;
struct race_options {
	enum analysis analysis;
	bool pairs_events; /* every pair; otherwise one finding a pair of sites */
	bool all_verdicts; /* list impossible and unknown candidates too */
	bool want_witness; /* --witness: also for the analyses that have none of their own */
	bool use_values;   /* --values: a read may read any write of the same value */
	bool use_missing;  /* --missing */
	/* --spec: rule 5, for smt, auto (which is smt then) and race_decide, and neither with
	 * --values nor with --missing; borrowed, or NULL. */
	const struct race_rules *rules;
	double budget_pair, budget_total; /* seconds of the solver; default 1, 5 */
	int candidates; /* an enum order_kind whose unordered pairs are the candidates, or
	                 * -1: all that the must-order leaves (the default) */
	uint32_t shard, shards; /* --shard I/N; 0/1: all */
	/* Only the pairs of sites for which this says so; NULL: all.  Both borrowed. */
	bool (*wanted)(const void *context, uint32_t site_a, uint32_t site_b);
	const void *wanted_context;
	/* A report stops to keep witnesses after so many events in all (32 million: 128 MB);
	 * the others are checked all the same, and a note counts them. */
	uint64_t witness_events;
	bool chains_always; /* threads share places (engine/trace/chains.h) where they can,
	                     * however few: for tests on small traces */
	bool no_free_steps; /* of going through pairs (effort.h): for tests on small traces */
	/* What the rungs of a ladder lend each other (predict_private.h); or NULL. */
	struct race_tools *tools;
	/* `auto` says each race as it finds it, in the searching thread; the finding is lent
	 * for the call (its witness may be kept by reference).  Or NULL. */
	void (*found)(void *context, const struct finding *race);
	void *found_context;
};
void race_options_init(struct race_options *options);

/* The report (owned by the caller), or NULL with `error` set; `error->what` is "cancelled"
 * when progress was. */
struct report *races_find(struct trace *t, const struct race_options *options,
                          const struct progress *progress, struct error *error);

/*
 * Races that are none with the calls into code that is not instrumented taken into account
 * become candidates that name them (finding.missing), in a trace with such calls; costs the
 * analysis once more.  Nothing with use_missing.  False and `error` when cancelled.
 */
bool races_mark_missing(struct trace *t, const struct race_options *options,
                        struct report *report, const struct progress *progress,
                        struct error *error);
/* Has the program called code that is not instrumented, as its recording says? */
bool missing_code_was_called(const struct trace *t);
/* For an analysis that knows nothing of such calls: the report says so where it has findings.
 */
void missing_code_note(const struct trace *t, struct report *report);

/* One conflicting pair, exactly (witness, or proof that there is none, or unknown). */
struct finding *race_decide(struct trace *t, uint32_t e1, uint32_t e2,
                            const struct race_options *options, const struct progress *progress,
                            struct error *error);

/*
 * --witness: look for a witness for each candidate of a report whose analysis has none of
 * its own.  One that is found makes the finding a race; the others stay candidates.  False
 * and `error` when cancelled.
 */
bool races_add_witnesses(struct trace *t, const struct race_options *options,
                         struct report *report, const struct progress *progress,
                         struct error *error);

#endif
