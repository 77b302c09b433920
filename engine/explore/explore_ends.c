/*
 * explore_ends.c - the end of a run: the thread that ended the program, unfinished threads, and
 * the last steps before which others may continue.
 */
#include "engine/explore/explore_private.h"

#include <stdlib.h>
#include <string.h>

static bool has_number(const GArray *numbers, uint32_t number)
{
	for (guint i = 0; i < numbers->len; i++)
		if (g_array_index(numbers, uint32_t, i) == number)
			return true;
	return false;
}

/* The thread that ended the program by exit, signal or return from main; or NONE. If all
 * threads come to their own end, no thread did: which one was last makes no difference. */
uint32_t explore_ender(const struct exploration *x, const struct plan_run *run)
{
	uint32_t status = run->facts.status;
	if (status == LOG_DEADLOCK || status == LOG_CUT || run->result.timed_out ||
	    has_number(run->facts.ended, run->facts.holder))
		return NONE;
	for (uint32_t i = 0; i < x->trace->threads_count; i++)
		if (x->trace->threads[i].recorded == run->facts.holder)
			return i;
	return NONE;
}

/* Threads that had not ended, except the one that ended the program. */
bool *explore_unfinished(const struct exploration *x, const struct plan_run *run)
{
	const struct trace *t = x->trace;
	bool *on = g_new0(bool, t->threads_count + 1);
	uint32_t ender = explore_ender(x, run);
	for (uint32_t i = 0; i < t->threads_count; i++)
		on[i] = i != ender && !has_number(run->facts.ended, t->threads[i].recorded);
	return on;
}

/* Is the event invisible to other threads? */
static bool has_no_effect(const struct trace *t, uint32_t e)
{
	enum op op = t->events[e].op;
	if (event_inert(&t->events[e]) || op_table[op].class == OP_CLASS_MARKER ||
	    op_table[op].class == OP_CLASS_SCOPE)
		return true;
	if (op_is_access(op))
		return !op_writes(op);
	return op_table[op].use == USE_LOCK || op == OP_JOIN;
}

/*
 * Find the end of the ending thread: its last event, and where its invisible events begin
 * (reads, and critical sections with reads only). Other threads' steps after these may as well
 * come before. Without invisible events, others continue between the last event and the end, if
 * the thread reached a scheduling point there (exit, abort).
 */
void explore_find_end(const struct exploration *x, const struct plan_run *run,
                      struct reversal_limits *limits)
{
	const struct trace *t = x->view->t;
	uint32_t ender = explore_ender(x, run), open = 0, last = NONE;
	if (ender == NONE || !trace_need(x->view->t, INDEX_THREADS | INDEX_MATCH, NULL))
		return;
	struct event_list mine = trace_thread_events(t, ender);
	for (uint64_t i = mine.count; i-- > 0;) {
		uint32_t e = mine.items[i];
		bool step = g_array_index(x->history->step_of, uint32_t, e) != NONE;
		if (step && last == NONE)
			last = e;
		if (!has_no_effect(t, e))
			break;
		open += step && op_releases(t->events[e].op);
		open -= step && op_acquires(t->events[e].op) && t->index->partner[e] != NONE;
		if (step && open == 0)
			limits->tail = e;
	}
	if (limits->tail == NONE &&
	    !has_number(run->facts.ends, x->trace->threads[ender].recorded))
		limits->tail = last;
	if (limits->tail != NONE)
		limits->end = last;
}

/* Note, once, threads cut off by the end of the program. */
void explore_note_cut_off(struct exploration *x, const struct plan_run *run,
                          const struct explore_run *r)
{
	static const char key[] = "a thread that was cut off";
	bool *on = explore_unfinished(x, run);
	uint32_t ender = explore_ender(x, run), one = 0;
	while (one < x->trace->threads_count && !on[one])
		one++;
	bool whole = run->facts.status != LOG_LIMIT && run->facts.status != LOG_FULL;
	if (whole && (r->end == EXPLORE_FINE || r->end == EXPLORE_STATUS) && ender != NONE &&
	    one < x->trace->threads_count && g_hash_table_add(x->errors, g_strdup(key)))
		g_ptr_array_add(
		        x->report->notes,
		        g_strdup_printf(
		                "%s ends the program while %s has not come to its end (run "
		                "%u): that thread's further steps are in runs where the "
		                "program ends later",
		                trace_thread_name(x->trace, ender),
		                trace_thread_name(x->trace, one), x->run));
	g_free(on);
}
