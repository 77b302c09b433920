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

/* From so many bytes on an array is as large as whole pages: what grows to more, and what is as
 * large as it will be. */
enum { LINE = 64, LARGE_PAGE = 2 << 20, GROWING = 1 << 20, FINAL = 128 << 10 };

static void *lines(size_t bytes, size_t least)
{
	size_t whole = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	bool large = bytes >= least;
	void *array;

	if (posix_memalign(&array, large ? LARGE_PAGE : LINE, large ? whole : bytes) != 0)
		g_error("no memory for %zu bytes", bytes); /* as g_malloc does */
	if (large)
		madvise(array, whole, MADV_HUGEPAGE);
	return array;
}

void *scattered_lines(size_t bytes)
{
	return lines(bytes, GROWING);
}

void *scattered_alloc(size_t bytes)
{
	return lines(bytes, FINAL);
}

void *scattered_alloc0(size_t bytes)
{
	return memset(scattered_alloc(bytes), 0, bytes);
}

void *scattered_realloc(void *array, size_t used, size_t bytes)
{
	void *larger;

	if (bytes < GROWING)
		return g_realloc(array, bytes);
	larger = scattered_lines(bytes);
	if (used > 0)
		memcpy(larger, array, used);
	g_free(array);
	return larger;
}
