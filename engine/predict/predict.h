/*
 * predict.h - data races and deadlocks that other schedules of a recorded run can have.
 *
 * The main interface is races_find: a trace and options in, a report out; deadlocks_find
 * (deadlock/deadlock.h) is the same for deadlocks, and race_decide settles one given pair.  The
 * options choose the analysis (analyses.def).  `auto`, the default, runs the cheap sound ones
 * and then settles the remaining candidates (ladder/).
 *
 * A caller may rely on this: a finding with the verdict race has a witness that the independent
 * checker has accepted, or counts among those that a note says were checked and not kept;
 * impossible has a proof; everything else is a candidate or unknown, and the report says so.
 * Analyses do not change the trace except for building parts of its index, so two of them may
 * not run on one trace at once.  Where each lives: docs/code.md.
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
struct behind;
struct checker;
/* Results of the first pass, for an analysis made again with --missing of some pairs of sites.
 */
struct race_again {
	const uint64_t *sites; /* bit set: the sites of the wanted pairs; NULL: not known */
	struct trace *view;    /* trace_view_missing of the trace */
	/* A checker of the first events of the trace, by the rules of the view. */
	struct checker *checker;
	uint64_t checked;
};
struct race_options {
	enum analysis analysis;
	bool pairs_events; /* every pair; else one finding per pair of sites */
	bool all_verdicts; /* list impossible and unknown candidates, too */
	bool list_unknown; /* auto: the unknown ones alone */
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
	/* Bit set by site: all sites of the pairs that `wanted` accepts; NULL: not known. So
	 * that variables without an access at one of them are not looked at. Borrowed. */
	const uint64_t *wanted_sites;
	/* Bound on the events of kept witnesses (32 million: 128 MB); further ones are checked
	 * only, and counted in a note. */
	uint64_t witness_events;
	bool chains_always;     /* threads share places (engine/trace/chains.h) where they can,
	                         * however few: for tests on small traces */
	bool projects_always;   /* auto: uses a projection (ladder/projection.h) for any
	                         * trace, for the same tests */
	bool projects_by_order; /* for these tests, projects by the variables that all
	                         * observations leave unordered instead of by the suspects:
	                         * the way taken where the suspects keep too much */
	bool shares_always;     /* auto: a witness of any length shares its beginning with the
	                         * recording where it can (race_tools.tails), for the same tests */
	bool lifts_last;        /* auto: takes the races of a projection over to the trace after
	                         * all rungs, as of a long trace, for the same tests */
	bool lift_refused;      /* auto: the checker refuses the first witness that is taken
	                         * over from a projection, for the same tests */
	bool locks_alone;       /* deadlocks: cycles of requests for locks, no other wait */
	bool no_free_steps;     /* no free steps for enumerating pairs (effort.h): for tests on
	                         * small traces */
	const struct race_again *again; /* of an analysis that is made once more; or NULL */
	/* auto: its first rung, made while the trace was opened (pairs.h); or NULL. */
	struct first_suspects *first;
	/* auto: what it can make ahead for report_note_behind (ladder/behind.h); or NULL. */
	struct behind *behind;
	/* Data that the rungs of a ladder share (race.h); or NULL. */
	struct race_tools *tools;
	/* Called by `auto` for each race when found, in the searching thread; the finding is
	 * borrowed (its witness may be referenced). Or NULL. */
	void (*found)(void *context, const struct finding *race);
	void *found_context;
};
void race_options_init(struct race_options *options);

/* The report (owned by the caller), or NULL with `error` set; `error->cancelled`
 * when progress was. */
struct report *races_find(struct trace *t, const struct race_options *options,
                          const struct progress *progress, struct error *error);

/* In a trace with calls of uninstrumented code: races that such calls may order become
 * candidates that name them (finding.missing), at the cost of another analysis. No effect with
 * use_missing. False and `error` when cancelled. */
bool races_mark_missing(struct trace *t, const struct race_options *options,
                        struct report *report, const struct progress *progress,
                        struct error *error);
/* The marking for any analysis' report: `again` makes the report with the calls as barrier
 * pairs (RDIT), or NULL and `error`. `gone` ends the note's sentence: "... no witness is
 * found". */
typedef struct report *missing_again(struct trace *t, void *context,
                                     const struct progress *progress, struct error *error);
bool findings_mark_missing(struct trace *t, bool pairs_events, missing_again *again,
                           void *context, const char *gone, struct report *report,
                           const struct progress *progress, struct error *error);
/* Has the program called code that is not instrumented, as its recording says? */
bool missing_code_was_called(const struct trace *t);
/* Has it called such code, or functions of the C and C++ libraries, whose accesses are not in
 * the trace? */
bool accesses_are_missing(const struct trace *t);
/* The same, for an analysis that looks at accesses. */
bool report_lacks_calls(const struct report *report);
/* For analyses that ignore such calls: adds a note if the report has findings. */
void missing_code_note(const struct trace *t, struct report *report);

/* Turns races between threads that share an atomic written by unrecorded code into
 * candidates, with a note (unseen_writes.c). */
void races_mark_unseen(const struct trace *t, struct report *report);
/* Turns findings whose witness depends on what a store of a bit-field reads unseen into
 * candidates, with a note (hidden_marks.c). */
void findings_mark_hidden(const struct trace *t, struct report *report);

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
