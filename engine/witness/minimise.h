/*
 * minimise.h - fewer context switches in a witness.
 */
#ifndef HEDDLE_MINIMISE_H
#define HEDDLE_MINIMISE_H

#include "engine/witness/check.h"

/* Reduce context switches: reorder all events (regroup.h), then local search by single moves,
 * where the claim does not rest on the order of conflicting events (ATOMIC, PREFIX, REACH).
 * Every intermediate sequence is checked. `events` is changed in place. */
void witness_minimise(const struct trace *t, struct claimed claimed,
                      const struct check_options *options, GArray *events);
/* witness_minimise with an existing checker, within the work that a report has for each of
 * its witnesses (2^17 events checked): a new array, owned by the caller; of a longer witness
 * a copy. */
GArray *witness_minimised(struct checker *checker, const struct trace *t,
                          struct claimed claimed, const GArray *events);

#endif
