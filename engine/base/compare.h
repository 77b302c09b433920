/*
 * compare.h - ascending order of the elements that are sorted most often, for qsort and GLib.
 */
#ifndef HEDDLE_COMPARE_H
#define HEDDLE_COMPARE_H

#include <stdint.h>
#include <string.h>

static inline int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static inline int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Elements are pointers to text, as in a GPtrArray. */
static inline int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

#endif
