/*
 * schedule.c - see schedule.h.  What a schedule does is found by walking it; what it may do
 * is the independent checker's word.
 */
#include "tui/explorer/schedule.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES_SHOWN = 8 };

static uint32_t at(const GArray *events, guint i)
{
	return g_array_index(events, uint32_t, i);
}

static uint32_t written_value(const struct trace *t, const struct event *e)
{
	if (e->flags & EVENT_WIDE)
		return 0;
	return t->values[e->aux].kind == V_PAIR ? t->values[e->aux].second : e->aux;
}

/* The initial value of a variable, if the recording shows it: what a read before the first
 * write has seen. */
static uint32_t initial_value(const struct session *s, uint32_t variable)
{
	const struct trace *t = s->trace;
	if (!session_has(s, INDEX_VARIABLES))
		return 0;
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *e = &t->events[list.items[i]];
		if (op_reads(e->op) && e->aux && !(e->flags & EVENT_WIDE))
			return t->values[e->aux].kind == V_PAIR ? t->values[e->aux].first
			                                        : e->aux;
		if (op_writes(e->op))
			return 0;
	}
	return 0;
}

uint32_t schedule_value(const struct session *s, const GArray *events, guint count,
                        uint32_t variable, uint32_t *writer)
{
	const struct trace *t = s->trace;
	for (guint i = count; i-- > 0;) {
		const struct event *e = &t->events[at(events, i)];
		if (!op_writes(e->op))
			continue;
		struct wide w = event_variables(t, e);
		if (variable - w.first >= w.count)
			continue;
		*writer = at(events, i);
		return written_value(t, e);
	}
	*writer = NONE;
	return initial_value(s, variable);
}

void schedule_append_locks(const struct session *s, const GArray *events, guint count,
                           GString *out)
{
	const struct trace *t = s->trace;
	uint16_t *readers = g_new0(uint16_t, t->objects_count + 1);
	uint32_t *holder = g_new(uint32_t, t->objects_count + 1);
	memset(holder, 0xff, sizeof *holder * (t->objects_count + 1));
	for (guint i = 0; i < count; i++) {
		const struct event *e = &t->events[at(events, i)];
		if (event_inert(e))
			continue;
		if (e->op == OP_ACQ)
			holder[e->target] = e->thread;
		else if (e->op == OP_REL)
			holder[e->target] = NONE;
		else if (e->op == OP_RACQ)
			readers[e->target]++;
		else if (e->op == OP_RREL && readers[e->target])
			readers[e->target]--;
	}
	bool any = false;
	for (uint64_t o = 0; o < t->objects_count; o++) {
		if (holder[o] == NONE && readers[o] == 0)
			continue;
		g_string_append(out, any ? ", " : "");
		if (holder[o] != NONE)
			g_string_append_printf(out, "%s holds ",
			                       trace_thread_name(t, holder[o]));
		else
			g_string_append_printf(out, "%u read ", readers[o]);
		const char *name = trace_string(t, t->objects[o].name);
		append_escaped(out, name, strlen(name));
		any = true;
	}
	if (!any)
		g_string_append(out, "no lock is held");
	g_free(readers);
	g_free(holder);
}

struct shown {
	uint32_t variables[VALUES_SHOWN];
	uint32_t count;
};

static void show_value(const struct session *s, const GArray *events, guint count,
                       uint32_t variable, struct shown *shown, GString *out)
{
	const struct trace *t = s->trace;
	for (uint32_t j = 0; j < shown->count; j++)
		if (shown->variables[j] == variable)
			return;
	if (variable == NONE || shown->count == VALUES_SHOWN)
		return;
	uint32_t writer, value = schedule_value(s, events, count, variable, &writer);
	if (value == 0)
		return;
	g_string_append(out, shown->count ? "  " : "");
	shown->variables[shown->count++] = variable;
	const char *name = trace_string(t, t->variables[variable].name);
	append_escaped(out, name, strlen(name));
	g_string_append_c(out, ' ');
	describe_value(t, value, out);
}

/* First the pair's variables, then those touched last. */
void schedule_append_values(const struct session *s, const GArray *events, guint count,
                            GString *out)
{
	enum { LOOK_BACK = 400 };
	struct shown shown = { .count = 0 };
	for (int i = 0; i < 2; i++)
		if (s->pair[i] != NONE)
			show_value(s, events, count, session_variable(s, s->pair[i]), &shown,
			           out);
	for (guint i = count; i-- > 0 && count - i < LOOK_BACK;)
		show_value(s, events, count, session_variable(s, at(events, i)), &shown, out);
}

/*
 * The events of a longest rising run kept their order; the others moved.  One that has a
 * smaller id than some event before it came later than in the recording, so it moved down;
 * otherwise up.
 */
int8_t *schedule_moves(const GArray *events)
{
	guint n = events->len, longest = 0;
	int8_t *moves = g_new0(int8_t, n + 1);
	guint *tail = g_new(guint, n + 1), *before = g_new(guint, n + 1);
	for (guint i = 0; i < n;
	     i++) { /* patience: tail[k] ends the best run of length k + 1 */
		guint low = 0, high = longest;
		while (low < high) {
			guint middle = (low + high) / 2;
			if (at(events, tail[middle]) < at(events, i))
				low = middle + 1;
			else
				high = middle;
		}
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
	g_free(tail);
	g_free(before);
	return moves;
}

void schedule_append_cut(const struct session *s, const GArray *events, GString *out)
{
	const struct trace *t = s->trace;
	uint32_t *last = g_new(uint32_t, t->threads_count + 1);
	memset(last, 0xff, sizeof *last * (t->threads_count + 1));
	for (guint i = 0; i < events->len; i++)
		last[t->events[at(events, i)].thread] = at(events, i);
	bool any = false;
	for (uint32_t i = 0; i < t->threads_count; i++) {
		uint32_t next = last[i] == NONE ? NONE : trace_next(t, last[i]);
		if (next == NONE)
			continue;
		g_string_append_printf(out, "%s%s %u…", any ? ", " : "",
		                       trace_thread_name(t, i), next);
		any = true;
	}
	if (!any)
		g_string_append(out, "nothing");
	g_free(last);
}

/* -- being the scheduler ------------------------------------------------------------- */

static void choice_clear(void *data)
{
	g_free(((struct choice *)data)->reason);
}

/* The first event of the thread that is not in the schedule. */
static uint32_t next_of(const struct chooser *c, uint32_t thread)
{
	const struct trace *t = c->session->trace;
	for (guint i = c->events->len; i-- > 0;)
		if (t->events[at(c->events, i)].thread == thread)
			return trace_next(t, at(c->events, i));
	struct event_list list = trace_thread_events(t, thread);
	return list.count ? list.items[0] : NONE;
}

static void find_choices(struct chooser *c)
{
	g_array_set_size(c->choices, 0);
	for (uint32_t i = 0; i < c->session->trace->threads_count; i++) {
		struct choice choice = { .thread = i, .event = next_of(c, i) };
		GString *reason = g_string_new(NULL);
		if (choice.event != NONE)
			choice.enabled = checker_enabled(c->checker, choice.event, reason);
		choice.reason = g_string_free(reason, FALSE);
		g_array_append_val(c->choices, choice);
	}
}

static bool replay(struct chooser *c, GString *reason)
{
	if (c->checker)
		checker_free(c->checker);
	c->checker = checker_new(c->session->trace, NULL);
	for (guint i = 0; i < c->events->len; i++)
		if (!checker_step(c->checker, at(c->events, i), reason))
			return false;
	return true;
}

bool chooser_init(struct chooser *c, const struct session *s, const GArray *events, guint count,
                  GString *reason)
{
	*c = (struct chooser){ .session = s };
	c->events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	c->choices = g_array_new(FALSE, FALSE, sizeof(struct choice));
	g_array_set_clear_func(c->choices, choice_clear);
	if (count)
		g_array_append_vals(c->events, events->data, count);
	if (!replay(c, reason))
		return false;
	find_choices(c);
	return true;
}

void chooser_release(struct chooser *c)
{
	if (c->checker)
		checker_free(c->checker);
	if (c->events)
		g_array_free(c->events, TRUE);
	if (c->choices)
		g_array_free(c->choices, TRUE);
	*c = (struct chooser){ 0 };
}

bool chooser_take(struct chooser *c, uint32_t thread, GString *reason)
{
	uint32_t event = g_array_index(c->choices, struct choice, thread).event;
	if (event == NONE) {
		g_string_append(reason, "the thread has no more events");
		return false;
	}
	if (!checker_step(c->checker, event, reason))
		return false;
	g_array_append_val(c->events, event);
	find_choices(c);
	return true;
}

void chooser_undo(struct chooser *c)
{
	GString *ignored = g_string_new(NULL);
	if (c->events->len)
		g_array_set_size(c->events, c->events->len - 1);
	replay(c, ignored);
	find_choices(c);
	g_string_free(ignored, TRUE);
}

bool chooser_is_at_pair(const struct chooser *c, const uint32_t pair[2])
{
	int found = 0;
	for (guint i = 0; i < c->choices->len; i++) {
		uint32_t event = g_array_index(c->choices, struct choice, i).event;
		found += event != NONE && (event == pair[0] || event == pair[1]);
	}
	return found == 2;
}
