/*
 * breakpoints.c - running to breakpoints over the recorded trace, forward and back: places,
 * accesses, conditions.
 */
#include "tui/explorer/session.h"

void breakpoint_free(struct breakpoint *b)
{
	g_free(b->text);
	if (b->sites)
		g_array_free(b->sites, TRUE);
	stop_condition_free(b->condition);
	g_free(b);
}

static bool is_at(const struct breakpoint *b, uint32_t location)
{
	for (guint i = 0; i < b->sites->len; i++)
		if (g_array_index(b->sites, uint32_t, i) == location)
			return true;
	return false;
}

/* Is it the first event of a call of the function, or the entry of a call without events? */
static bool begins(const struct session *s, uint32_t function, uint32_t event)
{
	const struct event *e = s->trace->events;
	uint32_t before = session_next_thread(s, event, -1), next;
	bool leaves = e[event].op == OP_LEAVE;
	if (before != NONE && e[before].op == OP_ENTER && e[before].target == function)
		return !leaves;
	if (e[event].op != OP_ENTER || e[event].target != function)
		return false;
	next = session_next_thread(s, event, 1);
	return next == NONE || e[next].op == OP_LEAVE;
}

static bool stands_here(const struct session *s, const struct breakpoint *b, uint32_t event)
{
	const struct trace *t = s->trace;
	const struct event *e = &t->events[event];
	if (b->variable != NONE) {
		struct wide w =
		        op_is_access(e->op) ? event_variables(t, e) : (struct wide){ 0 };
		return ((b->writes && op_writes(e->op)) || (b->reads && op_reads(e->op))) &&
		       b->variable - w.first < w.count;
	}
	if (b->function != NONE)
		return begins(s, b->function, event);
	return is_at(b, e->location);
}

static bool true_at(const struct session *s, const struct breakpoint *b, uint32_t event)
{
	return b->condition == NULL || stop_condition_holds(s, b->condition, event);
}

/* Does it stop at the event: the first of a line, or the one that makes the condition true? */
static bool stops_at(const struct session *s, const struct breakpoint *b, uint32_t event)
{
	const struct trace *t = s->trace;
	if (!stands_here(s, b, event) || !true_at(s, b, event))
		return false;
	if (b->variable != NONE || b->function != NONE)
		return true;
	uint32_t before = session_next_thread(s, event, -1);
	if (b->whole && before != NONE && is_at(b, t->events[before].location))
		return b->condition && !true_at(s, b, before);
	if (before == NONE || t->locations[t->events[before].location].site !=
	                              t->locations[t->events[event].location].site)
		return true;
	return b->condition && !true_at(s, b, before);
}

uint32_t session_run(struct session *s, uint32_t event, int direction, struct breakpoint **hit)
{
	for (uint32_t e = event; (e = session_next_event(s, e, direction)) != NONE;) {
		for (guint i = 0; i < s->breakpoints->len; i++) {
			struct breakpoint *b = s->breakpoints->pdata[i];
			if (b->disabled || !stops_at(s, b, e))
				continue;
			if (hit)
				*hit = b;
			return e;
		}
	}
	return NONE;
}
