/*
 * explore_limits.c - limits of time, reasons for incompleteness and other notes, each reported
 * once.
 */
#include "engine/explore/explore_private.h"
#include "engine/predict/hidden_reads.h"
#include "engine/explore/runs/lifetimes.h"
#include "engine/predict/sync_uses.h"
#include "engine/trace/ending.h"
#include "engine/trace/once.h"
#include "engine/trace/own_code.h"
#include "engine/trace/unexplained.h"

#include <stdlib.h>
#include <string.h>

bool explore_out_of_time(const struct exploration *x)
{
	return x->deadline != 0 && g_get_monotonic_time() > x->deadline;
}

double explore_seconds_left(const struct exploration *x)
{
	return (double)(x->deadline - g_get_monotonic_time()) / G_USEC_PER_SEC;
}

bool explore_is_interrupted(struct exploration *x)
{
	const volatile int *interrupted = x->options->interrupted;
	x->interrupted |= interrupted != NULL && *interrupted;
	if (x->interrupted)
		explore_stop(x, "it was interrupted");
	return x->interrupted;
}

/* Uninstrumented code: its accesses and scheduling points are unknown. */
static void note_missing(struct exploration *x, const struct plan_run *run)
{
	if (run->facts.instrumented == 0 && x->run == 0)
		explore_note_incomplete(
		        x, "the program is not instrumented: what it reads and writes is not "
		           "seen (build it with heddle cc)");
	char *reads = x->run == 0 ? record_left_out_reads(&run->facts, x->trace) : NULL;
	if (reads != NULL)
		explore_note_incomplete(x, reads);
	g_free(reads);
	char *atomic = x->run == 0 ? record_atomic_instructions(&run->facts, x->trace) : NULL;
	if (atomic != NULL)
		explore_note_incomplete(x, atomic);
	g_free(atomic);
	g_autofree char *copies =
	        x->unhooked ? record_unhooked(&run->facts, x->trace, x->unhooked) : NULL;
	if (copies != NULL) {
		explore_note_incomplete(x, copies);
		g_clear_pointer(&x->unhooked, g_hash_table_unref);
	}
	bool beyond = x->options->memory != MEMORY_SC && x->run == 0;
	g_autofree char *fence =
	        beyond ? record_fence_instructions(&run->facts, x->trace) : NULL;
	if (fence != NULL)
		explore_note_incomplete(x, fence);
	for (guint i = 0; i < run->facts.missing->len; i++) {
		uint64_t at = g_array_index(run->facts.missing, uint64_t, i);
		GString *function = g_string_new(NULL);
		record_describe(&run->facts, at + 1, NULL, function);
		char *why = g_strdup_printf(
		        "%s%sof %s, which is not instrumented, is called while other threads "
		        "run: what it does, and orders in which it does otherwise, are not "
		        "explored (instrument it, or bind the function: --spec)",
		        function->str, function->len ? " " : "a function ",
		        record_library(&run->facts, at));
		explore_note_incomplete(x, why);
		g_free(why);
		g_string_free(function, TRUE);
	}
}

/* Names the first store of a bit-field by gcc that writes back neighbouring bits of another
 * thread's: it has read them without a hook, so no event has that read. */
static void note_hidden_reads(struct exploration *x)
{
	const char *place =
	        x->hidden_reads ? hidden_read_find(x->hidden_reads, x->trace) : NULL;
	if (place == NULL)
		return;
	g_autofree char *text = g_strdup_printf(
	        "%s: the store of a bit-field reads the bits beside it, which gcc tells no hook: "
	        "orders in which it finds others there are not looked for (clang tells the read: "
	        "CC=clang heddle cc)",
	        place);
	explore_note_incomplete(x, text);
	g_clear_pointer(&x->hidden_reads, g_hash_table_unref);
}

#define UNEXPLAINED_ORDERS "orders in which this comes earlier or later are not explored"

static bool is_first_unexplained(struct exploration *x, uint32_t read)
{
	return g_hash_table_add(
	        x->errors,
	        g_strdup_printf("unexplained %s", own_code_place_name(x->trace, read)));
}

/* Names the read of static data to which no recorded write was made, if other runs began with
 * another value there. */
static void note_initial(struct exploration *x)
{
	uint32_t read = x->history != NULL ? x->history->otherwise : NONE;
	if (read == NONE || !is_first_unexplained(x, read))
		return;
	g_autoptr(GString) what = g_string_new(NULL);
	trace_append_variable(x->trace, &x->trace->events[read], what);
	g_autofree char *why = g_strdup_printf(
	        "%s, read at %s, has another value than in other runs, and no recorded write: " UNEXPLAINED_WRITER
	        " wrote it; " UNEXPLAINED_ORDERS,
	        what->str, own_code_place_name(x->trace, read));
	explore_note_incomplete(x, why);
}

/* Names the first read at each place that sees what no recorded write wrote. What a variable
 * holds after its end is a finding of its own. */
static void note_unexplained(struct exploration *x)
{
	enum { MOST = 64 };
	g_autoptr(GArray) reads = unexplained_reads(x->trace, MOST);
	struct lifetimes *l = reads->len > 0 ? lifetimes_new(x->trace) : NULL;
	for (guint i = 0; i < reads->len; i++) {
		const struct unexplained_read *r =
		        &g_array_index(reads, struct unexplained_read, i);
		if (lifetimes_ended(l, r->event) != NONE || !is_first_unexplained(x, r->event))
			continue;
		g_autoptr(GString) why = g_string_new(NULL);
		unexplained_append(x->trace, r, why);
		g_string_append(why, ": " UNEXPLAINED_WRITER " wrote it; " UNEXPLAINED_ORDERS);
		explore_note_incomplete(x, why->str);
	}
	lifetimes_free(l);
}

struct lives {
	struct trace *trace;
	struct lifetimes *lifetimes; /* NULL: not needed yet */
};

/* The locals of two calls of functions, one after the other? A use of the former's after its
 * return is a finding of its own. */
static bool is_other_life(void *context, const struct sync_use *u)
{
	struct lives *l = context;
	if (l->lifetimes == NULL)
		l->lifetimes = lifetimes_new(l->trace);
	return lifetimes_apart(l->lifetimes, u->operation, u->access) ||
	       lifetimes_apart(l->lifetimes, u->access, u->operation);
}

/* Names the program's own accesses to a part of a lock, or the like, that another thread may
 * use at the same time. */
static void note_sync_uses(struct exploration *x)
{
	enum { MOST = 64 };
	struct lives lives = { .trace = x->trace };
	const struct sync_uses_options options = {
		.all = true, .most = MOST, .apart = is_other_life, .context = &lives
	};
	g_autoptr(GArray) uses = sync_uses(x->trace, &options, x->progress);
	lifetimes_free(lives.lifetimes);
	x->cancelled |= uses == NULL;
	for (guint i = 0; uses != NULL && i < uses->len; i++) {
		const struct sync_use *u = &g_array_index(uses, struct sync_use, i);
		const char *place = own_code_place_name(x->trace, u->access);
		if (!g_hash_table_add(x->errors, g_strdup_printf("part %s", place)))
			continue;
		g_autoptr(GString) why = g_string_new(NULL);
		sync_use_append(x->trace, u, why);
		g_string_append(why, ": " SYNC_USE_UNSEEN "; orders in which the access finds "
		                     "something else there are not explored");
		explore_note_incomplete(x, why->str);
	}
}

/* A once-function left by an exception, so that others run it again. */
static bool has_failed_once(const struct trace *t)
{
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *s = &t->events[e];
		if (s->op == OP_SND && s->flags & EVENT_TRY && !(s->flags & EVENT_SHARED) &&
		    !once_begins_at(t, e))
			return true;
	}
	return false;
}

/* A restriction of a complete report; each is stated once. */
static void note_restriction(struct exploration *x, const char *note)
{
	if (g_hash_table_add(x->errors, g_strdup(note)))
		g_ptr_array_add(x->report->notes, g_strdup(note));
}

/* A wait that is in no loop goes on after a spurious wake-up, for example. */
static void note_spurious(struct exploration *x)
{
	uint32_t e = 0;
	while (e < x->trace->events_count && x->trace->events[e].op != OP_WAIT)
		e++;
	if (e == x->trace->events_count)
		return;
	x->report->waits = true;
	if (x->options->spurious == 0) {
		note_restriction(
		        x, "spurious wake-ups, which POSIX allows, are not explored "
		           "(--spurious 1: one in a run): here every wait for a condition "
		           "ends by a signal or its time limit");
		return;
	}
	char *most = g_strdup_printf("at most %" G_GUINT32_FORMAT
	                             " spurious wake-up%s in a run %s explored, and none "
	                             "of a wait with a time limit; POSIX allows more",
	                             x->options->spurious, plural(x->options->spurious),
	                             x->options->spurious == 1 ? "is" : "are");
	note_restriction(x, most);
	g_free(most);
}

/* Where a handler runs is explored only where steps are single events of known threads. */
static void note_signals(struct exploration *x)
{
	const struct explore_options *o = x->options;
	bool steps = o->specs != NULL && !o->linearizable;
	bool handles = false;
	for (uint32_t e = 0; e < x->trace->events_count && !handles; e++)
		handles = x->trace->events[e].op == OP_RCV &&
		          x->trace->events[e].flags & EVENT_SHARED;
	if (handles && (steps || o->symmetry))
		explore_note_incomplete(x, "a signal's handler" EXPLORE_ORDER_OPEN);
}

/* Time is virtual in runs: a step takes about the same in all of them. */
static void note_clocks(struct exploration *x)
{
	uint64_t i = 0;
	while (i < x->trace->clocks_count && x->trace->clocks[i].clock == LOG_FUTEX_CLOCK)
		i++;
	if (i < x->trace->clocks_count)
		note_restriction(x,
		                 "the program reads a clock, which shows virtual time: what it "
		                 "does when steps take longer or shorter is not explored");
}

void explore_note_channels(struct exploration *x, const struct history *h)
{
	if (channel_steps_full(h->channels))
		explore_note_incomplete(
		        x,
		        "a pipe or socket may be full in some order (more than 16,384 bytes, "
		        "64 writes or 10 packets that are not read): who waits for room is "
		        "not explored");
	if (h->channels != NULL && x->options->symmetry)
		explore_note_incomplete(
		        x, "pipes and the like, of threads that are alike" EXPLORE_ORDER_OPEN);
	if (h->channels_differ == NONE)
		return;
	g_autofree char *why = g_strdup_printf(
	        "an operation on a pipe, socket or eventfd did something else than others have "
	        "left there (%s): what comes of it may depend on the order, which is not explored",
	        own_code_place_name(x->trace, h->channels_differ));
	explore_note_incomplete(x, why);
}

static void note_lacking(struct exploration *x, const struct plan_run *run)
{
	g_autofree char *lacking = record_lacking(run->facts.happened);
	if (lacking == NULL)
		return;
	char *why = g_strconcat("not recorded, though they ran code of the program: ", lacking,
	                        NULL);
	explore_note_incomplete(x, why);
	g_free(why);
}

void explore_note_limits(struct exploration *x, const struct plan_run *run)
{
	note_missing(x, run);
	note_hidden_reads(x);
	note_unexplained(x);
	note_initial(x);
	note_sync_uses(x);
	note_spurious(x);
	note_clocks(x);
	note_signals(x);
	if (x->history != NULL) /* with --memory there is none */
		explore_note_channels(x, x->history);
	if (has_failed_once(x->trace))
		explore_note_incomplete(
		        x, "a once-function was left by an exception: not every order in "
		           "which others run it again is looked for");
	for (guint i = 0; i < run->facts.unordered->len; i++) {
		char *why =
		        g_strconcat(run->facts.unordered->pdata[i], EXPLORE_ORDER_OPEN, NULL);
		explore_note_incomplete(x, why);
		g_free(why);
	}
	if (run->facts.stolen)
		explore_note_incomplete(
		        x, "a call that blocks is not modelled: schedules are not exact");
	if (trace_note(run->trace, FUTEX_NOTE) != NULL)
		explore_note_incomplete(
		        x, "waits for a futex, by system calls of the program's own: not "
		           "looked for is one that never ends in another order");
	if (run->facts.happened & LOG_FORKED)
		explore_note_incomplete(x, "child processes are not explored");
	note_lacking(x, run);
	if (run->facts.happened & LOG_REUSED)
		explore_note_incomplete(
		        x, "a run frees more than 64 MB, and memory is used again: a use of a "
		           "freed block may be taken for one of the block that came after it");
	if (run->facts.unread)
		explore_note_incomplete(
		        x, "a part of a run's recording could not be read: what its threads "
		           "did then is not known");
	if (run->facts.status == LOG_FULL)
		explore_note_incomplete(
		        x, "a run could not be recorded whole: no space was left for it");
	if (run->facts.status == LOG_LIMIT)
		explore_note_incomplete(
		        x,
		        "a run was recorded up to the limit of a recording's size: its further "
		        "steps are not explored (a smaller input makes shorter runs)");
}

/* A specification without any invocation is a mistake of the user. */
void explore_note_no_invocation(struct exploration *x)
{
	if (x->options->specs == NULL || x->run > 0 || g_hash_table_size(x->plain) > 0 ||
	    (x->view->calls != NULL && x->view->calls->len > 0) ||
	    (x->parts != NULL && x->parts->len > 0))
		return;
	g_ptr_array_add(x->report->notes,
	                g_strdup("the first run has no invocation of a specified object: give "
	                         "the methods bind lines, or tell of them with heddle.h"));
}

void explore_see_finals(struct exploration *x)
{
	const GPtrArray *names = finals_names(x->options->finals);
	for (guint i = 0; i < names->len; i++)
		if (final_range(x->trace, names->pdata[i]).count > 0)
			g_hash_table_add(x->finals_seen, g_strdup(names->pdata[i]));
}

void explore_note_final(struct exploration *x, const char *name)
{
	if (g_hash_table_contains(x->finals_seen, name))
		return;
	char *why = g_strdup_printf("no run that ended reads or writes a variable '%s'", name);
	explore_note_incomplete(x, why);
	g_free(why);
}

void explore_note_peeks(struct exploration *x)
{
	const struct view *v = x->view;
	for (guint i = 0; v->peeks > 0 && i < v->calls->len; i++) {
		const struct view_call *call = &g_array_index(v->calls, struct view_call, i);
		if (call->scope != NULL || call->object == NONE)
			continue;
		char *name = view_object_name(v, call->object);
		char *key = g_strdup_printf("the program looks inside %s", name);
		if (g_hash_table_add(x->errors, key))
			g_ptr_array_add(
			        x->report->notes,
			        g_strdup_printf("%s at %s; only abstract states are covered",
			                        key, trace_location_name(v->t, call->event)));
		g_free(name);
	}
}

void explore_note_atomics(struct exploration *x)
{
	const struct scopes *s = x->view->scopes;
	for (guint i = 0; s != NULL && i < s->atomic->len; i++) {
		char *name = view_object_name(x->view, g_array_index(s->atomic, uint32_t, i));
		char *note = g_strdup_printf("%s is taken to be linearizable: its invocations "
		                             "meet in atomics, with no lock in common",
		                             name);
		if (g_hash_table_add(x->errors, g_strdup(note)))
			g_ptr_array_add(x->report->notes, g_strdup(note));
		g_free(note);
		g_free(name);
	}
}

uint64_t explore_executions(const struct exploration *x)
{
	return x->report->runs->len + x->report->abandoned;
}
