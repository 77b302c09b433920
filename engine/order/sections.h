/*
 * sections.h - what the two rules over critical sections share: sections.c keeps who holds
 * what and has rule (b), guards.c has rule (a).
 *
 * A section has a serial number.  Where it ends is written down once, under that number, so
 * what is kept about its accesses is the number alone, and is kept while it lasts.
 */
#ifndef HEDDLE_SECTIONS_H
#define HEDDLE_SECTIONS_H

#include "engine/order/causality.h"

struct section {
	struct point release; /* event NONE while it is open */
	uint32_t thread;
};
struct held {
	uint32_t key;    /* object * 2 + shared */
	uint32_t serial; /* index of sections, not 0 */
	uint32_t node;   /* index of nodes (sections.c), 0 none */
	bool ends;       /* it has a release: others may learn of it */
	bool mixed;      /* the lock has sections in the other mode */
};
struct holding { /* locks that a thread holds, outermost first */
	struct held *held;
	uint32_t count, capacity;
};

/* Rule (a): for each variable and lock the sections that accessed the one under the other. */
struct guards;
struct guards *guards_new(struct causality *c);
void guards_free(struct guards *g);
/* An access inside of sections: the edges into it, and what it leaves for later ones. */
void guards_access(struct causality *c, struct guards *g, const struct section *sections,
                   const struct holding *holding, uint32_t event);
void guards_mark(const struct guards *g, struct clocks *clocks,
                 const struct section *sections);

#endif
