/*
 * tree.h - an exploration as `heddle explore -o FILE` keeps it: its runs as a tree, read
 * from JSON.  No drawing here.
 */
#ifndef HEDDLE_TREE_H
#define HEDDLE_TREE_H

#include "engine/base/base.h"

struct tree_run {
	uint32_t run, parent; /* parent NONE: the first */
	uint32_t depth;
	bool last;      /* of its parent's children */
	bool redundant; /* it did what a run before it did */
	char *flip, *thread, *place, *variable, *end, *story, *trace; /* owned; "" for none */
	int64_t status;
	uint64_t events, pruned;
	uint64_t commuting; /* pairs of invocations whose other order was not run */
	GPtrArray *pairs;   /* char *: the first of these, in words; owned */
};
struct tree {
	char *path, *program; /* owned */
	GArray *runs;         /* struct tree_run, each run before what was derived from it, and
	                       * these together */
	uint64_t executions, states, pruned, waiting;
	bool complete;
	bool races,
	        uses; /* of freed memory: with either, complete is no promise of all outcomes */
	GPtrArray *gaps; /* char *, owned */
};
/* NULL and `error` when it cannot be read; tree_free. */
struct tree *tree_open(const char *path, struct error *error);
void tree_free(struct tree *tree);
/* The tree that a trace of a run lies beside: FILE of FILE.runN.hdl, and N.  NULL when the
 * name is no such name. */
char *tree_of_trace(const char *trace, uint32_t *run);
/* Did it end in an error? */
bool tree_run_failed(const struct tree_run *run);

#endif
