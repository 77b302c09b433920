/*
 * rule5.h - rule 5 (invocations) for the solver: judges the reorderings that it proposes
 * by running the effects, and tells it what any acceptable one must do differently.
 */
#ifndef HEDDLE_COMMUTE_RULE5_H
#define HEDDLE_COMMUTE_RULE5_H

#include "engine/commute/model.h"
#include "engine/predict/smt.h"

struct rule5;
struct rule5 *rule5_new(struct model *m);
void rule5_free(struct rule5 *r);
/* Are both inside of invocations of one specified object, so that they conflict with nothing
 * of it? */
bool rule5_speaks_for(const struct rule5 *r, uint32_t e1, uint32_t e2);
/* A bit for each event that rule 5 stands for: reads inside of scopes on specified objects,
 * and locks that only the scopes of one object use.  Borrowed. */
const uint64_t *rule5_exempt(const struct rule5 *r);
/*
 * Judge the reorderings of a query that end with e1: scopes of its thread may be open at the end,
 * and a lock that it takes has to be free (rule 3).  `free_result`: an invocation (its ACT or RET) whose results are
 * not asked for, or NONE.  Good until the next call.
 */
void rule5_attach(struct rule5 *r, struct smt_query *q, uint32_t e1, uint32_t free_result);

/* The same for data races: see smt.h.  Good as long as `r` and `semantics` are. */
struct race_rules rule5_races(struct rule5 *r, const struct semantics *semantics);

#endif
