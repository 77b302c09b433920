/*
 * prop_suspects.c - the variables that can race, found while a trace is checked
 * (first_suspects) and from its index (race_suspects): the same ones, of random traces with
 * every feature, which come in blocks of any length, with the marks of the check and with more.
 * The program's own accesses to parts of locks, looked for beside the pass, are the same, too,
 * and the operations of waits that it collects are those of the trace.
 */
#include "engine/predict/pairs/pairs.h"
#include "engine/trace/index.h"
#include "engine/trace/storage.h"
#include "engine/trace/wait_events.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <string.h>

static uint64_t compared, suspicious, ordered, beside, waits;

/* May the event make a difference to the must-order? As trace_watch has it. */
static bool is_marked(const struct trace *t, uint32_t e, bool *used)
{
	const struct event *x = &t->events[e];

	if (!event_simple(x) || e == 0 || !event_simple(&x[-1]) || x[-1].thread != x->thread)
		return true;
	uint32_t block = t->variables[x->target].block;
	return block != NONE && !used[(uint64_t)block * t->threads_count + x->thread];
}

static void note_use(const struct trace *t, uint32_t e, bool *used)
{
	const struct event *x = &t->events[e];
	uint32_t block = event_simple(x) ? t->variables[x->target].block : NONE;

	if (block != NONE && t->blocks[block].alloc < e)
		used[(uint64_t)block * t->threads_count + x->thread] = true;
}

/* The trace's events, in blocks of up to `most` events; of the events that need no mark one in
 * `every` has one. */
static void pass_blocks(const struct trace_watch *watch, struct trace *t, uint32_t most,
                        uint32_t every)
{
	g_autofree bool *used = g_new0(bool, t->blocks_count * t->threads_count + 1);
	g_autofree uint16_t *marks = g_new(uint16_t, most);

	watch->begin(watch->context, t);
	for (uint32_t first = 0; first < t->events_count; first += most) {
		uint32_t count = MIN(most, (uint32_t)t->events_count - first), marked = 0;

		for (uint32_t i = 0; i < count; i++) {
			if (is_marked(t, first + i, used) || (first + i) % every == 0)
				marks[marked++] = (uint16_t)i;
			note_use(t, first + i, used);
		}
		watch->block(watch->context, first, count, marks, marked);
	}
}

/* The operations of waits that the pass collected, against a walk over all events. */
static bool has_waits(struct trace *t)
{
	GArray *collected = g_steal_pointer(&t->storage->wait_events);
	g_autoptr(GArray) expected = g_array_new(FALSE, FALSE, sizeof(struct wait_walk));
	bool good = collected != NULL;
	guint i = 0;

	for (struct wait_walk w = wait_walk(t); wait_walk_next(&w);)
		g_array_append_val(expected, w);
	t->storage->wait_events = collected;
	for (struct wait_walk w = wait_walk(t); good && wait_walk_next(&w); i++) {
		const struct wait_walk *e = &g_array_index(expected, struct wait_walk, i);

		good = i < expected->len && e->number == w.number &&
		       memcmp(e->event, w.event, sizeof *w.event) == 0;
	}
	waits += i;
	return good && i == expected->len;
}

static bool one(uint64_t seed)
{
	struct random_options options = mix_options(seed, 2 + seed % 4, 10 + seed % 60);
	g_autofree char *text = random_text(seed, &options);
	struct error error;
	struct trace *t = trace_from_text("suspects", text, strlen(text), NULL, &error);
	struct first_suspects *first = first_suspects_new();
	g_autofree uint64_t *watched = NULL, *expected = NULL;
	uint64_t count = 0, expected_count;

	if (t == NULL) {
		printf("%s: %s\n", error.where, error.what);
		return false;
	}
	mix_clocks(seed);
	mix_parts(t, seed);
	pass_blocks(first_suspects_watch(first), t, 1 + seed % 23, 1 + seed % 7);
	bool good = first_suspects_take(first, t, false, &watched, &count);
	const struct sync_use *known = good ? sync_use_known(t) : NULL;
	struct sync_use use = known != NULL ? *known : (struct sync_use){ NONE, NONE };
	t->storage->sync_use_known = false;
	race_suspects(t, false, &expected, &expected_count, NULL);
	if (known == NULL || sync_use_known(t) == NULL || known->access != use.access ||
	    known->operation != use.operation) {
		printf("accesses to parts of objects are not looked for, or differ:\n%s\n",
		       text);
		good = false;
	}
	beside += use.access != NONE;
	good = good && count == expected_count &&
	       memcmp(watched, expected, (t->variables_count / 64 + 1) * sizeof *watched) == 0;
	if (!good)
		printf("%lu suspects while it is checked, %lu from the index:\n%s\n",
		       (unsigned long)count, (unsigned long)expected_count, text);
	if (!has_waits(t)) {
		printf("the operations of waits differ:\n%s\n", text);
		good = false;
	}
	compared++;
	suspicious += count > 0;
	ordered += t->index->must_count > 0;
	first_suspects_free(first);
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "suspects", 3000, one);

	printf("suspects: %lu traces, %lu with suspects, %lu with must-order edges, %lu with "
	       "accesses to parts of objects beside a use; %lu operations of waits\n",
	       (unsigned long)compared, (unsigned long)suspicious, (unsigned long)ordered,
	       (unsigned long)beside, (unsigned long)waits);
	if (compared >= 100 && (suspicious * 10 < compared || ordered * 4 < compared ||
	                        beside * 10 < compared || waits < compared))
		status = 1;
	return status;
}
