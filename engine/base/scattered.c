/*
 * scattered.c - see scattered.h.
 *
 * (What is filled from one end to the other gains less than it takes some machines to get
 * such pages.)
 */
#include "engine/base/scattered.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, LARGE_PAGE = 2 << 20, LEAST = 4 * LARGE_PAGE };

void *scattered_lines(size_t bytes)
{
	void *array;

	if (posix_memalign(&array, bytes < LEAST ? LINE : LARGE_PAGE, bytes) != 0)
		g_error("no memory for %zu bytes", bytes); /* as g_malloc does */
	return bytes < LEAST ? array : scattered_advise(array, bytes);
}

void *scattered_alloc(size_t bytes)
{
	return bytes < LEAST ? g_malloc(bytes) : scattered_lines(bytes);
}

void *scattered_advise(void *array, size_t bytes)
{
	uintptr_t from = ((uintptr_t)array + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	uintptr_t to = ((uintptr_t)array + bytes) / LARGE_PAGE * LARGE_PAGE;

	if (bytes >= LEAST)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
	return array;
}
