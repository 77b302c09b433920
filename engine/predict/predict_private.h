/*
 * predict_private.h - internals shared by the analyses of engine/predict; others use predict.h.
 */
#ifndef HEDDLE_PREDICT_PRIVATE_H
#define HEDDLE_PREDICT_PRIVATE_H

#include "engine/predict/m2.h"
#include "engine/predict/predict.h"

/* Run one analysis: the report (owned by the caller) or NULL and `error`. */
typedef struct report *race_run(struct trace *t, const struct race_options *options,
                                const struct progress *progress, struct error *error);

race_run races_lockset, races_hb, races_shb, races_cp, races_wcp, races_dc, races_wdc,
        races_syncp, races_m2, races_smt, races_auto, races_rdit;

/* Run an analysis on the trace by chains of threads if worthwhile (engine/trace/chains.h); the
 * report is on the trace. */
struct report *by_chains(struct trace *t, const struct race_options *options, race_run *run,
                         const struct progress *progress, struct error *error);

/* Decide one conflicting pair (e1 <tr e2) by the solver only, as race_decide. */
struct finding *decide_smt(struct trace *t, uint32_t e1, uint32_t e2,
                           const struct race_options *options, const struct progress *progress,
                           struct error *error);

/* Earlier results on the site pair of two accesses. */
enum race_known {
	RACE_UNKNOWN,
	RACE_OF_SITES,    /* they race, on other variables */
	RACE_OF_VARIABLE, /* on this variable, too */
};
/* Facts of the whole trace shared by analyses, made on demand; some bytes for each event. */
struct race_tools {
	struct checker *checker; /* for plain reorderings: no --values, no specifications */
	struct m2 *m2;           /* uses that checker */
	/* Earlier results by sites; NULL: none. */
	enum race_known (*known)(const void *context, uint32_t e1, uint32_t e2,
	                         uint32_t variable);
	const void *known_context;
};
/* The options' tools, or `own`, initialised: race_tools_end is required. */
struct race_tools *race_tools_begin(const struct race_options *options, struct race_tools *own);
void race_tools_end(struct race_tools *own);
struct checker *race_tools_checker(struct race_tools *tools, const struct trace *t,
                                   const struct race_options *options);
/* NULL when cancelled. */
struct m2 *race_tools_m2(struct race_tools *tools, struct trace *t,
                         const struct race_options *options, const struct progress *progress);

/* Note on witnesses that were not kept (race_options.witness_events). */
void report_note_left_out(struct report *report, uint64_t witnesses);

/* Note that the budget ended the enumeration; the report is then incomplete. */
void report_note_effort(struct report *report, const struct race_options *options);

/* A data race finding for (e1, e2) with its variable. */
struct finding *race_finding(const struct trace *t, uint32_t e1, uint32_t e2,
                             enum verdict verdict, const char *by);
/* First common variable of two overlapping accesses. */
uint32_t race_variable(const struct trace *t, uint32_t e1, uint32_t e2);
/* Is the site pair (in either order) selected by --shard and `wanted`? */
bool race_in_shard(const struct race_options *options, uint32_t site_a, uint32_t site_b);

#endif
