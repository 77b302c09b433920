/*
 * calls.c - see calls.h: addresses of uninstrumented calls, and the time that each lasts.
 */
#include "engine/partial/calls.h"
#include "engine/base/search.h"

#include <string.h>

/* -- addresses -------------------------------------------------------------------------- */

struct event_list missing_reach(const struct trace *t, uint32_t miss)
{
	const struct value list = trace_value(t, t->events[miss].aux);

	if (t->events[miss].aux == 0 || list.kind != V_LIST)
		return (struct event_list){ 0 };
	return (struct event_list){ t->value_lists + list.first, list.count };
}

const char *missing_address(const struct trace *t, uint32_t value)
{
	const struct value v = trace_value(t, value);

	return v.kind == V_TOKEN || v.kind == V_STRING ? trace_string(t, v.string) : NULL;
}

void missing_name_within(const char *name,
                         void (*visit)(const char *address, bool whole, void *context),
                         void *context)
{
	size_t length = strlen(name);
	char *pointed = g_strdup_printf("*%s", name), *prefix = pointed + 1;

	for (; length > 0; length--) {
		char next = name[length];
		bool arrow = next == '-' && name[length + 1] == '>';

		if (next != '\0' && !arrow && strchr(".[+", next) == NULL)
			continue;
		prefix[length] = '\0';
		if (!arrow)
			visit(prefix, next == '\0', context);
		if (arrow || next == '[')
			visit(pointed, false, context);
	}
	g_free(pointed);
}

/* -- calls by thread ---------------------------------------------------------------------- */

struct missing_calls {
	uint64_t *first; /* by thread: its first in `miss`, and one more */
	uint32_t *miss;
};

static bool begins_call(const struct trace *t, uint32_t e)
{
	return t->events[e].op == OP_MISS && !event_inert(&t->events[e]);
}

static uint64_t count_calls(const struct trace *t)
{
	uint64_t count = 0;

	for (uint32_t e = 0; e < t->events_count; e++)
		count += begins_call(t, e);
	return count;
}

/* Append the calls of one thread after `at`, without nested ones. */
static uint64_t add_outermost(const struct trace *t, uint32_t thread, uint32_t *miss,
                              uint64_t at)
{
	struct event_list list = trace_thread_events(t, thread);
	uint32_t end = 0; /* of the last call added */
	bool open = false;

	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t e = list.items[i];

		if (!begins_call(t, e) || (open && e < end))
			continue;
		miss[at++] = e;
		end = t->index->partner[e]; /* NONE: until the thread's end */
		open = true;
	}
	return at;
}

struct missing_calls *missing_calls_new(const struct trace *t)
{
	uint64_t count = count_calls(t), at = 0;

	if (count == 0)
		return NULL;
	struct missing_calls *calls = g_new(struct missing_calls, 1);
	calls->first = g_new(uint64_t, t->threads_count + 1);
	calls->miss = g_new(uint32_t, count);
	for (uint32_t u = 0; u < t->threads_count; u++) {
		calls->first[u] = at;
		at = add_outermost(t, u, calls->miss, at);
	}
	calls->first[t->threads_count] = at;
	return calls;
}

void missing_calls_free(struct missing_calls *calls)
{
	if (calls == NULL)
		return;
	g_free(calls->first);
	g_free(calls->miss);
	g_free(calls);
}

uint64_t missing_calls_before(const struct missing_calls *calls, uint32_t thread,
                              uint32_t event)
{
	uint64_t low = search_end(i, calls->first[thread], calls->first[thread + 1],
	                          calls->miss[i] < event);
	return low - calls->first[thread];
}

uint64_t missing_calls_of(const struct missing_calls *calls, uint32_t thread)
{
	return calls->first[thread + 1] - calls->first[thread];
}

/* The call's last event: its `back`, or the thread's last event. */
static uint32_t call_end(const struct trace *t, uint32_t miss)
{
	struct event_list list = trace_thread_events(t, t->events[miss].thread);

	return t->index->partner[miss] != NONE ? t->index->partner[miss]
	                                       : list.items[list.count - 1];
}

uint32_t missing_calls_at(const struct missing_calls *calls, const struct trace *t,
                          uint32_t thread, uint32_t event)
{
	uint64_t before = missing_calls_before(calls, thread, event);
	uint64_t at = calls->first[thread] + before;

	if (at < calls->first[thread + 1] && calls->miss[at] == event)
		return event;
	if (before == 0 || call_end(t, calls->miss[at - 1]) < event)
		return NONE;
	return calls->miss[at - 1];
}

/* Every call around the event, outermost first. */
static GArray *calls_around(const struct missing_calls *calls, const struct trace *t,
                            uint32_t event)
{
	GArray *open = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t thread = t->events[event].thread,
	         outermost = missing_calls_at(calls, t, thread, event);
	struct event_list list = trace_thread_events(t, thread);

	if (outermost == NONE)
		return open;
	for (uint64_t i = t->index->position[outermost];
	     i < list.count && list.items[i] <= event; i++) {
		if (begins_call(t, list.items[i]) && call_end(t, list.items[i]) >= event)
			g_array_append_val(open, list.items[i]);
	}
	return open;
}

uint32_t missing_calls_inside(const struct missing_calls *calls, const struct trace *t,
                              uint32_t event)
{
	g_autoptr(GArray) open = calls_around(calls, t, event);
	return open->len > 0 ? g_array_index(open, uint32_t, open->len - 1) : NONE;
}

/* -- the reason why two events keep their order ------------------------------------------- */

/* An address, and the call that may reach it; NONE: the event itself accesses it. */
struct touched_address {
	const char *name;
	uint32_t call;
};

struct order_side {
	GArray *touched;    /* struct touched_address */
	GHashTable *within; /* addresses of its calls: text -> miss + 1 */
};

static void side_touches(struct order_side *side, const char *name, uint32_t call)
{
	struct touched_address new = { name, call };

	if (name == NULL)
		return;
	g_array_append_val(side->touched, new);
	if (call != NONE)
		g_hash_table_insert(side->within, (gpointer)name, GUINT_TO_POINTER(call + 1));
}

/* The event's own addresses: variables of an access, else the object. */
static void side_add_event(struct order_side *side, const struct trace *t, uint32_t event)
{
	const struct event *x = &t->events[event];

	if (event_inert(x))
		return;
	if (op_table[x->op].operand == OPERAND_OBJECT)
		side_touches(side, trace_string(t, t->objects[x->target].name), NONE);
	if (x->op == OP_END)
		side_touches(side, trace_string(t, t->threads[x->thread].name), NONE);
	if (!op_is_access(x->op))
		return;
	struct wide run = event_variables(t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		side_touches(side, trace_variable_name(t, v), NONE);
}

static void side_init(struct order_side *side, const struct missing_calls *calls,
                      const struct trace *t, uint32_t event)
{
	g_autoptr(GArray) open = calls_around(calls, t, event);

	side->touched = g_array_new(FALSE, FALSE, sizeof(struct touched_address));
	side->within = g_hash_table_new(g_str_hash, g_str_equal);
	for (guint i = open->len; i-- > 0;) {
		uint32_t miss = g_array_index(open, uint32_t, i);
		struct event_list reach = missing_reach(t, miss);

		for (uint64_t k = 0; k < reach.count; k++)
			side_touches(side, missing_address(t, reach.items[k]), miss);
	}
	side_add_event(side, t, event);
}

static void side_release(struct order_side *side)
{
	g_array_free(side->touched, TRUE);
	g_hash_table_destroy(side->within);
}

struct address_match {
	GHashTable *within;
	uint32_t call; /* the call with an address that contains the name; or NONE */
	bool whole;    /* equal, not only a part */
};

static void match_address(const char *address, bool whole, void *context)
{
	struct address_match *m = context;
	gpointer found = g_hash_table_lookup(m->within, address);

	if (found == NULL || m->call != NONE)
		return;
	m->call = GPOINTER_TO_UINT(found) - 1;
	m->whole = whole;
}

/* Addresses of `one` that calls of `other` may reach. `again`: in the second direction, two
 * calls with the same address have been counted already. */
static void find_common(const struct order_side *one, const struct order_side *other,
                        int of_other, bool again, struct missing_reason *reason)
{
	for (guint i = 0; i < one->touched->len; i++) {
		const struct touched_address *x =
		        &g_array_index(one->touched, struct touched_address, i);
		struct address_match m = { other->within, NONE, false };

		missing_name_within(x->name, match_address, &m);
		if (m.call == NONE || (again && m.whole && x->call != NONE))
			continue;
		if (reason->address != NULL) {
			reason->more++;
			continue;
		}
		reason->address = x->name;
		reason->calls[of_other] = m.call;
		reason->calls[!of_other] = x->call;
	}
}

bool missing_reason(const struct missing_calls *calls, const struct trace *t, uint32_t before,
                    uint32_t after, struct missing_reason *reason)
{
	struct order_side sides[2];

	*reason = (struct missing_reason){ { NONE, NONE }, NULL, 0 };
	if (calls == NULL)
		return false;
	side_init(&sides[0], calls, t, before);
	side_init(&sides[1], calls, t, after);
	find_common(&sides[1], &sides[0], 0, false, reason);
	find_common(&sides[0], &sides[1], 1, true, reason);
	side_release(&sides[0]);
	side_release(&sides[1]);
	return reason->address != NULL;
}

static void append_doer(const struct trace *t, uint32_t call, uint32_t event, GString *out)
{
	if (call != NONE) {
		trace_append_operand(t, call, out);
		g_string_append_printf(out, " (%u)", call);
	} else {
		const char *thread = trace_thread_name(t, t->events[event].thread);
		const char *place = trace_location_name(t, event);

		append_escaped(out, thread, strlen(thread));
		g_string_append(out, " at ");
		append_escaped(out, place, strlen(place));
		g_string_append_printf(out, " (%u)", event);
	}
}

static void append_touched(const struct trace *t, const struct missing_reason *reason,
                           uint32_t before, uint32_t after, const char *verb, GString *out)
{
	append_doer(t, reason->calls[0], before, out);
	g_string_append(out, " and ");
	append_doer(t, reason->calls[1], after, out);
	g_string_append(out, verb);
	append_escaped(out, reason->address, strlen(reason->address));
	if (reason->more > 0)
		g_string_append_printf(out, " and %u more", reason->more);
}

void missing_reason_append(const struct trace *t, const struct missing_reason *reason,
                           uint32_t before, uint32_t after, GString *out)
{
	append_touched(t, reason, before, after, " may both touch ", out);
}

void missing_condition_append(const struct trace *t, const struct missing_reason *reason,
                              uint32_t before, uint32_t after, GString *out)
{
	append_touched(t, reason, before, after, ", which may both touch ", out);
	g_string_append(out, ", do not synchronise");
}
