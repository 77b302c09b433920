/* mutate.h - sequences of events, damaged or with fewer context switches, for tests of the
 * checker. */
#ifndef HEDDLE_MUTATE_H
#define HEDDLE_MUTATE_H

#include "engine/witness/witness.h"

/* One random change of a sequence (GArray of uint32_t) of events below `events`: two swapped,
 * one dropped, replaced, doubled or moved, the end cut off. */
void mutate_sequence(GRand *random, GArray *sequence, uint32_t events);
/* One of a pair changed, or both swapped. */
void mutate_pair(GRand *random, uint32_t pair[2], uint32_t events);

/* The finding's witness with few context switches (witness.h), owned by the caller; NULL,
 * with a message on standard error, when the checker refuses it, or it has more switches or
 * events than before. */
GArray *polish_witness(const struct trace *t, const struct finding *f,
                       const struct check_options *options);
/* How many of these had fewer switches than before. */
extern uint64_t minimised;

#endif
