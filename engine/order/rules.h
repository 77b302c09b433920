/*
 * rules.h - the two rules over critical sections of WCP, DC and WDC, called by sections.c: rule
 * (a) in guards.c, rule (b) in nested.c.
 */
#ifndef HEDDLE_RULES_H
#define HEDDLE_RULES_H

#include "engine/order/causality.h"

/* An access inside a section whose edges wait for the section's end. */
struct late_access {
	uint32_t variable;
	bool writes;
};
/* An open critical section. */
struct held_section {
	uint32_t key;    /* object * 2 + shared, + 1 */
	uint32_t serial; /* as in struct sections, never 0 */
	uint32_t end;    /* as in struct section_end */
	uint32_t node;   /* as in struct rule_b; 0: none */
	bool mixed;      /* the lock has sections in the other mode */
	/* Where excluding sections may overlap (--lenient): the accesses so far (struct
	 * late_access), published at the section's end. Else NULL. */
	GArray *late;
};
/* Open sections of a thread, outermost first. */
struct held_sections {
	struct held_section *held;
	uint32_t count, capacity;
};

/* Makes s->first and s->rule_a. Also has sections_access. */
void rule_a_new(struct sections *s, const struct trace *t);
void rule_a_free(struct sections *s);
/* Prefetch for the next accesses, after the acquire of an inner lock. */
void rule_a_fetch(const struct sections *s, const struct event *x);
/* Publish the accesses of a section with `late`, at its end. */
void rule_a_late(struct sections *s, const struct held_section *h);
void rule_a_mark(const struct sections *s, struct clocks *clocks);

/* Makes s->rule_b. Also has sections_origin. */
void rule_b_new(struct sections *s, bool wide);
void rule_b_free(struct rule_b *b);
/* Edges into a release, before its section ends. */
void rule_b_release(struct causality *c, uint32_t event);
void rule_b_mark(const struct sections *s, struct clocks *clocks);

#endif
