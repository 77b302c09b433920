/*
 * scattered.h - large arrays that are written all over: on large pages where there are some,
 * so that places in them are found without a walk through the page tables.
 */
#ifndef HEDDLE_SCATTERED_H
#define HEDDLE_SCATTERED_H

#include "engine/base/base.h"

/* Freed by g_free; not set to zero; begins where a cache line does. */
void *scattered_alloc(size_t bytes);
void *scattered_alloc0(size_t bytes); /* set to zero */
#define scattered_new(type, count)  ((type *)scattered_alloc((size_t)(count) * sizeof(type)))
#define scattered_new0(type, count) ((type *)scattered_alloc0((size_t)(count) * sizeof(type)))
/* For what may soon have to be larger: on large pages only when it is large itself. */
void *scattered_lines(size_t bytes);
/* The same with `used` bytes of an array at its beginning, which is freed; not aligned. */
void *scattered_realloc(void *array, size_t used, size_t bytes);

#endif
