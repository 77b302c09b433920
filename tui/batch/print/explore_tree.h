/*
 * explore_tree.h - an exploration as the JSON of `heddle explore -o FILE`, which the explorer
 * opens beside the traces of its runs.
 */
#ifndef HEDDLE_EXPLORE_TREE_H
#define HEDDLE_EXPLORE_TREE_H

#include "engine/explore/explore.h"
#include "tui/batch/command.h"

/* The options of an exploration: reports of shards are merged only when these agree. */
struct explore_asked {
	const char *program, *shard; /* shard: NULL when not sharded */
	const char *memory;          /* the model's word */
	const char *options;
	bool bounded;
	uint32_t preemptions;
	uint32_t spurious;    /* bound on spurious wake-ups */
	const GArray *orders; /* struct explore_order; or NULL */
};
/* Print the report as `heddle explore` does; the exit status. */
int explore_print(const struct explore_report *report, const struct explore_asked *asked,
                  enum output_format format);

/* False: `error`. */
bool explore_write_tree(const struct explore_report *report, const char *program,
                        const char *path, struct error *error);

#endif
