/*
 * explore_tree.h - an exploration as the JSON of `heddle explore -o FILE`, which the explorer
 * opens beside the traces of its runs.
 */
#ifndef HEDDLE_EXPLORE_TREE_H
#define HEDDLE_EXPLORE_TREE_H

#include "engine/explore/explore.h"

/* False: `error`. */
bool explore_write_tree(const struct explore_report *report, const char *program,
                        const char *path, struct error *error);

#endif
