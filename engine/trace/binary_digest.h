/*
 * binary_digest.h - the checksum of a binary trace's header and section table (FNV-1a).
 */
#ifndef HEDDLE_BINARY_DIGEST_H
#define HEDDLE_BINARY_DIGEST_H

#include "engine/trace/binary.h"

static inline uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t length)
{
	const unsigned char *b = bytes;
	for (size_t i = 0; i < length; i++)
		digest = (digest ^ b[i]) * UINT64_C(0x100000001b3);
	return digest;
}

static inline uint64_t binary_digest(const struct binary_header *header,
                                     const struct binary_section *sections)
{
	struct binary_header h = *header;
	h.digest = 0;
	uint64_t digest = digest_bytes(UINT64_C(0xcbf29ce484222325), &h, sizeof h);
	return digest_bytes(digest, sections, h.sections * sizeof *sections);
}

#endif
