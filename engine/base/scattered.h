/*
 * scattered.h - large arrays that are written all over: on large pages where there are some,
 * so that places in them are found without a walk through the page tables.
 */
#ifndef HEDDLE_SCATTERED_H
#define HEDDLE_SCATTERED_H

#include "engine/base/base.h"

/* Freed by g_free; not set to zero. */
void *scattered_alloc(size_t bytes);
/* The same, and it begins where a cache line does. */
void *scattered_lines(size_t bytes);
#define scattered_new(type, count) ((type *)scattered_alloc((size_t)(count) * sizeof(type)))
void *scattered_alloc0(size_t bytes);
/* A larger one with the same `used` bytes at its beginning; the old one is freed. */
void *scattered_realloc(void *array, size_t used, size_t bytes);
#define scattered_new0(type, count) ((type *)scattered_alloc0((size_t)(count) * sizeof(type)))

#endif
