/*
 * rules.h - the two rules over critical sections, as sections.c calls them: guards.c has
 * rule (a), nested.c rule (b).
 */
#ifndef HEDDLE_RULES_H
#define HEDDLE_RULES_H

#include "engine/order/causality.h"

struct late { /* an access inside of a section */
	uint32_t variable;
	bool writes;
};
struct held {
	uint32_t key;    /* object * 2 + shared, + 1 */
	uint32_t serial; /* index of list, not 0 */
	uint32_t end;    /* as struct ending has it */
	uint32_t node;   /* index of nodes (nested.c), 0 none */
	bool mixed;      /* the lock has sections in the other mode */
	/* Where sections may overlap that exclude each other: what it has accessed so far
	 * (struct late), for others to learn of when it has ended.  Else NULL. */
	GArray *late;
};
struct holding { /* locks that a thread holds, outermost first */
	struct held *held;
	uint32_t count, capacity;
};

/* Rule (a): makes s->first and s->rule_a.  (sections_access is its too.) */
void rule_a_new(struct sections *s, const struct trace *t);
void rule_a_free(struct sections *s);
/* The end of a section with `late`. */
/* After the acquire of an inner lock: what the thread accesses next is fetched. */
void rule_a_fetch(const struct sections *s, const struct event *x);
void rule_a_late(struct sections *s, const struct held *h);
void rule_a_mark(const struct sections *s, struct clocks *clocks);

/* Rule (b): makes s->rule_b.  (sections_origin is its too.) */
void rule_b_new(struct sections *s);
void rule_b_free(struct rule_b *b);
/* The edges into a release, before its section ends. */
void rule_b_release(struct causality *c, uint32_t event);
void rule_b_mark(const struct sections *s, struct clocks *clocks);

#endif
