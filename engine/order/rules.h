/*
 * rules.h - the two rules over critical sections, as sections.c calls them: guards.c has
 * rule (a), nested.c rule (b).
 */
#ifndef HEDDLE_RULES_H
#define HEDDLE_RULES_H

#include "engine/order/causality.h"

struct held {
	uint32_t key;    /* object * 2 + shared, + 1 */
	uint32_t serial; /* index of list, not 0 */
	uint32_t node;   /* index of nodes (sections.c), 0 none */
	bool ends;       /* it has a release: others may learn of it */
	bool mixed;      /* the lock has sections in the other mode */
};
struct holding { /* locks that a thread holds, outermost first */
	struct held *held;
	uint32_t count, capacity;
};

/* Rule (a): makes s->first and s->rule_a.  (sections_access is its too.) */
void rule_a_new(struct sections *s, const struct trace *t);
void rule_a_free(struct rule_a *a);
void rule_a_mark(const struct sections *s, struct clocks *clocks);

/* Rule (b): makes s->rule_b.  (sections_origin is its too.) */
void rule_b_new(struct sections *s);
void rule_b_free(struct rule_b *b);
/* The edges into a release, before its section ends. */
void rule_b_release(struct causality *c, uint32_t event);
void rule_b_mark(const struct sections *s, struct clocks *clocks);

#endif
