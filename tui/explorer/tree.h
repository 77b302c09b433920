/*
 * tree.h - an exploration saved by `heddle explore -o FILE`, read from JSON as a tree of runs.
 */
#ifndef HEDDLE_TREE_H
#define HEDDLE_TREE_H

#include "engine/base/base.h"

struct tree_run {
	uint32_t run, parent; /* parent NONE: the first run */
	uint32_t depth;
	bool last;      /* of its parent's children */
	bool redundant; /* equivalent to an earlier run */
	char *flip, *thread, *place, *variable, *end, *story, *trace; /* owned; "" for none */
	int64_t status;
	uint64_t events, pruned;
	uint64_t commuting; /* pairs of invocations whose reversal was not needed */
	GPtrArray *pairs;   /* char *: the first of these as text; owned */
};
struct tree {
	char *path, *program; /* owned */
	GArray *runs;         /* struct tree_run; descendants directly follow their parent */
	uint64_t executions, states, pruned, waiting;
	bool complete;
	bool races, uses; /* uses of freed memory; either weakens `complete` */
	GPtrArray *gaps;  /* char *, owned */
};
/* NULL and `error` when unreadable; free with tree_free. */
struct tree *tree_open(const char *path, struct error *error);
void tree_free(struct tree *tree);
/* The tree of a run's trace: FILE and N of FILE.runN.hdl. NULL for other names. */
char *tree_of_trace(const char *trace, uint32_t *run);
/* Did the run end in an error? */
bool tree_run_failed(const struct tree_run *run);

#endif
