/* mutate.h - damage to sequences of events, for tests of the checker. */
#ifndef HEDDLE_MUTATE_H
#define HEDDLE_MUTATE_H

#include "engine/base/base.h"

/* One random change of a sequence (GArray of uint32_t) of events below `events`: two swapped,
 * one dropped, replaced, doubled or moved, the end cut off. */
void mutate_sequence(GRand *random, GArray *sequence, uint32_t events);
/* One of a pair changed, or both swapped. */
void mutate_pair(GRand *random, uint32_t pair[2], uint32_t events);

#endif
