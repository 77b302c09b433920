/*
 * hidden_reads.h - stores of bit-fields, which read the word that they write, without a hook of
 * gcc's for the read. The other bits of the word come from another write, so in another order
 * the store writes another value.
 */
#ifndef HEDDLE_PREDICT_HIDDEN_READS_H
#define HEDDLE_PREDICT_HIDDEN_READS_H

#include "engine/trace/trace.h"

/* A cache by place of the code: g_hash_table_unref. */
GHashTable *hidden_reads_new(void);
/* By location, of those with `asked`: is it such a store? Owned by the caller; NULL: none is.
 */
bool *hidden_reads_at(GHashTable *known, const struct trace *t, const bool *asked);
/* The first such store of bytes that another thread of the trace writes, too, as FILE:LINE (a
 * string of the trace); NULL: none. (debuginfo_stores_that_read.) */
const char *hidden_read_find(GHashTable *known, const struct trace *t);

#endif
