/*
 * cov.h - commutativity order violations (OVPredict; semantics.md, "COV"): pairs of invocations
 * that do not commute and that some correct reordering has in the other order. Uses after free
 * are the case of the type `memory`.
 *
 * Every pair that does not commute is a candidate, whether or not a partial order has it
 * ordered. The solver searches for a reordering under rule 5; a witness has been accepted by
 * the independent checker.
 */
#ifndef HEDDLE_COMMUTE_COV_H
#define HEDDLE_COMMUTE_COV_H

#include "engine/commute/model.h"

struct cov_options {
	bool pairs_events; /* a verdict for every pair of events; else of locations */
	bool all_verdicts; /* also list the impossible and the unknown */
	bool list_unknown; /* also list the unknown */
	double budget_pair, budget_total; /* seconds */
};
/* The report, owned by the caller; NULL and `error` on failure. */
struct report *cov_find(struct model *m, const struct cov_options *options,
                        const struct progress *progress, struct error *error);
/* Decide one pair within options->budget_pair. NULL and `error` when the two are not
 * invocations on one object, or commute. */
struct finding *cov_decide(struct model *m, uint32_t e1, uint32_t e2,
                           const struct cov_options *options, const struct progress *progress,
                           struct error *error);

#endif
