/* serial.c - see serial.h. */
#include "engine/base/compare.h"
#include "engine/harm/serial.h"

#include "engine/harm/trial.h"

#include <stdlib.h>
#include <string.h>

enum way { BETWEEN, BEHIND, BEFORE, ALONE, LAST, WHOLE, WAYS };
/* BETWEEN: A, the other section, B.  BEHIND: A, B, the other.  BEFORE: the other, A, B.  ALONE:
 * the thread of A and B goes first to its end.  LAST: the other thread does.  WHOLE: from the
 * beginning every thread goes on as long as it can, the first one first. */

/* The heap is not compared: the order of links in it is decided outside of the units. */
enum { COMPARED = OUTCOME_ALL & ~OUTCOME_HEAP };

struct serial {
	struct trial x;
	struct trace *t;
	const struct mined *m;
	uint32_t *cut; /* by thread: how many of its events the prefix has */
	bool seen;     /* the prefix contains the writes that its reads saw */
};

/* -- prefixes ------------------------------------------------------------------------------ */

static uint32_t position(const struct serial *s, uint32_t event)
{
	return s->t->index->position[event];
}

static void include(struct serial *s, uint32_t event, bool *more)
{
	uint32_t *cut = &s->cut[s->t->events[event].thread];

	if (position(s, event) < *cut)
		return;
	*cut = position(s, event) + 1;
	*more = true;
}

static bool is_in(const struct serial *s, uint32_t event)
{
	return position(s, event) < s->cut[s->t->events[event].thread];
}

static void include_sources(struct serial *s, uint32_t event, bool *more)
{
	struct must_sources sources = must_sources(s->t, event);
	struct must_edge edge;

	while (must_sources_next(&sources, &edge))
		include(s, edge.before, more);
}

/* Close the cut under must-order, and where `seen` is set, under the writes that were read. */
static void close_cut(struct serial *s)
{
	const struct trace *t = s->t;
	bool more = true;

	while (more) {
		more = false;
		for (uint64_t i = 0; i < t->index->must_count; i++)
			if (is_in(s, t->index->must[i].after) &&
			    t->index->must[i].rule != MUST_SHARED)
				include(s, t->index->must[i].before, &more);
			else if (is_in(s, t->index->must[i].after))
				include_sources(s, t->index->must[i].after, &more);
		for (uint32_t e = 0; s->seen && e < t->events_count; e++)
			if (op_is_access(t->events[e].op) && op_reads(t->events[e].op) &&
			    !(t->events[e].flags & EVENT_WIDE) && is_in(s, e) &&
			    t->index->writer[e] != NONE)
				include(s, t->index->writer[e], &more);
	}
}

/* Thread A up to `a` and the other thread up to `b`, both without these events where `with` is
 * not set; false where one needs more of the other. */
static bool cut_at(struct serial *s, uint32_t a, bool with_a, uint32_t b, bool with_b)
{
	uint32_t first = position(s, a) + with_a, second = position(s, b) + with_b;
	uint32_t one = s->m->a.thread, other = s->m->other.thread;

	memset(s->cut, 0, (s->t->threads_count + 1) * sizeof(*s->cut));
	s->cut[one] = first;
	s->cut[other] = second;
	close_cut(s);
	return s->cut[one] == first && s->cut[other] == second;
}

/* The events of the cut that `sequence` has not, in their recorded order. */
static void append_cut(const struct serial *s, GArray *sequence, bool *there)
{
	for (uint32_t e = 0; e < s->t->events_count; e++) {
		if (there[e] || !is_in(s, e) || op_wants(s->t->events[e].op))
			continue;
		there[e] = true;
		g_array_append_val(sequence, e);
	}
}

/* The steps of a way before the program runs freely, and the thread that runs first then. */
static bool make_sequence(struct serial *s, enum way way, GArray *sequence, uint32_t *next)
{
	const struct mined *m = s->m;
	bool *there = g_new0(bool, s->t->events_count + 1), good = false;

	*next = m->a.thread;
	memset(s->cut, 0, (s->t->threads_count + 1) * sizeof(*s->cut));
	switch (way) {
	case BETWEEN:
		good = cut_at(s, m->b.begin, false, m->other.begin, false);
		append_cut(s, sequence, there);
		if (m->unrecorded) /* it goes on by itself */
			*next = m->other.thread;
		else
			good = good && cut_at(s, m->b.begin, false, m->other.end, true);
		break;
	case BEHIND:
		good = cut_at(s, m->end, true, m->other.begin, false);
		*next = m->other.thread;
		break;
	case BEFORE:
		good = cut_at(s, m->begin, false, m->other.end, true);
		break;
	case ALONE:
	case LAST:
		good = cut_at(s, m->begin, false, m->other.begin, false);
		*next = way == ALONE ? m->a.thread : m->other.thread;
		break;
	case WHOLE:
		good = true; /* of an empty cut */
		break;
	case WAYS:
		break;
	}
	append_cut(s, sequence, there);
	g_free(there);
	return good;
}

/* -- running ------------------------------------------------------------------------------- */

static bool run_way(struct serial *s, enum way way, struct outcome *outcome)
{
	g_autoptr(GArray) sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	const uint32_t no_pair[2] = { NONE, NONE };
	g_autofree char *why = NULL;
	uint32_t next;
	bool good = make_sequence(s, way, sequence, &next) &&
	            plan_make(s->t, (const uint32_t *)(void *)sequence->data, sequence->len,
	                      no_pair, &s->x.plan, s->x.error);

	if (good) {
		s->x.plan.strategy = STRATEGY_FIRST;
		s->x.plan.timeout_ms = s->x.o->timeout_ms;
		s->x.plan.explore = true;
		if (way != WHOLE)
			plan_go_on(&s->x.plan, s->t, next);
		good = trial_run(&s->x, 0, outcome, &why);
		plan_release(&s->x.plan);
	}
	return good;
}

/* Lines are compared as a set: their order is decided outside of the units. */
static void sort_lines(struct outcome *o)
{
	g_auto(GStrv) lines = g_strsplit(g_strchomp(o->printed), "\n", -1);

	qsort(lines, g_strv_length(lines), sizeof(*lines), compare_texts);
	g_free(o->printed);
	o->printed = g_strjoinv("\n", lines);
}

static void compare(struct serial *s, struct outcome *outcomes, const bool *ran,
                    struct harm_verdict *v)
{
	enum way against = WAYS;
	unsigned differ = COMPARED;

	for (enum way way = BETWEEN; way < WAYS; way++)
		if (ran[way])
			sort_lines(&outcomes[way]);
	for (enum way way = BEHIND; way < WAYS && differ != 0; way++) {
		if (!ran[way])
			continue;
		differ = outcome_differs(&outcomes[BETWEEN], &outcomes[way]) & COMPARED;
		if (against == WAYS)
			against = way;
	}
	if (differ == 0)
		harm_settle(v, HARM_SAME, NULL);
	else
		harm_settle_difference(v, &outcomes[BETWEEN], &outcomes[against], COMPARED);
}

/* Does the order between have the same outcome when it is run again? */
static bool is_stable(struct serial *s, const struct outcome *before)
{
	struct outcome again = { 0 };
	bool same = run_way(s, BETWEEN, &again);

	if (same) {
		sort_lines(&again);
		same = (outcome_differs(before, &again) & COMPARED) == 0;
	}
	outcome_release(&again);
	return same;
}

bool serial_find(struct trace *t, const struct mined *m, const struct harm_options *options,
                 struct harm_verdict *v, struct error *error)
{
	struct serial s = { .x = { .o = options, .t = t, .error = error },
		            .t = t,
		            .m = m,
		            .cut = g_new0(uint32_t, t->threads_count + 1),
		            .seen = true };
	struct outcome outcomes[WAYS] = { 0 };
	bool ran[WAYS] = { false };
	struct harm_options quiet = *options;

	harm_settle(v, HARM_UNFOLLOWED, g_strdup("the program did not go so"));
	if (!trace_need(t, INDEX_THREADS | INDEX_MUST | INDEX_WRITERS, NULL) ||
	    !trial_open(&s.x)) {
		g_free(s.cut);
		return false;
	}
	ran[BETWEEN] = run_way(&s, BETWEEN, &outcomes[BETWEEN]);
	if (!ran[BETWEEN] && !s.x.broken) {
		s.seen = false; /* try without the other threads' earlier writes */
		outcome_release(&outcomes[BETWEEN]);
		ran[BETWEEN] = run_way(&s, BETWEEN, &outcomes[BETWEEN]);
	}
	quiet.ran = NULL; /* not for the callback: other runs show units in series */
	s.x.o = &quiet;
	for (enum way way = BEHIND; way < WAYS && ran[BETWEEN] && !s.x.broken; way++)
		ran[way] = run_way(&s, way, &outcomes[way]);
	if (ran[BETWEEN] && ran[WHOLE] &&
	    (ran[BEHIND] || ran[BEFORE] || ran[ALONE] || ran[LAST])) {
		compare(&s, outcomes, ran, v);
		if (v->harm == HARM_DIFFERS && !is_stable(&s, &outcomes[BETWEEN]))
			harm_settle(v, HARM_UNFOLLOWED,
			            g_strdup("one schedule, run twice, has two outcomes"));
	}
	for (enum way way = BETWEEN; way < WAYS; way++)
		outcome_release(&outcomes[way]);
	trial_close(&s.x);
	g_free(s.cut);
	return !s.x.broken;
}
