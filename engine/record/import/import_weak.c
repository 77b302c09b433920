/*
 * import_weak.c - the loads and stores of a run under a memory model (weak.h): the runtime
 * names a store by its thread and the number of that thread's earlier events.
 */
#include "engine/base/search.h"
#include "engine/record/import/import_private.h"

struct weak_store {
	uint64_t ordinal;
	uint32_t event;
};

/* The store's event, or NONE: it is not in the trace. */
static uint32_t find_store(const struct import *im, uint32_t id, uint64_t ordinal)
{
	if (id >= im->lanes->len)
		return NONE;
	const GArray *stores = g_array_index(im->lanes, struct lane, id).stores;
	if (stores == NULL)
		return NONE;
	const struct weak_store *at = (const struct weak_store *)(void *)stores->data;
	guint i = search_end(k, 0u, stores->len, at[k].ordinal < ordinal);

	return i < stores->len && at[i].ordinal == ordinal ? at[i].event : NONE;
}

void import_weak(struct import *im, uint32_t id, const struct log_record *r)
{
	struct lane *lane = import_lane(im, id);

	if (r->tag == LOG_STATE) {
		lane->state = r->words[1];
		return;
	}
	if (r->tag != LOG_FLUSH) {
		lane->weak.said = true;
		lane->weak.kind = r->tag == LOG_READS ? WEAK_READS : WEAK_AFTER;
		lane->weak.thread = (uint32_t)r->pc;
		lane->weak.ordinal = r->words[1];
		return;
	}
	uint32_t store = find_store(im, id, r->words[1]);
	if (store != NONE)
		import_event(im, lane,
		             (struct event){ .op = OP_FLUSH, .target = NONE, .aux = store });
}

/* Take the state that the runtime wrote before the event of its thread. */
void import_weak_state(struct import *im, struct lane *lane, uint32_t event)
{
	if (lane->state != 0 && event != NONE && im->facts->states != NULL) {
		struct record_state state = { lane->state, event };
		g_array_append_val(im->facts->states, state);
	}
	lane->state = 0;
}

void import_weak_access(struct import *im, uint32_t id, uint32_t event, bool writes)
{
	struct lane *lane = import_lane(im, id);
	struct weak_store made = { lane->ordinal, event };

	if (lane->weak.said && event != NONE) {
		bool initial = lane->weak.thread == LOG_ALL_THREADS;
		uint32_t store =
		        initial ? NONE : find_store(im, lane->weak.thread, lane->weak.ordinal);
		if (initial || store != NONE)
			builder_weak(im->b, (struct weak_source){ .event = event,
			                                          .store = store,
			                                          .kind = lane->weak.kind });
	}
	lane->weak.said = false;
	import_weak_state(im, lane, event);
	if (!writes || event == NONE)
		return;
	if (lane->stores == NULL)
		lane->stores = g_array_new(FALSE, FALSE, sizeof(struct weak_store));
	g_array_append_val(lane->stores, made);
}
