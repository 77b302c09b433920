/* failure.c - see failure.h. */
#include "engine/detect/failure.h"

#include "engine/trace/own_code.h"
#include "engine/trace/ending.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

/* The last event of a thread at a line of the program; NONE: of any thread. */
static uint32_t last_event(const struct trace *t, uint32_t thread)
{
	for (uint64_t e = t->events_count; e-- > 0;) {
		const struct event *x = &t->events[e];

		if ((thread == NONE || x->thread == thread) &&
		    t->locations[x->location].line != 0)
			return (uint32_t)e;
	}
	return t->events_count > 0 ? (uint32_t)t->events_count - 1 : NONE;
}

/* One thread runs at a time in a controlled recording: the thread of the last event failed. */
static uint32_t last_thread(const struct trace *t)
{
	return t->events_count > 0 ? t->events[t->events_count - 1].thread : NONE;
}

static struct finding *failure(enum finding_kind kind, uint32_t event, GString *story)
{
	struct finding *f = finding_new(kind, event, event);

	f->verdict = VERDICT_HAPPENED;
	f->counted_all = true;
	f->by = "recording";
	f->story = g_string_free(story, FALSE);
	return f;
}

static bool is_call_that_ends(const char *function)
{
	return strcmp(function, "exit@libc") == 0 || strcmp(function, "_exit@libc") == 0 ||
	       strcmp(function, "_Exit@libc") == 0 || strcmp(function, "quick_exit@libc") == 0;
}

/* Where the program ended with its status: its last call of exit() or _exit(); or, as main()
 * returned, the last event before that return. */
static uint32_t exit_event(const struct trace *t)
{
	uint32_t before_return = NONE, end = NONE, main_leaves = NONE;
	uint32_t *kind = g_new0(uint32_t, t->string_offsets_count + 1);
	enum { UNKNOWN, OTHER, ENDS, MAIN };

	for (uint64_t e = t->events_count; end == NONE && e-- > 0;) {
		const struct event *x = &t->events[e];
		bool frame = x->op == OP_ENTER || x->op == OP_LEAVE;

		if (frame && kind[x->target] == UNKNOWN) {
			const char *name = trace_string(t, x->target);
			kind[x->target] = is_call_that_ends(name)     ? ENDS
			                  : strcmp(name, "main") == 0 ? MAIN
			                                              : OTHER;
		}
		if (x->op == OP_ENTER && kind[x->target] == ENDS)
			end = (uint32_t)e;
		if (x->thread != 0)
			continue;
		if (x->op == OP_LEAVE && kind[x->target] == MAIN && main_leaves == NONE)
			main_leaves = (uint32_t)e;
		else if (!frame && main_leaves != NONE && before_return == NONE)
			before_return = (uint32_t)e;
	}
	g_free(kind);
	return end != NONE             ? end
	       : before_return != NONE ? before_return
	                               : last_event(t, last_thread(t));
}

static uint32_t thread_named(const struct trace *t, const char *name)
{
	for (uint32_t u = 0; name != NULL && u < t->threads_count; u++)
		if (strcmp(trace_thread_name(t, u), name) == 0)
			return u;
	return NONE;
}

/* A failed assertion is at its own line: the last event of that line, if it has events, of the
 * thread that failed. (Other threads may have gone on before the end.) */
static uint32_t assertion_event(const struct trace *t, const char *assertion)
{
	size_t length = strcspn(assertion, " ");
	struct crash c = trace_crash(t);
	uint32_t named = thread_named(t, c.thread),
	         thread = named == NONE ? last_thread(t) : named;

	g_free(c.thread);
	for (uint64_t e = t->events_count; e-- > 0;) {
		const char *place = trace_location_name(t, (uint32_t)e);

		if (t->events[e].thread == thread && strncmp(place, assertion, length) == 0 &&
		    (place[length] == '\0' || place[length] == ':'))
			return (uint32_t)e;
	}
	return last_event(t, thread);
}

/* The last event of the thread that crashed, at the place of the crash if that has events. */
static uint32_t crash_event(const struct trace *t, const struct crash *c)
{
	uint32_t thread = thread_named(t, c->thread);

	for (uint64_t e = t->events_count; thread != NONE && e-- > 0;)
		if (t->events[e].thread == thread &&
		    strcmp(trace_location_name(t, (uint32_t)e), c->place) == 0)
			return (uint32_t)e;
	return last_event(t, thread == NONE ? last_thread(t) : thread);
}

/* Is the place in the user's own files? */
static bool is_own_place(const struct trace *t, const char *place)
{
	for (uint32_t l = 0; l < t->locations_count; l++) {
		struct frame frame = { t->locations[l].function, l };

		if (strcmp(trace_string(t, t->locations[l].name), place) == 0)
			return own_code_has(t, &frame);
	}
	return true;
}

/* Appends " at a.c:12"; for a place in a library, adds the user's line that called it, or the
 * last one before it. */
static void append_crash_place(const struct trace *t, const struct crash *c, uint32_t event,
                               GString *story)
{
	g_autofree char *own = event != NONE ? own_code_place_text(t, event) : NULL;
	bool there = event != NONE && strcmp(trace_location_name(t, event), c->place) == 0;

	if (there || (own != NULL && *c->place == '\0')) {
		g_string_append_printf(story, *c->place ? " at %s" : ", last seen at %s", own);
	} else if (*c->place) {
		g_string_append(story, " at ");
		append_escaped(story, c->place, strlen(c->place));
		if (own != NULL && !is_own_place(t, c->place))
			g_string_append_printf(story, ", last seen before it at %s",
			                       own_code_place_name(t, event));
	}
}

/* "The program crashes: signal 11 (Segmentation fault), in T1 at a.c:12 (address 0x8)". */
static struct finding *crash(const struct trace *t, int signal, GString *story)
{
	struct crash c = trace_crash(t);
	uint32_t event = c.event != NONE ? c.event : crash_event(t, &c);
	const char *thread = c.thread        ? c.thread
	                     : event != NONE ? trace_thread_name(t, t->events[event].thread)
	                                     : NULL;
	g_string_append_printf(story, "The program crashes: signal %d (%s)", signal,
	                       strsignal(signal));
	if (thread != NULL) {
		g_string_append(story, ", in ");
		append_escaped(story, thread, strlen(thread));
	}
	append_crash_place(t, &c, event, story);
	if (c.address != 0)
		g_string_append_printf(story, " (address 0x%" PRIx64 ")", c.address);
	g_free(c.thread);
	return failure(FINDING_CRASH, event, story);
}

/* Is it a signal by which another process, a terminal or the system ends a program? Whatever
 * sent it, that is no crash: like an exit status, it matters where other runs end otherwise. */
static bool asks_to_end(int signal)
{
	return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT ||
	       signal == SIGKILL;
}

static struct finding *by_signal(const struct trace *t, int signal)
{
	const char *assertion = trace_note(t, ASSERTION_NOTE);
	GString *story = g_string_new(NULL);

	if (asks_to_end(signal)) {
		g_string_printf(story, "The program is ended by signal %d (%s)", signal,
		                strsignal(signal));
		return failure(FINDING_EXIT, last_event(t, last_thread(t)), story);
	}
	if (signal == SIGABRT && assertion != NULL) {
		size_t length = strcspn(assertion, " ");
		const char *condition = assertion + length + (assertion[length] == ' ');

		g_string_append(story, "The assertion ");
		append_escaped(story, condition, strlen(condition));
		g_string_append(story, " fails at ");
		append_escaped(story, assertion, length);
		return failure(FINDING_ASSERTION, assertion_event(t, assertion), story);
	}
	return crash(t, signal, story);
}

struct finding *failure_find(const struct trace *t)
{
	struct ending ending = trace_ending(t);
	GString *story;

	switch (ending.kind) {
	case ENDING_SIGNAL:
		return by_signal(t, ending.number);
	case ENDING_CHECK:
		story = g_string_new("The check does not hold at the end: ");
		append_escaped(story, ending.text, strlen(ending.text));
		return failure(FINDING_ASSERTION, last_event(t, NONE), story);
	case ENDING_EXIT:
		if (ending.number == 0)
			return NULL;
		story = g_string_new(NULL);
		g_string_append_printf(story, "The program ends with exit status %d",
		                       ending.number);
		return failure(FINDING_EXIT, exit_event(t), story);
	default:
		return NULL;
	}
}

int failure_rank(enum finding_kind kind)
{
	switch (kind) {
	case FINDING_CRASH:
	case FINDING_USE_AFTER_FREE:
		return 0;
	case FINDING_DEADLOCK:
	case FINDING_STUCK:
		return 1;
	case FINDING_ASSERTION:
	case FINDING_EXIT:
		return 2;
	default:
		return 3;
	}
}
