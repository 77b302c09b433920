/* sum.c - see sum.h. */
#include "engine/base/sum.h"
#include "engine/base/hash.h"

#include <string.h>

uint64_t sum_bytes(const void *bytes, size_t length)
{
	static const uint64_t K = HASH_FACTOR;
	const char *at = bytes;
	uint64_t lanes[4] = { length, K, ~K, length * K };
	for (; length >= 32; length -= 32, at += 32) {
		uint64_t words[4];
		memcpy(words, at, 32);
		for (int i = 0; i < 4; i++) {
			lanes[i] = (lanes[i] ^ words[i]) * K;
			lanes[i] ^= lanes[i] >> 29;
		}
	}
	char tail[32] = { 0 };
	if (length)
		memcpy(tail, at, length);
	uint64_t sum = 0;
	for (int i = 0; i < 4; i++) {
		uint64_t word;
		memcpy(&word, tail + 8 * i, 8);
		lanes[i] = (lanes[i] ^ word) * K;
		sum = (sum ^ lanes[i] ^ lanes[i] >> 31) * K;
	}
	return sum ^ sum >> 32;
}
