/*
 * scattered.h - large arrays with random access, on large pages where the system has them, to
 * save page table walks.
 */
#ifndef HEDDLE_SCATTERED_H
#define HEDDLE_SCATTERED_H

#include "engine/base/base.h"

/* Uninitialised, aligned to a cache line; freed by g_free. */
void *scattered_alloc(size_t bytes);
void *scattered_alloc0(size_t bytes); /* zeroed */
#define scattered_new(type, count)  ((type *)scattered_alloc((size_t)(count) * sizeof(type)))
#define scattered_new0(type, count) ((type *)scattered_alloc0((size_t)(count) * sizeof(type)))
/* For arrays that grow: large pages only when already large. */
void *scattered_lines(size_t bytes);
/* Reallocates: a new array with the first `used` bytes of `array`, which is freed; not
 * aligned. */
void *scattered_realloc(void *array, size_t used, size_t bytes);

#endif
