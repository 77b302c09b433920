/*
 * binary_sum.c - the sum of a binary trace's header.
 */
#include "engine/trace/binary/binary_private.h"

uint64_t binary_header_sum(const struct header *h, const struct file_section *sections)
{
	struct header bare = *h;
	bare.sum = 0;
	return sum_bytes(&bare, sizeof bare) +
	       3 * sum_bytes(sections, h->sections * sizeof *sections);
}
