/*
 * arrays.h - growing arrays by an index, such as one for each thread.
 */
#ifndef HEDDLE_ARRAYS_H
#define HEDDLE_ARRAYS_H

#include <glib.h>
#include <stdint.h>

/* `count` empty arrays of items of `size` bytes; freed by arrays_free with the same count. */
static inline GArray **arrays_new(uint64_t count, guint size)
{
	GArray **all = g_new(GArray *, count + 1);

	for (uint64_t i = 0; i < count; i++)
		all[i] = g_array_new(FALSE, FALSE, size);
	return all;
}

/* Any of them may be NULL, and all together. */
static inline void arrays_free(GArray **all, uint64_t count)
{
	for (uint64_t i = 0; all != NULL && i < count; i++) {
		if (all[i] != NULL)
			g_array_unref(all[i]);
	}
	g_free(all);
}

#endif
