/*
 * rule5.h - rule 5 (invocations) for the solver: runs the effects on the reorderings that it
 * proposes, and adds a constraint that excludes those that fail.
 */
#ifndef HEDDLE_COMMUTE_RULE5_H
#define HEDDLE_COMMUTE_RULE5_H

#include "engine/commute/model.h"
#include "engine/predict/smt/smt.h"

struct rule5;
struct rule5 *rule5_new(struct model *m);
void rule5_free(struct rule5 *r);
/* Are both in scopes of invocations of one specified object? Such accesses do not conflict. */
bool rule5_speaks_for(const struct rule5 *r, uint32_t e1, uint32_t e2);
/* Bit set of the events that rule 5 covers: reads in scopes of specified objects, and locks
 * that only one object's scopes use. Borrowed. */
const uint64_t *rule5_exempt(const struct rule5 *r);
/* Judge the reorderings of a query that end with e1: scopes of its thread may be open at the
 * end, and a lock that it acquires must be free (rule 3). The results of the invocation
 * `free_result` (its ACT or RET; or NONE) are not constrained. Valid until the next call. */
void rule5_attach(struct rule5 *r, struct smt_query *q, uint32_t e1, uint32_t free_result);

/* The rules for data races (smt.h). Borrows `r` and `semantics`. */
struct race_rules rule5_races(struct rule5 *r, const struct semantics *semantics);

#endif
