/*
 * run_list.h - an ascending list of runs, in about a byte each.
 *
 * Of a million runs each beginning of a thread has the list of the runs that begin so: an
 * element for each event of each run. The differences are written as numbers of seven bits a
 * byte, the lowest first; every N-th run's place is kept, too, to search from there.
 */
#ifndef HEDDLE_RUN_LIST_H
#define HEDDLE_RUN_LIST_H

#include "engine/base/base.h"

struct run_bytes;
struct run_list {               /* begins as zeros; run_list_clear */
	uint32_t count, first;  /* the number of runs, and the first of them */
	struct run_bytes *more; /* the others; most lists have none; owned */
};
void run_list_clear(struct run_list *list);
/* The last run of a list that is not empty. */
uint32_t run_list_last(const struct run_list *list);
/* Add a run after the last one. */
void run_list_add(struct run_list *list, uint32_t run);
bool run_list_has(const struct run_list *list, uint32_t run);

/* A place in a list. */
struct run_at {
	const struct run_list *list;
	uint32_t run;        /* the run there */
	uint32_t next, left; /* offset after it; number of runs from it on */
};
/* The first run that is not below `from`; left is 0 at the end. */
struct run_at run_list_from(const struct run_list *list, uint32_t from);
void run_at_next(struct run_at *at);

#endif
