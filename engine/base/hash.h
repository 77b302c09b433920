/*
 * hash.h - multiplicative hashing (Knuth, The Art of Computer Programming 3, 6.4), the one of
 * the tree.
 *
 * The factor is 2^64 divided by the golden ratio.  The upper bits of a product are the good
 * ones: take hash_top, or shift right, never the lower bits alone.
 */
#ifndef HEDDLE_HASH_H
#define HEDDLE_HASH_H

#include <stdint.h>

#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t hash_word(uint64_t word)
{
	return word * HASH_FACTOR;
}
/* The next word of a sequence. */
static inline uint64_t hash_join(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * HASH_FACTOR;
}
static inline uint64_t hash_pair(uint32_t a, uint32_t b)
{
	return hash_word((uint64_t)a << 32 | b);
}
static inline uint32_t hash_top(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}
/* For a GHashTable by pointers or by numbers in pointers: GLib's own looks at their low half
 * alone. */
static inline unsigned hash_pointer(const void *key)
{
	return hash_top(hash_word((uintptr_t)key));
}

#endif
