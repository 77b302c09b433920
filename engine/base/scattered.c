/*
 * scattered.c - see scattered.h.
 *
 * (What is filled from one end to the other gains less than it takes some machines to get
 * such pages.)
 */
#include "engine/base/scattered.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* From LEAST on an array is as large as whole pages: a part of one is as good. */
enum { LINE = 64, LARGE_PAGE = 2 << 20, LEAST = 128 << 10 };

void *scattered_lines(size_t bytes)
{
	size_t whole = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	bool large = bytes >= LEAST;
	void *array;

	if (posix_memalign(&array, large ? LARGE_PAGE : LINE, large ? whole : bytes) != 0)
		g_error("no memory for %zu bytes", bytes); /* as g_malloc does */
	if (large)
		madvise(array, whole, MADV_HUGEPAGE);
	return array;
}

void *scattered_alloc(size_t bytes)
{
	return bytes < LEAST ? g_malloc(bytes) : scattered_lines(bytes);
}

void *scattered_alloc0(size_t bytes)
{
	return memset(scattered_alloc(bytes), 0, bytes);
}

void *scattered_realloc(void *array, size_t used, size_t bytes)
{
	void *larger = scattered_alloc(bytes);

	if (used > 0)
		memcpy(larger, array, used);
	g_free(array);
	return larger;
}
