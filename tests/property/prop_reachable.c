/*
 * prop_reachable.c - "is there an order in which the condition holds when a thread comes
 * there?" (engine/predict/reachable.h) against all correct reorderings, listed one by one by
 * the oracle's rules.  Conditions are random sets of (event, last writes); a part of the
 * answers is unknown on purpose.
 */
#include "engine/base/hash.h"
#include "engine/predict/reachable.h"
#include "engine/witness/check.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 11, VARIABLES = 2 };

/* A condition that is a random function of the event and the last writes. */
struct riddle {
	uint64_t seed;
	unsigned yes, unknown; /* of 16 */
};

static enum truth holds(void *self, uint32_t target, const uint32_t *writers)
{
	const struct riddle *r = self;
	uint64_t h = r->seed * 0x9e3779b97f4a7c15u + target;
	for (int v = 0; v < VARIABLES; v++)
		h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u + writers[v] + 1;
	h = (h ^ (h >> 32)) % 16;
	return h < r->yes ? TRUTH_YES : h < r->yes + r->unknown ? TRUTH_UNKNOWN : TRUTH_NO;
}

struct listing {
	const struct trace *t;
	const struct riddle *riddle;
	const GArray *targets;
	uint32_t sequence[MOST], length;
	bool yes, unknown;
};

static void last_writes(const struct trace *t, const uint32_t *sequence, uint32_t length,
                        uint32_t *writers)
{
	for (uint32_t v = 0; v < VARIABLES; v++) {
		writers[v] = NONE;
		for (uint32_t i = 0; i < length; i++) {
			const struct event *e = &t->events[sequence[i]];
			if (!op_is_access(e->op) || !op_writes(e->op) || event_inert(e))
				continue;
			struct wide run = event_variables(t, e);
			if (v >= run.first && v < run.first + run.count)
				writers[v] = sequence[i];
		}
	}
}

static void look(struct listing *l)
{
	uint32_t writers[VARIABLES], done = 0;
	last_writes(l->t, l->sequence, l->length, writers);
	for (uint32_t i = 0; i < l->length; i++)
		done |= 1u << l->sequence[i];
	for (guint i = 0; i < l->targets->len; i++) {
		uint32_t target = g_array_index(l->targets, uint32_t, i);
		if (done >> target & 1 || !oracle_next(l->t, done, target))
			continue;
		enum truth truth = holds((void *)l->riddle, target, writers);
		l->yes |= truth == TRUTH_YES;
		l->unknown |= truth == TRUTH_UNKNOWN;
	}
}

static void list(struct listing *l)
{
	look(l);
	for (uint32_t e = 0; e < l->t->events_count; e++) {
		l->sequence[l->length] = e;
		if (!oracle_is_reordering(l->t, l->sequence, l->length + 1, false))
			continue;
		l->length++;
		list(l);
		l->length--;
	}
}

static int failures;

static void fail(uint64_t seed, const struct trace *t, const char *what)
{
	char *text = trace_text(t);
	if (failures++ < 3)
		printf("seed %lu: %s\n%s", (unsigned long)seed, what, text);
	g_free(text);
}

static bool is_witness(const struct trace *t, const struct riddle *riddle,
                       const struct reachable_answer *a)
{
	uint32_t writers[VARIABLES], done = 0;
	const uint32_t *sequence = (const uint32_t *)(const void *)a->sequence->data;
	for (guint i = 0; i < a->sequence->len; i++)
		done |= 1u << sequence[i];
	last_writes(t, sequence, a->sequence->len, writers);
	GArray *whole = g_array_copy(a->sequence); /* the checker says so, too */
	g_array_append_val(whole, a->target);
	bool accepted = witness_check(t, event_list_of(whole),
	                              claimed_of(CLAIM_REACH, &a->target, 1), NULL, NULL);
	g_array_unref(whole);
	return accepted && oracle_is_reordering(t, sequence, a->sequence->len, false) &&
	       oracle_next(t, done, a->target) &&
	       holds((void *)riddle, a->target, writers) == TRUTH_YES;
}

static enum reachable compare(uint64_t seed, struct trace *t, const struct riddle *riddle,
                              const GArray *targets)
{
	struct listing l = { .t = t, .riddle = riddle, .targets = targets };
	GArray *variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t v = 0; v < VARIABLES; v++)
		g_array_append_val(variables, v);
	struct reachable_question question = { targets, variables, holds, (void *)riddle, 20 };
	struct reachable_answer a;
	struct error error = { 0 };
	list(&l);
	if (!reachable_decide(t, &question, &a, NULL, &error))
		fail(seed, t, "stopped");
	else if (a.kind == REACHABLE_YES && !is_witness(t, riddle, &a))
		fail(seed, t, "its sequence is no witness");
	else if ((a.kind == REACHABLE_YES) != l.yes)
		fail(seed, t, l.yes ? "there is an order" : "there is no order");
	else if (a.kind == REACHABLE_NO && l.unknown)
		fail(seed, t, "a proof, and a value was unknown");
	else if (a.kind == REACHABLE_UNKNOWN && !l.unknown)
		fail(seed, t, "unknown without a reason");
	enum reachable kind = a.kind;
	reachable_release(&a);
	g_array_free(variables, TRUE);
	return kind;
}

int main(void)
{
	uint64_t count = mix_setting("HEDDLE_TRACES", 600), kinds[3] = { 0 };
	uint64_t first = mix_setting("HEDDLE_SEED", 0);

	for (uint64_t seed = first; seed < first + count && failures == 0; seed++) {
		struct random_options o = { .threads = 2 + seed % 2,
			                    .events = MOST - 1,
			                    .variables = VARIABLES,
			                    .locks = 1 + seed % 2 };
		o.forks = seed >> 2 & 1;
		o.joins = seed >> 3 & 1;
		o.semaphores = seed >> 4 & 1;
		o.atomics = seed >> 5 & 1;
		struct trace *t = random_trace(seed, &o);
		if (t->events_count > MOST || t->variables_count < VARIABLES) {
			trace_close(t);
			continue;
		}
		struct riddle riddle = { seed, 1 + seed % 3, seed % 5 == 0 };
		GArray *targets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		for (uint32_t e = (uint32_t)(seed % 3); e < t->events_count; e += 2 + seed % 4)
			if (!event_inert(&t->events[e]))
				g_array_append_val(targets, e);
		kinds[compare(seed, t, &riddle, targets)]++;
		g_array_free(targets, TRUE);
		trace_close(t);
	}
	printf("reachable: %lu yes, %lu no, %lu unknown\n", (unsigned long)kinds[REACHABLE_YES],
	       (unsigned long)kinds[REACHABLE_NO], (unsigned long)kinds[REACHABLE_UNKNOWN]);
	return failures != 0 ||
	       (count >= 600 && (kinds[0] == 0 || kinds[1] == 0 || kinds[2] == 0));
}
