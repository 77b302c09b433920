/*
 * weak_races.h - data races of a run under a memory model that is no sequentially consistent
 * one: whether each did happen, and which model it needs.
 */
#ifndef HEDDLE_WEAK_RACES_H
#define HEDDLE_WEAK_RACES_H

#include "engine/witness/witness.h"

/*
 * In a sequentially consistent trace all witnesses are so, and `memory` says it. For each
 * candidate of another trace (trace_weak_first): the events that its two accesses rest on, as
 * a witness of kind c11-race that the checker has accepted (then its verdict is race), and
 * `memory`: "sc" when a sequentially consistent order of them is accepted, which is the
 * witness then; "tso" when a trace of RC11 has an order that TSO allows; the trace's own
 * model when these were searched without result; NULL when a search did not end. Refused
 * candidates stay as they are, with a note.
 */
void weak_races_settle(const struct trace *t, struct report *report);
/* weak_races_settle for one pair; false and `reason` (which may be NULL) when the checker
 * refuses. */
bool weak_race_settle(const struct trace *t, struct finding *f, GString *reason);
/* Adds the model of the finding's witness and the stores that its loads read, where the
 * witness needs them. */
void witness_add_memory(const struct trace *t, const struct finding *f, struct witness *w);
/* "there without weak memory, too", as a sentence about the finding; or NULL. */
const char *weak_race_sentence(const struct finding *f);

#endif
