/*
 * tree.h - an exploration saved by `heddle explore -o FILE`, read from JSON as a tree of runs.
 */
#ifndef HEDDLE_EXPLORER_TREE_H
#define HEDDLE_EXPLORER_TREE_H

#include "engine/base/base.h"

struct tree_run {
	uint32_t run, parent; /* parent NONE: the first run */
	uint32_t depth;
	bool last;      /* of its parent's children */
	bool redundant; /* equivalent to an earlier run */
	/* owned; "" for none */
	char *reversal, *thread, *place, *variable, *end, *story, *trace, *printed;
	char *no_return; /* owned: lines about its point of no return; "" without one */
	char *output;    /* owned: digest of its output; "" unknown */
	int64_t status;
	int64_t error; /* index in tree.errors, -1 none */
	bool inside;   /* the variable in which it differs from its parent is the library's */
	uint64_t switches;
	uint64_t events, pruned;
	uint64_t commuting; /* pairs of invocations whose reversal was unnecessary */
	GPtrArray *pairs;   /* char *: the first of these as text; owned */
};
/* An error of some runs, a data race between two places. */
struct tree_error {
	char *end, *story, *where; /* owned; the first line of the story */
	int64_t status;
	uint64_t count;
	uint32_t run, shortest;
};
struct tree_race {
	char *where, *variable; /* owned */
	uint32_t run;           /* the first with it */
};
struct tree {
	char *path, *program; /* owned */
	char *memory;         /* owned: the memory model, "sc" where none is named */
	GArray *runs;         /* struct tree_run; descendants directly follow their parent */
	GArray *errors;       /* struct tree_error */
	GArray *pairs;        /* struct tree_race; pairs of the user's lines, each once */
	uint32_t *place;      /* owned: by run, its index in `runs` */
	uint64_t executions, states, pruned, waiting;
	uint64_t estimate, low, high; /* estimated number of different runs in all; 0: not
	                               * estimated */
	bool complete;
	int64_t bound;      /* all schedules with at most this number of preemptions were run;
	                     * -1: no such bound */
	bool races, uses;   /* uses of freed memory; either weakens `complete` */
	bool races_open;    /* data races may be missed, though every class was run */
	GPtrArray *reasons; /* char *, owned */
	GPtrArray *threads; /* char *, owned: "T1 worker(&q)", those of the first run */
};
/* NULL and `error` when unreadable; free with tree_free. */
struct tree *tree_open(const char *path, struct error *error);
void tree_free(struct tree *tree);
static inline const struct tree_run *tree_at(const struct tree *tree, uint64_t index)
{
	return &g_array_index(tree->runs, struct tree_run, index);
}
/* The run of that number, below the number of runs. */
static inline const struct tree_run *tree_run_of(const struct tree *tree, uint32_t run)
{
	return tree_at(tree, tree->place[run]);
}
/* The index of the thread at the beginning of a text, "T1 reads ...": NONE unknown. */
uint32_t tree_thread_of(const struct tree *tree, const char *text);
/* The tree of a run's trace: FILE and N of FILE.runN.hdl. NULL for other names. */
char *tree_of_trace(const char *trace, uint32_t *run);
/* Did the run end in an error? */
bool tree_run_failed(const struct tree_run *run);

#endif
