/* random.h - a sequence that looks random and is the same for the same seed: xorshift64
 * (Marsaglia 2003).  The state is not 0; hash_word(seed + 1) | 1 is one. */
#ifndef HEDDLE_RANDOM_H
#define HEDDLE_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* 0 where `below` is. */
static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
	uint64_t drawn = random_next(state);
	return below ? (drawn >> 11) % below : 0;
}

#endif
