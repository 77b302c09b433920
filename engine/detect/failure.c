/* failure.c - see failure.h. */
#include "engine/detect/failure.h"

#include "engine/trace/ending.h"

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

/* One thread runs at a time in a controlled recording: who did the last event failed. */
static uint32_t last_thread(const struct trace *t)
{
	return t->events_count > 0 ? t->events[t->events_count - 1].thread : NONE;
}

/* A failed assertion is at its own line, which need not have an event: one of that line and
 * thread where there is one. */
static uint32_t assertion_event(const struct trace *t, const char *assertion)
{
	size_t length = strcspn(assertion, " ");
	uint32_t thread = last_thread(t);

	for (uint64_t e = t->events_count; e-- > 0;) {
		const char *place = trace_location_name(t, (uint32_t)e);

		if (t->events[e].thread == thread && strncmp(place, assertion, length) == 0 &&
		    (place[length] == '\0' || place[length] == ':'))
			return (uint32_t)e;
	}
	return last_event(t, thread);
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

static struct finding *by_signal(const struct trace *t, int signal)
{
	const char *assertion = trace_note(t, ASSERTION_NOTE);
	GString *story = g_string_new(NULL);

	if (signal == SIGABRT && assertion != NULL) {
		size_t length = strcspn(assertion, " ");
		const char *condition = assertion + length + (assertion[length] == ' ');

		g_string_append(story, "The assertion ");
		append_escaped(story, condition, strlen(condition));
		g_string_append(story, " fails at ");
		append_escaped(story, assertion, length);
		return failure(FINDING_ASSERTION, assertion_event(t, assertion), story);
	}
	g_string_append_printf(story, "The program crashes: signal %d (%s)", signal,
	                       strsignal(signal));
	return failure(FINDING_CRASH, last_event(t, last_thread(t)), story);
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
		return failure(FINDING_EXIT, last_event(t, last_thread(t)), story);
	default:
		return NULL;
	}
}
