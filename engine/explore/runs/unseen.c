/* unseen.c - see unseen.h. */
#include "engine/explore/runs/unseen.h"

#include "debuginfo/debuginfo.h"
#include "engine/explore/runs/final.h"

#include <pthread.h>

GHashTable *unseen_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

/* Is the result of the call at the event's place the same to the code after it, whichever of
 * `results` it is (NULL: of any)? */
static bool is_unseen(GHashTable *known, const struct trace *t, uint32_t event,
                      const int32_t *results)
{
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

bool unseen_at(GHashTable *known, const struct trace *t, uint32_t event)
{
	static const int32_t results[2] = { 0, PTHREAD_BARRIER_SERIAL_THREAD };
	return is_unseen(known, t, event, results);
}

static bool is_final(const struct trace *t, uint32_t variable, const GPtrArray *finals)
{
	for (guint i = 0; finals != NULL && i < finals->len; i++) {
		struct wide range = final_range(t, finals->pdata[i]);
		if (variable - range.first < range.count)
			return true;
	}
	return false;
}

uint8_t *sums_find(GHashTable *known, const struct trace *t, const GArray *sums,
                   const GPtrArray *finals, bool *divided)
{
	uint8_t *found = NULL;
	*divided = false;
	for (guint i = 0; sums != NULL && i < sums->len; i++) {
		uint32_t e = g_array_index(sums, uint32_t, i);
		struct wide run = event_variables(t, &t->events[e]);
		struct access_value old = access_value(t, e, false);
		/* one that adds 0 is a look */
		if (t->events[e].op != OP_RMW ||
		    (old.known && old.integer == access_value(t, e, true).integer))
			continue;
		bool unseen = !is_final(t, run.first, finals) && is_unseen(known, t, e, NULL);
		if (run.count != 1 || !old.known) {
			*divided |= unseen;
			continue;
		}
		if (found == NULL)
			found = g_new0(uint8_t, t->events_count + 1);
		found[e] = unseen ? SUM_UNSEEN : SUM_SEEN;
	}
	return found;
}
