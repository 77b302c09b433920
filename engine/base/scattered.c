/*
 * scattered.c - see scattered.h. Arrays that are filled in order gain less from large pages
 * than their allocation costs on some machines.
 */
#include "engine/base/scattered.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Sizes in bytes from which an array gets whole large pages: one that grows, one that does
 * not. */
enum { LINE = 64, LARGE_PAGE = 2 << 20, GROWING = 1 << 20, FINAL = 128 << 10 };

static void *aligned_pages(size_t bytes, size_t least)
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
	return aligned_pages(bytes, GROWING);
}

void *scattered_alloc(size_t bytes)
{
	return aligned_pages(bytes, FINAL);
}

void *scattered_alloc0(size_t bytes)
{
	return memset(scattered_alloc(bytes), 0, bytes);
}

void *scattered_realloc(void *array, size_t used, size_t bytes)
{
	if (bytes < GROWING)
		return g_realloc(array, bytes);
	void *larger = scattered_lines(bytes);
	if (used > 0)
		memcpy(larger, array, used);
	g_free(array);
	return larger;
}
