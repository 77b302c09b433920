/*
 * reach_counters.c - variables that are only counted: additions whose results the code does not
 * use (runs/unseen.h). A state has such a variable's value in place of its last write, so that
 * the order of the additions makes no difference.
 */
#include "engine/explore/reversals/reach_private.h"
#include "engine/explore/runs/final.h"

#include <inttypes.h>

/* The value that an access of a counter reads, or writes. */
static uint64_t counted_at(const struct reach *r, uint32_t e, bool written)
{
	struct access_value v = access_value(r->t, e, written);
	return v.size >= sizeof v.integer ? v.integer
	                                  : v.integer & ((UINT64_C(1) << 8 * v.size) - 1);
}

/* Are all accesses of the variable of it alone, and their values known? Then its value is known
 * in each state. */
static bool has_values(const struct reach *r, struct event_list list)
{
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *x = &r->t->events[list.items[i]];
		if (event_inert(x))
			continue;
		if (event_variables(r->t, x).count != 1 ||
		    (op_reads(x->op) && !access_value(r->t, list.items[i], false).known) ||
		    (op_writes(x->op) && !access_value(r->t, list.items[i], true).known))
			return false;
	}
	return true;
}

/* Its value at the beginning, if that of static data is known, or it was read before it was
 * written. */
static void find_first_value(const struct reach *r, uint32_t v, struct event_list list)
{
	struct counter *c = &r->counters[v];
	c->begins_known = history_begins_with(r->x->h, v, &c->begins);
	for (uint64_t i = 0; i < list.count && !c->begins_known; i++) {
		uint32_t e = list.items[i];
		const struct event *x = &r->t->events[e];
		if (event_inert(x) || !op_reads(x->op) ||
		    trace_writers(r->t, e).items[0] != NONE)
			continue;
		c->begins = counted_at(r, e, false);
		c->begins_known = true;
	}
}

void counters_find(struct reach *r)
{
	const struct trace *t = r->t;
	for (uint32_t e = 0; r->x->h->unseen && e < t->events_count; e++) {
		uint32_t v = event_variables(t, &t->events[e]).first;
		if (!history_is_unseen(r->x->h, e) || r->slot_of[v] == NONE)
			continue;
		if (r->counters == NULL)
			r->counters = g_new0(struct counter, t->variables_count + 1);
		if (r->counters[v].is)
			continue;
		struct event_list list = event_list_at(&t->index->variable_events, v);
		r->counters[v].is = has_values(r, list);
		r->x->uncounted |= !r->counters[v].is;
		find_first_value(r, v, list);
	}
	if (r->counters == NULL)
		return;
	r->values = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	r->valued = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

uint32_t counters_of(const struct reach *r, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	uint32_t v = r->counters == NULL || !op_is_access(x->op)
	                     ? NONE
	                     : event_variables(r->t, x).first;
	return v != NONE && r->counters[v].is ? v : NONE;
}

bool counters_value(const struct reach *r, const uint32_t *state, uint32_t counter,
                    uint64_t *value)
{
	uint32_t place = state[r->threads + r->slot_of[counter]];
	*value = place == 0 ? r->counters[counter].begins
	                    : g_array_index(r->values, uint64_t, place - 1);
	bool known = place != 0 || r->counters[counter].begins_known;
	r->x->uncounted |= !known;
	return known;
}

static uint32_t place_of_value(const struct reach *r, uint64_t value)
{
	uint32_t place = GPOINTER_TO_UINT(g_hash_table_lookup(r->valued, &value));
	if (place != 0)
		return place;
	g_array_append_val(r->values, value);
	g_hash_table_insert(r->valued, g_memdup2(&value, sizeof value),
	                    GUINT_TO_POINTER(r->values->len));
	return r->values->len;
}

void counters_take(const struct reach *r, uint32_t *state, uint32_t e, uint32_t counter)
{
	uint64_t value = counted_at(r, e, true), now;
	uint64_t size = access_value(r->t, e, true).size;
	if (history_is_unseen(r->x->h, e) && counters_value(r, state, counter, &now))
		value = now + value - counted_at(r, e, false);
	if (size < sizeof value)
		value &= (UINT64_C(1) << 8 * size) - 1;
	state[r->threads + r->slot_of[counter]] = place_of_value(r, value);
}

uint64_t counters_see(const struct reach *r, const uint32_t *state, uint32_t e,
                      uint32_t counter)
{
	uint32_t initial = NONE;
	uint64_t value;
	if (!counters_value(r, state, counter, &value))
		return history_would_see(r->x->h, e, &initial);
	return history_would_read(r->x->h, e, value);
}

const char *counters_text(struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t counter = counters_of(r, e);
	uint64_t value;
	if (counter == NONE || !counters_value(r, state, counter, &value))
		return NULL;
	uint64_t size = access_value(r->t, e, false).size;
	bool negative = size < sizeof value && value >> (8 * size - 1) & 1;
	int64_t number = (int64_t)(negative ? value - (UINT64_C(1) << 8 * size) : value);
	return reach_keep_text(r, g_strdup_printf("%" PRId64, number));
}

const char *reach_keep_text(struct reach *r, char *text)
{
	gpointer known;
	if (text == NULL)
		return NULL;
	if (r->texts == NULL)
		r->texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	if (g_hash_table_lookup_extended(r->texts, text, &known, NULL)) {
		g_free(text);
		return known;
	}
	g_hash_table_add(r->texts, text);
	return text;
}

void counters_release(struct reach *r)
{
	g_free(r->counters);
	g_clear_pointer(&r->values, g_array_unref);
	g_clear_pointer(&r->valued, g_hash_table_unref);
	g_clear_pointer(&r->texts, g_hash_table_unref);
}
