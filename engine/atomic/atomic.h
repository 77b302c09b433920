/*
 * atomic.h - atomic-set serializability: the distinct cycles of the conflict graph.
 */
#ifndef HEDDLE_ATOMIC_H
#define HEDDLE_ATOMIC_H

#include "engine/atomic/graph.h"
#include "engine/finding.h"

/*
 * Cycles, collected from one or more conflict graphs of a trace: for every edge on a cycle
 * one shortest cycle through it; cycles of the same code (units' names and variables) are
 * one finding with a count.
 */
struct cycles;
struct cycles *cycles_new(const struct trace *t, const struct atomic_model *m);
void cycles_free(struct cycles *c);
/* By unit: the number of its strong component; NONE: it is on no cycle.  The caller frees it.
 */
uint32_t *cycles_components(struct cycles *c, const struct conflict_graph *g);
/* At most `limit` findings (0: all), shortest first, into the report, which takes them; a
 * note says what was left out. */
void cycles_report(struct cycles *c, uint64_t limit, struct report *report);
/* A cycle of this code counts as collected; the code is taken over. */
void cycles_add_code(struct cycles *c, uint32_t *code);
/*
 * Among the cycles that cycles_collect would find in the graph for the edges out of the units
 * that begin at `begins`, a shortest one, of one set rather than of several, whose code
 * neither `c` nor `known` has: as a finding, and its code, both owned by the caller.  NULL
 * when there is none.
 */
struct finding *cycles_find_new(struct cycles *c, const struct conflict_graph *g,
                                const struct cycles *known, const uint32_t *begins,
                                uint32_t begin_count, uint32_t **code);

/* The cycles that happened, on line or after the fact (graph.h), the same either way, as far as
 * `seconds` of the processor go (0: any).  NULL when cancelled. */
struct cycles *atomic_happened(const struct trace *t, const struct atomic_model *m,
                               bool post_mortem, double seconds,
                               struct conflict_counts *counts,
                               const struct progress *progress);

struct atomic_options {
	uint64_t limit;                   /* --cycles; 0: all */
	bool all;                         /* cycles of grade C too */
	bool post_mortem;                 /* --post-mortem: not on line */
	bool predict;                     /* --predict */
	double budget_pair, budget_total; /* seconds of the solver, for --predict */
	double budget_happened;           /* seconds for cycles that happened; 0: any */
};
/* coverage.c: which units of work there were, and which functions of the program could be none,
 * as notes; without any unit, or with such functions, the report is not complete. */
void atomic_coverage(const struct trace *t, const struct atomic_model *m,
                     struct report *report);
/* The whole analysis.  NULL when cancelled; the caller owns the report. */
struct report *atomic_find(struct trace *t, const struct atomic_model *m,
                           const struct atomic_options *options,
                           const struct progress *progress);

/*
 * predict.c: cycles that did not happen and can, each with a witness that the checker has
 * accepted (verdict race), added to the report.  False when cancelled.
 */
bool atomic_predict(struct trace *t, const struct atomic_model *m,
                    const struct cycles *happened, const struct atomic_options *options,
                    struct report *report, const struct progress *progress);

/*
 * What a witness of the claim "atomic" must show beside being a correct reordering: a cycle
 * among the units that begin at these events (NULL: among any) in its conflict graph.  False
 * and `reason` (appended) otherwise.
 */
bool atomic_check(const struct trace *t, const struct atomic_model *m, const uint32_t *sequence,
                  size_t length, const uint32_t *begins, size_t begin_count, GString *reason);

#endif
