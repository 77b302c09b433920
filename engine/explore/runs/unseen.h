/*
 * unseen.h - waits at barriers whose result the code does not use: which thread is the last one
 * of the round (PTHREAD_BARRIER_SERIAL_THREAD) is no outcome then.
 */
#ifndef HEDDLE_EXPLORE_UNSEEN_H
#define HEDDLE_EXPLORE_UNSEEN_H

#include "engine/trace/trace.h"

/* A cache by place of the code: g_hash_table_unref. */
GHashTable *unseen_new(void);
/* Is the code after the wait (its arrival or its end) the same for every last thread?
 * (debuginfo_result_unseen.) */
bool unseen_at(GHashTable *known, const struct trace *t, uint32_t event);

#endif
