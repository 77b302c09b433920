/*
 * prop_text.c - a trace written as text and read again is the same trace: all tables, each
 * event's flags, and its notes, for random traces with the flags that recordings set.
 */
#include "engine/trace/formats.h"
#include "engine/trace/storage.h"
#include "tests/property/mix.h"
#include "tests/support/coverage.h"

#include <stdio.h>
#include <string.h>

/* The flags that a recording may set beside those of the operation's word (event.h). */
static uint8_t flag_of(enum op op)
{
	switch (op) {
	case OP_READ:
	case OP_WRITE:
	case OP_AREAD:
	case OP_AWRITE:
	case OP_RMW:
		return EVENT_VOLATILE;
	case OP_TRYFAIL:
		return EVENT_SHARED;
	case OP_RET:
		return EVENT_LEFT;
	case OP_ACQ:
	case OP_RACQ:
	case OP_TAKE:
	case OP_RCV:
	case OP_WAIT:
	case OP_WAKE:
	case OP_SND:
		return EVENT_TRY;
	default:
		return 0;
	}
}

static struct trace *with_flags(const struct trace *t, uint64_t seed)
{
	struct trace *view = trace_reading(t);
	struct event *events = g_memdup2(t->events, (t->events_count + 1) * sizeof *events);
	GRand *random = g_rand_new_with_seed((guint32)seed);

	for (uint64_t e = 0; e < t->events_count; e++) {
		if (g_rand_int_range(random, 0, 4) == 0)
			events[e].flags |= flag_of(events[e].op);
	}
	view->events = trace_own(view, events);
	view->complete &= g_rand_int_range(random, 0, 4) != 0;
	view->filtered = g_rand_int_range(random, 0, 4) == 0;
	view->order_exact = g_rand_int_range(random, 0, 4) != 0;
	g_rand_free(random);
	return view;
}

static bool same(const struct trace *a, const struct trace *b)
{
	const char *differs = NULL;

#define TABLE(member, type) \
	if (a->member##_count != b->member##_count || \
	    (a->member##_count > 0 && \
	     memcmp(a->member, b->member, a->member##_count * sizeof(type)) != 0)) \
		differs = #member;
	TRACE_TABLES(TABLE)
#undef TABLE
	if (a->complete != b->complete || a->filtered != b->filtered ||
	    a->values_exact != b->values_exact || a->locks_taken != b->locks_taken ||
	    a->order_exact != b->order_exact)
		differs = "what the trace says of itself";
	if (differs)
		printf("%s: not the same\n", differs);
	return differs == NULL;
}

/* The trace by way of its text; NULL where that is refused. */
static struct trace *through_text(const struct trace *t, GString *text)
{
	struct error error = { .what = "" };

	g_string_truncate(text, 0);
	trace_print(t, TRACE_TEXT, NULL, text, NULL);
	struct trace *read = trace_from_text("text", text->str, text->len, NULL, &error);
	if (read == NULL)
		printf("%s\n", error.what);
	return read;
}

static bool one(uint64_t seed)
{
	struct random_options o = mix_options(seed, 2 + seed % 5, 5 + seed % 40);
	GString *text = g_string_new(NULL);
	struct trace *random = random_trace(seed, &o);
	/* strings are numbered by their place in the text */
	struct trace *first = through_text(random, text);
	bool good = first != NULL && random->events_count == first->events_count;

	for (uint64_t e = 0; good && e < first->events_count; e++)
		good = random->events[e].op == first->events[e].op &&
		       random->events[e].flags == first->events[e].flags;
	struct trace *flagged = good ? with_flags(first, seed) : NULL;
	struct trace *second = good ? through_text(flagged, text) : NULL;
	good = good && second != NULL && same(flagged, second);
	if (!good)
		printf("%s", text->str);
	coverage_add("events written and read", random->events_count);
	trace_close(second);
	trace_close(flagged);
	trace_close(first);
	trace_close(random);
	g_string_free(text, TRUE);
	return good;
}

int main(int argc, char **argv)
{
	return mix_main(argc, argv, "text and back", 3000, one);
}
