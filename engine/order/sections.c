/*
 * sections.c - the open critical sections of each thread. Edges: guards.c, rule (a), and
 * nested.c, rule (b).
 */
#include "engine/order/rules.h"

#include "engine/base/scattered.h"

#include <string.h>

struct sections *sections_new(struct causality *c, bool ordered)
{
	struct sections *s = g_new0(struct sections, 1);
	const struct trace *t = c->t;

	c->depth = g_new0(uint32_t, t->threads_count + 1);
	s->t = t;
	s->threads = t->threads_count;
	s->overlap = t->locks_taken;
	s->inside = g_new0(struct open_section, s->threads + 1);
	s->holding = g_new0(struct held_sections, s->threads + 1);
	s->is_shared = g_new0(bool, t->objects_count + 1);
	s->capacity = 64;
	s->list = g_new0(struct section_end, s->capacity);
	s->clocks = g_new0(uint32_t, s->capacity);
	s->count = 1;
	rule_a_new(s, t);
	if (ordered)
		rule_b_new(s, c->clocks.wide);
	return s;
}

void sections_free(struct sections *s)
{
	if (s == NULL)
		return;
	rule_a_free(s);
	rule_b_free(s->rule_b);
	for (uint64_t i = 0; i < s->threads; i++) {
		for (uint32_t k = 0; k < s->holding[i].count; k++) {
			if (s->holding[i].held[k].late != NULL)
				g_array_free(s->holding[i].held[k].late, TRUE);
		}
		g_free(s->holding[i].held);
	}
	g_free(s->holding);
	g_free(s->inside);
	g_free(s->is_shared);
	g_free(s->list);
	g_free(s->clocks);
	g_free(s);
}

static uint32_t section_new(struct sections *s, uint32_t thread, uint32_t release)
{
	if (s->count == s->capacity) {
		s->capacity *= 2;
		s->list = scattered_realloc(s->list, s->count * sizeof(struct section_end),
		                            s->capacity * sizeof(struct section_end));
		s->clocks = scattered_realloc(s->clocks, s->count * sizeof(uint32_t),
		                              s->capacity * sizeof(uint32_t));
	}
	s->list[s->count] =
	        (struct section_end){ release == NONE ? NONE : release + 1, thread };
	s->clocks[s->count] = 0;
	return s->count++;
}

static bool is_simple(const struct held_section *h)
{
	return !h->late && !h->mixed && ((h->key - 1) & 1) == 0;
}

/* Update the state for sections_quiet after the thread's open sections changed. */
static void note_inside(struct sections *s, uint32_t thread)
{
	const struct held_sections *holding = &s->holding[thread];
	const struct held_section *h = holding->held;
	struct open_section in = { NO_KEY };

	if (holding->count == 1 && is_simple(h)) {
		in = (struct open_section){ h->key, h->serial, h->end };
	} else if (holding->count > 1) {
		in.key = NESTED_KEY;
		for (uint32_t i = 0; i < holding->count; i++) {
			if (!is_simple(&h[i]))
				in.key = NO_KEY;
		}
	}
	s->inside[thread] = in;
}

enum { FETCH = 256 }; /* events ahead */

void sections_acquire(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct sections *s = c->sections;
	struct held_sections *holding = &s->holding[x->thread];
	const uint32_t *partner = c->t->index->partner;

	/* Acquires are too far apart for the hardware prefetcher. */
	__builtin_prefetch(partner + event + FETCH);
	if (holding->count == holding->capacity) {
		holding->capacity = MAX(4, 2 * holding->capacity);
		holding->held = g_renew(struct held_section, holding->held, holding->capacity);
	}
	s->is_shared[x->target] |= x->op == OP_RACQ;
	uint32_t serial = section_new(s, x->thread, partner[event]);
	holding->held[holding->count++] = (struct held_section){
		.key = x->target * 2 + (x->op == OP_RACQ) + 1,
		.serial = serial,
		.end = s->list[serial].end,
		.mixed = s->overlap || s->is_shared[x->target],
		.late = s->overlap ? g_array_new(FALSE, FALSE, sizeof(struct late_access))
		                   : NULL,
	};
	c->depth[x->thread]++;
	note_inside(s, x->thread);
	if (holding->count > 1)
		rule_a_fetch(s, x);
}

/* Index of the innermost open section with this key; NONE: none. */
static uint32_t held_index(const struct held_sections *holding, uint32_t key)
{
	for (uint32_t i = holding->count; i-- > 0;) {
		if (holding->held[i].key == key)
			return i;
	}
	return NONE;
}

void sections_release(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct sections *s = c->sections;
	struct held_sections *holding = &s->holding[x->thread];
	uint32_t i = held_index(holding, x->target * 2 + (x->op == OP_RREL) + 1);

	if (i == NONE)
		return;
	if (s->rule_b != NULL)
		rule_b_release(c, event);
	struct held_section ended = holding->held[i];
	holding->count--;
	c->depth[x->thread]--;
	memmove(&holding->held[i], &holding->held[i + 1],
	        (holding->count - i) * sizeof(struct held_section));
	note_inside(s, x->thread);
	s->clocks[ended.serial] = causality_point(c, event).clock;
	s->list[ended.serial].end = event + 1; /* as `partner` has it */
	if (ended.late != NULL) {
		rule_a_late(s, &ended);
		g_array_free(ended.late, TRUE);
	}
}

void sections_mark(struct causality *c)
{
	rule_a_mark(c->sections, &c->clocks);
	if (c->sections->rule_b != NULL)
		rule_b_mark(c->sections, &c->clocks);
}
