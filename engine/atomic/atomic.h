/*
 * atomic.h - atomic-set serializability (semantics.md; Vaziri, Tip and Dolby, POPL 2006;
 * Marathon): the distinct cycles of conflict graphs.
 */
#ifndef HEDDLE_ATOMIC_H
#define HEDDLE_ATOMIC_H

#include "engine/atomic/graph.h"
#include "engine/finding.h"
#include "engine/witness/check.h"

/* Cycles of one or more conflict graphs of a trace. For every edge on a cycle, one shortest
 * cycle through it; cycles of the same code (names of units and variables) are one finding with
 * a count. */
struct cycles;
struct cycles *cycles_new(const struct trace *t, const struct atomic_model *m);
/* Collect the cycles among these units of the graph; NULL: among all. */
void cycles_collect(struct cycles *c, const struct conflict_graph *g, const uint32_t *units,
                    uint32_t count);
void cycles_free(struct cycles *c);
/* By unit: its strong component; NONE: on no cycle. The caller frees it. */
uint32_t *cycles_components(struct cycles *c, const struct conflict_graph *g);
/* Move at most `limit` findings (0: all), shortest first, into the report; a note says how many
 * were left out. */
void cycles_report(struct cycles *c, uint64_t limit, struct report *report);
/* Takes ownership of the code. */
void cycles_add_code(struct cycles *c, uint32_t *code);
/* A shortest cycle through an edge out of the units that begin at `begins`, preferably of one
 * set, whose code neither `c` nor `known` has: a finding and its code, both owned by the
 * caller. NULL: none. */
struct finding *cycles_find_new(struct cycles *c, const struct conflict_graph *g,
                                const struct cycles *known, const uint32_t *begins,
                                uint32_t begin_count, uint32_t **code);

/* The cycles that happened, from the online or the post-mortem graph (graph.h), with equal
 * results. Stops after `seconds` of processor time (0: no limit, negative: none is left). NULL
 * when cancelled. */
struct cycles *atomic_happened(const struct trace *t, const struct atomic_model *m,
                               bool post_mortem, double seconds, struct conflict_counts *counts,
                               const struct progress *progress);

struct atomic_options {
	uint64_t limit;                   /* --cycles; 0: all */
	bool all;                         /* also cycles of grade C */
	bool post_mortem;                 /* --post-mortem: not online */
	bool predict;                     /* --predict */
	double budget_pair, budget_total; /* seconds of the solver for --predict */
	double budget_happened;           /* seconds for cycles that happened; 0: no limit,
	                                   * negative: none is left */
};
/* Add notes on the units of work, and on functions that cannot be units (coverage.c). Without
 * units, or with such functions, the report is incomplete. */
void atomic_coverage(const struct trace *t, const struct atomic_model *m,
                     struct report *report);
/* The whole analysis; the caller owns the report. NULL when cancelled. */
struct report *atomic_find(struct trace *t, const struct atomic_model *m,
                           const struct atomic_options *options,
                           const struct progress *progress);

/* Add cycles that can happen but did not, each with a witness that the checker has accepted
 * (verdict race). False when cancelled. */
bool atomic_predict(struct trace *t, const struct atomic_model *m,
                    const struct cycles *happened, const struct atomic_options *options,
                    struct report *report, const struct progress *progress);

/* The checker's test for the claim "atomic": the sequence's conflict graph has a cycle among
 * the units that begin at these events (none: any units). False with `reason` appended
 * otherwise. */
bool atomic_check(const struct trace *t, const struct atomic_model *m,
                  struct event_list sequence, struct event_list begins, GString *reason);

#endif
