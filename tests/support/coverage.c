/* coverage.c - see coverage.h. */
#include "tests/support/coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static GHashTable *counts; /* name -> uint64_t *, owned */
static pid_t owner;        /* a test runs in a child of its suite: each counts for itself */

static void write_counts(void)
{
	const char *path = getenv("HEDDLE_COVERAGE");
	GHashTableIter i;
	void *name, *count;
	FILE *out = owner == getpid() ? fopen(path, "a") : NULL;
	GString *text = g_string_new(NULL);

	if (out == NULL)
		return;
	g_hash_table_iter_init(&i, counts);
	while (g_hash_table_iter_next(&i, &name, &count))
		g_string_append_printf(text, "%s\t%" G_GUINT64_FORMAT "\n", (const char *)name,
		                       *(uint64_t *)count);
	fwrite(text->str, 1, text->len, out); /* one write: other tests append, too */
	fclose(out);
	g_string_free(text, TRUE);
}

void coverage_add(const char *name, uint64_t count)
{
	if (count == 0 || getenv("HEDDLE_COVERAGE") == NULL)
		return;
	if (owner != getpid()) {
		counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
		owner = getpid();
		atexit(write_counts);
	}
	uint64_t *sum = g_hash_table_lookup(counts, name);
	if (sum == NULL) {
		sum = g_new0(uint64_t, 1);
		g_hash_table_insert(counts, g_strdup(name), sum);
	}
	*sum += count;
}

/* Depth of open sections, invocations and barrier pairs at the end, and how deep they nest. */
static void count_nesting(const struct trace *t)
{
	uint32_t held = 0, missing = 0, most_held = 0, most_missing = 0;

	for (uint32_t e = 0; e < t->events_count; e++) {
		uint8_t op = t->events[e].op;

		if (event_inert(&t->events[e]))
			continue;
		held += op == OP_ACQ || op == OP_RACQ;
		held -= op == OP_REL || op == OP_RREL;
		missing += op == OP_MISS;
		missing -= op == OP_BACK;
		most_held = MAX(most_held, held);
		most_missing = MAX(most_missing, missing);
	}
	coverage_add("traces with a section open at the end", held > 0);
	coverage_add("traces with two locks held at once", most_held > 1);
	coverage_add("traces with two barrier pairs open at once", most_missing > 1);
}

struct trace *coverage_trace(struct trace *t)
{
	bool has[OP_COUNT] = { false }, tried[OP_COUNT] = { false }, inert = false,
	     wide = false, text = false, nil = false;

	if (t == NULL || getenv("HEDDLE_COVERAGE") == NULL)
		return t;
	for (uint32_t e = 0; e < t->events_count; e++) {
		has[t->events[e].op] = true;
		tried[t->events[e].op] |= event_is_try(&t->events[e]);
		inert |= event_inert(&t->events[e]);
		wide |= t->events[e].flags & EVENT_WIDE;
	}
	coverage_add("traces", 1);
	coverage_add("events", t->events_count);
	coverage_add("traces with three threads or more", t->threads_count > 2);
	coverage_add("traces with re-entrant acquires", inert);
	coverage_add("traces with overlapping accesses", wide);
	for (int op = 0; op < OP_COUNT; op++) {
		char name[64];

		g_snprintf(name, sizeof name, "traces with %s", op_table[op].word);
		coverage_add(name, has[op]);
		g_snprintf(name, sizeof name, "traces with %s",
		           op_table[op].tried ? op_table[op].tried : "");
		coverage_add(name, tried[op]);
	}
	for (uint32_t v = 1; v < t->values_count; v++) {
		text |= trace_value(t, v).kind == V_STRING;
		nil |= trace_value(t, v).kind == V_NIL;
	}
	coverage_add("traces with values that are strings", text);
	coverage_add("traces with the value nil", nil);
	count_nesting(t);
	return t;
}
