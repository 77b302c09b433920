/*
 * schedule.c - see schedule.h. Effects of a schedule are computed by walking it; the
 * independent checker decides its validity.
 */
#include "engine/trace/shown.h"
#include "engine/trace/own_code.h"
#include "tui/explorer/schedule.h"
#include "engine/base/search.h"

#include <string.h>

enum {
	VALUES_SHOWN = 8,
	LOOKED_AT = 100000, /* accesses of a variable; beyond that its value may stay unknown */
};

static uint32_t at(const GArray *events, guint i)
{
	return g_array_index(events, uint32_t, i);
}

uint32_t schedule_written_value(const struct trace *t, const struct event *e)
{
	if (e->flags & EVENT_WIDE)
		return 0;
	return trace_value(t, e->aux).kind == V_PAIR ? trace_value(t, e->aux).second : e->aux;
}

uint32_t schedule_initial_value(const struct session *s, uint32_t variable)
{
	const struct trace *t = s->trace;
	if (!session_has(s, INDEX_VARIABLES))
		return 0;
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	for (uint64_t i = 0; i < MIN(list.count, LOOKED_AT); i++) {
		const struct event *e = &t->events[list.items[i]];
		if (op_reads(e->op) && e->aux && !(e->flags & EVENT_WIDE))
			return trace_value(t, e->aux).kind == V_PAIR
			               ? trace_value(t, e->aux).first
			               : e->aux;
		if (op_writes(e->op))
			return 0;
	}
	return 0;
}

/* -- a stage ------------------------------------------------------------------------ */

void stage_init(struct stage *stage, const struct session *s, GArray *events, bool grows)
{
	const struct trace *t = s->trace;
	*stage = (struct stage){ s, events, g_new(GArray *, t->threads_count + 1), grows };
	for (uint32_t i = 0; i < t->threads_count; i++)
		stage->positions[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < events->len; i++)
		g_array_append_val(stage->positions[t->events[at(events, i)].thread], i);
}

void stage_release(struct stage *stage)
{
	for (uint32_t i = 0; stage->positions && i < stage->session->trace->threads_count; i++)
		g_array_free(stage->positions[i], TRUE);
	g_free(stage->positions);
	*stage = (struct stage){ 0 };
}

void stage_push(struct stage *stage, uint32_t event)
{
	uint32_t thread = stage->session->trace->events[event].thread;
	guint position = stage->events->len;
	g_array_append_val(stage->positions[thread], position);
	g_array_append_val(stage->events, event);
}

void stage_pop(struct stage *stage)
{
	guint last = stage->events->len;
	if (last == 0)
		return;
	uint32_t event = at(stage->events, last - 1);
	GArray *own = stage->positions[stage->session->trace->events[event].thread];
	g_array_set_size(own, own->len - 1);
	g_array_set_size(stage->events, last - 1);
}

/* Number of the thread's events among the first `step`. */
static guint done_by(const struct stage *stage, uint32_t thread, guint step)
{
	const GArray *own = stage->positions[thread];
	return search_end(i, 0, own->len, at(own, i) < step);
}

uint32_t stage_last(const struct stage *stage, uint32_t thread, guint step)
{
	guint done = done_by(stage, thread, step);
	return done ? at(stage->events, at(stage->positions[thread], done - 1)) : NONE;
}

uint32_t stage_next(const struct stage *stage, uint32_t thread, guint step)
{
	const struct trace *t = stage->session->trace;
	uint32_t last = stage_last(stage, thread, step);
	if (last != NONE)
		return trace_next(t, last);
	struct event_list list = trace_thread_events(t, thread);
	return list.count ? list.items[0] : NONE;
}

uint32_t stage_position(const struct stage *stage, uint32_t event)
{
	const GArray *own = stage->positions[stage->session->trace->events[event].thread];
	/* a thread's events keep their order */
	guint low = search_end(i, 0, own->len, at(stage->events, at(own, i)) < event);
	return low < own->len && at(stage->events, at(own, low)) == event ? at(own, low) : NONE;
}

/* The variable's accesses are walked backwards, where each thread's last write comes first; the
 * latest of these in the sequence gives the value. */
uint32_t stage_value(const struct stage *stage, guint step, uint32_t variable, uint32_t *writer)
{
	const struct session *s = stage->session;
	const struct trace *t = s->trace;
	*writer = NONE;
	if (!session_has(s, INDEX_VARIABLES))
		return 0;
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	uint32_t threads = 0, best = 0, end = 0;
	for (uint32_t i = 0; i < t->threads_count; i++) {
		uint32_t last = stage_last(stage, i, step);
		threads += last != NONE;
		end = last != NONE ? MAX(end, last + 1) : end;
	}
	g_autofree uint8_t *met = g_new0(uint8_t, t->threads_count + 1);
	uint64_t from = event_list_before(list, end);
	uint64_t stop = from > LOOKED_AT ? from - LOOKED_AT : 0;
	for (uint64_t i = from; i > stop && threads > 0; i--) {
		const struct event *e = &t->events[list.items[i - 1]];
		if (!op_writes(e->op) || met[e->thread])
			continue;
		uint32_t position = stage_position(stage, list.items[i - 1]);
		if (position >= step)
			continue;
		met[e->thread] = 1;
		threads--;
		if (*writer == NONE || position > best) {
			*writer = list.items[i - 1];
			best = position;
		}
	}
	if (*writer != NONE)
		return schedule_written_value(t, &t->events[*writer]);
	return stop > 0 ? 0 : schedule_initial_value(s, variable);
}

void stage_describe(const struct stage *stage, uint32_t event, guint step, GString *out)
{
	const struct event *e = &stage->session->trace->events[event];
	bool writes = op_is_access(e->op) && op_writes(e->op) && !(e->flags & EVENT_WIDE);
	uint32_t writer, old = writes ? stage_value(stage, step, e->target, &writer) : 0;
	describe_event_after(stage->session, event, old, out);
}

/* A thread's locks are the same as in the recording after its last event. */
GArray *stage_locks(const struct stage *stage, guint step)
{
	const struct session *s = stage->session;
	const struct trace *t = s->trace;
	GArray *locks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < t->threads_count; i++) {
		uint32_t last = stage_last(stage, i, step);
		if (last == NONE)
			continue;
		g_autoptr(GArray) held = session_locks_held(s, last);
		for (guint j = 0; j < held->len; j++) {
			uint32_t acquire = at(held, j);
			if (t->events[acquire].thread == i)
				g_array_append_val(locks, acquire);
		}
	}
	return locks;
}

struct shown {
	uint32_t variables[VALUES_SHOWN];
	uint32_t count;
};

static void show_value(const struct stage *stage, guint step, uint32_t variable,
                       struct shown *shown, GString *out)
{
	const struct trace *t = stage->session->trace;
	for (uint32_t j = 0; j < shown->count; j++)
		if (shown->variables[j] == variable)
			return;
	if (variable == NONE || shown->count == VALUES_SHOWN)
		return;
	uint32_t writer, value = stage_value(stage, step, variable, &writer);
	if (value == 0)
		return;
	g_string_append(out, shown->count ? "  " : "");
	shown->variables[shown->count++] = variable;
	own_code_append_name(trace_variable_name(t, variable), out);
	g_string_append_c(out, ' ');
	shown_append(t, variable, value, writer, out);
}

/* The pair's variables first, then those accessed last. */
void stage_append_values(const struct stage *stage, guint step, GString *out)
{
	enum { LOOK_BACK = 400 };
	const struct session *s = stage->session;
	struct shown shown = { .count = 0 };
	for (int i = 0; i < 2; i++)
		if (s->pair[i] != NONE)
			show_value(stage, step, session_variable(s, s->pair[i]), &shown, out);
	for (guint i = step; i-- > 0 && step - i < LOOK_BACK;)
		show_value(stage, step, session_variable(s, at(stage->events, i)), &shown, out);
}

/* Events of a longest increasing subsequence kept their order; the others moved: down if an
 * earlier event of the sequence has a greater id, else up. */
int8_t *schedule_moves(const GArray *events)
{
	guint n = events->len, longest = 0;
	int8_t *moves = g_new0(int8_t, n + 1);
	g_autofree guint *tail = g_new(guint, n + 1), *before = g_new(guint, n + 1);
	for (guint i = 0; i < n;
	     i++) { /* patience: tail[k] ends the best run of length k + 1 */
		guint low = search_end(middle, 0, longest,
		                       at(events, tail[middle]) < at(events, i));
		before[i] = low ? tail[low - 1] : G_MAXUINT;
		tail[low] = i;
		longest = MAX(longest, low + 1);
	}
	memset(moves, 2, n);
	for (guint i = longest ? tail[longest - 1] : G_MAXUINT; i != G_MAXUINT; i = before[i])
		moves[i] = 0;
	uint32_t largest = 0;
	for (guint i = 0; i < n; i++) {
		if (moves[i])
			moves[i] = at(events, i) < largest ? -1 : 1;
		largest = MAX(largest, at(events, i));
	}
	return moves;
}

void stage_append_cut(const struct stage *stage, GString *out)
{
	const struct trace *t = stage->session->trace;
	bool any = false;
	for (uint32_t i = 0; i < t->threads_count; i++) {
		uint32_t next = stage_last(stage, i, stage->events->len) == NONE
		                        ? NONE
		                        : stage_next(stage, i, stage->events->len);
		if (next == NONE)
			continue;
		g_string_append_printf(out, "%s%s %u…", any ? ", " : "",
		                       trace_thread_name(t, i), next);
		any = true;
	}
	if (!any)
		g_string_append(out, "nothing");
}
