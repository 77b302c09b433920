/* unseen.c - see unseen.h. */
#include "engine/explore/runs/unseen.h"

#include "debuginfo/debuginfo.h"

#include <pthread.h>

GHashTable *unseen_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

bool unseen_at(GHashTable *known, const struct trace *t, uint32_t event)
{
	static const int32_t results[2] = { 0, PTHREAD_BARRIER_SERIAL_THREAD };
	const struct location *l = &t->locations[t->events[event].location];
	if (l->module == NONE)
		return false;
	uint64_t site = l->address ^ (uint64_t)l->module << 48;
	gpointer answer = g_hash_table_lookup(known, &site);
	if (answer == NULL) {
		const char *path = trace_string(t, t->modules[l->module].path);
		bool unseen = debuginfo_result_unseen(path, l->address + 1, results);
		answer = GUINT_TO_POINTER(1u + unseen);
		g_hash_table_insert(known, g_memdup2(&site, sizeof site), answer);
	}
	return GPOINTER_TO_UINT(answer) == 2;
}
