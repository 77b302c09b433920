/*
 * predict.h - the interface of the data-race analyses.
 */
#ifndef HEDDLE_PREDICT_H
#define HEDDLE_PREDICT_H

#include "engine/finding.h"

/* enumerator, word, sound (reports have witnesses)?, title */
#define ANALYSES(A) \
	A(AUTO, "auto", true, "the ladder: a verdict for every candidate") \
	A(LOCKSET, "lockset", false, "no common lock") \
	A(HB, "hb", false, "happens-before") \
	A(SHB, "shb", true, "schedulable happens-before") \
	A(CP, "cp", false, "causally-precedes") \
	A(WCP, "wcp", false, "weak causally-precedes") \
	A(DC, "dc", false, "doesn't-commute") \
	A(WDC, "wdc", false, "weak doesn't-commute") \
	A(SYNCP, "syncp", true, "sync-preserving") \
	A(M2, "m2", true, "the closure of the pair's cone") \
	A(SMT, "smt", true, "maximal causality by the solver") \
	A(RDIT, "rdit", true, "maximal causality with missing code")
enum analysis {
#define A(name, word, sound, title) ANALYSIS_##name,
	ANALYSES(A)
#undef A
	        ANALYSIS_COUNT
};
bool analysis_from_word(const char *word, enum analysis *analysis);
const char *analysis_word(enum analysis analysis);
bool analysis_is_sound(enum analysis analysis);

struct race_rules; /* smt.h */
struct race_tools;
struct race_options {
	enum analysis analysis;
	bool pairs_events; /* every pair; else one finding per pair of sites */
	bool all_verdicts; /* list impossible and unknown candidates, too */
	bool want_witness; /* --witness: also for analyses without witnesses */
	bool use_values;   /* --values: a read may read from any write of the same value */
	bool use_missing;  /* --missing */
	/* --spec: rule 5, for smt, auto (then smt) and race_decide; excludes --values and
	 * --missing; borrowed, or NULL. */
	const struct race_rules *rules;
	double budget_pair, budget_total; /* seconds of the solver; default 1, 5 */
	int candidates; /* an enum order_kind whose unordered pairs are candidates, or -1: all
	                 * unordered by must-order (the default) */
	uint32_t shard, shards; /* --shard I/N; 0/1: all */
	/* Restricts the site pairs; NULL: all. Both borrowed. */
	bool (*wanted)(const void *context, uint32_t site_a, uint32_t site_b);
	const void *wanted_context;
	/* Bound on the events of kept witnesses (32 million: 128 MB); further ones are checked
	 * only, and counted in a note. */
	uint64_t witness_events;
	bool chains_always; /* use chains of threads (engine/trace/chains.h) however few: for
	                     * tests */
	bool no_free_steps; /* (effort.h): for tests */
	/* Shared by the rungs of a ladder (predict_private.h); or NULL. */
	struct race_tools *tools;
	/* Called by `auto` for each race when found, in the searching thread; the finding is
	 * borrowed (its witness may be referenced). Or NULL. */
	void (*found)(void *context, const struct finding *race);
	void *found_context;
};
void race_options_init(struct race_options *options);

/* The report (owned by the caller), or NULL with `error` set; `error->what` is "cancelled"
 * when progress was. */
struct report *races_find(struct trace *t, const struct race_options *options,
                          const struct progress *progress, struct error *error);

/* In a trace with calls of uninstrumented code: races that such calls may order become
 * candidates that name them (finding.missing), at the cost of another analysis. No effect with
 * use_missing. False and `error` when cancelled. */
bool races_mark_missing(struct trace *t, const struct race_options *options,
                        struct report *report, const struct progress *progress,
                        struct error *error);
/* Does the recording have calls of uninstrumented code? */
bool missing_code_was_called(const struct trace *t);
/* For analyses that ignore such calls: adds a note if there are findings. */
void missing_code_note(const struct trace *t, struct report *report);

/* Decide one conflicting pair: witness, proof of impossibility, or unknown. */
struct finding *race_decide(struct trace *t, uint32_t e1, uint32_t e2,
                            const struct race_options *options, const struct progress *progress,
                            struct error *error);

/* --witness: search witnesses for candidates of analyses without. Found ones make the finding a
 * race; others stay candidates. False and `error` when cancelled. */
bool races_add_witnesses(struct trace *t, const struct race_options *options,
                         struct report *report, const struct progress *progress,
                         struct error *error);

#endif
