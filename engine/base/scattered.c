/*
 * scattered.c - see scattered.h.
 *
 * (What is filled from one end to the other gains less than it takes some machines to get
 * such pages.)
 */
#include "engine/base/scattered.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 2 << 20, LEAST = 4 * LARGE_PAGE };

void *scattered_alloc(size_t bytes)
{
	void *array;

	if (bytes < LEAST || posix_memalign(&array, LARGE_PAGE, bytes) != 0)
		return g_malloc(bytes);
	madvise(array, bytes, MADV_HUGEPAGE);
	return array;
}

void *scattered_advise(void *array, size_t bytes)
{
	uintptr_t from = ((uintptr_t)array + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	uintptr_t to = ((uintptr_t)array + bytes) / LARGE_PAGE * LARGE_PAGE;

	if (bytes >= LEAST)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
	return array;
}
