/*
 * worklist.h - pending schedules: which are to be run, and which one is next.
 *
 * A schedule is added once (its key tells), and taken last in, first out, so that few are
 * pending, or by chance, so that an error that any of many schedules shows is not looked for in
 * one corner. The order is reproducible from the seed; which schedules are run in the end does
 * not depend on it.
 */
#ifndef HEDDLE_WORKLIST_H
#define HEDDLE_WORKLIST_H

#include "engine/explore/flips.h"
#include "engine/record/plan.h"

struct pending { /* a schedule that is to be run; pending_free */
	struct plan plan;
	struct part *parts; /* owned: how a run that follows it begins; NULL: it is not known */
	uint32_t parts_count;
	uint32_t parent;   /* the run that it was derived from; NONE: the first */
	uint32_t known_as; /* the parent, by its number among the histories; NONE */
	char *flip, *thread, *place, *variable; /* owned: struct explore_run */
	enum flip_kind kind;
	char *use;      /* owned: FLIP_USE: the use's key (struct explore_use), else NULL */
	bool after_use; /* a use after free is in it, so that what follows is by chance */
	bool by_chance; /* of no steps, under a random strategy */
};
void pending_free(struct pending *p);

struct worklist;
struct worklist *worklist_new(uint64_t seed);
void worklist_free(struct worklist *w);
/* Forgets every schedule, and that any was ever added. */
void worklist_clear(struct worklist *w);
uint32_t worklist_length(const struct worklist *w);
/* A number of the schedule that begins with `parts`: the same whatever the order of the parts
 * but the first. */
uint64_t worklist_key(const struct part *parts, uint32_t count, enum flip_kind kind);
/* False when it was entered before. */
bool worklist_enter(struct worklist *w, uint64_t key);
/* Takes ownership. */
void worklist_add(struct worklist *w, struct pending *p);
/* Owned by the caller; NULL when empty. */
struct pending *worklist_take(struct worklist *w, bool by_chance);
/* The next number by chance. */
uint64_t worklist_random(struct worklist *w);

#endif
