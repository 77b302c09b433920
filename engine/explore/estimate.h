/*
 * estimate.h - the estimated number of all classes, while an exploration is incomplete.
 */
#ifndef HEDDLE_ESTIMATE_H
#define HEDDLE_ESTIMATE_H

#include "engine/explore/explore.h"

/* The nodes of the tree so far: the executions, each after its parent. */
struct estimate_node {
	uint32_t parent;  /* NONE: none */
	uint32_t waiting; /* number of schedules derived from it that were not taken yet */
	bool redundant;   /* its class was covered before */
};
/* `taken`: the share of pending schedules that are executed in the end, others being covered
 * by then. */
struct explore_estimate explore_estimate(const struct estimate_node *nodes, uint32_t count,
                                         double taken);

#endif
