/*
 * step.c - stepping, searching and running over the recorded trace, forward and back.
 *
 * By binary searches in the index, so that a step in a trace of 10^8 events takes no pass; by a
 * scan until the index is built.
 */
#include "engine/base/compare.h"
#include "tui/explorer/session.h"
#include "engine/base/search.h"

#include <string.h>

uint32_t session_variable(const struct session *s, uint32_t event)
{
	const struct event *e = &s->trace->events[event];
	if (!op_is_access(e->op) || e->target == NONE)
		return NONE;
	return event_variables(s->trace, e).first;
}

/* The first element after `event` of an ascending list, or the last before it. */
static uint32_t list_neighbour(struct event_list list, uint32_t event, int direction)
{
	uint64_t low =
	        search_end(i, 0, list.count,
	                   direction > 0 ? list.items[i] <= event : list.items[i] < event);
	if (direction > 0)
		return low < list.count ? list.items[low] : NONE;
	return low > 0 ? list.items[low - 1] : NONE;
}

uint32_t session_next_event(const struct session *s, uint32_t event, int direction)
{
	if (direction > 0)
		return event + 1 < s->trace->events_count ? event + 1 : NONE;
	return event > 0 ? event - 1 : NONE;
}

uint32_t session_next_thread(const struct session *s, uint32_t event, int direction)
{
	const struct trace *t = s->trace;
	if (session_has(s, INDEX_THREADS))
		return direction > 0 ? trace_next(t, event) : trace_previous(t, event);
	uint32_t thread = t->events[event].thread;
	for (uint32_t e = event; (e = session_next_event(s, e, direction)) != NONE;)
		if (t->events[e].thread == thread)
			return e;
	return NONE;
}

static uint32_t step_variable(const struct session *s, uint32_t event, int direction)
{
	uint32_t v = session_variable(s, event);
	if (v == NONE || !session_has(s, INDEX_VARIABLES))
		return NONE;
	return list_neighbour(event_list_at(&s->trace->index->variable_events, v), event,
	                      direction);
}

/* -- locks held ---------------------------------------------------------------------- */

static uint64_t count_up_to(struct event_list list, uint32_t event)
{
	return search_end(i, 0, list.count, list.items[i] <= event);
}

/* Acquires of an object that are open after `event`: back to the last exclusive one. */
static void add_open(const struct trace *t, uint32_t object, uint32_t event, GArray *out)
{
	enum { READERS_LOOKED_AT = 512 };
	struct event_list list = event_list_at(&t->index->object_events, object);
	uint64_t at = count_up_to(list, event);
	for (int n = 0; at-- > 0 && n < READERS_LOOKED_AT; n++) {
		uint32_t e = list.items[at];
		enum op op = t->events[e].op;
		uint32_t partner = op_acquires(op) ? t->index->partner[e] : NONE;
		if (op_acquires(op) && (partner == NONE || partner > event))
			g_array_append_val(out, e);
		if (op == OP_ACQ || op == OP_REL)
			return;
	}
}

GArray *session_locks_held(const struct session *s, uint32_t event)
{
	enum { OBJECTS_LOOKED_AT = 100000 };
	const struct trace *t = s->trace;
	GArray *held = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (!session_has(s, INDEX_MATCH | INDEX_OBJECTS))
		return held;
	for (uint32_t o = 0; o < MIN(t->objects_count, OBJECTS_LOOKED_AT); o++)
		add_open(t, o, event, held);
	g_array_sort(held, compare_u32);
	return held;
}

/* Step along the event's own object, else along all objects that its thread holds. */
static uint32_t step_object(const struct session *s, uint32_t event, int direction)
{
	const struct trace *t = s->trace;
	if (!session_has(s, INDEX_THREADS | INDEX_MATCH | INDEX_OBJECTS))
		return NONE;
	const struct event *e = &t->events[event];
	if (op_table[e->op].operand == OPERAND_OBJECT)
		return list_neighbour(event_list_at(&t->index->object_events, e->target), event,
		                      direction);
	g_autoptr(GArray) held = session_locks_held(s, event);
	uint32_t best = NONE;
	for (guint i = 0; i < held->len; i++) {
		const struct event *acquire = &t->events[g_array_index(held, uint32_t, i)];
		uint32_t object = acquire->target;
		if (acquire->thread != e->thread)
			continue;
		uint32_t e2 = list_neighbour(event_list_at(&t->index->object_events, object),
		                             event, direction);
		if (e2 != NONE && (best == NONE || (direction > 0 ? e2 < best : e2 > best)))
			best = e2;
	}
	return best;
}

/* The next event of another thread. In the thread's own list items[p + i] - i is monotonic, and
 * equals `event` while no other thread came between: binary search. */
static uint32_t step_switch(const struct session *s, uint32_t event, int direction)
{
	const struct trace *t = s->trace;
	if (!session_has(s, INDEX_THREADS)) {
		uint32_t thread = t->events[event].thread;
		for (uint32_t e = event; (e = session_next_event(s, e, direction)) != NONE;)
			if (t->events[e].thread != thread)
				return e;
		return NONE;
	}
	struct event_list list = trace_thread_events(t, t->events[event].thread);
	uint64_t p = t->index->position[event];
	uint64_t low = 0, high = direction > 0 ? list.count - p : p + 1;
	while (low + 1 < high) { /* low: steps without a switch; high: with one */
		uint64_t middle = (low + high) / 2;
		bool same = direction > 0 ? list.items[p + middle] == event + middle
		                          : list.items[p - middle] == event - middle;
		if (same)
			low = middle;
		else
			high = middle;
	}
	return session_next_event(
	        s, direction > 0 ? event + (uint32_t)low : event - (uint32_t)low, direction);
}

static uint32_t step_line(const struct session *s, uint32_t event, int direction)
{
	const struct trace *t = s->trace;
	uint32_t site = t->locations[t->events[event].location].site;
	for (uint32_t e = event; (e = session_next_thread(s, e, direction)) != NONE;) {
		uint32_t location = t->events[e].location;
		if (location != 0 && t->locations[location].site != site)
			return e;
	}
	return NONE;
}

static uint32_t step_accessor(const struct session *s, uint32_t event, int direction,
                              bool (*wanted)(enum op))
{
	for (uint32_t e = event; (e = step_variable(s, e, direction)) != NONE;)
		if (wanted(s->trace->events[e].op))
			return e;
	return NONE;
}

/* -- stepping by calls ----------------------------------------------------------------- */

/* An open call of a thread. */
struct frame_call {
	guint depth; /* depth of its frame; 1: the outermost */
	uint32_t function;
};

/* The call of the event's frame `inner`, counted from the innermost. */
static struct frame_call call_at(const struct session *s, uint32_t event, guint inner)
{
	g_autoptr(GArray) frames = session_frames(s, event);
	struct frame_call call = { 0 };
	if (inner < frames->len) {
		call.depth = frames->len - inner;
		call.function = g_array_index(frames, struct frame, inner).function;
	}
	return call;
}

/* Is the event inside of the call; `deeper`: inside of one that it makes? */
static bool is_inside(const struct session *s, uint32_t event, struct frame_call call,
                      bool *deeper)
{
	g_autoptr(GArray) frames = session_frames(s, event);
	guint depth = frames->len;
	bool inside = depth >= call.depth;
	if (inside && call.function) /* 0: unknown, any will do */
		inside = g_array_index(frames, struct frame, depth - call.depth).function ==
		         call.function;
	*deeper = inside && depth > call.depth;
	return inside;
}

static uint32_t step_by_calls(const struct session *s, uint32_t event, enum step_kind kind,
                              int direction)
{
	const struct trace *t = s->trace;
	bool out = kind == STEP_OUT, deeper;
	struct frame_call call = call_at(s, event, out ? s->frame : 0);
	const struct location *from = &t->locations[t->events[event].location];
	for (uint32_t e = event; (e = session_next_thread(s, e, direction)) != NONE;) {
		const struct location *to = &t->locations[t->events[e].location];
		if (!is_inside(s, e, call, &deeper))
			return e;
		if (out || deeper)
			continue;
		if (kind == STEP_OVER)
			return e;
		if (t->events[e].location == 0 || to->site == from->site)
			continue;
		if (kind == STEP_LINE_OVER || to->file != from->file || to->line > from->line)
			return e;
	}
	return NONE;
}

static uint32_t step_once(const struct session *s, uint32_t event, enum step_kind kind,
                          int direction)
{
	switch (kind) {
	case STEP_EVENT:
		return session_next_event(s, event, direction);
	case STEP_THREAD:
		return session_next_thread(s, event, direction);
	case STEP_VARIABLE:
		return step_variable(s, event, direction);
	case STEP_OBJECT:
		return step_object(s, event, direction);
	case STEP_SWITCH:
		return step_switch(s, event, direction);
	case STEP_LINE:
		return step_line(s, event, direction);
	case STEP_WRITER:
		return step_accessor(s, event, direction, op_writes);
	case STEP_READER:
		return step_accessor(s, event, direction, op_reads);
	case STEP_OVER:
	case STEP_LINE_OVER:
	case STEP_UNTIL:
	case STEP_OUT:
		return step_by_calls(s, event, kind, direction);
	}
	return NONE;
}

uint32_t session_step(const struct session *s, uint32_t event, enum step_kind kind,
                      int direction, uint64_t count)
{
	if (kind == STEP_EVENT) { /* many at once */
		uint64_t last = s->trace->events_count ? s->trace->events_count - 1 : 0;
		if (direction > 0)
			return (uint32_t)MIN(event + count, last);
		return count > event ? 0 : event - (uint32_t)count;
	}
	for (; count > 0; count--) {
		uint32_t next = step_once(s, event, kind, direction);
		if (next == NONE)
			break;
		event = next;
	}
	return event;
}

/* -- searching ---------------------------------------------------------------------- */

/* Set of ids (a byte each) whose name in a table contains `text`. */
#define MATCHING(table, name_of) \
	({ \
		uint8_t *set = g_new0(uint8_t, t->table##_count + 1); \
		for (uint64_t i = 0; i < t->table##_count; i++) \
			set[i] = has(name_of, text); \
		set; \
	})

static bool has(const char *name, const char *text)
{
	return *name && strcasestr(name, text) != NULL;
}

struct matches {
	uint8_t *variables, *objects, *locations, *functions, *threads, *blocks, *instances,
	        *messages, *strings;
};

static struct matches matches_of(const struct trace *t, const char *text)
{
	struct matches m = {
		.variables = MATCHING(variables, trace_variable_name(t, i)),
		.objects = MATCHING(objects, trace_string(t, t->objects[i].name)),
		.locations = MATCHING(locations, trace_string(t, t->locations[i].name)),
		.functions = MATCHING(locations, trace_string(t, t->locations[i].function)),
		.threads = MATCHING(threads, trace_string(t, t->threads[i].name)),
		.blocks = MATCHING(blocks, trace_string(t, t->blocks[i].name)),
		.instances = MATCHING(instances, trace_string(t, t->instances[i].name)),
		.messages = MATCHING(messages, trace_string(t, t->messages[i])),
	};
	return m;
}

static void matches_release(struct matches *m)
{
	uint8_t *sets[] = { m->variables, m->objects, m->locations, m->functions,
		            m->threads,   m->blocks,  m->instances, m->messages };
	for (size_t i = 0; i < G_N_ELEMENTS(sets); i++)
		g_free(sets[i]);
}

static bool event_matches(const struct trace *t, const struct event *e, const struct matches *m,
                          const char *text)
{
	if (m->locations[e->location] || m->functions[e->location])
		return true;
	if (e->target == NONE)
		return false;
	switch (op_table[e->op].operand) {
	case OPERAND_VARIABLE: {
		struct wide w = event_variables(t, e);
		for (uint32_t v = w.first; v < w.first + w.count; v++)
			if (m->variables[v])
				return true;
		return false;
	}
	case OPERAND_OBJECT:
		return m->objects[e->target];
	case OPERAND_THREAD:
		return m->threads[e->target];
	case OPERAND_MESSAGE:
		return m->messages[e->target];
	case OPERAND_BLOCK:
		return m->blocks[e->target];
	case OPERAND_INSTANCE:
		return m->instances[e->target];
	case OPERAND_NAME:
		return has(trace_string(t, e->target), text);
	case OPERAND_NOTHING:
		return false;
	}
	return false;
}

uint32_t session_find(const struct session *s, uint32_t event, const char *text, int direction)
{
	const struct trace *t = s->trace;
	struct matches m = matches_of(t, text);
	uint32_t found = NONE;
	for (uint32_t e = event;
	     found == NONE && (e = session_next_event(s, e, direction)) != NONE;)
		if (event_matches(t, &t->events[e], &m, text))
			found = e;
	matches_release(&m);
	return found;
}

uint32_t session_find_in(const struct session *s, const GArray *events, guint from,
                         const char *text, int direction)
{
	const struct trace *t = s->trace;
	struct matches m = matches_of(t, text);
	uint32_t found = NONE;
	for (guint i = from + (guint)direction; found == NONE && i < events->len;
	     i += (guint)direction)
		if (event_matches(t, &t->events[g_array_index(events, uint32_t, i)], &m, text))
			found = i;
	matches_release(&m);
	return found;
}

/* -- values ------------------------------------------------------------------------- */

/* The variable's value after an access: an rmw's second, a write's, a read's. */
static uint32_t value_after(const struct trace *t, const struct event *e)
{
	if (e->flags & EVENT_WIDE)
		return 0;
	if (trace_value(t, e->aux).kind == V_PAIR)
		return trace_value(t, e->aux).second;
	return e->aux;
}

struct known_value session_value(const struct session *s, uint32_t variable, uint32_t event)
{
	const struct trace *t = s->trace;
	struct known_value known = { .value = 0, .event = NONE };
	if (!session_has(s, INDEX_VARIABLES))
		return known;
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	uint32_t e = event;
	if (session_variable(s, event) != variable)
		e = list_neighbour(list, event, -1);
	for (; e != NONE; e = list_neighbour(list, e, -1)) {
		known.value = value_after(t, &t->events[e]);
		known.event = e;
		if (known.value != 0 || op_writes(t->events[e].op))
			break;
	}
	return known;
}
