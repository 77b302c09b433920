/*
 * cov.h - commutativity order violations (OVPredict; semantics.md, "COV"): two invocations
 * that do not commute and that a correct reordering turns round; uses after free among
 * them.
 *
 * Every pair of invocations that do not commute is a candidate, whatever any partial order
 * says of it; each gets a verdict from the solver's search for a reordering under rule 5,
 * whose witness the independent checker has accepted.
 */
#ifndef HEDDLE_COMMUTE_COV_H
#define HEDDLE_COMMUTE_COV_H

#include "engine/commute/model.h"

struct cov_options {
	bool pairs_events; /* a verdict for every pair; otherwise for every pair of locations */
	bool all_verdicts; /* list what is impossible or unknown too */
	double budget_pair, budget_total; /* seconds */
};
/* The report (owned by the caller), or NULL with `error`. */
struct report *cov_find(struct model *m, const struct cov_options *options,
                        const struct progress *progress, struct error *error);
/* One pair, exactly; `left` seconds. NULL and `error` when the two are not invocations on
 * one object that do not commute. */
struct finding *cov_decide(struct model *m, uint32_t e1, uint32_t e2,
                           const struct cov_options *options, const struct progress *progress,
                           struct error *error);

#endif
